"""The reference evaluator: layouts on Python ints and NumPy int64 arrays.

A block's reference_apply and reference_inv, which are written from Figs. 4, 5 and 9 and share nothing
with the symbolic side, behind checks of what they are given: the golden tables come from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import IndexRangeError, LayoutError, WidthError, short_repr
from ..numeric import is_array
from .paper_definitions import reference_unravel
from .slices import axes_behind, place_of, run_of

if TYPE_CHECKING:
    import numpy as np

INT64_MAX = 2**63 - 1
TABLE_MOST = 2**24  # elements of a table: 128 MiB


class Referenced(Protocol):
    """What a block has for its reference."""

    @property
    def dims(self) -> tuple[Any, ...]:
        """The sizes of the logical index."""
        ...

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """The names of the index's coordinates, where they have any."""
        ...

    @property
    def size(self) -> Any:
        """How many logical indices there are."""
        ...

    @property
    def physical_size(self) -> Any:
        """How many flat indices there are."""
        ...

    @cached_property
    def is_concrete(self) -> bool:
        """Whether all sizes are integers."""
        ...

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The flat position of an index in range."""
        ...

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The index of a flat position in range."""
        ...


_axes: ContextVar[Iterator[Any] | None] = ContextVar("lego_emit_axes", default=None)


def apply(block: Referenced, indices: Sequence[Any]) -> Any:
    """block.apply on integers and integer arrays: an int, or an int64 array if any index is one.

    Raises IndexRangeError on an index out of range, or arrays whose shapes do not broadcast;
    WidthError on arrays over a block of more than 2^63 - 1 elements.
    """
    values = [
        _checked(block, place_of(block, axis), i, n)
        for axis, (i, n) in enumerate(zip(indices, block.dims, strict=True))
    ]
    arrays = [value for value in values if is_array(value)]
    if arrays:
        from ..packages import numpy as np

        _check_width(block)
        try:
            values = np.broadcast_arrays(*values)
        except ValueError:
            shapes = ", ".join(str(array.shape) for array in arrays)
            raise IndexRangeError(
                f"{block!r}: index arrays of shapes {shapes} do not broadcast together"
            ) from None
    return block.reference_apply(tuple(values))


def inv(block: Referenced, flat: Any) -> tuple[Any, ...]:
    """block.inv on an integer or an integer array: a tuple of ints or of int64 arrays.

    Raises as apply does.
    """
    value = _checked(block, "the flat index", flat, block.physical_size)
    if is_array(value):
        _check_width(block)
    return block.reference_inv(value)


def getitem(layout: Referenced, indices: Sequence[Any]) -> Any:
    """layout[indices] with integers, arrays and slices: an int, or an int64 array of the shape that NumPy's
    indexing gives."""
    runs = [axis for axis, i in enumerate(indices) if isinstance(i, slice)]
    if not runs:
        return apply(layout, indices)
    found = list(indices)
    given = _axes.get()
    if given is not None:
        for axis in runs:
            value = next(given, None)
            if value is None:
                raise IndexRangeError(f"{layout!r}: there are more ':' than indices for them")
            first, step, _ = run_of(layout.dims[axis], indices[axis])
            found[axis] = value * step + first
        return apply(layout, found)
    from ..packages import numpy as np

    _check_width(layout)
    for axis in runs:
        found[axis] = np.arange(layout.dims[axis])[indices[axis]]
    ranks = [None if axis in runs else np.ndim(i) for axis, i in enumerate(found)]
    for axis, behind in enumerate(axes_behind(ranks)):
        if behind and np.ndim(found[axis]):
            found[axis] = found[axis].reshape(found[axis].shape + (1,) * behind)
    return apply(layout, found)


@contextmanager
def axes_at(values: Sequence[Any]) -> Iterator[None]:
    """While inside, each ':' of a layout is the next of these indices, or arrays of them."""
    token = _axes.set(iter(values))
    try:
        yield
    finally:
        _axes.reset(token)


def table(layout: Referenced) -> np.ndarray:
    """apply of every logical index in row-major order: an int64 array of layout.size.

    Raises LayoutError if a size is a symbol or the table would fill the memory, WidthError beyond
    int64.
    """
    if not layout.is_concrete:
        raise LayoutError(f"{layout!r}: a table needs integer sizes")
    _check_width(layout)
    if layout.size > TABLE_MOST:
        raise LayoutError(
            f"{layout!r}: a table of {layout.size} positions is too large, it has at most "
            f"{TABLE_MOST}; choose smaller sizes"
        )
    from ..packages import numpy as np

    return apply(layout, reference_unravel(layout.dims, np.arange(layout.size)))


def isqrt_array(x: np.ndarray) -> np.ndarray:
    """Exact floor of the square root of an array of non-negative integers that fit an int64.

    Raises LayoutError on a negative element, WidthError on one beyond int64.
    """
    from ..packages import numpy as np

    if x.size and int(x.min()) < 0:
        raise LayoutError(f"isqrt({int(x.min())}): only a non-negative integer has a square root")
    if x.size and int(x.max()) > INT64_MAX:
        raise WidthError(f"isqrt({int(x.max())}): more than an int64 holds; use Python ints")
    x = x.astype(np.int64)
    # Below 2^63 the root of the nearest double is never too small and at most one too large.
    root = np.sqrt(x.astype(np.float64)).astype(np.int64)
    root -= root * root > x
    return root


def _checked(block: Referenced, place: str, value: Any, n: int) -> Any:
    if is_array(value) and value.ndim:
        if not value.size:
            return value.astype("int64")
        if int(value.min()) < 0 or int(value.max()) >= n:
            wrong = (value < 0) | (value >= n)
            at = tuple(int(axis[0]) for axis in wrong.nonzero())
            where = f"element {at[0] if len(at) == 1 else at} of {place}"
            raise IndexRangeError(
                f"{block!r}: {where} is {int(value[at])}, outside 0..{short_repr(n - 1)}"
            )
        return value.astype("int64")
    number = int(value)
    if not 0 <= number < n:
        raise IndexRangeError(
            f"{block!r}: {place} is {short_repr(number)}, outside 0..{short_repr(n - 1)}"
        )
    return number


def _check_width(block: Referenced) -> None:
    if block.size > INT64_MAX:
        raise WidthError(
            f"{block!r} has {short_repr(block.size)} elements, more than an int64 array can number; evaluate "
            "it on Python ints"
        )

"""A layout's positions and indices where indices are arrays or tracers of PyTorch, JAX, CuPy and their like."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import and_
from typing import Any

from ..algebra import reference
from ..algebra.block import Block, check_count, check_index
from ..algebra.slices import axes_behind, check_slice
from ..errors import IndexRangeError, WidthError, short_repr
from ..numeric import bits_of, is_array, is_integer, is_operand
from ..packages import numpy as np
from .arithmetic import arithmetic
from .libraries import ends_of, steps_on, table_on

MOST_TABLED = 2**20  # positions of a layout that is looked up


def apply(layout: Block, indices: Sequence[Any]) -> Any:
    """The position of an index: an array of the indices' type and common shape, a tuple where a layout
    gives several results."""
    values = _checked(layout, indices)
    found = _results(layout, values, inverse=False)
    return found[0] if layout.results is None or len(found) == 1 else tuple(found)


def inv(layout: Block, flat: Any) -> tuple[Any, ...]:
    """The index of a position: arrays of its type and shape."""
    return tuple(_results(layout, _checked(layout, [flat]), inverse=True))


def getitem(layout: Block, indices: Sequence[Any]) -> Any:
    """layout[indices], some of which are slices."""
    return apply(layout, aligned(layout, _checked(layout, indices)))


def in_bounds(layout: Block, indices: Sequence[Any]) -> Any:
    """Whether an index holds an element, by Block.in_bounds; ":" stands for a slice."""
    given = [slice(None) if isinstance(i, str) and i == ":" else i for i in indices]
    check_count(layout, tuple(given))
    for axis, i in enumerate(given):
        if isinstance(i, slice):
            check_slice(layout, axis, i)
        elif check_index(layout, axis, i) and not is_operand(i):
            raise IndexRangeError(
                f"{layout!r}.in_bounds takes integers and arrays, and index {axis} is {short_repr(i)}; in a "
                "function of symbols compare it with the size, in a template write {{ A.in_bounds(..) }}"
            )
    if not layout.is_concrete:
        raise _symbolic(layout)
    values = aligned(layout, _of_one_library(layout, given))
    held = [(0 <= i) & (i <= _last(i, n)) for i, n in zip(values, layout.dims, strict=True)]
    inside = reduce(and_, held)
    if not layout.masks:
        return bool(inside) if isinstance(inside, bool | np.bool_) else inside
    if any(map(is_operand, values)):
        return inside & (apply(layout, values) >= 0)
    clipped = [np.where(ok, i, 0) for ok, i in zip(held, np.broadcast_arrays(*values), strict=True)]
    found = inside & (np.asarray(reference.apply(layout, clipped)) >= 0)
    return found if np.ndim(found) else bool(found)


def _last(i: Any, n: int) -> int:
    """The last index of an axis, or the last one that an array's integers hold: libraries compare in their type."""
    return n - 1 if is_integer(i) else min(n - 1, ends_of(i)[1])


def aligned(layout: Block, indices: Sequence[Any]) -> list[Any]:
    """The indices of [], each slice as the numbers that it takes, with the axes behind their own that
    NumPy's indexing would give them."""
    found = [*indices]
    arrays = [i for i in found if not is_integer(i) and not isinstance(i, slice)]
    runs = [axis for axis, i in enumerate(found) if isinstance(i, slice)]
    for axis in runs:
        numbers = range(*found[axis].indices(layout.dims[axis]))
        if arrays and not is_array(arrays[0]):
            found[axis] = steps_on(arrays[0], numbers.start, numbers.stop, numbers.step)
        else:
            found[axis] = np.arange(numbers.start, numbers.stop, numbers.step)
    ranks = [None if axis in runs else _rank(i) for axis, i in enumerate(found)]
    for axis, behind in enumerate(axes_behind(ranks)):
        if behind and _rank(found[axis]):
            found[axis] = found[axis][(..., *[None] * behind)]
    return found


def _rank(i: Any) -> int:
    return 0 if is_integer(i) else len(i.shape)


def _checked(layout: Block, values: Sequence[Any]) -> list[Any]:
    if not layout.is_concrete:
        raise _symbolic(layout)
    return _of_one_library(layout, values)


def _symbolic(layout: Block) -> IndexRangeError:
    return IndexRangeError(
        f"{layout!r}: an index is an array, and a size or another index a symbol; give numbers for the symbols"
    )


def _of_one_library(layout: Block, values: Sequence[Any]) -> list[Any]:
    """The indices, integers as Python's. Raises IndexRangeError where arrays are of two libraries."""
    operands = [v for v in values if is_operand(v)]
    arrays = [v for v in values if is_array(v)]
    if operands and arrays:
        raise IndexRangeError(
            f"{layout!r}: an index is a NumPy array and another one a {type(operands[0]).__name__}; give arrays "
            "of one library"
        )
    if operands and any(
        not (is_integer(v) or isinstance(v, slice) or is_operand(v)) for v in values
    ):
        raise _symbolic(layout)
    return [int(v) if is_integer(v) else v for v in values]


def _results(layout: Block, values: Sequence[Any], inverse: bool) -> list[Any]:
    made = arithmetic(layout, inverse)
    arrays = [v for v in values if not is_integer(v)]
    if made is None:
        return _looked_up(layout, values, arrays[0], inverse)
    for array in arrays:
        least, most = ends_of(array)
        if made.least < least or made.most > most:
            raise WidthError(
                f"{layout!r}: the numbers on the way go from {made.least} to {made.most}, and an array of "
                f"{array.dtype} holds {least}..{most}; convert it to wider integers first"
            )
    found = []
    for value, used in zip(made(values), made.used(), strict=True):
        for name, given in zip(made.names, values, strict=True):
            if name not in used and not is_integer(given):
                value = value + given * 0  # for its shape
        found.append(value)
    return found


def _looked_up(layout: Block, values: Sequence[Any], x: Any, inverse: bool) -> list[Any]:
    """The results from a table of all."""
    sizes = layout.physical_dims if inverse else layout.dims
    count = layout.physical_size if inverse else layout.size
    if count > MOST_TABLED:
        raise IndexRangeError(
            f"{layout!r}: on arrays it is looked up in a table, and {count} entries are more than {MOST_TABLED}; "
            "L.pack and L.unpack move whole arrays"
        )
    bits, unsigned = bits_of(x) or (64, False)
    if count > 2 ** (bits - 1 + unsigned) and not hasattr(x, "long"):
        raise WidthError(
            f"{layout!r}: it has {count} entries, more than an array of {x.dtype} numbers; convert it first"
        )
    flat: Any = 0
    for n, value in zip(sizes if len(values) > 1 else [count], values, strict=True):
        wide = value.long() if hasattr(value, "long") else value
        flat = flat * n + wide
    return [table_on(x, table)[flat] for table in _tables(layout, inverse)]


@lru_cache(maxsize=16)
def _tables(layout: Block, inverse: bool) -> tuple[Any, ...]:
    if inverse:
        every = np.arange(layout.physical_size)
        found = layout.inv(every)
    else:
        found = reference.apply(layout, [g.reshape(-1) for g in np.indices(layout.dims)])
    return tuple(found) if isinstance(found, tuple) else (found,)

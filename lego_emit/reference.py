"""The reference evaluator: layouts on Python ints and NumPy int64 arrays.

Written from Figs. 4, 5 and 9 alone, and sharing nothing with the symbolic side: the golden tables
come from here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, reduce
from itertools import product
from operator import and_
from typing import Any

import numpy as np

from .bijection import call_apply, call_inv, reads
from .errors import IndexRangeError, InternalError, LayoutError, WidthError, shown
from .layout import Block, ExpandBy, GenP, Layout, OrderBy, RegP
from .sizes import is_array

INT64_MAX = 2**63 - 1
TABLE_LIMIT = 2**20  # of a GenP
TABLE_MOST = 2**24  # elements of a table: 128 MiB

_axes: ContextVar[Iterator[Any] | None] = ContextVar("lego_emit_axes", default=None)


def apply(block: Block, indices: Sequence[Any]) -> Any:
    """block.apply on integers and integer arrays: an int, or an int64 array if any index is one.

    Raises IndexRangeError on an index out of range, or arrays whose shapes do not broadcast;
    WidthError on arrays over a block of more than 2^63 - 1 elements.
    """
    values = [
        _checked(block, f"index {axis}", i, n)
        for axis, (i, n) in enumerate(zip(indices, block.dims, strict=True))
    ]
    arrays = [value for value in values if is_array(value)]
    if arrays:
        _check_width(block)
        try:
            values = np.broadcast_arrays(*values)
        except ValueError:
            shapes = ", ".join(str(array.shape) for array in arrays)
            raise IndexRangeError(
                f"{block!r}: index arrays of shapes {shapes} do not broadcast together"
            ) from None
    return _apply(block, tuple(values))


def inv(block: Block, flat: Any) -> tuple[Any, ...]:
    """block.inv on an integer or an integer array: a tuple of ints or of int64 arrays.

    Raises as apply does.
    """
    value = _checked(block, "the flat index", flat, block.physical_size)
    if is_array(value):
        _check_width(block)
    return _inv(block, value)


def getitem(layout: Block, indices: Sequence[Any]) -> Any:
    """layout[indices] with integers and full slices: an int, or an int64 array shaped by the ':'
    axes in order."""
    runs = [axis for axis, i in enumerate(indices) if isinstance(i, slice)]
    if not runs:
        return apply(layout, indices)
    found = list(indices)
    given = _axes.get()
    if given is not None:
        for axis in runs:
            found[axis] = next(given, None)
        if any(i is None for i in found):
            raise IndexRangeError(f"{layout!r}: there are more ':' than indices for them")
        return apply(layout, found)
    for axis, i in enumerate(found):
        if is_array(i) and i.ndim:
            raise IndexRangeError(
                f"{layout!r}: index {axis} is an array beside a ':'; give apply arrays for all"
            )
    for place, axis in enumerate(runs):
        _check_width(layout)
        shape = [1] * len(runs)
        shape[place] = -1
        found[axis] = np.arange(layout.dims[axis]).reshape(shape)
    return apply(layout, found)


@contextmanager
def axes_at(values: Sequence[Any]) -> Iterator[None]:
    """While inside, each ':' of a layout is the next of these indices, or arrays of them."""
    token = _axes.set(iter(values))
    try:
        yield
    finally:
        _axes.reset(token)


def table(layout: Block) -> np.ndarray:
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
    return apply(layout, _unflatten(layout.dims, np.arange(layout.size)))


def isqrt_array(x: np.ndarray) -> np.ndarray:
    """Exact floor of the square root of an array of non-negative integers that fit an int64.

    Raises LayoutError on a negative element, WidthError on one beyond int64.
    """
    if x.size and int(x.min()) < 0:
        raise LayoutError(f"isqrt({int(x.min())}): only a non-negative integer has a square root")
    if x.size and int(x.max()) > INT64_MAX:
        raise WidthError(f"isqrt({int(x.max())}): more than an int64 holds; use Python ints")
    x = x.astype(np.int64)
    # Below 2^63 the root of the nearest double is never too small and at most one too large.
    root = np.sqrt(x.astype(np.float64)).astype(np.int64)
    root -= root * root > x
    return root


def _checked(block: Block, place: str, value: Any, n: int) -> Any:
    if is_array(value) and value.ndim:
        if not value.size:
            return value.astype(np.int64)
        if int(value.min()) < 0 or int(value.max()) >= n:
            wrong = (value < 0) | (value >= n)
            at = tuple(map(int, np.argwhere(wrong)[0]))
            where = f"element {at[0] if len(at) == 1 else at} of {place}"
            raise IndexRangeError(
                f"{block!r}: {where} is {int(value[at])}, outside 0..{shown(n - 1)}"
            )
        return value.astype(np.int64)
    number = int(value)
    if not 0 <= number < n:
        raise IndexRangeError(f"{block!r}: {place} is {shown(number)}, outside 0..{shown(n - 1)}")
    return number


def _check_width(block: Block) -> None:
    if block.size > INT64_MAX:
        raise WidthError(
            f"{block!r} has {shown(block.size)} elements, more than an int64 array can number; evaluate "
            "it on Python ints"
        )


def _flatten(dims: Sequence[int], indices: Sequence[Any]) -> Any:
    """The canonical bijection B (Fig. 4)."""
    flat = 0
    for n, i in zip(dims, indices, strict=True):
        flat = flat * n + i
    return flat


def _unflatten(dims: Sequence[int], flat: Any) -> tuple[Any, ...]:
    """B^-1 (Fig. 4). The leading digit is what is left, unreduced."""
    digits = []
    for n in reversed(dims[1:]):
        digits.append(flat % n)
        flat = flat // n
    return (flat, *reversed(digits))


def _gather(perm: Sequence[int], values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(values[k] for k in perm)


def _scatter(perm: Sequence[int], values: Sequence[Any]) -> tuple[Any, ...]:
    found: list[Any] = [None] * len(perm)
    for k, value in zip(perm, values, strict=True):
        found[k] = value
    return tuple(found)


def _apply(block: Block, indices: tuple[Any, ...]) -> Any:
    match block:
        case RegP():
            return _flatten(_gather(block.perm, block.dims), _gather(block.perm, indices))
        case GenP():
            return _genp_apply(block, indices)
        case OrderBy():
            flat = 0
            start = 0
            for perm in block.perms:
                stop = start + len(perm.dims)
                flat = _apply(perm, indices[start:stop]) + flat * perm.size
                start = stop
            return flat
        case Layout():
            flat = _flatten(block.dims, indices)
            for order in block.chain:
                flat = _apply(order, _unflatten(order.dims, flat))
            return flat
        case ExpandBy(guard="physical"):
            coordinates = _unflatten(block.n_prime, _apply(block.layout, indices))
            return _select(_inside(block, coordinates), _flatten(block.n, coordinates), -1)
        case ExpandBy():
            flat = _apply(block.layout, indices)
            return _select(_inside(block, _logical(block, indices)), flat, -1)
    raise InternalError(f"no apply for a {type(block).__name__}")


def _inv(block: Block, flat: Any) -> tuple[Any, ...]:
    match block:
        case RegP():
            return _scatter(block.perm, _unflatten(_gather(block.perm, block.dims), flat))
        case GenP():
            return _genp_inv(block, flat)
        case OrderBy():
            indices: tuple[Any, ...] = ()
            for perm in reversed(block.perms):
                indices = _inv(perm, flat % perm.size) + indices
                flat = flat // perm.size
            return indices
        case Layout():
            for order in reversed(block.chain):
                flat = _flatten(order.dims, _inv(order, flat))
            return _unflatten(block.dims, flat)
        case ExpandBy(guard="physical"):
            return _inv(block.layout, _flatten(block.n_prime, _unflatten(block.n, flat)))
        case ExpandBy():
            found = _inv(block.layout, flat)
            inside = _inside(block, _logical(block, found))
            return tuple(_select(inside, i, -1) for i in found)
    raise InternalError(f"no inv for a {type(block).__name__}")


def _logical(block: ExpandBy, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    flat = _flatten(block.dims, indices)
    untiling = block.layout.untiling
    if untiling is not None:
        flat = _apply(untiling, _unflatten(untiling.dims, flat))
    return _unflatten(block.n_prime, flat)


def _inside(block: ExpandBy, coordinates: tuple[Any, ...]) -> Any:
    return reduce(and_, (i < n for i, n in zip(coordinates, block.n, strict=True)))


def _select(condition: Any, then: Any, otherwise: Any) -> Any:
    if is_array(condition):
        return np.where(condition, then, otherwise)
    return then if condition else otherwise


def _genp_apply(genp: GenP, indices: tuple[Any, ...]) -> Any:
    if not is_array(indices[0]):
        return call_apply(genp, indices)
    flat = _flatten(genp.dims, indices)
    if genp.size <= TABLE_LIMIT:
        return _table(genp, reads(genp), inverse=False)[flat]
    return _each(lambda position: call_apply(genp, _unflatten(genp.dims, position)), flat, ())


def _genp_inv(genp: GenP, flat: Any) -> tuple[Any, ...]:
    if not is_array(flat):
        return call_inv(genp, flat)
    if genp.size <= TABLE_LIMIT:
        found = _table(genp, reads(genp), inverse=True)[flat]
    else:
        found = _each(lambda position: call_inv(genp, position), flat, (len(genp.dims),))
    return tuple(np.moveaxis(found, -1, 0))


# An `if` in a user's function cannot take an array, so arrays go through tables of plain calls.
@lru_cache(maxsize=32)
def _table(genp: GenP, read: Hashable, inverse: bool) -> np.ndarray:
    if inverse:
        return _int64([call_inv(genp, flat) for flat in range(genp.size)], genp)
    return _int64([call_apply(genp, index) for index in product(*map(range, genp.dims))], genp)


def _each(function: Callable[[int], Any], flat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    unique, where = np.unique(flat, return_inverse=True)
    found = _int64([function(int(position)) for position in unique], function)
    return found.reshape(len(unique), *shape)[where.reshape(flat.shape)]


def _int64(values: list[Any], source: Any) -> np.ndarray:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        raise WidthError(
            f"{source!r} gives values beyond int64; evaluate it on Python ints"
        ) from None

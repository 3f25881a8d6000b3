"""A GenP's functions over arrays.

An `if` in them cannot take one, so that arrays go through tables of plain calls.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from itertools import product
from typing import Any

from ..errors import WidthError
from ..packages import numpy as np
from .bijection import call_apply, call_inv, reads, unravel

LIMIT = 2**20  # elements of a GenP whose tables are kept


def apply_each(genp: Any, flat: np.ndarray) -> np.ndarray:
    """The positions of indices that are given by their row-major positions."""
    if genp.size <= LIMIT:
        return _table(genp, reads(genp))[flat]
    return _each(lambda k: call_apply(genp, unravel(genp.dims, k)), flat, ())


def inv_each(genp: Any, flat: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    """The indices of positions, of which there are so many: one call of inv for each."""
    if count <= LIMIT:
        found = _table(genp, reads(genp), count)[flat]
    else:
        found = _each(lambda position: call_inv(genp, position), flat, (len(genp.dims),))
    return tuple(np.moveaxis(found, -1, 0))


@lru_cache(maxsize=32)
def _table(genp: Any, read: Hashable, positions: int = 0) -> np.ndarray:
    """The position of each index, or the indices of so many positions."""
    if positions:
        return _int64([call_inv(genp, flat) for flat in range(positions)], genp)
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

"""The steps of Figs. 4, 5 and 9 on ints and int64 arrays.

The reference is made of these alone, and nothing else uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Any

from ..numeric import is_array


def reference_ravel(dims: Sequence[int], indices: Sequence[Any]) -> Any:
    """The canonical bijection B (Fig. 4)."""
    flat = 0
    for n, i in zip(dims, indices, strict=True):
        flat = flat * n + i
    return flat


def reference_unravel(dims: Sequence[int], flat: Any) -> tuple[Any, ...]:
    """B^-1 (Fig. 4). The leading digit is what is left, unreduced."""
    digits = []
    for n in reversed(dims[1:]):
        digits.append(flat % n)
        flat = flat // n
    return (flat, *reversed(digits))


def gather(perm: Sequence[int], values: Sequence[Any]) -> tuple[Any, ...]:
    """values[perm[k]] for each k."""
    return tuple(values[k] for k in perm)


def scatter(perm: Sequence[int], values: Sequence[Any]) -> tuple[Any, ...]:
    """The tuple whose element perm[k] is values[k]; gather(perm, ..) of it is values."""
    found: list[Any] = [None] * len(perm)
    for k, value in zip(perm, values, strict=True):
        found[k] = value
    return tuple(found)


def inside(dims: Sequence[int], coordinates: Sequence[Any]) -> Any:
    """Whether coordinates lie within sizes (Fig. 9)."""
    return reduce(and_, (i < n for i, n in zip(coordinates, dims, strict=True)))


def select(condition: Any, then: Any, otherwise: Any) -> Any:
    """then where a condition holds, else otherwise; element by element where it is an array."""
    if is_array(condition):
        from ..packages import numpy as np

        return np.where(condition, then, otherwise)
    return then if condition else otherwise

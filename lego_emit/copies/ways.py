"""Blocks of indices whose places are found in tables: curves, parities, exchanges within a block.

Where positions are no sums of digits, one call of the index functions for each element costs far more than its move. In
a Hilbert curve all blocks of 16 x 16 lie in memory in one of four ways, in an array of even sites before odd ones rows
lie in two. So a block takes two calls: one for its first element, and one for an element that tells the ways apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from ..algebra import reference
from ..algebra.masked import Padded
from ..ir.nests import DESTINATION, SOURCE, Ways
from ..packages import numpy as np
from .digits import MOST_TABLED, IndexSpace
from .tiles import Names

FEWEST, MOST = 8, 256  # elements of a block
MOST_ENTRIES = 1024  # of the tables of a copy
MANY = 4  # blocks for each way
SOME = 64  # blocks of which most shapes are refused


def ways_of(space: IndexSpace, taken: Sequence[str]) -> Ways | None:
    """The largest blocks that lie in few ways in one memory, and in one way of equal steps in the other; None where
    none do, or sizes are symbols. taken: names that loops have not."""
    layouts = space.source, space.destination
    if any(not L.is_concrete or L.size > MOST_TABLED or not L.size for L in layouts):
        return None
    if isinstance(space.destination, Padded):
        return None
    dims = [int(n) for n in space.source.dims]
    tables = [reference.table(L).reshape(dims) for L in layouts]
    for block in sorted(_blocks(dims), key=prod, reverse=True):
        apart = [_apart(table, block) for table in tables]
        for own, memory in ((1, DESTINATION), (0, SOURCE)):
            steps = _steps(apart[1 - own], block)
            most = min(MOST_ENTRIES // prod(block), len(apart[own]) // MANY)
            found = None if steps is None else _distinct(apart[own], most)
            if found is None or steps is None or np.abs(found).max() >= 2**31:
                continue
            probe = next(
                (k for k in range(prod(block)) if len(np.unique(found[:, k])) == len(found)), None
            )
            if probe is None:
                continue
            names = Names([*space.sizes, *space.names, *taken])
            own_names = [names.fresh(n) for n in ("away", "way", *["k"] * len(steps))]
            at = tuple(map(int, np.unravel_index(probe, block)))
            entries = tuple(tuple(map(int, way)) for way in found)
            return Ways(memory, block, steps, entries, probe, at, tuple(own_names))
    return None


def _blocks(dims: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Shapes of blocks: whole last axes and a part of the one before, and cubes of the last two or three axes."""
    shapes = set[tuple[int, ...]]()
    d = len(dims)
    for k, n in enumerate(dims):
        for b in (b for b in range(1, min(n, MOST) + 1) if n % b == 0):
            shapes.add((*[1] * k, b, *dims[k + 1 :]))
            shapes |= {(*[1] * (d - m), *[b] * m) for m in (2, 3) if m <= d}
    for shape in shapes:
        divides = all(n % b == 0 for n, b in zip(dims, shape, strict=True))
        if divides and FEWEST <= prod(shape) <= MOST and MANY * prod(shape) <= prod(dims):
            yield shape


def _apart(table: Any, block: Sequence[int]) -> Any:
    """How far the elements of each block lie from its first one, a row for each block."""
    shape = [
        n for pair in zip(table.shape, block, strict=True) for n in (pair[0] // pair[1], pair[1])
    ]
    d = len(block)
    order = [*range(0, 2 * d, 2), *range(1, 2 * d, 2)]
    rows = table.reshape(shape).transpose(order).reshape(-1, prod(block))
    return rows - rows[:, :1]


def _steps(apart: Any, block: Sequence[int]) -> tuple[tuple[int, int], ...] | None:
    """Extents and strides of a block that lies in one way, a sum of its indices' steps; None for any other."""
    if _distinct(apart, 1) is None:
        return None
    places = apart[0].reshape(block)
    found: list[tuple[int, int]] = []
    model: Any = np.zeros(block, np.int64)
    for k, n in enumerate(block):
        if n == 1:
            continue
        stride = int(places[tuple(int(at == k) for at in range(len(block)))])
        if stride == 0:
            return None
        shape = [n if at == k else 1 for at in range(len(block))]
        model = model + stride * np.arange(n).reshape(shape)
        if found and found[-1][1] == n * stride:
            found[-1] = (found[-1][0] * n, stride)
        else:
            found.append((n, stride))
    return tuple(found) if (model == places).all() else None


def _distinct(rows: Any, most: int) -> Any:
    """The different rows; None where there are more than so many."""
    if len(np.unique(rows[:SOME], axis=0)) > most:
        return None
    found = np.unique(rows, axis=0)
    return found if len(found) <= most else None

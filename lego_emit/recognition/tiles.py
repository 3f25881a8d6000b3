"""Tables of which a tile repeats, or is spread: a permutation of some digits, strides of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import NamedTuple

from ..algebra.block import Block
from ..algebra.layout import Layout, OrderBy
from ..algebra.perms import RegP, Row
from ..packages import numpy as np
from .strides import Axes, Leaves, Wrong, axes, cropped, leaves, of_flat, viewed

MOST_UNALIGNED = (
    4096  # entries of an axis of which every size of a tile is tried, not divisors alone
)
MOST_ORDERS = 3000  # second permutations of digits that are tried
MOST_COMPARED = 12  # sizes of a tile for which a whole table is looked at
TRIED = 64  # entries that must fit before all are looked at

Inner = Callable[[np.ndarray], Block | None]  # the layout of a permutation, where it is known


class Split(NamedTuple):
    """An axis in three: digits above a tile's, which are strided, the tile's own, and strided ones
    below."""

    above: Leaves
    size: int
    below: Leaves

    @property
    def padded(self) -> int:
        """The size of the axis that has these digits."""
        return prod(n for n, _ in self.above) * self.size * prod(n for n, _ in self.below)


def tiled(table: np.ndarray, inner: Inner) -> Block | None:
    """A table that is the sum of strided digits and of a tile's own, whose positions are spread by
    strides and else a permutation that inner knows."""
    splits = []
    for axis in range(table.ndim):
        splits.append(_split(table, axis))
    steps = [prod(n for n, _ in s.below) for s in splits]
    box = tuple(slice(0, d * s.size, d) for s, d in zip(splits, steps, strict=True))
    tile = table[box]
    start = int(tile.flat[0])
    values, ranks = np.unique(tile - start, return_inverse=True)
    spread = leaves(values)
    if len(values) != tile.size or isinstance(spread, Wrong):
        return None
    if prod(n for n, _ in spread) != tile.size or tile.size < 2:
        return None
    others = [leaf for s in splits for leaf in (*s.above, *s.below)]
    alone = (
        not others and len(spread) < 2 and int(values[0]) == -start and values[1] == values[0] + 1
    )
    if alone:
        return None  # nothing was taken off it
    dims = tuple(n for n in tile.shape if n > 1)
    permutation = inner(ranks.reshape(dims).astype(np.int64))
    if permutation is None or permutation.masks_inverse:  # a padded one is no step of a layout
        return None
    return _assembled(table.shape, splits, permutation, spread, start + int(values[0]))


def _assembled(
    dims: tuple[int, ...], splits: Sequence[Split], inner: Block, spread: Leaves, offset: int
) -> Block:
    digits: list[tuple[int, int | None]] = []  # sizes and strides, of the tile's own None
    for split in splits:
        own = [(split.size, None)] if split.size > 1 else []
        digits += [*split.above[::-1], *own, *split.below[::-1]]
    outside = [k for k, (_, d) in enumerate(digits) if d is not None]
    outside.sort(key=lambda k: -(digits[k][1] or 0))
    order = [*outside, *(k for k, (_, d) in enumerate(digits) if d is None)]
    arranged = None if order == [*range(len(order))] else RegP([n for n, _ in digits], order)
    repeated = inner
    if outside:
        repeated = OrderBy(Row(*(digits[k][0] for k in outside)), _bare(inner))
    positions: np.ndarray = np.array(offset)
    for n, d in [*(digits[k] for k in outside), *spread[::-1]]:
        positions = positions[..., None] + np.arange(n) * (d or 0)
    last = axes(positions.reshape(-1))
    assert isinstance(last, Axes)
    padded = [split.padded for split in splits]
    return cropped(viewed(padded, arranged, repeated, of_flat(last)), dims)


def _bare(layout: Block) -> Block:
    """The block within a layout of a single reordering."""
    if isinstance(layout, Layout) and not layout.tiled and len(layout._steps) == 1:
        perms = layout._steps[0][1].perms
        return perms[0] if len(perms) == 1 else layout
    return layout


def _split(table: np.ndarray, axis: int) -> Split:
    rows = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
    above, tile = _above(rows)
    for size in divisors(tile)[:0:-1]:
        cut = rows[:tile].reshape(tile // size, size, -1)
        line = cut[0, :, 0]
        below = leaves(line)
        if isinstance(below, Wrong) or prod(n for n, _ in below) != size:
            continue
        if (cut == cut[:, :1] + (line - line[0])[:, None]).all():
            return Split(above, tile // size, below)
    return Split(above, tile, [])


def _above(rows: np.ndarray) -> tuple[Leaves, int]:
    """The strided digits above the smallest tile, and its size."""
    n, width = rows.shape
    sizes = divisors(n)[:-1]
    if n <= MOST_UNALIGNED:
        sizes = list(dict.fromkeys([*sizes, *range(1, n)]))
    draw = np.random.default_rng(0)
    at, column = draw.integers(n, size=TRIED), draw.integers(width, size=TRIED)
    some, left = rows[at, column], MOST_COMPARED
    for size in sizes:
        line = rows[::size, 0] - rows[0, 0]
        if (rows[at % size, column] + line[at // size] != some).any():
            continue
        found = leaves(line)
        if isinstance(found, Wrong):
            continue
        whole = (rows[None, :size] + line[:, None, None]).reshape(-1, width)
        if np.array_equal(whole[:n], rows):
            return found, size
        if not (left := left - 1):
            break
    return [], n


def divisors(n: int) -> list[int]:
    """Those of n, growing."""
    small = [d for d in range(1, int(n**0.5) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


# -- two permutations of digits that do not line up ----------------------------------------------


def two_levels(table: np.ndarray) -> Block | None:
    """One RegP after the other, of a permutation of 0..size - 1; the second of two or three digits, or of
    four whose middle ones change places."""
    flat, size = table.reshape(-1), table.size
    for sizes, perm in _second(size):
        places = np.arange(size).reshape(sizes).transpose(perm).reshape(-1)
        if isinstance(leaves(places[flat[:TRIED]]), Wrong):
            continue
        first = axes(places[flat])
        if isinstance(first, Axes) and first.is_compact:
            return viewed(table.shape, of_flat(first), RegP(sizes, perm))
    return None


def _second(size: int) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """The permutations, those of fewer digits first; at most MOST_ORDERS."""
    tried = 0
    for count, perms in (
        (2, [(1, 0)]),
        (3, [(1, 0, 2), (0, 2, 1), (2, 1, 0)]),
        (4, [(0, 2, 1, 3)]),
    ):
        for sizes in _factored(size, count):
            for perm in perms:
                tried += 1
                if tried > MOST_ORDERS:
                    return
                yield sizes, perm


def _factored(size: int, count: int) -> Iterator[list[int]]:
    """size as an ordered product of so many factors from 2 on."""
    if count == 1:
        if size > 1:
            yield [size]
        return
    for d in divisors(size)[1:-1]:
        for rest in _factored(size // d, count - 1):
            yield [d, *rest]

"""Single elements in a language without kernels: blocks that statements move, in tiles of lines of both memories.

Compilers load and store the registers of a block whole where its statements stand side by side, and unroll loops of a
known length. So all tiles have one extent, and the last one is shifted back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod

from ..ir.nests import (
    DESTINATION,
    NOTHING,
    ONE,
    SOURCE,
    Let,
    Loop,
    Move,
    Ref,
    Statement,
    Statements,
    When,
    all_of,
    nested,
    plus,
)
from ..ir.nodes import Node, made, var
from .hints import SHORT
from .schedule import BoxNest
from .tiles import LINE, PAGE, WAYS

FEWEST = 2**12  # bytes of a box that is worth tiles
FEW = 8  # neighbors of which compilers make registers
SQUARE = 4  # bytes of elements of which they make registers of a square of loops
MOST = 16  # elements of a block of short digits


@dataclass(frozen=True)
class Blocks:
    """The blocks of a box. cell: how many of each digit a block has, all others being moved one by one; tile: how many a
    tile has, in the order of the loops in it; around: the digits of loops over tiles. The last ones are innermost."""

    nest: BoxNest
    block: Statements
    cell: Mapping[int, int]
    tile: Mapping[int, int]
    around: Sequence[int]

    @property
    def kind(self) -> str:
        """What moves the box, in words."""
        count = prod(self.cell.values())
        return f"blocks of {count} elements" if count > 1 else "single elements"

    def statements(self) -> tuple[Statement, ...]:
        """The loops over tiles and blocks, or over single elements where extents are less than a tile's."""
        nest = self.nest
        nest.kinds.append(self.kind)
        names: list[str | None] = [*nest.inner]
        around: dict[int, Loop] = {}
        within: list[Loop] = []
        rows: list[Loop] = []
        needed: list[int] = [1] * len(nest.digits)
        for k, tile in self.tile.items():
            cell, names[k], start, needed[k] = self.cell[k], None, NOTHING, tile
            if nest.digits[k].n != tile:
                around[k] = nest.loop(nest.outer[k], k, tile)
                names[k], start = nest.outer[k], var(nest.outer[k])
            if tile != cell:
                names[k], stop = nest.inner[k], plus(start, tile)
                last = plus(stop, -cell) if tile % cell else None
                within.append(Loop(nest.inner[k], stop, (), cell, start, last))
            if self._is_loop(k):
                start = NOTHING if (name := names[k]) is None else var(name)
                names[k] = row = nest.names.fresh("row")
                rows.append(Loop(row, plus(start, cell), (), 1, start, unrolled=cell))
        apart = [nest.loop(nest.inner[k], k, 1) for k in range(len(names)) if k not in self.tile]
        tiles = [around[k] for k in self.around if k in around]
        body = nested([*apart, *tiles, *within, *rows], self._moved(names))
        condition = all_of(nest.at_least(needed) or [])
        return body if condition is None else (When(condition, body, nest.direct(nest.plain)),)

    def _is_loop(self, k: int) -> bool:
        """Whether a block has a loop over a digit, whose values are rows of the destination."""
        return self.block.loops and self.cell[k] > 1 and self.nest.b[k] != ONE

    def _moved(self, names: Sequence[str | None]) -> tuple[Statement, ...]:
        """What is done for a block, or for a row of it: a statement for each element."""
        nest = self.nest
        of, to = nest.at(names)
        counts = {k: 1 if self._is_loop(k) else n for k, n in self.cell.items()}
        if prod(counts.values()) == 1:
            return (Move(Ref(DESTINATION, to), Ref(SOURCE, of), ONE),)
        lets = [Let(nest.names.fresh(n), at) for n, at in (("from", of), ("into", to))]
        moves: list[Move] = []
        for steps in product(*map(range, counts.values())):
            index = dict(zip(counts, steps, strict=True))
            of, to = (
                _beyond(var(let.name), [(side[k], n) for k, n in index.items()])
                for let, side in zip(lets, (nest.a, nest.b), strict=True)
            )
            moves.append(Move(Ref(DESTINATION, to), Ref(SOURCE, of), ONE))
        return (*lets, *moves)


def _beyond(at: Node, steps: Sequence[tuple[Node, int]]) -> Node:
    """A place so many strides beyond another one, those that are numbers last."""
    for stride, count in steps:
        op, far = ("sub", stride.args[0]) if stride.op == "neg" else ("add", stride)
        if count and stride.op != "const":
            at = made(op, at, far if count == 1 else made("mul", count, far))
    return plus(at, sum(stride.value * count for stride, count in steps if stride.op == "const"))


def blocks_of(nest: BoxNest) -> Blocks | None:
    """The blocks of a box; None where it has few elements, or few neighbors in a memory."""
    digits, block = nest.digits, nest.abilities.block
    sizes = [d.n for d in digits]
    line = LINE // nest.bytes
    if block is None or line < FEW or _product(sizes) * nest.bytes < FEWEST:
        return None
    ends = [k for side in "ab" for k, d in enumerate(digits) if getattr(d, side) == 1]
    if len(ends) != 2:
        return None
    p, q = ends
    if p == q:
        return _of_short_digits(nest, block)
    fewer = max(1, nest.bytes // block.most)
    cell = {p: max(1, block.of // fewer), q: max(1, block.to // fewer)}
    tile = {k: max(line, 2 * n) for k, n in cell.items()}
    n = sizes[p]
    if block.loops and isinstance(n, int) and n < FEW:
        cell, tile = {p: n if block.of > 1 else 1, q: 1}, {q: 4 * line, p: n}
    elif _goes_across(nest, block, p, q, max(cell.values()) == 1):
        tile[q] = line * (block.lines if isinstance(sizes[q], int) else 2)
        if block.of == 1:
            tile = {p: min(line, 16), q: tile[q] if nest.bytes >= SQUARE else 16}
    else:
        tile = {q: tile[q], p: tile[p]}
    for k in ends:
        n = sizes[k]
        if isinstance(n, int):
            tile[k] = min(tile[k], n)
            cell[k] = min(cell[k], tile[k])
        elif nest.is_within(k, tile[k]):
            return None
    if tile[p] < 2 or tile[q] < (FEW if block.loops else 2):
        return None
    if max(cell.values()) == 1 and not block.loops:
        return None
    n = sizes[q]
    is_short = isinstance(n, int) and n * nest.bytes <= SHORT
    return Blocks(nest, block, cell, tile, (p, q) if is_short else (q, p))


def _goes_across(nest: BoxNest, block: Statements, p: int, q: int, is_single: bool) -> bool:
    """Whether tiles are long in the destination, and moved row by row: where rows share places in a cache, or begin
    within lines, or where compilers make no registers of a square."""
    line = LINE // nest.bytes
    apart = [s * nest.bytes for s in (nest.digits[p].b, nest.digits[q].a) if isinstance(s, int)]
    shares = any(PAGE // gcd(PAGE, s) * WAYS <= max(line, 2 * block.of) for s in apart)
    is_ragged = len(apart) < 2 or any(s % LINE for s in apart)
    return shares or (block.ragged and is_ragged) or (is_single and nest.bytes != SQUARE)


def _of_short_digits(nest: BoxNest, block: Statements) -> Blocks | None:
    """Blocks of short digits that lie together in the destination, as in a curve whose neighbors are a few on both
    sides; None where statements are not side by side by themselves, or runs are long."""
    if block.loops or nest.has_long_runs:
        return None
    cell: dict[int, int] = {}
    known = {k: d.b for k, d in enumerate(nest.digits) if isinstance(d.b, int)}
    for k in sorted(known, key=lambda k: known[k]):
        n = nest.digits[k].n
        if not isinstance(n, int) or prod(cell.values()) * n > MOST:
            break
        cell = {k: n, **cell}
    return Blocks(nest, block, cell, cell, ()) if len(cell) > 1 else None


def _product(sizes: Sequence[object]) -> int:
    """The product of sizes, those that are no numbers being large."""
    return prod(n if isinstance(n, int) else FEWEST for n in sizes)

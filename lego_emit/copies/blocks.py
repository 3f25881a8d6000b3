"""Single elements in a language without kernels: blocks that statements move, in tiles of lines of both memories.

Compilers load and store the registers of a block whole where its statements stand side by side, and unroll loops of a
known length. So all tiles have one extent, and the last one is shifted back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

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
    When,
    all_of,
    nested,
    plus,
)
from ..ir.nodes import Node, const, made, var
from .schedule import BoxNest
from .tiles import LINE

FEWEST = 2**12  # bytes of a box that is worth tiles
FEW = 8  # elements of a tile that is worth it where compilers make blocks
MANY = 4  # blocks of a tile, along each of its digits


@dataclass(frozen=True)
class Blocks:
    """The blocks of a box. ends: the digits of neighbors in the source and in the destination; cell, tile: how many of
    each a block and a tile have; inside: which end the innermost loop is along."""

    nest: BoxNest
    ends: tuple[int, int]
    cell: tuple[int, int]
    tile: tuple[int, int]
    inside: int

    @property
    def kind(self) -> str:
        """What moves the box, in words."""
        return f"blocks of {prod(self.cell)} elements" if self.is_unrolled else "single elements"

    @property
    def is_unrolled(self) -> bool:
        """Whether a block has several elements."""
        return max(self.cell) > 1

    def statements(self) -> tuple[Statement, ...]:
        """The loops over tiles and blocks, or over single elements where extents are less than a tile's."""
        nest = self.nest
        nest.kinds.append(self.kind)
        names: list[str | None] = [*nest.inner]
        around: list[Loop] = []
        within: list[Loop] = []
        needed: list[int] = [1] * len(nest.digits)
        for k, cell, tile in zip(self.ends, self.cell, self.tile, strict=True):
            start, stop, needed[k] = NOTHING, const(tile), tile
            if nest.digits[k].n != tile:
                around.append(nest.loop(nest.outer[k], k, tile))
                start, stop = var(nest.outer[k]), plus(var(nest.outer[k]), tile)
            elif tile == cell:
                names[k] = None
                continue
            last = plus(stop, -cell) if tile % cell else None
            within.append(Loop(nest.inner[k], stop, (), cell, start, last))
        apart = [nest.loop(nest.inner[k], k, 1) for k in range(len(names)) if k not in self.ends]
        order = around if nest.has_few_sets else around[::-1]
        inner = within if self.inside else within[::-1]
        body = nested([*apart, *order, *inner], self._moved(names))
        condition = all_of(nest.at_least(needed) or [])
        return body if condition is None else (When(condition, body, nest.direct(nest.plain)),)

    def _moved(self, names: Sequence[str | None]) -> tuple[Statement, ...]:
        """What is done for a block: a statement for each element."""
        nest, (p, q) = self.nest, self.ends
        of, to = nest.at(names)
        if not self.is_unrolled:
            return (Move(Ref(DESTINATION, to), Ref(SOURCE, of), ONE),)
        lets = [Let(nest.names.fresh(n), at) for n, at in (("from", of), ("into", to))]
        of, to = (var(let.name) for let in lets)
        moves = [
            Move(
                Ref(DESTINATION, _beyond(to, nest.b[p], i, j)),
                Ref(SOURCE, _beyond(of, nest.a[q], j, i)),
                ONE,
            )
            for i in range(self.cell[0])
            for j in range(self.cell[1])
        ]
        return (*lets, *moves)


def _beyond(at: Node, stride: Node, steps: int, more: int) -> Node:
    """A place so many strides and elements beyond another one."""
    if stride.op == "const":
        return plus(at, stride.value * steps + more)
    op, far = ("sub", stride.args[0]) if stride.op == "neg" else ("add", stride)
    return plus(made(op, at, far if steps == 1 else made("mul", steps, far)) if steps else at, more)


def blocks_of(nest: BoxNest) -> Blocks | None:
    """The blocks of a box; None where it has few elements, or few neighbors in a memory."""
    digits, block = nest.digits, nest.abilities.block
    ends = [k for side in "ab" for k, d in enumerate(digits) if getattr(d, side) == 1]
    if block is None or len(ends) != 2 or ends[0] == ends[1]:
        return None
    p, q = ends
    if not block.always and not all(nest.chains):
        return None
    cell = [block.of, block.to] if nest.bytes <= block.most else [1, 1]
    line = max(1, LINE // nest.bytes)
    in_lines = all(isinstance(s, int) and s % line == 0 for s in (digits[p].b, digits[q].a))
    inside = int(cell == [1, 1] and (not in_lines or nest.has_few_sets))
    tile = [max(MANY * cell[0], line), max(MANY * cell[1], line * (1 + inside))]
    for at, k in enumerate(ends):
        n = digits[k].n
        if isinstance(n, int):
            cell[at], tile[at] = min(cell[at], n), min(tile[at], n)
        elif nest.is_within(k, tile[at]):
            return None
    sizes = [d.n for d in digits]
    if min(tile) < (2 if max(cell) > 1 else FEW) or (
        all(isinstance(n, int) for n in sizes) and prod(sizes) * nest.bytes < FEWEST
    ):
        return None
    return Blocks(nest, (p, q), (cell[0], cell[1]), (tile[0], tile[1]), inside)

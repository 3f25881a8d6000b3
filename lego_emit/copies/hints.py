"""Hints of a box's nest for lines that are wanted soon: where no prefetcher foresees them, and who says so.

Stores wait for their lines one by one, where loads run ahead: most hints are for what the next tile writes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

from ..ir.nests import (
    DESTINATION,
    SOURCE,
    Fetch,
    Flag,
    Let,
    Loop,
    Ref,
    Statement,
    When,
    linear,
    nested,
    plus,
)
from ..ir.nodes import Node, const, made, var
from .tiles import LINE, Mover, Tiles

BEYOND = 2**23  # bytes of a copy whose lines come from beyond the caches
FOLLOWED = 16  # rows that a cache's prefetchers follow at once
SHORT = 4 * LINE  # bytes of digits that tiles take whole
NEAR = 2**15  # bytes of a box whose lines are in the first cache
NEVER_LARGE = 2**20  # bytes of a copy that is not streamed, whatever the caches are


class Hinted(Tiles):
    """The tiles of a box, and hints for their lines."""

    def _known(self, k: int) -> int:
        """The extent of a digit that is known, else 0."""
        n = self.digits[k].n
        return n if isinstance(n, int) else 0

    @cached_property
    def _has_short_rows(self) -> bool:
        """Whether tiles of a copy that caches have no room for read short rows with gaps between them, and write lines of
        a long digit: no prefetcher foresees either."""
        if self.total is None or self.total.op != "const" or self.total.value < BEYOND:
            return False
        if not self.abilities.fetches or not all(self.chains):
            return False
        k, along = (side[-1].digit for side in self.chains)
        n, many = self._known(k), self._known(along)
        is_short = len(self.chains[0]) == 1 and 0 < n * self.bytes <= SHORT < many * self.bytes
        return is_short and self.digits[along].a != n

    def _rows_ahead(
        self, tile: Sequence[int], names: Sequence[str | None]
    ) -> tuple[Statement, ...]:
        """Hints for the lines that the next tile of such rows writes and reads."""
        k, along = (side[-1].digit for side in self.chains)
        following, size = self.names.fresh("next"), tile[along]
        after, last = plus(var(self.outer[along]), size), plus(self.n[along], -size)
        found: list[Statement] = [
            Let(following, made("select", made("lt", after, last), after, last))
        ]
        loops = {k: self.n[k], along: const(size)}
        own = [self.inner[d] if d in loops else name for d, name in enumerate(names)]
        pairs = (DESTINATION, self.b, (k, along)), (SOURCE, self.a, (along, k))
        for array, (side, strides, (row, line)) in zip((1, 0), pairs, strict=True):
            at = linear(self.at(own)[array], [(strides[along], following)])
            nest = [
                Loop(self.inner[row], loops[row], ()),
                Loop(self.inner[line], loops[line], (), LINE // self.bytes),
            ]
            found += nested(nest, (Fetch(Ref(side, at)),))
        return tuple(found)

    def _writes_ahead(self, mover: Mover, around: Collection[int]) -> bool:
        """Whether tiles are moved in the order of the destination, whose next lines are fetched: no prefetcher foresees
        rows of a line each, and stores wait for their lines one by one, where loads don't."""
        if mover.kernel is None or not self.abilities.fetches or self._has_short_rows:
            return False
        ends = {side[0].digit for side in self.chains if len(side) == 1}
        sizes = [d.n for d in self.digits]
        least = NEVER_LARGE if self.bytes == 2 else NEAR  # exchanges of many lanes take their time
        known = [n for n in sizes if isinstance(n, int)]
        is_near = len(known) == len(sizes) and prod(known) * self.bytes < least
        return len(ends) == 2 and ends <= {*around} and not is_near

    def _lines_ahead(
        self, mover: Mover, tile: Sequence[int], names: Sequence[str | None]
    ) -> tuple[list[Statement], tuple[Statement, ...]]:
        """Hints for lines that the next row of blocks writes, and that the next tile reads, of which each block of a row
        gives its share: while single bytes are exchanged, there is time for a few. Before them, what a tile says once."""
        k, along = (side[-1].digit for side in self.chains)
        rows, step = mover.cell[k], mover.cell[along]
        share = rows * step // tile[along]
        below, beside, following, row = (
            self.names.fresh(name) for name in ("below", "beside", "next", "row")
        )
        at, (start, other) = var(self.inner[k]), (var(self.outer[d]) for d in (k, along))
        after = plus(start, tile[k])
        once: list[Statement] = [
            Let(following, made("select", made("lt", after, self.n[k]), after, start))
        ]
        number = made("div", made("mod", var(self.inner[along]), tile[along]), step)

        def begun(at: Node, n: Node) -> Node:
            return made("add", _least(at, plus(n, -rows)), made("mul", number, share))

        lets = [
            Let(below, begun(plus(at, rows), self.n[k])),
            Let(beside, begun(made("add", other, made("mod", at, tile[k])), self.n[along])),
        ]
        written = self.b[k], {k: below, along: self.outer[along]}, along
        read = self.a[along], {k: following, along: beside}, k
        lines: list[Statement] = []
        more: list[Statement] = []
        for side, (stride, own, line) in ((DESTINATION, written), (SOURCE, read)):
            last = self.names.fresh("last")
            end = _least(plus(var(own[line]), tile[line]), self.n[line])
            once.append(Let(last, plus(end, -1)))
            is_whole = stride.op == "const" and stride.value * self.bytes % LINE == 0
            for end, of in ((own[line], lines), (last, more if is_whole else lines)):
                named = [{**own, line: end}.get(d, name) for d, name in enumerate(names)]
                place = linear(self.at(named)[side == DESTINATION], [(stride, row)])
                of.append(Fetch(Ref(side, place)))
        loop = Loop(row, const(share), ())
        found = nested([loop], tuple(lines))
        if more:  # rows are whole lines if the first one begins at a line
            whole = self.names.fresh("whole")
            once.append(Flag(whole, None, LINE))
            found = (When(None, found, nested([loop], (*lines, *more)), (whole,)),)
        return once, (*lets, *found)

    def _written_ahead(
        self, tile: Sequence[int], within: Sequence[Loop], names: Sequence[str | None]
    ) -> tuple[Statement, ...]:
        """Hints for the lines of the destination that the next tile writes."""
        k, along = (side[-1].digit for side in self.chains)
        following, at = self.names.fresh("next"), var(self.outer[along])
        after = plus(at, tile[along])
        own = [following if d == along else name for d, name in enumerate(names)]
        rows = next(loop for loop in within if loop.name == self.inner[k])
        rows = replace(rows, step=1, last=None, falls=False, rolled=False)
        return (
            Let(following, made("select", made("lt", after, self.n[along]), after, at)),
            *nested([rows], (Fetch(Ref(DESTINATION, self.at(own)[1])),)),
        )

    def _fetched(
        self, apart: Mapping[int, Loop], names: Sequence[str | None]
    ) -> tuple[Statement, ...]:
        """Hints for the lines that the next tile writes and reads, which no prefetcher foresees where digits are
        short."""
        if self.total is None or not self.abilities.fetches:
            return ()
        (*_, k), following = apart, self.names.fresh("next")
        after = plus(var(self.inner[k]), 1)
        value = made("select", made("lt", after, self.n[k]), after, var(self.inner[k]))
        found: list[Statement] = [Let(following, value)]
        at = [
            following if own == k else self.inner[own] if self.tile[own] else name
            for own, name in enumerate(names)
        ]
        for array, side in ((1, DESTINATION), (0, SOURCE)):
            line = [t.digit for t in self.chains[array]]
            last = line[-1]
            stride = (self.digits[last].a, self.digits[last].b)[array]
            step = max(1, LINE // self.bytes // stride)
            rows = [d for d, size in enumerate(self.tile) if size and d not in line]
            loops = [Loop(self.inner[d], self.n[d], ()) for d in rows]
            if not 0 < self._known(last) <= step:  # else all of it is in a line
                loops, line = [*loops, Loop(self.inner[last], self.n[last], (), step)], line[:-1]
            own = [None if d in line else name for d, name in enumerate(at)]
            found += nested(loops, (Fetch(Ref(side, self.at(own)[array])),))
        return tuple(found)

    def _ahead(self, of: Node, tile: Sequence[int]) -> tuple[Statement, ...]:
        """Hints for the lines that a later tile reads, two lines on: of many rows, no prefetcher foresees them."""
        last, line = self.chains[0][-1].digit, [t.digit for t in self.chains[0]]
        if self._is_whole(last, tile[last]):
            return ()
        ahead = tile[last] + 2 * LINE // self.bytes // prod(t.extent for t in self.chains[0][:-1])
        following, at = self.names.fresh("ahead"), var(self.outer[last])
        most = plus(self.n[last], -1)
        value = made(
            "select", made("lt", plus(at, ahead), most), const(ahead), made("sub", most, at)
        )
        rows = [k for k, size in enumerate(tile) if size and k not in line]
        if prod(tile[k] for k in rows) <= FOLLOWED:
            return ()
        terms = [(self.a[k], self.inner[k]) for k in rows]
        fetch = Fetch(Ref(SOURCE, linear(of, [(self.a[last], following), *terms])), True)
        loops = [Loop(self.inner[k], const(tile[k]), (), rolled=True) for k in rows]
        return (Let(following, value), *nested(loops, (fetch,)))


def _least(x: Node, y: Node) -> Node:
    """The smaller of both."""
    return made("select", made("lt", x, y), x, y)

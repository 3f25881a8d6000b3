"""From the plan of a copy to its nest: which mover, which tiles, which bodies.

Runs, kernels and tiles are those of tiles.py. A large copy is streamed past the caches, and one whose rows lie a
multiple of 1 KB apart goes through a small buffer, since such rows share their places in the first cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from math import prod

from ..ir.nests import (
    BUFFER,
    DESTINATION,
    NOTHING,
    SOURCE,
    Apply,
    Before,
    Buffer,
    Call,
    Flag,
    Let,
    Loop,
    Move,
    Ref,
    Statement,
    Strided,
    Vectors,
    When,
    Zero,
    all_of,
    linear,
    nested,
    plus,
)
from ..ir.nodes import Node, const, evaluated, made, var
from .hints import SHORT, Hinted
from .passes import Passes, passes_of
from .tiles import CHUNK, LINE, PAGE, VECTOR, WAYS, Mover
from .values import node_of

SOME = 512  # bytes that lines of a tile lie a multiple of apart, where a quarter of the sets or fewer are theirs
LARGE_SIZE = 2**16  # a symbol, where strides are compared
MOST_BUFFERED = 2**14  # bytes of a tile, which leave room in the first cache


class BoxNest(Hinted):
    """The nest of one box."""

    # -- bodies ------------------------------------------------------------------------------------

    def direct(self, mover: Mover, streams: bool = False) -> tuple[Statement, ...]:
        """Tile by tile, each from place to place."""
        names: list[str | None] = [None] * len(self.digits)
        apart: dict[int, Loop] = {}
        around: dict[int, Loop] = {}
        within: list[Loop] = []
        full: list[Loop] = []  # of a tile that ends within all digits
        fits: list[Node] = []
        is_known = True
        ends: list[Statement] = []
        in_lines = streams and self._has_lines_of_runs
        tile = self._tile_of_lines(mover) if in_lines else self._direct_tile(mover, streams)
        for k in range(len(self.digits)):
            if k == mover.whole or self._is_whole(k, mover.cell[k]):
                continue
            cell, size = max(mover.cell[k], 1), tile[k]
            names[k] = self.inner[k]
            if size <= cell:
                apart[k] = self.loop(self.inner[k], k, cell)
            elif self.is_within(k, size):
                within.append(self.loop(self.inner[k], k, cell))
                full.append(within[-1])
            else:
                start, n = var(self.outer[k]), self.digits[k].n
                around[k] = Loop(self.outer[k], self.n[k], (), size)
                stop = made("add", start, const(size))
                full.append(self._within(mover, k, size, stop))
                if not isinstance(n, int) or n % size:
                    fits.append(made("ge", self.n[k], stop))
                    is_known = is_known and isinstance(n, int)
                    end = made("select", made("lt", stop, self.n[k]), stop, self.n[k])
                    ends.append(Let(self.ends[k], end))
                    within.append(
                        Loop(self.inner[k], var(self.ends[k]), (), cell, start, self._last(k, cell))
                    )
                else:
                    within.append(full[-1])
        moved: tuple[Statement, ...] = (self._moved(mover, names, streams),)
        ahead = self._writes_ahead(mover, around)
        if ahead and self.bytes == 1:
            lets, lines = self._lines_ahead(mover, tile, names)
            ends, moved = [*ends, *lets], (*lines, *moved)
        inner = nested(within, moved)
        if mover.kernel is not None and len(fits) > 1 and not is_known:
            inner = (When(all_of(fits), nested(full, moved), inner),)
        ahead = ahead and self.bytes > 1
        if ahead:
            inner = (*self._written_ahead(tile, within, names), *inner)
        inner = (*ends, *inner)
        if mover.kernel is not None and apart and not around:
            inner = (*self._fetched(apart, names), *inner)
        elif mover.kernel is not None and self._has_short_rows and len(around) == 1:
            inner = (*self._rows_ahead(tile, names), *inner)
        order = self._by_source(around)
        is_long = ahead and not 0 < self._known(self.chains[0][0].digit) * self.bytes <= SHORT
        if is_long or (mover.kernel is not None and self.has_few_sets):
            order = order[::-1]
        nest = [*(apart[k] for k in sorted(apart)), *order]
        if in_lines:
            both = apart | around
            nest = [both[k] for k in sorted(both, key=lambda k: -self._far(k))]
        return self._unless_empty(mover.run, nested(nest, inner))

    def _within(self, mover: Mover, k: int, size: int, stop: Node) -> Loop:
        """The loop within a tile. Of squares, the second row is moved before the first: what a load or a store strides by
        changes then from one round to the next, as long as all rounds have the same code, and no prefetcher of strides
        asks the second cache for lines that are asked for anyway."""
        cell, kernel = max(mover.cell[k], 1), mover.kernel
        is_square = kernel is not None and kernel.square is not None
        falls = kernel is not None and kernel.square == k and size == 2 * cell
        start, run = var(self.outer[k]), 0 if self.run is None else self._known(self.run)
        rolled = is_square or (kernel is None and run * self.bytes >= 2 * LINE)
        return Loop(self.inner[k], stop, (), cell, start, falls=falls, rolled=rolled)

    @property
    def _has_lines_of_runs(self) -> bool:
        """Whether runs past the caches are moved in the order of the source, which caches fetch ahead: those of two lines
        or more, and those of a line where the destination's next run comes soon, or some are gathered."""
        n = 1 if self.run is None else self.digits[self.run].n
        if not isinstance(n, int) or n * self.bytes < LINE:
            return False
        order = sorted(range(len(self.digits)), key=lambda k: -self._far(k))
        is_read = n * self.bytes >= 2 * LINE or self._gathered is not None
        return is_read or self._stays([d.b for d in self.digits], n, order, True)

    @cached_property
    def _gathered(self) -> tuple[int, int] | None:
        """The digit of which several runs of a line are written one behind the other, and how many, where rows of both
        memories have more than a page: caches fetch a few rows ahead, and memory takes a few lines at once."""
        run = 1 if self.run is None else self._known(self.run)
        several = CHUNK // LINE if run * self.bytes == LINE else 1
        to = next((k for k, d in enumerate(self.digits) if d.b == run and k != self.run), None)
        of = next((k for k, d in enumerate(self.digits) if d.a == run and k != self.run), None)
        if several == 1 or to is None or of is None or to == of:
            return None
        is_long = min(self._known(of), self._known(to)) * LINE > PAGE
        return (to, several) if is_long and self._known(to) % several == 0 else None

    def _tile_of_lines(self, mover: Mover) -> list[int]:
        """A tile of such runs: one, or several that are written one behind the other."""
        found = [*mover.cell]
        if self._gathered is not None:
            found[self._gathered[0]] = self._gathered[1]
        return found

    def _far(self, k: int) -> int:
        """How far apart the source's places are along a digit, a symbol being large."""
        node = node_of(self.digits[k].a)
        sizes = {n.value: LARGE_SIZE for n in node.walk() if n.op == "var"}
        return evaluated(node, sizes, {})

    def _direct_tile(self, mover: Mover, streams: bool) -> list[int]:
        """A tile of lines on both sides, of the source two, of which the second one is fetched ahead, if blocks are not
        squares of many lanes; all of digits that are short, where the first cache has room for their elements on both
        sides. Runs of up to a line, which few instructions store, are written in twice as many lines: caches fetch fewer
        of four ahead."""
        if streams and mover.kernel is None and self.run is not None:
            start, lines = self.plain.cell[self.run], [d.a for d in self.digits]
            if start and self._stays(lines, start, range(len(lines)), True):
                return [0] * len(lines)
        sizes = [self.digits[k].n for k, size in enumerate(self.tile) if size]
        if (
            mover.kernel is not None
            and all(isinstance(n, int) and n * self.bytes <= SHORT for n in sizes)
            and prod(sizes) * self.bytes <= MOST_BUFFERED
        ):
            return [d.n if size else 0 for d, size in zip(self.digits, self.tile, strict=True)]
        found = [*self.tile]
        if mover.kernel is not None and self._has_short_rows:
            k = self.chains[0][-1].digit
            found[k] = max(found[k], self._known(k))
        elif mover.kernel is not None and mover.kernel.square is not None and self.bytes < 8:
            return found  # whose rows are written in pairs, the second one first
        elif mover.kernel is not None and self.bytes == 1 and len(self.chains[0]) == 1:
            return found  # whose lines are hinted at by blocks
        elif self.chains[0] and not (
            mover.kernel and self._shares_sets(SOME if self.bytes < 8 else PAGE // 2)
        ):
            twice = {self.chains[0][-1].digit}
            if self._is_short(mover) and len(self.chains[1]) == 1 and not streams:
                twice.add(self.chains[1][0].digit)
            for k in twice:
                n, size = self.digits[k].n, found[k]
                if not self._is_whole(k, size):
                    divides = isinstance(n, int) and n % size == 0 and n % (2 * size)
                    found[k] *= 1 if divides else 2
        return found

    def _is_short(self, mover: Mover) -> bool:
        """Whether runs have a line or its half."""
        if mover.kernel is not None or self.run is None:
            return False
        return LINE <= 2 * self._known(self.run) * self.bytes <= 2 * LINE

    @property
    def has_few_sets(self) -> bool:
        """Whether lines of a tile are known to lie a multiple of 512 bytes apart: they are read and written in the
        order of the destination, before others drive them out."""
        return self._shares_sets(SOME)

    def _shares_sets(self, apart: int) -> bool:
        """Whether rows of a side are known to lie a multiple of so many bytes apart."""
        return any(
            isinstance(stride, int) and stride * self.bytes % apart == 0
            for side, name in zip(self.chains, "ba", strict=True)
            for stride in [getattr(self.digits[side[-1].digit], name) if side else None]
        )

    def _by_source(self, loops: Mapping[int, Loop]) -> list[Loop]:
        """Loops over tiles, those along the source's lines inside: caches fetch ahead what is read in order."""
        inside = {t.digit for t in self.chains[0]}
        return [loops[k] for k in sorted(loops, key=lambda k: k in inside)]

    def loop(self, name: str, k: int, step: int) -> Loop:
        """A loop over a digit in such steps, still without a body."""
        return Loop(name, self.n[k], (), step, last=self._last(k, step))

    def _last(self, k: int, step: int) -> Node | None:
        """Where the last step of a digit begins, unless steps divide it."""
        n = self.digits[k].n
        if isinstance(n, int) and n % step == 0:
            return None
        return plus(self.n[k], -step) if step > 1 else None

    def buffered(
        self, tile: Sequence[int], streams: bool, start: Node = NOTHING, ragged: int = 0
    ) -> tuple[Statement, ...]:
        """Tile by tile, each through a local array whose rows are lines of the destination. streams: whether these
        are streamed; start: where tiles begin, which is before 0 where the destination begins within a line; ragged:
        how many elements more than a tile its rows have, of which each writes whole lines."""
        mover, step = self.mover, tile
        line = [t.digit for t in self.chains[1]]
        rows = [k for k, size in enumerate(tile) if size and k not in line]
        strides = [0] * len(tile)
        for k in line:
            strides[k] = self.digits[k].b
        tile = [n + (ragged if k == line[-1] else 0) for k, n in enumerate(step)]
        width = prod(tile[k] for k in line)
        running = width
        for k in reversed(rows):
            strides[k], running = running, running * tile[k]
        origin: list[str | None] = [None] * len(tile)
        apart: dict[int, Loop] = {}
        around: dict[int, Loop] = {}
        for k, size in enumerate(tile):
            reads = ragged and k == line[-1]  # where a tile begins, even if it is the only one
            if self._is_whole(k, size) and not reads:
                continue
            origin[k] = self.outer[k]
            if not size:
                apart[k] = self.loop(self.outer[k], k, 1)
                continue
            around[k] = self.loop(self.outer[k], k, size)
            if reads:
                stop = plus(self.n[k], -ragged)  # from there on the tile before reaches the end
                last = plus(self.n[k], -size)
                around[k] = replace(around[k], stop=stop, step=step[k], last=last)
            if k == line[-1] and start != NOTHING:
                last = plus(self.n[k], -size)
                around[k] = replace(around[k], start=start, rises=True, last=last)
        of, to = self.at(origin)
        fills = [
            Loop(self.inner[k], const(tile[k]), (), max(mover.cell[k], 1), rolled=True)
            for k in (*reversed(line), *rows)
            if tile[k] > mover.cell[k]
        ]
        inner = [(k, self.inner[k]) for k in (*line, *rows) if tile[k] > mover.cell[k]]
        assert mover.kernel is not None
        filled = Apply(
            mover.kernel,
            Ref(BUFFER, linear(const(0), [(const(strides[k]), name) for k, name in inner])),
            Ref(SOURCE, linear(of, [(self.a[k], name) for k, name in inner])),
            mover.strides(self.a),
            tuple(map(const, strides)),
        )
        row = [(k, self.inner[k]) for k in rows]
        places = (
            linear(to, [(self.b[k], name) for k, name in row]),
            linear(const(0), [(const(strides[k]), name) for k, name in row]),
        )
        if ragged:
            drained = self._lines(places, line[-1], step[line[-1]], ragged)
        else:
            pair = Ref(DESTINATION, places[0]), Ref(BUFFER, places[1])
            drained = (Move(*pair, const(width), streams),)
        taken = [Loop(self.inner[k], const(tile[k]), (), rolled=True) for k in rows]
        parts = (*nested(fills, (filled,)), *nested(taken, drained))
        if streams and self.abilities.fetches:
            parts = (*self._ahead(of, tile), *parts)
        nest = [*(apart[k] for k in self._in_rows(apart, streams)), *self._by_source(around)]
        return nested(nest, (Buffer(running, parts, LINE),))

    def _in_rows(self, apart: Mapping[int, Loop], streams: bool) -> list[int]:
        """The order of loops: where many are of two, past the caches that of the source, whose rows memory reads on."""
        bits = [k for k in apart if self.digits[k].n == 2]
        return sorted(apart, key=lambda k: -self._far(k)) if streams and len(bits) > 2 else [*apart]

    def _lines(
        self, places: tuple[Node, Node], k: int, step: int, ragged: int
    ) -> tuple[Statement, ...]:
        """A row of a tile from where the first line begins to where a line ends, or from 0, or to the last element."""
        back, first, end = (self.names.fresh(name) for name in ("back", "first", "end"))
        at, (to, of) = var(self.outer[k]), places
        line = plus(var(back), ragged - 1)
        return (
            Before(back, ragged, plus(to, ragged - 1)),
            Let(first, made("select", made("gt", at, 0), line, const(0))),
            Let(
                end,
                made(
                    "select",
                    made("lt", at, plus(self.n[k], -step - ragged)),
                    plus(line, step),
                    const(step + ragged),
                ),
            ),
            Move(
                Ref(DESTINATION, made("add", to, var(first))),
                Ref(BUFFER, made("add", of, var(first))),
                made("sub", var(end), var(first)),
                True,
            ),
        )

    def _grown(self, source: int, destination: int) -> list[int]:
        """The tile with several lines on both sides, as far as these and the buffer have room."""
        tile = [*self.tile]
        ends = [side[-1].digit for side in self.chains]
        for k, most in zip(ends, (source, destination), strict=True):
            n = self.digits[k].n
            for _ in range(most.bit_length() - 1 if ends[0] != ends[1] else 0):
                is_room = not isinstance(n, int) or n >= 2 * tile[k]
                if is_room and 2 * prod(filter(None, tile)) * self.bytes <= MOST_BUFFERED:
                    tile[k] *= 2
        return tile

    @property
    def has_lines(self) -> bool:
        """Whether a kernel's tiles are whole lines on both sides."""
        elements = LINE // self.bytes
        whole = all(prod(t.extent for t in side) == elements for side in self.chains)
        used = {k for k, size in enumerate(self.mover.cell) if size > 1}
        covered = {t.digit for side in self.chains for t in side}
        return self.mover.kernel is not None and whole and used <= covered

    def statements(self, call: Call | None = None) -> tuple[Statement, ...]:
        """All that is done for the box, and what it is in words. call: what does all but the ways of large copies."""
        if self.passes is not None:
            return self._by_passes(self.passes) if call is None else (call,)
        if self.mover.kernel is None:
            return self._by_runs(call)
        self.kinds.append(f"kernel of {len(self.mover.kernel.loads)} registers")
        body = self.direct(self.mover) if call is None else (call,)
        if self.has_lines and self.at_least(self.tile) is not None:
            body = self._through_buffer(body)
        if body == (call,):
            return body
        needed = all_of(self.at_least(self.mover.cell) or [])
        return (Vectors(body, self.direct(self.plain) if call is None else (call,), needed),)

    @cached_property
    def passes(self) -> Passes | None:
        """Two kernels, where no single one moves the box and runs are short."""
        able = self.abilities.kernels and self.abilities.passes and VECTOR % self.bytes == 0
        able = able and not self.falls_unsigned
        if not able or self.has_long_runs or self.mover.kernel is not None:
            return None
        own = passes_of(self.digits, self.bytes)
        return None if own is None or self.is_within(own.across, own.width - 1) else own

    def _by_passes(self, own: Passes) -> tuple[Statement, ...]:
        """Blocks that a kernel takes into a buffer and another one out of it."""
        self.kinds.append(
            f"kernels of {len(own.block.loads)} and of {len(own.other.loads)} registers through a buffer"
        )
        tile = [0] * len(self.digits)
        tile[own.across] = own.width
        origin: list[str | None] = [None if k in own.held else n for k, n in enumerate(self.outer)]
        if self._is_whole(own.across, own.width):
            origin[own.across] = None
        around = [
            self.loop(name, k, max(1, tile[k])) for k, name in enumerate(origin) if name is not None
        ]
        of, to = self.at(origin)
        memories = Ref(SOURCE, of), Ref(DESTINATION, to)
        names = [*self.inner, self.names.fresh("k")]
        body = own.buffered(self.digits, memories, (self.a, self.b), names, self.abilities.pairs)
        plain = self.direct(self.plain)
        return (Vectors(nested(around, (body,)), plain, all_of(self.at_least(tile) or [])),)

    def _through_buffer(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Bodies through a buffer where the copy is large or rows share places in a cache, else the direct one."""
        first: list[Statement] = []
        said: list[str] = []
        shared = self._shared()
        own = self._grown(4, 4)
        condition = all_of(
            [*(self.at_least(own) or []), *([shared] if isinstance(shared, Node) else [])]
        )
        if shared is not False and (condition is None or self.total is not None):
            through = self.buffered(own, False)
            if condition is not None:
                flag = self.names.fresh("shares")
                first.append(Flag(flag, condition))
                through = (When(None, through, body, (flag,)),)
            body = through
            where = "" if condition is None else " where rows share places in a cache"
            said.append(f"through a buffer{where}")
        if self.abilities.streams and self.total is not None:
            flag, streamed = self._streamed(self.total)
            if flag is not None:
                first.insert(0, flag)
                body = (When(None, streamed, body, (flag.name,)),)
                said.insert(0, "streamed where it is large")
        self.kinds += said
        return (*first, *body)

    def _streamed(self, total: Node) -> tuple[Flag | None, tuple[Statement, ...]]:
        """The body past the caches, in whole lines, and where it is taken; None where rows are too short. Where rows do
        not begin at lines, each has its own."""
        taken, line, name = self.chains[1][-1], LINE // self.bytes, "streams"
        aligned = self._aligned(LINE, {t.digit for t in self.chains[1]})
        if len(self.chains[1]) == 1 and aligned != []:
            own = self._grown(1, max(self.bytes, 4))
            wide = [n + (line if k == taken.digit else 0) for k, n in enumerate(own)]
            needed = self.at_least(wide)
            if needed is not None:
                unit = self.bytes if self.bytes > 1 else 0
                flag = Flag(self.names.fresh(name), all_of(needed), unit, total)
                return flag, self.buffered(own, True, ragged=line)
        if aligned is None:
            return None, ()
        own = self._grown(1, max(self.bytes, 2))
        needed = [*(self.at_least(own) or []), *aligned]
        flag = Flag(self.names.fresh(name), all_of(needed), VECTOR, total)
        if self._is_whole(taken.digit, own[taken.digit]):
            return flag, self.buffered(own, True)
        before = Before(self.names.fresh("before"), line)
        return flag, (before, *self.buffered(own, True, var(before.name)))

    def _shared(self) -> Node | bool:
        """The condition that rows on either side share places in a cache, where it is not known."""
        conditions: list[Node] = []
        for taken, strides, nodes in zip(self.chains, "ba", (self.b, self.a), strict=True):
            k = taken[-1].digit
            other = {t.digit for t in self.chains[1 if strides == "b" else 0]}
            rows = prod(n for at, n in enumerate(self.tile) if n and at not in other)
            if rows < WAYS:
                continue
            unit = max(1, PAGE * WAYS // max(rows, 2 * WAYS) // self.bytes)
            stride = getattr(self.digits[k], strides)
            if not isinstance(stride, int):
                conditions.append(made("eq", made("mod", nodes[k], const(unit)), 0))
            elif stride % max(1, PAGE * WAYS // rows // self.bytes) == 0:
                return True
        return reduce(lambda x, y: made("lor", x, y), conditions) if conditions else False

    def _aligned(self, unit: int, inside: set[int]) -> list[Node] | None:
        """The conditions that each cell begins at a multiple of so many bytes; None where one fails."""
        found: list[Node] = []
        places = [(self.digits[k].b, self.b[k], k) for k in range(len(self.digits))]
        for stride, node, k in places:
            if k in inside:
                n = self.digits[k].n
                tile = self.tile[k] or n
                if isinstance(stride, int) and not (isinstance(n, int) and n % tile == 0):
                    if isinstance(n, int):
                        if stride * (n % tile) * self.bytes % unit:
                            return None
                    elif isinstance(tile, int):
                        found.append(made("eq", made("mod", self.n[k], const(tile)), 0))
                continue
            if isinstance(stride, int):
                if stride * self.bytes % unit:
                    return None
            else:
                found.append(made("eq", made("mod", node, const(max(1, unit // self.bytes))), 0))
        start = self.start[1]
        if start.op == "const":
            return None if start.value * self.bytes % unit else found
        if self.names.divisor(node_of(self.box.b)) * self.bytes % unit == 0:
            return found
        return [*found, made("eq", made("mod", start, const(max(1, unit // self.bytes))), 0)]

    def _by_runs(self, call: Call | None) -> tuple[Statement, ...]:
        body = self.direct(self.plain) if call is None else (call,)
        n = 1 if self.run is None else self.digits[self.run].n
        if not isinstance(n, int):
            self.kinds.append("runs")
            return body
        self.kinds.append(f"runs of {n * self.bytes} bytes" if n > 1 else "single elements")
        if (
            self.total is None
            or not self.abilities.streams
            or n * self.bytes % VECTOR
            or VECTOR % self.bytes
            or self.mover.cell != self.plain.cell
        ):
            return body
        aligned = self._aligned(VECTOR, set() if self.run is None else {self.run})
        if aligned is None or n * self.bytes >= 2**20:
            return body
        self.kinds.append("streamed where it is large")
        flag = self.names.fresh("streams")
        streamed = When(None, self.direct(self.plain, True), body, (flag,))
        return (Vectors((Flag(flag, all_of(aligned), VECTOR, self.total), streamed), body),)

    def at_least(self, extents: Sequence[int]) -> list[Node] | None:
        """The conditions that no extent is smaller; None where one is."""
        found: list[Node] = []
        for k, size in enumerate(extents):
            n = self.digits[k].n
            if not isinstance(n, int):
                if size > 1:
                    found.append(made("ge", self.n[k], size))
            elif n < size:
                return None
        return found

    def _unless_empty(self, count: Node, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Statements with runs of so many elements: where there are none, a run would begin beyond the array."""
        return (When(made("gt", count, 0), body),) if self.names.may_be_zero(count) else body

    def strided(self) -> Statement:
        """The box in one assignment."""
        of = None if self.box.is_padding else Ref(SOURCE, self.start[0])
        self.kinds += [] if self.box.is_padding else ["an assignment of each box"]
        to = Ref(DESTINATION, self.start[1])
        return Strided(to, of, tuple(self.n), tuple(self.a), tuple(self.b))

    def zeros(self) -> tuple[Statement, ...]:
        """What is written into a box of padding."""
        k = next((k for k, d in enumerate(self.digits) if d.b == 1), None)
        count = const(1) if k is None else self.n[k]
        names = [None if at == k else self.inner[at] for at in range(len(self.digits))]
        loops = [Loop(name, self.n[at], ()) for at, name in enumerate(names) if name is not None]
        body = (Zero(Ref(DESTINATION, self.at(names)[1]), count),)
        return self._unless_empty(count, nested(loops, body))

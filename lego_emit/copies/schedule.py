"""From the plan of a copy to its nest: which mover, which tiles, which bodies.

A box is moved by runs where both memories share contiguous runs of 16 bytes or more, else by a kernel
between the digits that are contiguous on either side, else element by element. Tiles are whole lines of 64
bytes on both sides. A large copy is streamed past the caches, and one whose rows lie a multiple of 1 KB
apart goes through a small buffer, since such rows share their places in the first cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import prod

from ..ir.nests import (
    BUFFER,
    DESTINATION,
    NOTHING,
    ONE,
    SOURCE,
    Abilities,
    Apply,
    Before,
    Buffer,
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
    linear,
    plus,
    times,
)
from ..ir.nodes import Node, const, made, var
from .digits import Digit, Size
from .kernels import MOST_FIELDS, Kernel, interleaved, of_bits
from .plan import Box, Plan
from .values import node_of

VECTOR = 16  # bytes of a register
LINE = 64  # bytes of a cache's line
# A cache's first level has 64 bytes in each of WAYS ways of PAGE bytes. Rows of a tile that lie a multiple of
# some bytes apart share a few of its sets, and drive each other out where there are more of them than ways.
PAGE, WAYS = 4096, 8
WIDE = 4  # tiles that follow each other in the destination where rows share places
STAYS = 2**13  # bytes of lines that stay in the first cache
NEVER_LARGE = 2**20  # bytes of a copy that is not streamed, whatever the caches are


ALL = Abilities()


@dataclass(frozen=True)
class Taken:
    """How much of a digit lies in a chain of neighbors."""

    digit: int
    extent: int


def chain(
    digits: Sequence[Digit], strides: Sequence[Size], elements: int, start: int = 1
) -> list[Taken]:
    """The digits whose indices are neighbors in a memory, up to so many elements: each whole but the last
    one. They are fewer where the memory has gaps."""
    found: list[Taken] = []
    running = start
    while running < elements:
        at = next((k for k, s in enumerate(strides) if isinstance(s, int) and s == running), None)
        if at is None or any(t.digit == at for t in found):
            break
        n, left = digits[at].n, elements // running
        if isinstance(n, int) and n <= left:
            found.append(Taken(at, n))
            running *= n
        else:
            found.append(Taken(at, left))
            running *= left
            break
    return found


class Names:
    """Names for the integers of a nest, which are no names of sizes."""

    def __init__(self, taken: Sequence[str]):
        self._taken = {*taken, SOURCE, DESTINATION, BUFFER}
        self.lets: list[Let] = []
        self._known: dict[Node, Node] = {}
        self._outer: Names | None = None
        self._own: frozenset[str] = frozenset()
        self._values: dict[str, Node] = {}

    def within(self, own: Sequence[str]) -> Names:
        """The names of a body that has variables of its own: what holds one of them is named there."""
        found = Names(())
        found._taken, found._values = self._taken, self._values
        found._outer, found._own = self, frozenset(own)
        return found

    def aside(self) -> Names:
        """Names that are given back."""
        return Names([*self._taken])

    def fresh(self, stem: str) -> str:
        """The stem, or the stem with a number."""
        name, k = stem, 1
        while name in self._taken:
            name, k = f"{stem}{k}", k + 1
        self._taken.add(name)
        return name

    def named(self, size: Size, stem: str) -> Node:
        """A size as a number, a parameter, or a variable that has its value."""
        return self.of(node_of(size), stem)

    def of(self, node: Node, stem: str) -> Node:
        """A node as a number, a parameter, or a variable that has its value."""
        if not node.args:
            return node
        if self._outer is not None and self._own.isdisjoint(n.value for n in node.walk()):
            return self._outer.of(node, stem)
        if node not in self._known:
            name = self.fresh(stem)
            self.lets.append(Let(name, node))
            self._values[name] = node
            self._known[node] = var(name)
        return self._known[node]

    def may_be_zero(self, node: Node) -> bool:
        """Whether a number of elements is not known to be positive, as sizes and extents of pieces are."""
        if node.op == "mul":
            return any(map(self.may_be_zero, node.args))
        if node.op == "var" and node.value in self._values:
            return self.may_be_zero(self._values[node.value])
        return node.value < 1 if node.op == "const" else node.op != "var"


@dataclass(frozen=True)
class Mover:
    """What moves a cell of elements at once. cell: its extent of each digit; run: how many neighbors,
    where it is a run; kernel: where it is one."""

    cell: tuple[int, ...]
    run: Node = ONE
    kernel: Kernel | None = None
    whole: int | None = None  # the digit that is a run


class BoxNest:
    """The nest of one box."""

    def __init__(
        self,
        box: Box,
        element_bytes: int,
        names: Names,
        total: Node | None,
        abilities: Abilities = ALL,
    ):
        self.abilities, self.box = abilities, box
        self.digits, self.bytes, self.names = box.digits, element_bytes, names
        self.total = total  # bytes of the copy, where other bodies are wanted than the direct one
        self.n = [names.named(d.n, "n") for d in box.digits]
        self.a = [names.named(d.a, "a") for d in box.digits]
        self.b = [names.named(d.b, "b") for d in box.digits]
        self.start = names.named(box.a, "from"), names.named(box.b, "to")
        self.outer = [names.fresh(f"t{k}") for k in range(len(box.digits))]
        self.wide = [names.fresh(f"s{k}") for k in range(len(box.digits))]
        self.inner = [names.fresh(f"i{k}") for k in range(len(box.digits))]
        self.ends = [names.fresh(f"end{k}") for k in range(len(box.digits))]
        self.kinds: list[str] = []

    # -- movers ------------------------------------------------------------------------------------

    @cached_property
    def run(self) -> int | None:
        """The digit that is contiguous on both sides."""
        return next((k for k, d in enumerate(self.digits) if (d.a, d.b) == (1, 1)), None)

    @cached_property
    def plain(self) -> Mover:
        """A run of neighbors, or one element."""
        cell = [1] * len(self.digits)
        if self.run is None:
            return Mover(tuple(cell))
        n = self.digits[self.run].n
        cell[self.run] = n if isinstance(n, int) else 0
        return Mover(tuple(cell), self.n[self.run], whole=self.run)

    @property
    def has_long_runs(self) -> bool:
        """Whether runs have 16 bytes or more, or a number that is known when it runs."""
        if self.run is None:
            return self.bytes >= VECTOR
        n = self.digits[self.run].n
        return not isinstance(n, int) or n * self.bytes >= VECTOR

    @cached_property
    def mover(self) -> Mover:
        """The run, or a kernel where runs are short and there is one."""
        if self.has_long_runs or not self.abilities.kernels:
            return self.plain
        kernel = self._kernel()
        if kernel is None:
            return self.plain
        return Mover(kernel.block, kernel=kernel)

    def _kernel(self) -> Kernel | None:
        if VECTOR % self.bytes or self.bytes >= VECTOR:
            return None
        lanes = VECTOR // self.bytes
        sides = [
            self._bits(side, lanes)
            for side in ([d.a for d in self.digits], [d.b for d in self.digits])
        ]
        if sides[0] is not None and sides[1] is not None:
            found = of_bits(sides[0], sides[1], len(self.digits))
            if found is not None and self._fits(found):
                return found
        return self._fields(lanes)

    def _bits(self, strides: Sequence[Size], lanes: int) -> list[tuple[int, int]] | None:
        found: list[tuple[int, int]] = []
        for taken in chain(self.digits, strides, lanes):
            if taken.extent & (taken.extent - 1):
                return None
            found += [(taken.digit, bit) for bit in range(taken.extent.bit_length() - 1)]
        return found if 1 << len(found) == lanes else None

    def _fits(self, kernel: Kernel) -> bool:
        """Whether no digit of a known extent is smaller than the block."""
        pairs = zip(self.digits, kernel.block, strict=True)
        return all(not isinstance(d.n, int) or d.n >= size for d, size in pairs)

    def _fields(self, lanes: int) -> Kernel | None:
        """The kernel of a few fields side by side on one side, and apart on the other."""
        for packs in (False, True):
            near = [(d.b if packs else d.a) for d in self.digits]
            far = [(d.a if packs else d.b) for d in self.digits]
            if 1 not in near or 1 not in far:
                continue
            c, p = near.index(1), far.index(1)
            fields, count = self.digits[c].n, self.digits[p].n
            small = isinstance(fields, int) and 2 < fields <= MOST_FIELDS
            if not small or near[p] != fields or (isinstance(count, int) and count < lanes):
                continue
            made_of = interleaved(fields, lanes, packs)
            return _among(made_of, (c, p), len(self.digits))
        return None

    # -- tiles -------------------------------------------------------------------------------------

    @cached_property
    def chains(self) -> tuple[list[Taken], list[Taken]]:
        """The digits of a line on both sides, beyond a run."""
        start = (
            self.plain.cell[self.run] if self.mover.kernel is None and self.run is not None else 1
        )
        elements = LINE // self.bytes
        if start == 0 or start >= elements:
            return [], []
        a, b = ([getattr(d, side) for d in self.digits] for side in "ab")
        if self.mover.kernel is None and self._stays(a, start):
            return [], []
        return chain(self.digits, a, elements, start), chain(self.digits, b, elements, start)

    def _stays(self, strides: Sequence[Size], start: int) -> bool:
        """Whether a line of the source is still in the first cache when its next run is read, tile or no tile: so
        few others are read in between, in the order of the destination."""
        near = next((k for k, s in enumerate(strides) if s == start), None)
        if near is None:
            return True
        between = [d.n for k, d in enumerate(self.digits) if k > near and k != self.run]
        return all(isinstance(n, int) for n in between) and prod(between) * LINE <= STAYS

    @cached_property
    def tile(self) -> list[int]:
        """How much of each digit a tile has; 0 where it is no part of tiles."""
        found = [0] * len(self.digits)
        for taken in (*self.chains[0], *self.chains[1]):
            found[taken.digit] = max(found[taken.digit], taken.extent)
        for k, size in enumerate(self.mover.cell):
            if self.mover.kernel is not None and size > 1:
                found[k] = -(-max(found[k], size) // size) * size
        return found

    def _is_whole(self, k: int, size: int) -> bool:
        """Whether so many of a digit are all."""
        return size > 0 and self.digits[k].n == size

    # -- offsets -----------------------------------------------------------------------------------

    def _at(self, names: Sequence[str | None]) -> tuple[Node, Node]:
        """The places in the source and in the destination of an index; None for 0."""
        pairs = [(k, name) for k, name in enumerate(names) if name is not None]
        return (
            linear(self.start[0], [(self.a[k], name) for k, name in pairs]),
            linear(self.start[1], [(self.b[k], name) for k, name in pairs]),
        )

    def _moved(self, mover: Mover, names: Sequence[str | None], streams: bool = False) -> Statement:
        of, to = self._at(names)
        if mover.kernel is None:
            return Move(Ref(DESTINATION, to), Ref(SOURCE, of), mover.run, streams)
        return Apply(
            mover.kernel,
            Ref(DESTINATION, to),
            Ref(SOURCE, of),
            tuple(self.a),
            tuple(self.b),
            streams,
        )

    # -- bodies ------------------------------------------------------------------------------------

    def direct(self, mover: Mover, streams: bool = False) -> tuple[Statement, ...]:
        """Tile by tile, each from place to place. A tile has two lines of the source, of which the second one
        is fetched ahead."""
        names: list[str | None] = [None] * len(self.digits)
        apart: list[Loop] = []
        around: dict[int, Loop] = {}
        within: list[Loop] = []
        ends: list[Statement] = []
        for k in range(len(self.digits)):
            if k == mover.whole or self._is_whole(k, mover.cell[k]):
                continue
            cell, tile = max(mover.cell[k], 1), self.tile[k]
            names[k] = self.inner[k]
            if tile <= cell or self._is_whole(k, tile):
                loops = apart if tile <= cell else within
                loops.append(self._loop(self.inner[k], k, cell))
                continue
            n = self.digits[k].n
            if self.chains[0] and self.chains[0][-1].digit == k:
                tile *= 2 if not isinstance(n, int) or n % tile or n % (2 * tile) == 0 else 1
            around[k] = Loop(self.outer[k], self.n[k], (), tile)
            stop = self._end(k, self.outer[k], const(tile), ends)
            start = var(self.outer[k])
            within.append(Loop(self.inner[k], stop, (), cell, start, self._last(k, cell)))
        inner = _nested(within, (self._moved(mover, names, streams),))
        body = _nested([*apart, *self._by_source(around)], (*ends, *inner))
        return self._unless_empty(mover.run, body)

    def _end(
        self, k: int, start: str, step: Node, ends: list[Statement], first: Node = NOTHING
    ) -> Node:
        """Where a tile that begins at a variable ends in a digit, with what has to be computed for that."""
        n = self.digits[k].n
        stop = made("add", var(start), step)
        if isinstance(n, int) and step.op == "const" and n % step.value == 0 and first == NOTHING:
            return stop
        ends.append(Let(self.ends[k], made("select", made("lt", stop, self.n[k]), stop, self.n[k])))
        return var(self.ends[k])

    def _by_source(self, loops: Mapping[int, Loop]) -> list[Loop]:
        """Loops over tiles, those along the source's lines inside: caches fetch ahead what is read in order."""
        inside = {t.digit for t in self.chains[0]}
        return [loops[k] for k in sorted(loops, key=lambda k: k in inside)]

    def _loop(self, name: str, k: int, step: int) -> Loop:
        return Loop(name, self.n[k], (), step, last=self._last(k, step))

    def _last(self, k: int, step: int) -> Node | None:
        """Where the last step of a digit begins, unless steps divide it."""
        n = self.digits[k].n
        if isinstance(n, int) and n % step == 0:
            return None
        return plus(self.n[k], -step) if step > 1 else None

    def buffered(self, flag: str, wide: Node, start: Node) -> tuple[Statement, ...]:
        """Tile by tile, each through a local array whose rows are lines of the destination. flag: where they
        are streamed; wide: how much of the destination's last digit is done before the source's next line; start: where
        its tiles begin, which is before 0 where the destination begins within a line."""
        mover, tile = self.mover, self.tile
        line = [t.digit for t in self.chains[1]]
        rows = [k for k, size in enumerate(tile) if size and k not in line]
        strides = [0] * len(tile)
        for k in line:
            strides[k] = self.digits[k].b
        width = prod(tile[k] for k in line)
        running = width
        for k in reversed(rows):
            strides[k], running = running, running * tile[k]
        origin: list[str | None] = [None] * len(tile)
        apart: list[Loop] = []
        around: dict[int, Loop] = {}
        last: list[Statement] = []
        for k, size in enumerate(tile):
            if size and self._is_whole(k, size):
                continue
            origin[k] = self.outer[k]
            if not size:
                apart.append(self._loop(self.outer[k], k, 1))
            elif k == line[-1] and wide != const(size):
                around[k] = Loop(self.wide[k], self.n[k], (), wide, start)
                stop = self._end(k, self.wide[k], wide, last, start)
                own = Loop(self.outer[k], stop, (), size, var(self.wide[k]), self._last(k, size))
                if own.last is None and start != NOTHING:
                    own = replace(own, last=plus(self.n[k], -size))
                last.append(_from(own, start))
            else:
                around[k] = self._loop(self.outer[k], k, size)
                if k == line[-1]:
                    around[k] = _from(replace(around[k], start=start), start)
                if around[k].rises and around[k].last is None:
                    around[k] = replace(around[k], last=plus(self.n[k], -size))
        of, to = self._at(origin)
        fills = [
            Loop(self.inner[k], const(tile[k]), (), max(mover.cell[k], 1))
            for k in (*reversed(line), *rows)
            if tile[k] > mover.cell[k]
        ]
        inner = [(k, self.inner[k]) for k in (*line, *rows) if tile[k] > mover.cell[k]]
        assert mover.kernel is not None
        filled = Apply(
            mover.kernel,
            Ref(BUFFER, linear(const(0), [(const(strides[k]), name) for k, name in inner])),
            Ref(SOURCE, linear(of, [(self.a[k], name) for k, name in inner])),
            tuple(self.a),
            tuple(map(const, strides)),
        )
        taken = [Loop(self.inner[k], const(tile[k]), ()) for k in rows]
        row = [(k, self.inner[k]) for k in rows]
        drained = Move(
            Ref(DESTINATION, linear(to, [(self.b[k], name) for k, name in row])),
            Ref(BUFFER, linear(const(0), [(const(strides[k]), name) for k, name in row])),
            const(width),
        )
        rows_out: Statement = drained
        if flag:
            streamed = Move(drained.to, drained.of, drained.count, True)
            rows_out = When(None, (streamed,), (drained,), (flag,))
        parts = (*_nested(fills, (filled,)), *_nested(taken, (rows_out,)))
        body: tuple[Statement, ...] = (Buffer(running, parts),)
        if last:
            *before, loop = last
            assert isinstance(loop, Loop)
            body = (*before, *_nested([loop], body))
        return _nested([*apart, *self._by_source(around)], body)

    @property
    def has_lines(self) -> bool:
        """Whether a kernel's tiles are whole lines on both sides."""
        elements = LINE // self.bytes
        whole = all(prod(t.extent for t in side) == elements for side in self.chains)
        used = {k for k, size in enumerate(self.mover.cell) if size > 1}
        covered = {t.digit for side in self.chains for t in side}
        return self.mover.kernel is not None and whole and used <= covered

    def statements(self) -> tuple[Statement, ...]:
        """All that is done for the box, and what it is in words."""
        if self.mover.kernel is None:
            return self._by_runs()
        self.kinds.append(f"kernel of {len(self.mover.kernel.loads)} registers")
        body = self.direct(self.mover)
        fits = self._at_least([s if s else 1 for s in self.tile])
        if self.total is not None and self.has_lines and fits is not None:
            body = self._through_buffer(body, fits)
        needed = _all(self._at_least(self.mover.cell) or [])
        return (Vectors(body, self.direct(self.plain), needed),)

    def _through_buffer(
        self, direct: tuple[Statement, ...], fits: list[Node]
    ) -> tuple[Statement, ...]:
        """The body through a buffer where the copy is large or rows share places in a cache, else the direct
        one. fits: the conditions that a tile is no larger than the box."""
        assert self.total is not None
        shared = self._shared()
        aligned = None
        if self.abilities.streams:
            aligned = self._aligned(LINE, {t.digit for t in self.chains[1]})
        first: list[Statement] = []
        flags: list[str] = []
        if aligned is not None:
            flags.append(self.names.fresh("streams"))
            first.append(Flag(flags[0], _all([*fits, *aligned]), VECTOR, self.total))
            self.kinds.append("streamed where it is large")
        last = self.chains[1][-1].digit
        tile = self.tile[last]
        wide, is_whole = const(tile), self._is_whole(last, tile)
        start = NOTHING
        if flags and not is_whole:
            start = var(self.names.fresh("before"))
            first.append(Before(start.value, LINE // self.bytes))
        streams = flags[0] if flags else ""
        if shared is True and not fits:
            self.kinds.append("through a buffer")
            wide = wide if is_whole else const(WIDE * tile)
            return (*first, *self.buffered(streams, wide, start))
        if shared is True and not is_whole:
            wide = const(WIDE * tile)
        elif shared is not False and not is_whole:
            wide = var(self.names.fresh("wide"))
        if shared is not False:
            self.kinds.append("through a buffer where rows share places in a cache")
            flags.append(self.names.fresh("shares"))
            first.append(Flag(flags[-1], _all([*fits, *([] if shared is True else [shared])])))
        if wide.op == "var":
            chosen = made("select", var(flags[-1]), const(WIDE * tile), const(tile))
            first.append(Let(wide.value, chosen))
        if not flags:
            return direct
        return (*first, When(None, self.buffered(streams, wide, start), direct, tuple(flags)))

    def _shared(self) -> Node | bool:
        """The condition that rows on either side share places in a cache, where it is not known."""
        conditions: list[Node] = []
        for taken, strides, nodes in zip(self.chains, "ba", (self.b, self.a), strict=True):
            k = taken[-1].digit
            other = {t.digit for t in self.chains[1 if strides == "b" else 0]}
            rows = prod(n for at, n in enumerate(self.tile) if n and at not in other)
            if rows < WAYS:
                continue
            unit = max(1, PAGE * WAYS // rows // self.bytes)
            stride = getattr(self.digits[k], strides)
            if not isinstance(stride, int):
                conditions.append(made("eq", made("mod", nodes[k], const(unit)), 0))
            elif stride % unit == 0:
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
        return [*found, made("eq", made("mod", start, const(max(1, unit // self.bytes))), 0)]

    def _by_runs(self) -> tuple[Statement, ...]:
        body = self.direct(self.plain)
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
        return (Vectors((Flag(flag, _all(aligned), VECTOR, self.total), streamed), body),)

    def _at_least(self, extents: Sequence[int]) -> list[Node] | None:
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
        body = (Zero(Ref(DESTINATION, self._at(names)[1]), count),)
        return self._unless_empty(count, _nested(loops, body))


def _from(loop: Loop, start: Node) -> Loop:
    """A loop that rises to 0 where it may start before."""
    return loop if start == NOTHING else replace(loop, rises=True)


def _all(conditions: Sequence[Node]) -> Node | None:
    """The condition that all of them hold, each once."""
    once = [*dict.fromkeys(conditions)]
    return reduce(lambda x, y: made("land", x, y), once) if once else None


def _nested(loops: Sequence[Loop], body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Loops around a body, the first one outside."""
    for loop in reversed(loops):
        body = (replace(loop, body=body),)
    return body


def _among(kernel: Kernel, digits: Sequence[int], count: int) -> Kernel:
    """A kernel of a few digits as one of all."""

    def spread(index: tuple[int, ...], other: int) -> tuple[int, ...]:
        found = [other] * count
        for k, value in zip(digits, index, strict=True):
            found[k] = value
        return tuple(found)

    def places(
        some: Sequence[tuple[tuple[int, ...], int]],
    ) -> tuple[tuple[tuple[int, ...], int], ...]:
        return tuple((spread(index, 0), beyond) for index, beyond in some)

    chains = tuple(tuple(digits[k] for k in side) for side in kernel.chains)
    return Kernel(
        spread(kernel.block, 1), kernel.lanes, places(kernel.loads), kernel.steps,
        places(kernel.stores), kernel.kept, chains,
    )  # fmt: skip


def nest_of(
    plan: Plan, taken: Sequence[str] = (), abilities: Abilities = ALL
) -> tuple[tuple[Statement, ...], tuple[str, ...]]:
    """The nest of a plan, and what its boxes are moved by, in words. taken: names that it has not."""
    names = Names([*plan.space.sizes, *taken])
    statements: list[Statement] = []
    kinds: list[str] = []
    main = not isinstance(plan.destination_size, int) or (
        plan.destination_size * plan.element_bytes >= NEVER_LARGE
    )
    total = times(node_of(plan.destination_size), plan.element_bytes)
    for box in plan.boxes:
        own = total if main and box is plan.boxes[0] else None
        nest = BoxNest(box, plan.element_bytes, names, own, abilities)
        if abilities.strided:
            statements.append(nest.strided())
        else:
            statements += nest.zeros() if box.is_padding else nest.statements()
        kinds += [kind for kind in nest.kinds if kind not in kinds]
    return (*names.lets, *statements), tuple(kinds)

"""What a nest does: its statements (lego_emit/ir/nests.py) carried out on numbers, by which copies are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from operator import mul
from typing import Any

from ..operations import OPS
from .nests import (
    BUFFER,
    DESTINATION,
    SOURCE,
    ZERO,
    Apply,
    Before,
    Body,
    Buffer,
    Call,
    Each,
    Fetch,
    Flag,
    Kernel,
    Let,
    Loop,
    Move,
    Strided,
    Vectors,
    When,
    Zero,
    walk,
)
from .nodes import Node, const, evaluated

Value = Callable[[Mapping[str, int]], Any]
Carry = Callable[[dict[str, int]], None]
Runner = Callable[[Mapping[str, int], Any, MutableMapping[int, Any], "Way"], None]

MOST_MET = 64  # nodes of an expression that is read as functions


@dataclass(frozen=True)
class Way:
    """Which of its ways a run takes. vectors: those of vector extensions; large: whether the copy counts as a
    large one; aligned: whether memory is; before: how many
    elements the destination is beyond the begin of a line."""

    vectors: bool = True
    large: bool = False
    aligned: bool = True
    before: int = 0


def told_apart(body: Body, ways: Sequence[Way]) -> list[Way]:
    """The first of those ways in which a nest does the same: where it asks for nothing that tells two apart."""
    asked = {
        "vectors": any(isinstance(s, Vectors) for s in walk(body)),
        "large": any(isinstance(s, Flag) and s.large is not None for s in walk(body)),
        "aligned": any(isinstance(s, Flag) and s.aligned > 0 for s in walk(body)),
        "before": any(isinstance(s, Before) for s in walk(body)),
    }
    found: dict[tuple[Any, ...], Way] = {}
    for way in ways:
        found.setdefault(tuple(getattr(way, name) for name in asked if asked[name]), way)
    return [*found.values()]


def runner(body: Body) -> Runner:
    """A function that carries a nest out on the source's elements, which source[place] gives, and puts what it writes
    into destination: of sizes, source, destination and the way. One for many runs is much quicker than one for each."""
    return _Run(body)


class Negative(ArithmeticError):
    """A negative number is divided, of which languages have different quotients."""


def _of_none(value: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def found(x: int, y: int) -> int:
        if x < 0:
            raise Negative(x)
        return value(x, y)

    return found


# What the texts of nodes call, where negative numbers are divided and where they are not.
_CALLED: dict[str, Any] = {f"_{op}": row.value for op, row in OPS.items()}
_STRICT = _CALLED | {name: _of_none(_CALLED[name]) for name in ("_div", "_mod")}


def _text(node: Node) -> str:
    """A node as an expression of Python's, in which env has the names' integers."""
    args = [*map(_text, node.args)]
    if not args:
        return f"env[{node.value!r}]" if node.op == "var" else f"({node.value})"
    if node.op == "select":
        return f"({args[1]} if {args[0]} else {args[2]})"
    if node.row.sign and f"_{node.op}" not in ("_div", "_mod"):
        return f"({f' {node.row.sign} '.join(args)})"
    return f"_{node.op}({', '.join(args)})"


def _reader_of_shared(node: Node, is_strict: bool) -> Value:
    """The reader of a node whose operands several share, each of which is evaluated once."""
    divided = [id(n.args[0]) for n in node.walk() if is_strict and n.op in ("div", "mod")]

    def read(env: Mapping[str, int]) -> Any:
        known: dict[int, Any] = {}
        found = evaluated(node, env, known)
        if any(known.get(key, 0) < 0 for key in divided):
            raise Negative
        return found

    return read


@lru_cache(2**13)
def reader(node: Node, is_strict: bool = False) -> Value:
    """A function that gives a node's value by the names' integers: quicker than evaluated() for many of them.
    is_strict: whether it raises Negative."""
    # Of nodes on all ways down, where one that several share is met again.
    left, waiting = MOST_MET, [node]
    while waiting and left:
        waiting.extend(waiting.pop().args)
        left -= 1
    if waiting or any(n.kind == "t" for n in node.walk()):
        return _reader_of_shared(node, is_strict)
    found: Value = eval(f"lambda env: {_text(node)}", _STRICT if is_strict else _CALLED)
    return found


def _strict(node: Node) -> Value:
    """A function that gives a node's value, or raises Negative."""
    return reader(node, True)


def _values_of(nodes: Sequence[Node]) -> Callable[[Mapping[str, int]], list[int]]:
    """A function that gives the values of several nodes."""
    values = [_strict(node) for node in nodes]
    return lambda env: [value(env) for value in values]


def _lanes_of(
    kernel: Kernel, ones: Sequence[int], others: Sequence[int]
) -> tuple[list[int], list[tuple[int, int]]]:
    """How far the lanes that a kernel loads lie from a block's begin, and those that it stores, each with the number
    of the loaded lane that it is."""
    loads, stores = (
        [beyond + sum(map(mul, index, strides)) for index, beyond in places]
        for places, strides in ((kernel.loads, ones), (kernel.stores, others))
    )
    reads = [first + k for first in loads for k in range(kernel.lanes)]
    stored: list[list[Any]] = kernel.run(
        [range(n, n + kernel.lanes) for n in range(0, len(reads), kernel.lanes)]
    )
    pairs = zip(stores, stored, strict=True)
    return reads, [(first + k, lane) for first, own in pairs for k, lane in enumerate(own)]


class _Run:
    """Makes functions of a nest's statements, once, each of which carries one out on the names' values: a loop runs its
    body many times."""

    def __init__(self, nest: Body):
        self.nest = nest
        self.arrays: dict[str, Any] = {}
        self.way = Way()
        self.lanes: dict[Any, tuple[Kernel, list[int], list[tuple[int, int]]]] = {}

    @cached_property
    def steps(self) -> Carry:
        return self.body(self.nest)

    def __call__(
        self,
        sizes: Mapping[str, int],
        source: Any,
        destination: MutableMapping[int, Any],
        way: Way,
    ) -> None:
        self.arrays.clear()
        self.arrays.update({SOURCE: source, DESTINATION: destination})
        self.way = way
        self.steps(dict(sizes))

    def body(self, body: Body) -> Carry:
        steps = [getattr(self, type(s).__name__.lower())(s) for s in body]
        if len(steps) == 1:
            return steps[0]

        def carry(env: dict[str, int]) -> None:
            for step in steps:
                step(env)

        return carry

    def let(self, s: Let) -> Carry:
        value, name = _strict(s.value), s.name

        def carry(env: dict[str, int]) -> None:
            env[name] = value(env)

        return carry

    def loop(self, s: Loop) -> Carry:
        start, stop, body, name = _strict(s.start), _strict(s.stop), self.body(s.body), s.name
        step = _strict(const(s.step) if isinstance(s.step, int) else s.step)
        last = None if s.last is None else _strict(s.last)

        def carry(env: dict[str, int]) -> None:
            most = None if last is None else last(env)
            steps = range(start(env), stop(env), step(env))
            for k in reversed(steps) if s.falls else steps:
                k = max(0, k) if s.rises else k
                env[name] = k if most is None else min(k, most)
                body(env)

        return carry

    def flag(self, s: Flag) -> Carry:
        condition = None if s.condition is None else reader(s.condition)

        def carry(env: dict[str, int]) -> None:
            holds = condition is None or bool(condition(env))
            holds = holds and (s.large is None or self.way.large)
            env[s.name] = holds and (not s.aligned or self.way.aligned)

        return carry

    def before(self, s: Before) -> Carry:
        at = _strict(s.at)

        def carry(env: dict[str, int]) -> None:
            env[s.name] = -((self.way.before + at(env)) % s.line)

        return carry

    def when(self, s: When) -> Carry:
        then, otherwise = self.body(s.then), self.body(s.otherwise)
        condition = None if s.condition is None else reader(s.condition)

        def carry(env: dict[str, int]) -> None:
            holds = any(env[flag] for flag in s.flags)
            holds = holds or (condition is not None and bool(condition(env)))
            (then if holds else otherwise)(env)

        return carry

    def move(self, s: Move) -> Carry:
        to, of, count = map(_strict, (s.to.offset, s.of.offset, s.count))
        arrays, read, written = self.arrays, s.of.array, s.to.array

        def carry(env: dict[str, int]) -> None:
            at, place, source, destination = to(env), of(env), arrays[read], arrays[written]
            for k in range(count(env)):
                destination[at + k] = source[place + k]

        return carry

    def zero(self, s: Zero) -> Carry:
        to, count = _strict(s.to.offset), _strict(s.count)

        def carry(env: dict[str, int]) -> None:
            at, destination = to(env), self.arrays[s.to.array]
            for k in range(count(env)):
                destination[at + k] = ZERO

        return carry

    def strided(self, s: Strided) -> Carry:
        to, of = _strict(s.to.offset), None if s.of is None else _strict(s.of.offset)
        of_strides, to_strides, extents = map(_values_of, (s.of_strides, s.to_strides, s.extents))

        def carry(env: dict[str, int]) -> None:
            begin, first = to(env), 0 if of is None else of(env)
            ones, others = of_strides(env), to_strides(env)
            for index in product(*map(range, extents(env))):
                at = begin + sum(i * n for i, n in zip(index, others, strict=True))
                read = first + sum(i * n for i, n in zip(index, ones, strict=True))
                value = ZERO if s.of is None else self.arrays[s.of.array][read]
                self.arrays[s.to.array][at] = value

        return carry

    def apply(self, s: Apply) -> Carry:
        of, to = _strict(s.of.offset), _strict(s.to.offset)
        of_strides, to_strides = _values_of(s.of_strides), _values_of(s.to_strides)

        def carry(env: dict[str, int]) -> None:
            ones, others = of_strides(env), to_strides(env)
            places = [(of(env), to(env))]
            for k in (s.kernel.pair, s.kernel.square):
                if k is not None:
                    a, b = (s.kernel.block[k] * strides[k] for strides in (ones, others))
                    places += [(read + a, at + b) for read, at in places]
            for read, at in places:
                self.block(s, read, at, ones, others)

        return carry

    def block(self, s: Apply, of: int, to: int, ones: Sequence[int], others: Sequence[int]) -> None:
        """One block, which begins at these places."""
        key = id(s.kernel), *ones, *others
        if key not in self.lanes:
            self.lanes[key] = s.kernel, *_lanes_of(s.kernel, ones, others)
        _, reads, writes = self.lanes[key]
        source, destination = self.arrays[s.of.array], self.arrays[s.to.array]
        loaded = [source[of + at] for at in reads]
        for at, lane in writes:
            destination[to + at] = loaded[lane]

    def fetch(self, s: Fetch) -> Carry:
        at = _strict(s.at.offset)

        def carry(env: dict[str, int]) -> None:
            if at(env) < 0:
                raise IndexError(s.at)

        return carry

    def buffer(self, s: Buffer) -> Carry:
        body = self.body(s.body)

        def carry(env: dict[str, int]) -> None:
            self.arrays[BUFFER] = {}
            body(env)

        return carry

    def vectors(self, s: Vectors) -> Carry:
        body, plain = self.body(s.body), self.body(s.plain)
        condition = None if s.condition is None else reader(s.condition)

        def carry(env: dict[str, int]) -> None:
            holds = condition is None or bool(condition(env))
            (body if holds and self.way.vectors else plain)(env)

        return carry

    def each(self, s: Each) -> Carry:
        begin, extents = _strict(s.start), _values_of(s.extents)

        def carry(env: dict[str, int]) -> None:
            starts = [begin(env), *[0] * (len(s.extents) - 1)]
            sizes = {n: env[n] for n in s.arguments if n not in s.names}
            for index in product(*map(range, starts, extents(env), s.block)):
                given = {**sizes, **dict(zip(s.names, index, strict=True))}
                of, to = map(int, s.places(given))
                steps = (1, 1)
                if s.falls or s.ways:
                    at = s.ways.at if s.ways else (*[0] * (len(index) - 1), 1)
                    other = {n: given[n] + k for n, k in zip(s.names, at, strict=True)}
                    after = s.places(given | other)
                    steps = int(after[0]) - of, int(after[1]) - to
                for a, b in self.beyond(s, steps):
                    if not s.masked or (of >= 0 and to >= 0):
                        self.arrays[DESTINATION][to + b] = self.arrays[SOURCE][of + a]

        return carry

    def beyond(self, s: Each, steps: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """How far elements of a block lie from its first one in both memories. steps: of the one that tells."""
        if s.ways is None:
            yield from ((k * steps[0], k * steps[1]) for k in range(s.count))
            return
        w, side = s.ways, s.ways.memory == DESTINATION
        way = next((own for own in w.entries if own[w.probe] == steps[side]), w.entries[0])
        places = map(sum, product(*(range(0, n * stride, stride) for n, stride in w.steps)))
        yield from zip(places, way, strict=True) if side else zip(way, places, strict=True)

    def call(self, s: Call) -> Carry:
        body, given = self.body(s.helper.body), _values_of(s.arguments)

        def carry(env: dict[str, int]) -> None:
            body(dict(zip(s.helper.parameters, given(env), strict=True)))

        return carry

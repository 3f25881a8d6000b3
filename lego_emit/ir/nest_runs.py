"""What a nest does: its statements (lego_emit/ir/nests.py) carried out on numbers, by which copies are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from operator import mul
from typing import Any, get_args

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
    Statement,
    Strided,
    Threaded,
    Vectors,
    When,
    Zero,
)
from .nodes import Node, evaluated

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


def run(
    body: Body,
    sizes: Mapping[str, int],
    source: Any,
    destination: MutableMapping[int, Any],
    way: Way = Way(),
) -> None:
    """Carry a nest out on the source's elements, which source[place] gives; what it writes is put into
    destination."""
    _Run(source, destination, way).body(body, dict(sizes))


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


def _reader_of_shared(node: Node, is_strict: bool) -> Callable[[Mapping[str, int]], Any]:
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
def reader(node: Node, is_strict: bool = False) -> Callable[[Mapping[str, int]], Any]:
    """A function that gives a node's value by the names' integers: quicker than evaluated() for many of them.
    is_strict: whether it raises Negative."""
    left, waiting = (
        MOST_MET,
        [node],
    )  # of nodes on all ways down, where one that several share is met again
    while waiting and left:
        waiting.extend(waiting.pop().args)
        left -= 1
    if waiting or any(n.kind == "t" for n in node.walk()):
        return _reader_of_shared(node, is_strict)
    found: Callable[[Mapping[str, int]], Any] = eval(
        f"lambda env: {_text(node)}", _STRICT if is_strict else _CALLED
    )
    return found


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
    def __init__(self, source: Any, destination: Any, way: Way):
        self.arrays: dict[str, Any] = {SOURCE: source, DESTINATION: destination}
        self.way = way
        self.readers: dict[int, tuple[Node, Callable[[Mapping[str, int]], Any]]] = {}  # by identity
        self.lanes: dict[Any, tuple[Kernel, list[int], list[tuple[int, int]]]] = {}

    def body(self, body: Body, env: dict[str, int]) -> None:
        for statement in body:
            _METHODS[type(statement)](self, statement, env)

    def value(self, node: Node, env: Mapping[str, int]) -> int:
        if node.op == "const":
            return int(node.value)
        if node.op == "var":
            return int(env[node.value])
        found = self.readers.get(id(node))
        if found is None:
            found = self.readers[id(node)] = node, reader(node, True)
        return int(found[1](env))

    def let(self, s: Let, env: dict[str, int]) -> None:
        env[s.name] = self.value(s.value, env)

    def loop(self, s: Loop, env: dict[str, int]) -> None:
        last = None if s.last is None else self.value(s.last, env)
        step = s.step if isinstance(s.step, int) else self.value(s.step, env)
        steps = range(self.value(s.start, env), self.value(s.stop, env), step)
        for k in reversed(steps) if s.falls else steps:
            env[s.name] = max(0, k) if s.rises else k
            env[s.name] = env[s.name] if last is None else min(env[s.name], last)
            self.body(s.body, env)

    def flag(self, s: Flag, env: dict[str, int]) -> None:
        holds = s.condition is None or bool(reader(s.condition)(env))
        holds = holds and (s.large is None or self.way.large)
        env[s.name] = holds and (not s.aligned or self.way.aligned)

    def before(self, s: Before, env: dict[str, int]) -> None:
        env[s.name] = -((self.way.before + self.value(s.at, env)) % s.line)

    def when(self, s: When, env: dict[str, int]) -> None:
        holds = any(env[flag] for flag in s.flags)
        holds = holds or (s.condition is not None and bool(reader(s.condition)(env)))
        self.body(s.then if holds else s.otherwise, env)

    def move(self, s: Move, env: dict[str, int]) -> None:
        to, of = self.value(s.to.offset, env), self.value(s.of.offset, env)
        source, destination = self.arrays[s.of.array], self.arrays[s.to.array]
        count = self.value(s.count, env)
        if count == 1:  # most
            destination[to] = source[of]
            return
        for k in range(count):
            destination[to + k] = source[of + k]

    def zero(self, s: Zero, env: dict[str, int]) -> None:
        to = self.value(s.to.offset, env)
        for k in range(self.value(s.count, env)):
            self.arrays[s.to.array][to + k] = ZERO

    def strided(self, s: Strided, env: dict[str, int]) -> None:
        to = self.value(s.to.offset, env)
        of = 0 if s.of is None else self.value(s.of.offset, env)
        ones, others = (
            [self.value(n, env) for n in strides] for strides in (s.of_strides, s.to_strides)
        )
        for index in product(*(range(self.value(n, env)) for n in s.extents)):
            at = to + sum(i * n for i, n in zip(index, others, strict=True))
            read = of + sum(i * n for i, n in zip(index, ones, strict=True))
            value = ZERO if s.of is None else self.arrays[s.of.array][read]
            self.arrays[s.to.array][at] = value

    def apply(self, s: Apply, env: dict[str, int]) -> None:
        of, to = self.value(s.of.offset, env), self.value(s.to.offset, env)
        ones, others = (
            [self.value(n, env) for n in strides] for strides in (s.of_strides, s.to_strides)
        )
        places = [(of, to)]
        for k in (s.kernel.pair, s.kernel.square):
            if k is not None:
                a, b = (s.kernel.block[k] * strides[k] for strides in (ones, others))
                places += [(of + a, to + b) for of, to in places]
        for of, to in places:
            self.block(s, of, to, ones, others)

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

    def fetch(self, s: Fetch, env: dict[str, int]) -> None:
        if self.value(s.at.offset, env) < 0:
            raise IndexError(s.at)

    def buffer(self, s: Buffer, env: dict[str, int]) -> None:
        self.arrays[BUFFER] = {}
        self.body(s.body, env)

    def vectors(self, s: Vectors, env: dict[str, int]) -> None:
        holds = s.condition is None or bool(reader(s.condition)(env))
        self.body(s.body if holds and self.way.vectors else s.plain, env)

    def each(self, s: Each, env: dict[str, int]) -> None:
        starts = [self.value(s.start, env), *[0] * (len(s.extents) - 1)]
        ends = [self.value(n, env) for n in s.extents]
        sizes = {n: env[n] for n in s.arguments if n not in s.names}
        for index in product(*map(range, starts, ends, s.block)):
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

    def beyond(self, s: Each, steps: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """How far elements of a block lie from its first one in both memories. steps: of the one that tells."""
        if s.ways is None:
            yield from ((k * steps[0], k * steps[1]) for k in range(s.count))
            return
        w, side = s.ways, s.ways.memory == DESTINATION
        way = next((own for own in w.entries if own[w.probe] == steps[side]), w.entries[0])
        places = map(sum, product(*(range(0, n * stride, stride) for n, stride in w.steps)))
        yield from zip(places, way, strict=True) if side else zip(way, places, strict=True)

    def call(self, s: Call, env: dict[str, int]) -> None:
        given = [self.value(n, env) for n in s.arguments]
        self.body(s.helper.body, dict(zip(s.helper.parameters, given, strict=True)))


# Of all statements but those of threads.
_METHODS = {
    kind: getattr(_Run, kind.__name__.lower())
    for kind in get_args(Statement)
    if kind is not Threaded
}

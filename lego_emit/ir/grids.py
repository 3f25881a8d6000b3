"""What the threads of a GPU carry out of a copy, beside the statements of a nest, and an evaluator of it.

Threads come in blocks of equal size. A piece is work of a block, whose threads share items, exchange words
through a tile in shared memory, and wait for each other at barriers; what needs no tile is spread over all
threads. Offsets of words count words of their own size.

| statement | does |
| --- | --- |
| `Pieces` | goes through pieces, each one a block's |
| `Items` | goes through items, each one of a thread of the block |
| `Spread` | goes through numbers, each one a thread's |
| `Gather` | goes through words of dst, each one a thread's, which finds the places of its elements |
| `Barrier` | waits for all threads of the block |
| `Load` | a word with a name, zero where a condition does not hold |
| `Store` | puts a word, or zero, where a condition holds |
| `Mix` | a word of the bytes of two words |
| `Holds` | names a truth of each thread |
| `Aligned` | names a truth of all: a condition on sizes, and both memories begin at a multiple of so many bytes |
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..packages import numpy as np
from .nests import ZERO, Body, Each, Let, Ref, Threaded, When, walk
from .nodes import Node, evaluated

TILE = "tile"
THREADS = 256  # of a block
VECTOR = 16  # bytes of the widest word
PLACE = "place"  # of an element in the destination
PART = "part"  # the number of a word of an element that is several
NOTHING, SEVERAL = -3, -4  # what a word holds that was not loaded; whom several readers are


@dataclass(frozen=True)
class Pieces(Threaded):
    """name = the number of the block, that plus the number of blocks, .. below count."""

    name: str
    count: Node
    body: tuple[Any, ...]


@dataclass(frozen=True)
class Items(Threaded):
    """name = the number of the thread in its block, that plus the threads of a block, .. below count."""

    name: str
    count: int
    body: tuple[Any, ...]


@dataclass(frozen=True)
class Spread(Threaded):
    """name = the number of the thread, that plus the number of threads, .. below count."""

    name: str
    count: Node
    body: tuple[Any, ...]


class Arm(NamedTuple):
    """Where an element comes from. lets: integers over its `place` in the destination; condition: of those, whether
    it comes from here; source: its place in the source, None where it is zero."""

    lets: tuple[Let, ...]
    condition: Node
    source: Node | None


@dataclass(frozen=True)
class Gather(Threaded):
    """name = the number of the thread, that plus the number of threads, .. below count: the word of dst with this
    number gets its elements, so many, each by the arm whose condition holds, and keeps those of none."""

    name: str
    count: Node
    elements: int
    arms: tuple[Arm, ...]


@dataclass(frozen=True)
class Barrier(Threaded):
    """All threads of the block have done what is before it, and see what it wrote into the tile."""


@dataclass(frozen=True)
class Load(Threaded):
    """name = a word of so many bytes of src or the tile; zero where the condition does not hold."""

    name: str
    of: Ref
    bytes: int
    condition: Node | None = None


@dataclass(frozen=True)
class Store(Threaded):
    """Puts a word, or zero where it has no name, into dst or the tile, where the condition holds."""

    to: Ref
    name: str
    bytes: int
    condition: Node | None = None


@dataclass(frozen=True)
class Mix(Threaded):
    """name = bytes of the words x and y, by their numbers from 0 to 7."""

    name: str
    x: str
    y: str
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class Holds(Threaded):
    """A truth with a name: whether a condition holds for a thread."""

    name: str
    condition: Node


@dataclass(frozen=True)
class Aligned(Threaded):
    """A truth with a name: the condition holds, and both memories begin at a multiple of so many bytes."""

    name: str
    bytes: int
    condition: Node | None = None


def words(body: Body) -> list[int]:
    """The sizes of words that are loaded and stored, the smallest first."""
    return sorted({s.bytes for s in walk(body) if isinstance(s, Load | Store)})


def tile_bytes(body: Body) -> int:
    """How many bytes the tile has; 0 where there is none. Offsets in it are sums of indices of the items around, times
    numbers."""
    found = 0
    for items in (s for s in walk(body) if isinstance(s, Items)):
        env: dict[str, Any] = {items.name: np.arange(items.count)}
        for s in items.body:
            if isinstance(s, Let):
                with suppress(KeyError):
                    env[s.name] = evaluated(s.value, env, {})
            if isinstance(s, Store) and s.to.array == TILE:
                most = int(np.max(evaluated(s.to.offset, env, {})))
                found = max(found, (most + 1) * s.bytes)
    return found


# -- what it does --------------------------------------------------------------------------------------


class Wrong(Exception):
    """What threads do wrong, in words."""


def run(
    body: Body,
    sizes: Mapping[str, int],
    ends: tuple[int, int],
    unit: int,
    is_aligned: bool = True,
    parts: int = 1,
    blocks: int = 2,
) -> Any:
    """The places of the destination that a copy writes, and the places of the source whose units it puts there, or ZERO: two
    arrays. ends: how many units of so many bytes both memories have; parts: how many units an
    element has, all words being whole numbers of units.

    Raises Wrong where a thread reads or writes outside of a memory, reads from the tile what another thread writes without
    a barrier in between, waits at a barrier that another one does not reach, or where a place is written twice.
    """
    threads = _Run(ends, unit, is_aligned, parts, blocks)
    threads.body(body, dict(sizes), np.ones((blocks, 1), bool))
    places, values = (np.concatenate([*some, np.zeros(0, np.int64)]) for some in threads.found)
    if len(np.unique(places)) < len(places):
        raise Wrong("a place is written twice")
    return places, values


class _Run:
    """All threads at once. Values are numbers, or arrays of a row for each block, with a column for each item."""

    def __init__(self, ends: tuple[int, int], unit: int, is_aligned: bool, parts: int, blocks: int):
        self.unit, self.is_aligned, self.parts, self.blocks = unit, is_aligned, parts, blocks
        self.source, self.destination = ends
        self.found: tuple[list[Any], list[Any]] = [], []  # places that are written, and what with
        self.epoch = 0
        self.tile: dict[str, Any] = {}  # by what is noted of each unit: a row for each block
        self.threads: Any = np.zeros((1, 1), np.int64)
        self.block: Any = np.arange(blocks)[:, None]
        self.words: dict[str, Any] = {}

    def body(self, body: Body, env: dict[str, Any], active: Any) -> None:
        for statement in body:
            getattr(self, type(statement).__name__.lower())(statement, env, active)

    def value(self, node: Node, env: Mapping[str, Any]) -> Any:
        return evaluated(node, env, {})

    def let(self, s: Let, env: dict[str, Any], active: Any) -> None:
        env[s.name] = self.value(s.value, env)

    def holds(self, s: Holds, env: dict[str, Any], active: Any) -> None:
        env[s.name] = self.value(s.condition, env)

    def aligned(self, s: Aligned, env: dict[str, Any], active: Any) -> None:
        holds = s.condition is None or bool(self.value(s.condition, env))
        env[s.name] = holds and self.is_aligned

    def when(self, s: When, env: dict[str, Any], active: Any) -> None:
        holds = any(env[flag] for flag in s.flags)
        holds = holds or (s.condition is not None and bool(self.value(s.condition, env)))
        self.body(s.then if holds else s.otherwise, dict(env), active)

    def pieces(self, s: Pieces, env: dict[str, Any], active: Any) -> None:
        count = self.value(s.count, env)
        for first in range(0, count, self.blocks):
            env[s.name] = first + self.block
            self.body(s.body, env, env[s.name] < count)

    def items(self, s: Items, env: dict[str, Any], active: Any) -> None:
        numbers = np.arange(s.count)[None, :]
        env[s.name], self.threads = numbers, numbers % THREADS
        self.body(s.body, env, np.broadcast_to(active, (self.blocks, s.count)))

    def spread(self, s: Spread, env: dict[str, Any], active: Any) -> None:
        count = self.value(s.count, env)
        if count < 1:
            return
        rows = -(-count // (self.blocks * THREADS))
        numbers = np.arange(rows * self.blocks * THREADS).reshape(rows, self.blocks, THREADS)
        env[s.name] = numbers.transpose(1, 0, 2).reshape(self.blocks, -1)
        self.threads = np.tile(np.arange(THREADS), rows)[None, :]
        self.body(s.body, env, env[s.name] < count)

    def gather(self, s: Gather, env: dict[str, Any], active: Any) -> None:
        places = np.arange(self.value(s.count, env) * s.elements)
        for arm in s.arms:
            own = {**env, PLACE: places}
            for let in arm.lets:
                own[let.name] = self.value(let.value, own)
            holds = np.broadcast_to(self.value(arm.condition, own), places.shape)
            if arm.source is None:
                self._found(places[holds], np.full_like(places[holds], ZERO))
                continue
            sources = np.broadcast_to(self.value(arm.source, own), places.shape)[holds]
            self._check(sources, self.source, "reads")
            self._check(places[holds], self.destination, "writes")
            self._found(places[holds], sources)

    def barrier(self, s: Barrier, env: dict[str, Any], active: Any) -> None:
        if active.shape != (self.blocks, 1):
            raise Wrong("a barrier is not reached by all threads")
        self.epoch += 1

    def load(self, s: Load, env: dict[str, Any], active: Any) -> None:
        places, holds = self._places(s, s.of, env, active)
        word = np.full(places.shape, NOTHING, np.int64)
        own = places[holds]
        if s.of.array == TILE:
            at, thread = self._tile(own, holds)
            if ((self._of("written", at) == self.epoch) & (self._of("writer", at) != thread)).any():
                raise Wrong("the tile is read before a barrier has passed")
            word[holds] = self._of("value", at)
            self._read(at, thread)
        else:
            self._check(own, self.source, "reads")
            word[holds] = own
        self.words[s.name] = word

    def store(self, s: Store, env: dict[str, Any], active: Any) -> None:
        places, holds = self._places(s, s.to, env, active)
        own = places[holds]
        word = np.full_like(own, ZERO)
        if s.name:
            word = np.broadcast_to(self.words[s.name], places.shape)[holds]
        if s.to.array == TILE:
            self._into_tile(own, holds, word)
            return
        self._check(own, self.destination, "writes")
        if (word == NOTHING).any():
            raise Wrong("what was not loaded is written")
        self._found(own, word)

    def mix(self, s: Mix, env: dict[str, Any], active: Any) -> None:
        both = np.concatenate([self.words[s.x], self.words[s.y]], -1)
        lanes = np.reshape(s.lanes, (-1, self.unit))
        if (lanes != lanes[:, :1] + np.arange(self.unit)).any() or (lanes[:, 0] % self.unit).any():
            raise Wrong("an element is taken apart")
        self.words[s.name] = both[..., lanes[:, 0] // self.unit]

    def each(self, s: Each, env: dict[str, Any], active: Any) -> None:
        count = self.parts
        for at in np.argwhere(active):
            own = {k: int(_at(v, at)) for k, v in env.items()}
            of, to = map(int, s.places({name: own[name] for name in s.arguments}))
            if s.masked and (of < 0 or to < 0):
                continue
            part = own.get(PART, 0)
            of, to = of * count + part, to * count + part
            self._check(np.array([of]), self.source, "reads")
            self._check(np.array([to]), self.destination, "writes")
            self._found(np.array([to]), np.array([of]))

    def _found(self, places: Any, values: Any) -> None:
        self.found[0].append(places.reshape(-1))
        self.found[1].append(values.reshape(-1))

    # -- places ------------------------------------------------------------------------------------

    def _places(self, s: Load | Store, ref: Ref, env: Mapping[str, Any], active: Any) -> Any:
        """The units of each thread's word, and which threads have one."""
        holds = True if s.condition is None else self.value(s.condition, env)
        offset, holds = np.broadcast_arrays(self.value(ref.offset, env), active & holds)
        cells = s.bytes // self.unit
        return offset[..., None] * cells + np.arange(cells), holds

    def _check(self, places: Any, count: int, does: str) -> None:
        if places.size and (places.min() < 0 or places.max() >= count):
            raise Wrong(f"it {does} outside of the memory")

    # -- the tile ----------------------------------------------------------------------------------

    def _tile(self, own: Any, holds: Any) -> tuple[Any, Any]:
        """Where units are among all blocks' tiles, and whose they are."""
        rows = np.broadcast_to(self.block, holds.shape)[holds]
        threads = np.broadcast_to(self.threads, holds.shape)[holds]
        if own.size and own.min() < 0:
            raise Wrong("the tile is left")
        return (rows[:, None], own), np.broadcast_to(threads[:, None], own.shape)

    def _into_tile(self, own: Any, holds: Any, word: Any) -> None:
        at, thread = self._tile(own, holds)
        for what, who in (("written", "writer"), ("read", "reader")):
            if ((self._of(what, at) == self.epoch) & (self._of(who, at) != thread)).any():
                raise Wrong("the tile is written before a barrier has passed")
        self._put("written", at, self.epoch)
        self._put("writer", at, thread)
        self._put("value", at, word)
        if (self._of("writer", at) != thread).any():
            raise Wrong("two threads write one word of the tile")

    def _array(self, name: str, at: Any) -> Any:
        most = int(at[1].max(initial=0))
        found = self.tile.get(name)
        if found is None or found.shape[1] <= most:
            grown = np.full((self.blocks, 2 * most + 1), NOTHING, np.int64)
            if found is not None:
                grown[:, : found.shape[1]] = found
            found = self.tile[name] = grown
        return found

    def _of(self, name: str, at: Any) -> Any:
        return self._array(name, at)[at]

    def _put(self, name: str, at: Any, values: Any) -> None:
        self._array(name, at)[at] = values

    def _read(self, at: Any, thread: Any) -> None:
        """Note who reads; several readers are nobody."""
        other = (self._of("read", at) == self.epoch) & (self._of("reader", at) != thread)
        self._put("reader", at, thread)
        several = other | (self._of("reader", at) != thread)
        own = at[0].repeat(at[1].shape[1], 1)[several], at[1][several]
        self._array("reader", at)[own] = SEVERAL
        self._put("read", at, self.epoch)


def _at(value: Any, at: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return value[tuple(min(k, n - 1) for k, n in zip(at, value.shape, strict=True))]

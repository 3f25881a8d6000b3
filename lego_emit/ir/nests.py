"""The nest: a copy as loops, moves and kernels, which printers spell and lego_emit/ir/nest_runs.py carries out.

It is the seam between the plan and the languages. A language prints each statement by a table
(lego_emit/printers/copy_forms.py); offsets, bounds and conditions are nodes (lego_emit/ir/nodes.py), which it
spells as in its index functions. All integers are of 64 bits and none is negative. A language without vectors
prints the plain part of `Vectors` and has no `Apply`, `Buffer` or `streams`.

| statement | does |
| --- | --- |
| `Let` | names an integer |
| `Before` | names the distance back to where a line of a cache begins |
| `Loop` | counts in steps; the last step is moved back where it would go beyond `last` |
| `Flag` | names a truth: a condition on sizes, on the destination's alignment, on how large the copy is |
| `When` | a choice by a condition, or a flag, or either |
| `Move` | copies a run of elements |
| `Zero` | writes zeros into a run of elements |
| `Strided` | copies a box of elements, or writes zeros into one, in one assignment |
| `Apply` | a kernel on a block |
| `Fetch` | a hint for a line of a cache that is wanted soon |
| `Buffer` | a small local array |
| `Vectors` | a part for compilers with vector extensions, and a plain one |
| `Each` | a loop over the index functions' results |
| `Call` | calls a function of the file for one of several boxes |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from .nodes import DESTINATION as DESTINATION
from .nodes import ENTRIES as ENTRIES
from .nodes import SOURCE as SOURCE
from .nodes import VALUE as VALUE
from .nodes import Node, const, made, var

BUFFER = "buffer"
NOTHING, ONE = const(0), const(1)
REGISTERS = 16  # of a processor, for vectors
ZERO = -2  # what a run puts where a copy writes zeros


Place: TypeAlias = tuple[tuple[int, ...], int]  # an index of each digit, and elements beyond it


class Statements(NamedTuple):
    """A block of single elements that statements move, as compilers make the most of them. of, to: how many neighbors
    it has in the source and in the destination; most: bytes of an element, of larger ones a block having fewer; loops:
    whether its rows in the destination are a loop that compilers unroll; lines: of the destination that a tile has where
    rows share places in a cache; ragged: whether also where they begin within lines."""

    of: int
    to: int
    most: int = 8
    loops: bool = True
    lines: int = 2
    ragged: bool = True


class Abilities(NamedTuple):
    """What a language has for copies. kernels: local arrays whose lanes are exchanged in registers; streams: stores
    past the caches; strided: assignments between views of arrays, which take the place of loops; threads: those of
    a GPU, whose statements (lego_emit/ir/grids.py) do; most_blocks: of threads, in a launch; shared: bytes of memory that
    such a block has for its threads; packs: memories are arrays of one type, of words of 4 bytes where elements have fewer; pairs: registers that hold two blocks side by side; fetches:
    hints for what is read and written soon; segments: several elements for one call of the index functions; passes: a
    kernel from a buffer that another one fills; calls: functions that move boxes of one kind; signed: integers below 0,
    as strides that fall are; squares: two registers of two blocks that are loaded and stored whole; block: what
    statements move at once in a language without kernels; long: bytes of elements of which kernels take twice the lanes
    of a register where these are a transposition; most: statements and ends of a routine, after which boxes share
    functions."""

    kernels: bool = True
    streams: bool = True
    strided: bool = False
    threads: bool = False
    most_blocks: int = 2**31 - 1
    shared: int = 3 * 2**14
    packs: bool = False
    pairs: bool = True
    segments: bool = False
    fetches: bool = True
    passes: bool = True
    calls: bool = False
    signed: bool = True
    squares: bool = True
    block: Statements | None = None
    long: tuple[int, ...] = ()
    most: int = 105


class Exchange(NamedTuple):
    """A register made of the lanes of two. lanes: of each of its lanes which one of x, or beyond them of y."""

    out: int
    x: int
    y: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class Kernel:
    """What is done to a block of digits.

    block: the extent of each digit; lanes: of a register; loads, stores: for each register where its first
    lane is, loads fill registers 0, 1, ..; steps: exchanges, in order; kept: the registers that are stored; chains:
    the digits of the lanes on both sides; pair: the digit along which a second block is done beside it, in
    registers of twice the length where there are any; square: the digit along which another pair is done, where
    both are neighbors in the source and blocks of the pair are neighbors in the destination, so that registers of
    twice the length are loaded and stored whole; zipped: the same for both blocks of a pair by zips, or their inverses,
    for processors that exchange no single bytes.
    """

    block: tuple[int, ...]
    lanes: int
    loads: tuple[Place, ...]
    steps: tuple[Exchange, ...]
    stores: tuple[Place, ...]
    kept: tuple[int, ...]
    chains: tuple[tuple[int, ...], ...]
    pair: int | None = None
    square: int | None = None
    zipped: Kernel | None = None

    @property
    def cell(self) -> tuple[int, ...]:
        """The extent of each digit of what is done at once."""
        return tuple(n * (1 + (k in (self.pair, self.square))) for k, n in enumerate(self.block))

    @property
    def fits_registers(self) -> bool:
        """Whether a processor has registers for two of each that is loaded."""
        return 2 * len(self.loads) <= REGISTERS

    def apart(self, side: int) -> int | None:
        """How far apart both blocks of a pair begin in the source (0) or in the destination (1); None where
        the stride of their digit says that."""
        if self.pair not in self.chains[side]:
            return None
        return self.block[self.pair] * _strides(self.block, self.chains[side])[self.pair]

    def run(self, loaded: Sequence[Sequence[object]]) -> list[list[object]]:
        """The stored registers, of those that are loaded."""
        registers = {k: [*lanes] for k, lanes in enumerate(loaded)}
        for step in self.steps:
            both = registers[step.x] + registers[step.y]
            registers[step.out] = [both[lane] for lane in step.lanes]
        return [registers[k] for k in self.kept]

    @property
    def shuffled(self) -> tuple[tuple[int, ...], tuple[int, ...], int] | None:
        """The order of the loaded registers, one after another in an array, from which perfect shuffles make the stored
        ones, the order of those, and how many shuffles; of odd numbers of fields below 0, where their inverses do. None
        where no such order does."""
        count = len(self.loads)
        stored: Any = self.run([[(k, lane) for lane in range(self.lanes)] for k in range(count)])
        signs = (1,) if count & (count - 1) == 0 else (1, -1)
        order = [k for k, _ in stored[0][:count]] if signs == (1,) else [*range(count)]
        if not 1 < count <= self.lanes or sorted(order) != [*range(count)]:
            return None
        there = back = [(k, lane) for k in order for lane in range(self.lanes)]
        half = len(there) // 2
        for rounds in range(1, self.lanes.bit_length() + 1):
            there = [one for both in zip(there[:half], there[half:], strict=True) for one in both]
            back = [*back[::2], *back[1::2]]
            for array, sign in zip((there, back), signs, strict=False):
                rows = [array[k : k + self.lanes] for k in range(0, len(array), self.lanes)]
                if sorted(rows) == sorted(stored):
                    return tuple(order), tuple(map(stored.index, rows)), sign * rounds
        return None

    @property
    def zips_alike(self) -> bool:
        """Whether zips take the elements of a pair, too, where the destination has them."""
        zipped = self.zipped
        if self.pair is None or zipped is None:
            return True
        return (zipped.block, zipped.chains) == (self.cell, self.chains) and zipped.is_right()

    def is_right(self) -> bool:
        """Whether every element of the block gets to where the destination has it."""
        strides = [_strides(self.block, chain) for chain in self.chains]
        size = 1
        for n in self.block:
            size *= n
        memory = list[object]([None] * size)
        for index in product(*map(range, self.block)):
            memory[sum(i * s for i, s in zip(index, strides[0], strict=True))] = index
        at = [
            sum(i * s for i, s in zip(index, strides[0], strict=True)) + k
            for index, k in self.loads
        ]
        found = list[object]([None] * size)
        for (index, k), lanes in zip(
            self.stores, self.run([memory[p : p + self.lanes] for p in at]), strict=True
        ):
            place = sum(i * s for i, s in zip(index, strides[1], strict=True)) + k
            found[place : place + self.lanes] = lanes
        return all(
            found[sum(i * s for i, s in zip(index, strides[1], strict=True))] == index
            for index in product(*map(range, self.block))
        )


def _strides(block: Sequence[int], chain: Sequence[int]) -> list[int]:
    """Strides of a block alone in memory: the digits of a chain first, the others after them."""
    found, running = [0] * len(block), 1
    for k in (*chain, *(k for k in range(len(block)) if k not in chain)):
        found[k] = running
        running *= block[k]
    return found


@dataclass(frozen=True)
class Ref:
    """A place in an array: src, dst or buffer."""

    array: str
    offset: Node


@dataclass(frozen=True)
class Let:
    """An integer with a name. wraps: whether it may be below 0, where it is not used."""

    name: str
    value: Node
    wraps: bool = False


@dataclass(frozen=True)
class Loop:
    """name = start, start + step, .. below stop, or last where it would be more than that, or 0 where it would be
    less, which rises says that start is. falls: the same steps, of which stop is one, from the last one to start; rolled: whether compilers keep it a loop; unrolled: how many steps they put side by side."""

    name: str
    stop: Node
    body: tuple[Statement, ...]
    step: int | Node = 1
    start: Node = NOTHING
    last: Node | None = None
    rises: bool = False
    falls: bool = False
    rolled: bool = False
    unrolled: int = 0


@dataclass(frozen=True)
class Flag:
    """A truth with a name: the condition holds, the destination begins at a multiple of `aligned` bytes, and the copy,
    of `large` bytes, has at least as many as a user says that a large one has. None, 0: not asked for."""

    name: str
    condition: Node | None
    aligned: int = 0
    large: Node | None = None


@dataclass(frozen=True)
class Before:
    """An integer with a name, 0 or less: the elements from a place in the destination back to where a line of so
    many elements begins."""

    name: str
    line: int
    at: Node = NOTHING


@dataclass(frozen=True)
class When:
    """then where the condition or one of the flags holds, else otherwise."""

    condition: Node | None
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Move:
    """count elements from one place to another. streams: past the caches, to an aligned place where their number is
    known, else all whole lines among them."""

    to: Ref
    of: Ref
    count: Node
    streams: bool = False


@dataclass(frozen=True)
class Zero:
    """Zeros in count elements."""

    to: Ref
    count: Node


@dataclass(frozen=True)
class Strided:
    """All elements of a box at once, or zeros where it is `of` nothing. extents: of the digits; of_strides,
    to_strides: their strides in both arrays."""

    to: Ref
    of: Ref | None
    extents: tuple[Node, ...]
    of_strides: tuple[Node, ...]
    to_strides: tuple[Node, ...]


@dataclass(frozen=True)
class Apply:
    """A kernel on a block. to, of: where the block begins; strides: of its digits in both arrays."""

    kernel: Kernel
    to: Ref
    of: Ref
    of_strides: tuple[Node, ...]
    to_strides: tuple[Node, ...]
    streams: bool = False


@dataclass(frozen=True)
class Fetch:
    """A hint that a line of the source will be read soon, or one of the destination written. second: whether it has
    time to come from the second cache."""

    at: Ref
    second: bool = False


@dataclass(frozen=True)
class Buffer:
    """A local array of count elements while body runs. line: the bytes at a multiple of which it begins, where
    registers are loaded from it."""

    count: int
    body: tuple[Statement, ...]
    line: int = 0


@dataclass(frozen=True)
class Vectors:
    """What compilers with vector extensions do where the condition holds, and what else is done."""

    body: tuple[Statement, ...]
    plain: tuple[Statement, ...]
    condition: Node | None = None


@dataclass(frozen=True)
class Ways:
    """Blocks of indices that lie in few ways in a memory. block: the extent of each index; steps: extents and strides
    in the other memory; entries: how far the elements lie from the first one in each way; probe: the element that
    tells ways apart, at: its indices; names: of its distance, of the way, and of the steps' loops."""

    memory: str
    block: tuple[int, ...]
    steps: tuple[tuple[int, int], ...]
    entries: tuple[tuple[int, ...], ...]
    probe: int
    at: tuple[int, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Each:
    """For each index below extents: a function of the file gives the places in the source and in the
    destination of the index. arguments: of its call, the index among them; masked: whether a place that is
    negative is left out; places: the function, for a run; start: of the first index; count: how many indices of the
    last extent are neighbors in both memories, for which one call is made; falls: the memory in which places of some
    neighbors fall; step: the name of a neighbor's number; ways: of blocks, for each of which calls are made."""

    names: tuple[str, ...]
    extents: tuple[Node, ...]
    arguments: tuple[str, ...]
    masked: bool
    places: Any
    start: Node = NOTHING
    count: int = 1
    falls: str = ""
    step: str = ""
    ways: Ways | None = None

    @property
    def block(self) -> tuple[int, ...]:
        """How many of each index one call is for."""
        return self.ways.block if self.ways else (*[1] * (len(self.names) - 1), self.count)


@dataclass(frozen=True)
class Helper:
    """A function that moves boxes of one kind. stem: what its name ends with; parameters: its integers, before the two
    arrays; body: its statements, which read no other integers."""

    stem: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]

    @property
    def reads(self) -> bool:
        """Whether it reads the source, and does not write zeros alone."""
        return any(
            isinstance(s, Move | Apply) or (isinstance(s, Strided) and s.of is not None)
            for s in walk(self.body)
        )

    @property
    def pads(self) -> bool:
        """Whether it writes zeros."""
        return writes_zeros(self.body)


@dataclass(frozen=True)
class Call:
    """A call of a helper with these integers. due: what each is by the plan, of the names that are known where it
    stands, for checks alone."""

    helper: Helper
    arguments: tuple[Node, ...]
    due: tuple[Node, ...] = ()


FIRST, LAST, PART = "first", "last", "part"  # the pieces of a copy: of a nest, and of its loops


class Threaded:
    """A statement of lego_emit/ir/grids.py, for the threads of a GPU."""


class Slices(NamedTuple):
    """How a memory is cut into slices for threads. lets: what is named for that; nested: the length of a slice, of a
    slice within that, and so on, each with how many pieces it has."""

    lets: tuple[tuple[str, Node], ...]
    nested: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True)
class Routine:
    """A copy in a file. name: the function's; sizes: its parameters before the two arrays; element_bytes: of
    an element; body: its statements; summary: what it does and how; source, destination: how many elements the
    memories have; functions: what gives their bytes, and the places of an index where it calls one; parts: what gives
    the number of pieces where the body moves those from FIRST to LAST, for threads; value: what is made of each element
    that is read from the source, over VALUE, every operation wrapping in the element's unsigned type; slices: how the
    destination is cut where the body is that of the piece PART alone, whose places count from its own slice; registers:
    the statements that do the same where a user of the file asks for registers, () where there are none."""

    name: str
    sizes: tuple[str, ...]
    element_bytes: int
    body: tuple[Statement, ...]
    summary: str = ""
    source: Node = NOTHING
    destination: Node = NOTHING
    functions: tuple[str, ...] = ()
    parts: str = ""
    value: Node | None = None
    slices: Slices | None = None
    registers: tuple[Statement, ...] = ()

    @property
    def is_shared(self) -> bool:
        """Whether it is in pieces, for threads."""
        return bool(self.parts or self.slices)

    @property
    def pads(self) -> bool:
        """Whether it writes zeros."""
        return writes_zeros(self.body)


Statement: TypeAlias = (
    Let
    | Loop
    | Flag
    | Before
    | When
    | Move
    | Zero
    | Strided
    | Apply
    | Fetch
    | Buffer
    | Vectors
    | Each
    | Call
    | Threaded
)
Body: TypeAlias = Sequence[Statement]


def inner(statement: Statement) -> tuple[Statement, ...]:
    """The statements within one."""
    if isinstance(statement, When):
        return (*statement.then, *statement.otherwise)
    if isinstance(statement, Vectors):
        return (*statement.body, *statement.plain)
    if isinstance(statement, Call):
        return statement.helper.body
    return getattr(statement, "body", ())


def walk(body: Body, called: bool = True) -> Iterator[Statement]:
    """All statements, however deep. called: whether those of functions that are called are among them."""
    for statement in body:
        yield statement
        if (called or not isinstance(statement, Call)) and (within := inner(statement)):
            yield from walk(within, called)


def writes_zeros(body: Body, called: bool = True) -> bool:
    """Whether statements write zeros. called: or functions that they call."""
    return any(
        isinstance(s, Zero) or (isinstance(s, Strided) and s.of is None) for s in walk(body, called)
    )


def names_of(node: Node) -> set[str]:
    """The names that a node reads."""
    return {n.value for n in node.walk() if n.op == "var"}


def names_read(body: Body, way: str = "") -> set[str]:
    """The names of integers and of truths that statements read. way: "plain" without those of vectors, "body" without
    those of what is done where there are none."""
    found: set[str] = set()
    for statement in body:
        if way and isinstance(statement, Vectors):
            found |= names_read(getattr(statement, way), way)
            continue
        if not isinstance(statement, Call):  # whose helper reads its own
            found |= names_read(inner(statement), way)
        for field, value in vars(statement).items():
            if field == "due":
                continue
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, str) and field in ("flags", "arguments"):
                    found.add(one)
                one = one.offset if isinstance(one, Ref) else one
                if isinstance(one, Node):
                    found |= names_of(one)
    return found


def kernels(body: Body) -> list[Kernel]:
    """The different kernels, in order of first use."""
    return list(dict.fromkeys(s.kernel for s in walk(body) if isinstance(s, Apply)))


def helpers(body: Body) -> list[Helper]:
    """The different functions that are called, each behind those that it calls."""
    found: dict[Helper, None] = {}
    for s in walk(body):
        if isinstance(s, Call):
            found |= dict.fromkeys([*helpers(s.helper.body), s.helper])
    return list(found)


def nested(loops: Sequence[Loop], body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Loops around a body, the first one outside."""
    for loop in reversed(loops):
        body = (replace(loop, body=body),)
    return body


def all_of(conditions: Sequence[Node]) -> Node | None:
    """The condition that all of them hold, each once; None without any."""
    once = [*dict.fromkeys(conditions)]
    return reduce(lambda x, y: made("land", x, y), once) if once else None


def linear(start: Node, terms: Sequence[tuple[Node, str]]) -> Node:
    """start plus each stride times a variable, or minus where a stride falls."""
    found = start
    for stride, name in terms:
        if stride == const(0):
            continue
        op, far = "add", stride
        if found != const(0) and (
            stride.op == "neg" or (stride.op == "const" and stride.value < 0)
        ):
            op, far = "sub", stride.args[0] if stride.args else const(-stride.value)
        term = var(name) if far == const(1) else made("mul", far, var(name))
        found = term if found == const(0) else made(op, found, term)
    return found


def plus(node: Node, number: int) -> Node:
    """A node plus a number."""
    if number == 0:
        return node
    if node.op == "const":
        return const(node.value + number)
    if node.op == "add" and node.args[1].op == "const":
        return plus(node.args[0], node.args[1].value + number)
    return made("add", node, number) if number > 0 else made("sub", node, -number)


def times(node: Node, number: int) -> Node:
    """A node times a number."""
    if node.op == "const":
        return const(node.value * number)
    return node if number == 1 else made("mul", node, number)

"""What moves the elements of a box, and in which tiles: runs, kernels, and lines of a cache.

A box is moved by runs where both memories share contiguous runs of 16 bytes or more, else by a kernel
between the digits that are contiguous on either side, else element by element. Tiles are whole lines of 64
bytes on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd, prod

from ..ir.nests import (
    BUFFER,
    DESTINATION,
    ONE,
    SOURCE,
    Abilities,
    Apply,
    Kernel,
    Let,
    Move,
    Ref,
    Statement,
    linear,
    names_of,
    names_read,
)
from ..ir.nodes import Node, const, made, var
from .digits import Digit, Size
from .kernels import MOST_FIELDS, interleaved, of_bits, zipped_fields
from .plan import Box
from .values import node_of

VECTOR = 16  # bytes of a register
LINE = 64  # bytes of a cache's line
CHUNK = 4 * LINE  # bytes that a tile of runs has on both sides
STAYS = 2**13  # bytes of lines that stay in the first cache
# A cache's first level has 64 bytes in each of WAYS ways of PAGE bytes. Rows of a tile that lie a multiple of
# some bytes apart share a few of its sets, and drive each other out where there are more of them than ways.
PAGE, WAYS = 4096, 8


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


def lanes_of(
    digits: Sequence[Digit], strides: Sequence[Size], lanes: int
) -> list[tuple[int, int]] | None:
    """The bits of digits that are the lanes of a register, the fastest first; None where neighbors are fewer or
    no power of two."""
    found: list[tuple[int, int]] = []
    for taken in chain(digits, strides, lanes):
        if taken.extent & (taken.extent - 1):
            return None
        found += [(taken.digit, bit) for bit in range(taken.extent.bit_length() - 1)]
    return found if 1 << len(found) == lanes else None


def fits(kernel: Kernel, digits: Sequence[Digit]) -> bool:
    """Whether no digit of a known extent is smaller than the block."""
    pairs = zip(digits, kernel.cell, strict=True)
    return all(not isinstance(d.n, int) or d.n >= size for d, size in pairs)


def falls(stride: Size) -> bool:
    """Whether a stride is below 0, as each of its terms is."""
    return stride < 0 if isinstance(stride, int) else all(c < 0 for c in stride.terms.values())


def paired(
    kernel: Kernel, digits: Sequence[Digit], sides: Sequence[Sequence[Size]], squares: bool = False
) -> Kernel:
    """The kernel with a second block beside it, where both are neighbors in the destination, or the source.
    sides: the strides of digits in both; squares: whether it may have four."""
    for side in (1, 0):
        for k, size in enumerate(kernel.block):
            if sides[side][k] == kernel.lanes // size and kernel.lanes % size == 0:
                both = replace(kernel, pair=k)
                own = kernel.chains[side]
                if k not in own and prod(kernel.block[n] for n in own) == kernel.lanes:
                    chains = [*kernel.chains]
                    chains[side] = (*own, k)
                    both = replace(both, chains=(chains[0], chains[1]))
                if fits(both, digits):
                    return squared(both, digits, sides[0]) if side and squares else both
    return kernel


def squared(kernel: Kernel, digits: Sequence[Digit], strides: Sequence[Size]) -> Kernel:
    """A kernel of pairs as one of squares, where another pair is beside it in the source, whose strides these are: a
    processor loads two registers at once, however long they are, if it has registers for them."""
    if kernel.apart(1) != kernel.lanes:
        return kernel
    for k, size in enumerate(kernel.block):
        if k != kernel.pair and strides[k] == kernel.lanes // size and kernel.lanes % size == 0:
            four = replace(kernel, square=k)
            if fits(four, digits) and kernel.fits_registers:
                return four
    return kernel


def with_names(lets: Sequence[Let], body: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements behind those of some names that they read."""
    read, found = names_read(tuple(body)), [*body]
    for let in reversed(lets):
        if let.name in read:
            read |= names_of(let.value)
            found.insert(0, let)
    return tuple(found)


class Names:
    """Names for the integers of a nest, which are no names of sizes."""

    def __init__(self, taken: Sequence[str]):
        # A step that may be moved back begins at NAME_at, or NAMEAt (emit.nests.NestForms.moved).
        stems = (n.removesuffix("_at").removesuffix("At") for n in taken if n.endswith("t"))
        self._taken = {*taken, *stems, SOURCE, DESTINATION, BUFFER}
        self.lets: list[Let] = []
        self._known: dict[Node, Node] = {}
        self._outer: Names | None = None
        self._own: frozenset[str] = frozenset()
        self._values: dict[str, Node] = {}
        self._divisors: dict[str, int] = {}

    def within(self, own: Sequence[str]) -> Names:
        """The names of a body that has variables of its own: what holds one of them is named there."""
        found = Names(())
        found._taken, found._values = self._taken, self._values
        found._divisors = self._divisors
        found._outer, found._own = self, frozenset(own)
        return found

    def aside(self) -> Names:
        """Names that are given back."""
        return Names([*self._taken])

    def fresh(self, stem: str, divisor: int = 1) -> str:
        """The stem, or the stem with a number. divisor: what the integer is a multiple of."""
        name, k = stem, 1
        while name in self._taken:
            name, k = f"{stem}{k}", k + 1
        self._taken.add(name)
        self._divisors[name] = divisor
        return name

    def divisor(self, node: Node) -> int:
        """A number that divides a node, as large as is known; 0 where the node is 0."""
        if node.op == "const":
            return abs(node.value)
        if node.op == "var":
            return self._divisors.get(node.value, 1)
        if node.op in ("add", "sub", "neg"):
            return gcd(*map(self.divisor, node.args))
        return prod(map(self.divisor, node.args)) if node.op == "mul" else 1

    def parameter(self, stem: str, least: int) -> str:
        """A name for an integer that a function is given, which is so many at least."""
        name = self.fresh(stem)
        self._values[name] = const(least)
        return name

    def named(self, size: Size, stem: str) -> Node:
        """A size as a number, a parameter, or a variable that has its value."""
        return self.of(node_of(size), stem)

    def of(self, node: Node, stem: str, wraps: bool = False) -> Node:
        """A node as a number, a parameter, or a variable that has its value. wraps: whether that may be below 0."""
        if not node.args:
            return node
        if self._outer is not None and self._own.isdisjoint(names_of(node)):
            return self._outer.of(node, stem, wraps)
        if node not in self._known:
            name = self.fresh(stem, self.divisor(node))
            self.lets.append(Let(name, node, wraps))
            self._values[name] = node
            self._known[node] = var(name)
        return self._known[node]

    def before(self, body: Sequence[Statement]) -> tuple[Statement, ...]:
        """Statements behind the names that they read."""
        return with_names(self.lets, body)

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

    def strides(self, of: Sequence[Node]) -> tuple[Node, ...]:
        """Those of the digits of a cell; 0 of others, whose names nothing reads."""
        return tuple(s if n > 1 else const(0) for s, n in zip(of, self.cell, strict=True))


class Tiles:
    """The mover and the tiles of one box."""

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
        self.a = [self._stride(d.a, "a") for d in box.digits]
        self.b = [self._stride(d.b, "b") for d in box.digits]
        stems = ("base", "base") if node_of(box.a) == node_of(box.b) else ("from", "to")
        wraps = not abilities.signed and any(map(names.may_be_zero, self.n))
        of, to = (
            names.of(node_of(s), t, wraps) for s, t in zip((box.a, box.b), stems, strict=True)
        )
        self.start = of, to
        self.outer = [names.fresh(f"t{k}") for k in range(len(box.digits))]
        self.inner = [names.fresh(f"i{k}") for k in range(len(box.digits))]
        self.ends = [names.fresh(f"end{k}") for k in range(len(box.digits))]
        self.kinds: list[str] = []

    def _stride(self, size: Size, stem: str) -> Node:
        """A stride by its name, that of how far it falls in a language without integers below 0."""
        if self.abilities.signed or isinstance(size, int) or not falls(size):
            return self.names.named(size, stem)
        return made("neg", self.names.named(-size, stem))

    @cached_property
    def falls_unsigned(self) -> bool:
        """Whether a stride is below 0 in a language without such integers, whose kernels begin at their first place."""
        return not self.abilities.signed and any(falls(s) for d in self.digits for s in (d.a, d.b))

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
        if self.has_long_runs or not self.abilities.kernels or self.falls_unsigned:
            return self.plain
        kernel = self._kernel()
        if kernel is None:
            return self.plain
        if self.abilities.pairs:
            sides = [[getattr(d, s) for d in self.digits] for s in "ab"]
            kernel = paired(kernel, self.digits, sides, self.abilities.squares)
        return Mover(kernel.cell, kernel=kernel)

    def _kernel(self) -> Kernel | None:
        if VECTOR % self.bytes or self.bytes >= VECTOR:
            return None
        lanes = VECTOR // self.bytes
        if self.bytes in self.abilities.long:
            found = self._of_bits(2 * lanes)
            if found is not None and found.shuffled and len(found.loads) == found.lanes:
                return found
        return self._of_bits(lanes) or self._fields(lanes)

    def _of_bits(self, lanes: int) -> Kernel | None:
        """The kernel of zips of registers of so many lanes."""
        sides = [lanes_of(self.digits, [getattr(d, s) for d in self.digits], lanes) for s in "ab"]
        if sides[0] is None or sides[1] is None:
            return None
        found = of_bits(sides[0], sides[1], len(self.digits))
        return found if found is not None and fits(found, self.digits) else None

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
            mixed, zipped = (
                _among(of(fields, lanes, packs), (c, p), len(self.digits))
                for of in (interleaved, zipped_fields)
            )
            # SSE2 exchanges no bytes, and words to put fields side by side as well as their zips' inverses do.
            is_slow = self.bytes == 1 or (self.bytes == 2 and not packs)
            if not is_slow or not fits(zipped, self.digits):
                return mixed
            if not self.abilities.pairs:
                return mixed if packs or self.bytes > 1 else zipped
            return replace(mixed, zipped=zipped)
        return None

    # -- tiles -------------------------------------------------------------------------------------

    @cached_property
    def chains(self) -> tuple[list[Taken], list[Taken]]:
        """The digits of a line on both sides, beyond a run."""
        start = (
            self.plain.cell[self.run] if self.mover.kernel is None and self.run is not None else 1
        )
        is_run = self.mover.kernel is None and self.run is not None
        elements = (CHUNK if is_run else LINE) // self.bytes
        if start == 0 or start >= elements:
            return [], []
        a, b = ([getattr(d, side) for d in self.digits] for side in "ab")
        if self.mover.kernel is None and self._stays(a, start, range(len(a))):
            return [], []
        return chain(self.digits, a, elements, start), chain(self.digits, b, elements, start)

    def _stays(
        self, strides: Sequence[Size], start: int, order: Sequence[int], streams: bool = False
    ) -> bool:
        """Whether a line of a memory is still in the first cache when its next run is moved, tile or no tile: so few
        others are moved in between, in such an order of digits, and few in its set where they are not streamed."""
        near = next((at for at, k in enumerate(order) if strides[k] == start), None)
        if near is None:
            return True
        between = [k for k in order[near + 1 :] if k != self.run]
        counts = [self.digits[k].n for k in between]
        if not all(isinstance(n, int) for n in counts) or prod(counts) * LINE > STAYS:
            return False
        apart = [strides[k] for k in between]
        in_a_set = [
            n
            for n, s in zip(counts, apart, strict=True)
            if isinstance(n, int) and isinstance(s, int) and s * self.bytes % PAGE == 0
        ]
        return streams or prod(in_a_set) <= WAYS

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
        """Whether so many of a digit are all; of one element each is, even if a tile takes none of it."""
        return self.digits[k].n == max(size, 1)

    def is_within(self, k: int, size: int) -> bool:
        """Whether a digit is known to have no more than so many, as a remainder has."""
        n = self.digits[k].n
        if not isinstance(n, int):
            value = node_of(n)
            if value.op != "mod" or value.args[1].op != "const":
                return False
            n = value.args[1].value - 1
        return n <= size

    # -- offsets -----------------------------------------------------------------------------------

    def at(self, names: Sequence[str | None]) -> tuple[Node, Node]:
        """The places in the source and in the destination of an index; None for 0."""
        pairs = [(k, name) for k, name in enumerate(names) if name is not None]
        return (
            linear(self.start[0], [(self.a[k], name) for k, name in pairs]),
            linear(self.start[1], [(self.b[k], name) for k, name in pairs]),
        )

    def _moved(self, mover: Mover, names: Sequence[str | None], streams: bool = False) -> Statement:
        of, to = self.at(names)
        if mover.kernel is None:
            return Move(Ref(DESTINATION, to), Ref(SOURCE, of), mover.run, streams)
        return Apply(
            mover.kernel,
            Ref(DESTINATION, to),
            Ref(SOURCE, of),
            mover.strides(self.a),
            mover.strides(self.b),
            streams,
        )


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

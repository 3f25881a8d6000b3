"""Two kernels one after the other, through a small buffer, where no single one takes a box's lanes across.

Weights of 3 x 3 have 9 neighbors in memory, which no register has as lanes, but all digits up to some extent are neighbors
together: 9 of 16 channels are 144 bytes. A block of them, by as many of one other digit as a register has lanes, is
transposed into a buffer, in which each of these digits has a stride; a second kernel goes from there to the destination,
or the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from ..ir.nests import BUFFER, ONE, Apply, Buffer, Kernel, Loop, Ref, Statement, linear, times
from ..ir.nodes import Node, const
from .digits import Digit, Size
from .kernels import of_bits
from .tiles import LINE, VECTOR, chain, fits, lanes_of, paired

ENOUGH, MOST = (
    2**12,
    2**14,
)  # bytes of a block: beyond which no more digits are taken, and that fit the first cache


@dataclass(frozen=True)
class Passes:
    """What two kernels do. held: the digits whose indices are neighbors together, the fastest first; across: the one
    along which the buffer's rows are; count, width: elements of the held ones, and of a row; reads: whether it is the
    source in which they are neighbors; block: the kernel of both as two digits; other: that of all digits."""

    held: tuple[int, ...]
    across: int
    count: int
    width: int
    reads: bool
    block: Kernel
    other: Kernel

    def buffered(
        self,
        digits: Sequence[Digit],
        memories: Sequence[Ref],
        strides: Sequence[Sequence[Node]],
        names: Sequence[str],
        pairs: bool,
    ) -> Buffer:
        """One block, which begins at these places of the source and of the destination. strides: of digits in both;
        names: of their indices, and of one of those held; pairs: whether registers hold two blocks."""
        near, far = (0, 1) if self.reads else (1, 0)
        across, row = self.across, names[self.across]
        inside = [const(0)] * len(digits)
        inside[across] = ONE
        for k in self.held:
            inside[k] = times(strides[near][k], self.width)
        whole = Digit(self.count, 1, self.width), Digit(self.width, 0, 1)
        block = _Pass(
            self.block,
            whole,
            ((ONE, strides[near][across]), (const(self.width), ONE)),
            (names[-1], row),
            (1, 0),
        )
        rows = [replace(d, n=self.width) if k == across else d for k, d in enumerate(digits)]
        order = sorted(self.held, key=lambda k: -_number(strides[far][k]))
        other = _Pass(self.other, rows, (strides[far], inside), names, (*order, across))
        passes = [
            one.statements(memories[side], side == 0, pairs)
            for one, side in sorted(((block, near), (other, far)), key=lambda pair: pair[1])
        ]
        return Buffer(self.count * self.width, (*passes[0], *passes[1]), LINE)


@dataclass(frozen=True)
class _Pass:
    """A kernel between a memory and the buffer. strides: of digits in either; order: of its loops."""

    kernel: Kernel
    digits: Sequence[Digit]
    strides: tuple[Sequence[Node], Sequence[Node]]
    names: Sequence[str]
    order: Sequence[int]

    def statements(self, memory: Ref, fills: bool, pairs: bool) -> tuple[Statement, ...]:
        """The loops of the pass. fills: whether it is from the memory to the buffer."""
        kernel, strides = self.kernel, self.strides if fills else self.strides[::-1]
        if pairs:
            kernel = paired(kernel, self.digits, [[_number(s) for s in side] for side in strides])
        loops: list[Loop] = []
        for k in self.order:
            n, cell = self.digits[k].n, kernel.cell[k]
            assert isinstance(n, int)
            if n > cell:
                last = const(n - cell) if n % cell else None
                loops.append(Loop(self.names[k], const(n), (), cell, last=last))
        index = [(k, self.names[k]) for k in self.order if self.digits[k].n != kernel.cell[k]]
        refs = [
            Ref(one.array, linear(one.offset, [(own[k], name) for k, name in index]))
            for one, own in zip((memory, Ref(BUFFER, const(0))), self.strides, strict=True)
        ]
        of, to = refs if fills else refs[::-1]
        sides = tuple(strides[0]), tuple(strides[1])
        found: tuple[Statement, ...] = (Apply(kernel, to, of, *sides),)
        for loop in reversed(loops):
            found = (replace(loop, body=found),)
        return found


def _number(node: Node) -> int:
    """What a stride is, 0 where that is not known."""
    return node.value if node.op == "const" else 0


def passes_of(digits: Sequence[Digit], element_bytes: int) -> Passes | None:
    """How two kernels do a box, where they can."""
    lanes = VECTOR // element_bytes
    sides = [d.a for d in digits], [d.b for d in digits]
    for reads in (True, False):
        near, far = sides if reads else sides[::-1]
        line = lanes_of(digits, far, lanes)
        if not line:  # as one element fills a register
            continue
        neighbors = _neighbors(digits, near)
        own = {k for k, _ in line}
        across = max(own, key=lambda k: neighbors.index(k) if k in neighbors else len(digits))
        if across in neighbors:
            neighbors = neighbors[: neighbors.index(across)]
        if not own - {across} <= {*neighbors} or len(neighbors) < 2:
            continue
        held = _held(digits, neighbors, own - {across}, lanes, element_bytes)
        count = prod(_extent(digits, k) for k in held)
        row = next(
            (t for t in chain(digits, far, LINE // element_bytes) if t.digit == across), None
        )
        width = max(lanes, -(-row.extent // lanes) * lanes if row else 0)
        n = digits[across].n
        is_large = count * width * element_bytes > MOST
        if count < lanes or is_large or (isinstance(n, int) and n < width):
            continue
        bits = range(lanes.bit_length() - 1)
        rows = [(0, k) for k in bits], [(1, k) for k in bits]
        ends = [(across, k) for k in bits], line
        if not reads:
            rows, ends = rows[::-1], ends[::-1]
        block = of_bits(rows[0], rows[1], 2)
        other = of_bits(ends[0], ends[1], len(digits))
        if block is not None and other is not None and fits(other, digits):
            return Passes(tuple(held), across, count, width, reads, block, other)
    return None


def _extent(digits: Sequence[Digit], k: int) -> int:
    n = digits[k].n
    assert isinstance(n, int)
    return n


def _neighbors(digits: Sequence[Digit], strides: Sequence[Size]) -> list[int]:
    """Digits that leave no gap, the fastest first."""
    found, running = list[int](), 1
    while True:
        own = (k for k, s in enumerate(strides) if isinstance(s, int) and s == running)
        k = next((k for k in own if isinstance(digits[k].n, int) and k not in found), None)
        if k is None:
            return found
        found.append(k)
        running *= _extent(digits, k)


def _held(
    digits: Sequence[Digit], neighbors: Sequence[int], wanted: set[int], lanes: int, size: int
) -> list[int]:
    """As many neighbors as a block takes."""
    found, count = list[int](), 1
    for k in neighbors:
        own = count * _extent(digits, k)
        if wanted <= {*found} and count >= lanes and own * lanes * size > ENOUGH:
            break
        found.append(k)
        count = own
    return found

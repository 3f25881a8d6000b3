"""The memory layout under which two accesses cost least: swizzled, or padded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..algebra import f2
from ..algebra.linear import Linear
from ..algebra.strided import Strided
from ..errors import InternalError, LayoutError, brief
from .access import Access, called
from .conflicts import bank_conflicts, check_registers, checked_bytes
from .linear_access import LinearAccess, linear_access, log2, wavefronts
from .memories import NVIDIA, SharedMemory, memory_of


@brief
def optimal_swizzle(
    write: Access,
    read: Access,
    element_bytes: int = 4,
    *,
    gpu: str | SharedMemory = NVIDIA,
    registers: int | None = None,
) -> Linear:
    """The memory layout, from coordinates to the offset of an element, through which a warp writes
    and reads a tile at the least cost (Zhou et al., ASPLOS 2026, sections 5.4 and 9.2).

    write, read: layouts from register, lane and warp to the coordinates of one tile, linear over F2, or
        functions of lane and register that give them.
    element_bytes: 1, 2, 4, 8 or 16.
    gpu: "nvidia", "amd" or a SharedMemory.
    registers: how many registers a function of lane and register has, 16 unless given.

    First both move as many elements an instruction as both can; then there are as few wavefronts as
    there can be; then one of the two moves more where it costs the other nothing. swizzle_bound says
    what no layout goes below. It is reached where the lanes that are served together move no more
    than all banks hold at once, as on each GPU that is known by name.

    Raises LayoutError where the two are not linear, or do not give one tile.

        >>> from lego_emit import hardware, optimal_swizzle
        >>> rows = hardware.blocked((1, 1), (1, 32), (32, 1))  # a warp stores a row
        >>> columns = hardware.blocked((1, 1), (32, 1), (1, 32))  # and loads a column
        >>> optimal_swizzle(rows, columns).apply(1, 0)
        33
    """
    construct = called("optimal_swizzle", write, read, element_bytes)
    a, b, element_bytes, hardware = _prepared(write, read, element_bytes, gpu, construct, registers)
    sides = (a, True), (b, False)
    best: tuple[tuple[int, int], Linear] | None = None
    for choice in sorted(_choices(*sides, element_bytes, hardware), key=lambda c: c.least):
        if best and best[0][0] < choice.least:
            break
        memory = choice.memory
        cost = _cost(memory, sides, element_bytes, hardware)
        if best is None or cost < best[0]:
            best = cost, memory
    assert best is not None
    return best[1]


@brief
def swizzle_bound(
    write: Access,
    read: Access,
    element_bytes: int = 4,
    *,
    gpu: str | SharedMemory = NVIDIA,
    registers: int | None = None,
) -> tuple[int, int]:
    """(elements, wavefronts): no linear memory layout lets both accesses move more elements an
    instruction, and none that lets them do so has fewer wavefronts in sum.

    An instruction takes a wavefront for each phase, whatever the layout, and more where lanes that
    are served together must meet in a bank. None must where no two lanes have the same elements.

        >>> from lego_emit import hardware, movement
        >>> rows = hardware.blocked((1, 1), (1, 32), (32, 1))
        >>> columns = hardware.blocked((1, 1), (32, 1), (1, 32))
        >>> movement.swizzle_bound(rows, columns)
        (1, 2)
    """
    construct = called("swizzle_bound", write, read, element_bytes)
    a, b, element_bytes, hardware = _prepared(write, read, element_bytes, gpu, construct, registers)
    choices = _choices((a, True), (b, False), element_bytes, hardware)
    return 1 << choices[0].common, min(choice.least for choice in choices)


@brief
def optimal_padding(
    rows: int,
    columns: int,
    write: Access,
    read: Access,
    element_bytes: int = 4,
    *,
    gpu: str | SharedMemory = NVIDIA,
    registers: int | None = None,
) -> Strided:
    """The pitch of rows, row-major, from columns on, at which the two accesses have the fewest
    wavefronts, as Strided((rows, columns), (pitch, 1)); of several the least. For sizes that are no
    powers of two, where nothing is swizzled.

        >>> from lego_emit import movement
        >>> print(movement.optimal_padding(32, 32, lambda lane: (0, lane), lambda lane: (lane, 0)))
        (32,32):(33,1)
    """
    construct = called("optimal_padding", rows, columns, write, read, element_bytes)
    hardware = memory_of(gpu, construct)
    element_bytes = checked_bytes(element_bytes, hardware, construct)
    across = hardware.banks * hardware.bank_bytes // element_bytes

    def cost(pitch: int) -> tuple[int, int]:
        memory = Strided((rows, columns), (pitch, 1))
        costs = [
            bank_conflicts(
                memory, access, element_bytes, gpu=hardware, write=is_write, registers=registers
            ).wavefronts
            for access, is_write in ((write, True), (read, False))
        ]
        return sum(costs), pitch

    return Strided((rows, columns), (min(map(cost, range(columns, columns + across)))[1], 1))


Side = tuple[LinearAccess, bool]  # an access, and whether it writes

# -- what is asked -------------------------------------------------------------------------------


def _prepared(
    write: Any, read: Any, element_bytes: Any, gpu: Any, construct: str, registers: Any
) -> tuple[LinearAccess, LinearAccess, int, SharedMemory]:
    hardware = memory_of(gpu, construct)
    element_bytes = checked_bytes(element_bytes, hardware, construct)
    check_registers(registers, construct)
    a, b = (linear_access(x, hardware, construct, registers) for x in (write, read))
    if a.layout.out_dims != b.layout.out_dims:
        raise LayoutError(
            f"{construct}: one writes a tile {a.layout.out_dims}, the other reads "
            f"{b.layout.out_dims}; both must have the same coordinates"
        )
    for access, what in ((a, "written"), (b, "read")):
        if not access.layout.is_surjective():
            raise LayoutError(f"{construct}: not every element of the tile is {what}")
    return a, b, element_bytes, hardware


def _common(a: LinearAccess, b: LinearAccess) -> list[int]:
    """A basis of what one instruction of each could move: made by registers of both, and changed by
    no lane and no warp of either."""
    both = f2.intersection(a.registers, b.registers)
    return f2.complement([*a.lanes, *a.others, *b.lanes, *b.others], both)


def _cost(
    memory: Linear, sides: Sequence[Side], element_bytes: int, gpu: SharedMemory
) -> tuple[int, int]:
    found = [wavefronts(x.after(memory), element_bytes, gpu, w) for x, w in sides]
    return sum(w for w, _ in found), sum(n for _, n in found)


# -- how it is made ------------------------------------------------------------------------------


def _vectors(
    wide: Side, narrow: Side, element_bytes: int, gpu: SharedMemory
) -> tuple[int, list[list[int]]]:
    """What the lowest bits of the offset stand for: how many of them both accesses move, as many as
    there can be, and the choices: those alone, then each time one more that the wide one moves."""
    one, other = wide[0], narrow[0]
    most = log2(gpu.widest // element_bytes)
    still = [*one.lanes, *one.others]  # what may not change the order of the wide one's registers
    either = [*still, *other.lanes, *other.others]
    vector = _common(one, other)[:most]
    # No sum of what only the wide one moves and of what lanes and warps change is a common one: its
    # bit would change in lanes of the narrow one.
    own = f2.intersection(one.registers, either)
    own += f2.complement([*vector, *either], one.registers)
    # Lanes of the narrow one that share a word leave it more banks; lanes that differ as lanes of the
    # wide one do, and what it moves within the word, leave it fewer.
    lanes = other.in_phase(gpu, element_bytes << len(vector), narrow[1])
    across = f2.intersection(one.registers, lanes)
    apart = f2.complement([*still, *lanes], own)
    more = f2.complement(still, [*across, *apart, *own])
    length = min(most - len(vector), len(more))
    return len(vector), [[*vector, *more[:bits]] for bits in range(length + 1)]


def _choices(written: Side, read: Side, element_bytes: int, gpu: SharedMemory) -> list[_Choice]:
    """All choices of the vector. Of the nested spaces that the lowest bits make, what both move is in
    both: only one of the two goes on."""
    found: list[_Choice] = []
    for wide, narrow in ((written, read), (read, written)):
        common, vectors = _vectors(wide, narrow, element_bytes, gpu)
        found += [_Choice(wide, narrow, v, common, element_bytes, gpu) for v in vectors]
    return found


@dataclass(frozen=True)
class _Choice:
    """A vector that the wide access moves; the narrow one moves the common bits of it."""

    wide: Side
    narrow: Side
    vector: list[int]
    common: int
    element_bytes: int
    gpu: SharedMemory

    @property
    def in_word(self) -> int:
        """The bits of the offset within a word."""
        return log2(max(1, self.gpu.bank_bytes // self.element_bytes))

    @property
    def in_row(self) -> int:
        """Those within a word of each bank."""
        return log2(self.gpu.banks * self.gpu.bank_bytes // self.element_bytes)

    @property
    def room(self) -> int:
        """The bits of in_row that the vector does not take."""
        return max(0, self.in_row - len(self.vector))

    @property
    def still(self) -> list[int]:
        """What may not change the order of the wide one's registers."""
        return [*self.wide[0].lanes, *self.wide[0].others]

    @cached_property
    def served(self) -> list[int]:
        """What the wide one's lanes change that are served together."""
        access, writes = self.wide
        return access.in_phase(self.gpu, self.element_bytes << len(self.vector), writes)

    @cached_property
    def lanes(self) -> list[int]:
        """What the narrow one's lanes change that are served together."""
        access, writes = self.narrow
        return access.in_phase(self.gpu, self.element_bytes << self.common, writes)

    @property
    def near(self) -> list[int]:
        """The bits of the vector that are none of the bank to the narrow one: it moves them, or they
        lie within a word."""
        return self.vector[: max(self.common, self.in_word)]

    @property
    def far(self) -> list[int]:
        """The others: what its lanes change of them takes it to other banks."""
        return self.vector[len(self.near) :]

    @property
    def least(self) -> int:
        """The wavefronts of both that no memory goes below, of those with so many bits that the wide
        one moves, and as many common ones.

        The index is a space of columns that no bit of the vector is in. It meets those that an access
        reaches in one phase where there are more of them than a row has places (Lemma 9.5).
        """
        reached = len(f2.complement(self.near, self.lanes))
        reached -= min(len(self.far), len(f2.complement([*self.still, *self.near], self.lanes)))
        one = self._alone(*self.wide, len(self.vector)) << max(0, len(self.served) - self.room)
        return one + (self._alone(*self.narrow, self.common) << max(0, reached - self.room))

    def _alone(self, access: LinearAccess, writes: bool, bits: int) -> int:
        """The wavefronts of an access without a conflict."""
        phases = access.phases(self.gpu, self.element_bytes << bits, writes)
        return phases << f2.rank(access.registers) - bits

    @property
    def memory(self) -> Linear:
        """A layout of the least wavefronts.

        Its inverse has as columns, from the lowest bit of the offset on: the vector, what shares a
        word with it, the bank, and the index within the bank.
        """
        one, other = self.wide[0], self.narrow[0]
        rest = f2.complement(
            self.vector,
            [*self.still, *self._turned(), *other.lanes, *other.others, *_row_major(one.layout)],
        )
        seen = f2.Echelon([*rest, *self.vector])

        def beside(v: int) -> int:
            """Without its part in the vector."""
            return f2.times(rest, (seen.solve(v) or 0) & (1 << len(rest)) - 1)

        shared = [*f2.intersection(one.lanes, [*map(beside, other.lanes)]), *one.lanes, *rest]
        word = f2.complement(self.vector, shared)[: max(0, self.in_word - len(self.vector))]
        # What the narrow one's lanes reach without a change of the far bits.
        lanes = f2.complement(
            [], [*f2.complement([*self.vector, *self.still], self.lanes), *self.lanes]
        )
        beyond = [(seen.solve(v) or 0) >> len(rest) + len(self.near) for v in lanes]
        reached = [beside(f2.times(lanes, x)) for x in f2.kernel(beyond)]
        size = len(rest) + len(self.vector) - self.in_row
        index = _away(rest, word, self.served, reached, size)
        bank = f2.complement([*word, *index], rest)
        columns = f2.inverse([*self.vector, *word, *bank, *index])
        if columns is None:
            raise InternalError("optimal_swizzle: the columns are no basis")
        return Linear._made(one.layout.outs, [("offset", len(columns))], columns)

    def _turned(self) -> list[int]:
        """What shall leave the vector alone: lanes of the narrow one with a far bit each, so that they
        change it, as many as would else have no bank of their own."""
        lanes = f2.complement([*self.vector, *self.still], self.lanes)
        bits = f2.complement([*self.near, *self.still, *self.lanes], self.far)
        changed = len(self.far) - len(bits)
        many = len(f2.complement(self.near, self.lanes)) - changed - self.room
        pairs = zip(lanes, bits, strict=False)
        return [a ^ b for a, b in pairs][: max(0, many)]


def _row_major(tile: Linear) -> list[int]:
    """The unit vectors of the tile's coordinates, the last coordinate's first."""
    found: list[int] = []
    start = sum(bits for _, bits in tile.outs)
    for _, bits in reversed(tile.outs):
        start -= bits
        found += [1 << start + k for k in range(bits)]
    return found


def _away(
    space: Sequence[int], taken: Sequence[int], one: Sequence[int], other: Sequence[int], size: int
) -> list[int]:
    """So many of the space, independent of what is taken, that span as little as they can of the one
    and of the other, both with what is taken (Lemma 9.5): what is in neither, then sums of an element
    of each, then what is not in the smaller one."""
    if size <= 0:
        return []
    shared = f2.complement(taken, f2.intersection([*taken, *one], [*taken, *other]))
    first = f2.complement([*taken, *shared], one)
    second = f2.complement([*taken, *shared], other)
    found = f2.complement([*taken, *one, *other], space)
    found += [a ^ b for a, b in zip(first, second, strict=False)]
    smaller = one if len(first) < len(second) else other
    found += f2.complement([*taken, *smaller, *found], space)
    found += f2.complement([*taken, *found], space)
    return found[:size]

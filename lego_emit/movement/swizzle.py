"""The memory layout under which two accesses cost least: swizzled, or padded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..algebra import f2
from ..algebra.linear import Linear
from ..errors import InternalError, LayoutError
from .access import called
from .conflicts import bank_conflicts, check_bytes
from .linear_access import LinearAccess, linear_access, log2, wavefronts
from .memories import NVIDIA, SharedMemory, memory_of


def optimal_swizzle(write: Any, read: Any, element_bytes: int = 4, *, gpu: Any = NVIDIA) -> Linear:
    """The memory layout, from coordinates to the offset of an element, through which a warp writes
    and reads a tile at the least cost (Zhou et al., ASPLOS 2026, sections 5.4 and 9.2).

    write, read: layouts from register, lane and warp to the coordinates of one tile, linear over F2.
    First both move as many elements an instruction as both can; then there are as few wavefronts as
    there can be, none of them for a conflict; then one of the two moves more where it costs the other
    nothing. swizzle_bound says what no layout goes below: it is reached, unless fewer lanes than a
    warp's take part, or some of them read the same, and then nearly always.

    Raises LayoutError where the two are not linear, or do not give one tile.
    """
    construct = called("optimal_swizzle", write, read, element_bytes)
    a, b, hardware = _prepared(write, read, element_bytes, gpu, construct)
    sides = written, read_ = (a, True), (b, False)
    pairs = (written, read_), (read_, written)
    found = (m for pair in pairs for m in _layouts(*pair, element_bytes, hardware))
    return min(found, key=lambda memory: _cost(memory, sides, element_bytes, hardware))


def swizzle_bound(
    write: Any, read: Any, element_bytes: int = 4, *, gpu: Any = NVIDIA
) -> tuple[int, int]:
    """(elements, wavefronts): no linear memory layout lets both accesses move more elements an
    instruction, and none that lets them do so has fewer wavefronts in sum.

    An instruction takes a wavefront for each phase, whatever the layout; one that moves less than a
    word moves at most a word.
    """
    construct = called("swizzle_bound", write, read, element_bytes)
    a, b, hardware = _prepared(write, read, element_bytes, gpu, construct)
    most = log2(hardware.widest // element_bytes)
    common = min(most, len(_common(a, b)))

    def least(access: LinearAccess, is_write: bool, bits: int) -> int:
        phases = access.phases(hardware, element_bytes << bits, is_write)
        return phases << f2.rank(access.registers) - bits

    def alone(access: LinearAccess, is_write: bool) -> int:
        own = f2.complement([*access.lanes, *access.others], access.registers)
        return min(least(access, is_write, bits) for bits in range(common, min(most, len(own)) + 1))

    # Of the nested spaces that the lowest bits make, what both move is in both: only one goes on.
    one = alone(a, True) + least(b, False, common)
    other = least(a, True, common) + alone(b, False)
    return 1 << common, min(one, other)


def optimal_padding(
    rows: int, columns: int, write: Any, read: Any, element_bytes: int = 4, *, gpu: Any = NVIDIA
) -> Any:
    """The pitch of rows, row-major, from columns on, at which the two accesses have the fewest
    wavefronts, as Strided((rows, columns), (pitch, 1)); of several the least. For sizes that are no
    powers of two, where nothing is swizzled."""
    from ..algebra.strided import Strided

    hardware = memory_of(gpu, "optimal_padding(..)")
    across = hardware.banks * hardware.bank_bytes // element_bytes

    def cost(pitch: int) -> tuple[int, int]:
        memory = Strided((rows, columns), (pitch, 1))
        costs = [
            bank_conflicts(memory, access, element_bytes, gpu=hardware, write=is_write).wavefronts
            for access, is_write in ((write, True), (read, False))
        ]
        return sum(costs), pitch

    return Strided((rows, columns), (min(map(cost, range(columns, columns + across)))[1], 1))


Side = tuple[LinearAccess, bool]  # an access, and whether it writes

# -- what is asked -------------------------------------------------------------------------------


def _prepared(
    write: Any, read: Any, element_bytes: Any, gpu: Any, construct: str
) -> tuple[LinearAccess, LinearAccess, SharedMemory]:
    hardware = memory_of(gpu, construct)
    check_bytes(element_bytes, hardware, construct)
    a, b = (linear_access(x, hardware, construct) for x in (write, read))
    if a.layout.out_dims != b.layout.out_dims:
        raise LayoutError(
            f"{construct}: one writes a tile {a.layout.out_dims}, the other reads "
            f"{b.layout.out_dims}; both must have the same coordinates"
        )
    for access, what in ((a, "written"), (b, "read")):
        if not access.layout.is_surjective():
            raise LayoutError(f"{construct}: not every element of the tile is {what}")
    return a, b, hardware


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


def _layouts(wide: Side, narrow: Side, element_bytes: int, gpu: SharedMemory) -> Iterator[Linear]:
    """Layouts whose lowest bits both accesses move at once, and the next ones the wide one: at least
    a word where it has one, and then one bit more in each layout, for as long as there are any."""
    one, other = wide[0], narrow[0]
    most = log2(gpu.widest // element_bytes)
    in_word = log2(max(1, gpu.bank_bytes // element_bytes))
    still = [*one.lanes, *one.others]  # what may not change the order of the wide one's registers

    vector = _common(one, other)[:most]
    common = len(vector)
    lanes = other.in_phase(gpu, element_bytes << common, narrow[1])
    # Within a word what only the wide one moves comes first; beyond it what the narrow one's lanes
    # differ in, which is a bit of the bank to them.
    across = f2.intersection(one.registers, lanes)
    own = f2.complement([*vector, *still, *across], one.registers)
    vector += f2.complement([*vector, *still], [*own, *across])[: max(0, in_word - common)]
    more = f2.complement([*vector, *still], [*across, *one.registers])
    for bits in range(min(most - len(vector), len(more)) + 1):
        yield _layout(wide, narrow, [*vector, *more[:bits]], common, element_bytes, gpu)


def _layout(
    wide: Side, narrow: Side, vector: list[int], common: int, element_bytes: int, gpu: SharedMemory
) -> Linear:
    """The layout whose lowest bits are the vector, which the wide access moves; the narrow one moves
    the common bits of it.

    Its inverse has as columns, from the lowest bit of the offset on: the vector, what shares a word
    with it, the bank, and the index within the bank.
    """
    (one, one_writes), (other, other_writes) = wide, narrow
    in_word = log2(max(1, gpu.bank_bytes // element_bytes))
    in_row = log2(gpu.banks * gpu.bank_bytes // element_bytes)
    still = [*one.lanes, *one.others]
    order = [*still, *other.lanes, *other.others, *_row_major(one.layout)]
    rest = f2.complement(vector, order)
    seen = f2.Echelon([*rest, *vector])

    def beside(v: int) -> int:
        """Without its part in the vector."""
        return f2.times(rest, (seen.solve(v) or 0) & (1 << len(rest)) - 1)

    shared = [*f2.intersection(one.lanes, [*map(beside, other.lanes)]), *one.lanes, *rest]
    word = f2.complement(vector, shared)[: max(0, in_word - len(vector))]
    index: list[int] = []
    if len(rest) + len(vector) > in_row:
        taken = [*vector[: max(common, in_word)], *word]
        served = one.in_phase(gpu, element_bytes << len(vector), one_writes)
        lanes = other.in_phase(gpu, element_bytes << common, other_writes)
        # Bits of the vector are paired with what neither lanes nor warps of the wide one change, as
        # long as there is such: else their sum would change the order of its registers.
        moved = f2.complement([*vector, *still], lanes)
        own = f2.complement([*taken, *lanes], vector)[: len(moved)]
        pairs = _away(rest, taken, [*own, *served, *vector], [*moved, *lanes])
        index = [a ^ (b if b in moved else beside(b)) for a, b in pairs]
        index = index[: len(rest) + len(vector) - in_row]
    bank = f2.complement([*vector, *word, *index], order)
    columns = f2.inverse([*vector, *word, *bank, *index])
    if columns is None:
        raise InternalError("optimal_swizzle: the columns are no basis")
    return Linear._made(one.layout.outs, [("offset", len(columns))], columns)


def _row_major(tile: Linear) -> list[int]:
    """The unit vectors of the tile's coordinates, the last coordinate's first."""
    found: list[int] = []
    start = sum(bits for _, bits in tile.outs)
    for _, bits in reversed(tile.outs):
        start -= bits
        found += [1 << start + k for k in range(bits)]
    return found


def _away(
    space: Sequence[int], taken: Sequence[int], one: Sequence[int], other: Sequence[int]
) -> list[tuple[int, int]]:
    """Pairs whose sums are a basis of a largest space that meets neither the one nor the other, modulo
    what is taken (Lemma 9.5): what is in none of them, with 0; and an element of each, in the order
    in which they are given."""
    shared = f2.complement(taken, f2.intersection([*taken, *one], [*taken, *other]))
    first = f2.complement([*taken, *shared], one)
    second = f2.complement([*taken, *shared], other)
    beyond = f2.complement([*taken, *one, *other], space)
    return [(c, 0) for c in beyond] + [*zip(first, second, strict=False)]

"""Gathers along an axis of a tile in registers: out[.., i, ..] = source[.., index[.., i, ..], ..].

After Zhou et al., ASPLOS 2026, section 5.5: where a warp holds the whole axis lanes shuffle all words
that may be meant, and choose; else, or where that costs more, the tile goes through shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

from ..algebra import f2
from ..algebra.labels import Dims, starts, width_of
from ..algebra.linear import Linear
from ..errors import LayoutError, brief, did_you_mean, short_repr
from ..files import write_if_changed
from ..numeric import is_integer
from ..plans.gather import Choice, Fetched, GatherPlan, Shuffled
from ..plans.pair import Pair
from ..plans.plan import MEMORY, SHUFFLES
from ..plans.steps import Barrier, Store, threads
from .access import LANE, called
from .conflicts import check_bytes
from .linear_access import log2
from .memories import NVIDIA, SharedMemory, memory_of
from .pair import pair_of
from .prices import (
    EXTRACT,
    FULLEST,
    OPERATION,
    SELECT,
    SHUFFLE,
    WAIT_WARP,
    WAVEFRONT,
    WAYS,
    overlapped,
    packing,
    waiting,
)
from .shuffles import WIDEST, WORD
from .staged import staged


@dataclass(frozen=True, repr=False)
class Gather(GatherPlan):
    """How threads that hold a tile and an index for each element get the elements that are meant, and
    the CUDA C device function that does it.

        >>> from lego_emit import hardware, movement
        >>> rows = hardware.blocked((1, 4), (8, 4), (1, 1))
        >>> "gather(" in movement.gather(rows, "dim1").source
        True
    """

    @cached_property
    def source(self) -> str:
        """The CUDA C file."""
        from .source import source

        return source(self)

    def save(self, path: str | PathLike[str]) -> bool:
        """Write the file (atomically; an unchanged one is left alone); True where it changed."""
        return write_if_changed(path, self.source)


@brief
def gather(
    layout: Linear,
    axis: str | int,
    element_bytes: int = 4,
    *,
    name: str = "gather",
    way: str | None = None,
    shared_bytes: int = 48 * 1024,
    gpu: Any = NVIDIA,
) -> Gather:
    """The cheapest plan that gathers along an axis of a tile in registers (Zhou et al., ASPLOS 2026,
    section 5.5), and the CUDA C device function of it.

    layout: of the tile, of the indices and of the result, from register, lane and warp to
    coordinates. axis: one of them, by name or number. An index lies in the tile: 0 up to the axis'
    size. The other options and the errors are those of convert.

        >>> from lego_emit import hardware, movement
        >>> rows = hardware.blocked((1, 4), (8, 4), (1, 1))
        >>> movement.gather(rows, "dim1")
        <plan gather: shared memory>
    """
    construct = called("gather", layout, axis, element_bytes)
    hardware = memory_of(gpu, construct)
    check_bytes(element_bytes, hardware, construct)
    if way is not None and way not in WAYS:
        raise LayoutError(
            f"{construct}: way is {short_repr(way)}; there are {' and '.join(map(repr, WAYS))}"
        )
    pair = pair_of(layout, layout, hardware, construct)
    if pair.tile != layout.outs:
        raise LayoutError(f"{construct}: the layout does not hold the whole tile")
    along, bits = _axis(layout, axis, construct)
    found = _within_warps(pair, bits, element_bytes)
    if found is None and way == SHUFFLES:
        raise LayoutError(
            f"{construct}: no warp holds the whole axis, or elements are wider than a shuffle; leave "
            f"way out, or give {MEMORY!r}"
        )
    size = element_bytes << width_of(pair.tile)
    priced = None if found is None else _price(found, element_bytes)
    if way == MEMORY or (way is None and (priced is None or priced > WAIT_WARP)):
        if size <= shared_bytes and pair.start.lanes:
            fetched, price = _through_memory(pair, bits, element_bytes, hardware)
            if way == MEMORY or priced is None or price <= priced:
                found, priced = fetched, price
        elif found is None or way == MEMORY:
            raise LayoutError(
                f"{construct}: the tile takes {size} bytes of the shared memory of a warp or block, and "
                f"there are {shared_bytes if pair.start.lanes else 'no lanes'}; give "
                f"shared_bytes={size} where there is as much"
            )
    assert found is not None and priced is not None
    return Gather(name, layout, along, element_bytes, found, priced, pair)


def _axis(layout: Linear, axis: Any, construct: str) -> tuple[str, list[int]]:
    """The name of the axis, and the bits of the tile that count along it."""
    names = [*layout.results]
    if is_integer(axis) and 0 <= axis < len(names):
        axis = names[axis]
    if axis not in names:
        raise LayoutError(
            f"{construct}: {short_repr(axis)} is not a coordinate; there are {', '.join(names)}."
            f"{did_you_mean(str(axis), names)}"
        )
    k = names.index(axis)
    first, (_, count) = starts(layout.outs)[k], layout.outs[k]
    return axis, [*range(first, first + count)]


def _price(plan: Shuffled, element_bytes: int) -> float:
    held = len(plan.groups) * len(plan.groups[0])
    each = OPERATION * _operations(plan.key.columns) + EXTRACT * (plan.inside > 0)
    if plan.moves:
        each += OPERATION * (_operations(plan.lane.columns) + 1)
    worked = SELECT * plan.selects + plan.chosen * each
    worked += packing(held, element_bytes, 1 << plan.inside)
    if element_bytes << plan.inside < WORD:
        worked += OPERATION * held  # the bits above an element are zero in a word
    return overlapped(SHUFFLE * plan.shuffles, worked)


def _linear(name: str, columns: Sequence[int], out: str, bits: int) -> Linear:
    return Linear._made([(name, len(columns))], [(out, bits)], columns)


def _within_warps(pair: Pair, axis: Sequence[int], element_bytes: int) -> Shuffled | None:
    """The gather that leaves no warp, where there is one."""
    own = [(1 << k, pair.start.registers[k]) for k in f2.Echelon(pair.start.registers).pivots]
    masks, columns = [m for m, _ in own], [c for _, c in own]
    lanes = pair.start.lanes
    echelon = f2.Echelon([*columns, *lanes])
    moved = [echelon.minimal(1 << bit) for bit in axis]
    if any(x is None for x in moved):
        return None
    steps = [x or 0 for x in moved]
    registers = [f2.times(masks, x & (1 << len(own)) - 1) for x in steps]
    across = [x >> len(own) for x in steps]  # the lanes that each bit of the index moves by
    basis = [registers[k] for k in f2.Echelon(registers).pivots]
    keys = f2.Echelon(basis)
    key = [keys.solve(r) or 0 for r in registers]
    inside = min(len(basis), log2(max(1, WORD // element_bytes)))

    def along(column: int) -> int:
        return sum((column >> bit & 1) << k for k, bit in enumerate(axis))

    # The first register of a group stands for it.
    whole = f2.Echelon([*basis, *f2.complement(basis, masks)])
    low = (1 << len(basis)) - 1
    first: dict[int, int] = {}
    same = _same(pair.start.registers)
    choices = []
    known = f2.Echelon(pair.start.registers)
    for register in range(1 << len(pair.start.registers)):
        image = f2.times(pair.start.registers, register)
        parts = whole.solve(known.solve(image) or 0) or 0
        group = first.setdefault(parts >> len(basis), len(first))
        moves = along(image)
        choices.append(
            Choice(
                same[register], group, f2.times(across, moves), (parts & low) ^ f2.times(key, moves)
            )
        )
    beyond = f2.complement(basis, masks)
    groups = tuple(
        tuple(f2.times(beyond, g) ^ f2.times(basis, n) for n in range(1 << len(basis)))
        for g in first
    )
    start = [1 << k ^ f2.times(across, along(c)) for k, c in enumerate(lanes)]
    others = [f2.times(across, along(c)) for c in pair.start.warps]
    by_thread = [[f2.times(key, along(c)) for c in held] for held in (lanes, pair.start.warps)]
    moves = any(across) or any(x != 1 << k for k, x in enumerate(start)) or any(others)
    if element_bytes > WIDEST:
        return None
    return Shuffled(
        groups,
        inside,
        tuple(choices),
        _linear("index", across, LANE, len(lanes)),
        _linear("index", key, "key", len(basis)),
        threads((start, others), LANE, len(lanes)),
        threads(by_thread, "key", len(basis)),
        moves,
        max(1, element_bytes // WORD),
    )


def _through_memory(
    pair: Pair, axis: Sequence[int], element_bytes: int, gpu: SharedMemory
) -> tuple[Fetched, float]:
    """The gather of a tile that is stored as it is converted to itself, or row by row, where an index is a part of the
    offset as it stands."""
    found = [
        _fetched(pair, axis, element_bytes, gpu, memory) for memory in (None, _by_rows(pair.tile))
    ]
    return min(found, key=lambda one: one[1])


def _by_rows(tile: Dims) -> Linear:
    """The tile's memory whose last coordinate is the fastest."""
    columns, below = [], width_of(tile)
    for _, bits in tile:
        below -= bits
        columns += [1 << below + k for k in range(bits)]
    return Linear._made(tile, [("offset", width_of(tile))], columns)


def _fetched(
    pair: Pair,
    axis: Sequence[int],
    element_bytes: int,
    gpu: SharedMemory,
    memory: Linear | None,
) -> tuple[Fetched, float]:
    """Through one memory, and its price."""
    made = staged(pair, element_bytes, gpu, memory)
    offsets = made.memory.columns
    along = sum(1 << bit for bit in axis)
    bits = width_of(made.memory.outs)

    def beside(columns: Sequence[int]) -> list[int]:
        return [f2.times(offsets, c & ~along) for c in columns]

    held = pair.start
    fixed = beside(held.registers)
    constants = tuple(f2.times(fixed, r) for r in range(1 << len(fixed)))
    start = threads((beside(held.lanes), beside(held.warps)), "offset", bits)
    store = made.steps[0]
    assert isinstance(store, Store)
    reached = f2.Echelon([*held.registers, *held.lanes])
    within = not store.idle and all(reached.solve(1 << bit) is not None for bit in axis)
    barrier = Barrier(block=not within)
    moved = [offsets[bit] for bit in axis]
    at = _linear("index", moved, "offset", bits)
    plan = Fetched(
        (store, barrier), at, start, constants, tuple(_same(held.registers)), made.memory
    )
    loads = 1 << f2.rank(held.registers)
    served = WAVEFRONT * _fullest([*moved, *beside(held.lanes)], element_bytes, gpu)
    placed = OPERATION * (_operations(moved, plan.is_added) + 1)
    together = len(store.vectors[0][1])
    packed = packing(len(store.vectors) * together, element_bytes, together)
    price = overlapped(WAVEFRONT * made.stored + loads * served, loads * placed + packed)
    return plan, price + waiting(barrier.block)


def _fullest(columns: Sequence[int], element_bytes: int, gpu: SharedMemory) -> float:
    """The wavefronts of a load at random among the offsets that these columns make: half of the words that they have
    in a bank meet."""
    words = [c * element_bytes // gpu.bank_bytes for c in columns]
    excess = f2.rank(words) - f2.rank([w & gpu.banks - 1 for w in words])
    return min(FULLEST, (1 + (1 << excess)) / 2)


def _operations(columns: Sequence[int], added: bool = False) -> int:
    """Of moving an index's bits to these places: a shift where they stay side by side, none where it comes with what
    is added; else for each part that does a shift and one that masks and joins."""
    moved = {k: c for k, c in enumerate(columns) if c}
    parts = sum(c != 2 * moved.get(k - 1, 0) for k, c in moved.items())
    stay = added or all(c == 1 << k for k, c in moved.items())
    return 2 * parts - 1 if parts > 1 else int(not stay)


def _same(registers: Sequence[int]) -> list[int]:
    """For each register the first one that holds the same."""
    first: dict[int, int] = {}
    images = [f2.times(registers, register) for register in range(1 << len(registers))]
    return [first.setdefault(image, register) for register, image in enumerate(images)]

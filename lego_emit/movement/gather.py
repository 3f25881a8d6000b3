"""Gathers along an axis of a tile in registers: out[.., i, ..] = source[.., index[.., i, ..], ..].

After Zhou et al., ASPLOS 2026, section 5.5: where a warp holds the whole axis lanes shuffle all words
that may be meant, and choose; else, or where that costs more, the tile goes through shared memory.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from os import PathLike
from typing import Any

from ..algebra import f2
from ..algebra.labels import Dims, starts, width_of
from ..algebra.linear import Linear
from ..errors import LayoutError, brief, did_you_mean, short_repr
from ..files import write_if_changed
from ..numeric import is_integer
from ..plans.gather import MOST_PERMUTED, Choice, Fetched, GatherPlan, Shuffled
from ..plans.pair import KNOWN, Pair
from ..plans.plan import MEMORY, SHUFFLES
from ..plans.steps import Barrier, Store, threads
from .access import LANE, called
from .conflicts import checked_bytes, wavefronts_of
from .linear_access import log2
from .memories import NVIDIA, SharedMemory, memory_of
from .pair import check_way, pair_of
from .prices import (
    DRAWS,
    EXTRACT,
    OPERATION,
    SELECT,
    SHUFFLE,
    WAIT_WARP,
    WAVEFRONT,
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
    element_bytes = checked_bytes(element_bytes, hardware, construct)
    check_way(way, shared_bytes, construct)
    pair = pair_of(layout, layout, hardware, construct)
    if pair.tile != layout.outs:
        raise LayoutError(
            f"{construct}: the layout does not hold the whole tile {layout.out_dims}; resize_out leaves the "
            "part that it holds, as one block's"
        )
    along, bits = _axis(layout, axis, construct)
    _check_others(layout, along, construct)
    first = layout.start & sum(1 << bit for bit in bits)
    within = _within_warps(pair, bits, element_bytes, first)
    priced, found = min(
        ((_price(one, element_bytes), one) for one in within),
        key=lambda one: one[0],
        default=(inf, None),
    )
    if found is None and way == SHUFFLES:
        raise LayoutError(
            f"{construct}: no warp holds the whole axis, or elements are wider than a shuffle; leave "
            f"way out, or give {MEMORY!r}"
        )
    size = element_bytes << width_of(pair.tile)
    if way == MEMORY or (way is None and priced > WAIT_WARP):
        if size <= shared_bytes and pair.start.lanes:
            fetched, price = _through_memory(pair, bits, element_bytes, hardware, first)
            if way == MEMORY or price <= priced:
                found, priced = fetched, price
        elif found is None or way == MEMORY:
            raise LayoutError(
                f"{construct}: the tile takes {size} bytes of the shared memory of a warp or block, and "
                f"there are {shared_bytes if pair.start.lanes else 'no lanes'}; give "
                f"shared_bytes={size} where there is as much"
            )
    assert found is not None
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


def _check_others(layout: Linear, axis: str, construct: str) -> None:
    """Raise LayoutError where what is neither register, lane nor warp moves along the axis: no thread knows
    what it adds to an index."""
    at = layout.results.index(axis)
    for name, images in layout.bases.items():
        if name not in KNOWN and any(image[at] for image in images):
            raise LayoutError(
                f"{construct}: {name} moves along {axis}, and each {name} gathers of its own tile; give "
                "the layout of one, and indices that count from its first element"
            )


def _price(plan: Shuffled, element_bytes: int) -> float:
    held = len(plan.groups) * len(plan.groups[0])
    each = OPERATION * _operations(plan.key.columns)
    worked = packing(held, element_bytes, 1 << plan.inside)
    if plan.together > 1:
        permuted = 1 if plan.words == plan.at_once else 6
        spread = element_bytes > 1 or (2 if plan.words > 1 and plan.inside == 1 else 0)
        joined = plan.together - 1 + any(plan.own.columns) + spread + permuted
        return overlapped(
            SHUFFLE * plan.shuffles, worked + held * (each + OPERATION * joined / plan.together)
        )
    each += EXTRACT * (plan.inside > 0)
    if plan.moves:
        each += OPERATION * (_operations(plan.lane.columns) + 1)
    if plan.selects:
        each += OPERATION * log2(plan.words // plan.at_once)  # what the bits of a key say
    worked += SELECT * plan.selects + plan.chosen * each
    if element_bytes << plan.inside < WORD:
        worked += OPERATION * held  # the bits above an element are zero in a word
    return overlapped(SHUFFLE * plan.shuffles, worked)


def _linear(name: str, columns: Sequence[int], out: str, bits: int) -> Linear:
    return Linear._made([(name, len(columns))], [(out, bits)], columns)


def _within_warps(
    pair: Pair, axis: Sequence[int], element_bytes: int, first_index: int
) -> Iterator[Shuffled]:
    """The gathers that leave no warp, where there are any: each element is read of the lane that
    holds it, or a lane reads the few words that all of them may be in, and permutes. first_index:
    what the layout's offset adds along the axis."""
    own = [(1 << k, pair.start.registers[k]) for k in f2.Echelon(pair.start.registers).pivots]
    masks, columns = [m for m, _ in own], [c for _, c in own]
    lanes = pair.start.lanes
    echelon = f2.Echelon([*columns, *lanes])
    moved = [echelon.minimal(1 << bit) for bit in axis]
    if any(x is None for x in moved) or element_bytes > WIDEST:
        return
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
    first: dict[int, int] = {}
    known = f2.Echelon(pair.start.registers)
    images = [f2.times(pair.start.registers, r) for r in range(1 << len(pair.start.registers))]
    held = [whole.solve(known.solve(image) or 0) or 0 for image in images]
    group = [first.setdefault(parts >> len(basis), len(first)) for parts in held]
    beyond = f2.complement(basis, masks)
    groups = tuple(
        tuple(f2.times(beyond, g) ^ f2.times(basis, n) for n in range(1 << len(basis)))
        for g in first
    )
    same, low = _same(pair.start.registers), (1 << len(basis)) - 1

    def shuffled(lane: list[int], key: list[int], gathered: Sequence[int]) -> Shuffled:
        """lane, key: what each bit of the index adds to them."""

        def by_thread(columns: list[int], own: bool) -> tuple[list[int], list[int]]:
            found = [[f2.times(columns, along(c)) for c in h] for h in (lanes, pair.start.warps)]
            return [c ^ own << k for k, c in enumerate(found[0])], found[1]

        choices = [
            Choice(
                same[r],
                group[r],
                f2.times(lane, along(image ^ first_index)),
                (held[r] & low) ^ f2.times(key, along(image ^ first_index)),
            )
            for r, image in enumerate(images)
        ]
        bits, source = len(basis) + log2(len(gathered)), by_thread(lane, True)
        moves = any(lane) or source != (f2.identity(len(lanes)), [0] * len(pair.start.warps))
        return Shuffled(
            groups,
            inside,
            tuple(choices),
            _linear("index", lane, LANE, len(lanes)),
            _linear("index", key, "key", bits),
            threads(source, LANE, len(lanes)),
            threads(by_thread(key, False), "key", bits),
            moves,
            max(1, element_bytes // WORD),
            tuple(gathered),
        )

    yield shuffled(across, key, (0,))
    others = [across[k] for k in f2.Echelon(across).pivots]
    if others and inside and 1 << len(basis) - inside + len(others) <= MOST_PERMUTED:
        beside = f2.Echelon(others)
        whole_key = [
            k | (beside.solve(x) or 0) << len(basis) for k, x in zip(key, across, strict=True)
        ]
        gathered = [f2.times(others, k) for k in range(1 << len(others))]
        yield shuffled([0] * len(axis), whole_key, gathered)


def _through_memory(
    pair: Pair, axis: Sequence[int], element_bytes: int, gpu: SharedMemory, first_index: int
) -> tuple[Fetched, float]:
    """The gather of a tile that is stored as it is converted to itself, row by row, where an index is a part of the
    offset as it stands, or by lanes."""
    inside = log2(max(1, gpu.bank_bytes // element_bytes))
    memories = None, _by_rows(pair.tile), _by_lanes(pair, axis, inside)
    found = [_fetched(pair, axis, element_bytes, gpu, memory, first_index) for memory in memories]
    return min(found, key=lambda one: one[1])


def _by_rows(tile: Dims) -> Linear:
    """The tile's memory whose last coordinate is the fastest."""
    columns, below = [], width_of(tile)
    for _, bits in tile:
        below -= bits
        columns += [1 << below + k for k in range(bits)]
    return Linear._made(tile, [("offset", width_of(tile))], columns)


def _by_lanes(pair: Pair, axis: Sequence[int], inside: int) -> Linear:
    """The tile's memory that gives each lane a bank for what it holds: only lanes that ask for elements of one
    lane can meet in a bank. inside: the bits of a word's elements, those beside the axis first."""
    held, along = pair.start, sum(1 << bit for bit in axis)
    registers, lanes = (
        sorted(columns, key=lambda c: bool(c & along)) for columns in (held.registers, held.lanes)
    )
    word = f2.complement([], registers)[:inside]
    rest = [*(1 << bit for bit in axis), *f2.identity(width_of(pair.tile))]
    columns = f2.inverse(f2.complement([], [*word, *lanes, *rest]))
    assert columns is not None
    return Linear._made(pair.tile, [("offset", len(columns))], columns)


def _fetched(
    pair: Pair,
    axis: Sequence[int],
    element_bytes: int,
    gpu: SharedMemory,
    memory: Linear | None,
    first_index: int,
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
    first = f2.times(offsets, first_index)
    constants = tuple(first ^ f2.times(fixed, r) for r in range(1 << len(fixed)))
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
    served = WAVEFRONT * _served(moved, beside(held.lanes), element_bytes, gpu)
    placed = OPERATION * (_operations(moved, plan.is_added) + 1)
    together = len(store.vectors[0][1])
    packed = packing(len(store.vectors) * together, element_bytes, together)
    price = overlapped(WAVEFRONT * made.stored + loads * served, loads * placed + packed)
    return plan, price + waiting(barrier.block)


def _served(
    moved: Sequence[int], lanes: Sequence[int], element_bytes: int, gpu: SharedMemory
) -> float:
    """The wavefronts of a load on average, of indices at random. moved, lanes: what bits of an index and of a lane
    add to the offset."""
    rng, total = random.Random(0), 0
    starts = [f2.times(lanes, lane) for lane in range(1 << len(lanes))]
    for _ in range(DRAWS):
        asked = [at ^ f2.times(moved, rng.getrandbits(len(moved))) for at in starts]
        places = {lane: offset * element_bytes for lane, offset in enumerate(asked)}
        total += wavefronts_of(places, element_bytes, gpu, write=False)
    return total / DRAWS


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

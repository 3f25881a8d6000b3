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

import numpy as np

from ..algebra import f2
from ..algebra.labels import starts, width_of
from ..algebra.linear import Linear
from ..errors import LayoutError, nearest, shown
from ..files import write_if_changed
from ..kinds import is_integer
from .access import LANE
from .conflicts import check_bytes
from .linear_access import log2
from .memories import NVIDIA, SharedMemory, memory_of
from .pair import Pair, pair_of
from .plan import MEMORY, REGISTERS, SHUFFLES
from .prices import FULLEST, SELECT, SHUFFLE, WAIT, WAVEFRONT, WAYS
from .shuffles import WIDEST, WORD
from .staged import staged
from .steps import Barrier, State, Step, Store, counted, threads


@dataclass(frozen=True)
class Choice:
    """Where a register's element may be, beside its index.

    same: the first register that holds the same, and gets the same; group: of the words that it may
    be in; lane: added to the source's lane; key: added to the number of the element in the group.
    """

    same: int
    group: int
    lane: int
    key: int


@dataclass(frozen=True)
class Shuffled:
    """A gather within warps. Register r takes of the group choices[r].group the element `key` of the
    lane `source`; each is what the index, the thread and the register say, added.

    groups: the registers of each, those of a word side by side; inside: how many bits of the key count
    the elements of a word; lane, key: of the index; start, own: of lane and warp; moves: whether other lanes are read.
    """

    groups: tuple[tuple[int, ...], ...]
    inside: int
    choices: tuple[Choice, ...]
    lane: Linear
    key: Linear
    start: Linear
    own: Linear
    moves: bool
    units: int

    @property
    def words(self) -> int:
        """Of a group."""
        return len(self.groups[0]) >> self.inside

    @property
    def chosen(self) -> int:
        """How many registers are chosen."""
        return len({choice.same for choice in self.choices})

    @property
    def shuffles(self) -> int:
        """Instructions that read another lane's register."""
        return self.moves * self.chosen * self.words * self.units

    @property
    def selects(self) -> int:
        """Instructions that choose between two registers."""
        return self.chosen * (self.words - 1) * self.units

    def run(self, values: np.ndarray, index: np.ndarray) -> np.ndarray:
        """What the threads hold after it. values, index: arrays (warps, lanes, registers)."""
        state = State(values[..., None])
        start, own = state.threads(self.start), state.threads(self.own)
        groups = np.array(self.groups)
        made = np.zeros_like(values)
        warp = np.arange(values.shape[0])[:, None]
        for register, choice in enumerate(self.choices):
            at = index[:, :, register]
            lane = start ^ np.asarray(self.lane.reference_apply((at,))) ^ choice.lane
            key = own ^ np.asarray(self.key.reference_apply((at,))) ^ choice.key
            made[:, :, register] = values[warp, lane, groups[choice.group][key]]
        return made

    def __str__(self) -> str:
        words = f"{counted(self.words, 'word')} of {counted(1 << self.inside, 'element')}"
        what = f"shuffle {words} and choose" if self.moves else f"choose of {words}"
        return f"{counted(self.chosen, 'time')}: {what}"


@dataclass(frozen=True)
class Fetched:
    """A gather through shared memory: register r is the element at the offset that the index, the
    thread and the register say, added without carry. same: the first register that holds the same."""

    steps: tuple[Step, ...]
    at: Linear
    start: Linear
    constants: tuple[int, ...]
    same: tuple[int, ...]
    memory: Linear

    def run(self, values: np.ndarray, index: np.ndarray) -> np.ndarray:
        """As Shuffled.run."""
        state = State(values[..., None])
        for step in self.steps:
            step.run(state)
        start = state.threads(self.start)
        made = np.zeros_like(values)
        for register, constant in enumerate(self.constants):
            at = np.asarray(self.at.reference_apply((index[:, :, register],)))
            made[:, :, register] = state.memory[start ^ at ^ constant]
        return made

    def __str__(self) -> str:
        loads = len({*self.same})
        return "\n  ".join(
            [*map(str, self.steps), f"{counted(loads, 'load')} of an element, where the index says"]
        )


@dataclass(frozen=True)
class Gather:
    """How threads that hold a tile and an index for each element get the elements that are meant, and
    the CUDA C device function that does it. axis: the coordinate that the index is of."""

    name: str
    layout: Linear
    axis: str
    element_bytes: int
    plan: Shuffled | Fetched
    price: float
    pair: Pair

    @property
    def kind(self) -> str:
        """ "registers" where each lane holds all that it may ask for, "shuffles" where its warp does,
        or "shared memory"."""
        if isinstance(self.plan, Fetched):
            return MEMORY
        return SHUFFLES if self.plan.moves else REGISTERS

    @property
    def shuffles(self) -> int:
        """Shuffle instructions."""
        return self.plan.shuffles if isinstance(self.plan, Shuffled) else 0

    @property
    def selects(self) -> int:
        """Instructions that choose between two registers."""
        return self.plan.selects if isinstance(self.plan, Shuffled) else 0

    @property
    def stores(self) -> int:
        """Stores to shared memory."""
        return sum(len(s.vectors) for s in self.steps if isinstance(s, Store))

    @property
    def loads(self) -> int:
        """Loads from shared memory."""
        return len({*self.plan.same}) if isinstance(self.plan, Fetched) else 0

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is done before the loads from shared memory."""
        return self.plan.steps if isinstance(self.plan, Fetched) else ()

    @property
    def shared_bytes(self) -> int:
        """The shared memory that it uses."""
        if isinstance(self.plan, Shuffled):
            return 0
        return self.plan.memory.physical_size * self.element_bytes

    @property
    def registers(self) -> int:
        """How many elements a thread holds."""
        return 1 << len(self.pair.start.registers)

    @property
    def lanes(self) -> int:
        """The lanes of a warp; 1 where each thread is alone."""
        return 1 << len(self.pair.start.lanes)

    @property
    def warps(self) -> int:
        """The warps that take part."""
        return 1 << len(self.pair.start.warps)

    @cached_property
    def source(self) -> str:
        """The CUDA C file."""
        from .gather_text import source

        return source(self)

    def save(self, path: str | PathLike[str]) -> bool:
        """Write the file (atomically; an unchanged one is left alone); True where it changed."""
        return write_if_changed(path, self.source)

    def run(self, values: Any, index: Any) -> np.ndarray:
        """What the threads hold after it. values, index: arrays (warps, lanes, registers)."""
        wanted = (self.warps, self.lanes, self.registers)
        given = np.asarray(values), np.asarray(index)
        for array in given:
            if array.shape != wanted:
                raise LayoutError(
                    f"{self.name}: an array has the shape {array.shape}, and (warps, lanes, "
                    f"registers) are {wanted}"
                )
        return self.plan.run(*given)

    def __str__(self) -> str:
        head = (
            f"{self.name}: {self.kind}; elements of {self.element_bytes} bytes along {self.axis}, "
            f"{self.registers} a thread, lanes {self.lanes}, warps {self.warps}"
        )
        return f"{head}\n  {self.plan}"


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
    """
    construct = f"gather({shown(layout)}, {shown(axis)}, {shown(element_bytes)})"
    hardware = memory_of(gpu, construct)
    check_bytes(element_bytes, hardware, construct)
    if way is not None and way not in WAYS:
        raise LayoutError(
            f"{construct}: way is {shown(way)}; there are {' and '.join(map(repr, WAYS))}"
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
    priced = None if found is None else _price(found)
    if way == MEMORY or (way is None and (priced is None or priced > WAIT)):
        if size <= shared_bytes and pair.start.lanes:
            fetched, price = _through_memory(pair, bits, element_bytes, hardware)
            if way == MEMORY or priced is None or price < priced:
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
            f"{construct}: {shown(axis)} is no coordinate; there are {', '.join(names)}."
            f"{nearest(str(axis), names)}"
        )
    k = names.index(axis)
    first, (_, count) = starts(layout.outs)[k], layout.outs[k]
    return axis, [*range(first, first + count)]


def _price(plan: Shuffled) -> float:
    return SHUFFLE * plan.shuffles + SELECT * plan.selects


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
    """The gather of a tile that is stored as it is converted to itself."""
    made = staged(pair, element_bytes, gpu)
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
    # What lanes ask for is not known: 32 of them at random.
    loads = (1 << f2.rank(held.registers)) * FULLEST
    price = WAVEFRONT * (made.stored + loads) + WAIT
    at = _linear("index", [offsets[bit] for bit in axis], "offset", bits)
    same = tuple(_same(held.registers))
    return Fetched((store, barrier), at, start, constants, same, made.memory), price


def _same(registers: Sequence[int]) -> list[int]:
    """For each register the first one that holds the same."""
    first: dict[int, int] = {}
    images = [f2.times(registers, register) for register in range(1 << len(registers))]
    return [first.setdefault(image, register) for register, image in enumerate(images)]

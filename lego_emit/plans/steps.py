"""The steps of a plan that moves the registers of threads, as data: counted, run and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..algebra.linear import Linear
from ..hardware import LANE, WARP
from ..packages import numpy as np


@dataclass
class State:
    """What a block holds while a plan runs. values: an array (warps, lanes, registers, elements of a
    register); memory: the shared memory's elements."""

    values: np.ndarray
    memory: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def threads(self, of: Linear) -> np.ndarray:
        """A linear function of lane and warp, at every thread: (warps, lanes)."""
        warps, lanes = np.indices(self.values.shape[:2])
        found = of.reference_apply((lanes, warps))
        return np.broadcast_to(np.asarray(found), lanes.shape)


@dataclass(frozen=True)
class Step:
    """One step of a plan. Its counts are a thread's instructions."""

    @property
    def selects(self) -> int:
        """Instructions that choose between two registers."""
        return 0

    @property
    def shuffles(self) -> int:
        """Instructions that read another lane's register."""
        return 0

    def run(self, state: State) -> None:
        """Do it in all threads."""
        raise NotImplementedError


@dataclass(frozen=True)
class Take(Step):
    """Registers in another order; some may be left out, some taken several times."""

    registers: tuple[int, ...]

    def run(self, state: State) -> None:
        """Names change, and nothing moves."""
        state.values = state.values[:, :, [*self.registers]]

    def __str__(self) -> str:
        return f"take {_registers(self.registers)}"


@dataclass(frozen=True)
class Pack(Step):
    """Consecutive elements become one word."""

    elements: int

    def run(self, state: State) -> None:
        """Each word holds so many elements."""
        warps, lanes, count = state.values.shape[:3]
        state.values = state.values.reshape(warps, lanes, count // self.elements, self.elements)

    def __str__(self) -> str:
        return f"pack {counted(self.elements, 'element')} into each word"


@dataclass(frozen=True)
class Unpack(Step):
    """Words become their elements."""

    def run(self, state: State) -> None:
        """The inverse of Pack."""
        warps, lanes = state.values.shape[:2]
        state.values = state.values.reshape(warps, lanes, -1, 1)

    def __str__(self) -> str:
        return "unpack the words"


@dataclass(frozen=True)
class Swap(Step):
    """The registers k and k ^ by change places in the threads of which a mask has an odd number of
    bits.

    lane, warp: the mask; outputs: the registers that are used later; units: instructions for each.
    """

    lane: int
    warp: int
    by: int
    outputs: tuple[int, ...]
    units: int = 1

    @property
    def selects(self) -> int:
        """One for each register that is used."""
        return len(self.outputs) * self.units

    @property
    def inputs(self) -> tuple[int, ...]:
        """The registers that are read."""
        return tuple(sorted({k ^ d for k in self.outputs for d in (0, self.by)}))

    def run(self, state: State) -> None:
        """Registers that are not used are zero then."""
        warps, lanes = state.values.shape[:2]
        odd = np.zeros((warps, lanes), dtype=bool)
        for warp in range(warps):
            for lane in range(lanes):
                bits = (lane & self.lane).bit_count() + (warp & self.warp).bit_count()
                odd[warp, lane] = bits % 2
        made = np.zeros_like(state.values)
        for k in self.outputs:
            other = state.values[:, :, k ^ self.by]
            made[:, :, k] = np.where(odd[:, :, None], other, state.values[:, :, k])
        state.values = made

    def __str__(self) -> str:
        masks = [f"{n} & {m}" for n, m in ((LANE, self.lane), (WARP, self.warp)) if m]
        one = (self.lane.bit_count(), self.warp.bit_count()) in ((1, 0), (0, 1))
        where = f"{masks[0]} is set" if one else f"{' and '.join(masks)} have an odd number of bits"
        return f"swap words k and k ^ {self.by} where {where}: {counted(self.selects, 'select')}"


@dataclass(frozen=True)
class Shuffle(Step):
    """Word k becomes the word words[k] of the lane `source ^ lanes[k]` of the same warp.

    source: from lane and warp to a lane; stays: whether that is the lane itself, so that a constant
    of 0 moves nothing; units: instructions for each word.
    """

    source: Linear
    words: tuple[int, ...]
    lanes: tuple[int, ...]
    stays: bool
    units: int = 1

    @property
    def rounds(self) -> int:
        """The words that come from another lane."""
        return sum(1 for lane in self.lanes if lane or not self.stays)

    @property
    def shuffles(self) -> int:
        """The words that come from another lane, in instructions."""
        return self.rounds * self.units

    def run(self, state: State) -> None:
        """All words at once."""
        source = state.threads(self.source)
        made = [
            np.take_along_axis(state.values[:, :, word], (source ^ lane)[:, :, None], axis=1)
            for word, lane in zip(self.words, self.lanes, strict=True)
        ]
        state.values = np.stack(made, axis=2)

    def __str__(self) -> str:
        where = "the own lane" if self.stays else "source"
        moved = [
            f"word {word} of {where} ^ {lane}" if lane else f"word {word} of {where}"
            for word, lane in zip(self.words, self.lanes, strict=True)
        ]
        said = f"{counted(self.rounds, 'round')} of shuffles: {_some(moved)}"
        if self.stays:
            return said
        bases = {n: [x for (x,) in images] for n, images in self.source.bases.items() if images}
        return f"{said}; source: {bases}"


@dataclass(frozen=True)
class Vectors(Step):
    """Instructions that move registers to or from shared memory: as many elements as each has
    registers.

    at: from lane and warp to an offset in elements; vectors: for each instruction a constant that is
    added to it without carry, and the registers.
    """

    at: Linear
    vectors: tuple[tuple[int, tuple[int, ...]], ...]
    element_bytes: int

    @property
    def width(self) -> int:
        """The bytes that each instruction moves."""
        return self.element_bytes * len(self.vectors[0][1])

    def _said(self, verb: str) -> str:
        count = len(self.vectors)
        moved = [f"{_registers(r)} at {constant}" for constant, r in self.vectors]
        return f"{counted(count, verb)} of {counted(self.width, 'byte')}: {_some(moved)}"


@dataclass(frozen=True)
class Store(Vectors):
    """Registers to shared memory. idle: bits of warp; a warp that has one of them set holds what
    another one stores."""

    idle: int = 0

    def run(self, state: State) -> None:
        """The memory is as large as the tile."""
        size = self.at.physical_dims[0]
        state.memory = np.zeros(size, dtype=state.values.dtype)
        start = state.threads(self.at)
        for warp in range(start.shape[0]):
            if warp & self.idle:
                continue
            for constant, registers in self.vectors:
                for k, register in enumerate(registers):
                    state.memory[(start[warp] ^ constant) + k] = state.values[warp, :, register, 0]

    def __str__(self) -> str:
        idle = f", but in warps with {WARP} & {self.idle}" if self.idle else ""
        return self._said("store") + idle


@dataclass(frozen=True)
class Barrier(Step):
    """All threads wait for each other: those of the block, or of a warp."""

    block: bool

    def run(self, state: State) -> None:
        """Each step is done in all threads before the next one is."""

    def __str__(self) -> str:
        return f"wait for the {'block' if self.block else 'warp'}"


@dataclass(frozen=True)
class Load(Vectors):
    """Shared memory to registers."""

    def run(self, state: State) -> None:
        """Read the registers that the instructions name from memory; no others are left."""
        start = state.threads(self.at)
        count = sum(len(registers) for _, registers in self.vectors)
        made = np.zeros((*start.shape, count, 1), dtype=state.values.dtype)
        for constant, registers in self.vectors:
            for k, register in enumerate(registers):
                made[:, :, register, 0] = state.memory[(start ^ constant) + k]
        state.values = made

    def __str__(self) -> str:
        return self._said("load")


def run(steps: Sequence[Step], values: np.ndarray) -> np.ndarray:
    """What the threads hold after a plan. values: an array (warps, lanes, registers)."""
    state = State(values[..., None])
    for step in steps:
        step.run(state)
    return state.values[..., 0]


def threads(columns: Sequence[Sequence[int]], out: str, bits: int) -> Linear:
    """A linear function of lane and warp to so many bits. columns: of lane, of warp."""
    ins = [(n, len(own)) for n, own in zip((LANE, WARP), columns, strict=True)]
    return Linear._made(ins, [(out, bits)], [c for own in columns for c in own])


def _registers(numbers: Sequence[int]) -> str:
    """Registers as text, a run of them by its ends."""
    first = [*range(numbers[0], numbers[0] + len(numbers))]
    if len(numbers) > 2 and [*numbers] == first:
        return f"registers {first[0]} to {first[-1]}"
    return f"register{'s' * (len(numbers) > 1)} {_some([*map(str, numbers)], 16)}"


def _some(texts: Sequence[str], most: int = 4) -> str:
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def counted(n: int, what: str) -> str:
    """So many of something, as text."""
    return f"{n} {what}{'s' * (n != 1)}"

"""The plans of gathers, as data: counted, run and read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from ..algebra.linear import Linear
from ..errors import LayoutError
from ..packages import numpy as np
from .pair import Pair
from .plan import MEMORY, REGISTERS, SHUFFLES
from .steps import State, Step, Store, counted

MOST_PERMUTED = 4  # words that elements are permuted out of: two and two, then what they gave


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
    the elements of a word; lane, key: of the index; start, own: of lane and warp; moves: whether each element is read
    from a lane that its index says; units: instructions for a word; gathered: the lanes, as exclusive or, whose words
    a lane has all read before it picks, which the bits of the key above a group's say.
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
    gathered: tuple[int, ...] = (0,)

    @property
    def held(self) -> int:
        """How many words the registers of a group are."""
        return len(self.groups[0]) >> self.inside

    @property
    def words(self) -> int:
        """How many words a pick is of."""
        return self.held * len(self.gathered)

    @property
    def at_once(self) -> int:
        """How many words one instruction picks from: elements are permuted out of two."""
        return min(self.words, 2) if self.inside else 1

    @property
    def together(self) -> int:
        """How many elements one instruction picks: those of a word, where all are of the same few words."""
        return 1 if self.moves or self.words > MOST_PERMUTED else 1 << self.inside

    @property
    def chosen(self) -> int:
        """How many registers are chosen."""
        return len({choice.same for choice in self.choices})

    @property
    def shuffles(self) -> int:
        """Instructions that read another lane's register."""
        if self.moves:
            return self.chosen * self.words * self.units
        return len(self.groups) * (self.words - self.held) * self.units

    @property
    def selects(self) -> int:
        """Instructions that choose between two registers."""
        return (
            self.chosen
            * (self.together == 1)
            * (self.words - 1)
            * self.units
            * (self.words > self.at_once)
        )

    def run(self, values: np.ndarray, index: np.ndarray) -> np.ndarray:
        """What the threads hold after it. values, index: arrays (warps, lanes, registers)."""
        state = State(values[..., None])
        start, own = state.threads(self.start), state.threads(self.own)
        groups, others = np.array(self.groups), np.array(self.gathered)
        made = np.zeros_like(values)
        warp = np.arange(values.shape[0])[:, None]
        for register, choice in enumerate(self.choices):
            at = index[:, :, register]
            lane = start ^ np.asarray(self.lane.reference_apply((at,))) ^ choice.lane
            key = own ^ np.asarray(self.key.reference_apply((at,))) ^ choice.key
            beside, inside = divmod(key, groups.shape[1])
            made[:, :, register] = values[warp, lane ^ others[beside], groups[choice.group][inside]]
        return made

    def __str__(self) -> str:
        words = f"{counted(self.words, 'word')} of {counted(1 << self.inside, 'element')}"
        if self.together > 1:
            first = f"shuffle {counted(self.shuffles, 'word')}, then " if self.shuffles else ""
            times = counted(self.chosen // self.together, "time")
            return f"{first}{times}: permute {counted(self.together, 'element')} out of {words}"
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

    @property
    def is_added(self) -> bool:
        """Whether no two of thread, index and register have a bit of the offset in common: a sum is what an exclusive
        or is, and the register's part a constant of the instruction."""
        parts = [
            reduce(or_, given, 0) for given in (self.at.columns, self.start.columns, self.constants)
        ]
        return sum(parts) == reduce(or_, parts)

    def run(self, values: np.ndarray, index: np.ndarray) -> np.ndarray:
        """The elements that each thread's indices mean. values, index: by warp, lane and register."""
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
class GatherPlan:
    """How threads that hold a tile and an index for each element get the elements that are meant.
    axis: the coordinate that the index is of."""

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
        return SHUFFLES if self.plan.shuffles else REGISTERS

    @property
    def shuffles(self) -> int:
        """How many shuffle instructions a thread executes."""
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

    def run(self, values: Any, index: Any) -> np.ndarray:
        """What the threads hold after it. values, index: arrays (warps, lanes, registers). Raises
        LayoutError where one has another shape, or an index is outside the tile."""
        wanted = (self.warps, self.lanes, self.registers)
        given = np.asarray(values), np.asarray(index)
        for array in given:
            if array.shape != wanted:
                raise LayoutError(
                    f"{self.name}: an array has the shape {array.shape}, and (warps, lanes, "
                    f"registers) are {wanted}"
                )
        size, asked = self.layout.out_dims[self.axis], given[1]
        if asked.dtype.kind not in "iu":
            raise LayoutError(f"{self.name}: the index is of {asked.dtype}; give integers")
        if (wrong := asked[(asked < 0) | (asked >= size)]).size:
            raise LayoutError(
                f"{self.name}: an index is {wrong[0]}, and {self.axis} lies in 0..{size - 1}"
            )
        return self.plan.run(*given)

    def __repr__(self) -> str:
        return f"<plan {self.name}: {self.kind}>"

    def __str__(self) -> str:
        head = (
            f"{self.name}: {self.kind}; elements of {counted(self.element_bytes, 'byte')} along {self.axis}, "
            f"{self.registers} a thread, lanes {self.lanes}, warps {self.warps}"
        )
        return f"{head}\n  {self.plan}"

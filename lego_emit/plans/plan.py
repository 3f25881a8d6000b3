"""A plan that moves a tile between register layouts: its steps, what they count, how they are run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..algebra.linear import Linear
from ..errors import LayoutError
from ..packages import numpy as np
from .pair import Pair
from .steps import Barrier, Load, Shuffle, Step, Store, counted, run

NONE, REGISTERS, SHUFFLES, MEMORY = "none", "registers", "shuffles", "shared memory"


@dataclass(frozen=True)
class Plan:
    """How the threads get from holding a tile as `start` says to holding it as `end` says.

    start, end: the layouts; steps: the plan, as data; memory: from the tile's coordinates to the
    offset of an element in shared memory, None where none is used; price: what a warp's plan costs,
    by the table above.
    """

    name: str
    start: Linear
    end: Linear
    element_bytes: int
    steps: tuple[Step, ...]
    memory: Linear | None
    price: float
    pair: Pair = field(repr=False)

    @property
    def kind(self) -> str:
        """ "none" where the registers stay, "registers" where the lanes do, "shuffles" where the warps
        do, or "shared memory"."""
        if self.memory is not None:
            return MEMORY
        if self.shuffles:
            return SHUFFLES
        return REGISTERS if self.steps else NONE

    @property
    def rounds(self) -> int:
        """How many words come from another lane by shuffles."""
        return sum(s.rounds for s in self.steps if isinstance(s, Shuffle))

    @property
    def shuffles(self) -> int:
        """How many shuffle instructions a thread executes."""
        return sum(s.shuffles for s in self.steps)

    @property
    def selects(self) -> int:
        """Instructions that choose between two registers."""
        return sum(s.selects for s in self.steps)

    @property
    def stores(self) -> int:
        """Stores to shared memory."""
        return sum(len(s.vectors) for s in self.steps if isinstance(s, Store))

    @property
    def loads(self) -> int:
        """Loads from shared memory."""
        return sum(len(s.vectors) for s in self.steps if isinstance(s, Load))

    @property
    def barriers(self) -> int:
        """Waits for other threads."""
        return sum(isinstance(s, Barrier) for s in self.steps)

    @property
    def shared_bytes(self) -> int:
        """The shared memory that it uses."""
        return 0 if self.memory is None else self.memory.physical_size * self.element_bytes

    @property
    def registers(self) -> tuple[int, int]:
        """How many elements a thread holds before and after."""
        return 1 << len(self.pair.start.registers), 1 << len(self.pair.end.registers)

    @property
    def lanes(self) -> int:
        """The lanes of a warp; 1 where each thread is alone."""
        return 1 << len(self.pair.start.lanes)

    @property
    def warps(self) -> int:
        """The warps that take part."""
        return 1 << len(self.pair.start.warps)

    def run(self, values: Any) -> np.ndarray:
        """What the threads hold after the plan. values: an array (warps, lanes, registers)."""
        given, wanted = np.asarray(values), (self.warps, self.lanes, self.registers[0])
        if given.shape != wanted:
            raise LayoutError(
                f"{self.name}: the values have the shape {given.shape}, and (warps, lanes, registers) "
                f"are {wanted}"
            )
        return run(self.steps, given)

    def __repr__(self) -> str:
        return f"<plan {self.name}: {self.kind}>"

    def __str__(self) -> str:
        before, after = self.registers
        head = (
            f"{self.name}: {self.kind}; elements of {counted(self.element_bytes, 'byte')}, {before} a thread to "
            f"{after}, lanes {self.lanes}, warps {self.warps}"
        )
        return "\n".join([head, *(f"  {step}" for step in self.steps)])

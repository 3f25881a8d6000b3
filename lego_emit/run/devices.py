"""What a device does for who checks and times units on it: the protocols, and what they speak of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

from ..ir.program import Function
from .space import Space

if TYPE_CHECKING:
    import numpy as np

REPEAT = 30  # measurements of each
BYTES = 2**32  # of the arrays that are gathered from and scattered to

Progress = Callable[[int, int], None]  # steps done, steps in all


@dataclass
class Tally:
    """A round trip: the first number that fails, how many fail, how many are masked."""

    first: int | None = None
    bad: int = 0
    masked: int = 0


@dataclass
class Marks:
    """A bitmap: how many positions are met, the least one that is met twice, the least that is
    not met; None where there is none."""

    distinct: int
    twice: int | None = None
    gap: int | None = None


@dataclass(frozen=True)
class Trip:
    """A round trip to make: there over space, its results within ends and so within target, back
    again; where masked, what stands for a masked index is allowed to have no way back."""

    there: Function
    back: Function
    space: Space
    target: Space
    masked: bool
    ends: tuple[tuple[int, int], ...]  # inclusive: what both headers promise of each result


@dataclass(frozen=True)
class Targets:
    """The positions that results are marked at: mixed radix, the last result fastest."""

    lows: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many positions there are."""
        return prod(self.counts)

    @property
    def strides(self) -> tuple[int, ...]:
        """How far apart two values of each result are."""
        return tuple(prod(self.counts[k + 1 :]) for k in range(len(self.counts)))


class Checker(Protocol):
    """Runs the checks of one unit on one device. kernel_ms adds up as it goes where the device
    has kernels, and is None where it has not."""

    what: str

    @property
    def kernel_ms(self) -> float | None:
        """Milliseconds of the device's kernels until now."""
        ...

    def call(self, function: Function, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """The results at arrays of indices."""
        ...

    def round_trip(self, trip: Trip, progress: Progress) -> Tally:
        """Make a round trip over the whole space."""
        ...

    def extremes(
        self, function: Function, space: Space, progress: Progress
    ) -> list[tuple[int, int]]:
        """The least and the greatest of each result."""
        ...

    def marks(
        self, function: Function, space: Space, targets: Targets, progress: Progress
    ) -> Marks:
        """Mark the positions of all results in a bitmap."""
        ...

    def meets(self, function: Function, space: Space, targets: Targets, position: int) -> list[int]:
        """The first two numbers whose results are at a position."""
        ...


@dataclass(frozen=True)
class Way:
    """One way of computing a unit's functions, from Python functions of the axes alone."""

    name: str
    apply: Callable[..., Any]
    inv: Callable[..., Any] | None


@dataclass(frozen=True)
class Rivals:
    """What ours is measured against, and over which space."""

    spaces: Mapping[str, Space]
    ways: tuple[Way, ...]
    bytes: int = BYTES
    repeat: int = REPEAT


class Timer(Protocol):
    """Measures one unit on one device."""

    def run(self, progress: Progress) -> Any:
        """What was measured, as lego_emit.measure.timing.Timing."""
        ...

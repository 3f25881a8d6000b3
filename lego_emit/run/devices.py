"""What a device does for who checks and times units on it: the protocols, and what they speak of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

from ..emit.unit import Unit
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


def round_trips(unit: Unit, spaces: Mapping[str, Space]) -> list[Trip]:
    """The round trips of a layout: over the indices and, where some have no position or some
    positions no index, over the positions."""
    a, b = (spaces[function.name] for function in unit.program.functions)
    masked = _masks(a)
    found = [_trip(a, b, masked)]
    if masked or a.total != b.total:
        found.append(_trip(b, a, masked or _masks(b)))
    return found


def _masks(space: Space) -> bool:
    """Whether a result may be what is masked."""
    if any(promise.masked is not None for promise in space.function.promises):
        return True
    low = space.promised[0][0]
    return low is not None and low < space.function.starts[0]


def _trip(space: Space, target: Space, masked: bool) -> Trip:
    """The round trip over a space. Each result must lie where the header promises, and where the
    way back begins."""
    ends = []
    for (least, most), axis in zip(space.promised, target.axes, strict=True):
        lo = axis.lo if least is None else max(axis.lo, least)
        hi = axis.hi if most is None else min(axis.hi, most)
        ends.append((lo, hi))
    return Trip(space.function, target.function, space, target, masked, tuple(ends))


@dataclass(frozen=True)
class Targets:
    """The positions that results are marked at: mixed radix, the last result fastest."""

    lows: tuple[int, ...]
    counts: tuple[int, ...]

    @classmethod
    def over(cls, ends: Sequence[tuple[int, int]]) -> Targets:
        """All positions between the results' inclusive ends."""
        return cls(tuple(lo for lo, _ in ends), tuple(hi - lo + 1 for lo, hi in ends))

    def at(self, position: int) -> tuple[int, ...]:
        """The results at a position."""
        return tuple(
            lo + position // stride % count
            for lo, stride, count in zip(self.lows, self.strides, self.counts, strict=True)
        )

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

    def extremes(self, space: Space, progress: Progress) -> list[tuple[int, int]]:
        """The least and the greatest of each result."""
        ...

    def marks(self, space: Space, targets: Targets, progress: Progress) -> Marks:
        """Mark the positions of all results in a bitmap."""
        ...

    def meets(self, space: Space, targets: Targets, position: int) -> list[int]:
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

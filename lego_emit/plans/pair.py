"""Two distributed layouts of one tile, as columns: what a plan starts from."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra import f2
from ..algebra.labels import Dims
from ..algebra.linear import Linear
from ..hardware import LANE, REGISTER, WARP

KNOWN = (REGISTER, LANE, WARP)


@dataclass(frozen=True)
class Holder:
    """Where a layout's registers, lanes and warps have their elements, by bits of the tile."""

    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """All of them, registers first."""
        return self.registers + self.lanes + self.warps

    def layout(self, tile: Dims) -> Linear:
        """The same as a layout to the tile's coordinates."""
        own = zip(KNOWN, (self.registers, self.lanes, self.warps), strict=True)
        return Linear._made([(n, len(c)) for n, c in own], tile, self.columns)


@dataclass(frozen=True)
class Pair:
    """Where elements are, and where they shall be. tile: the coordinates' names with their bits."""

    start: Holder
    end: Holder
    tile: Dims

    @property
    def elements(self) -> int:
        """Those of a thread, before and after."""
        return (1 << len(self.start.registers)) + (1 << len(self.end.registers))

    @property
    def moves(self) -> list[int]:
        """What each warp bit adds: where the end differs from the start."""
        return [a ^ b for a, b in zip(self.start.warps, self.end.warps, strict=True)]

    def is_within_warps(self) -> bool:
        """Whether every warp holds all that it shall hold."""
        held = f2.Echelon([*self.start.registers, *self.start.lanes])
        wanted = (*self.end.registers, *self.end.lanes, *self.moves)
        return all(held.solve(c) is not None for c in wanted)

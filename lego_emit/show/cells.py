"""The cells of a picture: their texts, colours and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..errors import LayoutError, shown
from ..kinds import is_integer
from ..packages import numpy as np

MASKED, NONE = -1, -2  # positions: a masked index, no cell at all
PLAIN = 8  # the colour of an element of no tile
STRIP = 32  # cells in a row of a line that is folded
HUES = 32  # colours of numbers: so many, then again
BANKS = 32  # of shared memory, each of BANK bits
BANK = 32

# Tol's "light" scheme, made for black text on coloured cells and for every kind of colour vision
# (personal.sron.nl/~pault), and the nearest of the 256 colours that terminals have.
_LIGHT = (
    ("#77AADD", 110), ("#EE8866", 209), ("#EEDD88", 222), ("#FFAABB", 217), ("#99DDFF", 117),
    ("#44BB99", 79), ("#BBCC33", 149), ("#AAAA00", 142), ("#DDDDDD", 253),
)  # fmt: skip


def _tint(hue: str, part: float) -> tuple[str, int]:
    """A colour with a part of white, or below 0 of black."""
    end = 255 if part > 0 else 0
    rgb = [int(hue[k : k + 2], 16) for k in (1, 3, 5)]
    rgb = [round(c + (end - c) * abs(part)) for c in rgb]
    levels = (0, 95, 135, 175, 215, 255)
    near = [min(range(6), key=lambda k: abs(levels[k] - c)) for c in rgb]
    return "#" + "".join(f"{c:02X}" for c in rgb), 16 + 36 * near[0] + 6 * near[1] + near[2]


PALETTE = (*_LIGHT, *(_tint(hue, part) for part in (0.5, -0.18, 0.75) for hue, _ in _LIGHT[:PLAIN]))


def hues(numbers: np.ndarray) -> np.ndarray:
    """Colours of the palette for numbers: HUES different ones."""
    shade = numbers % HUES
    return np.where(shade < PLAIN, shade, shade + 1)


def banks(positions: np.ndarray, bits: int) -> np.ndarray:
    """The bank of shared memory of each position, in elements of so many bits."""
    if not is_integer(bits) or bits < 1:
        raise LayoutError(f"bits is {shown(bits)}; give an element's width, as 16 for a half")
    return positions * bits // BANK % BANKS


@dataclass(frozen=True, eq=False)
class Sheet:
    """A layout's cells in rows and columns.

    positions: the physical position in each cell, MASKED or NONE. logical: its flat logical index,
    or MASKED where padding is stored. colours: of the palette. blocks: after how many rows and
    columns a gap stands. axes: what rows and columns are, for a table. deep: lines in a cell.
    """

    title: str
    dims: tuple[int, ...]
    positions: np.ndarray
    logical: np.ndarray
    colours: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    blocks: tuple[int, int]
    inverse: bool = False
    axes: str = ""
    deep: int = 1

    def index(self, row: int, column: int) -> str:
        """The logical index in a cell, as text."""
        number = int(self.logical[row, column])
        if number < 0:
            return "-"
        return ",".join(str(int(i)) for i in np.unravel_index(number, self.dims))

    def text(self, row: int, column: int) -> str:
        """What a cell says."""
        position = int(self.positions[row, column])
        if position == NONE:
            return ""
        if self.inverse:
            return self.index(row, column)
        return "-" if position == MASKED else str(position)

    def lines(self, row: int, column: int) -> Sequence[str]:
        """The same, line by line."""
        return (self.text(row, column),)

    def note(self, row: int, column: int) -> str:
        """What a cell says under the mouse."""
        position = int(self.positions[row, column])
        where = "masked" if position == MASKED else str(position)
        padding = int(self.logical[row, column]) == MASKED
        index = "padding" if padding else f"[{self.index(row, column)}]"
        if self.inverse:
            return f"{where} holds {index}"
        return f"{index} is {'masked' if position == MASKED else f'at {where}'}"

    @property
    def widest(self) -> int:
        """The letters of the longest text."""
        if self.inverse:
            return sum(len(str(n - 1)) for n in self.dims) + len(self.dims) - 1
        return len(str(int(self.positions.max())))

    @cached_property
    def path(self) -> list[tuple[int, int]]:
        """The cells in the order of memory. Raises LayoutError where two share a position."""
        cells = np.argwhere(self.positions >= 0)
        positions = self.positions[self.positions >= 0]
        if len(np.unique(positions)) != len(positions):
            raise LayoutError(
                f"{self.title}: several indices have one position, so there is no path through "
                "memory; leave --order out"
            )
        return [tuple(cell) for cell in cells[np.argsort(positions)].tolist()]


def by_bank(page: Sheet, bits: int) -> Sheet:
    """The sheet coloured by the bank of each position."""
    held = page.positions >= 0
    if page.inverse:
        held &= page.logical >= 0
    found = np.where(held, hues(banks(page.positions, bits)), PLAIN)
    return replace(page, colours=found, title=f"{page.title}: coloured by bank, {bits} bits each")


def folded(line: Sheet, width: int = STRIP) -> Sheet:
    """A line of cells in rows of this width."""
    size = line.positions.shape[1]
    width = min(width, size)
    height = -(-size // width)

    def laid(values: np.ndarray, rest: int) -> np.ndarray:
        padded = np.full(height * width, rest)
        padded[:size] = values.ravel()
        return padded.reshape(height, width)

    return replace(
        line,
        positions=laid(line.positions, NONE),
        logical=laid(line.logical, MASKED),
        colours=laid(line.colours, PLAIN),
        rows=tuple(str(k * width) for k in range(height)),
        columns=labels([width]),
        blocks=(height, width),
    )


def labels(sizes: Sequence[int]) -> tuple[str, ...]:
    """All indices of some sizes, as text."""
    return tuple(",".join(map(str, index)) for index in np.ndindex(*sizes)) if sizes else ("",)

"""The cells of a picture: their texts, colors and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import prod
from typing import NamedTuple, overload

from ..algebra.digits import unravel
from ..errors import LayoutError, short_repr
from ..numeric import is_integer

MASKED, NONE = -1, -2  # positions: a masked index, no cell at all
PLAIN = 8  # the color of an element of no tile
STRIP = 32  # cells in a row of a line that is folded
HUES = 32  # colors of numbers: so many, then again
STEPS = 32  # of color along the memory
BANKS = 32  # of shared memory, each of BANK bits
BANK = 32
MOST_STEPS = 2**20  # cells of a path through memory

# Tol's "light" scheme, made for black text on colored cells and for every kind of color vision
# (personal.sron.nl/~pault), and the nearest of the 256 colors that terminals have.
_LIGHT = (
    ("#77AADD", 110), ("#EE8866", 209), ("#EEDD88", 222), ("#FFAABB", 217), ("#99DDFF", 117),
    ("#44BB99", 79), ("#BBCC33", 149), ("#AAAA00", 142), ("#DDDDDD", 253),
)  # fmt: skip


def _tint(hue: str, part: float) -> tuple[str, int]:
    """A color with a part of white, or below 0 of black."""
    return _between(hue, "#FFFFFF" if part > 0 else "#000000", abs(part))


def _between(one: str, other: str, part: float) -> tuple[str, int]:
    """A color on the way from one to another."""
    a, b = ([int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in (one, other))
    rgb = [round(x + (y - x) * part) for x, y in zip(a, b, strict=True)]
    levels = (0, 95, 135, 175, 215, 255)
    near = [min(range(6), key=lambda k: abs(levels[k] - c)) for c in rgb]
    return "#" + "".join(f"{c:02X}" for c in rgb), 16 + 36 * near[0] + 6 * near[1] + near[2]


_TINTS = [_tint(hue, part) for part in (0.5, -0.18, 0.75) for hue, _ in _LIGHT[:PLAIN]]
_RAMP = [_between("#FFF3B0", "#86D3BE", k / 16) for k in range(16)]
_RAMP += [_between("#86D3BE", "#7C96E0", k / 15) for k in range(16)]
# Of banks: any two are at least 12 apart by CIEDE2000, whatever lies beside what.
_APART = (
    "EEDD88 CC66FF 66DDFF FF7766 FFEEFF 66AA88 66FF66 6699FF AA8899 DDFFEE BB9977 FFAAEE FF6699 99AAAA FFBBBB BBBBEE "
    "EEDDCC 66FFCC 99BB66 FFBB66 DDEEFF 999977 9988CC DDFF66 66BBBB 66FFFF CCFFBB CC77BB 9999AA AACCAA FFAA88 99CCFF"
).split()
_BANKS = [_tint(f"#{color}", 0) for color in _APART]
PALETTE = (*_LIGHT, *_TINTS, *_BANKS, *_RAMP)


def hue(number: int) -> int:
    """A color of the palette for a number: HUES different ones."""
    return shade(number, number % HUES // PLAIN)


def shade(number: int, level: int) -> int:
    """One of eight hues of the palette, in one of four tints."""
    level = level % (HUES // PLAIN)
    return number % PLAIN + (level * PLAIN + 1 if level else 0)


def ramp(number: int, size: int) -> int:
    """A color of the palette for a number in 0..size - 1: from light to dark, STEPS of them."""
    return len(PALETTE) - STEPS + number * STEPS // size


def bank_color(number: int) -> int:
    """A color of the palette for a bank of shared memory: of any two banks they are easily told apart."""
    return len(_LIGHT) + len(_TINTS) + number % BANKS


def bank(position: int, bits: int) -> int:
    """The bank of shared memory of a position, in elements of so many bits."""
    if not is_integer(bits) or bits < 1:
        raise LayoutError(f"bits is {short_repr(bits)}; give an element's width, as 16 for a half")
    return position * bits // BANK % BANKS


class Cell(NamedTuple):
    """One cell of a sheet.

    position: its physical position, MASKED or NONE. logical: its flat logical index, or MASKED where
    padding is stored. color: of the palette.
    """

    position: int
    logical: int
    color: int = PLAIN


NO_CELL = Cell(NONE, MASKED)


class Labels(Sequence[str]):
    """The indices of some sizes, as texts; of one size in steps."""

    def __init__(self, sizes: Sequence[int], step: int = 1):
        self.sizes, self.step, self._size = sizes, step, prod(sizes)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, k: int) -> str: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[str, ...]: ...
    def __getitem__(self, k: int | slice) -> str | tuple[str, ...]:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(self._size)[k])
        if not -self._size <= k < self._size:
            raise IndexError(k)
        index = unravel(self.sizes, k % self._size) if self.sizes else []
        return ",".join(str(i * self.step) for i in index)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A layout's cells in rows and columns, each worked out when it is looked at.

    shape: how many rows and columns. find: the cell in a row and a column. blocks: after how many
    rows and columns a gap stands. axes: what rows and columns are, for a table. deep: lines in a
    cell. legend: what rows, columns and texts mean. outlined: whether lines stand between colors.
    """

    title: str
    dims: tuple[int, ...]
    shape: tuple[int, int]
    find: Callable[[int, int], Cell]
    rows: Sequence[str]
    columns: Sequence[str]
    blocks: tuple[int, int]
    inverse: bool = False
    axes: str = ""
    deep: int = 1
    legend: str = ""
    outlined: bool = True

    def __repr__(self) -> str:
        return f"<sheet of {self.title}>"

    @cached_property
    def cell(self) -> Callable[[int, int], Cell]:
        """find, each cell once."""
        return cache(self.find)

    def index(self, row: int, column: int) -> str:
        """The logical index in a cell, as text."""
        number = self.cell(row, column).logical
        return "-" if number < 0 else ",".join(map(str, unravel(self.dims, number)))

    def text(self, row: int, column: int) -> str:
        """What a cell says."""
        position = self.cell(row, column).position
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
        position, logical, _ = self.cell(row, column)
        where = "masked" if position == MASKED else str(position)
        index = "padding" if logical == MASKED else f"[{self.index(row, column)}]"
        if self.inverse:
            return f"{where} holds {index}"
        return f"{index} is {'masked' if position == MASKED else f'at {where}'}"

    @cached_property
    def path(self) -> list[tuple[int, int]]:
        """The cells in the order of memory. Raises LayoutError where two share a position."""
        height, width = self.shape
        if height * width > MOST_STEPS:
            raise LayoutError(
                f"{self.title}: {height * width} steps, a path through memory has at most "
                f"{MOST_STEPS}; choose smaller sizes, or leave --order out"
            )
        found: dict[int, tuple[int, int]] = {}
        for row in range(height):
            for column in range(width):
                position = self.cell(row, column).position
                if position >= 0 and found.setdefault(position, (row, column)) != (row, column):
                    raise LayoutError(
                        f"{self.title}: several indices have one position, so there is no path "
                        "through memory; leave --order out"
                    )
        return [found[position] for position in sorted(found)]


def colored(page: Sheet, by: str, bits: int, size: int) -> Sheet:
    """The sheet colored by each cell's "bank", in elements of so many bits, or by its "position" in a
    memory of this size."""
    bank(0, bits)

    def find(row: int, column: int) -> Cell:
        cell = page.cell(row, column)
        if cell.position < 0 or (page.inverse and cell.logical < 0):
            return cell._replace(color=PLAIN)
        if by == "bank":
            return cell._replace(color=bank_color(bank(cell.position, bits)))
        return cell._replace(color=ramp(cell.position, size))

    said = f"bank, {bits} bits each" if by == "bank" else "position"
    title = f"{page.title}: colored by {said}"
    return replace(page, find=find, title=title, outlined=False)


def folded(line: Sheet, width: int = STRIP) -> Sheet:
    """A line of cells in rows of this width."""
    size = line.shape[1]
    width = min(width, size)
    height = -(-size // width)

    def find(row: int, column: int) -> Cell:
        at = row * width + column
        return line.cell(0, at) if at < size else NO_CELL

    return replace(
        line,
        shape=(height, width),
        find=find,
        rows=Labels([height], width),
        columns=Labels([width]),
        blocks=(height, width),
        legend=line.legend.replace("across:", "row + column:"),
    )

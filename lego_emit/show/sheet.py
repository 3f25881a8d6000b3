"""A layout as a sheet of cells, and the sheet in a terminal; lego_emit.show.pictures draws it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod

from ..algebra.block import Block
from ..algebra.digits import ravel, unravel
from ..algebra.layout import Layout
from ..algebra.masked import ExpandBy, Masked
from ..errors import LayoutError
from .cells import (
    HUES,
    MASKED,
    PALETTE,
    PLAIN,
    STRIP,
    Cell,
    Labels,
    Sheet,
    colored,
    folded,
    hue,
    shade,
)
from .holders import check_numbers, holders, is_named

COLORS = ("tile", "bank", "position")
GEOMETRY = 2**16  # elements up to which tiles are looked for


def sheet(
    layout: Block,
    inverse: bool = False,
    view: str | None = None,
    color: str | None = None,
    tile: Sequence[int] | None = None,
    bits: int = 32,
) -> Sheet:
    """The cells of a layout of integer sizes.

    inverse: the memory in order, each cell with the logical index that it holds; otherwise the
        logical grid, each cell with its physical position: tiles of a TileBy in their place in the
        untiled array, further dimensions side by side.
    view, color, tile, bits: as in holders(), for layouts with named coordinates and for Strided
        ones of threads and values (inverse is the view "tensor" there). Of all others color is
        "tile", "bank" or "position"; without it the tile, or the place in rows that are permuted.

    Raises InverseError where inverse is asked of a layout that has none, LayoutError where it is
    asked of one with several results, and as holders() does.
    """
    if inverse and len(layout.results or ()) > 1:
        raise LayoutError(
            f"{layout!r}: it gives {', '.join(layout.results or ())}, so there is no memory to show; "
            'view="tensor" has for each element what holds it, without --inv'
        )
    if is_named(layout) or view or tile is not None or color not in (None, *COLORS):
        return holders(layout, view or ("tensor" if inverse else None), color, tile, bits)
    found = _positions(layout, inverse, color is not None)
    if color in (None, "tile"):
        return found
    size = layout.physical_size
    if not layout.is_bounded and color == "position":  # only as large as its largest position
        height, width = found.shape
        if height * width > GEOMETRY:
            raise LayoutError(
                f"{layout!r}: how far its positions go is not known, and it has more than {GEOMETRY} "
                "indices; choose smaller sizes, or another color"
            )
        cells = (found.cell(r, c) for r in range(height) for c in range(width))
        size = max(cell.position for cell in cells) + 1
    return colored(found, color or "", bits, size)


def _positions(layout: Block, inverse: bool, by_tile: bool) -> Sheet:
    check_numbers(layout)
    color, said = _coloring(layout, by_tile)
    said = f"; colored by its {said}" if said else ""
    if inverse:
        layout.inv(0)  # raises where there is none
        return _memory(layout, color, said)
    tiled = _tiling(layout) or (layout.dims,)
    rank = len(tiled[0])
    shape = tuple(prod(tile[k] for tile in tiled) for k in range(rank))
    # The last axis runs along a row, the one before down the column, and so on in turn.
    down = [k for k in range(rank) if (rank - 1 - k) % 2]
    across = [k for k in range(rank) if not (rank - 1 - k) % 2]
    sizes = [[shape[k] for k in part] for part in (down, across)]

    def find(row: int, column: int) -> Cell:
        place = [0] * rank
        for axes, n, at in ((down, sizes[0], row), (across, sizes[1], column)):
            for k, i in zip(axes, unravel(n, at) if axes else (), strict=True):
                place[k] = i
        digits = [unravel([tile[k] for tile in tiled], place[k]) for k in range(rank)]
        index = tuple(i for level in zip(*digits, strict=True) for i in level)
        return Cell(int(layout.reference_apply(index)), ravel(layout.dims, index), color(index))

    found = Sheet(
        repr(layout),
        layout.dims,
        (prod(sizes[0]), prod(sizes[1])),
        find,
        Labels(sizes[0]),
        Labels(sizes[1]),
        (shape[down[-1]] if down else 1, shape[-1]),
        legend=f"{_axes(down, across, tiled)}; a cell says its position in memory{said}",
    )
    return folded(found) if rank == 1 and shape[0] > STRIP else found


def _axes(down: Sequence[int], across: Sequence[int], tiled: Sequence[Sequence[int]]) -> str:
    """What rows and columns count."""
    said = []
    for where, axes in (("down", down), ("across", across)):
        what = "index" if len(axes) == 1 else "indices"
        if axes:
            said.append(f"{where}: {what} {', '.join(map(str, axes))}")
    return ", ".join(said) + " of the untiled array" * (len(tiled) > 1)


def _memory(layout: Block, color: Coloring, said: str) -> Sheet:
    size = layout.physical_size

    def find(_: int, position: int) -> Cell:
        index = layout.reference_inv(position)
        inside = all(0 <= i < n for i, n in zip(index, layout.dims, strict=True))
        if not inside or layout.reference_apply(index) != position:
            return Cell(position, MASKED)
        return Cell(position, ravel(layout.dims, index), color(index))

    strip = Sheet(
        f"{layout!r}: memory",
        layout.dims,
        (1, size),
        find,
        Labels([]),
        Labels([size]),
        (1, size),
        inverse=True,
        legend=f"across: the position in memory; a cell says its index{said}",
    )
    last = layout.dims[-1]
    return folded(strip, last if 4 <= last <= STRIP else 16)


# -- tiles ---------------------------------------------------------------------------------------

Coloring = Callable[[Sequence[int]], int]  # the color of a logical index


def _tiling(block: Block) -> tuple[tuple[int, ...], ...] | None:
    """The tiles of a TileBy of several levels."""
    layout = block.layout if isinstance(block, ExpandBy) else block
    if isinstance(layout, Layout) and layout.tiled and len(layout.tiles) > 1:
        return layout.tiles
    return None


def _coloring(block: Block, by_tile: bool) -> tuple[Coloring, str]:
    """The color of each logical index, and what a color is where it is no tile: a tile of the logical
    view where it names tiles, else one of memory. Of rows that are permuted each element has the
    color of its place in the row, unless by_tile."""
    layout = block
    while isinstance(layout, Masked):
        layout = layout.layout
    dims = layout.dims
    if isinstance(layout, Layout) and len(layout.tiles) > 1:
        outer = layout.tiles[0]
        inner, count = layout.size // prod(outer), prod(outer)
        if count > GEOMETRY:
            return lambda index: _varied(unravel(outer, ravel(dims, index) // inner)), ""
        colors = _colors(product(*map(range, outer)))
        return lambda index: colors[ravel(dims, index) // inner], ""
    if not layout.has_inverse or layout.size > GEOMETRY:
        return lambda _: PLAIN, ""
    # The logical indices in the order of memory, axis by axis.
    order = sorted(product(*map(range, dims)), key=layout.reference_apply)
    axes = list(zip(*order, strict=True))
    length = _levels(layout)
    if not length:
        length, whole = _box(dims, axes)
        if not length:
            return lambda _: PLAIN, ""
        rows = [order[k : k + length] for k in range(0, len(order), length)]
        if whole and not by_tile and any(row != sorted(row) for row in rows):
            place = layout.reference_apply
            step = max(length // HUES, 1)
            said = f"place among {length} neighbors in memory"
            return lambda index: hue(place(tuple(index)) % length // step), said
    starts = range(0, layout.size, length)
    corners = [[min(axis[k : k + length]) for k in starts] for axis in axes]
    ranks = [{n: k for k, n in enumerate(sorted(set(axis)))} for axis in corners]
    firsts = [[rank[n] for n in axis] for rank, axis in zip(ranks, corners, strict=True)]
    colors = _colors(zip(*firsts, strict=True))
    return lambda index: colors[layout.reference_apply(tuple(index)) // length], ""


def _colors(tiles: Iterable[Sequence[int]]) -> list[int]:
    """A color for each tile, of up to HUES of its own: those that share a hue differ in their tint."""
    numbers = [_varied(tile) for tile in tiles]
    tints = HUES // PLAIN
    seen = [0] * PLAIN
    found = []
    for number in numbers:
        if seen[number] >= tints and len(numbers) <= HUES:
            number = next(k for k in range(PLAIN) if seen[k] < tints)
        found.append(shade(number, seen[number]))
        seen[number] += 1
    return found


def _varied(tile: Sequence[int]) -> int:
    """A hue for a tile by its coordinates: neighbors along an axis or a diagonal differ."""
    weights = [1, 3, 5, 7]
    return sum(weights[k % 4] * i for k, i in enumerate(reversed(tile))) % PLAIN


def _levels(layout: Block) -> int:
    """How many elements lie in an outermost tile, where the last OrderBy has several levels."""
    last = layout.chain[-1] if isinstance(layout, Layout) and layout.chain else None
    return prod(p.size for p in last.perms[1:]) if last and len(last.perms) > 1 else 0


def _box(dims: tuple[int, ...], axes: Sequence[Sequence[int]]) -> tuple[int, bool]:
    """How many neighbors in memory make a box in the logical view, and whether it has whole axes:
    the largest that is a part of every axis, else the largest slab; 0 where there is none.

    axes: the coordinates of the indices in the order of memory.
    """
    size, slab = len(axes[0]), 0
    if sum(n > 1 for n in dims) < 2:
        return 0, False

    def extent(start: int, length: int) -> list[int]:
        parts = [axis[start : start + length] for axis in axes]
        return [max(part) - min(part) + 1 for part in parts]

    for length in (n for n in range(size // 2, 1, -1) if size % n == 0):
        first = extent(0, length)
        part = all(1 < e < n or n == 1 for e, n in zip(first, dims, strict=True))
        whole = not slab and all(e in (1, n) for e, n in zip(first, dims, strict=True))
        if prod(first) != length or not (part or whole):
            continue
        if all(extent(start, length) == first for start in range(length, size, length)):
            if part:
                return length, False
            slab = length
    return slab, True


# -- the terminal --------------------------------------------------------------------------------

ARROWS = {
    (0, 1): "→", (0, -1): "←", (1, 0): "↓", (-1, 0): "↑",
    (1, 1): "↘", (1, -1): "↙", (-1, 1): "↗", (-1, -1): "↖",
}  # fmt: skip
ELSEWHERE = "•"


def kept(count: int, most: int) -> list[int | None]:
    """The rows or columns that are shown of so many: all, or the first ones, None and the last."""
    if count <= most:
        return list(range(count))
    return [*range(max(most - 2, 1)), None, count - 1]


def arrows(sheet: Sheet) -> dict[tuple[int, int], str]:
    """For each cell an arrow to the next one in memory."""
    found = {}
    for (row, column), (down, right) in zip(sheet.path, sheet.path[1:], strict=False):
        found[row, column] = ARROWS.get((down - row, right - column), ELSEWHERE)
    return found


def terminal(sheet: Sheet, width: int = 80, height: int = 24, order: bool = False) -> str:
    """The sheet as colored text (click.echo takes the colors out where there is no terminal).

    width, height: characters and lines of the terminal; what does not fit is left out in the
        middle, and the last line says so.
    order: an arrow in each cell to the next one in memory.
    """
    import click

    shape = sheet.shape
    rows = kept(shape[0], max((height - 5) // sheet.deep, 3))
    margin = max(len(sheet.rows[r]) for r in rows if r is not None) + 1
    columns = kept(shape[1], max(width // 3, 3))  # no cell is narrower
    texts = [
        text
        for c in columns
        if c is not None
        for text in (
            sheet.columns[c],
            *(t for r in rows if r is not None for t in sheet.lines(r, c)),
        )
    ]
    wide = max(2, *map(len, texts)) + order
    gaps = 2 * ((shape[1] - 1) // sheet.blocks[1])
    fits = (width - margin - 3) // (wide + 1)
    if margin + shape[1] * (wide + 1) + gaps <= width:
        fits = shape[1]
    columns = kept(shape[1], max(fits, 3))
    step = arrows(sheet) if order else {}

    def gap(k: int | None, size: int) -> bool:
        return bool(k) and k % size == 0

    head = " " * margin
    for c in columns:
        head += "  " * gap(c, sheet.blocks[1])
        head += ("…" if c is None else sheet.columns[c]).rjust(3 if c is None else wide) + " "
    lines = [sheet.title, *([sheet.legend] if sheet.legend else []), head.rstrip()]
    for r in rows:
        if gap(r, sheet.blocks[0]):
            lines.append("")
        if r is None:
            lines.append("…".rjust(margin - 1))
            continue
        for deep in range(sheet.deep):
            label = "" if deep else sheet.rows[r]
            line = click.style(label.rjust(margin - 1), dim=True) + " "
            for c in columns:
                line += "  " * gap(c, sheet.blocks[1])
                if c is None:
                    line += "  … "
                    continue
                said = sheet.lines(r, c)
                text = (said[deep] if deep < len(said) else "").rjust(wide - order)
                if order:
                    text += " " if deep else step.get((r, c), " ")
                line += _styled(sheet, r, c, f"{text} ")
            lines.append(line)
    if order:
        lines.append(f"arrows lead to the next element in memory; {ELSEWHERE}: it is no neighbor")
    if None in rows or None in columns:
        shown = [len([k for k in axis if k is not None]) for axis in (rows, columns)]
        lines.append(
            f"{shown[0]} of {shape[0]} rows and {shown[1]} of {shape[1]} columns; a wider window "
            "or -o FILE.svg shows more"
        )
    return "\n".join(lines)


def _styled(sheet: Sheet, row: int, column: int, text: str) -> str:
    import click

    cell = sheet.cell(row, column)
    if cell.position < 0:
        return click.style(text, dim=True)
    return click.style(text, fg=16, bg=PALETTE[cell.color][1])


def wants_color() -> bool | None:
    """For click.echo: no colors where NO_COLOR is set (no-color.org), else where it can."""
    return False if os.environ.get("NO_COLOR") else None

"""A layout as a sheet of cells, and the sheet in a terminal; lego_emit.show.pictures draws it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod

from ..algebra.block import Block
from ..algebra.expand import ExpandBy
from ..algebra.layout import Layout
from ..algebra.padded import Padded
from ..algebra.reference import table
from ..errors import LayoutError
from ..packages import numpy as np
from .cells import MASKED, PALETTE, PLAIN, STRIP, Sheet, by_bank, folded, labels
from .holders import holders, is_named

GEOMETRY = 2**16  # elements up to which tiles are looked for


def sheet(
    layout: Block,
    inverse: bool = False,
    view: str | None = None,
    colour: str | None = None,
    tile: Sequence[int] | None = None,
    bits: int = 32,
) -> Sheet:
    """The cells of a layout of integer sizes.

    inverse: the memory in order, each cell with the logical index that it holds; otherwise the
        logical grid, each cell with its physical position: tiles of a TileBy in their place in the
        untiled array, further dimensions side by side.
    view, colour, tile, bits: as in holders(), for layouts with named coordinates and for Strided
        ones of threads and values (inverse is the view "tensor" there); colour="bank" for all.

    Raises InverseError where inverse is asked of a layout that has none, LayoutError where it is
    asked of one with several results, and as holders() does.
    """
    if inverse and len(layout.results or ()) > 1:
        raise LayoutError(
            f"{layout!r}: it gives {', '.join(layout.results or ())}, so there is no memory to show; "
            'view="tensor" has for each element what holds it, without --inv'
        )
    if is_named(layout) or view or tile is not None or colour not in (None, "bank"):
        return holders(layout, view or ("tensor" if inverse else None), colour, tile, bits)
    found = _positions(layout, inverse)
    return by_bank(found, bits) if colour else found


def _positions(layout: Block, inverse: bool) -> Sheet:
    flat = table(layout)
    logical = np.arange(layout.size)
    if inverse:
        layout.inv(0)  # raises where there is none
        return _memory(layout, flat, _colours(layout, flat))
    colours = _colours(layout, flat)
    tiled = _tiling(layout)
    if tiled is None:
        shape, axes = layout.dims, tuple(range(len(layout.dims)))
        parts = shape
    else:
        parts, rank = layout.dims, len(tiled[0])
        axes = tuple(k + rank * h for k in range(rank) for h in range(len(tiled)))
        shape = tuple(prod(tile[k] for tile in tiled) for k in range(rank))
    # The last axis runs along a row, the one before down the column, and so on in turn.
    order = range(len(shape))
    down = [k for k in order if (len(shape) - 1 - k) % 2]
    across = [k for k in order if not (len(shape) - 1 - k) % 2]
    height, width = prod(shape[k] for k in down), prod(shape[k] for k in across)

    def laid(values: np.ndarray) -> np.ndarray:
        spatial = values.reshape(parts).transpose(axes).reshape(shape)
        return spatial.transpose([*down, *across]).reshape(height, width)

    blocks = (shape[down[-1]] if down else 1, shape[-1])
    found = Sheet(
        repr(layout),
        layout.dims,
        laid(flat),
        laid(logical),
        laid(colours),
        labels([shape[k] for k in down]),
        labels([shape[k] for k in across]),
        blocks,
    )
    return folded(found) if len(shape) == 1 and width > STRIP else found


def _memory(layout: Block, flat: np.ndarray, colours: np.ndarray) -> Sheet:
    held = flat >= 0
    size = layout.physical_size
    logical, tiles = np.full(size, MASKED), np.full(size, PLAIN)
    logical[flat[held]], tiles[flat[held]] = np.flatnonzero(held), colours[held]
    strip = Sheet(
        f"{layout!r}: memory",
        layout.dims,
        np.arange(size)[None],
        logical[None],
        tiles[None],
        ("",),
        labels([size]),
        (1, size),
        inverse=True,
    )
    last = layout.dims[-1]
    return folded(strip, last if 4 <= last <= STRIP else 16)


# -- tiles ---------------------------------------------------------------------------------------


def _tiling(block: Block) -> tuple[tuple[int, ...], ...] | None:
    """The tiles of a TileBy of several levels."""
    layout = block.layout if isinstance(block, ExpandBy) else block
    if isinstance(layout, Layout) and layout.tiled and len(layout.tiles) > 1:
        return layout.tiles
    return None


def _colours(block: Block, flat: np.ndarray) -> np.ndarray:
    """A colour for each logical index: its tile's, in the logical view where it names tiles, else
    in memory."""
    if isinstance(block, Padded):
        whole = _colours(block.layout, table(block.layout)).reshape(block.layout.dims)
        return whole[tuple(map(slice, block.n))].reshape(-1)
    layout = block.layout if isinstance(block, ExpandBy) else block
    dims = layout.dims
    if isinstance(layout, Layout) and len(layout.tiles) > 1:
        outer = layout.tiles[0]
        inner = prod(dims) // prod(outer)
        return _varied(np.unravel_index(np.arange(layout.size) // inner, outer))
    plain = np.full(layout.size, PLAIN)
    if not layout.has_inverse or (layout.size > GEOMETRY and not _levels(layout)):
        return plain
    if layout is not block:
        flat = table(layout)
    length = _levels(layout) or _box(dims, flat)
    if not length:
        return plain
    corners = np.stack(np.unravel_index(np.argsort(flat), dims)).reshape(len(dims), -1, length)
    firsts = [np.unique(axis.min(axis=1), return_inverse=True)[1] for axis in corners]
    return _varied(firsts)[flat // length]


def _varied(tile: Sequence[np.ndarray]) -> np.ndarray:
    """Colours for tiles by their coordinates: neighbours along an axis or a diagonal differ."""
    weights = [1, 3, 5, 7]
    total = sum(weights[k % 4] * axis for k, axis in enumerate(reversed(tile)))
    return np.asarray(total) % PLAIN


def _levels(layout: Block) -> int:
    """How many elements lie in an outermost tile, where the last OrderBy has several levels."""
    last = layout.chain[-1] if isinstance(layout, Layout) and layout.chain else None
    return prod(p.size for p in last.perms[1:]) if last and len(last.perms) > 1 else 0


def _box(dims: tuple[int, ...], flat: np.ndarray) -> int:
    """How many neighbours in memory make a box in the logical view: the largest that is a part of
    every axis, else the largest slab of whole axes; 0 where there is none."""
    size, slab = len(flat), 0
    if sum(n > 1 for n in dims) < 2:
        return 0
    coordinates = np.stack(np.unravel_index(np.argsort(flat), dims))
    for length in (n for n in range(size // 2, 1, -1) if size % n == 0):
        blocks = coordinates.reshape(len(dims), -1, length)
        extents = blocks.max(axis=2) - blocks.min(axis=2) + 1
        extent = extents[:, 0]
        if (extents != extent[:, None]).any() or prod(extent.tolist()) != length:
            continue
        if all(1 < e < n or n == 1 for e, n in zip(extent.tolist(), dims, strict=True)):
            return length
        if not slab and all(e in (1, n) for e, n in zip(extent.tolist(), dims, strict=True)):
            slab = length
    return slab


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
    """The sheet as coloured text (click.echo takes the colours out where there is no terminal).

    width, height: characters and lines of the terminal; what does not fit is left out in the
        middle, and the last line says so.
    order: an arrow in each cell to the next one in memory.
    """
    import click

    shape = sheet.positions.shape
    rows = kept(shape[0], max((height - 4) // sheet.deep, 3))
    margin = max(map(len, sheet.rows)) + 1
    wide = max(sheet.widest, *map(len, sheet.columns), 2) + order
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
    lines = [sheet.title, head.rstrip()]
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
        lines.append(f"arrows lead to the next element in memory; {ELSEWHERE}: it is no neighbour")
    if None in rows or None in columns:
        shown = [len([k for k in axis if k is not None]) for axis in (rows, columns)]
        lines.append(
            f"{shown[0]} of {shape[0]} rows and {shown[1]} of {shape[1]} columns; a wider window "
            "or -o FILE.svg shows more"
        )
    return "\n".join(lines)


def _styled(sheet: Sheet, row: int, column: int, text: str) -> str:
    import click

    if sheet.positions[row, column] < 0:
        return click.style(text, dim=True)
    return click.style(text, fg=16, bg=PALETTE[int(sheet.colours[row, column])][1])


def wants_colour() -> bool | None:
    """For click.echo: no colours where NO_COLOR is set (no-color.org), else where it can."""
    return False if os.environ.get("NO_COLOR") else None

"""A picture in a figure of Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

from .cells import MASKED, NONE, PALETTE, Sheet
from .sheet import kept

INK = "black"  # on the light colors of cells, whatever the figure's style is
WRITTEN = 1024  # cells whose texts are written


def plotted(pages: Sequence[Sheet], axes: Any, most: int, order: bool = False) -> Any:
    """The sheets drawn into axes, or into those of a new figure, side by side: the axes, one or an array.

    most: rows and columns that are drawn. order: a line through the cells in the order of memory. Raises
    ImportError where Matplotlib is missing.
    """
    if axes is None:
        from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

        wide = sum(min(page.shape[1], most) for page in pages)
        tall = max(min(page.shape[0], most) for page in pages)
        size = (1 + 0.4 * wide, 1 + 0.4 * tall)
        _, axes = pyplot.subplots(1, len(pages), figsize=size, layout="constrained")
    for page, one in zip(pages, axes if len(pages) > 1 else [axes], strict=True):
        _draw(page, one, most, order)
    return axes


def _draw(page: Sheet, axes: Any, most: int, order: bool) -> None:
    rows, columns = (kept(n, most) for n in page.shape)
    axes.imshow([[_color(page, r, c) for c in columns] for r in rows])
    if len(rows) * len(columns) <= WRITTEN:
        for y, r in enumerate(rows):
            for x, c in enumerate(columns):
                if r is not None and c is not None and page.cell(r, c).position >= 0:
                    text = "\n".join(page.lines(r, c))
                    axes.text(x, y, text, ha="center", va="center", fontsize="small", color=INK)
    if order:
        across, down = ({k: at for at, k in enumerate(shown)} for shown in (columns, rows))
        path = [(across.get(c, nan), down.get(r, nan)) for r, c in page.path]
        axes.plot(*zip(*path, strict=True), color=INK, linewidth=1, alpha=0.5)
    for shown, block, line in (
        (rows, page.blocks[0], axes.axhline),
        (columns, page.blocks[1], axes.axvline),
    ):
        for at, k in enumerate(shown):
            if k and k % block == 0:
                line(at - 0.5, color=INK, linewidth=1.5)
    axes.set_yticks(range(len(rows)), ["⋮" if r is None else page.rows[r] for r in rows])
    axes.set_xticks(range(len(columns)), ["…" if c is None else page.columns[c] for c in columns])
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    axes.set_xlabel(page.title)


def _color(page: Sheet, r: int | None, c: int | None) -> tuple[float, ...]:
    """A cell's red, green and blue; white where there is none."""
    if r is None or c is None or page.cell(r, c).position == NONE:
        return 1.0, 1.0, 1.0
    position, _, color = page.cell(r, c)
    text = "#F6F6F6" if position == MASKED else PALETTE[color][0]
    return tuple(int(text[k : k + 2], 16) / 255 for k in (1, 3, 5))

"""Pictures of layouts, as in Figs. 2, 6 and 8: SVG, HTML, TikZ and, with CairoSVG, PNG; tables."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..algebra.block import Block
from ..errors import LayoutError, LegoError, brief_methods, short_repr
from ..files import write_if_changed
from .cells import MASKED, NONE, PALETTE, Sheet
from .holders import Holders
from .plotted import plotted
from .sheet import kept, sheet, terminal
from .tabular import csv, markdown
from .tikz import tikz

MOST = 64  # rows and columns of a picture; further ones are left out in the middle
WHOLE, FEW = 1024, 20  # cells that a notebook shows in full; rows and columns of more
HEIGHT, GAP, MARGIN = 34, 10, 14  # of a cell, between blocks, around the grid, in pixels
LETTER = 7.4  # a digit's width at 13 pixels
CAPTION = 6.7  # a letter's width in the caption
LINE = 15  # of each further line in a cell
SMALL, LANE = 6, 10  # a digit's width at 10 pixels, arrows from a cell's right and bottom
STEP, LONGEST = 0.25, 60  # seconds of an animation: for each cell, in all
SIZE = re.compile(r'(?:width|height)="([\d.]+)"')
FORMATS = (".svg", ".png", ".html", ".tex")
TABLES = {".csv": csv, ".md": markdown}


@brief_methods
@dataclass(frozen=True)
class Picture:
    """What show() gives: one layout or several side by side, drawn where it is looked at.

    A notebook draws it, print() writes it as in a terminal, save() makes a file. pages: the sheets.
    order: arrows along the memory. animate: a frame that goes along it.
    """

    pages: tuple[Sheet, ...]
    order: bool = False
    animate: bool = False

    def svg(self) -> str:
        """The picture as SVG. Raises LayoutError where order or animate is asked for and there is no path
        through memory."""
        return side_by_side([svg(page, self.order, self.animate) for page in self.pages])

    def tikz(self) -> str:
        """A LaTeX document that draws it with TikZ, as CuTe's print_latex does; without arrows and frames."""
        return tikz(self.pages, MOST)

    def plot(self, ax: Any = None) -> Any:
        """It in Matplotlib's axes ax, or in those of a new figure, which are returned; of several layouts an array
        of them; order is a line, and animate is left out. Where Matplotlib is missing the picture itself, which a
        notebook draws as SVG."""
        try:
            return plotted(self.pages, ax, MOST, self.order)
        except ImportError:
            return self

    def html(self) -> str:
        """A page of its own; a cell says its index and position under the mouse."""
        titles = " and ".join(escape(page.title) for page in self.pages)
        return (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
            f"<title>{titles}</title>\n"
            "<style>body { margin: 2em; } svg { max-width: 100%; height: auto; }</style>\n"
            f"{self.svg()}</html>\n"
        )

    def contents(self, path: str | Path) -> str | bytes:
        """The contents of a picture file, or of a table's, by the ending of its name.

        Raises LegoError on an ending that is none of FORMATS and TABLES, on a table of several
        layouts, and on .png without CairoSVG.
        """
        suffix = Path(path).suffix.lower()
        if suffix == ".svg":
            return self.svg()
        if suffix == ".html":
            return self.html()
        if suffix == ".png":
            return png(self.svg())
        if suffix == ".tex":
            return self.tikz()
        if suffix in TABLES:
            page, *others = self.pages
            if others:
                raise LegoError(f"{path}: a table has one layout; leave the other one out")
            return TABLES[suffix](page)
        raise LegoError(
            f"{path}: a picture is one of {', '.join(FORMATS)}, a table one of {', '.join(TABLES)}, "
            f"not {repr(suffix) if suffix else 'a name without one'}"
        )

    def save(self, path: str | Path) -> bool:
        """Write a picture or a table, atomically; True where the file changed. Raises as contents()
        does."""
        return write_if_changed(path, self.contents(path))

    def text(self, width: int = 80, height: int = 24) -> str:
        """The picture for a terminal of so many characters and lines, in color."""
        return "\n\n".join(terminal(page, width, height, self.order) for page in self.pages)

    def __str__(self) -> str:
        import click

        return "\n".join(line.rstrip() for line in click.unstyle(self.text()).splitlines())

    def __repr__(self) -> str:
        return f"<picture of {' and '.join(page.title for page in self.pages)}>"

    def _repr_html_(self) -> str:
        return side_by_side([_in_a_notebook(page, self.order, self.animate) for page in self.pages])


def of_layout(
    layout: Block,
    *,
    order: bool = False,
    inv: bool = False,
    color: str | None = None,
    view: str | None = None,
    tile: Sequence[int] | None = None,
    bits: int = 32,
    beside: Block | None = None,
    animate: bool = False,
) -> Picture:
    """The picture of a layout, as Block.show returns it, with its options."""
    layouts = [layout] if beside is None else [layout, beside]
    if not isinstance(layouts[-1], Block):
        raise LayoutError(f"beside is {short_repr(beside)}; give a layout")
    pages = tuple(sheet(one, inv, view, color, tile, bits) for one in layouts)
    return drawn(pages, order, animate)


def drawn(pages: Sequence[Sheet], order: bool = False, animate: bool = False) -> Picture:
    """A picture of sheets. Raises LayoutError where order or animate is asked for and there is no path
    through memory."""
    if order or animate:
        for page in pages:
            _ = page.path
    return Picture(tuple(pages), order, animate)


def notebook(layout: Block) -> str:
    """What a notebook shows for a layout: its picture or, of symbolic sizes, its text."""
    if layout.is_concrete:
        try:
            return _in_a_notebook(sheet(layout))
        except LayoutError:  # no picture of a tensor of many dimensions
            pass
    return f"<code>{escape(repr(layout))}</code>"


def _in_a_notebook(page: Sheet, order: bool = False, animate: bool = False) -> str:
    """A sheet as SVG; of many cells the first and last rows and columns, for a notebook keeps each picture."""
    height, width = (min(n, MOST) for n in page.shape)
    return svg(page, order, animate, MOST if height * width <= WHOLE else FEW)


def side_by_side(drawings: Sequence[str]) -> str:
    """Several SVGs as one."""
    if len(drawings) == 1:
        return drawings[0]
    sizes = [[float(n) for n in SIZE.findall(drawing)[:2]] for drawing in drawings]
    height = max(tall for _, tall in sizes)
    out, x = [], 0.0
    for drawing, (width, _) in zip(drawings, sizes, strict=True):
        out.append(drawing.replace("<svg ", f'<svg x="{x:g}" ', 1))
        x += width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x:g}" height="{height:g}" '
        f'viewBox="0 0 {x:g} {height:g}" role="img">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{"".join(out)}</svg>\n'
    )


def png(drawing: str, scale: float = 2) -> bytes:
    """An SVG as PNG. Raises LegoError where CairoSVG or the cairo library is missing."""
    try:
        import cairosvg
    except (ImportError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise LegoError(
            f"a .png needs CairoSVG and the cairo library ({reason}): pip install "
            "cairosvg, and on Debian apt-get install libcairo2; .svg and .html need "
            "neither"
        ) from None
    convert: Callable[..., Any] = cairosvg.svg2png  # its own types are inferred too narrowly
    return convert(bytestring=drawing.encode(), scale=scale)


def svg(page: Sheet, order: bool = False, animate: bool = False, most: int = MOST) -> str:
    """The sheet as an SVG picture: tiles colored and outlined, masked cells hollow.

    order: arrows from each cell to the next one in memory, dashed where it is no neighbor. animate: a
    frame that goes from cell to cell in this order. most: rows and columns that are drawn.
    """
    rows, columns = (kept(n, most) for n in page.shape)
    cells = [(r, c) for r in rows for c in columns if r is not None and c is not None]
    texts = {(r, c): _lines(page, r, c) for r, c in cells}
    longest = max(len(line) for lines in texts.values() for line in lines)
    tall = _tall(page)
    labels = max(len(page.columns[c]) for c in columns if c is not None)
    wanted = SMALL * longest + 2 * LANE if order else LETTER * longest + 14
    width = max(HEIGHT, round(wanted), round(6.5 * labels + 6))
    left = MARGIN + 7 * max(len(page.rows[r]) for r in rows if r is not None) + 6
    top = MARGIN + 16
    ys = _places(rows, page.blocks[0], top, tall)
    xs = _places(columns, page.blocks[1], left, width)
    right, bottom = max(xs.values()) + width, max(ys.values()) + tall
    across = max(int((right - left) / CAPTION), 44)
    caption = _wrapped(page.title, across)
    legend = textwrap.wrap(page.legend, across)
    full_width = max(right, left + CAPTION * max(map(len, [*caption, *legend]))) + MARGIN
    full_height = bottom + 12 + 16 * len([*caption, *legend]) + MARGIN - 6

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full_width:g}" height="{full_height:g}" '
        f'viewBox="0 0 {full_width:g} {full_height:g}" role="img" '
        'font-family="Helvetica, Arial, sans-serif">',
        f"<title>{escape(page.title)}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        '<g font-size="11" fill="#666" text-anchor="middle">',
    ]
    for c, x in xs.items():
        out.append(_text(x + width / 2, top - 6, page.columns[c]))
    for r, y in ys.items():
        out.append(_text(left - 8, y + tall / 2 + 4, page.rows[r], ' text-anchor="end"'))
    out += _ellipses(rows, columns, xs, ys, (width, tall))
    out += ["</g>", '<g stroke="#fff" stroke-width="1.5">']
    for r, c in cells:
        out.append(_cell(page, r, c, xs[c], ys[r], width))
    out += ["</g>", *_outlines(page, rows, columns, xs, ys, width)]
    size, dy = (10, 12) if order else (13, HEIGHT / 2 + 4.5)
    anchor = "start" if order else "middle"
    out.append(f'<g font-size="{size}" fill="#111" text-anchor="{anchor}">')
    for (r, c), said in texts.items():
        if page.cell(r, c).position not in (
            (NONE,) if isinstance(page, Holders) else (MASKED, NONE)
        ):
            dx = 4 if order else width / 2
            first = 0 if order else (tall - HEIGHT - LINE * (len(said) - 1)) / 2
            for k, line in enumerate(said):
                out.append(_text(xs[c] + dx, ys[r] + dy + first + LINE * k, line))
    out.append("</g>")
    if order:
        out += _path(page, xs, ys, width)
    if animate:
        out += _walk(page, xs, ys, width)
    out.append('<g font-size="11" fill="#333" font-family="Menlo, Consolas, monospace">')
    for k, line in enumerate(caption):
        out.append(_text(left, bottom + 22 + 16 * k, line))
    out.append('</g>\n<g font-size="11" fill="#666">')
    for k, line in enumerate(legend, len(caption)):
        out.append(_text(left, bottom + 22 + 16 * k, line))
    out += ["</g>", "</svg>"]
    return "\n".join(out) + "\n"


def _lines(page: Sheet, r: int, c: int) -> Sequence[str]:
    """What is written in a cell, line by line."""
    said = page.lines(r, c)
    if isinstance(page, Holders) and page.stacked and " " in said[0]:
        return said[0].rsplit(" ", 1)
    return said


def _tall(page: Sheet) -> int:
    """The height of a cell."""
    stacked = isinstance(page, Holders) and page.stacked
    return HEIGHT + LINE * (page.deep - 1) + 4 * stacked


def _places(shown: list[int | None], block: int, start: float, size: float) -> dict[int, float]:
    """Where each row or column begins."""
    places, at = {}, start
    for k in shown:
        if k is None:
            at += 24
            continue
        at += GAP * (k > 0 and k % block == 0)
        places[k] = at
        at += size
    return places


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(text)}</text>' if text else ""


def _cell(page: Sheet, r: int, c: int, x: float, y: float, width: float) -> str:
    position, logical, color = page.cell(r, c)
    if position == NONE:
        return ""
    fill = PALETTE[color][0]
    if MASKED in (position, logical):
        fill = "#f6f6f6"
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{_tall(page)}" fill="{fill}">'
        f"<title>{page.note(r, c)}</title></rect>"
    )


def _outlines(page, rows, columns, xs, ys, width) -> list[str]:
    """Lines between cells of different colors, and around the grid."""
    lines, tall = [], _tall(page)
    height, across = page.shape

    def kind(r: int, c: int) -> int:
        if not (0 <= r < height and 0 <= c < across):
            return NONE
        position, _, color = page.cell(r, c)
        return position if position < 0 else color * page.outlined

    for r, y in ys.items():
        for c, x in xs.items():
            mine = kind(r, c)
            if kind(r, c - 1) != mine or c % page.blocks[1] == 0:
                lines.append(f"M{x:g} {y:g}v{tall}")
            if kind(r - 1, c) != mine or r % page.blocks[0] == 0:
                lines.append(f"M{x:g} {y:g}h{width:g}")
            if mine != NONE and (kind(r, c + 1) == NONE or (c + 1) % page.blocks[1] == 0):
                lines.append(f"M{x + width:g} {y:g}v{tall}")
            if mine != NONE and (kind(r + 1, c) == NONE or (r + 1) % page.blocks[0] == 0):
                lines.append(f"M{x:g} {y + tall:g}h{width:g}")
    path = "".join(lines)
    return [f'<path d="{path}" stroke="#333" stroke-width="1.5" stroke-linecap="square"/>']


def _ellipses(rows, columns, xs, ys, size) -> list[str]:
    width, tall = size
    out = []
    if None in columns:
        last = xs[columns[-1]]
        out += [_text(last - 12, y + tall / 2 + 4, "…") for y in ys.values()]
    if None in rows:
        last = ys[rows[-1]]
        out += [_text(x + width / 2, last - 8, "⋮") for x in xs.values()]
    return out


def _path(page: Sheet, xs: dict[int, float], ys: dict[int, float], width: float) -> list[str]:
    """Arrows along the memory, a dot where it begins and a ring where it ends. They keep to the lower
    right of the cells and to their borders, so that no number is crossed."""
    steps, jumps, heads, tall = [], [], [], _tall(page)

    def place(cell: tuple[int, int]) -> tuple[float, float]:
        return xs[cell[1]] + width - LANE, ys[cell[0]] + tall - LANE

    shown = [(r, c) for r, c in page.path if r in ys and c in xs]
    following = dict(pairwise(page.path))
    for r, c in shown:
        down, right = following.get((r, c), (-1, -1))
        if down not in ys or right not in xs:
            continue
        (x0, y0), (x1, y1) = place((r, c)), place((down, right))
        near = abs(down - r) <= 1 and abs(right - c) <= 1
        points = [(x0, y0), (x1, y1)]
        up = y1 < y0
        if near and (down - r) * (right - c) < 0:  # through the corner where the cells meet
            points.insert(1, (xs[max(c, right)], ys[r] if up else ys[down]))
        elif not near or (x0 != x1 and y0 != y1):  # along the border of the rows
            border = ys[r] - 2 if up else ys[r] + tall + 2
            points = [(x0, y0), (x0, border), (x1, border), (x1, y1)]
            if abs(down - r) > 1:  # beside the arrows of its column
                end = ys[down] + tall + 2 if up else ys[down] - 2
                points[2:3] = [(x1 + 5, border), (x1 + 5, end), (x1, end)]
        (ax, ay), (bx, by) = points[-2:]
        length = math.hypot(bx - ax, by - ay)
        ux, uy = (bx - ax) / length, (by - ay) / length
        tip_x, tip_y = bx - 4 * ux, by - 4 * uy
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in [*points[:-1], (tip_x, tip_y)])
        (steps if near else jumps).append(f"M{line}")
        heads.append(
            f"M{tip_x:.1f} {tip_y:.1f}l{-6 * ux - 3 * uy:.1f} {-6 * uy + 3 * ux:.1f}"
            f"l{6 * uy:.1f} {-6 * ux:.1f}z"
        )
    ends = []
    for cell, fill in ((page.path[0], "#222"), (page.path[-1], "#fff")):
        if cell[0] in ys and cell[1] in xs:
            x, y = place(cell)
            ends.append(
                f'<circle cx="{x:g}" cy="{y:g}" r="3.5" fill="{fill}" stroke="#222" '
                'stroke-width="1.5"/>'
            )
    return [
        f'<path d="{"".join(jumps)}" fill="none" stroke="#222" stroke-width="0.9" '
        'stroke-dasharray="3 3" opacity="0.6"/>',
        f'<path d="{"".join(steps)}" fill="none" stroke="#222" stroke-width="1.5"/>',
        f'<path d="{"".join(heads)}" fill="#222"/>',
        *ends,
    ]


def _walk(page: Sheet, xs: dict[int, float], ys: dict[int, float], width: float) -> list[str]:
    """A frame that goes through the cells in the order of memory, again and again."""
    shown = [(r, c) for r, c in page.path if r in ys and c in xs]
    seconds = min(max(STEP * len(shown), 2), LONGEST)
    moves = [
        f'<animate attributeName="{name}" values="{";".join(f"{v:g}" for v in values)}" '
        f'dur="{seconds:g}s" calcMode="discrete" repeatCount="indefinite"/>'
        for name, values in (("x", [xs[c] for _, c in shown]), ("y", [ys[r] for r, _ in shown]))
    ]
    x, y = xs[shown[0][1]], ys[shown[0][0]]
    return [
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{_tall(page)}" fill="none" '
        f'stroke="#c00" stroke-width="4">{"".join(moves)}</rect>'
    ]


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most this width, broken before a dot of the chain or after a comma
    outside brackets."""
    lines = [""]
    pieces = re.split(r"(?<=\))(?=\.)|(?<=, )(?![^\[]*\])", text)
    for piece in pieces:
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines]

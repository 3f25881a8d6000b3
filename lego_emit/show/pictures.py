"""Pictures of layouts, as in Figs. 2, 6 and 8: SVG, HTML and, with lego-emit[plot], PNG; tables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from ..algebra.block import Block
from ..errors import LayoutError, LegoError
from .cells import MASKED, NONE, PALETTE, Sheet
from .holders import Holders
from .sheet import kept, sheet
from .tabular import csv, markdown

MOST = 64  # rows and columns of a picture; further ones are left out in the middle
HEIGHT, GAP, MARGIN = 34, 10, 14  # of a cell, between blocks, around the grid, in pixels
LETTER = 7.4  # a digit's width at 13 pixels
CAPTION = 6.7  # a letter's width in the caption
LINE = 15  # of each further line in a cell
FORMATS = (".svg", ".png", ".html")
TABLES = {".csv": csv, ".md": markdown}


def picture(page: Sheet, path: str | Path, order: bool = False) -> str | bytes:
    """The contents of a picture file, or of a table's, by the ending of its name.

    Raises LegoError on an ending that is none of FORMATS and TABLES, and on .png without
    lego-emit[plot].
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".svg":
        return svg(page, order)
    if suffix == ".html":
        return html(page, order)
    if suffix == ".png":
        return png(svg(page, order))
    if suffix in TABLES:
        return TABLES[suffix](page)
    raise LegoError(
        f"{path}: a picture is one of {', '.join(FORMATS)}, a table one of {', '.join(TABLES)}, not "
        f"{suffix or 'that'!r}"
    )


def html(page: Sheet, order: bool = False) -> str:
    """A page of its own; a cell says its index and position under the mouse."""
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{escape(page.title)}</title>\n"
        "<style>body { margin: 2em; } svg { max-width: 100%; height: auto; }</style>\n"
        f"{svg(page, order)}</html>\n"
    )


def notebook(layout: Block) -> str:
    """What a notebook shows for a layout: its picture or, of symbolic or large sizes, its text."""
    if not layout.is_concrete or layout.size > MOST**2:
        return f"<code>{escape(repr(layout))}</code>"
    try:
        return svg(sheet(layout))
    except LayoutError:  # no picture of a tensor of many dimensions
        return f"<code>{escape(repr(layout))}</code>"


def png(drawing: str, scale: float = 2) -> bytes:
    """An SVG as PNG. Raises LegoError where CairoSVG or the cairo library is missing."""
    try:
        import cairosvg
    except (ImportError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise LegoError(
            f"a .png needs CairoSVG and the cairo library ({reason}): pip install "
            "'lego-emit[plot]', and on Debian apt-get install libcairo2; .svg and .html need "
            "neither"
        ) from None
    convert: Callable[..., Any] = cairosvg.svg2png  # its own types are inferred too narrowly
    return convert(bytestring=drawing.encode(), scale=scale)


def svg(page: Sheet, order: bool = False) -> str:
    """The sheet as an SVG picture: tiles coloured and outlined, masked cells hollow.

    order: arrows from each cell to the next one in memory, dashed where it is no neighbour.
    """
    rows, columns = (kept(n, MOST) for n in page.shape)
    cells = [(r, c) for r in rows for c in columns if r is not None and c is not None]
    longest = max(len(line) for r, c in cells for line in page.lines(r, c))
    tall = _tall(page)
    labels = max(len(page.columns[c]) for c in columns if c is not None)
    width = max(HEIGHT, round(LETTER * longest + 14), round(6.5 * labels + 6))
    left = MARGIN + 7 * max(len(page.rows[r]) for r in rows if r is not None) + 6
    top = MARGIN + 16
    ys = _places(rows, page.blocks[0], top, tall)
    xs = _places(columns, page.blocks[1], left, width)
    right, bottom = max(xs.values()) + width, max(ys.values()) + tall
    caption = _wrapped(page.title, max(int((right - left) / CAPTION), 44))
    full_width = max(right, left + CAPTION * max(map(len, caption))) + MARGIN
    full_height = bottom + 12 + 16 * len(caption) + MARGIN - 6

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full_width:g}" height="{full_height:g}" '
        f'viewBox="0 0 {full_width:g} {full_height:g}" role="img" '
        'font-family="Helvetica, Arial, sans-serif">',
        f"<title>{escape(page.title)}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        '<g font-size="11" fill="#777" text-anchor="middle">',
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
    for r, c in cells:
        if page.cell(r, c).position not in (
            (NONE,) if isinstance(page, Holders) else (MASKED, NONE)
        ):
            dx, said = 4 if order else width / 2, page.lines(r, c)
            first = 0 if order else (tall - HEIGHT - LINE * (len(said) - 1)) / 2
            for k, line in enumerate(said):
                out.append(_text(xs[c] + dx, ys[r] + dy + first + LINE * k, line))
    out.append("</g>")
    if order:
        out += _path(page, xs, ys, width)
    out.append('<g font-size="11" fill="#333" font-family="Menlo, Consolas, monospace">')
    for k, line in enumerate(caption):
        out.append(_text(left, bottom + 22 + 16 * k, line))
    out += ["</g>", "</svg>"]
    return "\n".join(out) + "\n"


def _tall(page: Sheet) -> int:
    """The height of a cell."""
    return HEIGHT + LINE * (page.deep - 1)


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
    position, logical, colour = page.cell(r, c)
    if position == NONE:
        return ""
    fill = PALETTE[colour][0]
    if MASKED in (position, logical):
        fill = "#f6f6f6"
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{_tall(page)}" fill="{fill}">'
        f"<title>{page.note(r, c)}</title></rect>"
    )


def _outlines(page, rows, columns, xs, ys, width) -> list[str]:
    """Lines between cells of different colours, and around the grid."""
    lines, tall = [], _tall(page)
    height, across = page.shape

    def kind(r: int, c: int) -> int:
        if not (0 <= r < height and 0 <= c < across):
            return NONE
        position, _, colour = page.cell(r, c)
        return position if position < 0 else colour

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
    """Arrows along the memory, a dot where it begins."""
    steps, jumps, heads, tall = [], [], [], _tall(page)
    for (r, c), (down, right) in zip(page.path, page.path[1:], strict=False):
        if not (r in ys and c in xs and down in ys and right in xs):
            continue
        x0, y0 = xs[c] + width / 2, ys[r] + tall / 2 + 3
        x1, y1 = xs[right] + width / 2, ys[down] + tall / 2 + 3
        near = abs(down - r) <= 1 and abs(right - c) <= 1
        length = math.hypot(x1 - x0, y1 - y0)
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        tip_x, tip_y = x1 - 4 * ux, y1 - 4 * uy
        (steps if near else jumps).append(f"M{x0:.1f} {y0:.1f}L{tip_x:.1f} {tip_y:.1f}")
        heads.append(
            f"M{tip_x:.1f} {tip_y:.1f}l{-6 * ux - 3 * uy:.1f} {-6 * uy + 3 * ux:.1f}"
            f"l{6 * uy:.1f} {-6 * ux:.1f}z"
        )
    first, last = page.path[0], page.path[-1]
    ends = [
        f'<circle cx="{xs[c] + width / 2:g}" cy="{ys[r] + tall / 2 + 3:g}" r="3.5" '
        f'fill="{fill}" stroke="#222" stroke-width="1.5"/>'
        for (r, c), fill in ((first, "#222"), (last, "#fff"))
        if r in ys and c in xs
    ]
    return [
        f'<path d="{"".join(jumps)}" fill="none" stroke="#222" stroke-width="0.9" '
        'stroke-dasharray="3 3" opacity="0.6"/>',
        f'<path d="{"".join(steps)}" fill="none" stroke="#222" stroke-width="1.5"/>',
        f'<path d="{"".join(heads)}" fill="#222"/>',
        *ends,
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

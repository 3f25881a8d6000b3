"""A sheet as TikZ, in the form of CuTe's print_latex: a document of its own, a node for each cell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .cells import MASKED, NONE, PALETTE, Sheet
from .sheet import kept

GAP = 0.3  # between blocks, in cells
SPECIAL = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "…": r"\dots{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip


def tikz(pages: Sequence[Sheet], most: int) -> str:
    """The sheets as a LaTeX document. most: rows and columns that are drawn; of more the middle is left out."""
    hues = sorted({page.cell(r, c).color for page in pages for r, c in _cells(page, most)})
    return "\n".join(
        [
            r"\documentclass[tikz,border=4pt]{standalone}",
            *(
                rf"\definecolor{{lego{k}}}{{HTML}}{{{PALETTE[k][0].removeprefix('#')}}}"
                for k in hues
            ),
            r"\begin{document}",
            *(line for page in pages for line in _picture(page, most)),
            r"\end{document}",
            "",
        ]
    )


def _cells(page: Sheet, most: int) -> list[tuple[int, int]]:
    rows, columns = (kept(n, most) for n in page.shape)
    return [(r, c) for r in rows for c in columns if r is not None and c is not None]


def _picture(page: Sheet, most: int) -> list[str]:
    rows, columns = (
        _places(kept(n, most), block) for n, block in zip(page.shape, page.blocks, strict=True)
    )
    lines = [
        f"% {' '.join(page.title.split())}",
        r"\begin{tikzpicture}[x={(0cm,-1cm)},y={(1cm,0cm)},every node/.style={minimum size=1cm,"
        r"inner sep=0pt,outer sep=0pt,font=\ttfamily\small,align=center}]",
    ]
    for r, c in _cells(page, most):
        position, _, color = page.cell(r, c)
        if position == NONE:
            continue
        fill = "black!4" if position == MASKED else f"lego{color}"
        text = "" if position == MASKED else r"\\".join(map(_escaped, page.lines(r, c)))
        lines.append(rf"\node[fill={fill},draw=black] at ({rows[r]:g},{columns[c]:g}) {{{text}}};")
    lines += [rf"\node at ({x:g},-1) {{{_escaped(page.rows[r])}}};" for r, x in rows.items()]
    lines += [rf"\node at (-1,{y:g}) {{{_escaped(page.columns[c])}}};" for c, y in columns.items()]
    return [*lines, r"\end{tikzpicture}"]


def _places(shown: Sequence[int | None], block: int) -> dict[int, float]:
    """Where each row or column is, in cells."""
    places, at = {}, 0.0
    for k in shown:
        if k is not None:
            at += GAP * (k > 0 and k % block == 0)
            places[k] = at
        at += 1
    return places


def _escaped(text: str) -> str:
    """Text as LaTeX takes it, its special characters written out."""
    return re.sub("|".join(map(re.escape, SPECIAL)), lambda found: SPECIAL[found[0]], text)

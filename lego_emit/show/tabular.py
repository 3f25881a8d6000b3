"""A sheet as a table: CSV and Markdown, all its cells."""

from __future__ import annotations

import csv as writer
import io

from .cells import Sheet


def csv(page: Sheet) -> str:
    """The sheet as CSV: its columns' labels, then a line for each row."""
    out = io.StringIO()
    writer.writer(out, lineterminator="\n").writerows(_lines(page))
    return out.getvalue()


def markdown(page: Sheet) -> str:
    """The sheet as a table of Markdown."""
    head, *rest = [[cell.replace("|", "\\|") for cell in line] for line in _lines(page)]
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rest]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _lines(page: Sheet) -> list[list[str]]:
    height, width = page.shape
    return [
        [page.axes, *page.columns],
        *([page.rows[r], *(page.text(r, c) for c in range(width))] for r in range(height)),
    ]

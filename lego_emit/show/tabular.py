"""A sheet as a table: CSV, Markdown and data, all its cells."""

from __future__ import annotations

import csv as writer
import io
from typing import Any

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


def data(page: Sheet) -> dict[str, Any]:
    """The sheet as JSON has it: title, axes, the labels of rows and columns, and cells, a list for each row, of
    integers where a cell says one, of texts elsewhere, and None where nothing is."""
    (_, *columns), *rest = _lines(page)
    cells = [[int(c) if c.isdecimal() else c or None for c in line[1:]] for line in rest]
    return {
        "title": page.title,
        "axes": page.axes,
        "rows": [line[0] for line in rest],
        "columns": columns,
        "cells": cells,
    }


def _lines(page: Sheet) -> list[list[str]]:
    height, width = page.shape
    return [
        [page.axes, *page.columns],
        *([page.rows[r], *(page.text(r, c) for c in range(width))] for r in range(height)),
    ]

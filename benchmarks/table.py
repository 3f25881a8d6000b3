"""Plain aligned tables that are Markdown too."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """The table; the first `left` columns are aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * width if k < left else "-" * (width - 1) + ":" for k, width in enumerate(widths)]
    return "\n".join([line(header), line(rule), *map(line, rows)])


def milliseconds(value: float) -> str:
    """Three digits or so."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"

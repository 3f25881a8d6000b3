"""lego-emit recognize: which layout makes a table."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click

from ..files import integers
from .output import DASH, OutputPath, check_one_print, print_json, put
from .root import FAILED, json_option, main, numbers_option

# Of a layout's expression, by the module that has them; the other names are at the top.
_ELSEWHERE = {
    "Padded": "lego_emit.algebra.masked",
    "Swizzle": "lego_emit.cute",
    "Swizzled": "lego_emit.cute",
}


@main.command(epilog="lego-emit recognize table.txt --dims 6,8 -o layout.py")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--dims",
    metavar="M,N",
    callback=numbers_option,
    help="The sizes of the indices; otherwise those of the array, or lines and columns.",
)
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE.py",
    help="A file that defines it as `layout`, for lego-emit generate FILE.py:layout.",
)
@json_option
def recognize(file: Path, dims: tuple[int, ...] | None, output: Path | None, as_json: bool) -> None:
    """Say which layout makes a table of positions.

    FILE is a NumPy array (.npy), or text of integers with commas, spaces or brackets between them, a
    line for each row; # begins a comment. Exit code 1 where no layout is known.
    """
    check_one_print(output, as_json)
    from ..algebra.reference import table
    from ..formats import catalogue
    from ..packages import numpy as np
    from ..recognition import recognize

    found = recognize(_read(file), dims)
    if as_json:
        print_json({"layout": found.written or None, "kind": found.kind, "why": found.why})
    elif found.layout is not None:
        click.echo(f"{found.written}\n{found.kind}: {found.why}", err=output == DASH)
    else:
        click.echo(found.why, err=output == DASH)
    if found.layout is None:
        sys.exit(FAILED)
    if not as_json and found.layout.results is None and found.kind != "catalogue":
        positions = table(found.layout).reshape(found.layout.dims)
        steps = (np.diff(positions, axis=k) for k in range(positions.ndim))
        if any(np.unique(step).size > 1 for step in steps):  # of a plain one every tile is a case
            for written, _ in catalogue.named(positions):
                click.echo(f"it is {written}", err=output == DASH)
    if output is not None:
        put(output, _module(found.written, file.name))


def _read(file: Path) -> Any:
    """The array, or a list for each line; one list where each line, or the only one, holds one."""
    rows = integers(file)
    if isinstance(rows, list) and (len(rows) == 1 or all(len(row) == 1 for row in rows)):
        return [entry for row in rows for entry in row]
    return rows


def _module(expression: str, name: str) -> str:
    names = sorted({*re.findall(r"(?<![.\w])([A-Z]\w*(?=\()|catalogue\b)", expression)})
    lines = [f'"""The layout of {name!r}."""\n']
    homes = {name: _ELSEWHERE.get(name, "lego_emit") for name in names}
    for module in sorted({*homes.values()}):
        lines.append(f"from {module} import {', '.join(n for n in names if homes[n] == module)}")
    return "\n".join([*lines, "", f"layout = {expression}", ""])

"""What the commands print beside plain lines: tables, pictures of layouts, progress.

On a terminal through rich; elsewhere plain lines without trailing blanks.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

import click

from ..files import write_all

DASH = Path("-")  # as a file to write: standard output


class OutputPath(click.Path):
    """What -o names: a file, or standard output where it is DASH; ./- is a file of that name."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; of a file that is called -, the absolute one."""
        super().convert(value, param, ctx)
        path = Path(value)
        return path.absolute() if path == DASH and str(value) != "-" else path


def print_json(value: Any) -> None:
    """A value as JSON, in lines."""
    click.echo(json.dumps(value, indent=2))


def print_table(rows: Sequence[Sequence[str]], as_json: bool = False) -> None:
    """Rows of text, the first one the columns' names. as_json: a list of objects by these names."""
    if as_json:
        print_json([dict(zip(rows[0], row, strict=True)) for row in rows[1:]])
        return
    if not _is_terminal(sys.stdout):
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            click.echo("  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip())
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(
        *(Column(name, overflow="fold") for name in rows[0]), box=SIMPLE_HEAD, pad_edge=False
    )
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    Console().print(table)


def print_source(text: str) -> None:
    """An emitted file on standard output, in UTF-8 as in a file, whatever the locale is."""
    click.echo(text.encode() if isinstance(sys.stdout, TextIOWrapper) else text, nl=False)


def put(output: Path, contents: str | bytes) -> None:
    """A file, or standard output where it is called -."""
    if output == DASH and isinstance(contents, str):
        print_source(contents)
        return
    write_all({output: contents})
    click.echo(f"wrote {output}", err=True)


def check_one_print(output: Path | None, as_json: bool) -> None:
    """Raises click.UsageError where both --json and -o - would print."""
    if as_json and output == DASH:
        raise click.UsageError("--json and -o - both print; leave one out")


def put_picture(output: Path, picture: Any) -> None:
    """A file of a lego_emit.show.pictures.Picture, or SVG on standard output where it is called -."""
    put(output, picture.svg() if output == DASH else picture.contents(output))


def print_drawn(text_of: Callable[[int, int], str]) -> None:
    """A picture, drawn for the terminal's width and height."""
    from ..show.sheet import wants_color

    size = shutil.get_terminal_size()
    text = text_of(size.columns, size.lines)
    if wants_color() is False or not _is_terminal(sys.stdout):
        text = re.sub(r"[ \t]+$", "", click.unstyle(text), flags=re.MULTILINE)
    click.echo(text, color=wants_color())


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal once there is progress; a call without effect elsewhere."""
    if not _is_terminal(sys.stderr):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        task = bar.add_task(label, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()  # None: it is closed

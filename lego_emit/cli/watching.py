"""Doing a thing again each time that a file which it read has changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import click

from ..errors import LegoError
from .root import printable

INTERVAL = 0.2  # seconds between two looks at the files that are watched

Note = Callable[[Iterable[Path]], None]


def watch(first: Iterable[Path], act: Callable[[Note], object]) -> None:
    """Do it, and again each time that a file has changed, until Ctrl-C; an error is told.

    first: the files before it was done once. act: is given a function that takes the files to watch, and
    calls it before it reads them and when it knows of more.
    """
    files, seen = [*first], {}

    def note(paths: Iterable[Path]) -> None:
        files[:] = paths
        seen.update({**stamps(files), **seen})  # as they were before they were read

    with suppress(KeyboardInterrupt):
        while True:
            seen = stamps(files)
            try:
                act(note)
            except LegoError as error:
                click.echo(printable(f"Error: {error} [{error.code}]"), err=True)
            note(files)
            count = len(seen)
            click.echo(f"watching {count} file{'s' * (count != 1)}; Ctrl-C ends it", err=True)
            while stamps(seen) == seen:
                time.sleep(INTERVAL)
            time.sleep(INTERVAL)  # it may be half written


def stamps(files: Iterable[Path]) -> dict[Path, tuple[int, int] | None]:
    """When each file was written and how long it is; None of one that cannot be read."""
    found: dict[Path, tuple[int, int] | None] = dict.fromkeys(files)
    for path in found:
        with suppress(OSError):
            state = path.stat()
            found[path] = state.st_mtime_ns, state.st_size
    return found

"""A golden table as text: compact, readable, and compared index by index.

# A table by lego-emit, format 1: apply at each index, the last one fastest; a line is a row.
# "0..3" counts up, "0..9 by 3" in steps, "7 x 4" repeats; "2 more rows, each + 6" says the rest.
table apply 6 4
[0, :] 0, 1, 12, 13
1 more row, each + 2
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from pathlib import Path

import numpy as np

from ..errors import GoldenError

HEADER = """\
# A table by lego-emit, format 1: {name} at each index, the last one fastest; a line is a row.
# "0..3" counts up, "0..9 by 3" in steps, "7 x 4" repeats, "2 more rows, each + 6" says the rest.
"""
MOST = 20  # differences that are shown


def table_text(name: str, values: np.ndarray) -> str:
    """An integer array as a table; name says what the values are, as "apply"."""
    table = np.asarray(values, np.int64)
    rows = table.reshape(-1, table.shape[-1])
    steps = np.diff(rows, axis=0)
    # A row that is the one before plus a number: the number, else None.
    even = (steps == steps[:, :1]).all(axis=1)
    lines = [f"table {name} {' '.join(map(str, table.shape))}"]
    at = 0
    while at < len(rows):
        leading = [str(int(k)) for k in np.unravel_index(at, table.shape[:-1])] if at else []
        leading = leading or ["0"] * (table.ndim - 1)
        lines.append(f"[{', '.join([*leading, ':'])}] {', '.join(_runs(rows[at].tolist()))}")
        at += 1
        while at < len(rows) and even[at - 1]:
            step = int(steps[at - 1, 0])
            stop = at
            while stop < len(rows) and even[stop - 1] and int(steps[stop - 1, 0]) == step:
                stop += 1
            count = stop - at
            sign = "-" if step < 0 else "+"
            lines.append(f"{count} more row{'s' * (count > 1)}, each {sign} {abs(step)}")
            at = stop
    return HEADER.format(name=name) + "\n".join(lines) + "\n"


def read_table(text: str, place: str | Path) -> tuple[str, np.ndarray]:
    """A table's name and values. Raises GoldenError, with the line, where the text is none."""
    name, shape = "", ()
    rows: list[np.ndarray] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if line.startswith("table "):
                _, name, *sizes = line.split()
                shape = tuple(map(int, sizes))
            elif line.startswith("["):
                rows.append(np.array(list(_values(line.partition("] ")[2])), np.int64))
            elif more := re.fullmatch(r"(\d+) more rows?, each ([+-]) (\d+)", line):
                step = int(more[2] + more[3])
                rows += [rows[-1] + step * k for k in range(1, int(more[1]) + 1)]
            elif line and not line.startswith("#"):
                raise ValueError
        except (ValueError, IndexError, OverflowError):
            raise GoldenError(f"{place}, line {number}: no line of a table: {line!r}") from None
    if not shape or sum(map(len, rows)) != prod(shape) or any(len(r) != shape[-1] for r in rows):
        raise GoldenError(f"{place}: not the rows that its sizes {shape} ask for")
    return name, np.array(rows).reshape(shape)


def differences(name: str, old: np.ndarray, new: np.ndarray) -> list[str]:
    """Where two tables differ, as "apply[4, 1]: 6 -> 8"; the first MOST and how many more."""
    if old.shape != new.shape:
        return [f"{name} has the sizes {_sizes(old)} -> {_sizes(new)}"]
    where = np.argwhere(old != new)
    lines = [
        f"{name}[{', '.join(map(str, at))}]: {old[tuple(at)]} -> {new[tuple(at)]}"
        for at in where[:MOST].tolist()
    ]
    if len(where) > MOST:
        lines.append(f"and {len(where) - MOST} more of {old.size}")
    return lines


def _sizes(table: np.ndarray) -> str:
    return "x".join(map(str, table.shape))


def _runs(values: list[int]) -> Iterator[str]:
    at = 0
    while at < len(values):
        first = values[at]
        stop = at + 1
        step = values[stop] - first if stop < len(values) else 0
        while stop < len(values) and values[stop] - values[stop - 1] == step:
            stop += 1
        if stop - at < 3:  # a pair is no run
            yield str(first)
            at += 1
            continue
        last = values[stop - 1]
        by = f" by {step}" if step != 1 else ""
        yield f"{first}..{last}{by}" if step else f"{first} x {stop - at}"
        at = stop


def _values(text: str) -> Iterator[int]:
    for part in text.split(", "):
        if " x " in part:
            value, _, count = part.partition(" x ")
            yield from [int(value)] * int(count)
        elif ".." in part:
            first, _, rest = part.partition("..")
            last, _, by = rest.partition(" by ")
            step = int(by or 1)
            yield from range(int(first), int(last) + (1 if step > 0 else -1), step)
        else:
            yield int(part)

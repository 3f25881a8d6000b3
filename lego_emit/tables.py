"""Tables of integers as text: compact, readable, and compared index by index.

# A table by lego-emit, format 1: apply at each index, the last one fastest; a line is a row.
# "0..3" counts up, "0..9 by 3" in steps, "7 x 4" repeats, "2 more rows, each + 6" says the rest.
table apply 6 4
[0, :] 0, 1, 12, 13
1 more row, each + 2
[2, :] 4, 5, 16, 17
..

A file may have comments, the sizes that it was made with, axes with names, and several tables over
the same axes; a table without axes is one value:

sizes N=6 B=2
table row p=3 :=2
table column p=3 :=2
table count
[] 6
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from .errors import GoldenError
from .packages import numpy as np

HEADER = """\
# A table by lego-emit, format 1: {name} at each index, the last one fastest; a line is a row.
# "0..3" counts up, "0..9 by 3" in steps, "7 x 4" repeats, "2 more rows, each + 6" says the rest.
"""
MOST = 20  # differences that are shown
RUN = re.compile(r"(-?\d+)(?: x (\d+)|\.\.(-?\d+)(?: by (-?\d+))?)?")
MORE = re.compile(r"(\d+) more rows?, each ([+-]) (\d+)")

Axes = tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Integers at each index of a space.

    axes: (name, count) of each index, the last one fastest; a layout's have no names, ":" is an
        axis that the caller ranges over.
    columns: result name -> an int64 array of one value for each index.
    sizes: what it was made with.
    """

    axes: Axes
    columns: Mapping[str, np.ndarray]
    sizes: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, values: np.ndarray) -> Table:
        """One array, by its shape."""
        flat = np.asarray(values, np.int64).ravel()
        return cls(tuple(("", n) for n in values.shape), {name: flat})

    @property
    def shape(self) -> tuple[int, ...]:
        """The count of each axis."""
        return tuple(n for _, n in self.axes)

    def points(self) -> list[np.ndarray]:
        """One array for each axis: its index at every entry of the columns."""
        return list(np.unravel_index(np.arange(prod(self.shape)), self.shape)) if self.axes else []

    def text(self, comment: str = "") -> str:
        """The table as a file. Raises GoldenError where a name is no word."""
        for name in (*self.columns, *self.sizes, *(n for n, _ in self.axes if n)):
            if name.split() != [name]:
                raise GoldenError(f"{name!r} cannot stand in a table: a name is one word")
        lines = [f"# {comment}"] if comment else []
        if self.sizes:
            lines.append(f"sizes {_pairs(self.sizes.items())}")
        for name, column in self.columns.items():
            lines += [f"table {name} {_pairs(self.axes)}".rstrip(), *_rows(column, self.shape)]
        return HEADER.format(name=", ".join(self.columns)) + "\n".join(lines) + "\n"


def read_table(text: str, place: str | Path) -> Table:
    """The table in a file's text. Raises GoldenError, with the line, where it is none."""
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            reader.take(line)
        except (ValueError, ArithmeticError):
            raise GoldenError(f"{place}, line {number}: no line of a table: {line!r}") from None
        except GoldenError as error:
            raise GoldenError(f"{place}, line {number}: {error}: {line!r}") from None
    return reader.table(place)


def differences(old: Table, new: Table) -> list[str]:
    """Where two tables differ, as "apply[4, 1]: 6 -> 8"; the first MOST and how many more."""
    lines = []
    if dict(old.sizes) != dict(new.sizes):
        was, now = (_pairs(x.sizes.items()) or "none" for x in (old, new))
        lines.append(f"sizes {was} -> {now}")
    if old.axes != new.axes:
        was, now = (_pairs(x.axes) or "no axes" for x in (old, new))
        return [*lines, f"{', '.join(old.columns)} over {was} -> {now}"]
    lines += [f"{name} is gone" for name in old.columns if name not in new.columns]
    lines += [f"{name} is new" for name in new.columns if name not in old.columns]
    more = 0
    both = {n: (old.columns[n], new.columns[n]) for n in old.columns if n in new.columns}
    for name, (before, after) in both.items():
        where = np.flatnonzero(before != after)
        shown = where[: max(0, MOST - len(lines))].tolist()
        lines += [f"{name}{_label(k, old.shape)}: {before[k]} -> {after[k]}" for k in shown]
        more += len(where) - len(shown)
    if more:
        lines.append(f"and {more} more of {sum(before.size for before, _ in both.values())}")
    return lines


def changes(old: str, new: str, place: str | Path) -> list[str]:
    """The differences of the tables in two texts; none where one of them is no table."""
    try:
        return differences(read_table(old, place), read_table(new, place))
    except GoldenError:
        return []


# -- writing -------------------------------------------------------------------------------------


def _pairs(pairs: Iterable[tuple[str, int]]) -> str:
    return " ".join(f"{name}={n}" if name else str(n) for name, n in pairs)


def _label(index: int, axes: Sequence[int], *more: str) -> str:
    """The name of the index-th index over axes, as "[0, 1]"."""
    at = np.unravel_index(index, axes) if axes else ()
    return f"[{', '.join([*map(str, map(int, at)), *more])}]"


def _row_label(row: int, shape: Sequence[int]) -> str:
    return _label(row, shape[:-1], ":") if shape else "[]"


def _rows(column: np.ndarray, shape: Sequence[int]) -> Iterator[str]:
    if not column.size:
        return
    rows = column.reshape(prod(shape[:-1]), -1)
    steps = np.diff(rows, axis=0)
    # A row that is the one before plus a number, and the difference has not wrapped around.
    even = ((steps == steps[:, :1]) & ((rows[1:] >= rows[:-1]) == (steps >= 0))).all(axis=1)
    at = 0
    while at < len(rows):
        yield f"{_row_label(at, shape)} {', '.join(_runs(rows[at].tolist()))}"
        at += 1
        while at < len(rows) and even[at - 1]:
            step = int(steps[at - 1, 0])
            stop = at
            while stop < len(rows) and even[stop - 1] and int(steps[stop - 1, 0]) == step:
                stop += 1
            count = stop - at
            yield f"{count} more row{'s' * (count > 1)}, each {'-' if step < 0 else '+'} {abs(step)}"
            at = stop


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


# -- reading -------------------------------------------------------------------------------------


class _Reader:
    """Takes a file's lines. A line that is none raises ValueError or ArithmeticError, or
    GoldenError where it can be said what is wrong."""

    def __init__(self) -> None:
        self._axes: Axes | None = None
        self._columns: dict[str, list[np.ndarray]] = {}  # name -> its rows
        self._sizes: dict[str, int] = {}

    def take(self, line: str) -> None:
        """Read one line of the file. Raises ValueError where it is none of the format."""
        word, _, rest = line.partition(" ")
        if word == "sizes":
            pairs = dict(map(_pair, rest.split()))
            if "" in pairs:
                raise ValueError
            self._sizes |= pairs
        elif word == "table":
            self._begin(*rest.split())
        elif line.startswith("["):
            self._row(line)
        elif more := MORE.fullmatch(line):
            self._more(int(more[1]), int(more[2] + more[3]))
        elif line and not line.startswith("#"):
            raise ValueError

    def table(self, place: str | Path) -> Table:
        """The table, once all lines are read."""
        if self._axes is None:
            raise GoldenError(f"{place}: holds no table")
        for name, rows in self._columns.items():
            if len(rows) != self._height():
                raise GoldenError(
                    f"{place}: {name} has {len(rows)} rows, its axes ask for {self._height()}"
                )
        columns = {
            name: np.concatenate([np.zeros(0, np.int64), *rows])
            for name, rows in self._columns.items()
        }
        return Table(self._axes, columns, self._sizes)

    def _shape(self) -> tuple[int, ...]:
        return tuple(n for _, n in self._axes or ())

    def _height(self) -> int:
        shape = self._shape()
        return prod(shape[:-1]) if prod(shape) else 0

    def _begin(self, name: str = "", *axes: str) -> None:
        pairs = tuple(map(_pair, axes))
        known = self._axes in (None, pairs)  # all tables of a file are over the same axes
        if not name or name in self._columns or not known or any(n < 0 for _, n in pairs):
            raise ValueError
        self._axes = pairs
        self._columns[name] = []

    def _row(self, line: str) -> None:
        shape, rows = self._shape(), self._last()
        label = _row_label(len(rows), shape)
        if not line.startswith(f"{label} "):
            raise GoldenError(f"row {label} wanted")
        runs = [_run(part) for part in line.removeprefix(f"{label} ").split(", ")]
        count, width = sum(count for _, _, count in runs), prod(shape[-1:])
        if count != width:
            raise GoldenError(f"{count} values in a row of {width}")
        values = [first + step * k for first, step, count in runs for k in range(count)]
        rows.append(np.array(values, np.int64))

    def _more(self, count: int, step: int) -> None:
        rows = self._last()
        if not rows:
            raise ValueError
        if count > self._height() - len(rows):
            raise GoldenError(f"more than the {self._height()} rows that the axes ask for")
        for end in (int(rows[-1].min()), int(rows[-1].max())):
            np.int64(end + step * count)  # OverflowError where it is too large
        for _ in range(count):
            rows.append(rows[-1] + step)

    def _last(self) -> list[np.ndarray]:
        if not self._columns:
            raise ValueError
        return next(reversed(self._columns.values()))


def _pair(text: str) -> tuple[str, int]:
    name, _, count = text.rpartition("=")
    return name, int(count)


def _run(text: str) -> tuple[int, int, int]:
    """First value, step and count of a part of a row."""
    found = RUN.fullmatch(text)
    if not found:
        raise ValueError
    first = int(found[1])
    if found[2]:
        return first, 0, int(found[2])
    if not found[3]:
        return first, 0, 1
    step = int(found[4] or 1)
    count, rest = divmod(int(found[3]) - first, step)
    if rest or count < 0:
        raise ValueError
    return first, step, count + 1

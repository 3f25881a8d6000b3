"""Golden tables: what a file of one holds, and what a case's functions must give by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..algebra.block import Block
from ..errors import GoldenError
from ..ir.program import Function

SOURCE = "layout.py"
TABLE = "table.txt"
UPDATE = "lego-emit golden update"
PER_LINE = 16


@dataclass(frozen=True, eq=False)
class Table:
    """What a case's functions must give.

    axes: (name, count) of each index, the last one fastest; a layout's have no names, ":" is an
        axis that the caller ranges over.
    columns: result name -> an int64 array of one value for each index.
    """

    axes: tuple[tuple[str, int], ...]
    columns: Mapping[str, np.ndarray]

    def points(self) -> list[np.ndarray]:
        """One array for each axis: its index at every entry of the columns."""
        counts = [n for _, n in self.axes]
        size = int(np.prod(counts, dtype=np.int64))
        return list(np.unravel_index(np.arange(size), counts)) if counts else []

    def text(self, comment: str, sizes: Mapping[str, int]) -> str:
        """The table as a file."""
        lines = [f"# {comment}"]
        if sizes:
            lines.append("sizes " + " ".join(f"{n}={v}" for n, v in sizes.items()))
        lines.append("dims " + " ".join(f"{name}={n}" if name else str(n) for name, n in self.axes))
        for name, column in self.columns.items():
            lines.append(f"values {name}")
            numbers = [str(v) for v in column.tolist()]
            lines += [" ".join(numbers[k : k + PER_LINE]) for k in range(0, len(numbers), PER_LINE)]
        return "\n".join(lines) + "\n"


def parse_table(text: str, place: str | Path = TABLE) -> Table:
    """The table in a file's text. Raises GoldenError, with the line, where it is none."""
    axes: tuple[tuple[str, int], ...] = ()
    columns: dict[str, list[int]] = {}
    name = ""
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = line.partition(" ")
        try:
            if word == "dims":
                pairs = [x.rpartition("=") for x in rest.split()]
                axes = tuple((n, int(count)) for n, _, count in pairs)
            elif word == "values":
                name = rest
                columns[name] = []
            elif line and word not in ("#", "sizes"):
                columns[name].extend(map(int, line.split()))
        except (ValueError, KeyError):
            raise GoldenError(f"{place}, line {number}: no line of a table: {line!r}") from None
    size = int(np.prod([n for _, n in axes], dtype=object))
    for column, values in columns.items():
        if len(values) != size:
            raise GoldenError(
                f"{place}: {column} has {len(values)} values, dims ask for {size}; "
                f"`{UPDATE}` rewrites it"
            )
    return Table(axes, {n: np.array(v, np.int64) for n, v in columns.items()})


class Tabled(Protocol):
    """A golden case, as far as its table goes."""

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        ...

    @property
    def sizes(self) -> Mapping[str, int]:
        """Sizes that are parameters, and their numbers."""
        ...

    @property
    def domain(self) -> Mapping[str, int]:
        """How far each index of an index function runs."""
        ...

    @property
    def fixed(self) -> Mapping[str, int]:
        """Parameters that stand still."""
        ...

    @property
    def name(self) -> str:
        """The folder's name."""
        ...

    @cached_property
    def layout(self) -> Block | None:
        """The layout; None for an index function."""
        ...

    @cached_property
    def table(self) -> Table:
        """Its golden table."""
        ...


def wanted_of(
    case: Tabled, function: Function, inverse: bool
) -> tuple[list[str], list[np.ndarray], list[np.ndarray]]:
    """The axes' names, the indices to call a function with, and the results that it must give."""
    table = case.table
    points = table.points()
    if not inverse:
        return [name for name, _ in table.axes], points, list(table.columns.values())
    assert case.layout is not None
    layout = case.layout
    sizes = (layout.physical_size,) if layout.results is None else layout.physical_dims
    flat = np.zeros(len(points[0]) if points else 1, np.int64)
    for size, column in zip(sizes, table.columns.values(), strict=True):
        flat = flat * size + column
    held = flat >= 0
    positions = np.arange(layout.physical_size)
    wanted = [np.full(len(positions), -1, np.int64) for _ in points]  # -1 where it is padding
    for column, coordinate in zip(wanted, points, strict=True):
        column[flat[held]] = coordinate[held]
    return [*table.columns], [*np.unravel_index(positions, sizes)], wanted


def arguments_of(
    case: Tabled, function: Function, names: Sequence[str], points: Sequence[np.ndarray]
) -> list[Any]:
    """The arguments of an emitted function at the table's indices, in its parameters' order."""
    emitted_as = {new: old for old, new in function.renamed}
    named = {n: p for n, p in zip(names, points, strict=True) if n in case.domain}
    unnamed = iter([p for n, p in zip(names, points, strict=True) if n not in case.domain])
    sizes = {**case.sizes, **case.fixed}
    given: list[Any] = []
    for param in function.params:
        name = emitted_as.get(param.name, param.name)
        if name in named:
            given.append(named[name])
        elif name in sizes and not param.axis:
            given.append(sizes[name])
        elif param.axis and (values := next(unnamed, None)) is not None:
            given.append(values)
        else:
            raise GoldenError(
                f"{case.folder / SOURCE}: {function.name} takes {name}; give the table's number in "
                f"sizes, or how far the index runs in domain"
            )
    if next(unnamed, None) is not None:
        raise GoldenError(
            f"{case.folder}: the table has more ':' axes than {function.name} has parameters"
        )
    return given


def mismatch(
    case: Tabled,
    function: Function,
    given: Sequence[Any],
    got: Sequence[np.ndarray],
    wanted: Sequence[np.ndarray],
    wrong: np.ndarray,
) -> str:
    """What is wrong at the first index where the results differ, and how many do."""
    at = int(np.argmax(wrong))
    call = ", ".join(
        f"{p.name}={int(x[at]) if isinstance(x, np.ndarray) else x}"
        for p, x in zip(function.params, given, strict=True)
    )
    gives = ", ".join(str(int(x[at])) for x in got)
    wants = ", ".join(str(int(x[at])) for x in wanted)
    return (
        f"{case.name}: {function.name}({call}) gives {gives}, the table has {wants} "
        f"({int(wrong.sum())} of {len(wrong)} differ)"
    )

"""Golden tables: what a case's functions must give by its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from ..algebra.block import Block
from ..errors import GoldenError
from ..ir.program import Function
from ..packages import numpy as np
from ..tables import Table

SOURCE = "layout.py"


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
        """The name of the case, which its folder has."""
        ...

    @cached_property
    def layout(self) -> Block | None:
        """The layout; None for an index function."""
        ...

    @cached_property
    def table(self) -> Table:
        """The golden table of the case."""
        ...


def wanted_of(
    case: Tabled, function: Function, inverse: bool
) -> tuple[list[str], list[np.ndarray], list[np.ndarray]]:
    """The axes' names, the indices to call a function with, and the results that it must give."""
    table = case.table
    points = table.points()
    if not inverse:
        columns = zip(table.columns.values(), function.masked_bits, strict=True)
        wanted = [np.where(column == -1, masked, column) for column, masked in columns]
        return [name for name, _ in table.axes], points, wanted
    assert case.layout is not None
    layout = case.layout
    sizes = (layout.physical_size,) if layout.results is None else layout.physical_dims
    flat = np.zeros(len(points[0]) if points else 1, np.int64)
    for size, column in zip(sizes, table.columns.values(), strict=True):
        flat = flat * size + column
    held = flat >= 0
    positions = np.arange(layout.physical_size)
    wanted = [np.full(len(positions), masked, np.int64) for masked in function.masked_bits]
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
    before = {n: g.members[k - 1] for g in function.groups if g.open for k, n in g.places if k}
    for param in function.params:
        name = emitted_as.get(param.name, param.name)
        if name in named:
            given.append(named[name])
        elif name in sizes and not param.axis:
            given.append(sizes[name])
        elif param.axis and (values := next(unnamed, None)) is not None:
            given.append(values)
        elif param.name in before:  # as the element before
            given.append(given[-1])
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


@dataclass(frozen=True)
class TableQuery:
    """What a function is asked over a golden table: its arguments, and the results that it must
    give."""

    case: Tabled
    function: Function
    given: Sequence[Any]
    wanted: Sequence[np.ndarray]

    @property
    def size(self) -> int:
        """At how many indices."""
        return len(self.wanted[0])

    def mismatch(self, outputs: Sequence[Any]) -> str:
        """What is wrong at the first index where the results differ, and how many do; "" where
        none differs."""
        got = [np.broadcast_to(x, w.shape) for x, w in zip(outputs, self.wanted, strict=True)]
        wrong = np.any([x != w for x, w in zip(got, self.wanted, strict=True)], axis=0)
        if not wrong.any():
            return ""
        at = int(np.argmax(wrong))
        call = ", ".join(
            f"{p.name}={int(x[at]) if isinstance(x, np.ndarray) else x}"
            for p, x in zip(self.function.params, self.given, strict=True)
        )
        gives = ", ".join(str(int(x[at])) for x in got)
        wants = ", ".join(str(int(x[at])) for x in self.wanted)
        return (
            f"{self.case.name}: {self.function.name}({call}) gives {gives}, the table has {wants} "
            f"({int(wrong.sum())} of {len(wrong)} differ)"
        )


def query_of(case: Tabled, function: Function, inverse: bool) -> TableQuery:
    """What a function is asked over a case's table."""
    names, points, wanted = wanted_of(case, function, inverse)
    return TableQuery(case, function, arguments_of(case, function, names, points), wanted)

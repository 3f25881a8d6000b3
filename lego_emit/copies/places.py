"""The function that gives the places of an index in both memories, lowered as any index function is.

Its header has what is assumed of the sizes. It is also what a copy calls for each index where positions are
no sums of digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra import reference
from ..arith.expr import Expr
from ..check.emission import check_emission
from ..emit.printer import Printer
from ..ir.program import Doc, Function
from ..lower.function import lowered
from ..pipeline import dialect_of
from ..problems import problem_of
from ..trace.definition import FEW, POINTS
from ..trace.follow import go_on
from ..trace.learn import product_of
from ..trace.trace import Trace
from ..trace.traced import Traced
from .digits import IndexSpace
from .values import layout_at

RESULTS = ("source_place", "destination_place")


class _Both:
    """The definition: both layouts' reference evaluators."""

    is_total = True

    def __init__(self, space: IndexSpace, name: str):
        self.name, self._space = name, space
        self.points = FEW if space.sizes else POINTS
        self._made: dict[tuple[int, ...], list[Any]] = {}

    @property
    def stays_small(self) -> bool:
        return self._space.trace.has_genp

    def __call__(self, values: Mapping[str, int]) -> Any:
        space = self._space
        sizes = {n: values[n] for n in space.sizes}
        layouts = self._made.get(key := tuple(sizes.values()))
        if layouts is None:
            pair = space.source, space.destination
            layouts = self._made[key] = [layout_at(L, space, sizes) for L in pair]
        index = [values[n] for n in space.names]
        return tuple(reference.apply(L, index) for L in layouts)


def places(
    space: IndexSpace,
    name: str,
    printer: Printer,
    assume: Sequence[Any] = (),
    index_type: str | None = "int64",
) -> Function:
    """The function from an index to (the place in the source, the place in the destination).

    Raises what lowering raises, and InternalError where it differs from the layouts at a point.
    """

    def declare(t: Trace) -> None:
        t.axes = [*space.names]
        t.indices.update(space.names)
        for index, n in zip(space.names, space.source.dims, strict=True):
            t.analyzer.learn_range(index, Expr.of(0), product_of((n,), t.analyzer) - 1)

    layouts = (space.source, space.destination)
    forward, found = go_on(
        space.trace, declare, lambda t: tuple(L.apply(*map(t.symbol, space.names)) for L in layouts)
    )

    def named(values: Any) -> list[tuple[str, Expr]]:
        return [(n, Expr.of(v)) for n, v in zip(RESULTS, values, strict=True)]

    definition = _Both(space, name)
    traced = Traced(name, Doc(), forward, found, named, definition=definition)
    dialect = dialect_of(printer, index_type)
    widest = dialect.types[-1]
    problem = problem_of(traced, assume, widest, printer.notation_of(widest))
    function = lowered(problem, dialect)
    return replace(function, checked=check_emission(function, definition))

"""The parts of a walk, lowered as functions of their own; the cheapest way that has no division."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..errors import TraceError
from ..ir.program import Function
from ..ir.walks import Walk
from ..operations import DIVISIONS
from .function import lowered
from .loops import problem_of_part
from .problem import Dialect

Stages = Sequence[Sequence[tuple[str, Expr]]]
Way = tuple[tuple[str, ...], tuple[Function, ...], tuple[Function, ...]]


def lowered_stages(
    function: Function, names: Sequence[str], stages: Stages, known: Analyzer, dialect: Dialect
) -> tuple[Function, ...]:
    """Each stage as a function, in the index type of a function of which it is a part. names: the parameters."""
    own = replace(dialect, types=[function.index_type], narrow=False)
    return tuple(
        replace(
            lowered(problem_of_part(f"{function.name} {k}", names, stage, known), own), formulas=()
        )
        for k, stage in enumerate(stages)
        if stage
    )


def divides(functions: Sequence[Function]) -> bool:
    """Whether functions have a division."""
    return any(n.op in DIVISIONS for f in functions for n in f.nodes())


def with_step(walk: Walk, steps: Sequence[Way]) -> Walk:
    """A walk with the cheapest of the ways (what it keeps, how it starts, its step) that divide by nothing. Raises
    TraceError where each divides."""
    without = [way for way in steps if not divides(way[2])]
    if not without:
        raise TraceError(
            f"walk: no step of {walk.name} along {walk.axes[-1]} is known without a division; walk along another "
            "axis, or call the function for each index"
        )
    # What is kept from one index to the next is also how long each waits for the one before.
    kept, start, step = min(without, key=lambda way: sum(f.cost for f in way[2]) + len(way[0]))
    return replace(walk, kept=kept, start=start, step=step)

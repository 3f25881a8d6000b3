"""The parts of a walk, lowered as functions of their own; the cheapest way that has no division."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..errors import TraceError
from ..ir.index_types import IndexType
from ..ir.nodes import Node, evaluate
from ..ir.program import Function
from ..ir.relations import names_in
from ..ir.walks import Walk
from ..operations import DIVISIONS
from .function import lowered
from .loops import problem_of_part
from .problem import Dialect
from .widths import at_most

Stages = Sequence[Sequence[tuple[str, Expr]]]
SUMS = ("add", "const", "mul", "neg", "sub", "var")  # what conditions are compared of
Way = tuple[tuple[str, ...], tuple[Function, ...], tuple[Function, ...]]


def lowered_stages(
    function: Function,
    names: Sequence[str],
    stages: Stages,
    known: Analyzer,
    dialect: Dialect,
    fit: int,
) -> tuple[Function, ...]:
    """Each stage as a function, in the index type of a function of which it is a part. names: the parameters; fit:
    of how many stages, the first ones, the results are values of a part that was lowered before."""
    own = replace(dialect, types=[function.index_type], narrow=False)
    return tuple(
        replace(
            lowered(problem_of_part(f"{function.name} {k}", names, stage, known, k < fit), own),
            formulas=(),
        )
        for k, stage in enumerate(stages)
        if stage
    )


def needed(
    parts: Sequence[Function], function: Function, known: Analyzer
) -> tuple[tuple[Node, ...], bool]:
    """(conditions on the parameters of a function that parts of its walk ask beside its own, whether more must hold
    that no condition says). known: what is known of an index."""
    names, found = {p.name for p in function.params}, dict[Node, None]()
    unseen = any(f.unseen for f in parts)
    tops = [*filter(None, (_top(c, known, function.index_type) for c in function.assumed))]
    for condition in (c for f in parts for c in f.assumed):
        if not names >= {*names_in(condition)}:  # of a position, or of what is kept
            unseen = True
        elif condition not in function.assumed:
            top = _top(condition, known, function.index_type)
            if top is None or not any(at_most(top, other, known) for other in tops):
                found[condition] = None
    return tuple(found), unseen and not function.unseen


def _top(condition: Node, known: Analyzer, index_type: IndexType) -> Expr | None:
    """What a condition says to be at most a type's greatest number; None where it says something else."""
    if condition.op != "le" or any(n.op not in SUMS for n in condition.args[0].walk()):
        return None
    limit = evaluate(condition.args[1], {})
    if limit is None or limit > index_type.most:
        return None
    names = {n: known.symbol(n) for n in names_in(condition)}
    return Expr.of(evaluate(condition.args[0], names))


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

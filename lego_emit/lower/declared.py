"""Parameters and results of other types than the index type: what must hold for their conversion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from ..arith.expr import Expr
from ..errors import WidthError
from ..ir.index_types import DECLARED, IndexType
from ..ir.nodes import Node
from ..ir.program import Param
from ..ir.relations import const, greatest
from .header import LARGE
from .problem import Problem
from .relations import value


def converted(problem: Problem, params: Sequence[Param], index: IndexType) -> Iterator[Node]:
    """What must hold for values to stay as they are when they are converted: parameters to the index type,
    results from it. Raises WidthError where a result never fits."""
    read = set[str]().union(*(e.symbols() for _, e in problem.outputs))
    for p in params:
        if not p.type or (p.name not in read and problem.words is None):
            continue
        symbol, (least, most) = Node("var", (), p.name), DECLARED[p.type].ends
        if most > index.most and (p.hi is None or p.hi > index.most):
            yield Node("le", (symbol, greatest(index.most)))
        if least < index.least and (p.lo is None or p.lo < index.least):
            yield Node("le", (const(index.least), symbol))
    if problem.group is not None and problem.group.open:
        return  # the header says that each element fits
    for (name, e), kind in zip(problem.outputs, problem.types, strict=False):
        least, most = DECLARED[kind].ends if kind else index.ends
        if (least, most) == index.ends:
            continue
        lo, hi = problem.analyzer.interval(e)
        if index.most == inf and any(a.kind in ("loop", "switch") for a in e.deep_atoms()):
            continue  # no condition on the parameters says what a loop leaves
        if kind == "bool" and (lo is None or lo < 0 or hi is None or hi > 1):
            raise WidthError(
                f"{problem.name}: {name} may be another number than 0 and 1, and is declared as a truth value; "
                "write != 0"
            )
        if (lo is not None and lo > most) or (hi is not None and hi < least):
            raise WidthError(
                f"{problem.name}: {name} is never in {least}..{most}, as {kind} holds; declare it as a wider type"
            )
        if index.most > most and (hi is None or hi > most):
            top = problem.analyzer.prover.proofs.upper(e)
            if (
                top is None
                or top.constant is not None
                or max(map(abs, top.terms.values())) >= LARGE
            ):
                top = e  # what types say of it is no condition
            if not problem.analyzer.nonneg(Expr.of(most) - top):
                yield Node("le", (value(top, problem.analyzer), const(most)))
        if (
            index.least < least
            and (lo is None or lo < least)
            and not problem.analyzer.nonneg(e - least)
        ):
            yield Node("le", (const(least), value(e, problem.analyzer)))

"""Arrays of any length: how many elements are read."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr, maximum
from ..ir.arrays import read
from ..ir.program import Function, Group
from .relations import value


def counted(group: Group, function: Function, analyzer: Analyzer) -> Group:
    """An array of any length, with how many elements are read."""
    if not group.open:
        return group
    known = read(function)
    counts = [Expr.of(k + 1) for k, name in group.places if name in known][-1:]
    for table in function.arrays:
        if table.name == group.name:
            other = Expr.of(table.size)
            counts = [e for e in counts if not analyzer.nonneg(other - e)]
            counts += [] if any(analyzer.nonneg(e - other) for e in counts) else [other]
    most = reduce(maximum, counts) if counts else None
    return replace(group, count=None if most is None else value(most, analyzer))

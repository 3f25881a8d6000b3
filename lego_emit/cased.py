"""Functions beside which there are equal ones for single numbers of a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .check.emission import check_emission
from .ir.nodes import Node
from .ir.program import Function
from .ir.relations import const
from .lower.function import lowered
from .lower.problem import Dialect
from .notation import Notation
from .problems import problem_of
from .trace.traced import Subject


def with_cases(
    functions: Sequence[Function],
    subject: Subject,
    dialect: Dialect,
    assume: Sequence[Any],
    notation: Notation,
) -> list[Function]:
    """The lowered functions of a subject with those that they have for single numbers, each lowered in the index
    type of its function, and checked."""
    made = [*functions]
    for k, traced in enumerate(subject.functions):
        index, found = functions[k].index_type, list[tuple[Node, Function]]()
        own = replace(dialect, types=[index], narrow=False)
        for name, number, case in traced.cases:
            one = lowered(problem_of(case, assume, index, notation, dialect.cached), own)
            check_emission(one, case.definition)
            found.append((Node("eq", (Node("var", (), name), const(number))), one))
        made[k] = replace(functions[k], cases=tuple(found))
    return made

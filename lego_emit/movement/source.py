"""A plan as a file: the index functions that it calls, lowered here, and what the printer makes of it."""

from __future__ import annotations

from dataclasses import replace

from ..emit import registry
from ..ir.program import Function, Program
from ..pipeline import build_program
from ..plans.gather import GatherPlan
from ..plans.plan import Plan


def source(plan: Plan | GatherPlan, target: str = "cuda") -> str:
    """The file of a plan in a language. Raises LayoutError where its name is no name there, or its warps
    are not the language's; TargetError where the language moves no tiles."""
    printer = registry.printer(target)
    planned = printer.of_plan(plan)

    def function(name: str) -> Function:
        says, at = planned.called[name]
        return replace(build_program(at, printer, name).functions[0], name=name, summary=says)

    return planned.emit(Program(plan.name, tuple(map(function, planned.called)), planned.said))

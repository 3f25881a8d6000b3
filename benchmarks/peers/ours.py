"""lego_emit: from the layout to the lowered program of the one direction."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from statistics import median
from time import perf_counter

from rows import Formula
from tree import Tree, constant, made

import lego_emit
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function
from lego_emit.pipeline import build_program
from lego_emit.run import registry

from . import Attempt

TITLE = "ours"

# Where the names of lowered operations differ from the trees'.
OPERATIONS = {
    "add": "+", "sub": "-", "mul": "*", "div": "//", "mod": "%", "floordiv": "//",
    "floormod": "%", "shl": "<<", "shr": ">>", "and": "&", "or": "|", "xor": "^", "not": "~",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "land": "and", "lor": "or", "lnot": "not",
}  # fmt: skip


class Direction:
    """apply or inv of a layout as a function of its indices."""

    def __init__(self, layout, direction: str, names: list[str]):
        self.__name__ = direction
        self.call = getattr(layout, direction)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])

    def __call__(self, *indices):
        return self.call(*indices)


def version() -> str:
    return lego_emit.__version__


def costs() -> list[str]:
    """The cost models that are compared."""
    return ["ops", "latency"]


def lowering(layout, direction: str, names: list[str], **options):
    """A function that lowers one direction, and one that empties caches before it."""
    wanted = Direction(layout, direction, names)
    printer = registry.printer("cuda")
    return lambda context=None: build_program(wanted, printer, **options)


def forget() -> None:
    """Empty lego_emit's caches of results; what is loaded stays loaded."""
    for name, module in list(sys.modules.items()):
        if name.startswith("lego_emit.") and module is not registry:
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear") and value.__module__ == name:
                    value.cache_clear()


def attempts(problem):
    case = problem.case
    layout = case.make(**{n: lego_emit.symbols(n) for n in case.sizes})
    trees = partial(_trees, variables=problem.variables)
    found = {}
    ranges = {}
    if isinstance(layout, Formula):
        ranges = {"ranges": {n: (0, m) for n, m in zip(problem.names, layout.dims, strict=True)}}
    for options in [{"cost": cost, **ranges} for cost in costs()]:
        title = f"ours ({options['cost']})"
        run = lowering(layout, case.direction, problem.names, **options)
        found[title] = [Attempt(title, run, trees, forget)]
    return found


def remembered(cases, runs: int = 9) -> dict[str, list[float]]:
    """Milliseconds of one direction by cost model, case by case, where what was searched for its
    tables and bits is remembered: a layout's two directions together, halved."""
    printer = registry.printer("cuda")
    found: dict[str, list[float]] = {}
    for cost in costs():
        for case in cases:
            layout = case.make(**{n: lego_emit.symbols(n) for n in case.sizes})
            if isinstance(layout, Formula):
                continue
            taken = []
            for _ in range(runs + 1):
                begun = perf_counter()
                functions = build_program(layout, printer, cost=cost).functions
                taken.append((perf_counter() - begun) * 1e3 / len(functions))
            found.setdefault(cost, []).append(median(taken[1:]))
    return found


def _trees(program, variables: dict[str, Tree]) -> tuple[Tree, ...]:
    (function,) = program.functions
    return trees_of(function, variables)


def trees_of(function: Function, variables: dict[str, Tree]) -> tuple[Tree, ...]:
    """A lowered function's outputs over these variables."""
    known = dict(variables)

    def tree_of(node: Node) -> Tree:
        if node.op == "const":
            return constant(node.value)
        if node.op == "var":
            return known[node.value]
        args = [tree_of(a) for a in node.args]
        return args[0] if node.op == "int" else made(OPERATIONS.get(node.op, node.op), *args)

    for name, node in function.body:
        known[name] = tree_of(node)
    return tuple(tree_of(node) for _, node in function.outputs)

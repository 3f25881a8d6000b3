"""TVM: the arithmetic analyzer with the ranges of all indices bound."""

from __future__ import annotations

from functools import partial

import tvm
from tree import Tree, Unsupported, constant, made, translated
from tvm.ir import Range

from . import Attempt

try:  # the modules' names since TVM 0.25, and before
    from tvm import sym as arith
    from tvm import tirx as tir
except ImportError:
    from tvm import arith, tir

TITLE = "TVM"

TYPE = "int64"
BUILD = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": tir.floordiv,
    "%": tir.floormod,
    "^": lambda a, b: a ^ b,
}
# By class name, and for calls by the operator's name.
OPERATIONS = {
    "Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//", "FloorMod": "%", "Min": "min",
    "Max": "max", "LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!=",
    "And": "and", "Or": "or", "BitwiseXor": "^", "BitwiseAnd": "&", "BitwiseOr": "|",
    "LShift": "<<", "RShift": ">>",
    "bitwise_xor": "^", "bitwise_and": "&", "bitwise_or": "|", "shift_left": "<<",
    "shift_right": ">>",
}  # fmt: skip


def version() -> str:
    return tvm.__version__


def attempts(problem):
    variables = {n: tir.Var(n, TYPE) for n in problem.variables}
    trees = partial(_trees, problem.variables)
    names = ("rewrite_simplify", "canonical_simplify", "simplify")
    return {TITLE: [Attempt(n, partial(_simplified, n, problem, variables), trees) for n in names]}


def _simplified(how: str, problem, variables, context) -> list:
    def leaf(tree: Tree):
        return variables[tree.value] if tree.op == "var" else tir.const(tree.value, TYPE)

    analyzer = arith.Analyzer()
    for name in problem.sizes:
        analyzer.update(variables[name], arith.ConstIntBound(1, arith.ConstIntBound.POS_INF))
    zero = tir.const(0, TYPE)
    for name, size in problem.ranges.items():
        (extent,) = translated([size], leaf, BUILD)
        analyzer.bind(variables[name], Range.from_min_extent(zero, extent))
    step = getattr(analyzer, how)
    return [step(e) for e in translated(problem.outputs, leaf, BUILD)]


def _trees(variables: dict[str, Tree], results: list) -> tuple[Tree, ...]:
    def tree_of(e) -> Tree:
        kind = type(e).__name__
        if kind == "IntImm":
            return constant(int(e.value))
        if kind == "Var":
            return variables[getattr(e, "name", None) or e.name_hint]
        if kind in ("Cast", "Not"):
            return tree_of(e.value) if kind == "Cast" else made("not", tree_of(e.a))
        if kind == "Select":
            return made("select", *map(tree_of, (e.condition, e.true_value, e.false_value)))
        if kind == "Call":
            kind, args = e.op.name.rpartition(".")[2], list(e.args)
        elif hasattr(e, "a"):
            args = [e.a, e.b]
        if kind not in OPERATIONS:
            raise Unsupported(f"no tree for TVM's {kind}: {e}")
        return made(OPERATIONS[kind], *map(tree_of, args))

    return tuple(tree_of(e) for e in results)

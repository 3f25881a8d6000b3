"""Lowered programs as SymPy expressions, operation by operation."""

from __future__ import annotations

from typing import Any

from ..arith.formulas import Formulas
from ..arith.sympy_nodes import NODES, table_of
from ..errors import TraceError
from ..ir.nodes import Node
from ..ir.program import Function, Program
from ..operations import OPS
from ..packages import sympy


def formulas_of(program: Program) -> dict[str, Formulas]:
    """What each function computes, by name."""
    return {f.name: _formulas(f, program.name) for f in program.functions}


def _formulas(function: Function, unit: str) -> Formulas:
    known: dict[int, Any] = {}
    replacements = [(_symbol(name), _expr(node, known)) for name, node in function.body]
    expressions = {name: _expr(node, known) for name, node in function.outputs}
    return Formulas.of(replacements, expressions, function.problem, unit)


def _symbol(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, integer=True)


def _expr(node: Node, known: dict[int, Any]) -> Any:
    """known: those of the nodes that were made, by identity."""
    if id(node) not in known:
        known[id(node)] = _made(node, known)
    return known[id(node)]


def _made(node: Node, known: dict[int, Any]) -> Any:
    if node.op == "const":
        return sympy.Integer(node.value)
    if node.op == "var":
        return _symbol(str(node.value))
    if node.op == "table":
        return table_of(node.value)
    if node.op in ("loop", "switch"):
        raise TraceError(f"a {node.op} is no SymPy expression")
    args = [_expr(a, known) for a in node.args]
    if node.op == "lookup":  # of an array without what is known of it
        args = args[:2]
    if node.op == "int":  # our conditions are 0 or 1
        return args[0]
    return NODES[OPS[node.op].floored or node.op](*args)

"""The program of a function whose arithmetic wraps: its operations as it was written.

An operation that may leave 0..2**bits - 1 stands in the program as (x + y) & (2**bits - 1), which is
exact over the integers: whoever evaluates a program needs no more than that. A language whose unsigned
integers wrap leaves the mask out (Printer.wrapping).
"""

from __future__ import annotations

from typing import Any

from ..arith.expr import Cond, Expr
from ..errors import TargetError
from ..ir.index_types import DECLARED
from ..ir.nodes import Node
from ..ir.relations import OPEN, Range, between, const, var
from ..operations import LOGIC, OPS, interval
from .lower import Lowered, finished
from .lowering import Lowering
from .problem import Problem

MOST_DEPTH = 24  # operations in one expression


def wrapped(problem: Problem, lowering: Lowering) -> tuple[Lowered, list[Range]]:
    """The program, and what it promises of each result. Raises TargetError where the type that a result is
    declared as does not hold it."""
    words, graph = problem.words, lowering.graph
    nodes: dict[Any, Node] = {}

    def known(node: Node, lo: int | None = None, hi: int | None = None) -> Node:
        lowering.values.known[node] = None  # its normal form is not asked for
        if lo is not None and hi is not None and node.op != "const":
            lowering.bounds[node] = lo, hi
        return node

    def operand(a: Any) -> Node:
        if isinstance(a, Cond):
            return condition(a)
        if isinstance(a, Expr):
            return operand(words.operand(a))
        if isinstance(a, int):
            return graph.const(a)
        if a not in nodes:
            nodes[a] = known(graph.var(a, nonnegative=True), *words.span(a))
        return nodes[a]

    def condition(c: Cond) -> Node:
        op, args = LOGIC.get(c.op, c.op), [*map(operand, c.args)]
        if args[0].op == "const" and OPS[op].flipped:  # what is asked of stands first
            op, args = OPS[op].flipped, args[::-1]
        return known(graph.op(op, *args))

    def made(name: str) -> Node:
        op, *args = words.rows[name]
        given = [operand(a) for a in args]
        if op in ("div", "mod") and words.span(args[1])[0] < 1:
            op = OPS[op].floored
        node = graph.op(op, *given)
        if name in words.guarded:
            graph.may_trap[node] = True
        if not words.wraps(words.rows[name]):
            return known(node, *words.span(name))
        known(node, *interval(op, [words.span(a) for a in args]))
        return known(graph.op("and", node, graph.const(words.most)), 0, words.most)

    outputs = [(n, words.operand(e)) for n, e in words.outputs]
    for name in _needed(words, [a for _, a in outputs]):
        nodes[name] = made(name)
    _check_types(problem, outputs)
    roots = [operand(a) for _, a in outputs]
    depths: dict[Node, int] = {}
    for node in graph.reached(roots):
        inner = max((depths[a] for a in node.args), default=0)
        depths[node] = 0 if inner == MOST_DEPTH and not node.is_bool else inner + 1
    names = {
        node: OPS[node.args[0].op if node.op == "and" and node.args[0].args else node.op].name
        for node, uses in graph.uses(roots)
        if node.args and not node.is_bool and (uses > 1 or (not depths[node] and node not in roots))
    }
    kinds = problem.types or [""] * len(outputs)
    promises = [
        OPEN if kind == "bool" else _promise(words, a)
        for (_, a), kind in zip(outputs, kinds, strict=True)
    ]
    return finished(problem, lowering, roots, names), promises


def _needed(words: Any, roots: list[Any]) -> list[str]:
    """The words that the roots are made of, operands first."""
    found, stack = set[str](), [*roots]
    while stack:
        a = stack.pop()
        if isinstance(a, Cond):
            stack += a.args
        elif isinstance(a, Expr):
            stack.append(words.operand(a))
        elif a in words.rows and a not in found:
            found.add(a)
            stack += words.rows[a][1:]
    return [name for name in words.rows if name in found]


def _check_types(problem: Problem, outputs: list[tuple[str, Any]]) -> None:
    """And let the analyzer know the results' ranges."""
    words = problem.words
    for (name, a), kind in zip(outputs, problem.types or [""] * len(outputs), strict=True):
        lo, hi = words.span(a)
        if isinstance(a, str) and a in words.rows:
            problem.analyzer.learn_range(a, Expr.of(lo), Expr.of(hi))
        if kind and kind != "bool" and not DECLARED[kind].least <= lo <= hi <= DECLARED[kind].most:
            raise TargetError(
                f"{problem.name}: {name} may be {hi}, and {kind} holds {DECLARED[kind].most} at most; "
                f"take it modulo less, or declare it as uint{words.bits}"
            )


def _promise(words: Any, a: Any) -> Range:
    """What a header says of a result."""
    (lo, hi), (op, *args) = words.span(a), words.rows.get(a, ("",))
    if op == "mod" and isinstance(args[1], str) and args[1] not in words.rows:
        return Range(const(0), var(args[1]))
    return between(lo, hi + 1) if hi < words.most else OPEN

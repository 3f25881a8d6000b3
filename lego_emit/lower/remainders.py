"""Remainders by what is known at launch, of the quotients that are prepared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..ir.nodes import Node
from .lowering import Lowering


def with_quotients(lowering: Lowering, roots: Sequence[Node]) -> list[Node]:
    """The same with remainders by what is known at launch as differences: x - d*(x // d)."""
    graph, made = lowering.graph, dict[Node, Node]()
    for node in graph.reached(roots):
        args = [made.get(a, a) for a in node.args]
        if node.op in ("mod", "floormod") and graph.is_launched(node.args[1]):
            value, by = args
            quotient = graph.op("div" if node.op == "mod" else "floordiv", value, by)
            new = graph.op("sub", value, graph.op("mul", by, quotient))
            if node in graph.may_trap:
                graph.may_trap.setdefault(quotient, graph.may_trap[node])
        elif args == [*node.args]:
            continue
        elif node.op == "within":  # of which the graph knows more than of its operand
            return [*roots]
        else:
            new = graph.op(node.op, *args)
            if node in graph.may_trap:
                graph.may_trap.setdefault(new, graph.may_trap[node])
        made[node] = new
        lowering.is_known_as(new, node)
        lowering.values.known[new] = lowering.value(node)
    return [made.get(k, k) for k in roots]


def multiples(products: Iterable[Node], known: Mapping[Node, Node]) -> set[Node]:
    """Those of some nodes that are d*(x // d), which is no more than x. known: what each is known to lie in."""
    found = set[Node]()
    for k in products:
        if k.op == "mul" and all(
            low is not None and low >= 0 for low in (known[a].lo for a in k.args)
        ):
            pairs = (k.args, k.args[::-1])
            if any(b.op in ("div", "floordiv") and b.args[1] == a for a, b in pairs):
                found.add(k)
    return found

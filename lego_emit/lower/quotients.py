"""Quotients of one value by several numbers, and what is made of those that are there anyway: x // 24 is
x // 3 >> 3, and the digit x // 3 % 5 is x // 3 - 5*(x // 15)."""

from __future__ import annotations

from ..ir.nodes import Node
from .graph import Graph

Divided = dict[Node, dict[int, Node]]  # values -> divisors -> quotients


def from_others(graph: Graph, roots: list[Node], bit_operations: bool) -> dict[Node, Node]:
    """Quotients and digits that the roots need -> nodes of the same value, made of other quotients that
    they need."""
    reached = graph.reached(roots)
    needed = {*reached}
    divided: Divided = {}
    for node in graph.quotients:
        if node in needed:
            value, divisor = node.args
            divided.setdefault(value, {})[divisor.value] = node
    if all(len(quotients) < 2 for quotients in divided.values()):
        return {}
    found = _shifts(graph, divided) if bit_operations else {}
    for node in reached:
        difference = _difference(graph, node, divided, found)
        if difference is not None:
            found[node] = difference
    return found


def _shifts(graph: Graph, divided: Divided) -> dict[Node, Node]:
    """Quotients as others that are shifted."""
    found = {}
    for quotients in divided.values():
        for number, node in quotients.items():
            smaller = min((n for n in quotients if _is_shift(number, n)), default=None)
            if smaller is not None:
                far = graph.const((number // smaller).bit_length() - 1)
                found[node] = graph.op("shr", quotients[smaller], far)
    return found


def _is_shift(number: int, smaller: int) -> bool:
    """Whether the one quotient is the other one shifted."""
    ratio, rest = divmod(number, smaller)
    return ratio > 1 and not rest and ratio & (ratio - 1) == 0


def _difference(
    graph: Graph, node: Node, divided: Divided, shifts: dict[Node, Node]
) -> Node | None:
    """x % b as x - b*(x // b) where that is another quotient shifted (a machine has the remainder of a
    division itself at once), and x // a % b as x // a - b*(x // (a*b)) where that is there; b >= 1:
    x // a // b is no x // (a*b) else."""
    if not node.row.quotient:
        return None
    value, border = node.args
    if border.op != "const" or border.value < 1:
        return None
    high = shifts.get(divided.get(value, {}).get(border.value, node))
    if high is None and value in graph.quotients:
        whole, divisor = value.args
        high = divided.get(whole, {}).get(divisor.value * border.value)
    if high is None:
        return None
    low, high = shifts.get(value, value), shifts.get(high, high)
    return graph.op("sub", low, graph.op("mul", border, high))

"""Programs of types without negative numbers: comparisons that ask for a sign are left out."""

from __future__ import annotations

from dataclasses import replace

from ..ir.nodes import Node
from .lowering import Lowering


def without_signs(lowering: Lowering, roots: list[Node]) -> tuple[list[Node], dict[Node, Node]]:
    """The same for a type without negative numbers, in which no value on the way is one: without the
    comparisons that ask whether one is, of which compilers warn; and the differences in those, with their
    bounds: that none is negative must hold all the same."""
    asked: list[Node] = []

    def known(node: Node) -> bool | None:
        if node.op == "lnot":
            inner = known(node.args[0])
            return None if inner is None else not inner
        if node.op in ("le", "ge", "lt", "gt"):
            low, high = node.args if node.op in ("le", "gt") else node.args[::-1]
            if low.op == "const" and low.value == 0 and high.op != "const":
                asked.append(high)
                return node.op in ("le", "ge")
        return None

    def change(node: Node, args: list[Node]) -> Node | None:
        graph, op = lowering.graph, node.op
        if op in ("land", "lor"):
            for one, other in (args, args[::-1]):
                if (value := known(one)) is not None:
                    return other if value == (op == "land") else one
        if op in ("select", "int") and (value := known(args[0])) is not None:
            return graph.const(int(value)) if op == "int" else args[1 if value else 2]
        return None

    bounds, ranges = lowering.ranges.program(roots), lowering.ranges
    changed = lowering.replaced(roots, change) or roots
    differences = (k for k in lowering.graph.reached(asked) if k.op == "sub")
    found = {k: bounds.get(k) or ranges.of(k) for k in differences}
    return changed, {
        k: replace(k, lo=lo, hi=hi) for k, (lo, hi) in found.items() if lo is None or lo < 0
    }

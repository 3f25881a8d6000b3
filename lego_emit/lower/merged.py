"""Choices moved inwards: where both branches of a select do the same with other operands, the operands
are chosen and the rest is computed once: c ? W*y + x : W*x + y is W*(c ? y : x) + (c ? x : y)."""

from __future__ import annotations

from ..ir.nodes import Node
from .lowering import BOUND, Candidate, Lowering

MERGED = ("what both branches do computed once",)
MOST = 16  # selects that are tried


def merged(lowering: Lowering, best: Candidate) -> Candidate | None:
    """The form with the choices that are cheaper inside moved there; None where none is."""
    graph, roots, tried = lowering.graph, best.roots, set[Node]()
    while len(tried) < MOST:
        selects = [k for k in graph.reached(roots) if k.op == "select" and k not in tried]
        if not selects:
            break
        select = selects[-1]
        tried.add(select)
        condition, then, other = select.args
        if then.op != other.op or not then.args:
            continue
        made = _Merge(lowering, condition).of(then, other)
        nodes = lowering.replaced(
            roots, lambda node, _, of=select, to=made: to if node is of else None
        )
        if nodes is not None and graph.price(nodes) < graph.price(roots):
            roots = nodes
    return None if roots is best.roots else lowering.priced(roots, MERGED)


class _Merge:
    """What is a in the branch where a condition holds, and b where it does not, as one node."""

    def __init__(self, lowering: Lowering, condition: Node):
        self.graph, self.condition = lowering.graph, condition
        self._known: dict[tuple[Node, Node], Node] = {}

    def of(self, a: Node, b: Node) -> Node:
        """The node for a and b."""
        if a is b:
            return a
        if (a, b) not in self._known:
            self._known[a, b] = self._made(a, b)
        return self._known[a, b]

    def _made(self, a: Node, b: Node) -> Node:
        graph = self.graph
        if not self._is_alike(a, b):
            return graph.op("select", self.condition, a, b)
        others = b.args
        if a.row.commutes and self._fit(a.args, others[::-1]) > self._fit(a.args, others):
            others = others[::-1]
        made = graph.op(a.op, *map(self.of, a.args, others))
        for least, proven in enumerate((graph.nonnegative, graph.positive)):
            if all(k in proven or (k.op == "const" and k.value >= least) for k in (a, b)):
                proven.add(made)
        return made

    def _is_alike(self, a: Node, b: Node) -> bool:
        """Whether a and b are one operation, of operands that are alike where they are conditions."""
        if a.op != b.op or not a.args or a.op in BOUND:
            return False
        if a in self.graph.may_trap or b in self.graph.may_trap or a.value != b.value:
            return False
        return all(
            x is y or self._is_alike(x, y)
            for x, y in zip(a.args, b.args, strict=True)
            if x.is_bool or y.is_bool
        )

    def _fit(self, given: tuple[Node, ...], others: tuple[Node, ...]) -> int:
        """How well operands fit the others: those that are the same count most."""
        return sum(3 * (x is y) + self._is_alike(x, y) for x, y in zip(given, others, strict=True))

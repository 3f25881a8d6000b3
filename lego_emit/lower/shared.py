"""Low bits of a product taken from another product of the same value that is there: 8*x & 56 is
72*x & 56."""

from __future__ import annotations

from ..ir.nodes import Node
from .lowering import Candidate, Lowering

SHARED = ("low bits of a product that is there anyway",)


def shared(lowering: Lowering, best: Candidate) -> Candidate | None:
    """The form with low bits taken from other products; None where that changes nothing."""
    graph, roots = lowering.graph, best.roots
    reached = graph.reached(roots)
    products: dict[Node, list[tuple[int, Node]]] = {}  # of a value: (factor, node)
    for node in reached:
        value, factor = _product(node)
        if factor != 1 and value.op != "const":
            products.setdefault(value, []).append((factor, node))

    def change(node: Node, args: list[Node]) -> Node | None:
        value, factor, mask = _low_bits(node)
        modulus = 1 << mask.bit_length()
        others = (k for c, k in products.get(value, ()) if not (c - factor) % modulus)
        product = next((k for k in others if k not in (node, *args)), None)
        return graph.op("and", product, graph.const(mask)) if mask and product is not None else None

    nodes = lowering.replaced(roots, change)
    return None if nodes is None else lowering.priced(nodes, SHARED)


def _product(node: Node) -> tuple[Node, int]:
    """(x, c) where a node is c*x."""
    op, args = node.op, node.args
    if op == "mul":
        for x, c in (args, args[::-1]):
            if c.op == "const":
                return x, c.value
    if op == "shl" and args[1].op == "const":
        return args[0], 1 << args[1].value
    return node, 1


def _low_bits(node: Node) -> tuple[Node, int, int]:
    """(x, c, m) where a node is c*x & m: as such, or c * (x & m/c) for a power of two c; m is 0 where
    it is neither."""
    inner, scale = _product(node)
    if scale < 1 or scale & (scale - 1):
        return node, 1, 0
    op, args = inner.op, inner.args
    if op in ("and", "mod") and args[1].op == "const":
        mask = args[1].value if op == "and" else args[1].value - 1
        if mask > 0 and (op == "and" or not mask & (mask + 1)):
            value, factor = _product(args[0])
            return value, factor * scale, mask * scale
    return node, 1, 0

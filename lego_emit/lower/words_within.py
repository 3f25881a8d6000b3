"""Digits of long sums that only move bits: z % 7, where z has the bits of x and of y in turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..arith.expr import Expr
from ..arith.terms import Atom
from ..ir.nodes import Node
from .forms import placed
from .lowering import Lowering
from .wiring import Bit, Wiring


def bits_within(wiring: Wiring, sums: Sequence[Expr], many: int) -> dict[Atom, list[Bit]]:
    """The digits by numbers of sums of so many terms that only move bits, with these bits."""
    found: dict[Atom, list[Bit]] = {}
    for atom in dict.fromkeys(atom for e in sums for mono in e.terms for atom in mono):
        if atom.kind == "digit" and len(atom.args[0].terms) >= many:
            numbers = all(border is None or border.constant for border in atom.args[1:])
            bits = wiring.bits(atom.args[0]) if numbers else None
            if bits is not None:
                found[atom] = bits
    return found


def with_nodes(lowering: Lowering, e: Expr, bases: Mapping[Atom, Node]) -> Expr:
    """The sum with digits of what has a node, and is not negative, as nodes."""
    graph, found = lowering.graph, Expr.of(0)
    for mono, c in e.terms.items():
        term = Expr.of(c)
        for atom in mono:
            node = bases.get(atom)
            if node is None:
                term = term * Expr.atom(atom)
                continue
            _, lo, hi = atom.args
            if hi is not None:
                node = graph.op("mod", node, graph.const(hi.constant))
            if lo.constant != 1:
                node = graph.op("div", node, graph.const(lo.constant))
            lowering.sources.setdefault(node, Expr.atom(atom))
            term = term * placed(lowering, node)
        found = found + term
    return found

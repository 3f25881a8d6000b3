"""Digits of what moves bits: (z + o) % 7, where z has the bits of x and of y in turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ..arith.expr import Expr
from ..arith.terms import Atom, Monomial
from ..ir.nodes import Node
from .forms import Form, placed
from .lowering import Lowering
from .wiring import Bit

Parts: TypeAlias = tuple[dict[tuple[Monomial, int], list[Bit]], Expr]  # by factors; the rest


def parts_within(
    lowering: Lowering,
    sums: Sequence[Expr],
    parted: Callable[[Expr], Parts],
    is_long: Callable[[Atom], bool],
) -> dict[Atom, Parts]:
    """The digits by numbers, of those that are long, of what is not negative and has a part that only
    moves bits, with its parts."""
    found: dict[Atom, Parts] = {}
    for atom in dict.fromkeys(atom for e in sums for mono in e.terms for atom in mono):
        if is_long(atom) and all(border is None or border.constant for border in atom.args[1:]):
            least = lowering.analyzer.interval(atom.args[0])[0]
            parts = parted(atom.args[0]) if least is not None and least >= 0 else None
            if parts is not None and parts[0]:
                found[atom] = parts
    return found


def with_nodes(
    form: Form, sums: Sequence[Expr], within: Mapping[Atom, Parts], moved: Sequence[Expr]
) -> list[Expr]:
    """The sums with these digits as nodes. moved: what takes the place of each one's parts that only
    move bits."""
    lowering, bases = form.lowering, dict[Atom, Node]()
    for (atom, (_, rest)), part in zip(within.items(), moved, strict=True):
        bases[atom] = form.expr(rest + part)
        lowering.sources.setdefault(bases[atom], atom.args[0])
    return [_with_nodes(lowering, e, bases) for e in sums]


def _with_nodes(lowering: Lowering, e: Expr, bases: Mapping[Atom, Node]) -> Expr:
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

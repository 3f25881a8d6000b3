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
    """The digits by numbers, of those that are long, of what has a part that only moves bits, with its
    parts."""
    found: dict[Atom, Parts] = {}
    for atom in dict.fromkeys(atom for e in sums for mono in e.terms for atom in mono):
        if is_long(atom) and all(border is None or border.constant for border in atom.args[1:]):
            parts = parted(atom.args[0])
            if parts[0]:
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
    return [_with_nodes(form, e, bases) for e in sums]


def _with_nodes(form: Form, e: Expr, bases: Mapping[Atom, Node]) -> Expr:
    """The sum with digits of what has a node as nodes."""
    lowering, found = form.lowering, Expr.of(0)
    for mono, c in e.terms.items():
        term = Expr.of(c)
        for atom in mono:
            node = bases.get(atom)
            if node is None:
                term = term * Expr.atom(atom)
                continue
            value, lo, hi = atom.args
            if hi is not None:
                node = form.divided(node, value, hi, "mod")
                value = Expr.atom(Atom("digit", value, Expr.of(1), hi))
            if lo.constant != 1:
                node = form.divided(node, value, lo, "div")
            lowering.sources.setdefault(node, Expr.atom(atom))
            term = term * placed(lowering, node)
        found = found + term
    return found

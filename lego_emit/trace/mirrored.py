"""Two branches of one function where each is the other's mirror image."""

from __future__ import annotations

from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.expr import Cond, Expr
from ..arith.terms import Atom, Identity


def mirrored(condition: Cond, a: Any, b: Any, analyzer: Analyzer) -> tuple[Any, Any]:
    """Two branches where one takes a root, or the half of a square, of x and the other that of
    s - x, as functions of one value, x or s - x: what they share is then computed once, and never
    gets larger than it is in either (the two halves of an antidiagonal, Fig. 7)."""
    if not isinstance(a, Expr) or not isinstance(b, Expr):
        return a, b
    for one, other in zip(_arguments(a), _arguments(b), strict=True):
        if len(one) != 1 or len(other) != 1 or one.keys() == other.keys():
            continue
        (p,), (q,) = one.values(), other.values()
        for x in sorted(p.atoms() & q.atoms(), key=lambda atom: atom.key):
            turn = _turn(_powers(p, x), _powers(q, x), analyzer)
            if turn is not None:
                known = Expr.atom(x)
                value = analyzer.simplifier.select(condition, known, turn - known)
                return analyzer.rebuild(a, {x: value}.get), analyzer.rebuild(
                    b, {x: turn - value}.get
                )
    return a, b


def _arguments(e: Expr) -> tuple[dict[Identity, Expr], dict[Identity, Expr]]:
    """What roots are taken of, and the sums with a square that are halved."""
    atoms = e.deep_atoms()
    roots = {atom.args[0].identity: atom.args[0] for atom in atoms if atom.kind == "isqrt"}
    halves = {
        atom.args[0].identity: atom.args[0]
        for atom in atoms
        if atom.kind == "digit" and atom.args[1].constant == 2 and atom.args[2] is None
        if any(m.count(x) == 2 for m in atom.args[0].terms for x in m)
    }
    return roots, halves


def _powers(e: Expr, x: Atom) -> list[Expr] | None:
    """The coefficients of 1, x and x*x; None where x stands deeper or in higher powers."""
    found: list[dict] = [{}, {}, {}]
    for mono, c in e.terms.items():
        power = mono.count(x)
        if power > 2:
            return None
        found[power][tuple(atom for atom in mono if atom is not x)] = c
    powers = [Expr(terms) for terms in found]
    return None if any(x in power.deep_atoms() for power in powers) else powers


def _turn(p: list[Expr] | None, q: list[Expr] | None, analyzer: Analyzer) -> Expr | None:
    """s such that q(s - x) is p(x), but for a constant where there are squares; else None."""
    if p is None or q is None or not p[2].same(q[2]):
        return None
    if p[2].terms:
        by, gap = 2 * p[2], -(p[1] + q[1])
    elif p[1].terms and p[1].same(-q[1]):
        by, gap = p[1], q[0] - p[0]
    else:
        return None
    if len(by.terms) != 1:
        return None
    turn, rest = analyzer.simplifier.divide(gap, by)
    return None if rest.terms else turn

"""Powers of two: what pow2(n) says, n >= 1 and n & n - 1 == 0, and what follows from it."""

from __future__ import annotations

from .analyzer import Analyzer
from .expr import Cond, Expr


def learn_power(known: Analyzer, e: Expr) -> None:
    """An expression is a power of two."""
    for gap in (e - 1, e & e - 1, -(e & e - 1)):
        known.learn_nonneg(known.rebuilt(gap))


def is_power(known: Analyzer, e: Expr) -> bool:
    """Whether e is known to be a power of two: it is said, of its factors, or of what it is a quotient of."""
    e = known.rebuilt(e)
    if len(e.terms) != 1 or _is_said(known, e):
        return len(e.terms) == 1
    ((mono, by),), single = e.terms.items(), e.single
    if single is None:
        return by > 0 and not by & by - 1 and all(is_power(known, Expr.atom(a)) for a in mono)
    whole = known.facts.quotients.get(single.args[0]) if single.kind == "sym" else None
    return whole is not None and _is_said(known, known.rebuilt(whole[0]))


def _is_said(known: Analyzer, e: Expr) -> bool:
    bits = known.rebuilt(e & e - 1)
    return known.nonneg(e - 1) and known.decide(Cond("eq", bits, Expr.of(0))) is True

"""Conditions on long sums of digits in fewer words."""

from __future__ import annotations

from math import inf

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..arith.terms import Atom


def as_symbols(e: Expr, analyzer: Analyzer) -> Expr | None:
    """What is at least 0 where a sum of all digits of some symbols less 1 is: the sum of these symbols
    less 1; None of another sum."""
    if e.terms.get((), 0) != -1 or any(c < 0 for mono, c in e.terms.items() if mono):
        return None
    digits: dict[Atom, list[tuple[int, float]]] = {}  # by symbol: from where to where each is
    for mono in e.terms:
        if not mono:
            continue
        (atom, *others) = mono
        base, lo, hi = atom.args if atom.kind == "digit" else (Expr.atom(atom), Expr.of(1), None)
        of, start, end = base.single, lo.constant, inf if hi is None else hi.constant
        if others or of is None or of.kind != "sym" or not start or not end:
            return None
        digits.setdefault(of, []).append((start, end))
    total = Expr.of(-1)
    for of, parts in digits.items():
        least, most = analyzer.interval(Expr.atom(of))
        starts, ends = zip(*sorted(parts), strict=True)
        whole = starts[0] == 1 and starts[1:] == ends[:-1]
        whole = whole and (ends[-1] == inf or (most is not None and most < ends[-1]))
        if not whole or least is None or least < 0:
            return None
        total = total + Expr.atom(of)
    return total

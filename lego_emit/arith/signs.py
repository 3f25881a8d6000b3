"""Values in which nothing on the way is negative, for types that have no negative numbers."""

from __future__ import annotations

from .analyzer import Analyzer
from .expr import Expr
from .terms import Atom


def without_negative_parts(e: Expr, analyzer: Analyzer) -> Expr:
    """The same value: a factor that is not positive by its opposite, as (a - n)*(b - n) is
    (n - a)*(n - b); a quotient of such a dividend rounded up, as -(-n // d) is (n + d - 1) // d, and
    its digit from the other end, as (-n) % d is d - 1 - (n + d - 1) % d."""

    def replace(atom: Atom) -> Expr | None:
        if atom.kind == "opaque":
            inner = inside(atom.args[0])
            if not analyzer.nonneg(inner) and analyzer.nonneg(-inner):
                return -Expr.atom(Atom("opaque", -inner, None, None, atom.args[3]))
        elif atom.kind == "floordiv":
            base, by = atom.args[:2]
            falls = analyzer.nonneg(-by - 1)
            if falls:
                base, by = -base, -by
            if analyzer.nonneg(by - 1) and (falls or not analyzer.nonneg(base)):
                return inside(analyzer.simplifier.floordiv(base, by))
        elif atom.kind == "digit":
            base, lo = map(inside, atom.args[:2])
            hi = None if atom.args[2] is None else inside(atom.args[2])
            if not analyzer.nonneg(base) and analyzer.nonneg(lo - 1):
                simplifier = analyzer.simplifier
                above = (lo if hi is None else hi) - 1 - base
                digits, rest = (Expr.of(1), Expr.of(0)) if hi is None else simplifier.divmod(hi, lo)
                if not rest.terms and analyzer.nonneg(above):
                    return digits - 1 - simplifier.digit(above, lo, hi)
        return None

    def inside(value: Expr) -> Expr:
        return _turned(analyzer.rebuild(value, replace, made), analyzer)

    made: dict = {}
    return inside(e)


def _turned(e: Expr, analyzer: Analyzer) -> Expr:
    """The same sum, a term that is taken off by the opposite of one of its factors whose sign is not
    known: of two factors that were turned round one may be known to be positive."""
    total = Expr.of(0)
    for mono, c in e.terms.items():
        for k, atom in enumerate(mono):
            if c < 0 and atom.kind == "opaque" and not analyzer.nonneg(Expr.atom(atom)):
                opposite = Atom("opaque", -atom.args[0], None, None, atom.args[3])
                mono, c = (*mono[:k], opposite, *mono[k + 1 :]), -c
        total = total + Expr({tuple(sorted(mono, key=lambda a: a.key)): c})
    return total

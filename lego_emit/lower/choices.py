"""Sums in which a digit that is 0 or 1 has factors: what it chooses between, or flips the bits of."""

from __future__ import annotations

from ..arith.expr import Cond, Expr
from ..arith.terms import Atom, Monomial, Terms
from .forms import placed
from .lowering import Lowering


def chosen_by_digits(e: Expr, lowering: Lowering) -> list[Expr]:
    """Expressions of the same value as e: with exclusive ors where b * (2**k - 1 - 2*x) + x flips x,
    all else inside of them where it can be, and as the choice between the sums for a digit b that is
    1 and 0. In the user's symbols."""
    found = []
    for b in _flags(e, lowering):
        ones: Terms = {}
        others: Terms = {}
        for mono, c in e.terms.items():
            if b in mono:
                at = mono.index(b)
                rest = mono[:at] + mono[at + 1 :]
                ones[rest] = ones.get(rest, 0) + c
            else:
                others[mono] = c
        if lowering.bit_operations:
            found += _flipped(Expr.atom(b), ones, others, lowering)
        if any(ones):  # more than a constant
            shared = {m: c for m, c in others.items() if m not in ones}
            rest = {m: c for m, c in others.items() if m in ones}
            one, none = Expr(_joined(rest, ones)), Expr(rest)
            test = Cond("ne", Expr.atom(b), Expr.of(0))
            found.append(Expr(shared) + Expr.atom(Atom("select", test, one, none)))
    return found


def _flags(e: Expr, lowering: Lowering) -> list[Atom]:
    """The digits and indices that are 0 or 1 and stand in a product."""
    found = {a: None for mono in e.terms if len(mono) > 1 for a in mono if not lowering.is_size(a)}
    return [
        a for a in found if lowering.analyzer.interval(lowering.forward(Expr.atom(a))) == (0, 1)
    ]


def _flipped(b: Expr, ones: Terms, others: Terms, lowering: Lowering) -> list[Expr]:
    """b * ones + others with the first c*x + b*(.. - 2*c*x), x in 0..2**k - 1, as c * (x ^ (b * (2**k - 1)));
    where all else has 2**k for a factor and c is 1 or -1, also as x ^ (b * (2**k - 1) + all else)."""
    for mono, c in others.items():
        if not mono or ones.get(mono) != -2 * c:
            continue
        x = Expr({mono: 1})
        lo, hi = lowering.analyzer.interval(lowering.forward(x))
        if lo is None or lo < 0 or not hi or hi & (hi + 1):
            continue
        rest = _joined({m: k for m, k in ones.items() if m != mono}, {(): -c * hi})
        rest = Expr({m: k for m, k in others.items() if m != mono}) + b * Expr(rest)
        found = [rest + c * Expr.atom(Atom("xor", x, b * hi))]
        flips = b * hi
        if c == -1:  # -(x ^ y) is x ^ (hi - y), less hi
            rest, flips = rest - hi, hi - flips
        if abs(c) == 1 and not any(k % (hi + 1) for k in rest.terms.values()):
            from .search import flipped_by

            found.append(placed(lowering, flipped_by(lowering, x, rest + flips)))
        return found
    return []


def _joined(a: Terms, b: Terms) -> Terms:
    """The sum of terms."""
    total: dict[Monomial, int] = dict(a)
    for mono, c in b.items():
        total[mono] = total.get(mono, 0) + c
    return {m: c for m, c in total.items() if c}

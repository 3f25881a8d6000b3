"""When two products of sizes are equal, where min and max make it a question of cases."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from .analyzer import Analyzer
from .expr import Cond, Expr

MOST_CASES = 4  # of min and max in one equation that are taken apart


def equal(a: Expr, b: Expr, known: Analyzer) -> Cond | bool:
    """The condition under which a == b, both products of sizes: True or False where it is decided,
    without what stands on both sides. A min or max is taken apart where one of its cases is decided:
    max(n // b, 1) * min(n, b) == n is n <= b or n % b == 0."""
    a, b = _without_common(a, b, known)
    whole = Cond("eq", a, b)
    decided = known.decide(whole)
    if decided is not None:
        return decided
    choices = [x for x in (a - b).deep_atoms() if x.kind in ("min", "max")]
    if len(choices) <= MOST_CASES:
        for atom in sorted(choices, key=lambda x: (x.kind == "max", x.key)):
            for x, y in (atom.args, atom.args[::-1]):
                first = _assuming(x <= y, a, b, known)
                if isinstance(first, bool):
                    return _joined(x <= y, first, _assuming(y < x, a, b, known))
    gap = a - b
    gap = -gap if all(c < 0 for c in gap.terms.values()) else gap
    return Cond("eq", gap, Expr.of(0)) if len(gap.terms) == 1 else whole


def _assuming(condition: Cond, a: Expr, b: Expr, known: Analyzer) -> Cond | bool:
    """equal(a, b) where the condition holds."""
    with known.scope():
        known.assume(condition)
        a, b = (known.rebuild(e, lambda atom: None) for e in (a, b))
        return equal(a, b, known)


def _joined(condition: Cond, first: bool, other: Cond | bool) -> Cond | bool:
    """What holds: `first` where the condition does, `other` elsewhere."""
    if first is other:
        return first
    if isinstance(other, bool):
        return condition if first else ~condition
    return condition | other if first else ~condition & other


def _without_common(a: Expr, b: Expr, known: Analyzer) -> tuple[Expr, Expr]:
    """Both without the factors, all positive, that every term of both has."""
    terms = [*a.terms.items(), *b.terms.items()]
    if not a.terms or not b.terms:
        return a, b
    number = gcd(*(c for _, c in terms))
    common = list(_positive(min((m for m, _ in terms), key=len), known))
    for mono, _ in terms:
        common = [x for k, x in enumerate(common) if common[:k].count(x) < mono.count(x)]
    found = []
    for e in (a, b):
        made = {}
        for mono, c in e.terms.items():
            rest = list(mono)
            for x in common:
                rest.remove(x)
            made[tuple(rest)] = c // number
        found.append(Expr(made))
    return found[0], found[1]


def _positive(mono: tuple, known: Analyzer) -> Iterator:
    return (x for x in mono if known.nonneg(Expr.atom(x) - 1))

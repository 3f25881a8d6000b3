"""Sums that are one factor, in a dividend and in a sum in which their terms meet its own."""

from __future__ import annotations

from collections.abc import Iterable

from .terms import Atom, Exact, Monomial, Terms, distribute, divide, without

MOST_ROUNDS = 4  # of a division of polynomials


def gathered(terms: Terms, factors: Iterable[Atom], exact: Exact) -> Terms | None:
    """The same sum, shorter, in which a factor that is a sum stands as one, by which it is to be
    divided: m*i + i + j by m + 1 as (m + 1)*i + j. None where there is none."""
    found = terms
    for factor in sorted(factors, key=lambda atom: atom.key):
        if factor.kind == "opaque":
            found = _in_terms_of(factor, found, exact)
    return found if len(found) < len(terms) else None


def _in_terms_of(factor: Atom, terms: Terms, exact: Exact) -> Terms:
    """A sum divided by another as polynomials are, by the leading term: quotient*factor + rest."""
    inner = factor.args[0].terms
    lead = max(inner, key=lambda mono: (len(mono), [x.key for x in mono]))
    quotient: Terms = {}
    rest = terms
    for _ in range(MOST_ROUNDS):
        times, _ = divide(rest, {lead: inner[lead]}, exact)
        if not times:
            break
        quotient = _total(quotient, times)
        rest = _total(rest, distribute({m: -c for m, c in times.items()}, inner, exact))
    return _total(distribute(quotient, {(factor,): 1}, exact), rest)


def _total(a: Terms, b: Terms) -> Terms:
    made = dict(a)
    for mono, c in b.items():
        made[mono] = made.get(mono, 0) + c
    return {mono: c for mono, c in made.items() if c}


def opened(terms: Terms, mono: Monomial, whole: Atom, exact: Exact) -> Terms | None:
    """What a factor that is a sum is multiplied by, where the sum gets shorter if it is multiplied
    out: n of (m + 1)*n - n, which is m*n; else None. No flat position, whose range is known, is
    opened: it is to stay one value."""
    inner, _, end, _ = whole.args
    if end is not None or len(mono) != len(set(mono)):
        return None
    factor: Terms = {without(mono, (whole,)) or (): terms[mono]}
    own = distribute(factor, inner.terms, exact)
    met = sum(1 + (terms[m] == -c) for m, c in own.items() if m in terms and m != mono)
    return factor if len(own) <= met else None

"""Neighboring digits of one base in a sum, put together (Table II, rule 7 and what follows)."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

from .terms import Atom, Exact, Identity, Monomial, Terms, distribute, divide, times, without


@dataclass(slots=True, eq=False)
class Merge:
    """terms + factor * whole, where whole is (base mod hi) // lo, base // lo where hi is None, and base
    where lo is None, too."""

    terms: Terms
    factor: Terms
    base: Any
    lo: Any = None
    hi: Any = None


def merge(terms: Terms, exact: Exact) -> Merge | None:
    """The same sum with two of its digits put together: a*(x // a) + x % a is x. None where no two
    fit."""
    digits: dict[Identity, list[tuple[Monomial, Atom]]] = {}
    for mono in terms:
        for atom in mono:
            if atom.kind == "digit":
                digits.setdefault(atom.args[0].identity, []).append((mono, atom))
            elif atom.kind == "floormod" and (merged := _signed(terms, mono, atom)) is not None:
                return merged
            elif atom.kind == "opaque":
                from .sums import opened  # few functions divide by a sum

                if (factor := opened(terms, mono, atom, exact)) is not None:
                    left = {m: c for m, c in terms.items() if m != mono}
                    return Merge(left, factor, atom.args[0])
    for found in digits.values():
        base = found[0][1].args[0]
        starts: dict[Identity, list[tuple[Monomial, Atom]]] = {}
        if len(found) > 1:
            for place in found:
                starts.setdefault(place[1].args[1].identity, []).append(place)
        for mono_low, low in found:
            _, lo, mid = low.args
            if mid is None:
                merged = _into_base(terms, base, mono_low, low, exact)
                if merged is not None:
                    return merged
                continue
            ((mid_mono, mid_c),), ((lo_mono, lo_c),) = mid.terms.items(), lo.terms.items()
            rest = _others(mono_low, low)
            for mono_high, high in starts.get(mid.identity, ()):
                if high is low:
                    continue
                # high * coefficient == low's coefficient * (mid / lo), as monomials
                if (
                    times(_others(mono_high, high), lo_mono) == times(rest, mid_mono)
                    and terms[mono_high] * lo_c == terms[mono_low] * mid_c
                ):
                    left = dict(terms)
                    coefficient = left.pop(mono_low)
                    del left[mono_high]
                    return Merge(left, {rest: coefficient}, base, lo, high.args[2])
        if len(found) == 1:
            continue
        # x // a - (b/a) * (x // b), with the upper digit unbounded: also x % b // a
        keys = [_scale(terms, *place) for place in found]
        scales: dict[tuple, list[tuple[Monomial, Atom]]] = {}
        for key, place in zip(keys, found, strict=True):
            scales.setdefault(key, []).append(place)
        for (*scale, c), (mono_low, low) in zip(keys, found, strict=True):
            others = scales.get((*scale, -c))
            if others is not None:
                merged = _split_off(terms, mono_low, low, others, exact)
                if merged is not None:
                    return merged
    return None


def _others(mono: Monomial, atom: Atom) -> Monomial:
    """The factors beside an atom."""
    if len(mono) == 1:
        return ()
    rest = without(mono, (atom,))
    assert rest is not None
    return rest


def _scale(terms: Terms, mono: Monomial, digit: Atom) -> tuple:
    """What two digits of one base have in common, but for the sign of the last, where one may be
    split off the other: where they end, and their factors divided by where they start."""
    _, lo, hi = digit.args
    ((lo_mono, lo_c),) = lo.terms.items()
    rest = list(mono)
    rest.remove(digit)
    below = []
    for atom in lo_mono:
        if atom in rest:
            rest.remove(atom)
        else:
            below.append(atom)
    c = terms[mono]
    common = gcd(c, lo_c)
    end = None if hi is None else hi.identity
    return end, tuple(rest), tuple(below), lo_c // common, c // common


def _signed(terms: Terms, mono: Monomial, low: Atom) -> Merge | None:
    """a*(x // a) + x % a is x for a divisor of any sign, too."""
    base, divisor = low.args
    if len(divisor.terms) != 1:
        return None
    ((by, c),) = divisor.terms.items()
    rest = _others(mono, low)
    high = times(times(rest, by), (Atom("floordiv", base, divisor),))
    coefficient = terms[mono]
    if terms.get(high) != coefficient * c:
        return None
    left = {m: k for m, k in terms.items() if m not in (mono, high)}
    return Merge(left, {rest: coefficient}, base)


def _split_off(
    terms: Terms, mono: Monomial, whole: Atom, found: list[tuple[Monomial, Atom]], exact: Exact
) -> Merge | None:
    """(x % h) // l - (m/l) * ((x % h) // m) is (x % m) // l where l divides m; found: the digits
    that fit but for that."""
    base, lo, _ = whole.args
    for mono_high, high in found:
        mid = high.args[1]
        if not divide(mid.terms, lo.terms, exact)[1]:
            left = dict(terms)
            coefficient = left.pop(mono)
            del left[mono_high]
            return Merge(left, {_others(mono, whole): coefficient}, base, lo, mid)
    return None


def _into_base(terms: Terms, base: Any, mono: Monomial, high: Atom, exact: Exact) -> Merge | None:
    """x - a*(x // a) is x % a, where x itself stands in the sum."""
    lo = high.args[1]
    ((lo_mono, lo_c),) = lo.terms.items()
    if terms[mono] % lo_c:
        return None
    beside = without(_others(mono, high), lo_mono)
    if beside is None:
        return None
    factor = {beside: -(terms[mono] // lo_c)}
    wanted = distribute(factor, base.terms, exact)
    if not all(
        (m in terms and (terms[m] > 0) == (c > 0) and abs(terms[m]) >= abs(c))
        for m, c in wanted.items()
        if m
    ):
        return None
    left = dict(terms)
    del left[mono]
    for m, c in wanted.items():
        total = left.get(m, 0) - c
        if total:
            left[m] = total
        else:
            left.pop(m, None)
    return Merge(left, factor, base, 1, lo)

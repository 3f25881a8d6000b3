"""Estimates: looser bounds, for any form, which a header says where nothing better is known.

A constant bound (bounds.py) may not exist, for sizes have none. An estimate speaks of what it is asked
to keep: of i*M + j with 0 <= i < M and 0 <= j < M, the highest value in M alone is M*M - 1. What is
promised is that no value is above it; None means that a symbol on the way has no bound at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import reduce

from ..intervals import tighter
from .bounds import Bounds
from .expr import Expr
from .facts import Facts, Range, distribute, divide_terms
from .simplifier import MOST_EXPANDED, Simplifier
from .terms import Atom, Identity, Terms, times, without
from .unsubstitute import unsubstitute

KEPT = frozenset({"sym", "digit", "min", "max", "isqrt"})  # what stands in a bound
MOST_SUMMITS = 4
MOST_STEPS = 24  # of bounds that are put in one after the other


class Estimates:
    """Bounds of any form that follow from facts."""

    def __init__(self, facts: Facts, simplifier: Simplifier):
        self.facts, self.simplifier = facts, simplifier
        self.prover, self.bounds = simplifier.prover, simplifier.prover.bounds

    def most(self, e: Expr) -> int | None:
        """A constant upper bound of a value."""
        key = e.identity
        if key not in self.facts.cache.highest:
            self.facts.cache.highest[key] = self._highest_of(e)
        return self.facts.cache.highest[key]

    def greatest(self, e: Expr) -> int | None:
        """A constant upper bound of a value in terms of indices: of its bound in sizes, those that
        have bounds of their own included, for a product of them may have a better one."""
        found = None
        for keep in self._kept():
            bound = self.prover.proofs.upper(e, keep)
            found = tighter(min, found, None if bound is None else self.most(bound))
        return found

    def _kept(self) -> list[list[str]]:
        """Choices of symbols from 1 on that have upper bounds and stay in a bound: some product has
        one. None of them, all, those that numbers bound, those that others bound."""
        if not any(len(mono) > 1 for k in self.facts.constraints for mono in k.terms):
            return [[]]
        known = [(name, r.hi) for name, r in sorted(self.facts.ranges.items()) if r.hi is not None]
        known = [(name, hi) for name, hi in known if self.bounds.is_positive(Atom("sym", name))]
        numeric = [name for name, hi in known if hi.constant is not None]
        others = [name for name, hi in known if hi.constant is None]
        choices = [], [*dict(known)], numeric, others
        return [keep for k, keep in enumerate(choices) if keep not in choices[:k]]

    def _highest_of(self, e: Expr) -> int | None:
        known = dict(self.facts.original)
        for name, r in self.facts.original.items():
            if (now := self.facts.ranges.get(name)) is not None:
                lo, hi = now.lo if r.lo is None else r.lo, now.hi if r.hi is None else r.hi
                least, most = tighter(max, r.least, now.least), tighter(min, r.most, now.most)
                known[name] = Range(lo, hi, least, most)
        for atom, (dividend, divisor) in self.facts.exact.items():
            factors = [atom, *divisor.atoms()]
            lo, hi = self.bounds.interval(dividend)
            if lo is None or lo < 1 or hi is None or not all(map(self.bounds.is_positive, factors)):
                continue
            for factor in factors:  # neither is larger than what is divided
                if factor.kind == "sym":
                    r = known.get(factor.args[0]) or self.facts.ranges.get(factor.args[0], Range())
                    known[factor.args[0]] = replace(r, most=tighter(min, r.most, hi))
        there = Bounds(Facts({**self.facts.ranges, **known}))
        own = unsubstitute(e, self.facts)
        top = _most(there, own, [unsubstitute(k, self.facts) for k in self.facts.constraints])
        if self.facts.substitutions and self.facts.constraints:
            constraints = [form for k in self.facts.constraints for form in self.divided_forms(k)]
            top = tighter(min, top, _most(self.bounds, e, constraints))
        return top

    def divided_forms(self, e: Expr) -> Iterator[Expr]:
        """e, and e in which a product that is known to be divided is its divisor times the quotient."""
        yield e
        for atom, (dividend, divisor) in self.facts.exact.items():
            ((n_mono, n_c),), ((d_mono, d_c),) = dividend.terms.items(), divisor.terms.items()
            terms: Terms = {}
            for mono, c in e.terms.items():
                rest = without(mono, n_mono) if n_mono and c % n_c == 0 else None
                if rest is not None:
                    mono, c = times(rest, times(d_mono, (atom,))), c // n_c * d_c
                terms[mono] = terms.get(mono, 0) + c
            if terms.keys() != e.terms.keys():
                yield Expr({mono: c for mono, c in terms.items() if c})

    def highest(self, e: Expr, keep: Set[str]) -> Expr | None:
        """An upper bound of e in what keep names and in what no number bounds from above, quotients,
        roots, minima and maxima of that included; None where a symbol has no bound. Looser than
        upper, but for any form."""
        open_ = frozenset(name for name in self.facts.ranges if self.facts.least(name) is not None)
        self._extremes: dict[tuple[Identity, Set[str], int], Expr | None] = {}
        bound = self._extreme(e, open_ | keep, MOST_STEPS)
        return None if bound is None else self._without_quotients(bound)

    def summits(self, e: Expr, keep: Set[str]) -> list[Expr] | None:
        """As highest, in parts of which each is at most that: one for either operand of a maximum."""
        bound = self.highest(e, keep)
        if bound is None:
            return None
        found = [bound]
        while len(found) < MOST_SUMMITS and (split := self._split(found)):
            found = split
        return found

    def _split(self, bounds: Sequence[Expr]) -> list[Expr]:
        """Bounds, the first maximum of which each operand stands for; [] where there is none."""
        for k, e in enumerate(bounds):
            for atom in sorted(e.atoms(), key=self.prover.proofs.place_of):
                if atom.kind != "max":
                    continue
                factors = [*self._factors(e, atom)]
                if len(factors) == 1 and factors[0][1] == 1 and self.prover.nonneg(factors[0][0]):
                    rest = Expr({m: c for m, c in e.terms.items() if atom not in m})
                    parts = [rest + distribute(self.facts, factors[0][0], x) for x in atom.args]
                    return [*bounds[:k], *map(self._without_quotients, parts), *bounds[k + 1 :]]
        return []

    def _extreme(self, e: Expr, keep: Set[str], steps: int) -> Expr | None:
        """As highest, with all quotients in it."""
        key = e.identity, frozenset(keep), steps
        if key not in self._extremes:
            self._extremes[key] = self._extreme_of(e, keep, steps)
        return self._extremes[key]

    def _extreme_of(self, e: Expr, keep: Set[str], steps: int) -> Expr | None:
        if not steps or len(e.terms) > MOST_EXPANDED:
            return None
        for atom in sorted(e.atoms(), key=self.prover.proofs.place_of, reverse=True):
            if atom.symbols <= keep and atom.kind in KEPT:
                continue
            found = Expr({m: c for m, c in e.terms.items() if atom not in m})
            for factor, power in self._factors(e, atom):
                rises = self.prover.nonneg(factor)
                if not rises and not self.prover.nonneg(-factor):
                    return None
                if power > 1 and not self._is_nonnegative(Expr.atom(atom), keep, steps):
                    return None
                c = factor.constant if power == 1 and rises else None
                part = self.prover.proofs.quotient_top(atom, c)
                if part is None:
                    end: Expr | None
                    if atom.kind == "isqrt" and rises and power % 2 == 0:
                        end, power = atom.args[0], power // 2
                    else:
                        end = self._end(atom, keep, rises, power > 1, steps)
                    if end is None:
                        return None
                    if power > 1 and not rises and not self.prover.nonneg(end):
                        end = Expr.of(0)  # whose power is no more than that of a value >= 0
                    part = reduce(self.simplifier.times, [end] * power, factor)
                found = found + part
            return self._extreme(found, keep, steps - 1)
        return e

    def _is_nonnegative(self, e: Expr, keep: Set[str], steps: int) -> bool:
        """Whether e is not negative, by a proof or by its lower bound."""
        if self.prover.nonneg(e):
            return True
        bound = self._extreme(-e, keep, steps - 1)
        return bound is not None and self.prover.nonneg(-bound)

    def _factors(self, e: Expr, atom: Atom) -> Iterator[tuple[Expr, int]]:
        """(what an atom is multiplied by in e, the power of the atom): one factor for each power where
        its sign is known, else one for the terms of each sign."""
        found: dict[int, Terms] = {}
        for mono, c in e.terms.items():
            if power := mono.count(atom):
                found.setdefault(power, {})[tuple(a for a in mono if a is not atom)] = c
        for power, terms in found.items():
            factor = Expr(terms)
            if self.prover.nonneg(factor) or self.prover.nonneg(-factor):
                yield factor, power
                continue
            yield Expr({m: c for m, c in terms.items() if c > 0}), power
            yield Expr({m: c for m, c in terms.items() if c < 0}), power

    def _end(self, atom: Atom, keep: Set[str], up: bool, whole: bool, steps: int) -> Expr | None:
        """An upper bound of an atom, or a lower one; what it speaks of may have bounds of its own.
        whole: of a sum, which is not to be multiplied out."""
        kind, args = atom.kind, atom.args

        def end(e: Expr) -> Expr | None:
            bound = self._extreme(e if up else -e, keep, steps - 1)
            return bound if up or bound is None else -bound

        if kind == "sym":
            known = self.facts.ranges.get(args[0])
            if known is None or known.lo is None:  # of either sign: no header says so much of it
                return None
            return known.hi if up else known.lo
        if kind == "opaque":
            inner, lo, hi, _ = args
            if whole and not inner.symbols() <= keep:
                return end(inner)
            return inner if hi is None or inner.symbols() <= keep else hi if up else lo
        if kind == "digit":
            base, lo, hi = args
            if not up and (hi is not None or self.prover.nonneg(base)):
                return Expr.of(0)
            if hi is not None:
                count, rest = divide_terms(self.facts, hi, lo)
                return hi - 1 if rest.terms else count - 1
            known = self.prover.proofs.quotient_bound(base, lo) if up else None
            if known is not None:
                return known
            bound = end(base)
            if bound is not None and lo.symbols() <= keep:
                return self._quotient(bound, lo, up)
            return bound if up and self.prover.nonneg(base) else None
        if kind in ("min", "max", "select"):
            a, b = (end(x) for x in args[-2:])
            if a is None or b is None:
                # of two upper bounds of a minimum one is enough, and of two lower ones of a maximum
                one = b if a is None else a
                return one if kind == ("min" if up else "max") else None
            higher = kind == "max" or (kind == "select" and up)
            if not up:  # so that what is taken off is a maximum
                return (
                    -self.simplifier.minimum(-a, -b) if higher else -self.simplifier.maximum(-a, -b)
                )
            return self.simplifier.maximum(a, b) if higher else self.simplifier.minimum(a, b)
        if kind == "isqrt" and up:
            inner = end(args[0])
            return None if inner is None else self.simplifier.isqrt(inner)
        number = self.bounds.of_atom(atom)[up]
        return None if number is None else Expr.of(number)

    def _quotient(self, base: Expr, n: Expr, up: bool) -> Expr:
        """An upper bound of base // n, or a lower one: n times the other one is nearly base, or it is
        the quotient itself."""
        by = self._extreme(n, n.symbols(), MOST_STEPS)
        if up and by is not None and len(by.terms) > 1:
            lead = max(by.terms, key=lambda mono: (len(mono), [a.key for a in mono]))
            times, _ = divide_terms(self.facts, base, Expr({lead: by.terms[lead]}))
            rest = base - distribute(self.facts, times, by)
            if times.terms and self.prover.nonneg(-rest - 1):
                return times - 1
            if times.terms and self.prover.nonneg(by - rest - 1):
                return times
        return self.simplifier.digit(base, n, None)

    def loosened(self, e: Expr) -> Expr:
        """An upper bound of e without quotients: x // n lies in 0..x where x is not negative."""
        for mono, c in e.terms.items():
            for atom in mono:
                if (
                    atom.kind == "digit"
                    and atom.args[2] is None
                    and self.prover.nonneg(atom.args[0])
                ):
                    rest, factor = e - Expr({mono: c}), Expr({without(mono, (atom,)) or (): c})
                    if self.prover.nonneg(-factor):
                        return self.loosened(rest)
                    if self.prover.nonneg(factor):
                        return self.loosened(rest + distribute(self.facts, factor, atom.args[0]))
        return e

    def _without_quotients(self, e: Expr) -> Expr:
        """An upper bound of e without the quotients that their divisors are multiplied with, and without
        remainders: n * (x // n) is at most x, and x % n at most n - 1."""
        for atom in sorted(e.atoms(), key=lambda a: a.key):
            if atom.kind != "digit":
                continue
            base, n, hi = atom.args
            factors = [*self._factors(e, atom)]
            if len(factors) > 1 or factors[0][1] > 1 or not self.prover.nonneg(factors[0][0]):
                continue
            rest = Expr({m: c for m, c in e.terms.items() if atom not in m})
            if hi is not None:
                most = self.bounds.of_atom(atom)[1]
                if most is not None:
                    return self._without_quotients(rest + factors[0][0] * most)
                continue
            times, beyond = divide_terms(self.facts, factors[0][0], n)
            if not beyond.terms:
                return self._without_quotients(rest + distribute(self.facts, times, base))
        return e


def _most(bounds: Bounds, e: Expr, constraints: Sequence[Expr]) -> int | None:
    """A constant upper bound of e where constraints are >= 0."""
    top, rest = bounds.interval(e)[1], e
    for k in constraints:
        top = tighter(min, top, bounds.interval(_above(bounds, e, k))[1])
        rest = _above(bounds, rest, k)  # of a sum each constraint may bound another product
    return tighter(min, top, bounds.interval(rest)[1])


def _above(bounds: Bounds, e: Expr, k: Expr) -> Expr:
    """What e is at most where k >= 0: a product that is a part of one that k bounds is at most
    that, for the other factors are positive."""
    for whole, bounded in k.terms.items():
        if len(whole) < 2 or bounded > 0:
            continue
        if any((bounds.of_atom(a)[0] or 0) < 1 for a in whole):
            continue
        for part, c in e.terms.items():
            if part and c > 0 and without(whole, part) is not None:
                times_k = Expr({m: -(c // bounded) * n for m, n in k.terms.items()})
                return e - Expr({part: c}) + Expr({whole: c}) + times_k
    return e

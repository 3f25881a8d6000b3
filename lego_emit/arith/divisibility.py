"""Divisibility: floor division in normal form, and sums in which the digits that it makes meet.

A quotient is decided term by term. With d known to be positive, what of the dividend d divides comes
out as it is; the rest is looked at for a border g of digits, which no lower digit reaches; and where
nothing helps it becomes a new digit. For 0 <= i < 4 and 0 <= j < 8, (24*i + 8*j + 3) by 24 is
worked out as

    24*i        is a multiple: i comes out                      (MULTIPLES)
    8*j + 3     8 is a border, and 3 does not reach it: j by 3  (DIGITS)
    j by 3      stays: j//3 and j%3                             (MULTIPLES)

so that the quotient is i + j//3 and the remainder 8*(j%3) + 3. Each rule of RULES gives an answer that
holds wherever the facts do, or None; the last one always has one. What a rule asks for is proven by the
prover; a proof that fails costs a simpler form, never a wrong one.

A divisor whose sign is not known gives the atoms fdiv and fmod, which mean what Python's // and % mean,
and which no rule looks into. An exact quotient (facts.py) cancels against its divisor in products:
BN * ((512*K)//BN) is 512*K.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..errors import TraceError
from .digits import merge
from .expr import Expr, added, monomial_gcd, opaque
from .facts import Facts, distribute, divide_terms
from .prover import Prover
from .steps import DIGITS, EXACT, FITS, MULTIPLES, NESTED, SMALL, Divided, Log, Recorder
from .terms import Atom, Identity

Rule: TypeAlias = "Callable[[Divisibility, Expr, Expr, Expr], Divided | None]"


class Divisibility:
    """How what is known divides: by the first of the rules that has an answer."""

    def __init__(self, facts: Facts, prover: Prover, recorder: Recorder):
        self.facts, self.prover, self.recorder = facts, prover, recorder

    def divmod(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """Floor quotient and remainder in normal form. Raises TraceError where b is 0."""
        constant = b.constant
        if constant == 0:
            raise TraceError(f"({a!r}) // 0: a division by zero")
        if constant == 1:
            return a, Expr.of(0)
        if constant is not None and a.constant is not None:
            quotient, remainder = divmod(a.constant, constant)
            return Expr.of(quotient), Expr.of(remainder)
        if len(b.terms) > 1:
            b = opaque(b)
        cache, key = self.facts.cache.divmods, (a.identity, b.identity, self.prover.use_z3)
        step = cache.get(key)
        if step is None:
            step = cache[key] = self._divided(a, b)
        if self.recorder.log is not None:
            self.recorder.log.add(step)
        return step.quotient, step.remainder

    def digit(self, base: Expr, lo: Expr, hi: Expr | None) -> Expr:
        """(base mod hi) // lo for borders that are positive; hi None: base // lo."""
        if hi is not None:
            base = self.divmod(base, hi)[1]
        return self.divmod(base, lo)[0]

    def add(self, a: Expr, b: Expr) -> Expr:
        """The sum, with neighboring digits of one base put together (Table II)."""
        if not a.terms or not b.terms:
            return a if a.terms else b
        made = added(a, b)
        found = merge(made.terms, self.facts.exact)
        if found is None:
            return made
        whole = found.base
        if found.lo is not None:
            whole = self.digit(whole, Expr.of(found.lo), found.hi)
        merged = self.add(Expr(found.terms), self.times(Expr(found.factor), whole))
        if self.recorder.log is not None:
            self.recorder.log.merged(made, merged, self.facts.branch)
        return merged

    def times(self, a: Expr, b: Expr) -> Expr:
        """The product, multiplied out; exact quotients cancel."""
        return distribute(self.facts, a, b)

    def divide(self, e: Expr, by: Expr) -> tuple[Expr, Expr]:
        """(quotient, rest): the terms that a one-term Expr divides, divided, and the others."""
        return divide_terms(self.facts, e, by)

    def _divided(self, a: Expr, b: Expr) -> Divided:
        recorder = self.recorder
        log, recorder.log = recorder.log, (parts := Log())
        try:
            step = None
            for form in self._forms(a, b):
                whole, rest = self.divide(form, b)
                found = (rule(self, whole, rest, b) for rule in RULES)
                step = next(one for one in found if one is not None)
                if whole.terms or step.law is not MULTIPLES:
                    break
            assert step is not None  # the last rule always has an answer
        finally:
            recorder.log = log
        step.dividend, step.divisor, step.parts, step.where = (
            a, b, parts.entries, self.facts.branch,
        )  # fmt: skip
        return step

    def _forms(self, a: Expr, b: Expr) -> list[Expr]:
        """A dividend, first as it is shorter in terms of the sums that are factors of the divisor."""
        if all(factor.kind != "opaque" for factor in b.atoms()):
            return [a]
        from .sums import gathered  # few functions divide by a sum

        shorter = gathered(a.terms, b.atoms(), self.facts.exact)
        return [a] if shorter is None else [Expr(shorter), a]

    def _fit(self, rest: Expr, b: Expr) -> tuple[Expr, Expr] | None:
        """(k, rest - k*b) where the remainder is in 0..b-1 for one k throughout."""
        if not rest.terms:
            return Expr.of(0), rest
        size = b.constant
        if size is not None:
            lo, hi = self.prover.bounds.interval(rest)
            if lo is not None and hi is not None:
                k = lo // size
                if hi // size == k:
                    return Expr.of(k), rest - k * size
                if all(self.prover.bounds.takes_both_ends(a) for a in rest.atoms()):
                    return None
        if self.prover.nonneg(rest) and self.prover.nonneg(b - rest - 1):
            return Expr.of(0), rest
        if size is None:
            if self.prover.nonneg(rest + b) and self.prover.nonneg(-rest - 1):
                return Expr.of(-1), rest + b
            if self.prover.nonneg(rest - b) and self.prover.nonneg(2 * b - rest - 1):
                return Expr.of(1), rest - b
        return None

    def _borders(self, rest: Expr, b: Expr) -> list[Expr]:
        """Candidate borders, largest first."""
        found: dict[Identity, Expr] = {}
        for mono, coefficient in rest.terms.items():
            if mono:
                g = monomial_gcd(b, mono, coefficient)
                if g.constant != 1:
                    found.setdefault(g.identity, g)
        return sorted(
            found.values(),
            key=lambda g: (-len(next(iter(g.terms))), -next(iter(g.terms.values())), g.key),
        )


# -- rules: of (whole*b + rest) by b, whole and rest as the terms of the dividend give them ---------


def factor(known: Divisibility, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """b is a factor of every term."""
    if rest.terms:
        return None
    return Divided(EXACT, whole, rest, whole, "the divisor is a factor of every term")


def signed(known: Divisibility, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """The sign of b is not known."""
    if (b.constant or 0) >= 1 or known.prover.nonneg(b - 1) or not rest.terms:
        return None
    quotient, remainder = Expr.atom(Atom("floordiv", rest, b)), Expr.atom(Atom("floormod", rest, b))
    proof = "where the divisor is not 0"
    return Divided(MULTIPLES, known.add(whole, quotient), remainder, whole, proof, signed=True)


def exact(known: Divisibility, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """b is known to divide rest."""
    for atom, (dividend, divisor) in known.facts.exact.items():
        if dividend.same(rest) and divisor.same(b):
            return Divided(
                EXACT, known.add(whole, Expr.atom(atom)), Expr.of(0), whole, "divisibility"
            )
    return None


def fits(known: Divisibility, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """rest lies in one multiple of b throughout: Table II, rules 4 and 5; or does so without the
    multiples of b that its coefficients hold, as 9*i by 8 does where i is less than 8."""
    fitted = known._fit(rest, b)
    if fitted is None and b.constant is not None:
        more = Expr({m: c // b.constant for m, c in rest.terms.items() if c // b.constant})
        if more.terms:
            fitted, whole = known._fit(rest - more * b, b), whole + more
    if fitted is None:
        return None
    k, left = fitted
    whole = whole + k
    return Divided(FITS if whole.terms else SMALL, whole, left, whole, fits=(left, b))


def split(known: Divisibility, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """At a border g of digits, rest = g*high + low with 0 <= low < g: what is low does not reach it."""
    for g in known._borders(rest, b):
        high, low = known.divide(rest, g)
        fitted = known._fit(low, g)
        if fitted is None:
            continue
        k, left = fitted
        inner = known.divide(b, g)[0]
        q, r = known.divmod(high + k, inner)
        fit = (left, g) if low.terms else None
        border = (g, high + k, left, inner)
        remainder = known.add(known.times(g, r), left)
        return Divided(DIGITS, known.add(whole, q), remainder, whole, fits=fit, border=border)
    return None


def nested(known: Divisibility, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """A digit of a digit is a digit."""
    single = rest.single
    if single is None or single.kind != "digit":
        return None
    base, lo, hi = single.args
    step = known.times(b, lo)
    if hi is not None and known.divide(hi, step)[1].terms:
        return None
    quotient, low = Atom("digit", base, step, hi), Atom("digit", base, lo, step)
    return Divided(NESTED, known.add(whole, Expr.atom(quotient)), Expr.atom(low), whole)


def stays(known: Divisibility, whole: Expr, rest: Expr, b: Expr) -> Divided:
    """A new digit, of a base that is not negative where a multiple of b makes it so: languages divide
    what is not negative."""
    if not known.prover.nonneg(rest) and known.prover.nonneg(rest + b):
        whole, rest = whole - 1, rest + b
    elif () in rest.terms and known.prover.nonneg(rest - b):
        whole, rest = whole + 1, rest - b
    quotient, low = Atom("digit", rest, b, None), Atom("digit", rest, Expr.of(1), b)
    return Divided(MULTIPLES, known.add(whole, Expr.atom(quotient)), Expr.atom(low), whole)


# What a rule gives names the law that it rests on: the explanation needs no more.
RULES: tuple[Rule, ...] = (signed, factor, exact, fits, split, nested, stays)

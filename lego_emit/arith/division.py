"""Floor division in normal form, by the rules of Table II and the splitting of digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..errors import TraceError
from .bounds import Bounds
from .expr import Expr, distribute, divide_terms, group, monomial_gcd
from .steps import DIGITS, EXACT, FITS, MULTIPLES, NESTED, SMALL, Divided, Log, branch
from .terms import Atom, Identity

Rule: TypeAlias = "Callable[[Division, Expr, Expr, Expr], Divided | None]"


class Division(Bounds):
    """What is known, and how it divides: by the first of the rules that has an answer."""

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
            b = group(b)
        key = a.identity, b.identity, self.use_z3
        step = self._divmods.get(key)
        if step is None:
            step = self._divmods[key] = self._divided(a, b)
        if self.log is not None:
            self.log.add(step)
        return step.quotient, step.remainder

    def _divided(self, a: Expr, b: Expr) -> Divided:
        log, self.log = self.log, (parts := Log())
        try:
            whole, rest = divide_terms(a, b)
            step = next(s for s in (rule(self, whole, rest, b) for rule in RULES) if s is not None)
        finally:
            self.log = log
        step.dividend, step.divisor, step.parts, step.where = a, b, parts.entries, branch()
        return step

    def _fit(self, rest: Expr, b: Expr) -> tuple[Expr, Expr] | None:
        """(k, rest - k*b) where the remainder is in 0..b-1 for one k throughout."""
        if not rest.terms:
            return Expr.of(0), rest
        size = b.constant
        if size is not None:
            lo, hi = self.interval(rest)
            if lo is not None and hi is not None:
                k = lo // size
                if hi // size == k:
                    return Expr.of(k), rest - k * size
                if all(self._exact_interval(a) for a in rest.atoms()):
                    return None
        if self.nonneg(rest) and self.nonneg(b - rest - 1):
            return Expr.of(0), rest
        if size is None:
            if self.nonneg(rest + b) and self.nonneg(-rest - 1):
                return Expr.of(-1), rest + b
            if self.nonneg(rest - b) and self.nonneg(2 * b - rest - 1):
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


def factor(known: Division, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """b is a factor of every term."""
    if rest.terms:
        return None
    return Divided(EXACT, whole, rest, whole, "the divisor is a factor of every term")


def signed(known: Division, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """The sign of b is not known."""
    if known.nonneg(b - 1) or not rest.terms:
        return None
    quotient, remainder = Expr.atom(Atom("fdiv", rest, b)), Expr.atom(Atom("fmod", rest, b))
    proof = "where the divisor is not 0"
    return Divided(MULTIPLES, whole + quotient, remainder, whole, proof, signed=True)


def exact(known: Division, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """b is known to divide rest."""
    for atom, (dividend, divisor) in known.exact.items():
        if dividend.same(rest) and divisor.same(b):
            return Divided(EXACT, whole + Expr.atom(atom), Expr.of(0), whole, "divisibility")
    return None


def fits(known: Division, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
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


def split(known: Division, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """At a border g of digits, rest = g*high + low with 0 <= low < g: what is low does not reach it."""
    for g in known._borders(rest, b):
        high, low = divide_terms(rest, g)
        fitted = known._fit(low, g)
        if fitted is None:
            continue
        k, left = fitted
        inner = divide_terms(b, g)[0]
        q, r = known.divmod(high + k, inner)
        fit = (left, g) if low.terms else None
        border = (g, high + k, left, inner)
        remainder = distribute(g, r) + left
        return Divided(DIGITS, whole + q, remainder, whole, fits=fit, border=border)
    return None


def nested(known: Division, whole: Expr, rest: Expr, b: Expr) -> Divided | None:
    """A digit of a digit is a digit."""
    single = rest.single
    if single is None or single.kind != "digit":
        return None
    base, lo, hi = single.args
    step = distribute(b, lo)
    if hi is not None and divide_terms(hi, step)[1].terms:
        return None
    quotient, low = Atom("digit", base, step, hi), Atom("digit", base, lo, step)
    return Divided(NESTED, whole + Expr.atom(quotient), Expr.atom(low), whole)


def stays(known: Division, whole: Expr, rest: Expr, b: Expr) -> Divided:
    """A new digit, of a base that is not negative where a multiple of b makes it so: languages divide
    what is not negative."""
    if not known.nonneg(rest) and known.nonneg(rest + b):
        whole, rest = whole - 1, rest + b
    elif () in rest.terms and known.nonneg(rest - b):
        whole, rest = whole + 1, rest - b
    quotient, low = Atom("digit", rest, b, None), Atom("digit", rest, Expr.of(1), b)
    return Divided(MULTIPLES, whole + Expr.atom(quotient), Expr.atom(low), whole)


# What a rule gives names the law that it rests on: the explanation needs no more.
RULES: tuple[Rule, ...] = (signed, factor, exact, fits, split, nested, stays)

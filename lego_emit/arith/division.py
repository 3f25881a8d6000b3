"""Floor division in normal form: quotient and remainder by the rules of Table II and the splitting
of digits."""

from __future__ import annotations

from functools import partial

from ..errors import TraceError
from .bounds import Bounds
from .expr import Expr, distribute, divide_terms, group, monomial_gcd
from .knowledge import RECORDER
from .terms import Atom


class Division(Bounds):
    """What is known, and how it divides."""

    def divmod(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """Floor quotient and remainder in normal form (Table II and the splitting of digits)."""
        constant = b.constant
        if constant == 0:
            raise TraceError(f"({a!r}) // 0: a division by zero")
        if constant == 1:
            return a, Expr.of(0)
        if constant is not None and a.constant is not None:
            return tuple(map(Expr.of, divmod(a.constant, constant)))  # type: ignore[return-value]
        if len(b.terms) > 1:
            b = group(b)
        key = (a, b)
        known = self._divmods.get(key)
        recorder = RECORDER.get()
        if known is None:
            divide = self._divmod if recorder is None else partial(recorder.dividing, self)
            known = self._divmods[key] = divide(a, b)
        elif recorder is not None:
            recorder.divided(self, a, b, known)
        return known

    def _divmod(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        recorder = RECORDER.get()
        if not self.nonneg(b - 1):
            quotient, rest = divide_terms(a, b)
            if not rest.terms:
                if recorder is not None:
                    recorder.because(self, "fit", quotient, rest, b)
                return quotient, rest
            if recorder is not None:
                recorder.signed(quotient)
            return quotient + Expr.atom(Atom("fdiv", rest, b)), Expr.atom(Atom("fmod", rest, b))
        quotient, rest = divide_terms(a, b)
        for atom, (dividend, divisor) in self.exact.items():
            if dividend.same(rest) and divisor.same(b):
                if recorder is not None:
                    recorder.because(self, "exact", quotient, rest, b)
                return quotient + Expr.atom(atom), Expr.of(0)
        fitted = self._fit(rest, b)
        if fitted is not None:
            if recorder is not None:
                recorder.because(self, "fit", quotient, rest, b, fitted[0])
            return quotient + fitted[0], fitted[1]
        # split at a border: rest = g*high + low with 0 <= low < g
        for g in self._borders(rest, b):
            high, low = divide_terms(rest, g)
            fitted = self._fit(low, g)
            if fitted is None:
                continue
            inner = divide_terms(b, g)[0]
            if recorder is not None:
                recorder.splits(self, quotient, g, high, low, fitted[0], inner)
            q, r = self.divmod(high + fitted[0], inner)
            return quotient + q, distribute(g, r) + fitted[1]
        single = rest.single
        if single is not None and single.kind == "digit":
            base, lo, hi = single.args
            step = distribute(b, lo)
            if hi is None or not divide_terms(hi, step)[1].terms:
                if recorder is not None:
                    recorder.because(self, "nested", quotient, rest, b)
                return (
                    quotient + Expr.atom(Atom("digit", base, step, hi)),
                    Expr.atom(Atom("digit", base, lo, step)),
                )
        if not self.nonneg(rest) and self.nonneg(rest + b):
            quotient, rest = quotient - 1, rest + b  # languages divide what is not negative
        elif () in rest.terms and self.nonneg(rest - b):
            quotient, rest = quotient + 1, rest - b
        if recorder is not None:
            recorder.because(self, "stays", quotient, rest, b)
        return (
            quotient + Expr.atom(Atom("digit", rest, b, None)),
            Expr.atom(Atom("digit", rest, Expr.of(1), b)),
        )

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
        found: dict[Expr, int] = {}
        for mono, coefficient in rest.terms.items():
            if mono:
                g = monomial_gcd(b, mono, coefficient)
                if g.constant != 1:
                    found[g] = 0
        return sorted(
            found, key=lambda g: (-len(next(iter(g.terms))), -next(iter(g.terms.values())), g.key)
        )

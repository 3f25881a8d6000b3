"""Looser bounds, for any form: what a header says where nothing better is known."""

from __future__ import annotations

from collections.abc import Sequence

from .expr import Expr, distribute
from .intervals import tighter
from .known import Range
from .proofs import Proofs, digit_count
from .rebuild import MOST_EXPANDED, unsubstitute
from .terms import Atom, Identity, without


class Bounds(Proofs):
    """What is known, with bounds of magnitude."""

    def most(self, e: Expr) -> int | None:
        """A constant upper bound of a value."""
        key = e.identity
        if key not in self._highest:
            self._highest[key] = self._highest_of(e)
        return self._highest[key]

    def _highest_of(self, e: Expr) -> int | None:
        known = dict(self.original)
        for name, r in self.original.items():
            if (now := self.ranges.get(name)) is not None:
                lo, hi = now.lo if r.lo is None else r.lo, now.hi if r.hi is None else r.hi
                known[name] = Range(lo, hi)
        there = type(self)({**self.ranges, **known}, use_z3=False)
        own = unsubstitute(e, self)
        top = there._most(own, [unsubstitute(k, self) for k in self.constraints])
        if self.substitutions and self.constraints:
            top = tighter(min, top, self._most(e, self.constraints))
        return top

    def _most(self, e: Expr, constraints: Sequence[Expr]) -> int | None:
        """A constant upper bound of e where constraints are >= 0."""
        top, rest = self.interval(e)[1], e
        for k in constraints:
            top = tighter(min, top, self.interval(self._above(e, k))[1])
            rest = self._above(rest, k)  # of a sum each constraint may bound another product
        return tighter(min, top, self.interval(rest)[1])

    def _above(self, e: Expr, k: Expr) -> Expr:
        """What e is at most where k >= 0: a product that is a part of one that k bounds is at most
        that, for the other factors are positive."""
        for whole, bounded in k.terms.items():
            if len(whole) < 2 or bounded > 0:
                continue
            if any((self._atom_interval(a)[0] or 0) < 1 for a in whole):
                continue
            for part, c in e.terms.items():
                if part and c > 0 and without(whole, part) is not None:
                    return e - Expr({part: c}) + Expr({whole: c}) + k * -(c // bounded)
        return e

    def magnitude(self, e: Expr) -> Expr | None:
        """A bound of abs(e) in sizes only, looser than upper and lower but for any form; None
        where a symbol has no bound."""
        self._roughs: dict[tuple[Identity, int], Expr | None] = {}
        rough = self._rough(e, 24)
        return None if rough is None else self._rootless(rough)

    def _rough(self, e: Expr, depth: int) -> Expr | None:
        """As magnitude, square roots still standing."""
        key = e.identity, depth
        if key not in self._roughs:
            self._roughs[key] = self._rough_sum(e, depth)
        return self._roughs[key]

    def _rough_sum(self, e: Expr, depth: int) -> Expr | None:
        total = Expr.of(0)
        for mono, coefficient in e.terms.items():
            product = Expr.of(abs(coefficient))
            for atom in mono:
                factor = self._rough_atom(atom, depth - 1) if depth else None
                if factor is None:
                    return None
                product = distribute(product, factor)
                if len(product.terms) > MOST_EXPANDED:
                    return None
            total = total + product
        return total

    def _rough_atom(self, atom: Atom, depth: int) -> Expr | None:
        lo, hi = self._atom_interval(atom)
        if lo is not None and hi is not None:
            return Expr.of(max(abs(lo), abs(hi)))
        kind, args = atom.kind, atom.args
        if kind == "sym":
            if self._is_size(args[0]):
                return Expr.atom(atom)
            known = self.ranges.get(args[0])
            if known is None or known.hi is None or known.lo is None or not self.nonneg(known.lo):
                return None
            return self._rough(known.hi, depth)
        if kind == "group":
            if args[1] is not None and args[2] is not None and self.nonneg(args[1]):
                return self._rough(args[2], depth)
            return self._rough(args[0], depth)
        if kind == "isqrt":
            inner = self._rough(args[0], depth)
            return None if inner is None else Expr.atom(Atom("isqrt", self._rootless(inner)))
        if kind == "digit":
            if args[2] is not None:
                return self._rough(digit_count(args[1], args[2]), depth)
            return self._rough(args[0], depth)
        if kind in ("select", "min", "max"):
            a, b = (self._rough(x, depth) for x in args[-2:])
            if a is None or b is None:
                return None
            return b if self.nonneg(b - a) else a if self.nonneg(a - b) else a + b
        return None

    def _rootless(self, e: Expr) -> Expr:
        """isqrt(x)**2 <= x and isqrt(x) <= x."""
        if not any(atom.kind == "isqrt" for atom in e.atoms()):
            return e
        total = Expr.of(0)
        for mono, coefficient in e.terms.items():
            product, rest = Expr.of(coefficient), list(mono)
            while rest:
                atom = rest.pop()
                if atom.kind == "isqrt":
                    if atom in rest:
                        rest.remove(atom)
                    product = distribute(product, atom.args[0])
                else:
                    product = distribute(product, Expr.atom(atom))
            total = total + product
        return total

"""Constant bounds of expressions: the analyzer's first question, which costs least.

The bounds of a sum are the sums of its terms' bounds, those of an operation follow from its operands'
by the table in intervals.py. For 0 <= i <= 7 the bounds of 3*i + 5 are (5, 26). What is promised is that
each value of the expression lies within; that it comes near them is not: i - i//2 has (-3, 7), for i and
i//2 are taken as if they went their own ways. None is a bound that is not known.
"""

from __future__ import annotations

from .. import intervals
from ..intervals import ANY, FLAG, Interval, tighter
from ..operations import OPS
from .expr import Expr
from .facts import Facts
from .terms import Atom


class Bounds:
    """Constant bounds that follow from facts."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self._open: set[Atom] = set()  # symbols and entries whose bounds are being looked at
        self._circles = 0  # how often the bounds of a symbol led back to it

    def interval(self, e: Expr) -> Interval:
        """Constant inclusive bounds, None where there is none."""
        key, cache = e.identity, self.facts.cache.intervals
        known = cache.get(key)
        if known is None:
            lo: int | None = 0
            hi: int | None = 0
            circles = self._circles
            for mono, coefficient in e.terms.items():
                a, b = self._monomial_interval(mono)
                if coefficient < 0:
                    a, b = b, a
                lo = None if lo is None or a is None else lo + coefficient * a
                hi = None if hi is None or b is None else hi + coefficient * b
            known = lo, hi
            if circles == self._circles or not self._open:  # else less than is known
                cache[key] = known
        return known

    def _monomial_interval(self, mono: tuple[Atom, ...]) -> Interval:
        known: Interval = (1, 1)
        k = 0
        while k < len(mono):
            power = 1
            while k + power < len(mono) and mono[k + power] is mono[k]:
                power += 1
            found = intervals.power(self.of_atom(mono[k]), power)
            known = found if k == 0 else intervals.product(known, found)
            k += power
        return known

    def of_atom(self, atom: Atom) -> Interval:
        """Constant inclusive bounds of an atom."""
        kind, args = atom.kind, atom.args
        if kind == "sym":
            known = self.facts.ranges.get(args[0])
            if known is None:
                return ANY
            if atom in self._open:
                self._circles += 1
                return known.least, known.most
            lo = None if known.lo is None else known.lo.constant
            hi = None if known.hi is None else known.hi.constant
            if (known.lo is not None and lo is None) or (known.hi is not None and hi is None):
                self._open.add(atom)  # bounds may lead back: M <= 2*BM where BM divides M
                lo = self.interval(known.lo)[0] if known.lo is not None else None
                hi = self.interval(known.hi)[1] if known.hi is not None else None
                self._open.remove(atom)
            return tighter(max, lo, known.least), tighter(min, hi, known.most)
        if kind == "opaque":
            known = self.interval(args[0])
            if args[1] is not None:
                known = tighter(max, known[0], self.interval(args[1])[0]), known[1]
            if args[2] is not None:
                known = known[0], tighter(min, known[1], self.interval(args[2])[1])
            return known
        if kind == "lookup" and args[0].array:
            return intervals.entry(ANY, *map(self.interval, args[1:]))
        if kind == "lookup":
            if atom in self._open:  # a constraint on an entry leads back here
                return args[0].between(*self.interval(args[1]))
            self._open.add(atom)
            place = self._place(args[1])
            self._open.remove(atom)
            return args[0].between(*place)
        if kind == "bool":
            return FLAG
        if kind in ("loop", "switch"):
            return args[0].bounds[args[1]]
        rule = intervals.digit if kind == "digit" else OPS[kind].bounds if kind in OPS else None
        if rule is None:
            return ANY
        return rule(
            *(self.interval(a) if isinstance(a, Expr) else ANY for a in args if a is not None)
        )

    def _place(self, e: Expr) -> Interval:
        """Bounds of a place in a table; a constraint k >= 0 says that it is at most e + k, and at
        least e - k."""
        lo, hi = self.interval(e)
        for k in self.facts.constraints:
            lo = tighter(max, lo, self.interval(e - k)[0])
            hi = tighter(min, hi, self.interval(e + k)[1])
        return lo, hi

    def takes_both_ends(self, atom: Atom) -> bool:
        """True for an independent atom that takes both ends of its constant interval."""
        if atom.kind != "sym":
            return False
        known = self.facts.ranges.get(atom.args[0])
        return known is not None and all(
            x is not None and x.constant is not None for x in (known.lo, known.hi)
        )

    def is_independent(self, e: Expr) -> bool:
        """True where every atom lies between two numbers and goes its own way: putting bounds into
        e finds no more than its interval does. Of a quotient a constraint may say more."""
        atoms = [a for mono in e.terms for a in mono]
        if self.facts.constraints and any(a.kind == "digit" and a.args[2] is None for a in atoms):
            return False
        symbols = [name for a in atoms for name in a.symbols]
        return (
            len(set(symbols)) == len(symbols)
            and all(self.takes_both_ends(Atom("sym", name)) for name in symbols)
            and all(
                a.kind in ("sym", "digit", "bool") and None not in self.of_atom(a) for a in atoms
            )
        )

    def is_positive(self, atom: Atom) -> bool:
        """Whether an atom is at least 1."""
        return (self.of_atom(atom)[0] or 0) >= 1

    def contradictory(self) -> bool:
        """Whether what is known is seen at once to hold for no values."""
        bounds = [(r.lo, r.hi) for r in self.facts.ranges.values()]
        gaps = [hi - lo for lo, hi in bounds if lo is not None and hi is not None]
        tops = (self.interval(e)[1] for e in (*gaps, *self.facts.constraints))
        return any(top is not None and top < 0 for top in tops)

"""Whether a polynomial is never negative: multiples of what is known are added until it shows."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import gcd, prod

from .polynomials import Atom, Budget, Key, Mono, Points, Poly, key_of, number, plus, times, without

SEARCH = 120  # polynomials looked at for one of them


class Signs:
    """What is known, as polynomials that are never negative, and what follows. order: of the points, in
    which they refute."""

    atoms: list[Atom]
    facts: list[Poly]
    points: Points
    order: list[int]
    shown: dict[Key, bool | int]
    budget: Budget

    def _wrong(self, p: Poly) -> bool:
        """Whether p < 0 at one of the points."""
        for place, k in enumerate(self.order):
            total = 0
            for mono, c in p.items():
                for a in mono:
                    value = self.atoms[a].values[k]
                    if value is None:
                        break
                    c *= value
                else:
                    total += c
                    continue
                break
            else:
                if total < 0:
                    if place:  # it is likely to show the next one wrong, too
                        self.order.insert(0, self.order.pop(place))
                    return True
        return False

    def values(self, p: Poly) -> list[int | None]:
        """Its values at the points; None where one has none."""
        found: list[int | None] = []
        for k in range(len(self.points)):
            total: int | None = 0
            for mono, c in p.items():
                factors = [self.atoms[a].values[k] for a in mono]
                if None in factors:
                    total = None
                    break
                total += c * prod(f for f in factors if f is not None)  # pyright: ignore
            found.append(total)
        return found

    def never_negative(self, p: Poly) -> bool:
        """Whether p >= 0 follows from what is known."""
        if all(c > 0 and all(self.atoms[a].positive for a in mono) for mono, c in p.items()):
            return True
        key = key_of(p)
        known = self.shown.get(key)
        if known is not True and known != len(self.facts):  # more may be known than at that time
            known = self.shown[key] = (not self._wrong(p) and self._search(p)) or len(self.facts)
        return known is True

    def _search(self, p: Poly) -> bool:
        """Adds multiples of what is known until no monomial can be negative, the best one first."""
        seen: set[Key] = set()
        p = self._reduced(p)
        todo = [(self._score(p), 0, p)]
        made_ = 0
        for _ in range(SEARCH):
            if not todo:
                return False
            p = heappop(todo)[2]
            self.budget.spend()
            target = self._target(p)
            if target is None:
                return True
            for other in self._steps(p, target):
                other = self._reduced(other)
                key = key_of(other)
                if key not in seen and not self._wrong(other):
                    seen.add(key)
                    made_ += 1
                    heappush(todo, (self._score(other), made_, other))
        return False

    def _reduced(self, p: Poly) -> Poly:
        """Without a common factor; what is not a multiple of it is rounded down."""
        factor = gcd(*(c for mono, c in p.items() if mono))
        if factor > 1:
            p = {m: c // factor for m, c in p.items() if c // factor}
        return p

    def _bad(self, p: Poly) -> list[Mono]:
        return [m for m, c in p.items() if c < 0 or not all(self.atoms[a].positive for a in m)]

    def _score(self, p: Poly) -> tuple[int, int, int, int]:
        bad = self._bad(p)
        rank = max((self._order(m)[0] for m in bad), default=-1)
        return rank, len(bad), max(map(len, p), default=0), len(p)

    def _order(self, mono: Mono) -> tuple[int, int, Mono]:
        return sum(self.atoms[a].rank for a in mono), len(mono), mono

    def _target(self, p: Poly) -> Mono | None:
        """The monomial to get rid of next."""
        return max(self._bad(p), key=self._order, default=None)

    def _steps(self, p: Poly, target: Mono) -> Iterator[Poly]:
        """Polynomials of which one being never negative shows it of p."""
        c = p[target]
        for mono, n in p.items():
            atom = self.atoms[mono[0]] if len(mono) == 1 and n in (1, -1) else None
            if atom is None or atom.op != "fdiv" or sum(mono[0] in m for m in p) != 1:
                continue
            x, d = atom.of
            rest = plus(p, {mono: n}, -1)
            if n > 0:  # -rest <= x//d
                yield plus(x, times(d, rest))
            elif mono == target:  # x//d <= rest
                yield plus(plus(times(d, rest), plus(d, number(-1))), x, -1)
        for fact in self.facts:
            for mono, f in fact.items():
                if (f < 0) != (c < 0):
                    continue
                m = without(target, mono)
                if m is None or not all(self.atoms[a].positive for a in m):
                    continue
                g = gcd(c, f)
                yield plus(
                    {k: n * (abs(f) // g) for k, n in p.items()}, times(fact, {m: abs(c) // g}), -1
                )

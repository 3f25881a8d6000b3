"""Whether a polynomial is never negative: multiples of what is known are added until it shows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from math import gcd, prod
from typing import TypeAlias

from .polynomials import Atom, Budget, Key, Mono, Points, Poly, key_of, number, plus, times, without

Order: TypeAlias = tuple[int, int, Mono]
SEARCH = 120  # polynomials looked at for one of them
KEPT = 2_000  # searches that found nothing
_in_vain: dict[Hashable, int] = {}  # the steps that each took


class Signs:
    """What is known, as polynomials that are never negative, and what follows. order: of the points, in
    which they refute."""

    atoms: list[Atom]
    facts: list[Poly]
    points: Points
    order: list[int]
    shown: dict[Key, bool | int]
    budget: Budget

    def _forget(self) -> None:
        """Drops what is remembered of monomials: a rank has changed."""
        self._orders: dict[Mono, tuple[bool, Order]] = {}
        self._at_points: dict[Mono, list[int | None]] = {}
        self._states: tuple[tuple[int, int], Hashable] = (-1, -1), None
        self._reached: dict[tuple[Mono, bool], list[tuple[int, Poly]]] = {}

    def _wrong(self, p: Poly) -> bool:
        """Whether p < 0 at one of the points."""
        if not self.order:
            return False
        parts = [(self._values_of(mono), c) for mono, c in p.items()]
        for place, k in enumerate(self.order):
            total = 0
            for values, c in parts:
                value = values[k]
                if value is None:
                    break
                total += c * value
            else:
                if total < 0:
                    if place:  # it is likely to show the next one wrong, too
                        self.order.insert(0, self.order.pop(place))
                    return True
        return False

    def _values_of(self, mono: Mono) -> list[int | None]:
        """Its values at the points; None where one has none."""
        values = self._at_points.get(mono)
        if values is None:
            rows = zip(*(self.atoms[a].values for a in mono), strict=True)
            values = [None if None in row else prod(row) for row in rows]  # pyright: ignore
            values = self._at_points[mono] = values if mono else [1] * len(self.points)
        return values

    def values(self, p: Poly) -> list[int | None]:
        """Its values at the points; None where one has none."""
        parts = [(self._values_of(mono), c) for mono, c in p.items()]
        found: list[int | None] = []
        for k in range(len(self.points)):
            terms = [None if (v := values[k]) is None else c * v for values, c in parts]
            found.append(None if None in terms else sum(terms))  # pyright: ignore
        return found

    def never_negative(self, p: Poly) -> bool:
        """Whether p >= 0 follows from what is known."""
        if all(c > 0 and all(self.atoms[a].positive for a in mono) for mono, c in p.items()):
            return True
        key = key_of(p)
        known = self.shown.get(key)
        if known is not True and known != len(self.facts):  # more may be known than at that time
            known = self.shown[key] = (not self._wrong(p) and self._found(p)) or len(self.facts)
        return known is True

    def _found(self, p: Poly) -> bool:
        """What _search returns, and spends. A case that has no points, since it cannot be, comes again
        with the next goal, and is the one where searches are long and in vain: their ends are kept."""
        if self.points:
            return self._search(p)
        key = tuple(p.items()), self._state()
        steps = _in_vain.get(key)
        if steps is not None:
            self.budget.spend(steps)
            return False
        before = self.budget.steps
        found = self._search(p)
        if not found:
            if len(_in_vain) >= KEPT:
                _in_vain.clear()
            _in_vain[key] = before - self.budget.steps
        return found

    def _state(self) -> Hashable:
        """All that a search without points depends on."""
        counts = len(self.facts), len(self.atoms)
        if self._states[0] != counts:
            facts = tuple(tuple(fact.items()) for fact in self.facts)
            atoms = tuple(
                (a.op, a.positive, a.rank, *(tuple(p.items()) for p in a.of)) for a in self.atoms
            )
            self._states = counts, (facts, atoms)
        return self._states[1]

    def _search(self, p: Poly) -> bool:
        """Adds multiples of what is known until no monomial can be negative, the best one first."""
        seen: set[Key] = set()
        p = _reduced(p)
        score, target = self._outlook(p)
        todo = [(score, 0, target, p)]
        made_ = 0
        for _ in range(SEARCH):
            if not todo:
                return False
            _, _, target, p = heappop(todo)
            self.budget.spend()
            if target is None:
                return True
            for other in self._steps(p, target):
                other = _reduced(other)
                key = key_of(other)
                if key not in seen and not self._wrong(other):
                    seen.add(key)
                    made_ += 1
                    score, target_ = self._outlook(other)
                    heappush(todo, (score, made_, target_, other))
        return False

    def _bad(self, p: Poly) -> list[Mono]:
        return [m for m, c in p.items() if c < 0 or not self._order(m)[0]]

    def _outlook(self, p: Poly) -> tuple[tuple[int, int, int, int], Mono | None]:
        """The score, least for the most promising, and the monomial to get rid of next: of those that
        can be negative the last one in order."""
        last, bad, degree = None, 0, 0
        for mono, c in p.items():
            positive, order = self._order(mono)
            if c < 0 or not positive:
                bad += 1
                if last is None or order > last:
                    last = order
            if order[1] > degree:
                degree = order[1]
        if last is None:
            return (-1, bad, degree, len(p)), None
        return (last[0], bad, degree, len(p)), last[2]

    def _order(self, mono: Mono) -> tuple[bool, Order]:
        """Whether it is known to be never negative; and its place: rank, degree, atoms."""
        order = self._orders.get(mono)
        if order is None:
            atoms = [self.atoms[a] for a in mono]
            place = sum(atom.rank for atom in atoms), len(mono), mono
            order = self._orders[mono] = all(atom.positive for atom in atoms), place
        return order

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
        for f, multiple in self._reaching(target, c < 0):
            g = gcd(c, f)
            if f == g:
                yield plus(p, multiple, -(abs(c) // g))
            else:
                yield plus({k: n * (f // g) for k, n in p.items()}, multiple, -(abs(c) // g))

    def _reaching(self, target: Mono, negative: bool) -> list[tuple[int, Poly]]:
        """The facts times what makes the target of a monomial with this sign, each after the size of
        that monomial's coefficient."""
        key = target, negative
        reaching = self._reached.get(key)
        if reaching is None:
            reaching = self._reached[key] = []
            for fact in self.facts:
                for mono, f in fact.items():
                    m = without(target, mono) if (f < 0) == negative else None
                    if m is not None and self._order(m)[0]:
                        reaching.append((abs(f), times(fact, {m: 1})))
        return reaching


def _reduced(p: Poly) -> Poly:
    """Without a common factor; what is not a multiple of it is rounded down."""
    factor = gcd(*(c for mono, c in p.items() if mono))
    if factor > 1:
        return {m: c // factor for m, c in p.items() if c // factor}
    return p

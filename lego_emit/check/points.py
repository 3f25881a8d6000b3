"""Points that a header allows, for the check of every emission: the same ones every time.

The ends of every range, their neighbors, multiples of the program's divisors and their neighbors,
sizes that are small, large and pushed to the limits that the header sets, and random values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from math import gcd, prod

from ..ir.nodes import Node, evaluate
from ..ir.program import Function, Param
from ..ir.relations import names_in, parts

ATTEMPTS = 6  # for each point that is wanted
TOPS = (1, 2, 3, 5, 9, 33, 257, 2**15, 2**31)  # of a parameter that nothing bounds, in turn
SMALL = 9  # how far sizes go that are to be small
IN_VAIN = 24  # attempts in a row that give nothing new
REACHES = (1, 2, 4, 8)  # values of each parameter, from the one next to 1 on
FACTORS = (2**32, 2**16, 2**8, 2**4, 2**2, 2)  # that sizes are pushed by
MARKS = 8  # numbers of the header that are looked at, too
VISITS = 4000  # of values of parameters, in each reach
Values = dict[str, int]


class Points:
    """Draws values of a function's parameters that meet its ranges and assumptions."""

    def __init__(self, function: Function, small: bool = False):
        """small: sizes stay below 10."""
        self.function, self._tops = function, TOPS[:5] if small else TOPS
        self.least, self.most = function.index_type.ends
        self._state = 1
        self._multiples = dict(_multiples(function.assumed))
        self._order = [
            (p, self._multiples.get(p.name, ()), self._fixed(p, small))
            for p in _ordered(function.params, self._multiples)
        ]
        self._divisors = _divisors(function)
        self._powers = _powers(function.assumed)
        self._parts = dict(_parts([p.name for p, _, _ in self._order], self._multiples))
        self._due = _due([p.name for p, _, _ in self._order], function.assumed)
        self._marks = _marks(function)
        self._ranges = {p.name: p.range.conditions(p.name) for p in function.params}
        self._late = _late([p for p, _, _ in self._order])
        # The parameters that no number bounds from above, and no other parameter.
        self._open = [p for p, _, _ in self._order if p.hi is None and p.range.end is None]
        self._pushes = () if small or not self._open else (7, 13, 19, 25)

    def draw(self, count: int) -> Iterator[Values]:
        """At most so many points. Fewer where the attempts do not meet the assumptions; where none
        does, small values are tried one after the other."""
        if 0 < prod(0 if b is None else b[1] - b[0] + 1 for *_, b in self._order) <= count:
            names = [p.name for p, _, _ in self._order]
            for point in product(*(range(b[0], b[1] + 1) for *_, b in self._order if b)):
                values = dict(zip(names, point, strict=True))
                if self._allowed(values):
                    yield values
            return
        seen: set[tuple[int, ...]] = set()
        vain = 0
        for attempt in range(count * ATTEMPTS):
            point = self._point(attempt)
            if point is not None and attempt in self._pushes:
                point = self._pushed(point, attempt)
            if point is None or (key := tuple(point.values())) in seen:
                vain += 1
                if vain > IN_VAIN and seen:
                    return
                continue
            vain = 0
            seen.add(key)
            yield point
            if len(seen) == count:
                return
        if not seen:
            yield from self._small(count)

    def _below(self, n: int) -> int:
        """The next random number below n: of a generator that no version of Python changes."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        if n > 2**31:
            return (self._state >> 33 << 33 | self._below(2**31)) * n >> 64
        return (self._state >> 33) % n

    def _point(self, attempt: int, fixed: Mapping[str, int] | None = None) -> Values | None:
        """Values by one attempt, those of fixed as they are; None where they are not allowed."""
        fixed, values = fixed or {}, {}
        for p, divisors, known in self._order:
            if p.name in fixed:
                values[p.name] = fixed[p.name]
                continue
            bounds = known or self._bounds(p, values, attempt)
            if bounds is None:
                return None
            value = self._value(*bounds, attempt)
            if divisors:
                value = _multiple(value, bounds[0], divisors, values)
            if p.name in self._powers and value > 0:
                value = 1 << value.bit_length() - 1
            for dividend in self._parts.get(p.name, ()):
                value = gcd(value, values[dividend]) or value
            if not bounds[0] <= value <= bounds[1]:
                return None
            values[p.name] = value
        return values if self._allowed(values, (*fixed, *self._late)) else None

    def _small(self, count: int) -> Iterator[Values]:
        """At most so many points of small values, at first those next to 1."""
        seen: set[tuple[int, ...]] = set()
        for reach in REACHES:
            left = VISITS
            waiting: list[Values] = [{}]
            while waiting and left and len(seen) < count:
                left -= 1
                values = waiting.pop()
                if len(values) == len(self._order):
                    key = tuple(values.values())
                    if key not in seen and self._allowed(values):
                        seen.add(key)
                        yield values
                elif all(evaluate(c, values) for c in self._due[len(values)]):
                    waiting += self._extended(values, reach)

    def _extended(self, values: Values, reach: int) -> list[Values]:
        """Values with one parameter more: those next to 1 last."""
        p, divisors, known = self._order[len(values)]
        bounds = known or self._bounds(p, values, len(self._tops) - 1)
        if bounds is None:
            return []
        lo, hi = bounds
        first = min(max(lo, 1), hi)
        near = range(max(lo, first - reach + 1), min(hi, first + reach - 1) + 1)
        marks = (v for v in self._marks if reach > 1 and lo <= v <= hi)
        found = {v for n in (*near, *marks) if (v := _multiple(n, lo, divisors, values)) <= hi}
        return [{**values, p.name: v} for v in sorted(found, key=lambda v: (-abs(v - first), v))]

    def _bounds(self, p: Param, values: Values, attempt: int) -> tuple[int, int] | None:
        top = self._tops[attempt % len(self._tops)]
        least, most = p.lo, p.hi
        if p.range.least is not None:
            bound = evaluate(p.range.least, values)
            if bound is None:
                return None
            least = bound if least is None else max(least, bound)
        if p.range.end is not None:
            bound = evaluate(p.range.end, values)
            if bound is None:
                return None
            most = bound - 1 if most is None else min(most, bound - 1)
        if least is None:
            least = -top if most is None else min(most, 0) - top
        if most is None:
            most = max(least, 0) + top
        least, most = max(least, self.least), min(most, self.most)
        return (int(least), int(most)) if least <= most else None

    def _value(self, lo: int, hi: int, attempt: int) -> int:
        if attempt < 2:
            return (lo, hi)[attempt]
        if lo == hi:
            return lo
        kind = self._below(8)
        if kind < 4:
            return (lo, hi, lo + 1, hi - 1)[kind]
        if kind == 4 and self._divisors:
            d = self._divisors[self._below(len(self._divisors))]
            first = lo // d
            value = (first + self._below(hi // d - first + 1)) * d - (self._below(3) == 0)
            return min(max(value, lo), hi)
        if kind == 5:  # of a wide range the small ones, too
            return lo + self._below(min(hi - lo, 40) + 1)
        return lo + self._below(hi - lo + 1)

    def _fixed(self, p: Param, small: bool) -> tuple[int, int] | None:
        """The bounds of a parameter's range where they are numbers of the index type. small: of a
        size, the least ones."""
        bounds = [b.value if b.op == "const" else None for b in (p.range.least, p.range.end) if b]
        if p.lo is None or p.hi is None or None in bounds:
            return None
        lo, hi = max(p.lo, self.least), min(p.hi, self.most)
        if small and p.size:
            hi = min(hi, lo + SMALL)
        return (int(lo), int(hi)) if lo <= hi else None

    def _allowed(self, values: Values, names: Iterable[str] | None = None) -> bool:
        """Whether the header allows values. names: those that may be out of their range."""
        if values and not self.least <= min(values.values()) <= max(values.values()) <= self.most:
            return False
        ranges = [self._ranges[n] for n in (self._ranges if names is None else names)]
        return all(evaluate(c, values) for c in chain(*ranges, self.function.assumed))

    def _pushed(self, point: Values, attempt: int) -> Values:
        """A point whose sizes are as large as the header allows, times powers of two one after the
        other."""
        first, most = attempt % len(self._open), min(self.most, 2**64)
        for p in (*self._open[first:], *self._open[:first]):
            for factor in FACTORS:
                if 0 < point[p.name] <= most // factor:
                    fixed = {q.name: point[q.name] for q in self._open}
                    fixed[p.name] *= factor
                    point = self._point(1, fixed) or point  # the indices at their ends
        return point


def _multiple(value: int, lo: int, divisors: Sequence[Node], values: Values) -> int:
    """A value near one that these divide, as far as one after the other does. A divisor that has no
    value yet comes later."""
    for divisor in divisors:
        step = evaluate(divisor, values)
        if step is not None and step > 1:
            value -= value % step
            if value < lo:
                value += step
    return value


def _multiples(assumed: Sequence[Node]) -> Iterator[tuple[str, list[Node]]]:
    """(a parameter, what divides it) of the assumptions that say so."""
    found: dict[str, list[Node]] = {}
    for c in assumed:
        if c.op == "eq" and c.args[0].op in ("floormod", "mod") and c.args[1].value == 0:
            dividend, divisor = c.args[0].args
            if dividend.op == "var" and dividend.value not in names_in(divisor):
                found.setdefault(str(dividend.value), []).append(divisor)
    yield from found.items()


def _parts(
    order: Sequence[str], multiples: Mapping[str, Sequence[Node]]
) -> Iterator[tuple[str, list[str]]]:
    """(a parameter, those before it that it divides)."""
    for place, name in enumerate(order):
        found = [
            other
            for other in order[:place]
            if any(d.op == "var" and d.value == name for d in multiples.get(other, ()))
        ]
        if found:
            yield name, found


def _powers(assumed: Sequence[Node]) -> set[str]:
    """The parameters that are powers of two."""
    found = set[str]()
    for c in (part for whole in assumed for part in parts(whole)):
        names = [*names_in(c)]
        if c.op == "eq" and len(names) == 1 and any(a.op == "and" for a in c.args):
            if all(evaluate(c, {names[0]: n}) is not bool(n & n - 1) for n in range(1, SMALL)):
                found.add(names[0])
    return found


def _marks(function: Function) -> list[int]:
    """The least positive numbers that a header speaks of, and their neighbors above."""
    ends = (e for p in function.params for e in (p.range.least, p.range.end) if e is not None)
    nodes = (n for c in (*function.assumed, *ends) for n in c.walk() if n.op == "const")
    numbers = sorted({n.value for n in nodes if n.value > 1})[:MARKS]
    return [v for n in numbers for v in (n, n + 1)]


def _due(order: Sequence[str], assumed: Sequence[Node]) -> list[list[Node]]:
    """What can be looked at as soon as so many parameters have values, and not before."""
    due: list[list[Node]] = [[] for _ in range(len(order) + 1)]
    places = {name: place for place, name in enumerate(order, 1)}
    for c in assumed:
        names = names_in(c)
        if places.keys() >= {*names}:
            due[max((places[n] for n in names), default=0)].append(c)
    return due


def _ordered(params: Sequence[Param], multiples: Mapping[str, Sequence[Node]]) -> list[Param]:
    """The parameters, each after those that its range and its divisors speak of."""
    left, done, order = list(params), set[str](), list[Param]()
    own = {p.name for p in params}

    def needs(p: Param, divisors: bool) -> set[str]:
        needed = p.range.names()
        if divisors:
            needed = needed.union(*map(names_in, multiples.get(p.name, ())))
        return needed & own - {p.name} - done

    while left:
        ready = next((p for p in left if not needs(p, True)), None)
        ready = ready or next((p for p in left if not needs(p, False)), left[0])
        left.remove(ready)
        order.append(ready)
        done.add(ready.name)
    return order


def _late(order: Sequence[Param]) -> list[str]:
    """The parameters whose ranges speak of what gets its value after them."""
    own = {p.name for p in order}
    places = {p.name: k for k, p in enumerate(order)}
    return [
        p.name for k, p in enumerate(order) if any(places[n] > k for n in p.range.names() & own)
    ]


def _divisors(function: Function) -> list[int]:
    """The numbers that the program divides or masks by."""
    found: dict[int, None] = {}
    for node in function.nodes():
        if len(node.args) == 2 and node.args[1].op == "const":
            by = node.args[1].value
            if node.op in ("div", "mod", "floordiv", "floormod") and by > 1:
                found[by] = None
            elif node.op in ("shr", "and") and 0 < by < 63:
                found[1 << by if node.op == "shr" else by + 1] = None
    return list(found)

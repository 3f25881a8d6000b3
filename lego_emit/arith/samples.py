"""Values of all symbols that satisfy what is known: most questions without a proof end at one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from zlib import crc32

from .evaluate import Evaluation, Undefined
from .expr import Expr
from .facts import Drawn, Facts, Plan

SAMPLES = 24


@lru_cache(2**14)
def number(name: str, attempt: int) -> int:
    """A number that looks random, always the same, whatever other symbols there are."""
    mixed = (crc32(name.encode()) + (attempt + 1) * 0x9E3779B97F4A7C15) % 2**64
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mixed = (mixed ^ mixed >> 30) * factor % 2**64
    return mixed >> 33


class Samples:
    """Values of the symbols of some facts."""

    def __init__(self, facts: Facts):
        self.facts = facts

    def first(self) -> Iterator[Evaluation]:
        """Up to SAMPLES values of all symbols that satisfy everything known; the same every time."""
        known = self.facts.cache.drawn
        k = 0
        while k < SAMPLES:
            if k == len(known.found):
                if known.attempts == SAMPLES * 6:
                    return
                sample = self._sample(known)
                if sample is None:
                    continue
                known.found.append(sample)
            yield known.found[k]
            k += 1

    def more(self, count: int) -> Iterator[Evaluation]:
        """Values as first() gives them, after those, from so many attempts."""
        drawn = Drawn(attempts=self.facts.cache.drawn.attempts)
        for _ in range(count):
            sample = self._sample(drawn)
            if sample is not None:
                yield sample

    def satisfied(self, values: Mapping[str, int]) -> bool:
        """Whether values of all symbols satisfy the constraints."""
        return self.allows(Evaluation(values))

    def allows(self, point: Evaluation) -> bool:
        """Whether a point satisfies the constraints; what has no value there does not."""
        try:
            return all(point.expr(c) >= 0 for c in self.facts.constraints) and all(
                map(point.expr, self.facts.unequal)
            )
        except (KeyError, Undefined):
            return False

    def _sample(self, drawn: Drawn) -> Evaluation | None:
        """Values of all symbols by one more attempt; None where they do not satisfy what is known."""
        attempt = drawn.attempts
        drawn.attempts += 1
        if drawn.plan is None:
            drawn.plan = self._plan()
        values: dict[str, int] = {}
        point = Evaluation(values)
        top = (1, 2, 3, 5, 9, 33)[attempt % 6]
        try:
            for name, least, most in drawn.plan:
                lo = (1 if attempt % 3 else -top) if least is None else point.expr(least)
                hi = max(lo, 0) + top if most is None else point.expr(most)
                if hi < lo:
                    return None
                value, kind = divmod(number(name, attempt), 4)
                if most is not None and attempt < 2:
                    kind = attempt
                span = min(hi - lo, top) if kind == 3 else hi - lo
                values[name] = (lo, hi, lo + value % (span + 1))[min(kind, 2)]
            if not self.allows(point):
                return None
            for atom, (dividend, divisor) in self.facts.exact.items():
                if point.expr(dividend) != point.atom(atom) * point.expr(divisor):
                    return None
        except (KeyError, Undefined):
            return None
        return point

    def _plan(self) -> Plan:
        """The symbols with their bounds, each after those that its bounds are made of; first those
        that nothing bounds. What the bounds make a circle of is left out."""
        facts = self.facts
        pending = {name: (known.lo, known.hi) for name, known in sorted(facts.ranges.items())}
        pending |= {name: (value, value) for name, value in facts.substitutions.items()}
        said = [
            e for pair in (*pending.values(), *facts.exact.values()) for e in pair if e is not None
        ]
        said += [*facts.constraints, *facts.unequal]
        free = sorted(set[str]().union(*(e.symbols() for e in said)) - pending.keys())
        plan = dict.fromkeys(free, (None, None))
        while ready := {
            name: bounds
            for name, bounds in pending.items()
            if all(e is None or e.symbols() <= plan.keys() for e in bounds)
        }:
            plan |= ready
            pending = {name: bounds for name, bounds in pending.items() if name not in ready}
        return [(name, least, most) for name, (least, most) in plan.items()]


def value_at(e: Expr, sample: Evaluation) -> int | None:
    """e at a sample, None where it has no value."""
    try:
        return sample.expr(e)
    except (Undefined, KeyError):
        return None

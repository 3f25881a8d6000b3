"""What is known of the symbols, as data, and values that satisfy all of it.

Ranges, products that sizes are, constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from zlib import crc32

from .evaluate import Evaluation, Undefined
from .expr import Cond, Expr
from .intervals import Interval, tighter
from .points import Points
from .rebuild import rebuild
from .steps import Divided, Log
from .terms import Atom, Identity

SAMPLES = 24
CACHES = (
    "_intervals", "_proofs", "_unaided", "_attempts", "_divmods", "_quotient_bounds", "_samples", "_rebuilt",
    "_tops", "_highest", "_symbols", "_points",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Range:
    """Inclusive bounds of a symbol; None where there is none. least, most: numbers that bound it
    beside lo and hi, which speak of other symbols then."""

    lo: Expr | None = None
    hi: Expr | None = None
    least: int | None = None
    most: int | None = None

    def add(self, lo: Expr | None, hi: Expr | None) -> None:
        """Keep those bounds that are numbers beside what stands there."""
        self.least = tighter(max, self.least, None if lo is None else lo.constant)
        self.most = tighter(min, self.most, None if hi is None else hi.constant)


@dataclass(slots=True)
class Samples:
    """Values that satisfy all facts, as far as they were asked for; the same every time."""

    found: list[Evaluation] = field(default_factory=list)
    attempts: int = 0
    plan: list[tuple[str, Expr | None, Expr | None]] | None = None  # name, least, most

    def copy(self) -> Samples:
        """The same values, to be added to without telling these."""
        return Samples([*self.found], self.attempts, self.plan)

    def start(self, found: list[Evaluation], other: Samples) -> None:
        """Go on with those found after as many attempts as another has made."""
        self.found, self.attempts = found, other.attempts


def number(name: str, attempt: int) -> int:
    """A number that looks random, always the same, whatever other symbols there are."""
    mixed = (crc32(name.encode()) + (attempt + 1) * 0x9E3779B97F4A7C15) % 2**64
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mixed = (mixed ^ mixed >> 30) * factor % 2**64
    return mixed >> 33


@dataclass(eq=False)
class Known:
    """Ranges, substitutions and constraints of one trace, and what was found out from them. use_z3
    allows the last prover."""

    ranges: dict[str, Range] = field(default_factory=dict)
    substitutions: dict[str, Expr] = field(default_factory=dict)  # M -> BM * (M//BM)
    quotients: dict[str, tuple[Expr, Expr]] = field(default_factory=dict)  # M//BM -> (M, BM)
    exact: dict[Atom, tuple[Expr, Expr]] = field(default_factory=dict)  # q -> (dividend, divisor)
    constraints: list[Expr] = field(default_factory=list)  # each is >= 0
    unequal: tuple[Expr, ...] = ()  # each is not 0
    original: dict[str, Range] = field(default_factory=dict)  # of what was substituted
    sizes: set[str] = field(default_factory=set)  # symbols that are at least 1 as sizes
    use_z3: bool = True
    # asked so far, by the symbols that are concerned: others cost an expression nothing
    z3_queries: dict[frozenset[str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._scopes = 0
        self._tries: dict[frozenset[str], int] = {}  # of constraints, by the symbols concerned
        self.log: Log | None = None  # of the steps that are no part of a proof
        self._divides: list[tuple[Expr, Expr, bool]] = []  # learned in the scope that is open
        self._assumed: tuple[Cond, ...] | None = ()
        self.forget()

    def forget(self) -> None:
        """What was found out no longer holds, or no longer says all: more is known now."""
        if self._scopes:
            self._assumed = None
        else:
            self._remembered: dict[tuple, list] = {}
        self._start()

    def _start(self) -> None:
        self._intervals: dict[Identity, Interval] = {}
        self._proofs: dict[Identity, bool] = {}
        self._unaided: dict[Identity, bool] = {}  # without Z3
        self._attempts: dict[Identity, tuple[bool, int]] = {}
        self._divmods: dict[tuple[Identity, Identity, bool], Divided] = {}  # with Z3, without
        self._quotient_bounds: dict[tuple[Identity, Identity], Expr | None] = {}
        self._samples = Samples()
        self._rebuilt: dict[Identity, Expr] = {}
        self._tops: dict[Atom, Expr | None] = {}
        self._highest: dict[Identity, int | None] = {}
        self._symbols: dict[Identity, set[str]] = {}
        self._points: dict[tuple[tuple[str, range], ...], Points] = {}
        self._open: set[Atom] = set()  # symbols and entries whose bounds are being looked at
        self._circles = 0  # how often the bounds of a symbol led back to it

    @contextmanager
    def quick(self) -> Iterator[None]:
        """Prove without Z3 inside."""
        asked, self.use_z3 = self.use_z3, False
        try:
            yield
        finally:
            self.use_z3 = asked

    def symbol(self, name: str) -> Expr:
        """The symbol, or what it is made of."""
        known = self.substitutions.get(name)
        return known if known is not None else Expr.atom(Atom("sym", name))

    def is_size(self, name: str) -> bool:
        """Whether a symbol is a layout's size or a part of one, or is made of such."""
        made = self.substitutions.get(name)
        return name in self.sizes or (made is not None and made.symbols() <= self.sizes)

    def _is_size(self, name: str) -> bool:
        """Whether a symbol stands in bounds as itself, and what is multiplied by it keeps its
        sign."""
        least = self._least(name)
        return least is not None and least >= 0

    def _least(self, name: str) -> int | None:
        """The number below a symbol that nothing else bounds, None for all others."""
        known = self.ranges.get(name)
        if known is None or known.hi is not None or known.lo is None:
            return None
        return known.lo.constant

    def rebuilt(self, e: Expr) -> Expr:
        """e in the symbols that these facts speak of, simplified under them."""
        if e.constant is not None:
            return e
        known = self._rebuilt.get(e.identity)
        if known is None:
            known = rebuild(e, lambda a: self.symbol(a.args[0]) if a.kind == "sym" else None)
            self._rebuilt[e.identity] = known
        return known

    def samples(self) -> Iterator[Evaluation]:
        """Values of all symbols that satisfy everything known; the same every time."""
        known = self._samples
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

    def more_samples(self, count: int) -> Iterator[Evaluation]:
        """Values as samples() gives them, after those, from so many attempts."""
        drawn = Samples(attempts=self._samples.attempts)
        for _ in range(count):
            sample = self._sample(drawn)
            if sample is not None:
                yield sample

    def _sample(self, samples: Samples) -> Evaluation | None:
        """Values of all symbols by one more attempt; None where they do not satisfy what is known."""
        attempt = samples.attempts
        samples.attempts += 1
        if samples.plan is None:
            samples.plan = self._plan()
        values: dict[str, int] = {}
        point = Evaluation(values)
        top = (1, 2, 3, 5, 9, 33)[attempt % 6]
        try:
            for name, least, most in samples.plan:
                lo = (1 if attempt % 3 else -top) if least is None else point.expr(least)
                hi = max(lo, 0) + top if most is None else point.expr(most)
                if hi < lo:
                    return None
                value, kind = divmod(number(name, attempt), 4)
                if most is not None and attempt < 2:
                    kind = attempt
                span = min(hi - lo, top) if kind == 3 else hi - lo
                values[name] = (lo, hi, lo + value % (span + 1))[min(kind, 2)]
            if not self._satisfied(point):
                return None
            for atom, (dividend, divisor) in self.exact.items():
                if point.expr(dividend) != point.atom(atom) * point.expr(divisor):
                    return None
        except (KeyError, Undefined):
            return None
        return point

    def _plan(self) -> list[tuple[str, Expr | None, Expr | None]]:
        """The symbols with their bounds, each after those that its bounds are made of; first those
        that nothing bounds. What the bounds make a circle of is left out."""
        pending = {name: (known.lo, known.hi) for name, known in sorted(self.ranges.items())}
        pending |= {name: (value, value) for name, value in self.substitutions.items()}
        said = [
            e for pair in (*pending.values(), *self.exact.values()) for e in pair if e is not None
        ]
        said += [*self.constraints, *self.unequal]
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

    def satisfied(self, values: Mapping[str, int]) -> bool:
        """Whether values of all symbols satisfy the constraints."""
        return self._satisfied(Evaluation(values))

    def _satisfied(self, point: Evaluation) -> bool:
        try:
            return all(point.expr(c) >= 0 for c in self.constraints) and all(
                map(point.expr, self.unequal)
            )
        except (KeyError, Undefined):
            return False


def value_at(e: Expr, sample: Evaluation) -> int | None:
    """e at a sample, None where it has no value."""
    try:
        return sample.expr(e)
    except (Undefined, KeyError):
        return None

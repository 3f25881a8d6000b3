"""What is known of the symbols, as data, and values that satisfy all of it.

Ranges, products that sizes are, constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from .evaluate import Evaluation, Undefined, evaluate
from .expr import Cond, Expr
from .intervals import Interval
from .rebuild import rebuild
from .steps import Divided, Log
from .terms import Atom, Identity

SAMPLES = 24
CACHES = (
    "_intervals", "_proofs", "_attempts", "_divmods", "_quotient_bounds", "_samples", "_rebuilt",
    "_tops", "_columns", "_symbols",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Range:
    """Inclusive bounds of a symbol; None where there is none."""

    lo: Expr | None = None
    hi: Expr | None = None


@dataclass(slots=True)
class Samples:
    """Values that satisfy all facts, as far as they were asked for; the same every time."""

    found: list[Evaluation] = field(default_factory=list)
    attempts: int = 0
    state: int = 20260

    def number(self) -> int:
        """The next of a fixed sequence of numbers that look random."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self.state >> 33

    def copy(self) -> Samples:
        """The same values, to be added to without telling these."""
        return Samples([*self.found], self.attempts, self.state)

    def start(self, found: list[Evaluation], other: Samples) -> None:
        """Go on with those found after as many attempts as another has made."""
        self.found, self.attempts, self.state = found, other.attempts, other.state


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
    z3_queries: int = 0  # asked so far

    def __post_init__(self) -> None:
        self._scopes = self._tries = 0
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
        self._attempts: dict[Identity, tuple[bool, int]] = {}
        self._divmods: dict[tuple[Identity, Identity], Divided] = {}
        self._quotient_bounds: dict[tuple[Identity, Identity], Expr | None] = {}
        self._samples = Samples()
        self._rebuilt: dict[Identity, Expr] = {}
        self._tops: dict[Atom, Expr | None] = {}
        self._columns: dict[Identity, list[int | None]] = {}
        self._symbols: dict[Identity, set[str]] = {}
        self._open: set[Atom] = set()  # symbols whose bounds are being looked at

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
                known.found.append(Evaluation(sample))
            yield known.found[k]
            k += 1

    def more_samples(self, count: int) -> Iterator[Evaluation]:
        """Values as samples() gives them, after those, from so many attempts."""
        drawn = Samples(attempts=self._samples.attempts, state=self._samples.state)
        for _ in range(count):
            values = self._sample(drawn)
            if values is not None:
                yield Evaluation(values)

    def _sample(self, samples: Samples) -> dict[str, int] | None:
        attempt = samples.attempts
        samples.attempts += 1
        values: dict[str, int] = {}
        pending = sorted(self.ranges)
        top = (1, 2, 3, 5, 9, 33)[attempt % 6]
        while pending:
            progress = []
            for name in pending:
                bounds = self.ranges[name]
                try:
                    lo = evaluate(bounds.lo, values) if bounds.lo is not None else -top
                    hi = evaluate(bounds.hi, values) if bounds.hi is not None else max(lo, 0) + top
                except (KeyError, Undefined):
                    continue
                if hi < lo:
                    return None
                if bounds.hi is not None and attempt % 3 < 2:
                    values[name] = (lo, hi)[attempt % 3]
                else:
                    values[name] = lo + samples.number() % (hi - lo + 1)
                progress.append(name)
            if not progress:
                return None
            pending = [n for n in pending if n not in values]
        try:
            if not self._satisfied(values):
                return None
            for atom, (dividend, divisor) in self.exact.items():
                if evaluate(dividend, values) != values[atom.args[0]] * evaluate(divisor, values):
                    return None
        except (KeyError, Undefined):
            return None
        for name, value in self.substitutions.items():
            try:
                values[name] = evaluate(value, values)
            except (KeyError, Undefined):
                return None
        return values

    def satisfied(self, values: Mapping[str, int]) -> bool:
        """Whether values of all symbols satisfy the constraints."""
        return self._satisfied(values)

    def _satisfied(self, values: Mapping[str, int]) -> bool:
        try:
            return all(evaluate(c, values) >= 0 for c in self.constraints) and all(
                evaluate(gap, values) for gap in self.unequal
            )
        except (KeyError, Undefined):
            return False

    def _sampled(self, e: Expr) -> list[int | None]:
        """e at the samples; None where it has no value."""
        key = e.identity
        if key not in self._columns:
            self._columns[key] = [value_at(e, sample) for sample in self.samples()]
        return self._columns[key]


def value_at(e: Expr, sample: Evaluation) -> int | None:
    """e at a sample, None where it has no value."""
    try:
        return sample.expr(e)
    except (Undefined, KeyError):
        return None

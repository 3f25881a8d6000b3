"""What is known of the symbols, as data, and what was found out from it.

Everything that is known has one of four forms:

    a range          0 <= i <= M - 1: inclusive bounds of one symbol, which may speak of others
    a substitution   "BM divides M" makes M the product BM * (M//BM), where M//BM is a symbol of its own
    an exact one     the same of a product: BM divides M*K, so that (M*K)//BM is a symbol, its quotient
    a constraint     e >= 0, or e != 0, of what bounds no symbol alone, such as M*N - 8

For `def f(i, M)` with 0 <= i < M and M % 8 == 0 that is `substitutions == {"M": 8*(M//8)}`,
`quotients == {"M//8": (M, 8)}` and the ranges 0 <= i <= 8*(M//8) - 1 and M//8 >= 1. Divisibility is a
substitution, and not a property that is looked up, because a multiple of 8 then shows in the terms of a
sum: 8*(M//8)*j + 3 by 8 leaves 3 without a question.

An analyzer (analyzer.py) adds to this and answers questions from it. What it found out stands in a
`Cache`, which holds for just these facts: whoever adds to them begins a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from ..intervals import Interval, tighter
from .expr import Cond, Expr
from .steps import Divided
from .terms import Atom, Identity, divide
from .terms import distribute as multiplied_out

if TYPE_CHECKING:
    from .evaluate import Evaluation
    from .points import Points


@dataclass(slots=True, eq=False)
class Range:
    """Inclusive bounds of a symbol; None where there is none. least, most: numbers that bound it
    beside lo and hi, which speak of other symbols then."""

    lo: Expr | None = None
    hi: Expr | None = None
    least: int | None = None
    most: int | None = None

    def copy(self) -> Range:
        """The same bounds, to be changed without changing these."""
        return Range(self.lo, self.hi, self.least, self.most)

    def add(self, lo: Expr | None, hi: Expr | None) -> None:
        """Keep those bounds that are numbers beside what stands there."""
        self.least = tighter(max, self.least, None if lo is None else lo.constant)
        self.most = tighter(min, self.most, None if hi is None else hi.constant)


Plan = list[tuple[str, Expr | None, Expr | None]]  # name, least, most


@dataclass(slots=True)
class Drawn:
    """Values that satisfy all facts, as far as they were asked for; the same every time."""

    found: list[Evaluation] = field(default_factory=list)
    attempts: int = 0
    plan: Plan | None = None

    def copy(self) -> Drawn:
        """The same values, to be added to without telling these."""
        return Drawn([*self.found], self.attempts, self.plan)


@dataclass(slots=True, eq=False)
class Cache:
    """What was found out from facts, by whom it is kept."""

    intervals: dict[Identity, Interval] = field(default_factory=dict)  # bounds.py
    highest: dict[Identity, int | None] = field(default_factory=dict)  # estimates.py
    proofs: dict[Identity, bool] = field(default_factory=dict)  # prover.py
    unaided: dict[Identity, bool] = field(default_factory=dict)  # without Z3
    attempts: dict[Identity, tuple[bool, int]] = field(default_factory=dict)
    quotient_bounds: dict[tuple[Identity, Identity], Expr | None] = field(default_factory=dict)
    tops: dict[Atom, Expr | None] = field(default_factory=dict)
    symbols: dict[Identity, set[str]] = field(default_factory=dict)
    points: dict[tuple[tuple[str, range], ...], Points] = field(default_factory=dict)
    divmods: dict[tuple[Identity, Identity, bool], Divided] = field(default_factory=dict)
    rebuilt: dict[Identity, Expr] = field(default_factory=dict)  # simplifier.py
    drawn: Drawn = field(default_factory=Drawn)  # samples.py

    def copy(self) -> Cache:
        """The same findings, to be added to without telling these."""
        return Cache(*(getattr(self, f.name).copy() for f in fields(self)))


@dataclass(eq=False)
class Facts:
    """Ranges, substitutions and constraints of one trace.

    branch: the conditions of the branch of a function that is followed now; they are part of the
        ranges and constraints as well.
    """

    ranges: dict[str, Range] = field(default_factory=dict)
    substitutions: dict[str, Expr] = field(default_factory=dict)  # M -> BM * (M//BM)
    quotients: dict[str, tuple[Expr, Expr]] = field(default_factory=dict)  # M//BM -> (M, BM)
    exact: dict[Atom, tuple[Expr, Expr]] = field(default_factory=dict)  # q -> (dividend, divisor)
    constraints: list[Expr] = field(default_factory=list)  # each is >= 0
    unequal: tuple[Expr, ...] = ()  # each is not 0
    original: dict[str, Range] = field(default_factory=dict)  # of what was substituted
    sizes: set[str] = field(default_factory=set)  # symbols that are at least 1 as sizes
    branch: tuple[Cond, ...] = ()
    cache: Cache = field(default_factory=Cache)

    def copy(self) -> Facts:
        """The same knowledge, to be added to without telling this one."""
        return Facts(
            {k: r.copy() for k, r in self.ranges.items()},
            dict(self.substitutions),
            dict(self.quotients),
            dict(self.exact),
            list(self.constraints),
            self.unequal,
            dict(self.original),
            set(self.sizes),
            self.branch,
            self.cache.copy(),
        )

    @contextmanager
    def restored(self) -> Iterator[None]:
        """What changes inside is undone at the end, sizes excepted: a size is one in every branch."""
        saved = {f.name: getattr(self, f.name) for f in fields(self)}
        self.ranges = {k: r.copy() for k, r in self.ranges.items()}
        self.original = {k: r.copy() for k, r in self.original.items()}
        self.constraints = list(self.constraints)
        for name in ("substitutions", "quotients", "exact"):
            setattr(self, name, dict(getattr(self, name)))
        try:
            yield
        finally:
            for name, value in saved.items():
                setattr(self, name, value)

    def symbol(self, name: str) -> Expr:
        """The symbol, or what it is made of."""
        known = self.substitutions.get(name)
        return known if known is not None else Expr.atom(Atom("sym", name))

    def is_size(self, name: str) -> bool:
        """Whether a symbol is a layout's size or a part of one, or is made of such; an index of one
        value is not."""
        made = self.substitutions.get(name)
        return name in self.sizes or (made is not None and set() < made.symbols() <= self.sizes)

    def stays_in_bounds(self, name: str) -> bool:
        """Whether a symbol stands in bounds as itself, and what is multiplied by it keeps its
        sign: it is at least 0, and nothing bounds it from above."""
        least = self.least(name)
        return least is not None and least >= 0

    def least(self, name: str) -> int | None:
        """The number below a symbol that nothing else bounds, None for all others."""
        known = self.ranges.get(name)
        if known is None or known.hi is not None or known.lo is None:
            return None
        return known.lo.constant

    def reaches(self, e: Expr, name: str) -> bool:
        """Whether e's bounds lead to the symbol: a bound of its own must not."""
        seen: set[str] = set()
        stack = [e]
        while stack:
            for found in stack.pop().symbols() - seen:
                if found == name:
                    return True
                seen.add(found)
                known = self.ranges.get(found, Range())
                stack += [b for b in (known.lo, known.hi) if b is not None]
        return False


def divide_terms(facts: Facts, e: Expr, by: Expr) -> tuple[Expr, Expr]:
    """(quotient, rest): the terms that a one-term Expr divides, divided, and the others."""
    quotient, rest = divide(e.terms, by.terms, facts.exact)
    return Expr(quotient), Expr(rest)


def distribute(facts: Facts, a: Expr, b: Expr) -> Expr:
    """The product, multiplied out; exact quotients cancel against their divisors."""
    return Expr(multiplied_out(a.terms, b.terms, facts.exact))

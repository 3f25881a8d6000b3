"""What arithmetic did, in the order in which it did it: the explanation of a program is made of this."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Law:
    """An equality that a step rests on: a name for it, what it says in words (with its source) and as
    an equation."""

    name: str
    says: str
    equation: str


# Table II's rules are counted from the top.
MULTIPLES = Law(
    "multiples",
    "multiples of the divisor come out (Table II, rules 1 and 2)",
    "(d*q + r) // d = q + r // d  and  (d*q + r) % d = r % d",
)
FITS = Law(
    "fits",
    "multiples of the divisor come out, what is smaller stays (Table II, rules 1, 2 and 5)",
    "(d*q + r) // d = q  and  (d*q + r) % d = r,  where 0 <= r < d",
)
SMALL = Law(
    "small",
    "what is smaller than the divisor (Table II, rules 4 and 5)",
    "x // d = 0  and  x % d = x,  where 0 <= x < d",
)
DIGITS = Law(
    "digits",
    "digits below a border do not reach it (ours, from rules 1 and 2 of Table II)",
    "(g*h + l) // (g*c) = h // c  and  (g*h + l) % (g*c) = g*(h % c) + l,  where 0 <= l < g",
)
NESTED = Law(
    "nested",
    "a digit of a digit is a digit (ours)",
    "(x // l) // b = x // (l*b)  and  (x // l) % b = x % (l*b) // l",
)
EXACT = Law(
    "exact",
    "one size divides the other (Table II, rules 1 and 2 with r = 0)",
    "(d*q) // d = q  and  (d*q) % d = 0",
)
MERGED = Law(
    "merged",
    "quotient and remainder of one value (Table II, rule 7)",
    "d*(x // d) + x % d = x",
)
TAKEN_OFF = Law(
    "taken off",
    "what a quotient leaves is the remainder (Table II, rule 7 turned round)",
    "x - d*(x // d) = x % d",
)


@dataclass(slots=True, eq=False)
class Divided:
    """dividend = quotient*divisor + remainder by a rule of divisibility.py.

    law: what it rests on; proof: how what that asks for is shown, where no range is asked. whole:
    the multiples of the divisor that came out first. fits: (value, bound) where 0 <= value < bound
    allows it. border: (g, high, low, divisor // g) where digits are split at a border. signed: the
    divisor's sign is not known. parts: what was done on the way. where: the branch that it holds in.
    """

    law: Law
    quotient: Any
    remainder: Any
    whole: Any
    proof: str = "for every value"
    fits: tuple[Any, Any] | None = None
    border: tuple[Any, Any, Any, Any] | None = None
    signed: bool = False
    dividend: Any = None
    divisor: Any = None
    parts: list[Any] = field(default_factory=list)
    where: tuple[Any, ...] = ()


@dataclass(slots=True, eq=False)
class Merged:
    """Neighboring digits of a sum put together."""

    before: Any
    after: Any
    where: tuple[Any, ...]


@dataclass(slots=True, eq=False)
class Simplified:
    """after is what an operation that is no division gives: of a kind of atom, on args, by a rule, whose
    law check/steps.py has. condition: it always holds, or never, which allows the step. where: the
    branch."""

    rule: str
    kind: str
    args: tuple[Any, ...]
    after: Any
    where: tuple[Any, ...]
    condition: Any = None
    holds: bool = True


class Log:
    """Steps in their order. settled: results are written down, where digits are made anew and not
    simplified."""

    __slots__ = ("entries", "settled")

    def __init__(self, entries: list[Any] | None = None):
        self.entries: list[Any] = [] if entries is None else entries
        self.settled = False

    def add(self, entry: Any) -> None:
        """Write down a step; none of nested divisions once they are settled."""
        if not (self.settled and isinstance(entry, Divided) and entry.law is NESTED):
            self.entries.append(entry)

    def merged(self, before: Any, after: Any, where: tuple[Any, ...]) -> None:
        """Digits were put together; what that led to was told before it. where: the branch."""
        entries, made = self.entries, Merged(before, after, where)
        first = len(entries)
        while first and isinstance(p := entries[first - 1], Merged) and p.after is after:
            first -= 1
        if first < len(entries):
            made.after = entries[first].before
        entries.insert(first, made)


@dataclass(slots=True)
class Recorder:
    """Where the parts of an analyzer write down what they do; nowhere while log is None."""

    log: Log | None = None

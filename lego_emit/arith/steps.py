"""What arithmetic did, in the order in which it did it: the explanation of a program is made of this."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .knowledge import PATH


def branch() -> tuple[Any, ...]:
    """The conditions of the branch that is being followed."""
    path = PATH.get()
    if path is None or not path.decided:
        return ()
    return tuple(c if value else ~c for c, value in path.decided.values())


@dataclass(slots=True, eq=False)
class Divided:
    """dividend = quotient*divisor + remainder by a rule of division.py.

    whole: the multiples of the divisor that came out first. fits: (value, bound) where
    0 <= value < bound allows it. border: (g, high, low, divisor // g) where digits are split at a
    border. parts: what was done on the way. where: the branch that it holds in.
    """

    rule: str
    quotient: Any
    remainder: Any
    whole: Any
    fits: tuple[Any, Any] | None = None
    border: tuple[Any, Any, Any, Any] | None = None
    dividend: Any = None
    divisor: Any = None
    parts: list[Any] = field(default_factory=list)
    where: tuple[Any, ...] = ()


@dataclass(slots=True, eq=False)
class Merged:
    """Neighbouring digits of a sum put together."""

    before: Any
    after: Any
    where: tuple[Any, ...]


class Log:
    """Steps in their order. settled: results are written down, where digits are made anew and not
    simplified."""

    __slots__ = ("entries", "settled")

    def __init__(self, entries: list[Any] | None = None):
        self.entries: list[Any] = [] if entries is None else entries
        self.settled = False

    def add(self, entry: Any) -> None:
        """Something was done."""
        if not (self.settled and isinstance(entry, Divided) and entry.rule == "nested"):
            self.entries.append(entry)

    def merged(self, before: Any, after: Any) -> None:
        """Digits were put together; what that led to was told before it."""
        entries, made = self.entries, Merged(before, after, branch())
        first = len(entries)
        while first and isinstance(p := entries[first - 1], Merged) and p.after is after:
            first -= 1
        if first < len(entries):
            made.after = entries[first].before
        entries.insert(first, made)

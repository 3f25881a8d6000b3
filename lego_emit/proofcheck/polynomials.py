"""Polynomials with integer coefficients over numbered atoms, and what stops a proof over them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .terms import Term

Mono: TypeAlias = tuple[int, ...]  # atoms by number, in order, each as often as it is a factor
Poly: TypeAlias = dict[Mono, int]
Key: TypeAlias = frozenset[tuple[Mono, int]]
Points: TypeAlias = list[dict[str, int]]
STEPS = 8_000  # polynomials looked at for one goal


class Lost(Exception):
    """Raised where no rule applies to a product or a quotient."""


class Split(Exception):
    """A comparison that must be decided first."""

    def __init__(self, condition: Term):
        super().__init__(condition)
        self.condition = condition


@dataclass
class Budget:
    """What is left, in steps: the same answer on every machine."""

    steps: int = STEPS
    cases: int = 0

    def spend(self, steps: int = 1) -> None:
        """Takes some steps. Raises Lost where fewer are left."""
        self.steps -= steps
        if self.steps < 0:
            raise Lost


def number(value: int) -> Poly:
    """The polynomial of a constant."""
    return {(): value} if value else {}


def plus(a: Poly, b: Poly, factor: int = 1) -> Poly:
    """The polynomial a + factor*b."""
    found = dict(a)
    for mono, c in b.items():
        value = found.get(mono, 0) + factor * c
        if value:
            found[mono] = value
        else:
            found.pop(mono, None)
    return found


def times(a: Poly, b: Poly) -> Poly:
    """The product of two polynomials."""
    found: Poly = {}
    for one, c in a.items():
        for other, d in b.items():
            mono = tuple(sorted(one + other))
            found[mono] = found.get(mono, 0) + c * d
    return {mono: c for mono, c in found.items() if c}


def without(mono: Mono, part: Mono) -> Mono | None:
    """mono/part where part divides it."""
    rest = list(mono)
    for atom in part:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def constant(p: Poly) -> int | None:
    """Its value where it is a number."""
    return p.get((), 0) if not p or (len(p) == 1 and () in p) else None


def key_of(p: Poly) -> Key:
    """Equal for equal polynomials."""
    return frozenset(p.items())


@dataclass
class Atom:
    """What a polynomial is made of. value: the term of a variable, or the operation and its operands.
    positive: whether it is known to be never negative. rank: what is bounded by others comes after
    them."""

    op: str
    of: tuple[Poly, ...] = ()
    name: str = ""
    positive: bool = False
    rank: int = 0
    most: Poly | None = None
    table: tuple[int, ...] = ()
    values: list[int | None] = field(default_factory=list)

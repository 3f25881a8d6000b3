"""Gaps: what is not negative, as conditions say, and what follows from several of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations_with_replacement

from .expr import Expr

FEW = 8  # that are looked at together


def sums(gaps: Sequence[Expr]) -> Iterator[Expr]:
    """What is not negative, and sums of two and of three."""
    for count in range(1, 4):
        for several in combinations_with_replacement(gaps[:FEW], count):
            yield reduce(lambda a, b: a + b, several)


def without_quotients(e: Expr) -> Iterator[Expr]:
    """What is not negative where e is not, and nowhere else: r - a//c where c*r + c - 1 - a is."""
    for atom in sorted(e.atoms(), key=lambda a: a.key):
        sign = e.terms.get((atom,))
        if atom.kind != "digit" or atom.args[2] is not None or sign not in (1, -1):
            continue
        base, count = atom.args[0], atom.args[1].constant
        if count is None or count < 2 or sum(atom in mono for mono in e.terms) > 1:
            continue
        rest = Expr({m: c * count for m, c in e.terms.items() if m != (atom,)})
        yield rest + base if sign > 0 else rest - base + (count - 1)

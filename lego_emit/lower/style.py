"""How one candidate form spells, and what is counted of the outputs before anything is spelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..arith.expr import Cond, Expr
from ..arith.terms import Atom, Identity

Borders = dict[Identity, list[Expr]]  # of bases


@dataclass(frozen=True, slots=True)
class Style:
    """How one candidate spells. floors: the digits taken as differences of quotients; rounds: those
    taken as differences of remainders, 12*(x//4) as 3*(x - x%4); masks: those of
    powers of two taken as differences of masked values, 3*(x & ~3); collect: indices are taken out before sizes; fuse: a scaled digit is
    masked in place; nested: 6*(x + 2*y) for 6*x + 12*y, a shift for a product; rests:
    digits that come from the remainder of a quotient that is computed;
    carry: (x - 1)//16 + 1 is (x + 15)//16; inner: digits of a remainder that are taken as differences, and
    the next digit of it: (x mod 6) mod 2 as x mod 6 - 2*((x mod 6)//2); products: x // (m*n), and not
    x // n // m, where x // n may be there, too; plain: the normal form as it stands, each term by itself,
    digits by division and remainder."""

    floors: frozenset[Atom] = frozenset()
    rounds: frozenset[Atom] = frozenset()
    masks: frozenset[Atom] = frozenset()
    collect: bool = False
    fuse: bool = False
    nested: bool = False
    rests: frozenset[Atom] = frozenset()
    carry: bool = False
    inner: frozenset[tuple[Atom, Atom]] = frozenset()
    products: bool = False
    plain: bool = False

    def words(self) -> tuple[str, ...]:
        """The style in words, for who asks why a form was taken."""
        return (
            *(["digits as differences of quotients"] if self.floors else []),
            *(["digits as differences of remainders"] if self.rounds else []),
            *(["digits as masked values"] if self.masks else []),
            *(["indices put together"] if self.collect else []),
            *(["scaled digits masked in place"] if self.fuse else []),
            *(["factors of factors taken out"] if self.nested else []),
            *(["digits of remainders"] if self.rests else []),
            *(["constants carried into quotients"] if self.carry else []),
            *(["digits as differences within a remainder"] if self.inner else []),
            *(["products of sizes as divisors"] if self.products else []),
        )


def census(outputs: Iterable[Expr]) -> tuple[set[Atom], Borders, set[Atom]]:
    """(groups that stand once, borders of each base, quotients): a sum that is used once, as a
    summand, is no factor; a base's borders are the sizes that divide it."""
    groups: Counter[Atom] = Counter()
    borders: Borders = {}
    quotients: set[Atom] = set()
    for atom, _ in occurrences(outputs):
        if atom.kind == "opaque":
            groups[atom] += 1
        elif atom.kind == "digit":
            base, lo, hi = atom.args
            if hi is None:
                quotients.add(atom)
            if (whole := base.single) is not None:
                groups[whole] += 2  # the quotients share it
            if lo.constant is None:
                _add_border(borders, base, lo)
    single = {a for a, n in groups.items() if n == 1 and a.kind == "opaque" and not a.args[3]}
    return single, borders, quotients


def _add_border(borders: Borders, base: Expr, border: Expr) -> None:
    known = borders.get(base.identity, ())
    if not any(border.same(b) for b in known):
        borders[base.identity] = [*known, border]


def with_floors(borders: Borders, floors: Iterable[Atom]) -> Borders:
    """The borders with the sizes that digits as differences of quotients are divided by, too."""
    borders = dict(borders)
    for base, _, hi in sorted((atom.args for atom in floors), key=lambda args: args[2].key):
        if hi.constant is None:
            _add_border(borders, base, hi)
    return borders


def occurrences(outputs: Iterable[Expr]) -> Iterator[tuple[Atom, Any]]:
    """Each place where an atom stands in a term, every equal expression looked at once."""
    seen: set[Any] = set()
    stack: list[Any] = list(outputs)
    while stack:
        value = stack.pop()
        if not isinstance(value, (Expr, Cond)) or value.identity in seen:
            continue
        seen.add(value.identity)
        if isinstance(value, Cond):
            stack.extend(value.args)
            continue
        for mono in value.terms:
            for atom in mono:
                yield atom, value
                if atom.kind == "sym" or atom in seen:
                    continue
                seen.add(atom)
                stack.extend(atom.args[:1] if atom.kind == "opaque" else atom.args)

"""The expressions of affine maps: sums, products with sizes, floordiv and mod, and their text.

Reference: https://mlir.llvm.org/docs/Dialects/Affine/#affine-expressions. floordiv rounds down and mod is
never negative, whatever the sign of the dividend; the divisor is positive. A product has one factor of
symbols and numbers alone, and so has a divisor; what divides by a symbol is semi-affine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce

from .. import intervals
from ..errors import LegoError

LOOSE, TIGHT, LEAF = 0, 1, 2  # how a text binds: a sum, a product or a division, a name


class NoAffineMap(LegoError):
    """What affine maps do not have, as a reason."""


@dataclass(frozen=True, slots=True)
class Term:
    """An expression. op: const, dim, sym, add, mul, floordiv or mod. value: a number or a name. lo and
    hi are its proven inclusive range, None where there is no bound."""

    op: str
    args: tuple[Term, ...] = ()
    value: int | str = 0
    lo: int | None = field(default=None, compare=False)
    hi: int | None = field(default=None, compare=False)

    @property
    def number(self) -> int | None:
        """Its value where that is a number."""
        return self.value if isinstance(self.value, int) and self.op == "const" else None

    @property
    def is_symbolic(self) -> bool:
        """Whether symbols and numbers alone stand in it."""
        return self.op != "dim" and all(a.is_symbolic for a in self.args)

    @property
    def is_semi(self) -> bool:
        """Whether a symbol multiplies or divides in it."""
        factors = self.args[1:] if self.op in ("mul", "floordiv", "mod") else ()
        return any(f.number is None for f in factors) or any(a.is_semi for a in self.args)


def const(value: int) -> Term:
    """A number as an expression."""
    return Term("const", (), value, value, value)


def add(*terms: Term) -> Term:
    """A sum, its numbers added up."""
    flat = [part for t in terms for part in (t.args if t.op == "add" else (t,))]
    number = sum(t.number for t in flat if t.number is not None)
    rest = [t for t in flat if t.number is None]
    rest += [const(number)] if number or not rest else []
    if len(rest) == 1:
        return rest[0]
    lo, hi = reduce(intervals.add, [(t.lo, t.hi) for t in rest])
    return Term("add", tuple(rest), 0, lo, hi)


def mul(a: Term, b: Term) -> Term:
    """A product. Raises NoAffineMap unless symbols and numbers alone stand in one of the factors."""
    if a.is_symbolic and (a.number is not None or not b.is_symbolic):
        a, b = b, a
    if not b.is_symbolic:
        raise NoAffineMap("a product of two indices")
    if b.number == 0:
        return b
    if b.number == 1:
        return a
    if a.number is not None and b.number is not None:
        return const(a.number * b.number)
    if a.op == "mul" and a.args[1].number is not None:
        inner, factor = a.args  # what is a number stands last
        return mul(inner, mul(factor, b)) if b.number is not None else mul(mul(inner, b), factor)
    lo, hi = intervals.product((a.lo, a.hi), (b.lo, b.hi))
    return Term("mul", (a, b), 0, lo, hi)


def divided(op: str, a: Term, b: Term) -> Term:
    """a floordiv b or a mod b, by a divisor that is known to be positive. Raises NoAffineMap where an
    index divides."""
    if not b.is_symbolic:
        raise NoAffineMap("a division by an index")
    if (n := b.number) is not None:
        if a.number is not None:
            return const(a.number // n if op == "floordiv" else a.number % n)
        if n == 1:
            return a if op == "floordiv" else const(0)
        if op == "floordiv" and a.op == "floordiv" and a.args[1].number is not None:
            return divided(op, a.args[0], mul(a.args[1], b))
        whole, rest = _multiples(a, n, -n if op == "floordiv" else 0)
        if rest is not a:
            made = divided(op, rest, b)
            return made if op == "mod" else add(*whole, made)
        if a.lo is not None and a.hi is not None and a.lo // n == a.hi // n:
            return const(a.lo // n) if op == "floordiv" else add(a, const(-(a.lo // n) * n))
    bounds = intervals.floordiv if op == "floordiv" else intervals.floormod
    lo, hi = bounds((a.lo, a.hi), (1 if b.lo is None else max(b.lo, 1), b.hi))
    return Term(op, (a, b), 0, lo, hi)


def _multiples(term: Term, n: int, least: int) -> tuple[list[Term], Term]:
    """(the terms of a sum that a number divides, divided; the rest): the sum itself where there are none. least: numbers
    from there to n stay as they are."""
    whole, rest = [], []
    for part in term.args if term.op == "add" else ():
        factor = part.args[1].number if part.op == "mul" else part.number
        if (
            factor is None
            or (factor % n and part.op == "mul")
            or (part.op == "const" and least <= factor < n)
        ):
            rest.append(part)
        elif part.op == "mul":
            whole.append(mul(part.args[0], const(factor // n)))
        else:
            whole.append(const(factor // n))
            rest.append(const(factor % n))
    return (whole, add(const(0), *rest)) if whole else ([], term)


def text(term: Term, names: Mapping[str, str]) -> str:
    """An expression as MLIR has it; names: what dims and symbols are called there."""
    return _Spelled(names).spelled(term)[0]


class _Spelled:
    def __init__(self, names: Mapping[str, str]):
        self._names = names

    def spelled(self, term: Term) -> tuple[str, int]:
        """A text, and how it binds."""
        if term.op == "const":
            if not -(2**63) <= int(term.value) < 2**63:
                raise NoAffineMap(f"a number that an index of 64 bits has not, {term.value}")
            return str(term.value), LEAF if int(term.value) >= 0 else LOOSE
        if term.op in ("dim", "sym"):
            return self._names[str(term.value)], LEAF
        if term.op == "add":
            first, *rest = (self.spelled(a)[0] for a in term.args)
            signed = (f" - {t[1:]}" if t.startswith("-") else f" + {t}" for t in rest)
            return first + "".join(signed), LOOSE
        a, b = term.args
        if term.op == "mul" and b.number == -1:
            return f"-{self._within(a)}", LOOSE
        sign = "*" if term.op == "mul" else term.op
        return f"{self._within(a)} {sign} {self._within(b)}", TIGHT

    def _within(self, term: Term) -> str:
        said, binds = self.spelled(term)
        return said if binds == LEAF else f"({said})"

"""Symbolic expressions as Python text: for error messages and explanations.

Text has no names for common parts: what is short as a graph can be endless as text. It is then cut
off, and CUT stands for what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import groupby

from ..errors import short_repr
from ..notation import PRODUCT, Spelled, call, choice, entry, infix, inverted, negative
from ..operations import OPS
from .terms import Atom, Condition, Monomial, Sum

CUT = ".."
MOST = 5000  # atoms of one text


def text(value: Sum | Condition) -> str:
    """Python text with the same value, as long as that has no more than MOST atoms."""
    left = iter(range(MOST))
    if isinstance(value, Condition):
        return _condition(value, left).text
    return _expr(value, left).within(0)


def ordered(e: Sum) -> list[tuple[Monomial, int]]:
    """The terms in the order in which a reader expects them: large products first, the number last."""

    def order(term: tuple[Monomial, int]) -> tuple:
        mono, coefficient = term
        return (not mono, coefficient < 0, -len(mono), -abs(coefficient), [a.key for a in mono])

    return sorted(e.terms.items(), key=order)


def factors(mono: Monomial) -> Iterator[tuple[Atom, int]]:
    """(factor, how often it stands) of a product, symbols first."""
    for atom, same in groupby(sorted(mono, key=lambda a: (a.kind != "sym", a.key))):
        count = len([*same])
        yield from [(atom, count)] if count > 3 else [(atom, 1)] * count


def _expr(e: Sum, left: Iterator[int]) -> Spelled:
    total: Spelled | None = None
    alone = len(e.terms) < 2
    for mono, coefficient in ordered(e):
        term = _term(mono, abs(coefficient), left)
        if not alone and term.binding < PRODUCT:
            term = Spelled(f"({term.text})")
        if total is None:
            total = negative(term) if coefficient < 0 else term
        else:
            total = infix("-" if coefficient < 0 else "+", total, term)
    return Spelled("0") if total is None else total


def _term(mono: Monomial, coefficient: int, left: Iterator[int]) -> Spelled:
    parts = [Spelled(short_repr(coefficient))] if coefficient != 1 or not mono else []
    for atom, count in factors(mono):
        part = _atom(atom, left)
        parts.append(part if count == 1 else infix("**", part, Spelled(str(count))))
    return reduce(lambda a, b: infix("*", a, b), parts)


def _atom(atom: Atom, left: Iterator[int]) -> Spelled:
    kind, args = atom.kind, atom.args
    if next(left, None) is None:
        return Spelled(CUT)
    if kind == "sym":
        dividend, quotient, divisor = args[0].rpartition("//")
        return Spelled(f"{dividend} // {divisor}", "//") if quotient else Spelled(args[0])
    if kind == "digit":
        base, lo, hi = args
        found = _expr(base, left)
        if hi is not None:
            found = infix("%", found, _expr(hi, left))
        return found if hi is not None and lo.constant == 1 else infix("//", found, _expr(lo, left))
    if kind == "opaque":
        return _expr(args[0], left)
    if kind == "select":
        return choice(_condition(args[0], left), *(_expr(a, left) for a in args[1:]))
    if kind == "bool":
        return _condition(args[0], left)
    if kind == "lookup":
        return entry(args[0].name, _expr(args[1], left))
    if kind in ("loop", "switch"):
        return call(f"{kind}_{args[0].shown[1 + args[1]]}", [_expr(a, left) for a in args[2:]])
    found = [_expr(a, left) for a in args]
    return infix(sign, *found) if (sign := OPS[kind].sign) else call(kind, found)


def _condition(condition: Condition, left: Iterator[int]) -> Spelled:
    op, args = condition.op, condition.args
    if op == "not":
        return inverted("not", _condition(args[0], left))
    if op in ("and", "or"):
        return infix(op, *(_condition(a, left) for a in args))
    return infix(OPS[op].sign, *(_expr(a, left) for a in args))

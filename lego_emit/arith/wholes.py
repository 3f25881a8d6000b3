"""The quotients that a layout's size takes to be whole: M // BM in Row(M // BM, BM), where BM divides M."""

from __future__ import annotations

from .analyzer import Analyzer
from .expr import Expr
from .terms import Atom


def whole_quotients(size: Expr, known: Analyzer) -> list[Atom]:
    """Each of them, in order. One that is rounded up, or beside which the remainder stands, is not taken
    to be whole."""
    found = sorted(_wholes(size), key=lambda a: a.key)
    return [
        a
        for a in found
        if not known.nonneg(-a.args[1] - 1)  # -(n // -b) rounds up
        and not (_rounds_up(size, a, known) or _asks_for_rest(size, a, known))
    ]


def _wholes(size: Expr) -> set[Atom]:
    """The quotients among a size's terms and factors, which it takes to be whole. One under max, min
    or a condition is a case among others, and may be rounded down."""
    found: set[Atom] = set()
    waiting = [size]
    while waiting:
        for atom in waiting.pop().atoms():
            if atom.kind == "opaque":
                waiting.append(atom.args[0])
            elif atom.kind == "floordiv" or (atom.kind == "digit" and atom.args[2] is None):
                found.add(atom)
                waiting += atom.args[:2]
    return found


def _rounds_up(size: Expr, quotient: Atom, known: Analyzer) -> bool:
    """Whether the size has the terms of a multiple of the quotient plus one, as (n + b - 1) // b is where n
    is a number, or a symbol plus one."""
    least, next_one = (known.rebuild(size, {quotient: Expr.of(value)}.get) for value in (0, 1))
    step = (next_one - least).terms
    return bool(step) and all(least.terms.get(mono, 0) // n > 0 for mono, n in step.items())


def _asks_for_rest(size: Expr, quotient: Atom, known: Analyzer) -> bool:
    """Whether the size is made of what the quotient leaves, too, as n // b + (n % b != 0) is: of the
    remainder, written as such or as n - n // b * b, or of a condition on the quotient."""
    dividend, divisor = quotient.args[:2]
    inner = size.deep_atoms()
    rests = Atom("floormod", dividend, divisor), Atom("digit", dividend, Expr.of(1), divisor)
    if not inner.isdisjoint(rests):
        return True
    if any(
        quotient in c.deep_atoms() for a in inner if a.kind == "bool" for c in a.args[0].exprs()
    ):
        return True
    product = known.simplifier.multiply(divisor, Expr.atom(quotient))
    rest = known.simplifier.subtract(dividend, product).terms
    held = [(size.terms.get(mono, 0), count) for mono, count in rest.items()]
    if not held:  # the quotient is exact
        return False
    (first, one), *others = held
    return first != 0 and all(c * one == first * count for c, count in others)

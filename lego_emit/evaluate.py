"""The value of a symbolic expression for given values of its symbols, in exact integers."""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt

from .expr import Atom, Cond, Expr


class Undefined(ArithmeticError):
    """A division by zero, a root of a negative number, a negative shift."""


def evaluate(e: Expr, values: Mapping[str, int]) -> int:
    """The value; KeyError for a symbol without one, Undefined where there is none."""
    total = 0
    for mono, coefficient in e.terms.items():
        product = coefficient
        for atom in mono:
            product *= _atom(atom, values)
        total += product
    return total


def holds(condition: Cond, values: Mapping[str, int]) -> bool:
    """Whether a condition holds."""
    op, args = condition.op, condition.args
    if op == "not":
        return not holds(args[0], values)
    if op == "and":
        return holds(args[0], values) and holds(args[1], values)
    if op == "or":
        return holds(args[0], values) or holds(args[1], values)
    a, b = (evaluate(x, values) for x in args)
    return {"lt": a < b, "le": a <= b, "eq": a == b, "ne": a != b}[op]


def _atom(atom: Atom, values: Mapping[str, int]) -> int:
    kind, args = atom.kind, atom.args
    if kind == "sym":
        return values[args[0]]
    if kind == "select":
        return evaluate(args[1] if holds(args[0], values) else args[2], values)
    if kind == "bool":
        return int(holds(args[0], values))
    if kind == "group":
        return evaluate(args[0], values)
    numbers = [evaluate(a, values) if a is not None else None for a in args]
    if kind == "digit":
        base, lo, hi = numbers
        if hi is not None:
            if hi == 0:
                raise Undefined
            base = base % hi  # type: ignore[operator]
        if lo == 0:
            raise Undefined
        return base // lo  # type: ignore[operator]
    a = numbers[0]
    if kind == "isqrt":
        if a < 0:  # type: ignore[operator]
            raise Undefined
        return isqrt(a)  # type: ignore[arg-type]
    b = numbers[1]
    if kind in ("fdiv", "fmod"):
        if b == 0:
            raise Undefined
        return a // b if kind == "fdiv" else a % b  # type: ignore[operator]
    if kind in ("shl", "shr"):
        if b < 0 or b > 200:  # type: ignore[operator]
            raise Undefined
        return a << b if kind == "shl" else a >> b  # type: ignore[operator]
    return {"min": min, "max": max, "and": int.__and__, "or": int.__or__, "xor": int.__xor__}[kind](
        a, b
    )

"""SymPy's side of symbolic integers: integer operations as nodes of our own, and the way out.

SymPy's Mod, floor and Max evaluate integer expressions wrongly or into floats, so that they never
enter (expressions are translated node by node).
"""

from __future__ import annotations

import math

import sympy

from .terms import Atom, Condition, Sum


class InternalSymbol(sympy.Symbol):
    """A symbol of ours whose name is no identifier: a quotient of sizes, the stand-in of an index."""


class IntegerNode(sympy.Function):
    """Base of our nodes: integer-valued, evaluated only on integers."""

    is_integer = True
    is_real = True
    is_commutative = True

    @classmethod
    def eval(cls, *args):
        if all(a.is_Integer for a in args):
            return sympy.Integer(cls.compute(*(int(a) for a in args)))
        return None

    @staticmethod
    def compute(*values: int) -> int:
        raise NotImplementedError


class FloorDiv(IntegerNode):
    """floor(a / b)."""

    nargs = 2

    @classmethod
    def eval(cls, a, b):
        if b == 0:
            return None
        return super().eval(a, b)

    compute = staticmethod(lambda a, b: a // b)


class FloorMod(IntegerNode):
    """a - b*floor(a / b): the sign of the divisor."""

    nargs = 2

    @classmethod
    def eval(cls, a, b):
        if b == 0:
            return None
        return super().eval(a, b)

    compute = staticmethod(lambda a, b: a % b)


class IntMin(IntegerNode):
    """The smaller of two integers."""

    nargs = 2
    compute = staticmethod(min)


class IntMax(IntegerNode):
    """The larger of two integers."""

    nargs = 2
    compute = staticmethod(max)


class Isqrt(IntegerNode):
    """The integer square root."""

    nargs = 1
    compute = staticmethod(math.isqrt)


class BitAnd(IntegerNode):
    """a & b on two's complement."""

    nargs = 2
    compute = staticmethod(lambda a, b: a & b)


class BitOr(IntegerNode):
    """a | b on two's complement."""

    nargs = 2
    compute = staticmethod(lambda a, b: a | b)


class BitXor(IntegerNode):
    """a ^ b on two's complement."""

    nargs = 2
    compute = staticmethod(lambda a, b: a ^ b)


class ShiftLeft(IntegerNode):
    """a * 2**b."""

    nargs = 2
    compute = staticmethod(lambda a, b: a << b)


class ShiftRight(IntegerNode):
    """floor(a / 2**b)."""

    nargs = 2
    compute = staticmethod(lambda a, b: a >> b)


class Less(IntegerNode):
    """1 where a < b, else 0."""

    nargs = 2
    compute = staticmethod(lambda a, b: int(a < b))


class LessEqual(IntegerNode):
    """1 where a <= b, else 0."""

    nargs = 2
    compute = staticmethod(lambda a, b: int(a <= b))


class Equal(IntegerNode):
    """1 where a == b, else 0."""

    nargs = 2
    compute = staticmethod(lambda a, b: int(a == b))


class Not(IntegerNode):
    """1 where a is 0, else 0."""

    nargs = 1
    compute = staticmethod(lambda a: int(not a))


class And(IntegerNode):
    """1 where both are not 0, else 0."""

    nargs = 2
    compute = staticmethod(lambda a, b: int(bool(a and b)))


class Or(IntegerNode):
    """1 where one is not 0, else 0."""

    nargs = 2
    compute = staticmethod(lambda a, b: int(bool(a or b)))


class Select(IntegerNode):
    """a where the condition is not 0, else b."""

    nargs = 3
    compute = staticmethod(lambda c, a, b: a if c else b)

    @classmethod
    def eval(cls, c, a, b):
        if c.is_Integer:
            return a if c != 0 else b
        return None


BINARY = {
    "min": IntMin, "max": IntMax, "and": BitAnd, "or": BitOr, "xor": BitXor,
    "shl": ShiftLeft, "shr": ShiftRight, "fdiv": FloorDiv, "fmod": FloorMod,
}  # fmt: skip
_CONDITION = {"lt": Less, "le": LessEqual, "eq": Equal, "and": And, "or": Or, "not": Not}


def to_sympy(e: Sum) -> sympy.Expr:
    """An expression over SymPy symbols (integer=True) and the nodes above."""
    return sympy.Add(
        *(
            sympy.Mul(sympy.Integer(c), *(_atom_to_sympy(a) for a in mono))
            for mono, c in e.terms.items()
        )
    )


def _atom_to_sympy(atom: Atom) -> sympy.Expr:
    kind, args = atom.kind, atom.args
    if kind == "sym":
        kind = sympy.Symbol if args[0].isidentifier() else InternalSymbol
        return kind(args[0], integer=True)
    if kind == "digit":
        base, lo, hi = args
        value = to_sympy(base)
        if hi is not None:
            value = FloorMod(value, to_sympy(hi))
        return value if lo.constant == 1 else FloorDiv(value, to_sympy(lo))
    if kind == "group":
        return to_sympy(args[0])
    if kind == "select":
        return Select(_condition_to_sympy(args[0]), to_sympy(args[1]), to_sympy(args[2]))
    if kind == "bool":
        return _condition_to_sympy(args[0])
    if kind == "isqrt":
        return Isqrt(to_sympy(args[0]))
    return BINARY[kind](*(to_sympy(a) for a in args))


def _condition_to_sympy(condition: Condition) -> sympy.Expr:
    op, args = condition.op, condition.args
    if op in ("and", "or", "not"):
        return _CONDITION[op](*(_condition_to_sympy(a) for a in args))
    values = [to_sympy(a) for a in args]
    return Not(Equal(*values)) if op == "ne" else _CONDITION[op](*values)

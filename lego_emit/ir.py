"""The SymPy side of the IR: integer operations as nodes of our own, and the way in and out.

SymPy's Mod, floor and Max evaluate integer expressions wrongly or into floats, so that they never
enter (lego_emit's expressions are translated node by node).
"""

from __future__ import annotations

import math
from functools import reduce
from operator import mul
from typing import Any

import sympy
from sympy.logic import boolalg

from .errors import TraceError
from .expr import Atom, Cond, Expr, bit_operation, maximum, minimum, select, shift_left, shift_right


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


_BINARY = {
    "min": IntMin, "max": IntMax, "and": BitAnd, "or": BitOr, "xor": BitXor,
    "shl": ShiftLeft, "shr": ShiftRight, "fdiv": FloorDiv, "fmod": FloorMod,
}  # fmt: skip
_CONDITION = {"lt": Less, "le": LessEqual, "eq": Equal, "and": And, "or": Or, "not": Not}


def to_sympy(e: Expr) -> sympy.Expr:
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
    return _BINARY[kind](*(to_sympy(a) for a in args))


def _condition_to_sympy(condition: Cond) -> sympy.Expr:
    op, args = condition.op, condition.args
    if op in ("and", "or", "not"):
        return _CONDITION[op](*(_condition_to_sympy(a) for a in args))
    values = [to_sympy(a) for a in args]
    return Not(Equal(*values)) if op == "ne" else _CONDITION[op](*values)


def from_sympy(value: Any) -> Expr:
    """A SymPy integer expression as ours: Add, Mul, Pow, floor, Mod, Min, Max, Piecewise, the
    nodes above. Raises TraceError for anything that is no integer operation."""
    if isinstance(value, (sympy.Integer, int)):
        return Expr.of(int(value))
    if isinstance(value, sympy.Symbol):
        return _symbol(value)
    if isinstance(value, sympy.Add):
        return reduce(lambda a, b: a + b, [from_sympy(a) for a in value.args])
    if isinstance(value, sympy.Mul):
        numerator, denominator = value.as_numer_denom()
        if denominator != 1:
            raise TraceError(f"{value} is a fraction; write // for an integer division")
        return reduce(mul, [from_sympy(a) for a in value.args])
    if isinstance(value, sympy.Pow) and value.exp.is_Integer and value.exp >= 0:
        return from_sympy(value.base) ** int(value.exp)
    if isinstance(value, sympy.floor):
        numerator, denominator = sympy.together(value.args[0]).as_numer_denom()
        return from_sympy(numerator) // from_sympy(denominator)
    if isinstance(value, (sympy.Mod, FloorMod)):
        return from_sympy(value.args[0]) % from_sympy(value.args[1])
    if isinstance(value, FloorDiv):
        return from_sympy(value.args[0]) // from_sympy(value.args[1])
    if isinstance(value, (sympy.Min, IntMin)):
        return reduce(minimum, [from_sympy(a) for a in value.args])
    if isinstance(value, (sympy.Max, IntMax)):
        return reduce(maximum, [from_sympy(a) for a in value.args])
    if isinstance(value, Isqrt):
        return from_sympy(value.args[0]).isqrt()
    if isinstance(value, Select):
        c, a, b = value.args
        return select(condition_from_sympy(c), from_sympy(a), from_sympy(b))
    if isinstance(value, sympy.Piecewise):
        if value.args[-1].cond != sympy.true:
            raise TraceError(f"{value} has no value elsewhere; end it with (value, True)")
        result = None
        for e, c in reversed(value.args):
            result = (
                from_sympy(e)
                if result is None
                else select(condition_from_sympy(c), from_sympy(e), result)
            )
        if result is not None:
            return result
    for kind, node in _BINARY.items():
        if isinstance(value, node):
            a, b = (from_sympy(x) for x in value.args)
            if kind == "shl":
                return shift_left(a, b)
            if kind == "shr":
                return shift_right(a, b)
            return bit_operation(kind, a, b)
    if isinstance(value, (Less, LessEqual, Equal, And, Or, Not)):
        return condition_from_sympy(value).as_expr()
    raise TraceError(f"{value} ({type(value).__name__}) is no integer operation that layouts know")


def _symbol(symbol: sympy.Symbol) -> Expr:
    if symbol.name.isidentifier() or isinstance(symbol, InternalSymbol):
        return Expr.atom(Atom("sym", symbol.name))
    raise TraceError(f"the symbol {symbol.name!r} is no identifier; give it a plain name")


def condition_from_sympy(value: Any) -> Any:
    """A SymPy relation, Boolean or one of our condition nodes as a condition."""
    if value in (True, sympy.true):
        return True
    if value in (False, sympy.false):
        return False
    if isinstance(value, (And, boolalg.And)):
        return reduce(lambda a, b: Cond("and", a, b), [condition_from_sympy(a) for a in value.args])
    if isinstance(value, (Or, boolalg.Or)):
        return reduce(lambda a, b: Cond("or", a, b), [condition_from_sympy(a) for a in value.args])
    if isinstance(value, (Not, boolalg.Not)):
        return ~condition_from_sympy(value.args[0])
    if isinstance(value, sympy.Ne):
        return Cond("ne", from_sympy(value.lhs), from_sympy(value.rhs))
    if isinstance(value, sympy.core.relational.Relational):
        a, b = from_sympy(value.lhs), from_sympy(value.rhs)
        return {
            "<": Cond("lt", a, b), "<=": Cond("le", a, b), ">": Cond("lt", b, a),
            ">=": Cond("le", b, a), "==": Cond("eq", a, b),
        }[value.rel_op]  # fmt: skip
    for op, node in (("lt", Less), ("le", LessEqual), ("eq", Equal)):
        if isinstance(value, node):
            return Cond(op, *(from_sympy(a) for a in value.args))
    raise TraceError(f"{value} is no condition that layouts know")

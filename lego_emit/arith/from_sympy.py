"""The way in from SymPy: an integer expression or a relation of SymPy's as ours."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any

import sympy
from sympy.logic import boolalg

from ..errors import TraceError
from .expr import Cond, Expr, bit_operation, maximum, minimum, select, shift_left, shift_right
from .sympy_nodes import (
    BINARY,
    And,
    Equal,
    FloorDiv,
    FloorMod,
    InternalSymbol,
    IntMax,
    IntMin,
    Isqrt,
    Less,
    LessEqual,
    Not,
    Or,
    Select,
)
from .terms import Atom


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
    for kind, node in BINARY.items():
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

"""The way in from SymPy: an integer expression or a relation of SymPy's as ours.

Every symbol stands for an integer, whatever SymPy was told of it (only what can be none is
refused), and is known by its name. Rounding is SymPy's own and Python's: floor, ceiling and Mod
agree with // and % for every sign.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from itertools import product
from math import prod
from typing import Any, cast

from sympy.functions.elementary.miscellaneous import Rem
from sympy.logic import boolalg

from ..errors import TraceError
from ..notation import is_name
from ..operations import OPS, is_condition
from ..packages import sympy
from ..table_lookup import Entries
from . import sympy_nodes as nodes
from .analyzer import Analyzer
from .expr import Cond, Expr, isqrt, lookup, maximum, minimum
from .formulas import in_short
from .sympy_nodes import InternalSymbol
from .terms import Atom

MOST_REMAINDERS = 4096  # that are tried, to see whether a number divides
MOST_ARMS = 64  # of choices in one expression that are read under their conditions
KNOWN = (
    "sums, products, powers, floor, ceiling, Mod, Rem, Abs, Min, Max, Piecewise and the nodes of "
    "lego_emit.arith.sympy_nodes are known"
)


def from_sympy(value: Any, bound: Mapping[str, Expr] | None = None) -> Expr:
    """A SymPy integer expression as ours: sums, products, powers, floor and ceiling of a quotient,
    floor(sqrt(x)), Mod, Rem, Abs, Min, Max, Piecewise, the nodes of sympy_nodes.py.

    bound: the values of symbols that stand for parts. Raises TraceError for anything that is no
    integer operation.
    """
    return Reader(bound or {}).expr(value)


def condition_from_sympy(value: Any, bound: Mapping[str, Expr] | None = None) -> Any:
    """A SymPy relation, Boolean or one of our condition nodes as a condition (or True or False)."""
    return Reader(bound or {}).condition(value)


class Reader:
    """SymPy expressions on their way in; what they have more than once is read once."""

    def __init__(self, bound: Mapping[str, Expr], analyzer: Analyzer | None = None):
        """bound: the values of symbols. analyzer: under what is known of them, which is nothing by
        default."""
        analyzer = analyzer or Analyzer(use_z3=False)
        self.bound, self.simplifier, self.analyzer = bound, analyzer.simplifier, analyzer
        self._known: dict[Any, Expr] = {}
        self._arms = MOST_ARMS  # that may still be read under their conditions

    def expr(self, value: Any) -> Expr:
        """The Expr of a SymPy expression, an int or a symbol."""
        if isinstance(value, (Expr, int)):
            return Expr.of(value)
        if not isinstance(value, sympy.Basic):  # a class, a matrix that can be changed
            return self._expr(value)
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._expr(value)
        return known

    def _expr(self, value: Any) -> Expr:
        for kind in type(value).__mro__:
            if (read := _READ.get(kind)) is not None:
                return read(self, value)
        raise TraceError(
            f"{in_short(value)} ({type(value).__name__}) is not an integer operation that layouts know"
            f"{_way_out(value)}"
        )

    def joined(self, operation: Callable[..., Any], value: Any) -> Expr:
        """The operation on all operands, from the left."""
        return reduce(lambda a, b: self.simplifier.operate(operation, a, b), self.each(value))

    def each(self, value: Any) -> list[Expr]:
        """The Exprs of the operands of a node."""
        return [self.expr(a) for a in value.args]

    # -- operations ---------------------------------------------------------------------------

    def symbol(self, symbol: Any) -> Expr:
        """A parameter, or the part that its name stands for."""
        if symbol.is_commutative is False or symbol.is_integer is False:
            raise TraceError(
                f"the symbol {symbol.name} is not an integer, by its assumptions; every symbol is one "
                f"here: make it with sympy.Symbol({symbol.name!r}, integer=True)"
            )
        if symbol.name in self.bound:
            return self.bound[symbol.name]
        if is_name(symbol.name) or isinstance(symbol, InternalSymbol):
            return Expr.atom(Atom("sym", symbol.name))
        raise TraceError(f"the symbol {symbol.name!r} is not an identifier; give it a plain name")

    def total(self, value: Any) -> Expr:
        """A sum of integers, or of fractions that make one, as n**2/2 + n/2 does."""
        return self.product(value) if _is_fraction(value) else self.joined(operator.add, value)

    def product(self, value: Any) -> Expr:
        """A product of integers, or a quotient by a number that is one for all integers."""
        if _is_fraction(value):
            numerator, denominator = self.quotient(value)
            if self._divides(denominator.constant, numerator):
                return self.simplifier.floordiv(numerator, denominator)
            raise TraceError(
                f"{in_short(value)} is a fraction; write // for an integer division"
                f" (sympy.floor(a / b), or FloorDiv(a, b) of lego_emit.arith.sympy_nodes)"
            )
        return self.joined(operator.mul, value)

    def _divides(self, number: int | None, e: Expr) -> bool:
        """Whether a number divides an expression for all integers that its atoms may be: n*(n + 1) is
        even. All remainders are tried, where they are few."""
        flat = self.simplifier.expand_opaque(e)
        if number is None or flat is None:
            return False
        atoms = sorted(flat.atoms(), key=lambda a: a.key)
        if number ** len(atoms) > MOST_REMAINDERS:
            return False
        for point in product(range(number), repeat=len(atoms)):
            values = dict(zip(atoms, point, strict=True))
            if sum(c * prod(values[a] for a in m) for m, c in flat.terms.items()) % number:
                return False
        return True

    def power(self, value: Any) -> Expr:
        """A power by a number."""
        if value.exp.is_Integer and value.exp >= 0:
            return self.simplifier.power(self.expr(value.base), Expr.of(int(value.exp)))
        raise TraceError(
            f"{in_short(value)} ({type(value).__name__}) is not an integer operation that layouts know"
            f"{_power_way_out(value)}"
        )

    def rounded_down(self, value: Any) -> Expr:
        """The Expr of a floor: of a quotient a/b, or of a square root."""
        (inside,) = value.args
        if inside.is_Pow and inside.exp == sympy.S.Half:
            return self.simplifier.isqrt(self.expr(inside.base))
        a, b = self.quotient(inside)
        return self.simplifier.floordiv(a, b)

    def rounded_up(self, value: Any) -> Expr:
        """The Expr of a ceiling of a quotient a/b."""
        a, b = self.quotient(value.args[0])
        return -self.simplifier.floordiv(-a, b)

    def quotient(self, value: Any) -> tuple[Expr, Expr]:
        """Numerator and denominator of what is rounded."""
        numerator, denominator = cast(Any, sympy.together(value)).as_numer_denom()
        return self.expr(numerator), self.expr(denominator)

    def remainder(self, value: Any) -> Expr:
        """SymPy's Rem: the rest of the division that rounds towards 0, with a's sign."""
        a, b = self.each(value)
        simplifier = self.simplifier
        rest = simplifier.mod(simplifier.absolute(a), simplifier.absolute(b))
        return simplifier.select(Cond("lt", a, Expr.of(0)), -rest, rest)

    def piecewise(self, value: Any) -> Expr:
        """The first piece whose condition holds."""
        *pieces, last = value.args
        if last.cond != sympy.true:
            raise TraceError(f"{in_short(value)} has no value elsewhere; end it with (value, True)")
        conditions = [self.condition(piece.cond) for piece in pieces]
        earlier, values = True, []
        for condition, piece in zip(conditions, pieces, strict=True):
            values.append(self.arm(_and(earlier, condition), piece.expr))
            earlier = _and(earlier, _not(condition))
        result = self.arm(earlier, last.expr)
        for condition, arm in zip(reversed(conditions), reversed(values), strict=True):
            result = self.simplifier.select(condition, arm, result)
        return result

    def chosen(self, value: Any) -> Expr:
        """The Expr of one of our Select nodes."""
        c, a, b = value.args
        condition = self.truth(c)
        return self.simplifier.select(
            condition, self.arm(condition, a), self.arm(_not(condition), b)
        )

    def arm(self, condition: Any, value: Any) -> Expr:
        """The Expr of a value that is only used where a condition holds, simplified under it."""
        if isinstance(condition, bool) or value.is_Integer or not self._arms:
            return self.expr(value)
        self._arms -= 1
        known = self._known
        with self.analyzer.scope():
            self.analyzer.assume(condition)
            if not self.analyzer.bounds.contradictory():
                self._known = {}
                try:
                    return self.expr(value)
                finally:
                    self._known = known
        return self.expr(value)  # it is never used

    def entry(self, value: Any) -> Expr:
        """An entry of a table."""
        return lookup(entries_of(value), self.expr(value.args[1]))

    def flag(self, value: Any) -> Expr:
        """One of our conditions as 0 or 1."""
        condition = self.condition(value)
        return (
            Expr.of(condition)
            if isinstance(condition, bool)
            else self.simplifier.as_number(condition)
        )

    # -- conditions ---------------------------------------------------------------------------

    def truth(self, value: Any) -> Any:
        """An operand of a node of ours as a condition: a number holds where it is not 0."""
        if isinstance(value, sympy.Integer):
            return value != 0
        if isinstance(value, sympy.Expr) and not isinstance(value, nodes.IntegerNode):
            return Cond("ne", self.expr(value), Expr.of(0))
        return self.condition(value)

    def condition(self, value: Any) -> Any:
        """A condition, True or False; of a node that is none, that it is not 0."""
        if isinstance(value, (Cond, bool)):
            return value
        if value in (sympy.true, sympy.false):
            return bool(value)
        for kind in type(value).__mro__:
            if kind in _JOINS:
                read = self.truth if isinstance(value, nodes.IntegerNode) else self.condition
                return reduce(_JOINS[kind], map(read, value.args))
            if kind in _COMPARISONS:
                op, (a, b) = _COMPARISONS[kind], self.each(value)
                return Cond(OPS[op].flipped, b, a) if op in ("gt", "ge") else Cond(op, a, b)
        if isinstance(value, nodes.LogicalNot):
            return _not(self.truth(value.args[0]))
        if isinstance(value, boolalg.Not):
            return _not(self.condition(value.args[0]))
        if isinstance(value, boolalg.ITE):
            c, a, b = map(self.condition, value.args)
            return _or(_and(c, a), _and(_not(c), b))
        if isinstance(value, boolalg.BooleanFunction):  # Xor, Implies, Equivalent, ..
            return self.condition(cast(Any, value).to_nnf(simplify=False))
        if isinstance(value, nodes.IntegerNode):
            return Cond("ne", self.expr(value), Expr.of(0))
        raise TraceError(
            f"{in_short(value)} is not a condition that layouts know; write a relation such as x < 3"
        )


def entries_of(value: Any) -> Entries:
    """The table of a look-up. Raises TraceError where it is none."""
    table = value.args[0]
    known: Any = table.args if isinstance(table, sympy.Tuple) else ()
    if not known or not all(x.is_Integer for x in known):
        raise TraceError(f"{in_short(value)}: a table is a sympy.Tuple of at least one integer")
    return Entries("table", map(int, known))


def _is_fraction(value: Any) -> bool:
    return value.as_numer_denom()[1] != 1


def _and(a: Any, b: Any) -> Any:
    if isinstance(a, bool) or isinstance(b, bool):
        return False if a is False or b is False else b if a is True else a
    return Cond("and", a, b)


def _or(a: Any, b: Any) -> Any:
    return (
        _not(_and(_not(a), _not(b)))
        if isinstance(a, bool) or isinstance(b, bool)
        else Cond("or", a, b)
    )


def _not(a: Any) -> Any:
    return not a if isinstance(a, bool) else ~a


_JOINS: dict[type, Callable[[Any, Any], Any]] = {
    nodes.LogicalAnd: _and, boolalg.And: _and, nodes.LogicalOr: _or, boolalg.Or: _or,
}  # fmt: skip
_COMPARISONS: dict[type, str] = {
    sympy.StrictLessThan: "lt", sympy.LessThan: "le", sympy.Eq: "eq", sympy.Ne: "ne",
    sympy.StrictGreaterThan: "gt", sympy.GreaterThan: "ge",
    **{kind: op for op, kind in nodes.NODES.items() if OPS[op].opposite},
}  # fmt: skip


def _by(operation: Callable[..., Expr]) -> Callable[[Reader, Any], Expr]:
    """The operation on all operands, from the left."""
    return lambda reader, value: reader.joined(operation, value)


def _of(operation: Callable[..., Any]) -> Callable[[Reader, Any], Expr]:
    """The operation on the one operand."""
    return lambda reader, value: reader.simplifier.operate(operation, reader.expr(value.args[0]))


_READ: dict[type, Callable[[Reader, Any], Expr]] = {
    sympy.Integer: lambda _, value: Expr.of(int(value)),
    sympy.Symbol: Reader.symbol,
    sympy.Add: Reader.total, nodes.IntAdd: _by(operator.add), nodes.IntSub: _by(operator.sub),
    sympy.Mul: Reader.product, nodes.IntMul: _by(operator.mul), nodes.IntNeg: _of(operator.neg),
    sympy.Pow: Reader.power,
    sympy.floor: Reader.rounded_down, sympy.ceiling: Reader.rounded_up,
    sympy.Mod: _by(operator.mod), nodes.FloorMod: _by(operator.mod),
    nodes.FloorDiv: _by(operator.floordiv), Rem: Reader.remainder,
    sympy.Min: _by(minimum), nodes.IntMin: _by(minimum),
    sympy.Max: _by(maximum), nodes.IntMax: _by(maximum), sympy.Abs: _of(abs),
    nodes.Isqrt: _of(isqrt), nodes.TableLookup: Reader.entry,
    sympy.Piecewise: Reader.piecewise, nodes.Select: Reader.chosen,
    nodes.BitAnd: _by(operator.and_), nodes.BitOr: _by(operator.or_), nodes.BitXor: _by(operator.xor),
    nodes.BitNot: _of(operator.invert),
    nodes.ShiftLeft: _by(operator.lshift), nodes.ShiftRight: _by(operator.rshift),
    **{kind: Reader.flag for op, kind in nodes.NODES.items() if is_condition(op)},
}  # fmt: skip

WAYS_OUT: dict[type, str] = {
    sympy.Float: "indices are integers, and a float is none: write sympy.Integer(2), and "
    "sympy.Rational(1, 2) inside of floor()",
    sympy.Rational: "write floor() around a quotient",
    sympy.sign: "write Piecewise((1, x > 0), (-1, x < 0), (0, True))",
    boolalg.Boolean: "as a number it is Piecewise((1, condition), (0, True))",
    sympy.MatrixBase: "give its elements as a tuple, tuple(matrix)",
    sympy.Tuple: "give a Python tuple",
    sympy.core.function.AppliedUndef: "put its definition in, with .subs() or .replace()",
    sympy.Sum: "sum it with .doit(), or in a loop of the target language",
    sympy.Product: "multiply it with .doit(), or in a loop of the target language",
}


def _way_out(value: Any) -> str:
    for kind in type(value).__mro__:
        if kind in WAYS_OUT:
            return f"; {WAYS_OUT[kind]}"
    return f"; {KNOWN}"


def _power_way_out(value: Any) -> str:
    if value.exp == sympy.S.Half:
        return "; its integer part is, floor(sqrt(x)): the integer square root"
    if value.base == 2:
        return "; where the exponent is not negative, ShiftLeft(1, x) of lego_emit.arith.sympy_nodes is"
    if value.exp.is_Integer:
        return "; write floor(a / b) for an integer division"
    return "; an exponent is a number that is not negative"

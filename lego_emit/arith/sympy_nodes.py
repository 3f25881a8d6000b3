"""SymPy's side of symbolic integers: integer operations as nodes of our own, and the way out.

SymPy's Mod, floor and Max evaluate integer expressions wrongly or into floats, so that they never
enter (expressions are translated node by node). SymPy also multiplies 2*(i + N) out and sorts sums:
where the form counts, sums and products are nodes, too (IntAdd, IntSub, IntMul, IntNeg).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ..errors import TraceError
from ..notation import is_name
from ..operations import LOGIC, OPS
from ..packages import sympy
from ..table_lookup import Entries
from .node_spelling import Spelled
from .terms import Atom, Condition, Sum

__all__ = [
    "BitAnd", "BitNot", "BitOr", "BitXor", "Equal", "FloorDiv", "FloorMod", "Greater",
    "GreaterEqual", "IntAdd", "IntMax", "IntMin", "IntMul", "IntNeg", "IntSub", "IntegerNode",
    "InternalSymbol", "Isqrt", "Less", "LessEqual", "LogicalAnd", "LogicalNot", "LogicalOr", "Select", "ShiftLeft",
    "ShiftRight", "TableLookup", "Unequal",
]  # fmt: skip

MOST_SHIFT = 4096  # bits; further ones stay as they are


class InternalSymbol(sympy.Symbol):
    """A symbol of ours whose name is no identifier: a quotient of sizes, the stand-in of an index."""


class _ByTable(type(sympy.Function)):
    """The class of node classes: what a node computes is its operation's in operations.py."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **given: Any) -> Any:
        """The node class, with as many operands as its operation takes."""
        if row := OPS.get(body.get("op", "")):
            body["nargs"] = len(row.takes.rstrip("*"))
            truth = row.gives == "b"  # 1 or 0
            value = (lambda *values: int(bool(row.value(*values)))) if truth else row.value
            body.setdefault("compute", staticmethod(value))
            body.setdefault("defined", staticmethod(row.defined or (lambda *values: True)))
        return super().__new__(cls, name, bases, body, **given)


class IntegerNode(Spelled, sympy.Function, metaclass=_ByTable):
    """Base of our nodes: integer-valued, evaluated only on integers; ccode, pycode, latex and
    lambdify know them (node_spelling.py says what comes out)."""

    is_integer = True
    is_real = True
    is_commutative = True

    op: ClassVar[str]
    compute: ClassVar[Callable[..., int]]
    defined: ClassVar[Callable[..., bool]]  # has it a value?

    @classmethod
    def eval(cls, *args: Any) -> Any:  # pyright: ignore
        """The value on integers; None where the node stays, as SymPy wants it."""
        if all(a.is_Integer for a in args):
            values = [int(a) for a in args]
            return sympy.Integer(cls.compute(*values)) if cls.defined(*values) else None
        return None


class IntAdd(IntegerNode):
    """a + b as it stands: SymPy neither sorts it nor multiplies it out."""

    op = "add"


class IntSub(IntegerNode):
    """a - b as it stands."""

    op = "sub"


class IntMul(IntegerNode):
    """a * b as it stands."""

    op = "mul"


class IntNeg(IntegerNode):
    """-a as it stands."""

    op = "neg"


class FloorDiv(IntegerNode):
    """The quotient floor(a / b), as Python rounds it."""

    op = "floordiv"


class FloorMod(IntegerNode):
    """a - b*floor(a / b): the sign of the divisor."""

    op = "floormod"


class IntMin(IntegerNode):
    """The smaller of two integers."""

    op = "min"


class IntMax(IntegerNode):
    """The larger of two integers."""

    op = "max"


class Isqrt(IntegerNode):
    """The integer square root."""

    op = "isqrt"


class TableLookup(IntegerNode):
    """Entry b of a table, a sympy.Tuple of integers, counted from 0; of one that is known at run
    time only, a symbol with its name."""

    op = "lookup"
    compute = staticmethod(lambda table, place: table[int(place)])
    defined = staticmethod(
        lambda table, place: isinstance(table, sympy.Tuple) and 0 <= place < len(table)
    )

    @classmethod
    def eval(cls, *args: Any) -> Any:
        """The entry at a number that is a place of the table; None where the node stays."""
        known = args[1].is_Integer and cls.defined(*args)
        return cls.compute(*args) if known else None

    def _fcode(self, printer: Any, **_: Any) -> str:  # which would ask the table for a float
        raise NotImplementedError("SymPy's Fortran has no table look-up; generate() has")


class BitNot(IntegerNode):
    """-a - 1: all bits turned."""

    op = "not"


class BitAnd(IntegerNode):
    """a & b on two's complement."""

    op = "and"


class BitOr(IntegerNode):
    """a | b on two's complement."""

    op = "or"


class BitXor(IntegerNode):
    """a ^ b on two's complement."""

    op = "xor"


class ShiftLeft(IntegerNode):
    """The product a * 2**b, for 0 <= b."""

    op = "shl"
    defined = staticmethod(lambda a, b: 0 <= b <= MOST_SHIFT)


class ShiftRight(IntegerNode):
    """The quotient floor(a / 2**b), for 0 <= b."""

    op = "shr"
    defined = staticmethod(lambda a, b: 0 <= b <= MOST_SHIFT)


class Less(IntegerNode):
    """1 where a < b, else 0."""

    op = "lt"


class LessEqual(IntegerNode):
    """1 where a <= b, else 0."""

    op = "le"


class Equal(IntegerNode):
    """1 where a == b, else 0."""

    op = "eq"


class Unequal(IntegerNode):
    """1 where a != b, else 0."""

    op = "ne"


class Greater(IntegerNode):
    """1 where a > b, else 0."""

    op = "gt"


class GreaterEqual(IntegerNode):
    """1 where a >= b, else 0."""

    op = "ge"


class LogicalNot(IntegerNode):
    """1 where a is 0, else 0."""

    op = "lnot"


class LogicalAnd(IntegerNode):
    """1 where both are not 0, else 0."""

    op = "land"


class LogicalOr(IntegerNode):
    """1 where one is not 0, else 0."""

    op = "lor"


class Select(IntegerNode):
    """a where the condition is not 0, else b."""

    op = "select"

    @classmethod
    def eval(cls, *args: Any) -> Any:
        """The branch that a number or a truth as the condition takes; None where the node stays."""
        c, a, b = args
        if c.is_Integer:
            return a if c != 0 else b
        return a if c == sympy.true else b if c == sympy.false else None


NODES = {kind.op: kind for kind in IntegerNode.__subclasses__()}


def table_of(entries: Entries) -> sympy.Basic:
    """A table as a look-up's operand."""
    if entries.given:
        return sympy.Symbol(entries.name, integer=True)
    return sympy.Tuple(*entries.values)


SHAPES = (IntAdd, IntSub, IntMul, IntNeg)  # whose presence says that a form is meant


def to_sympy(e: Sum, symbols: Mapping[str, sympy.Symbol] | None = None) -> sympy.Expr:
    """An expression over SymPy symbols (those of symbols by name, else new ones with integer=True)
    and the nodes above."""
    return _Writer(symbols or {}).expr(e)


class _Writer:
    """One expression on its way out; what it has more than once is written once."""

    def __init__(self, symbols: Mapping[str, sympy.Symbol]):
        self.symbols = symbols
        self.known: dict[Atom, Any] = {}

    def expr(self, e: Sum) -> Any:
        return sympy.Add(
            *(
                sympy.Mul(sympy.Integer(c), *(self.atom(a) for a in mono))
                for mono, c in e.terms.items()
            )
        )

    def atom(self, atom: Atom) -> Any:
        found = self.known.get(atom)
        if found is None:
            found = self.known[atom] = self._atom(atom)
        return found

    def _atom(self, atom: Atom) -> Any:
        kind, args = atom.kind, atom.args
        if kind == "sym":
            known = self.symbols.get(args[0])
            made = sympy.Symbol if is_name(args[0]) else InternalSymbol
            return made(args[0], integer=True) if known is None else known
        if kind == "digit":
            base, lo, hi = args
            value = self.expr(base)
            if hi is not None:
                value = FloorMod(value, self.expr(hi))
            return value if lo.constant == 1 else FloorDiv(value, self.expr(lo))
        if kind == "opaque":
            return self.expr(args[0])
        if kind == "select":
            return Select(self.condition(args[0]), self.expr(args[1]), self.expr(args[2]))
        if kind == "bool":
            return self.condition(args[0])
        if kind in ("loop", "switch"):
            raise TraceError(f"a {kind} is no SymPy expression; leave rewrite= out")
        if kind == "lookup":
            return TableLookup(table_of(args[0]), self.expr(args[1]))
        return NODES[kind](*map(self.expr, args))

    def condition(self, condition: Condition) -> Any:
        op, args = condition.op, condition.args
        if op in LOGIC:
            return NODES[LOGIC[op]](*map(self.condition, args))
        values = map(self.expr, args)
        return LogicalNot(Equal(*values)) if op == "ne" else NODES[op](*values)

"""Symbols of a function whose arithmetic wraps: every operation is taken modulo 2**32 or 2**64 at once.

The normal form computes with integers, where (x + y) - y is x and x*3 // 3 is x: of wrapped values the
second is wrong. So nothing is brought into normal form here. Each operation gives a *word*: a new symbol
that lies in 0..2**bits - 1, and a row that says by which operation of which words it came. Equal rows are
one word. What is left of simplification holds modulo 2**bits: numbers are folded, x*8 is a shift, x % 8 a
mask, x + 0 is x. Conditions, branches, assumptions and headers go on as ever: to them a word is a symbol
with a range. `lower/wrapped.py` makes the program of the rows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..algebra.block import Block
from ..arith.analyzer import Analyzer
from ..arith.context import ContextCond, ContextExpr, plain
from ..arith.expr import Cond, Expr
from ..arith.terms import Atom
from ..errors import TraceError, short_repr
from ..intervals import Interval
from ..numeric import as_integer
from ..operations import OPS, interval
from .paths import here, join, running

Operand = int | str  # a number, or the name of a parameter or of a word
Row = tuple[Any, ...]  # an operation and its operands; the first one of a select is a condition
_RING = ("add", "sub", "mul", "shl", "not")
_NAMES = {"floordiv": "div", "lshift": "shl", "rshift": "shr", "minimum": "min", "maximum": "max"}
_LOGIC = ("and", "or")
_MOST_POWER = 64
_TRUE, _FALSE = (Cond(op, Expr.of(0), Expr.of(0)) for op in ("le", "lt"))
NO_LAYOUTS = (
    "the indices of layouts never wrap: leave out wrapping, or return integers that no layout gives"
)


class Words:
    """What does the operations of symbols modulo most + 1. rows: of each word, in the order in which they
    were made; spans: of parameters and words; guarded: quotients whose divisor may be 0 where their branch
    is not taken; shown: whether text was made of a symbol; outputs: the results by name."""

    def __init__(self, most: int):
        self.most, self.bits, self.shown = most, most.bit_length(), False
        self.rows: dict[str, Row] = {}
        self.spans: dict[str, Interval] = {}
        self.guarded: set[str] = set()
        self.outputs: list[tuple[str, Expr]] = []
        self._names: dict[Row, str] = {}
        self._numbers: set[Operand] = set()  # words that are Python's numbers in a branch

    def show(self) -> None:
        """Text is made of a symbol."""
        self.shown = True

    def argument(self, name: str, number: int | None, known: Analyzer) -> Expr:
        """What a function is given for a parameter. number: that sizes= fixes it to."""
        if number is not None:
            return self._given(number & self.most)
        lo, hi = (None, None) if known.facts.branch else known.interval(known.symbol(name))
        top = self.most if hi is None else min(hi, self.most)
        self.spans[name] = max(lo or 0, self.spans.get(name, (0,))[0] or 0), top
        return self._given(name)

    def result(self, value: Any) -> Any:
        """What a function returned, numbers in it taken modulo most + 1."""
        if isinstance(value, dict):
            return {k: self.result(v) for k, v in value.items()}
        if isinstance(value, tuple | list):
            return tuple(map(self.result, value))
        if isinstance(value, Block):
            raise TraceError(NO_LAYOUTS)
        known = None if isinstance(value, bool) else self._operand(value)
        return value if known is None else self._expr(known)

    def joined(self, condition: Cond, a: Any, b: Any, known: Analyzer) -> Any:
        """The results of two branches as one."""
        return join(condition, a, b, known, self.chosen)

    def chosen(self, condition: Cond, a: Any, b: Any) -> Expr:
        """The value of two branches."""
        values = [self._operand(v) for v in (a, b)]
        if None in values:
            raise TraceError("no integers")
        found = self._select(condition, *values)
        if any(
            isinstance(v, int) or known in self._numbers
            for v, known in zip((a, b), values, strict=True)
        ):
            self._numbers.add(found)
        return self._expr(found)

    def bind(self, value: Any) -> Any:
        """A value or a condition as one of this context."""
        if isinstance(value, Cond):
            return ContextCond(plain(value), self)
        return ContextExpr(plain(value), self) if isinstance(value, Expr) else value

    def operand(self, value: Expr) -> Operand:
        """The number or the name that a value is."""
        found = self._operand(value)
        assert found is not None
        return found

    # -- operations --------------------------------------------------------------------------------

    def step(self, operation: Callable[..., Any], *operands: Any) -> Any:
        """The result of an operation, a symbol or a condition of this context."""
        name = operation.__name__.strip("_")
        name = _NAMES.get(name, name)
        if name == "pow":
            return self._power(*operands)
        if name in _LOGIC and all(isinstance(v, Cond | bool) for v in operands):
            return ContextCond(self._both(name, *map(self._condition, operands)), self)
        if name == "select":
            return self.bind(self.chosen(self._condition(operands[0]), *operands[1:]))
        kept = [isinstance(v, Expr) and self._operand(v) in self._numbers for v in operands]
        plain_numbers = [isinstance(v, int) for v in operands]
        if any(kept) and all(map(operator.or_, kept, plain_numbers)):
            raise TraceError("what is a number of Python's in a branch is computed with as one")
        if name in ("shl", "shr") and isinstance(operands[1], int) and operands[1] < 0:
            raise TraceError(f"the shift distance is {operands[1]}; it is at least 0")
        values = [v for v in map(self._operand, operands) if v is not None]
        if len(values) < len(operands):
            return NotImplemented
        if name in OPS and OPS[name].gives == "b":
            return ContextCond(self._compared(name, *values), self)
        if name == "divmod":
            return tuple(self._given(self._divided(op, *values)) for op in ("div", "mod"))
        return self._given(self._computed(name, *values))

    def _computed(self, name: str, a: Any, b: Any = None) -> Operand:
        if name in ("as_number", "pos", "abs"):
            return a
        if name == "neg":
            return self._sum("sub", 0, a)
        if name == "invert":
            return self._inverted(a)
        if name in ("div", "mod"):
            return self._divided(name, a, b)
        if name in ("shl", "shr"):
            return self._shifted(name, a, b)
        if name in ("add", "sub"):
            return self._sum(name, a, b)
        if name not in ("mul", "and", "or", "xor", "min", "max", "isqrt"):
            raise TraceError(f"{name} has no meaning modulo 2**{self.bits}")
        if b is None:
            return self._word(name, a)
        if isinstance(a, int) and not isinstance(b, int):
            known = getattr(self, f"_{name}")(b, a)
        else:
            known = getattr(self, f"_{name}")(a, b)
        return self._word(name, a, b) if known is None else known

    def _sum(self, op: str, a: Operand, b: Operand) -> Operand:
        if a == b and op == "sub":
            return 0
        for one, other in ((a, b), (b, a)):
            if other == 0 and (op == "add" or one is a):
                return one
        if isinstance(b, int) and b > self.most // 2 and not isinstance(a, int):
            return self._word("sub" if op == "add" else "add", a, self.most + 1 - b)
        return self._word(op, a, b)

    def _mul(self, a: Operand, b: Operand) -> Operand | None:
        if not isinstance(b, int) or isinstance(a, int):
            return None
        if b == self.most:
            return self._sum("sub", 0, a)
        if b & (b - 1):
            return None
        return self._shifted("shl", a, b.bit_length() - 1) if b else 0

    def _and(self, a: Operand, b: Operand) -> Operand | None:
        if a == b or b == 0:
            return b
        covers = isinstance(b, int) and not b & (b + 1) and self._span(a)[1] <= b
        return a if covers else None

    def _or(self, a: Operand, b: Operand) -> Operand | None:
        return b if a == b or b == self.most else a if b == 0 else None

    def _xor(self, a: Operand, b: Operand) -> Operand | None:
        if a == b:
            return 0
        return self._inverted(a) if b == self.most else a if b == 0 else None

    def _min(self, a: Operand, b: Operand) -> Operand | None:
        (lo, hi), (least, most) = self._span(a), self._span(b)
        return a if hi <= least or a == b else b if most <= lo else None

    def _max(self, a: Operand, b: Operand) -> Operand | None:
        found = self._min(a, b)
        return None if found is None or a == b else b if found == a else a

    def _inverted(self, a: Operand) -> Operand:
        row = self.rows.get(a) if isinstance(a, str) else None
        return row[1] if row is not None and row[0] == "not" else self._word("not", a)

    def _shifted(self, op: str, a: Operand, b: Operand) -> Operand:
        least, most = self._span(b)
        if isinstance(b, str) and most >= self.bits:
            raise TraceError(
                f"the shift distance {self._said(b)} is not known to lie in 0..{self.bits - 1}; mask it with "
                f"& {self.bits - 1}, or say so with ranges={{...}}"
            )
        gone = least >= self.bits or (op == "shr" and not self._span(a)[1] >> least)
        return 0 if gone else a if b == 0 else self._word(op, a, b)

    def _divided(self, op: str, a: Operand, b: Operand) -> Operand:
        if b == 0:
            raise TraceError("a division by 0")
        if isinstance(b, int) and not b & (b - 1):
            if op == "div":
                return self._shifted("shr", a, b.bit_length() - 1)
            return self._computed("and", a, b - 1)
        guarded = isinstance(b, str) and self._may_be_zero(b)
        if self._span(a)[1] < self._span(b)[0]:
            return 0 if op == "div" else a
        found = self._word(op, a, b)
        if guarded and isinstance(found, str):
            self.guarded.add(found)
        return found

    def _may_be_zero(self, b: str) -> bool:
        """Whether a divisor may be 0 where its branch is not taken. Raises TraceError where it may be 0
        here, and the header cannot say that it is not."""
        trace = here().trace
        known, value = trace.analyzer, Expr.atom(Atom("sym", b))
        if self.spans[b][0]:
            return False
        branch = known.facts.branch
        if known.nonneg(value - 1):
            return bool(branch)
        conditions = {s for c in branch for e in c.exprs() for s in e.symbols()}
        if b in self.rows or not self.rows.keys().isdisjoint(conditions):
            raise TraceError(
                f"the divisor {self._said(b)} may be 0; divide by max(.., 1), or say what it is with "
                "assume=[...]"
            )
        if branch:
            trace.note(Cond("ne", value, Expr.of(0)))
            return True
        known.learn_range(b, Expr.of(1), None)
        self.spans[b] = 1, self.spans[b][1]
        return False

    def _power(self, base: Any, exponent: Any, modulo: Any = None) -> Any:
        count, value = as_integer(plain(exponent)), self._operand(base)
        if modulo is not None or value is None or count is None or not 0 <= count <= _MOST_POWER:
            raise TraceError(f"of powers only those are known whose exponent is 0 to {_MOST_POWER}")
        found: Operand = 1
        for bit in f"{count:b}":
            found = self._computed("mul", found, found)
            found = self._computed("mul", found, value) if bit == "1" else found
        return self._given(found)

    # -- conditions --------------------------------------------------------------------------------

    def _condition(self, value: Any) -> Cond:
        if isinstance(value, Cond):
            return plain(value)
        known = self._operand(value)
        assert known is not None
        return self._compared("ne", known, 0)

    def _compared(self, op: str, a: Operand, b: Operand) -> Cond:
        if op in ("gt", "ge"):
            return self._compared(OPS[op].flipped, b, a)
        (lo, hi), (least, most) = self._span(a), self._span(b)
        apart = hi < least or most < lo or self._differ(a, b) or self._differ(b, a)
        always = {"lt": hi < least, "le": hi <= least or a == b, "eq": a == b, "ne": apart}[op]
        never = {"lt": most <= lo or a == b, "le": most < lo, "eq": apart, "ne": a == b}[op]
        if always or never:
            return _TRUE if always else _FALSE
        return Cond(op, self._expr(a), self._expr(b))

    def _differ(self, a: Operand, b: Operand) -> bool:
        """Whether a number has a bit that a mask leaves out, or lacks one that it sets."""
        op, *args = self.rows.get(a, ("",)) if isinstance(a, str) and isinstance(b, int) else ("",)
        masks = [v for v in args if isinstance(v, int)]
        if op not in _LOGIC or not masks or not isinstance(b, int):
            return False
        return bool(b & ~masks[0] if op == "and" else masks[0] & ~b)

    def _select(self, condition: Cond, a: Any, b: Any) -> Operand:
        known = _truth(condition)
        if a == b or known is not None:
            return b if known is False else a
        return self._word("select", condition, a, b)

    def _both(self, op: str, a: Cond, b: Cond) -> Cond:
        for one, other in ((a, b), (b, a)):
            if (known := _truth(one)) is not None:
                return other if known == (op == "and") else one
        return Cond(op, a, b)

    # -- words -------------------------------------------------------------------------------------

    def _word(self, op: str, *args: Any) -> Operand:
        values = [a for a in args if not isinstance(a, Cond)]
        if op not in ("select", "int") and all(isinstance(a, int) for a in values):
            return int(OPS[op].value(*values)) & self.most
        exact = interval(op, [(0, 1) if isinstance(a, Cond) else self._span(a) for a in args])
        row = op, *(a.identity if isinstance(a, Cond) else a for a in args)
        if OPS[op].commutes:
            row = op, *sorted(row[1:], key=lambda a: (isinstance(a, int), a))
        name = self._names.setdefault(row, f"#{len(self._names)}")
        self.rows.setdefault(name, (op, *args))
        lo, hi = exact
        if lo is None or lo < 0 or hi is None or hi > self.most:
            lo, hi = 0, self.most
        self.spans[name] = lo, hi
        if (now := running()) is not None:
            now.analyzer.learn_range(name, Expr.of(lo), Expr.of(hi))
        return name

    def wraps(self, row: Row) -> bool:
        """Whether the operation of a row may leave 0..most."""
        if row[0] not in _RING:
            return False
        lo, hi = interval(row[0], [self._span(a) for a in row[1:]])
        return lo is None or lo < 0 or hi is None or hi > self.most

    def _span(self, a: Operand) -> tuple[int, int]:
        lo, hi = (a, a) if isinstance(a, int) else self.spans[a]
        assert lo is not None and hi is not None
        return lo, hi

    span = _span

    def _operand(self, value: Any) -> Operand | None:
        """None for what is no integer."""
        if isinstance(value, Cond):
            known = _truth(plain(value))
            return self._word("int", plain(value)) if known is None else int(known)
        if isinstance(value, Expr):
            constant, single = plain(value).constant, plain(value).single
            if isinstance(constant, int):
                return constant & self.most
            if single is not None and single.kind == "sym" and single.args[0] in self.spans:
                return single.args[0]
            raise TraceError(
                f"{short_repr(plain(value))} comes from a layout, or from a symbol around the function, which "
                "never wrap: leave out wrapping, or make the symbol a parameter"
            )
        number = as_integer(value)
        return None if number is None else number & self.most

    def _expr(self, a: Operand) -> Expr:
        return Expr.of(a) if isinstance(a, int) else Expr.atom(Atom("sym", a))

    def _given(self, a: Operand) -> Expr:
        return ContextExpr(self._expr(a), self)

    def _said(self, name: str) -> str:
        """A parameter's name, or the operation that gives a word."""
        if name not in self.rows:
            return name
        op, *args = self.rows[name]
        shown = ["(..)" if isinstance(a, Cond) or a in self.rows else f"{a}" for a in args]
        sign = OPS[op].sign
        return f" {sign} ".join(shown) if sign else f"{op}({', '.join(shown)})"


def _truth(condition: Cond) -> bool | None:
    """Of a condition that is known."""
    return {_TRUE.identity: True, _FALSE.identity: False}.get(condition.identity)

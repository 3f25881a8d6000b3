"""Symbolic integers that keep themselves normal: arithmetic on sums (terms.py).

A chain of reshapes and permutations is a sum of coefficient * digit in this form, so that applying
a layout hardly leaves anything to simplify. What is provable depends on what is known (facts.py)
and put in force (`using` in knowledge.py).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from math import gcd
from typing import Any

from ..entries import Entries
from ..errors import LONGEST, TraceError, shown
from ..kinds import as_integer
from .digits import merge
from .flags import Flag
from .knowledge import IN_FORCE, PATH, READERS, knowledge
from .symbolic import Symbolic
from .terms import Atom, Monomial, degree, divide
from .terms import distribute as multiplied_out
from .text import text

MOST_TERMS = 512  # of a sum
MOST_DEGREE = 256  # factors of a product
MOST_BITS = 4096  # of a number


class Expr(Symbolic):
    """A symbolic integer: supports + - * // % << >> & | ^ - ~, comparisons, divmod, isqrt.

    Made by `symbols`, by a trace, and by layouts applied to them. `sympy.sympify(e)` or
    `e.to_sympy()` gives it as a SymPy expression."""

    __slots__ = ()
    __lego_symbolic__ = True
    __array_ufunc__ = None  # NumPy arrays leave the operation to us

    # -- making ----------------------------------------------------------------------------

    @staticmethod
    def of(value: Any) -> Expr:
        """value as an Expr: an int, a NumPy integer, an Expr, a condition, a SymPy expression."""
        if isinstance(value, Expr):
            return value.plain
        if isinstance(value, int):
            return _constant(int(value))
        if isinstance(value, Cond):
            return value.plain.as_expr()
        for is_one, read in READERS:
            if is_one(value):
                return read(value)
        if not hasattr(value, "__lego_symbolic__"):
            number = as_integer(value)
            if number is not None:
                return _constant(number)
        if isinstance(value, float):
            raise TraceError(
                f"{value!r} is not an integer; layouts are integer: write // for a division"
            )
        raise TraceError(f"{shown(value)} is neither an integer nor a symbol")

    @property
    def plain(self) -> Expr:
        """The same value without what a subclass keeps beside it."""
        return self

    @staticmethod
    def atom(atom: Atom) -> Expr:
        """An atom alone as an Expr."""
        return Expr({(atom,): 1})

    def __repr__(self) -> str:
        return text(self)

    __hash__ = Symbolic.__hash__

    def __eq__(self, other: Any) -> Any:
        """True for the same form; else a condition (outside a trace it counts as false)."""
        other = _operand(other)
        if other is NotImplemented:
            return other
        if self.terms == other.terms:
            return True
        if self.constant is not None and other.constant is not None:
            return False
        return Cond.compare("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        return (
            equal if equal is NotImplemented else not equal if isinstance(equal, bool) else ~equal
        )

    # -- arithmetic ------------------------------------------------------------------------

    def __add__(self, other: Any) -> Expr:
        other = _operand(other)
        if other is NotImplemented:
            return NotImplemented
        if not other.terms:
            return self
        if not self.terms:
            return other
        terms = dict(self.terms)
        for mono, coefficient in other.terms.items():
            total = terms.get(mono, 0) + coefficient
            if total:
                terms[mono] = total
            else:
                del terms[mono]
        if len(terms) > MOST_TERMS:
            raise TraceError(
                f"a sum of more than {MOST_TERMS} terms: let a loop of the target language add them"
            )
        made = Expr(terms)
        merged = _merged(made)
        if merged is not made:
            known = IN_FORCE.get()
            if known is not None and known.log is not None:
                known.log.merged(made, merged)
        return merged

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return Expr({m: -c for m, c in self.terms.items()})

    def __pos__(self) -> Expr:
        return self

    def __sub__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else self + -other

    def __rsub__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else other + -self

    def __mul__(self, other: Any) -> Expr:
        other = _operand(other)
        if other is NotImplemented:
            return NotImplemented
        _check_degree(degree(self) + degree(other))
        if len(self.terms) > 1 and len(other.terms) > 1:
            return _product(self, other)
        return distribute(self, other)

    __rmul__ = __mul__

    def __pow__(self, exponent: Any, modulo: Any = None) -> Expr:
        if modulo is not None:
            return self**exponent % modulo
        if isinstance(exponent, Expr):
            if exponent.constant is None:
                raise TraceError(
                    f"({self!r}) ** ({exponent!r}): the exponent must be a number; fix it with "
                    f"sizes={{...}}"
                )
            exponent = exponent.constant
        elif hasattr(exponent, "__index__"):
            exponent = operator.index(exponent)
        if not isinstance(exponent, int) or exponent < 0:
            raise TraceError(f"{self!r} ** {exponent!r}: the exponent must be a non-negative int")
        if exponent > 2:
            return _power(self, exponent)
        result = Expr.of(1)
        for _ in range(exponent):
            result = result * self
        return result

    def __rpow__(self, base: Any) -> Expr:
        power = Expr.of(base)
        if self.constant is not None:
            return power**self.constant
        number = power.constant
        if number is not None and number > 1 and number & (number - 1) == 0:
            return shift_left(Expr.of(1), (number.bit_length() - 1) * self)
        raise TraceError(
            f"({power!r}) ** ({self!r}): a power with a symbol as its exponent is known of 2 alone, "
            f"as 1 << s; fix the exponent with sizes={{...}}"
        )

    def __divmod__(self, other: Any) -> tuple[Expr, Expr]:
        return knowledge().divmod(self, Expr.of(other))

    def __rdivmod__(self, other: Any) -> tuple[Expr, Expr]:
        return knowledge().divmod(Expr.of(other), self)

    def __floordiv__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else knowledge().divmod(self, other)[0]

    def __rfloordiv__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else knowledge().divmod(other, self)[0]

    def __mod__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else knowledge().divmod(self, other)[1]

    def __rmod__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else knowledge().divmod(other, self)[1]

    def __lshift__(self, other: Any) -> Expr:
        return shift_left(self, Expr.of(other))

    def __rlshift__(self, other: Any) -> Expr:
        return shift_left(Expr.of(other), self)

    def __rshift__(self, other: Any) -> Expr:
        return shift_right(self, Expr.of(other))

    def __rrshift__(self, other: Any) -> Expr:
        return shift_right(Expr.of(other), self)

    def __and__(self, other: Any) -> Expr:
        return bit_operation("and", self, Expr.of(other))

    __rand__ = __and__

    def __or__(self, other: Any) -> Expr:
        return bit_operation("or", self, Expr.of(other))

    __ror__ = __or__

    def __xor__(self, other: Any) -> Expr:
        return bit_operation("xor", self, Expr.of(other))

    __rxor__ = __xor__

    def __invert__(self) -> Expr:
        return -self - 1

    def __abs__(self) -> Expr:
        return maximum(self, -self)

    def isqrt(self) -> Expr:
        """The integer square root."""
        constant = self.constant
        if constant is not None and constant < 0:
            raise TraceError(f"isqrt({shown(constant)}): a negative number has no square root")
        if constant is not None:
            return Expr.of(math.isqrt(constant))
        return Expr.atom(Atom("isqrt", self))

    # -- comparisons -----------------------------------------------------------------------

    def __lt__(self, other: Any) -> Cond:
        return Cond.compare("lt", self, Expr.of(other))

    def __le__(self, other: Any) -> Cond:
        return Cond.compare("le", self, Expr.of(other))

    def __gt__(self, other: Any) -> Cond:
        return Cond.compare("lt", Expr.of(other), self)

    def __ge__(self, other: Any) -> Cond:
        return Cond.compare("le", Expr.of(other), self)

    def __bool__(self) -> bool:
        constant = self.constant
        if constant is not None:
            return constant != 0
        return not bool(Cond.compare("eq", self, Expr.of(0)))

    def to_sympy(self) -> Any:
        """The value as a SymPy expression over the nodes of lego_emit.arith.sympy_nodes."""
        from .sympy_nodes import to_sympy

        return to_sympy(self)

    _sympy_ = to_sympy


@lru_cache(4096)
def _constant(value: int) -> Expr:
    if value.bit_length() > 16 * LONGEST:
        raise TraceError(f"{shown(value)} is too large: no index type holds it")
    return Expr({(): value} if value else {})


def _operand(value: Any) -> Any:
    """An Expr, or NotImplemented for what is not ours to handle."""
    if isinstance(value, Expr):
        return value.plain
    if isinstance(value, (int, Cond)) or any(is_one(value) for is_one, _ in READERS):
        return Expr.of(value)
    if hasattr(value, "__index__") and not hasattr(value, "shape"):
        return Expr.of(value)
    if getattr(value, "shape", None) == ():
        return Expr.of(value)
    if isinstance(value, float):
        return Expr.of(value)
    if getattr(value, "shape", None):
        raise TraceError(
            f"an array of shape {value.shape} and a symbol do not go together; take the array's "
            f"elements one by one"
        )
    return NotImplemented


def _power(base: Expr, exponent: int) -> Expr:
    """base**exponent for an exponent above 2: a sum becomes one factor, as it does in a product."""
    constant = base.constant
    if constant is not None:
        bits = (max(abs(constant), 1) - 1).bit_length() * exponent
        if bits > MOST_BITS:
            raise TraceError(
                f"to the power of {exponent} a number of about {bits} bits; more than {MOST_BITS} "
                f"are not computed, and no index type holds them"
            )
        return Expr.of(constant**exponent)
    _check_degree(degree(base) * exponent)
    factor = group(base) if len(base.terms) > 1 else base
    return reduce(distribute, [factor] * exponent)


def _check_degree(degree: int) -> None:
    if degree > MOST_DEGREE:
        raise TraceError(
            f"a product of {degree} factors; more than {MOST_DEGREE} are not followed, and no index "
            f"type holds them: reduce it on the way with %"
        )


def distribute(a: Expr, b: Expr) -> Expr:
    """The product, multiplied out."""
    known = IN_FORCE.get()
    return Expr(multiplied_out(a.terms, b.terms, known.exact if known is not None else {}))


def _product(a: Expr, b: Expr) -> Expr:
    """A product of two sums. Expanding it would lose the factored form, so that each sum becomes
    one factor; sums that differ by a constant share theirs."""
    (a_rest, a_sign, a_c), (b_rest, b_sign, b_c) = _split_constant(a), _split_constant(b)
    if a_rest.same(b_rest):
        factor = a_rest if len(a_rest.terms) == 1 else group(a_rest)
        return distribute(a_sign * factor + a_c, b_sign * factor + b_c)
    return distribute(_factor(a), _factor(b))


def _factor(a: Expr) -> Expr:
    rest, sign, constant = _split_constant(a)
    if len(rest.terms) == 1:
        return a
    return sign * group(rest) + constant if constant == 0 else group(a)


def _split_constant(a: Expr) -> tuple[Expr, int, int]:
    """(rest, sign, constant): a = sign*rest + constant, the rest's first coefficient positive."""
    constant = a.terms.get((), 0)
    rest = Expr({m: c for m, c in a.terms.items() if m})
    first = min(rest.terms, key=lambda m: [x.key for x in m])
    sign = 1 if rest.terms[first] > 0 else -1
    return (rest if sign > 0 else -rest), sign, constant


def _merged(e: Expr) -> Expr:
    """e with neighbouring digits of one base put together (Table II)."""
    known = IN_FORCE.get()
    found = merge(e.terms, known.exact if known is not None else {})
    if found is None:
        return e
    whole = found.base if found.lo is None else digit(found.base, Expr.of(found.lo), found.hi)
    return Expr(found.terms) + distribute(Expr(found.factor), whole)


# -- making atoms ------------------------------------------------------------------------------


def digit(base: Expr, lo: Expr, hi: Expr | None) -> Expr:
    """(base mod hi) // lo; hi None: base // lo."""
    known = knowledge()
    if hi is not None:
        base = known.divmod(base, hi)[1]
    return known.divmod(base, lo)[0]


def group(e: Expr, lo: Expr | None = None, hi: Expr | None = None, here: bool = False) -> Expr:
    """e as one factor, with what is known of its range. A single atom or a number stays itself
    unless something new is known; hi: only with lo. here: it is known in a branch, and elsewhere e may
    be anything."""
    if e.constant is not None or (e.single is not None and lo is None):
        return e
    if e.single is not None and e.single.kind == "group":
        e = e.single.args[0]
    return Expr.atom(Atom("group", e, lo, hi, here))


def minimum(a: Any, b: Any) -> Expr:
    """The smaller of two values."""
    a, b = Expr.of(a), Expr.of(b)
    known = knowledge()
    if known.nonneg(b - a):
        return a
    if known.nonneg(a - b):
        return b
    a, b = sorted((a, b), key=lambda e: e.key)
    return Expr.atom(Atom("min", a, b))


def maximum(a: Any, b: Any) -> Expr:
    """The larger of two values."""
    a, b = Expr.of(a), Expr.of(b)
    known = knowledge()
    if known.nonneg(b - a):
        return b
    if known.nonneg(a - b):
        return a
    a, b = sorted((a, b), key=lambda e: e.key)
    return Expr.atom(Atom("max", a, b))


def select(condition: Any, a: Any, b: Any) -> Expr:
    """a where the condition holds, else b."""
    if isinstance(condition, (bool, int)):
        return Expr.of(a if condition else b)
    a, b = Expr.of(a), Expr.of(b)
    known = knowledge().decide(condition)
    if known is not None:
        return a if known else b
    if a.same(b):
        return a
    if condition.op in ("lt", "le"):
        x, y = condition.args
        if a.same(x) and b.same(y):
            return minimum(a, b)
        if a.same(y) and b.same(x):
            return maximum(a, b)
    common = {m: c for m, c in a.terms.items() if b.terms.get(m) == c}
    if common:
        shared = Expr(common)
        return shared + select(condition, a - shared, b - shared)
    if condition.op in ("ne", "not"):
        return select(~condition, b, a)
    if a.constant == 1 and b.constant == 0:
        return condition.as_expr()
    return Expr.atom(Atom("select", condition, a, b))


def lookup(entries: Entries, place: Expr) -> Expr:
    """The entry at a place, which is known to have one."""
    if entries.least == entries.most:  # also of a table that is known at run time only
        return Expr.of(entries.least)
    constant = place.constant
    if constant is not None:
        known = 0 <= constant < len(entries.values)
        return Expr.of(entries.at(constant)) if known else Expr.atom(Atom("lookup", entries, place))
    step = gcd(*(c for mono, c in place.terms.items() if mono))
    first = place.terms.get((), 0) % step
    if step > 1 and first < len(entries.values):  # of a table of run time no entry can be left out
        others = Expr({m: c // step for m, c in (place - first).terms.items()})
        return lookup(entries.part(first, step=step), others)
    return Expr.atom(Atom("lookup", entries, place))


def shift_left(a: Expr, by: Expr) -> Expr:
    """a * 2**by."""
    if by.constant is not None:
        return a * (1 << _distance(a, "<<", by.constant))
    return Expr.atom(Atom("shl", a, by))


def shift_right(a: Expr, by: Expr) -> Expr:
    """a // 2**by, floor."""
    if by.constant is not None:
        return a // (1 << _distance(a, ">>", by.constant))
    return Expr.atom(Atom("shr", a, by))


def _distance(a: Expr, sign: str, by: int) -> int:
    """A shift distance that is a number."""
    if 0 <= by <= LONGEST:
        return by
    if by < 0:
        raise TraceError(f"({a!r}) {sign} {shown(by)}: a shift distance is not negative")
    raise TraceError(f"({a!r}) {sign} {shown(by)}: no index type has so many bits")


BIT_OPERATIONS = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def bit_operation(kind: str, a: Expr, b: Expr) -> Expr:
    """a & b, a | b or a ^ b on two's complement."""
    x, y = a.constant, b.constant
    if x is not None and y is not None:
        return Expr.of(BIT_OPERATIONS[kind](x, y))
    if x is not None:
        a, b, x, y = b, a, y, x
    if y is not None:
        if kind == "and" and y == 0:
            return b
        if kind in ("or", "xor") and y == 0:
            return a
        if kind == "and" and y == -1:
            return a
        if kind == "and" and y > 0 and (y + (low := y & -y)) & y == 0:
            # one run of ones: a digit of a
            high = y + low
            return low * ((a % high) // low)
    if a.same(b):
        return Expr.of(0) if kind == "xor" else a
    a, b = sorted((a, b), key=lambda e: e.key)
    return Expr.atom(Atom(kind, a, b))


# -- conditions --------------------------------------------------------------------------------


class Cond(Flag):
    """A condition on symbolic integers: op lt, le, eq, ne over two Exprs; and, or, not over
    conditions. `if` on an undecided one follows both branches while a trace is running."""

    __slots__ = ()
    __lego_symbolic__ = True
    __array_ufunc__ = None

    @property
    def plain(self) -> Cond:
        """The same condition without what a subclass keeps beside it."""
        return self

    @staticmethod
    def compare(op: str, a: Expr, b: Expr) -> Cond:
        """a op b, decided where the facts decide it: then a true or false constant."""
        return Cond(op, a, b)

    def __eq__(self, other: Any) -> Any:
        """True for the same condition; else a condition, on the two as 0 and 1."""
        if isinstance(other, Cond) and self.identity == other.identity:
            return True
        return self.as_expr() == other

    def __ne__(self, other: Any) -> Any:
        return self.as_expr() != other

    __hash__ = Flag.__hash__

    def __invert__(self) -> Cond:
        if self.op == "not":
            return self.args[0]
        if self.op == "lt":
            return Cond("le", self.args[1], self.args[0])
        if self.op == "le":
            return Cond("lt", self.args[1], self.args[0])
        if self.op == "eq":
            return Cond("ne", *self.args)
        if self.op == "ne":
            return Cond("eq", *self.args)
        return Cond("not", self)

    def __and__(self, other: Any) -> Any:
        return Cond("and", self, other) if isinstance(other, Cond) else self.as_expr() & other

    def __or__(self, other: Any) -> Any:
        return Cond("or", self, other) if isinstance(other, Cond) else self.as_expr() | other

    def __bool__(self) -> bool:
        path = PATH.get()
        if path is not None:
            return path.ask(self)
        known = knowledge().decide(self)
        if known is not None:
            return known
        if self.op in ("eq", "ne"):  # of two different expressions
            return self.op == "ne"
        raise TraceError(
            f"{self!r} is undecided: a symbol has no value here. Inside a function given to "
            f"generate() or GenP both branches are followed; elsewhere use numbers"
        )

    def as_expr(self) -> Expr:
        """1 where the condition holds, else 0."""
        known = knowledge().decide(self)
        return Expr.of(int(known)) if known is not None else Expr.atom(Atom("bool", self))

    def rebuild(self, walk: Callable[[Any], Any]) -> Any:
        """The same condition with operands rebuilt by walk."""
        return Cond(
            self.op, *(a.rebuild(walk) if isinstance(a, Cond) else walk(a) for a in self.args)
        )

    def __repr__(self) -> str:
        return text(self)


def any_of(conditions: Sequence[Cond]) -> Cond:
    """One condition that holds where one of these does."""
    return reduce(lambda a, b: Cond("or", a, b), conditions)


def monomial_gcd(a: Expr, mono: Monomial, coefficient: int) -> Expr:
    """The greatest common divisor of a one-term Expr and a term."""
    ((a_mono, a_c),) = a.terms.items()
    rest, common = list(mono), []
    for atom in a_mono:
        if atom in rest:
            rest.remove(atom)
            common.append(atom)
    return Expr({tuple(common): gcd(a_c, coefficient)})


def divide_terms(e: Expr, by: Expr) -> tuple[Expr, Expr]:
    """(quotient, rest): the terms that a one-term Expr divides, divided, and the others."""
    known = IN_FORCE.get()
    quotient, rest = divide(e.terms, by.terms, known.exact if known is not None else {})
    return Expr(quotient), Expr(rest)


def symbols(names: str) -> Any:
    """Symbols for sizes, as `M, N = symbols("M N")`; one name gives one symbol."""
    if not isinstance(names, str):
        raise TraceError(f'symbols() takes names as text such as "M N", not {shown(names)}')
    split = names.replace(",", " ").split()
    for name in split:
        if not name.isidentifier():
            raise TraceError(f"{name!r} is not a name for a symbol")
    made = tuple(Expr.atom(Atom("sym", n)) for n in split)
    if not made:
        raise TraceError("symbols() needs at least one name")
    return made[0] if len(made) == 1 else made

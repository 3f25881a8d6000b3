"""Symbolic integers in normal form, and conditions on them.

An integer expression is a polynomial over atoms (terms.py): a sum of coefficient * atom * .. * atom,
where an atom is a symbol or an operation that polynomials do not have. Equal polynomials are equal
dicts, so that x + y - x is y without a rule. Most of what layouts compute is one: row 3*i + j of a
layout of rows of 8 is 24*i + 8*j, and a quotient of that by 8 is found term by term. The atom that
matters is the digit, (x mod hi) // lo: the mixed-radix digit of x between two borders, lo and hi, each
a product. i//4%3 is digit(i, 4, 12), and a chain of reshapes and permutations stays a sum of
coefficient * digit.

For example, with i = symbols("i"): 4*(i//4) + i%4 is 4*digit(i, 4, None) + digit(i, 1, 4), two
neighboring digits of one base, and so it is i.

The operators here know nothing of the symbols: i % 8 stays what it is, though i may be below 8, and
M // BM is a floor division by what may be negative. What is known decides in an analyzer
(analyzer.py), whose simplifier has the same operations under its facts; an expression from elsewhere
is brought under them by `analyzer.rebuilt`. In a function that is traced, symbols are `ContextExpr`
(context.py): the same, with whom to ask. SymPy's classes are not used for this, because its Mod and
floor evaluate by rules of their own, some of which are wrong for negative numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import lru_cache, reduce
from math import gcd
from typing import Any, Protocol

from ..errors import LONGEST, TraceError, short_repr
from ..numeric import as_integer
from ..table_lookup import Entries
from .digits import merge
from .flags import Flag
from .symbolic import Symbolic
from .terms import Atom, Monomial, degree
from .terms import distribute as multiplied_out
from .text import text

# (is a value of another system's, that value as an Expr)
_readers: list[tuple[Callable[[Any], bool], Callable[[Any], Any]]] = []


def read_with(is_one: Callable[[Any], bool], read: Callable[[Any], Any]) -> None:
    """Let read(value) be the Expr of a value for which is_one(value) is true."""
    _readers.append((is_one, read))


class Arithmetic(Protocol):
    """The operations that polynomials do not have, under what is known (simplifier.py)."""

    def operate(self, operation: Callable[..., Any], *operands: Any) -> Any:
        """The result of an operation, which is a function such as operator.floordiv."""
        ...

    def decide(self, condition: Any) -> bool | None:
        """A condition's value where it is proven."""
        ...


_nothing_known: list[Callable[[], Arithmetic]] = []


def where_nothing_is_known(make: Callable[[], Arithmetic]) -> None:
    """Let make() have the operations of expressions of which nothing is known."""
    _nothing_known[:] = [make]


def computed(operation: Callable[..., Any], *operands: Any) -> Any:
    """The result of an operation where nothing is known."""
    for value in operands:
        if isinstance(value, Expr | Cond) and value.plain is not value:
            return value.step(operation, *operands)  # it knows whom to ask
    return _nothing_known[0]().operate(operation, *operands)


def _step(self: Any, operation: Callable[..., Any], *operands: Any) -> Any:
    """The result of an operation with this value as an operand, under what it knows: nothing."""
    return _nothing_known[0]().operate(operation, *operands)


class Running(Protocol):
    """What answers an `if` on a symbol: the trace that is running. analyzer: whom it asks."""

    analyzer: Any

    def ask(self, condition: Any) -> bool | None:
        """The branch to take; None where that is not known and both cannot be followed."""
        ...


RUNNING: ContextVar[Any] = ContextVar("lego_emit_running", default=None)  # a Running, or None

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
        if type(value) is Expr:
            return value
        if type(value) is int:
            return _constant(value)
        if isinstance(value, Expr):
            return value.plain
        if isinstance(value, int):
            return _constant(int(value))
        if isinstance(value, Cond):
            return value.plain.as_expr()
        for is_one, read in _readers:
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
        raise TraceError(f"{short_repr(value)} is neither an integer nor a symbol")

    @property
    def plain(self) -> Expr:
        """The same value without what a subclass keeps beside it."""
        return self

    step = _step

    @staticmethod
    def atom(atom: Atom) -> Expr:
        """An atom alone as an Expr."""
        return Expr({(atom,): 1})

    def __repr__(self) -> str:
        return text(self)

    __hash__ = Symbolic.__hash__

    def __eq__(self, other: Any) -> Any:
        """True for the same form; else a condition (outside a trace it counts as false)."""
        other = operand(other)
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
        other = operand(other)
        if other is NotImplemented:
            return NotImplemented
        if not other.terms:
            return self
        if not self.terms:
            return other
        return _merged(added(self, other))

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return Expr({m: -c for m, c in self.terms.items()})

    def __pos__(self) -> Expr:
        return self

    def __sub__(self, other: Any) -> Expr:
        other = operand(other)
        if other is NotImplemented or not other.terms:
            return other if other is NotImplemented else self
        return _merged(added(self, -other)) if self.terms else -other

    def __rsub__(self, other: Any) -> Expr:
        other = operand(other)
        return other if other is NotImplemented else other + -self

    def __mul__(self, other: Any) -> Expr:
        other = operand(other)
        if other is NotImplemented:
            return NotImplemented
        check_degree(degree(self) + degree(other))
        if len(self.terms) > 1 and len(other.terms) > 1:
            return product(self, other, _distribute)
        return _distribute(self, other)

    __rmul__ = __mul__

    def __pow__(self, exponent: Any, modulo: Any = None) -> Expr:
        return computed(pow, self, exponent, *(() if modulo is None else (modulo,)))

    def __rpow__(self, base: Any) -> Expr:
        return computed(pow, base, self)

    def __divmod__(self, other: Any) -> tuple[Expr, Expr]:
        return computed(divmod, self, other)

    def __rdivmod__(self, other: Any) -> tuple[Expr, Expr]:
        return computed(divmod, other, self)

    def __floordiv__(self, other: Any) -> Expr:
        return computed(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Expr:
        return computed(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Expr:
        return computed(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Expr:
        return computed(operator.mod, other, self)

    def __lshift__(self, other: Any) -> Expr:
        return computed(operator.lshift, self, other)

    def __rlshift__(self, other: Any) -> Expr:
        return computed(operator.lshift, other, self)

    def __rshift__(self, other: Any) -> Expr:
        return computed(operator.rshift, self, other)

    def __rrshift__(self, other: Any) -> Expr:
        return computed(operator.rshift, other, self)

    def __and__(self, other: Any) -> Expr:
        return computed(operator.and_, self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Expr:
        return computed(operator.or_, self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Expr:
        return computed(operator.xor, self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Expr:
        return -self - 1

    def __abs__(self) -> Expr:
        return computed(abs, self)

    def isqrt(self) -> Expr:
        """The integer square root."""
        return computed(isqrt, self)

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
        raise TraceError(f"{short_repr(value)} is too large: no index type holds it")
    return Expr({(): value} if value else {})


def operand(value: Any) -> Any:
    """An Expr, or NotImplemented for what is not ours to handle."""
    if type(value) is Expr:
        return value
    if type(value) is int:
        return _constant(value)
    if isinstance(value, Expr):
        return value.plain
    if isinstance(value, (int, Cond)) or any(is_one(value) for is_one, _ in _readers):
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


def check_degree(degree: int) -> None:
    """Raise TraceError for a product of too many factors."""
    if degree > MOST_DEGREE:
        raise TraceError(
            f"a product of {degree} factors; more than {MOST_DEGREE} are not followed, and no index "
            f"type holds them: reduce it on the way with %"
        )


def _distribute(a: Expr, b: Expr) -> Expr:
    """The product, multiplied out."""
    return Expr(multiplied_out(a.terms, b.terms, {}))


def product(a: Expr, b: Expr, distribute: Callable[[Expr, Expr], Expr]) -> Expr:
    """A product of two sums by a multiplication of single terms. Expanding it would lose the factored
    form, so that each sum becomes one factor; sums that differ by a constant share theirs."""
    (a_rest, a_sign, a_c), (b_rest, b_sign, b_c) = _split_constant(a), _split_constant(b)
    if a_rest.same(b_rest):
        factor = a_rest if len(a_rest.terms) == 1 else opaque(a_rest)
        return distribute(a_sign * factor + a_c, b_sign * factor + b_c)
    return distribute(_factor(a), _factor(b))


def _factor(a: Expr) -> Expr:
    rest, sign, constant = _split_constant(a)
    if len(rest.terms) == 1:
        return a
    return sign * opaque(rest) + constant if constant == 0 else opaque(a)


def _split_constant(a: Expr) -> tuple[Expr, int, int]:
    """(rest, sign, constant): a = sign*rest + constant, the rest's first coefficient positive."""
    constant = a.terms.get((), 0)
    rest = Expr({m: c for m, c in a.terms.items() if m})
    first = min(rest.terms, key=lambda m: [x.key for x in m])
    sign = 1 if rest.terms[first] > 0 else -1
    return (rest if sign > 0 else -rest), sign, constant


def added(a: Expr, b: Expr) -> Expr:
    """The sum of two polynomials, as it is. Raises TraceError for too many terms."""
    terms = dict(a.terms)
    for mono, coefficient in b.terms.items():
        total = terms.get(mono, 0) + coefficient
        if total:
            terms[mono] = total
        else:
            del terms[mono]
    if len(terms) > MOST_TERMS:
        raise TraceError(
            f"a sum of more than {MOST_TERMS} terms: let a loop of the target language add them"
        )
    return Expr(terms)


def _merged(e: Expr) -> Expr:
    """e with neighboring digits of one base put together (Table II)."""
    found = merge(e.terms, {})
    if found is None:
        return e
    whole = digit_of(found.base, found.lo, found.hi)
    return Expr(found.terms) + _distribute(Expr(found.factor), whole)


# -- making atoms ------------------------------------------------------------------------------


def digit_of(base: Expr, lo: Any, hi: Expr | None) -> Expr:
    """(base mod hi) // lo as it stands; hi None: base // lo; lo None or 1, too: base itself."""
    least = Expr.of(1 if lo is None else lo)
    if hi is None and least.constant == 1:
        return base
    return Expr.atom(Atom("digit", base, least, hi))


def opaque(e: Expr, lo: Expr | None = None, hi: Expr | None = None, here: bool = False) -> Expr:
    """e as one factor, with what is known of its range. A single atom or a number stays itself
    unless something new is known; hi: only with lo. here: it is known in a branch, and elsewhere e may
    be anything."""
    if e.constant is not None or (e.single is not None and lo is None):
        return e
    if e.single is not None and e.single.kind == "opaque":
        e = e.single.args[0]
    return Expr.atom(Atom("opaque", e, lo, hi, here))


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two values."""
    return computed(minimum, a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two values."""
    return computed(maximum, a, b)


def select(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b."""
    return computed(select, condition, a, b)


def isqrt(a: Any) -> Any:
    """The integer square root."""
    return computed(isqrt, a)


def as_number(condition: Cond) -> Expr:
    """1 where the condition holds, else 0."""
    return computed(as_number, condition)


def lookup(entries: Entries, place: Expr, *members: Expr) -> Expr:
    """The entry at a place, which is known to have one. members: of an array, its elements."""
    if entries.array:
        return _element(entries, place, members)
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


def _element(entries: Entries, place: Expr, members: tuple[Expr, ...]) -> Expr:
    constant, numbers = place.constant, [m.constant for m in members]
    if constant is not None and 0 <= constant < len(members):
        return members[constant]
    known = [n for n in numbers if n is not None]
    if len(known) == len(members) == entries.size:
        return lookup(Entries(entries.name, known), place)
    return Expr.atom(Atom("lookup", entries, place, *members))


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

    step = _step

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
        running = RUNNING.get()
        if running is None and self.op in ("eq", "ne"):  # no proof is looked for
            return (self.op == "eq") == self.args[0].same(self.args[1])
        known = running.ask(self) if running is not None else _nothing_known[0]().decide(self)
        if known is not None or self.op in ("eq", "ne"):  # of two different expressions
            return self.op == "ne" if known is None else known
        raise TraceError(
            f"{self!r} is undecided: a symbol has no value here. Inside a function given to "
            f"generate() or GenP both branches are followed; elsewhere use numbers"
        )

    def as_expr(self) -> Expr:
        """1 where the condition holds, else 0."""
        return computed(as_number, self)

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


def symbols(names: str) -> Any:
    """Symbols for sizes, as `M, N = symbols("M N")`; one name gives one symbol.

    >>> from lego_emit import Row, symbols
    >>> M, N = symbols("M N")
    >>> Row(M, N).apply(1, 2)
    N + 2
    """
    if not isinstance(names, str):
        raise TraceError(f'symbols() takes names as text such as "M N", not {short_repr(names)}')
    split = names.replace(",", " ").split()
    for name in split:
        if not name.isidentifier():
            raise TraceError(f"{name!r} is not a name for a symbol")
    made = tuple(Expr.atom(Atom("sym", n)) for n in split)
    if not made:
        raise TraceError("symbols() needs at least one name")
    return made[0] if len(made) == 1 else made

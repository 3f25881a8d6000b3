"""The simplifier: every operation of symbolic integers, under what is known.

Expressions keep themselves normal (expr.py), so that to simplify one is to make it anew, operation by
operation, with the facts of a context at hand: `rebuilt` does that. Under 0 <= i < 8 the expression
digit(i, 1, 8) + min(i, 9) is made anew as i + i, for the one rule asks whether i is below 8 and the other
whether 9 - i is negative. An operation here returns an expression that has the same value wherever the
facts hold and the operation has a value; it is never more than that operation applied to the operands,
so that what is not proven costs nothing but length.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from itertools import product as pairs
from typing import Any

from ..errors import LONGEST, TraceError, short_repr
from ..operations import OPS
from .context import plain
from .divisibility import Divisibility
from .expr import (
    MOST_BITS,
    Cond,
    Expr,
    as_number,
    check_degree,
    isqrt,
    lookup,
    maximum,
    minimum,
    opaque,
    operand,
    product,
    select,
)
from .facts import Facts
from .steps import Simplified
from .terms import Atom, Monomial, Terms, degree

MOST_EXPANDED = 64  # terms of a product of sums that is multiplied out
LOGICAL = operator.and_, operator.or_  # of conditions, too
BIT_OPERATIONS = "and", "or", "xor"


class Simplifier:
    """The operations of symbolic integers under facts."""

    def __init__(self, facts: Facts, divisibility: Divisibility):
        self.facts, self.divisibility = facts, divisibility
        self.prover, self.recorder = divisibility.prover, divisibility.recorder
        self.add, self.times = divisibility.add, divisibility.times
        self.divmod, self.divide = divisibility.divmod, divisibility.divide
        self.digit = divisibility.digit
        self.decide = self.prover.decide

    def operate(self, operation: Callable[..., Any], *operands: Any) -> Any:
        """The result of an operation, which is a function such as operator.floordiv or `minimum`; of
        one that is not in OPERATIONS what it returns for plain operands. NotImplemented where an
        operand of an operator is no integer."""
        operands = tuple([v if type(v) is Expr else plain(v) for v in operands])
        if operation is select:
            return self.select(*operands)
        if operation is as_number:
            return self.as_number(*operands)
        method = OPERATIONS.get(operation)
        if method is None:
            return operation(*operands)
        if operation in LOGICAL and all(isinstance(v, Cond | bool) for v in operands):
            return _joined(operation, *operands)
        if method is Simplifier.power and any(operand(v) is NotImplemented for v in operands):
            raise TraceError(
                f"{operands[0]!r} ** {operands[1]!r}: the exponent must be a non-negative int"
            )
        given = []
        for value in operands:
            own = value if type(value) is Expr else self._operand(value)
            if own is NotImplemented:
                return own
            given.append(own)
        return method(self, *given)

    def _operand(self, value: Any) -> Any:
        if isinstance(value, Cond):
            return self.as_number(value)
        return operand(value)

    # -- sums and products --------------------------------------------------------------------

    def subtract(self, a: Expr, b: Expr) -> Expr:
        """The sum a - b in normal form."""
        return self.add(a, -b)

    def multiply(self, a: Expr, b: Expr) -> Expr:
        """The product; of two sums each becomes one factor. Raises TraceError for too many factors."""
        if not self.facts.exact:
            for number, value in ((a, b), (b, a)):
                if (c := number.constant) is not None:
                    return value if c == 1 else Expr(_scaled(value.terms, c))
        check_degree(degree(a) + degree(b))
        if len(a.terms) > 1 and len(b.terms) > 1:
            return product(a, b, self.times)
        return self.times(a, b)

    def power(self, base: Expr, exponent: Expr, modulo: Expr | None = None) -> Expr:
        """base**exponent, of which one is a number; modulo another one where that is given."""
        if modulo is not None:
            return self.divmod(self.power(base, exponent), modulo)[1]
        if exponent.constant is None:
            return self._power_of_2(base, exponent)
        count = exponent.constant
        if count < 0:
            raise TraceError(f"{base!r} ** {count!r}: the exponent must be a non-negative int")
        if count > 2:
            return self._power(base, count)
        return reduce(self.multiply, [base] * count, Expr.of(1))

    def _power(self, base: Expr, exponent: int) -> Expr:
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
        check_degree(degree(base) * exponent)
        factor = opaque(base) if len(base.terms) > 1 else base
        return reduce(self.times, [factor] * exponent)

    def _power_of_2(self, base: Expr, exponent: Expr) -> Expr:
        number = base.constant
        if number is None:
            raise TraceError(
                f"({base!r}) ** ({exponent!r}): the exponent must be a number; fix it with sizes={{...}}"
            )
        if number > 1 and number & (number - 1) == 0:
            return self.shift_left(Expr.of(1), (number.bit_length() - 1) * exponent)
        raise TraceError(
            f"({base!r}) ** ({exponent!r}): a power with a symbol as its exponent is known of 2 alone, "
            f"as 1 << s; fix the exponent with sizes={{...}}"
        )

    # -- what polynomials do not have ---------------------------------------------------------

    def floordiv(self, a: Expr, b: Expr) -> Expr:
        """a // b, rounded down."""
        return self.divmod(a, b)[0]

    def mod(self, a: Expr, b: Expr) -> Expr:
        """a % b, with the divisor's sign."""
        return self.divmod(a, b)[1]

    def minimum(self, a: Expr, b: Expr) -> Expr:
        """The smaller of two values."""
        return self._extreme("min", a, b)

    def maximum(self, a: Expr, b: Expr) -> Expr:
        """The larger of two values."""
        return self._extreme("max", a, b)

    def _extreme(self, kind: str, a: Expr, b: Expr) -> Expr:
        smaller, larger = (a, b) if kind == "min" else (b, a)
        for gap, result in ((b - a, smaller), (a - b, larger)):
            if self.prover.nonneg(gap):
                return self._noted("ordered", kind, (a, b), result)
        return Expr.atom(Atom(kind, *sorted((a, b), key=lambda e: e.key)))

    def absolute(self, a: Expr) -> Expr:
        """The larger of a and -a."""
        return self.maximum(a, -a)

    def select(self, condition: Any, a: Any, b: Any) -> Expr:
        """a where the condition holds, else b. The condition may be a bool."""
        a, b = (self.as_number(v) if isinstance(v, Cond) else Expr.of(v) for v in (a, b))
        if isinstance(condition, (bool, int)):
            return a if condition else b
        known = self.decide(condition)
        if known is not None:
            return self._noted(
                "decided", "select", (condition, a, b), a if known else b, condition, known
            )
        if a.same(b):
            return self._noted("choices", "select", (condition, a, b), a)
        if condition.op in ("lt", "le"):
            x, y = condition.args
            if a.same(x) and b.same(y):
                return self._noted("choices", "select", (condition, a, b), self.minimum(a, b))
            if a.same(y) and b.same(x):
                return self._noted("choices", "select", (condition, a, b), self.maximum(a, b))
        b = _with_choices_of(a, b)
        common = {m: c for m, c in a.terms.items() if b.terms.get(m) == c}
        if common:
            shared = Expr(common)
            return self.add(shared, self.select(condition, a - shared, b - shared))
        found = self._as_extreme(condition, a, b)
        if found is not None:
            return self._noted("choices", "select", (condition, a, b), found)
        if condition.op in ("ne", "not"):
            return self.select(~condition, b, a)
        if a.constant == 1 and b.constant == 0:
            return self.as_number(condition)
        return Expr.atom(Atom("select", condition, a, b))

    def _as_extreme(self, condition: Cond, a: Expr, b: Expr) -> Expr | None:
        """A choice as the smaller or the larger of two values, None where it is none: of a and b, which
        are k*x + r and k*y + r where the condition compares x and y, or k times that of x and y,
        whichever is shorter; or of a value that both branches are compared with and a choice."""
        if condition.op in ("lt", "le"):
            x, y = condition.args
            for end in (y, y - 1 if condition.op == "lt" else y + 1):  # x < y is x <= y - 1
                k = _multiple(a - b, x - end)
                if k:
                    rest = a - k * x
                    if _length(rest, x, end) + (k not in (1, -1)) <= _length(a, b):
                        return self.add(rest, self.multiply(Expr.of(k), self.minimum(x, end)))
                    return self._extreme("min" if k > 0 else "max", a, b)
        one, other = a.single, b.single
        if one is None or other is None or one.kind != other.kind or one.kind not in ("min", "max"):
            return None
        for (p, q), (r, s) in pairs((one.args, one.args[::-1]), (other.args, other.args[::-1])):
            if q.same(s):
                return self._extreme(one.kind, self.select(condition, p, r), q)
        return None

    def as_number(self, condition: Any) -> Expr:
        """1 where the condition holds, else 0; of what is decided, or a number, its own value."""
        if not isinstance(condition, Cond):
            return Expr.of(condition)
        known = self.decided(condition)
        return Expr.of(int(known)) if known is not None else Expr.atom(Atom("bool", condition))

    def decided(self, condition: Cond) -> bool | None:
        """True or False where the condition is decided, which is written down, else None."""
        known = self.decide(condition)
        if known is not None and self.recorder.log is not None:
            self._noted("decided", "bool", (condition,), Expr.of(int(known)), condition, known)
        return known

    def _noted(
        self,
        rule: str,
        kind: str,
        args: tuple[Any, ...],
        after: Expr,
        condition: Cond | None = None,
        holds: bool = True,
    ) -> Expr:
        """What an operation gives, which is written down with what allows it."""
        if self.recorder.log is not None:
            step = Simplified(rule, kind, args, after, self.facts.branch, condition, holds)
            self.recorder.log.add(step)
        return after

    def isqrt(self, a: Expr) -> Expr:
        """The integer square root. Raises TraceError of a negative number."""
        constant = a.constant
        if constant is None:
            return Expr.atom(Atom("isqrt", a))
        if constant < 0:
            raise TraceError(f"isqrt({short_repr(constant)}): a negative number has no square root")
        return Expr.of(math.isqrt(constant))

    def shift_left(self, a: Expr, by: Expr) -> Expr:
        """The product a * 2**by; by is a number from 0 on."""
        if by.constant is None:
            return Expr.atom(Atom("shl", a, by))
        return self.multiply(a, Expr.of(1 << _distance(a, "<<", by.constant)))

    def shift_right(self, a: Expr, by: Expr) -> Expr:
        """a // 2**by, rounded down."""
        if by.constant is None:
            return Expr.atom(Atom("shr", a, by))
        return self.floordiv(a, Expr.of(1 << _distance(a, ">>", by.constant)))

    def bits(self, kind: str, a: Expr, b: Expr) -> Expr:
        """a & b, a | b or a ^ b on two's complement, by the kind of atom."""
        x, y = a.constant, b.constant
        if x is not None and y is not None:
            return Expr.of(OPS[kind].value(x, y))
        if x is not None:
            a, b, y = b, a, x
        found = self._fewer_bits(kind, a, b, y)
        if found is not None:
            return self._noted("bits", kind, (a, b), found)
        return Expr.atom(Atom(kind, *sorted((a, b), key=lambda e: e.key)))

    def _fewer_bits(self, kind: str, a: Expr, b: Expr, y: int | None) -> Expr | None:
        """The operation on bits as something simpler, None where it stays. y: the number that b is."""
        if y is not None:
            if kind == "and" and y == 0:
                return b
            if kind in ("or", "xor") and y == 0:
                return a
            if kind == "and" and y == -1:
                return a
            if kind == "and" and y > 0 and (y + (low := y & -y)) & y == 0:
                # one run of ones: a digit of a
                rest = self.mod(a, Expr.of(y + low))
                return self.multiply(Expr.of(low), self.floordiv(rest, Expr.of(low)))
        if a.same(b):
            return Expr.of(0) if kind == "xor" else a
        return None

    # -- expressions made anew ----------------------------------------------------------------

    def rebuilt(self, e: Expr) -> Expr:
        """e in the symbols that the facts speak of, simplified under them."""
        if e.constant is not None:
            return e.plain
        known = self.facts.cache.rebuilt.get(e.identity)
        if known is None:
            symbol = self.facts.symbol
            known = self.rebuild(e, lambda a: symbol(a.args[0]) if a.kind == "sym" else None)
            self.facts.cache.rebuilt[e.identity] = known
        return known

    def rebuild(
        self,
        e: Expr,
        replace: Callable[[Atom], Expr | None],
        made: dict[Any, Any] | None = None,
    ) -> Expr:
        """The same value with atoms replaced (None: keep), made anew under the facts. made: what was
        rebuilt before in the same way, where replace rebuilds parts itself."""
        memo: dict[Any, Any] = {} if made is None else made

        def walk(value: Any) -> Any:
            if isinstance(value, Expr):
                key = value.identity
                if key not in memo:
                    total = Expr.of(0)
                    for mono, coefficient in value.terms.items():
                        factors = [walk_atom(a) for a in mono]
                        product = reduce(self.multiply, factors, Expr.of(coefficient))
                        total = self.add(total, product)
                    memo[key] = total
                return memo[key]
            if isinstance(value, Cond):
                return value.rebuild(walk)
            return value

        def walk_atom(atom: Atom) -> Expr:
            if atom not in memo:
                new = replace(atom)
                memo[atom] = new if new is not None else self.make(atom.kind, *map(walk, atom.args))
            return memo[atom]

        return walk(e)

    def make(self, kind: str, *args: Any) -> Expr:
        """An atom of a kind, simplified."""
        return MAKE[kind](self, *args)

    def put_back(self, value: Any, stand_ins: Mapping[Atom, Expr]) -> Any:
        """An expression or a condition with the values of the stand-ins that are in it."""
        exprs = list(value.exprs()) if isinstance(value, Cond) else [value]
        if not any(atom in stand_ins for e in exprs for atom in e.deep_atoms()):
            return value

        def walk(e: Expr) -> Expr:
            return self.rebuild(e, stand_ins.get)

        found = value.rebuild(walk) if isinstance(value, Cond) else walk(value)
        return self.put_back(found, stand_ins)

    def opened(self, e: Expr, flats: Collection[Atom], kept: Collection[Atom]) -> Expr:
        """e with those of its flat positions looked into that are not kept as one value. A digit is then
        taken in the order in which a layout takes it: first the quotient, then its remainder."""

        made: dict[Any, Any] = {}

        def replace(atom: Atom) -> Expr | None:
            if atom in kept:
                return None
            if atom in flats:
                return self.rebuild(atom.args[0], replace, made)
            if atom.kind == "digit":
                base, lo, hi = atom.args
                if hi is not None:
                    count, rest = self.divide(hi, lo)
                    if not rest.terms:
                        low, _ = self.divmod(self.rebuild(base, replace, made), lo)
                        return self.divmod(low, count)[1]
            return None

        return self.rebuild(e, replace, made)

    def expand_opaque(self, e: Expr) -> Expr | None:
        """e with every group multiplied out, None where that makes too many terms."""
        memo: dict[Any, Expr] = {}

        def multiply(x: Expr) -> Expr:
            key = x.identity
            if key not in memo:
                total = Expr.of(0)
                for mono, coefficient in x.terms.items():
                    product = Expr.of(coefficient)
                    for atom in mono:
                        product = self.times(product, expanded(atom))
                        if len(product.terms) > MOST_EXPANDED:
                            raise _TooLong
                    total = self.add(total, product)
                memo[key] = total
            return memo[key]

        def expanded(atom: Atom) -> Expr:
            if atom not in memo:
                if atom.kind == "opaque":
                    memo[atom] = multiply(atom.args[0])
                else:
                    memo[atom] = self.make(atom.kind, *map(inside, atom.args))
            return memo[atom]

        def inside(a: Any) -> Any:
            if isinstance(a, Cond):
                return a.rebuild(multiply)
            return multiply(a) if isinstance(a, Expr) else a

        try:
            return multiply(e)
        except _TooLong:
            return None


def _scaled(terms: Terms, by: int) -> Terms:
    return {m: c * by for m, c in terms.items()} if by else {}


class _TooLong(Exception):
    """A product has too many terms to be of use."""


def _joined(operation: Callable[..., Any], a: Cond | bool, b: Cond | bool) -> Cond | bool:
    """a and b, or a or b, of which one may be decided."""
    if isinstance(a, Cond) == isinstance(b, Cond):
        return operation(a, b)
    known, other = (a, b) if isinstance(a, bool) else (b, a)
    return known if known is (operation is operator.or_) else other


def _with_choices_of(a: Expr, b: Expr) -> Expr:
    """b, in which choices are written as those of a by the same condition that differ from them by the
    same in both branches."""
    for mono, c in a.terms.items() if len(b.terms) else ():
        known = _choice(mono)
        for other, k in list(b.terms.items()) if known else ():
            choice = _choice(other) if k == c and other != mono else None
            if known and choice and known[0].identity == choice[0].identity:
                gap = choice[1] - known[1]
                if gap.same(choice[2] - known[2]):
                    b = b + Expr({mono: c, other: -c}) + c * gap
    return b


def _choice(mono: Monomial) -> tuple[Cond, Expr, Expr] | None:
    """(the condition, the branches) where it is one choice."""
    if len(mono) != 1 or mono[0].kind not in ("select", "bool"):
        return None
    condition, *branches = mono[0].args
    return (condition, *branches) if branches else (condition, Expr.of(1), Expr.of(0))


def _multiple(a: Expr, b: Expr) -> int | None:
    """The k for which a is k*b, None where there is none."""
    mono = next(iter(b.terms), None)
    k, rest = divmod(a.terms.get(mono, 0), b.terms[mono]) if mono is not None else (0, 0)
    return None if rest or not a.same(k * b) else k


def _length(*exprs: Expr) -> int:
    """About the operations of several sums."""
    return sum(1 + (bool(m) and abs(c) != 1) for e in exprs for m, c in e.terms.items())


def _distance(a: Expr, sign: str, by: int) -> int:
    """A shift distance that is a number."""
    if 0 <= by <= LONGEST:
        return by
    if by < 0:
        raise TraceError(f"({a!r}) {sign} {short_repr(by)}: a shift distance is not negative")
    raise TraceError(f"({a!r}) {sign} {short_repr(by)}: no index type has so many bits")


def _bits(kind: str) -> Callable[..., Expr]:
    return lambda simplifier, a, b: simplifier.bits(kind, a, b)


def _kept(kind: str) -> Callable[..., Expr]:
    return lambda _, *args: Expr.atom(Atom(kind, *args))


def _looped(*args: Any) -> Expr:
    from .loops import looped  # few functions have one

    return looped(*args)


def _switched(*args: Any) -> Expr:
    from .switches import switched  # few functions have one

    return switched(*args)


MAKE: dict[str, Callable[..., Expr]] = {
    "sym": _kept("sym"),
    "node": _kept("node"),
    "digit": lambda s, *args: s.digit(*args),
    "floordiv": Simplifier.floordiv,
    "floormod": Simplifier.mod,
    "min": Simplifier.minimum,
    "max": Simplifier.maximum,
    "select": Simplifier.select,
    "bool": Simplifier.as_number,
    "isqrt": Simplifier.isqrt,
    "opaque": lambda _, *args: opaque(*args),
    "lookup": lambda _, *args: lookup(*args),
    "loop": lambda _, *args: _looped(*args),
    "switch": lambda _, *args: _switched(*args),
    "shl": Simplifier.shift_left,
    "shr": Simplifier.shift_right,
    **{kind: _bits(kind) for kind in BIT_OPERATIONS},
}

OPERATIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.add: lambda s, a, b: s.add(a, b),
    operator.sub: Simplifier.subtract,
    operator.mul: Simplifier.multiply,
    operator.floordiv: Simplifier.floordiv,
    operator.mod: Simplifier.mod,
    divmod: lambda s, a, b: s.divmod(a, b),
    pow: Simplifier.power,
    operator.pow: Simplifier.power,
    operator.lshift: Simplifier.shift_left,
    operator.rshift: Simplifier.shift_right,
    operator.and_: _bits("and"),
    operator.or_: _bits("or"),
    operator.xor: _bits("xor"),
    abs: Simplifier.absolute,
    operator.abs: Simplifier.absolute,
    isqrt: Simplifier.isqrt,
    minimum: Simplifier.minimum,
    maximum: Simplifier.maximum,
}

"""Symbolic integers that keep themselves normal.

An Expr is a polynomial with integer coefficients over atoms. An atom is a symbol or an operation
that polynomials do not have:

    sym(name)
    digit(base, lo, hi)     (base mod hi) // lo, floor semantics; hi None: base // lo;
                            lo and hi are products, lo divides hi, both positive
    fdiv(a, b), fmod(a, b)  floor division and modulo by a divisor of unknown sign
    min(a, b), max(a, b), select(cond, a, b), bool(cond), isqrt(a)
    and, or, xor, shl, shr  bit operations that are no digits
    group(a, lo, hi, here)  a itself, kept as one factor; lo and hi are what is known of it or None,
                            here: in a branch only

A chain of reshapes and permutations is a sum of coefficient * digit in this form, so that applying
a layout hardly leaves anything to simplify. What is provable depends on the Facts in force
(`using`), see facts.py.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, reduce
from hashlib import blake2b
from math import gcd
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from .errors import LONGEST, RAISED, TraceError, is_users, shown
from .sizes import is_sympy

if TYPE_CHECKING:
    from .facts import Facts
    from .steps import Recorder

# Remembers the steps of a generation that is to be explained (steps.py); None elsewhere.
RECORDER: ContextVar[Recorder | None] = ContextVar("lego_emit_recorder", default=None)
_current: ContextVar[Facts | None] = ContextVar("lego_emit_facts", default=None)


def current() -> Facts:
    """The facts in force: those of the trace that is running, else none at all."""
    facts = _current.get()
    if facts is None:
        from .facts import Facts

        facts = Facts()
    return facts


@contextmanager
def using(facts: Facts) -> Iterator[Facts]:
    """Put facts in force."""
    token = _current.set(facts)
    try:
        yield facts
    finally:
        _current.reset(token)


class Atom:
    """An indivisible factor; equal atoms are one object. key orders atoms the same everywhere."""

    __slots__ = ("__weakref__", "_hash", "args", "depth", "key", "kind")
    _known: WeakValueDictionary[tuple, Atom] = WeakValueDictionary()
    _lock = Lock()

    kind: str
    args: tuple
    key: str
    depth: int  # how many atoms stand inside one another
    _hash: int

    def __new__(cls, kind: str, *args: Any) -> Atom:
        ident = (kind, *args)
        atom = cls._known.get(ident)
        if atom is None:
            made = object.__new__(cls)
            made.kind, made.args = kind, args
            made.depth = 1 + max((_depth(a) for a in args), default=0)
            if made.depth > DEPTH:
                raise TraceError(TOO_DEEP)
            keys = ",".join(a.key if hasattr(a, "key") else str(a) for a in args)
            made.key = _bounded_key(f"{kind}({keys})")
            made._hash = _digest(made.key)
            with cls._lock:  # two threads may be here with the same atom
                atom = cls._known.setdefault(ident, made)
        return atom

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.key


def _depth(value: Any) -> int:
    if isinstance(value, Expr):
        return max((a.depth for mono in value.terms for a in mono), default=0)
    return max(map(_depth, value.args)) if isinstance(value, Cond) else 0


KEY_LENGTH = 1000
DEPTH = 128
TOO_DEEP = (
    f"a value nests more than {DEPTH} operations deep: each step of a loop, or each call, builds "
    "on the one before. Emit one step as a function of its own and call that in a loop of the "
    "target language"
)


def _digest(text: str) -> int:
    """64 bits of a text that no other text in use has: an expression that is looked up must meet
    equal ones only, since == between different ones is a question (Expr.__eq__)."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def _bounded_key(text: str) -> str:
    """A key itself, its beginning and a digest where it is long: the parts of a key may be shared,
    and written out they would double with each level."""
    if len(text) <= KEY_LENGTH:
        return text
    return f"{text[:KEY_LENGTH]}#{blake2b(text.encode(), digest_size=16).hexdigest()}"


MOST_TERMS = 512  # of a sum
MOST_EXPANDED = 64  # terms of a product of sums that is multiplied out
MOST_DEGREE = 256  # factors of a product
MOST_BITS = 4096  # of a number
_PRIME = 2**61 - 1
_HALF = 2**60
_LONG = 2**LONGEST  # Python writes longer numbers in hexadecimal only
_by_key = operator.attrgetter("key")
Monomial = tuple[Atom, ...]
Terms = dict[Monomial, int]


def _times(a: Monomial, b: Monomial) -> Monomial:
    if not a:
        return b
    if not b:
        return a
    return tuple(sorted(a + b, key=_by_key))


def _without(a: Monomial, b: Monomial) -> Monomial | None:
    """a / b, or None where b does not divide a."""
    if not b:
        return a
    rest = list(a)
    for atom in b:
        try:
            rest.remove(atom)
        except ValueError:
            return None
    return tuple(rest)


class Expr:
    """A symbolic integer: supports + - * // % << >> & | ^ - ~, comparisons, divmod, isqrt.

    Made by `symbols`, by the tracer, and by layouts applied to them. `sympy(e)` or
    `e.to_sympy()` gives it as a SymPy expression."""

    __slots__ = ("_hash", "_key", "terms")
    __lego_symbolic__ = True
    __array_ufunc__ = None  # NumPy arrays leave the operation to us

    terms: Terms

    def __init__(self, terms: dict[Monomial, int]):
        self.terms = terms
        self._hash: int | None = None
        self._key: str | None = None

    # -- making ----------------------------------------------------------------------------

    @staticmethod
    def of(value: Any) -> Expr:
        """value as an Expr: an int, a NumPy integer, an Expr, a condition, a SymPy expression."""
        if isinstance(value, Expr):
            return value
        if isinstance(value, int):
            return _constant(int(value))
        if isinstance(value, Cond):
            return value.as_expr()
        if is_sympy(value):
            from .ir import from_sympy

            return from_sympy(value)
        if hasattr(value, "__index__") and not hasattr(value, "__lego_symbolic__"):
            return Expr.of(operator.index(value))
        if isinstance(value, float):
            raise TraceError(
                f"{value!r} is no integer; layouts are integer: write // for a division"
            )
        raise TraceError(f"{value!r} is no integer and no symbol")

    @staticmethod
    def atom(atom: Atom) -> Expr:
        return Expr({(atom,): 1})

    # -- looking ---------------------------------------------------------------------------

    @property
    def key(self) -> str:
        """A text that is the same for equal values everywhere."""
        if self._key is None:
            parts = [
                f"{c if -_LONG < c < _LONG else hex(c)}*{'*'.join(a.key for a in m)}"
                for m, c in self.terms.items()
            ]
            self._key = _bounded_key("+".join(sorted(parts)) or "0")
        return self._key

    @property
    def constant(self) -> int | None:
        """The value where it is a number, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    @property
    def single(self) -> Atom | None:
        """The atom where the value is exactly one atom, else None."""
        if len(self.terms) == 1:
            ((mono, coefficient),) = self.terms.items()
            if coefficient == 1 and len(mono) == 1:
                return mono[0]
        return None

    def atoms(self) -> set[Atom]:
        """The atoms of all terms (not those inside other atoms)."""
        return {a for mono in self.terms for a in mono}

    def symbols(self) -> set[str]:
        """The names of all symbols, inside atoms too."""
        return {a.args[0] for a in self.deep_atoms() if a.kind == "sym"}

    def deep_atoms(self) -> set[Atom]:
        """All atoms, inside atoms too."""
        found: set[Atom] = set()
        stack: list[Any] = [self]
        while stack:
            value = stack.pop()
            if isinstance(value, Expr):
                new = value.atoms() - found
                found |= new
                stack.extend(arg for a in new for arg in a.args)
            elif isinstance(value, Cond):
                stack.extend(value.args)
        return found

    def __repr__(self) -> str:
        from .text import text

        return text(self)

    def __hash__(self) -> int:
        if RAISED.get() is not None:
            frame = sys._getframe(1)
            name = frame.f_globals.get("__name__", "")
            if not name.startswith("lego_emit.") and is_users(frame):
                self._no_key()
        if self._hash is None:
            constant = self.constant
            # hash(-1) == hash(-2) in CPython, and a collision would make == ask a question
            self._hash = hash(
                _spread(constant)
                if constant is not None
                else frozenset((m, _spread(c)) for m, c in self.terms.items())
            )
        return self._hash

    def _no_key(self) -> None:
        """A user's function looks a symbol up: it is not there, whatever its value may be."""
        if self.constant is None:
            raise TraceError(
                f"{self!r} is a symbol, which nothing can be looked up by: no key of a dict or a "
                f"set, no argument of a cached function; write a chain of `a if i == 0 else b`"
            )

    def same(self, other: Expr) -> bool:
        """Structural equality (== makes no condition here)."""
        return self.terms == other.terms

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
        merged = _merge_digits(made)
        if merged is not made and (recorder := RECORDER.get()) is not None:
            recorder.merged(made, merged)
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
        _check_degree(_degree(self) + _degree(other))
        if len(self.terms) > 1 and len(other.terms) > 1:
            return _product(self, other)
        return _distribute(self, other)

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
        return current().divmod(self, Expr.of(other))

    def __rdivmod__(self, other: Any) -> tuple[Expr, Expr]:
        return current().divmod(Expr.of(other), self)

    def __floordiv__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else current().divmod(self, other)[0]

    def __rfloordiv__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else current().divmod(other, self)[0]

    def __mod__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else current().divmod(self, other)[1]

    def __rmod__(self, other: Any) -> Expr:
        other = _operand(other)
        return other if other is NotImplemented else current().divmod(other, self)[1]

    def __truediv__(self, other: Any) -> Expr:
        raise TraceError(f"({self!r}) / ({other!r}) is no integer division: write //")

    __rtruediv__ = __truediv__

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
        import math

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

    def __index__(self) -> int:
        constant = self.constant
        if constant is not None:
            return constant
        raise TraceError(
            f"{self!r} is a symbol, and Python needs its value here (range, int(), a list's "
            f"index or slice); fix it with sizes={{...}}; a root is lego_emit.isqrt"
        )

    __int__ = __index__

    def __float__(self) -> float:
        constant = self.constant
        if constant is not None:
            return float(constant)
        raise TraceError(
            f"{self!r} is a symbol, and Python wants a float here (float, math.sqrt, math.log); "
            f"indices are integers: write // for a division, lego_emit.isqrt for a root"
        )

    def __trunc__(self) -> Expr:
        return self

    __floor__ = __ceil__ = __trunc__

    def __round__(self, digits: int | None = None) -> Expr:
        if digits is None or digits >= 0:
            return self
        raise TraceError(f"round({self!r}, {digits}): write it with // and *")

    def __format__(self, spec: str) -> str:
        constant = self.constant
        try:
            return format(repr(self) if constant is None else constant, spec)
        except ValueError:
            raise TraceError(
                f"{self!r} is a symbol and has no value that the format {spec!r} could show"
            ) from None

    def bit_length(self) -> Any:
        """Refused, with what to write instead."""
        raise TraceError(
            f"({self!r}).bit_length(): a symbol has no number of bits; where it is below 2**k, "
            f"write sum(x >= 1 << b for b in range(k))"
        )

    def bit_count(self) -> Any:
        """Refused, with what to write instead."""
        raise TraceError(
            f"({self!r}).bit_count(): a symbol's bits cannot be counted; where it is below 2**k, "
            f"write sum(x >> b & 1 for b in range(k))"
        )

    # -- rebuilding ------------------------------------------------------------------------

    def rebuild(self, replace: Callable[[Atom], Expr | None]) -> Expr:
        """The same value with atoms replaced (None: keep), made anew under the facts in force."""
        memo: dict[Any, Any] = {}

        def walk(value: Any) -> Any:
            if isinstance(value, Expr):
                if value not in memo:
                    total = Expr.of(0)
                    for mono, coefficient in value.terms.items():
                        total = total + reduce(
                            operator.mul, [walk_atom(a) for a in mono], Expr.of(coefficient)
                        )
                    memo[value] = total
                return memo[value]
            if isinstance(value, Cond):
                return value.rebuild(walk)
            return value

        def walk_atom(atom: Atom) -> Expr:
            if atom not in memo:
                new = replace(atom)
                memo[atom] = new if new is not None else make(atom.kind, *map(walk, atom.args))
            return memo[atom]

        return walk(self)

    def to_sympy(self):
        """The value as a SymPy expression over lego_emit.ir's nodes."""
        from .ir import to_sympy

        return to_sympy(self)

    _sympy_ = to_sympy


def _spread(c: int) -> int | tuple[int, int]:
    """What the hash of a number is made of."""
    return c % _PRIME if -_HALF < c < _HALF else (c.bit_length(), _digest(hex(c)))


@lru_cache(4096)
def _constant(value: int) -> Expr:
    if value.bit_length() > 16 * LONGEST:
        raise TraceError(f"{shown(value)} is too large: no index type holds it")
    return Expr({(): value} if value else {})


def _operand(value: Any) -> Any:
    """An Expr, or NotImplemented for what is not ours to handle."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, (int, Cond)) or is_sympy(value):
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
    _check_degree(_degree(base) * exponent)
    factor = group(base) if len(base.terms) > 1 else base
    return reduce(_distribute, [factor] * exponent)


def _check_degree(degree: int) -> None:
    if degree > MOST_DEGREE:
        raise TraceError(
            f"a product of {degree} factors; more than {MOST_DEGREE} are not followed, and no index "
            f"type holds them: reduce it on the way with %"
        )


_degrees: WeakKeyDictionary[Atom, int] = WeakKeyDictionary()


def _degree(e: Expr) -> int:
    """How many factors the value is at most made of, inside of atoms too."""
    return max((sum(map(_degree_of_atom, mono)) for mono in e.terms if mono), default=0)


def _degree_of_atom(atom: Atom) -> int:
    if atom.kind == "sym":
        return 1
    known = _degrees.get(atom)
    if known is None:
        args = [a for a in atom.args if isinstance(a, Expr)]
        if atom.kind == "fmod" or (atom.kind == "digit" and len(args) == 3):
            args = args[-1:]  # it is less than the divisor, however large the dividend is
        elif atom.kind == "and":
            args = [a for a in args if a.constant is not None and a.constant >= 0] or args
        known = _degrees[atom] = max(map(_degree, args), default=0)
    return known


def _distribute(a: Expr, b: Expr) -> Expr:
    if len(a.terms) < len(b.terms):
        a, b = b, a
    facts = _current.get()
    exact = facts.exact if facts is not None else None
    result: dict[Monomial, int] = {}
    for mono_b, c_b in b.terms.items():
        for mono_a, c_a in a.terms.items():
            mono, c = _times(mono_a, mono_b), c_a * c_b
            if exact:
                mono, c = _cancel_exact(mono, c, exact)
            total = result.get(mono, 0) + c
            if total:
                result[mono] = total
            else:
                result.pop(mono, None)
    return Expr(result)


def _cancel_exact(
    mono: Monomial, c: int, exact: dict[Atom, tuple[Expr, Expr]]
) -> tuple[Monomial, int]:
    """divisor * (dividend // divisor) is the dividend where it is known to divide."""
    for atom in mono:
        if atom in exact:
            dividend, divisor = exact[atom]
            ((d_mono, d_c),) = divisor.terms.items()
            rest = _without(mono, _times(d_mono, (atom,)))
            if rest is not None and c % d_c == 0:
                ((n_mono, n_c),) = dividend.terms.items()
                return _cancel_exact(_times(rest, n_mono), c // d_c * n_c, exact)
    return mono, c


def _product(a: Expr, b: Expr) -> Expr:
    """A product of two sums. Expanding it would lose the factored form, so that each sum becomes
    one factor; sums that differ by a constant share theirs."""
    (a_rest, a_sign, a_c), (b_rest, b_sign, b_c) = _split_constant(a), _split_constant(b)
    if a_rest.same(b_rest):
        factor = a_rest if len(a_rest.terms) == 1 else group(a_rest)
        return _distribute(a_sign * factor + a_c, b_sign * factor + b_c)
    return _distribute(_factor(a), _factor(b))


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


def _merge_digits(e: Expr) -> Expr:
    """Put neighbouring digits of one base together: a*(x // a) + x % a is x (Table II)."""
    digits: dict[Expr, list[tuple[Monomial, Atom]]] = {}
    for mono in e.terms:
        for atom in mono:
            if atom.kind == "digit":
                digits.setdefault(atom.args[0], []).append((mono, atom))
            elif atom.kind == "fmod" and (merged := _merge_signed(e, mono, atom)) is not None:
                return merged
    if not digits:
        return e
    for base, found in digits.items():
        starts: dict[Expr, list[tuple[Monomial, Atom]]] = {}
        if len(found) > 1:
            for place in found:
                starts.setdefault(place[1].args[1], []).append(place)
        for mono_low, low in found:
            _, lo, mid = low.args
            if mid is None:
                merged = _merge_into_base(e, base, mono_low, low)
                if merged is not None:
                    return merged
                continue
            ((mid_mono, mid_c),), ((lo_mono, lo_c),) = mid.terms.items(), lo.terms.items()
            rest = _without(mono_low, (low,))
            assert rest is not None
            for mono_high, high in starts.get(mid, ()):
                if high is low:
                    continue
                # high * coefficient == low's coefficient * (mid / lo), as monomials
                rest_high = _without(mono_high, (high,))
                assert rest_high is not None
                if (
                    _times(rest_high, lo_mono) == _times(rest, mid_mono)
                    and e.terms[mono_high] * lo_c == e.terms[mono_low] * mid_c
                ):
                    terms = dict(e.terms)
                    coefficient = terms.pop(mono_low)
                    del terms[mono_high]
                    whole = make("digit", base, lo, high.args[2])
                    return Expr(terms) + _distribute(Expr({rest: coefficient}), whole)
            # x // a - (b/a) * (x // b), with the upper digit unbounded: also x % b // a
        if len(found) == 1:
            continue
        keys = [_scale(e, *place) for place in found]
        scales: dict[tuple, list[tuple[Monomial, Atom]]] = {}
        for key, place in zip(keys, found, strict=True):
            scales.setdefault(key, []).append(place)
        for (*scale, c), (mono_low, low) in zip(keys, found, strict=True):
            others = scales.get((*scale, -c))
            if others is not None:
                merged = _split_off(e, base, mono_low, low, others)
                if merged is not None:
                    return merged
    return e


def _scale(e: Expr, mono: Monomial, digit: Atom) -> tuple:
    """What two digits of one base have in common, but for the sign of the last, where one may be
    split off the other: where they end, and their factors divided by where they start."""
    _, lo, hi = digit.args
    ((lo_mono, lo_c),) = lo.terms.items()
    rest = list(mono)
    rest.remove(digit)
    below = []
    for atom in lo_mono:
        if atom in rest:
            rest.remove(atom)
        else:
            below.append(atom)
    c = e.terms[mono]
    common = gcd(c, lo_c)
    return hi, tuple(rest), tuple(below), lo_c // common, c // common


def _merge_signed(e: Expr, mono: Monomial, low: Atom) -> Expr | None:
    """a*(x // a) + x % a is x for a divisor of any sign, too (Table II)."""
    base, divisor = low.args
    if len(divisor.terms) != 1:
        return None
    ((by, c),) = divisor.terms.items()
    rest = _without(mono, (low,))
    assert rest is not None
    high = _times(_times(rest, by), (Atom("fdiv", base, divisor),))
    coefficient = e.terms[mono]
    if e.terms.get(high) != coefficient * c:
        return None
    terms = {m: k for m, k in e.terms.items() if m not in (mono, high)}
    return Expr(terms) + _distribute(Expr({rest: coefficient}), base)


def _split_off(e: Expr, base: Expr, mono: Monomial, whole: Atom, found: list) -> Expr | None:
    """(x % h) // l - (m/l) * ((x % h) // m) is (x % m) // l where l divides m."""
    _, lo, hi = whole.args
    ((lo_mono, lo_c),) = lo.terms.items()
    rest = _without(mono, (whole,))
    assert rest is not None
    for mono_high, high in found:
        _, mid, high_hi = high.args
        if (
            high is whole
            or (hi is None) != (high_hi is None)
            or (hi is not None and not hi.same(high_hi))
        ):
            continue
        ((mid_mono, mid_c),) = mid.terms.items()
        rest_high = _without(mono_high, (high,))
        assert rest_high is not None
        if (
            _times(rest_high, lo_mono) == _times(rest, mid_mono)
            and e.terms[mono_high] * lo_c == -e.terms[mono] * mid_c
            and not divide_terms(mid, lo)[1].terms
        ):
            terms = dict(e.terms)
            coefficient = terms.pop(mono)
            del terms[mono_high]
            return Expr(terms) + _distribute(
                Expr({rest: coefficient}), make("digit", base, lo, mid)
            )
    return None


def _merge_into_base(e: Expr, base: Expr, mono: Monomial, high: Atom) -> Expr | None:
    """x - a*(x // a) is x % a, where x itself stands in the sum."""
    ((lo_mono, lo_c),) = high.args[1].terms.items()
    rest = _without(mono, (high,))
    assert rest is not None
    factor_mono = _without(rest, lo_mono)
    if factor_mono is None or e.terms[mono] % lo_c:
        return None
    factor = Expr({factor_mono: -(e.terms[mono] // lo_c)})
    wanted = _distribute(factor, base)
    if not all(
        (m in e.terms and (e.terms[m] > 0) == (c > 0) and abs(e.terms[m]) >= abs(c))
        for m, c in wanted.terms.items()
        if m
    ):
        return None
    terms = dict(e.terms)
    del terms[mono]
    for m, c in wanted.terms.items():
        total = terms.get(m, 0) - c
        if total:
            terms[m] = total
        else:
            terms.pop(m, None)
    low = make("digit", base, Expr.of(1), high.args[1])
    return Expr(terms) + _distribute(factor, low)


# -- making atoms ------------------------------------------------------------------------------


def make(kind: str, *args: Any) -> Expr:
    """An atom of a kind, simplified under the facts in force."""
    if kind == "digit":
        base, lo, hi = args
        facts = current()
        if hi is not None:
            base = facts.divmod(base, hi)[1]
        return facts.divmod(base, lo)[0]
    if kind == "fdiv":
        return args[0] // args[1]
    if kind == "fmod":
        return args[0] % args[1]
    if kind == "min":
        return minimum(*args)
    if kind == "max":
        return maximum(*args)
    if kind == "select":
        return select(*args)
    if kind == "bool":
        return args[0].as_expr()
    if kind == "group":
        return group(*args)
    if kind == "isqrt":
        return args[0].isqrt()
    if kind in ("and", "or", "xor"):
        return bit_operation(kind, *args)
    if kind == "shl":
        return shift_left(*args)
    if kind == "shr":
        return shift_right(*args)
    return Expr.atom(Atom(kind, *args))


def group(e: Expr, lo: Expr | None = None, hi: Expr | None = None, here: bool = False) -> Expr:
    """e as one factor, with what is known of its range. A single atom or a number stays itself
    unless something new is known. here: it is known in a branch, and elsewhere e may be anything."""
    if e.constant is not None or (e.single is not None and (lo is None and hi is None)):
        return e
    if e.single is not None and e.single.kind == "group":
        e = e.single.args[0]
    return Expr.atom(Atom("group", e, lo, hi, here))


def expand_groups(e: Expr) -> Expr | None:
    """e with every group multiplied out, None where that makes too many terms."""
    memo: dict[Any, Expr] = {}

    def multiply(x: Expr) -> Expr:
        if x not in memo:
            total = Expr.of(0)
            for mono, coefficient in x.terms.items():
                product = Expr.of(coefficient)
                for atom in mono:
                    product = _distribute(product, expanded(atom))
                    if len(product.terms) > MOST_EXPANDED:
                        raise _TooLong
                total = total + product
            memo[x] = total
        return memo[x]

    def expanded(atom: Atom) -> Expr:
        if atom not in memo:
            if atom.kind == "group":
                memo[atom] = multiply(atom.args[0])
            else:
                memo[atom] = make(atom.kind, *map(inside, atom.args))
        return memo[atom]

    def inside(a: Any) -> Any:
        if isinstance(a, Cond):
            return a.rebuild(multiply)
        return multiply(a) if isinstance(a, Expr) else a

    try:
        return multiply(e)
    except _TooLong:
        return None


class _TooLong(Exception):
    """A product has too many terms to be of use."""


def minimum(a: Any, b: Any) -> Expr:
    """The smaller of two values."""
    a, b = Expr.of(a), Expr.of(b)
    facts = current()
    if facts.nonneg(b - a):
        return a
    if facts.nonneg(a - b):
        return b
    a, b = sorted((a, b), key=lambda e: e.key)
    return Expr.atom(Atom("min", a, b))


def maximum(a: Any, b: Any) -> Expr:
    """The larger of two values."""
    a, b = Expr.of(a), Expr.of(b)
    facts = current()
    if facts.nonneg(b - a):
        return b
    if facts.nonneg(a - b):
        return a
    a, b = sorted((a, b), key=lambda e: e.key)
    return Expr.atom(Atom("max", a, b))


def select(condition: Any, a: Any, b: Any) -> Expr:
    """a where the condition holds, else b."""
    if isinstance(condition, (bool, int)):
        return Expr.of(a if condition else b)
    a, b = Expr.of(a), Expr.of(b)
    known = current().decide(condition)
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


class Cond:
    """A condition on symbolic integers: op lt, le, eq, ne over two Exprs; and, or, not over
    conditions. `if` on an undecided one follows both branches while a trace is running."""

    __slots__ = ("args", "key", "op")
    __lego_symbolic__ = True
    __array_ufunc__ = None

    def __init__(self, op: str, *args: Any):
        self.op, self.args = op, args
        self.key = _bounded_key(f"{op}[{','.join(a.key for a in args)}]")

    @staticmethod
    def compare(op: str, a: Expr, b: Expr) -> Cond:
        """a op b, decided where the facts decide it: then a true or false constant."""
        return Cond(op, a, b)

    def __eq__(self, other: Any) -> Any:
        """True for the same condition; else a condition, on the two as 0 and 1."""
        if isinstance(other, Cond) and self.key == other.key:
            return True
        return self.as_expr() == other

    def __ne__(self, other: Any) -> Any:
        return self.as_expr() != other

    def __hash__(self) -> int:
        return hash(self.key)

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

    def __rand__(self, other: Any) -> Any:
        return other & self.as_expr()

    def __ror__(self, other: Any) -> Any:
        return other | self.as_expr()

    def __bool__(self) -> bool:
        from .trace import ask

        return ask(self)

    def as_expr(self) -> Expr:
        """1 where the condition holds, else 0."""
        known = current().decide(self)
        return Expr.of(int(known)) if known is not None else Expr.atom(Atom("bool", self))

    def rebuild(self, walk: Callable[[Any], Any]) -> Any:
        """The same condition with operands rebuilt by walk."""
        return Cond(
            self.op, *(a.rebuild(walk) if isinstance(a, Cond) else walk(a) for a in self.args)
        )

    @property
    def remainder(self) -> Atom | None:
        """x % n of a condition x % n == 0 or x % n != 0."""
        if self.op in ("eq", "ne"):
            for a, b in (self.args, self.args[::-1]):
                found = a.single
                if b.constant == 0 and found is not None:
                    lowest = found.kind == "digit" and found.args[1].constant == 1
                    if found.kind == "fmod" or (lowest and found.args[2] is not None):
                        return found
        return None

    def exprs(self) -> Iterable[Expr]:
        """The integer operands, in order."""
        for arg in self.args:
            if isinstance(arg, Cond):
                yield from arg.exprs()
            else:
                yield arg

    def __repr__(self) -> str:
        from .text import text

        return text(self)

    def __add__(self, other: Any) -> Any:
        return self.as_expr() + other

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self.as_expr() * other

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return self.as_expr() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self.as_expr()

    def __neg__(self) -> Any:
        return -self.as_expr()

    def __index__(self) -> int:
        return int(bool(self))

    __int__ = __index__


def _as_number(method: str) -> Callable[..., Any]:
    return lambda self, *operands: getattr(self.as_expr(), method)(*operands)


for _name in (
    *("floordiv", "mod", "divmod", "truediv", "lshift", "rshift", "xor", "pow"),
    *("rfloordiv", "rmod", "rdivmod", "rtruediv", "rlshift", "rrshift", "rxor", "rpow"),
    *("lt", "le", "gt", "ge", "abs", "pos", "trunc", "floor", "ceil", "round", "float"),
):
    setattr(Cond, f"__{_name}__", _as_number(f"__{_name}__"))


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
    ((mono, c),) = by.terms.items()
    facts = _current.get()
    exact = facts.exact if facts is not None else {}
    quotient: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for m, k in e.terms.items():
        divided = _divide_term(m, k, mono, c, exact)
        if divided is not None:
            quotient[divided[0]] = quotient.get(divided[0], 0) + divided[1]
        elif not m and not mono:
            if k // c:
                quotient[()] = quotient.get((), 0) + k // c
            rest[()] = k % c
        else:
            rest[m] = k
    return Expr({m: k for m, k in quotient.items() if k}), Expr(rest)


def _divide_term(
    m: Monomial, k: int, by: Monomial, c: int, exact: dict[Atom, tuple[Expr, Expr]]
) -> tuple[Monomial, int] | None:
    """A term divided by another, None where that does not go: also 512*i by BN, which is
    (512 // BN)*i where BN is known to divide 512."""
    reduced = _without(m, by)
    if reduced is not None and k % c == 0:
        return reduced, k // c
    for atom, (dividend, divisor) in exact.items():
        ((d_mono, d_c),) = divisor.terms.items()
        ((n_mono, n_c),) = dividend.terms.items()
        left, factor = _without(by, d_mono), _without(m, n_mono)
        if left is not None and factor is not None and c % d_c == 0 and k % n_c == 0:
            found = _divide_term(_times(factor, (atom,)), k // n_c, left, c // d_c, {})
            if found is not None:
                return found
    return None


def symbols(names: str) -> Any:
    """Symbols for sizes, as `M, N = symbols("M N")`; one name gives one symbol."""
    if not isinstance(names, str):
        raise TraceError(f'symbols() takes names as text such as "M N", not {shown(names)}')
    split = names.replace(",", " ").split()
    for name in split:
        if not name.isidentifier():
            raise TraceError(f"{name!r} is no name for a symbol")
    made = tuple(Expr.atom(Atom("sym", n)) for n in split)
    if not made:
        raise TraceError("symbols() needs at least one name")
    return made[0] if len(made) == 1 else made

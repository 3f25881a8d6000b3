"""What symbolic integers are made of, as data: atoms, sums of products of them, conditions.

An atom is a symbol or an operation that polynomials do not have:

    sym(name)
    digit(base, lo, hi)     (base mod hi) // lo, floor semantics; hi None: base // lo;
                            lo and hi are products, lo divides hi, both positive
    bool(cond)              1 where a condition holds, else 0
    an operation of operations.py: floordiv and floormod by a divisor of unknown sign, min, max,
                            isqrt, select(cond, a, b), and, or, xor, shl, shr that are no digits,
                            lookup(entries, a), the entry of a table (Entries) at place a
    opaque(a, lo, hi, here) a itself, kept as one factor; lo and hi are what is known of it or None
                            (hi only beside lo), here: in a branch only
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from ..errors import LONGEST, TraceError

KEY_LENGTH = 1000
DEPTH = 128
TOO_DEEP = (
    f"a value nests more than {DEPTH} operations deep: each step of a loop, or each call, builds "
    "on the one before. Emit one step as a function of its own and call that in a loop of the "
    "target language"
)


_LONG = 2**LONGEST  # Python writes longer numbers in hexadecimal only


class Atom:
    """An indivisible factor; equal atoms are one object. key orders atoms the same everywhere, and
    their hashes are the same everywhere, too."""

    __slots__ = ("__weakref__", "_degree", "_hash", "args", "depth", "key", "kind", "symbols")
    _known: WeakValueDictionary[tuple, Atom] = WeakValueDictionary()
    _lock = Lock()

    kind: str
    args: tuple
    key: str
    depth: int  # how many atoms stand inside one another
    symbols: frozenset[str]  # the names of all symbols in it
    _hash: int
    _degree: int | None  # see degree(); None until it is asked for

    def __new__(cls, kind: str, *args: Any) -> Atom:
        """The one atom of a kind over these arguments. Raises TraceError where it nests too deep."""
        ident = (kind, *map(_identity, args))
        atom = cls._known.get(ident)
        if atom is None:
            made = object.__new__(cls)
            made.kind, made.args, made._degree = kind, args, None
            made.depth = 1 + max(map(depth, args), default=0)
            if made.depth > DEPTH:
                raise TraceError(TOO_DEEP)
            keys = ",".join(a.key if hasattr(a, "key") else str(a) for a in args)
            made.key = bounded_key(f"{kind}({keys})")
            made.symbols = frozenset(args) if kind == "sym" else _symbols_in(args)
            code = blake2b(made.key.encode(), digest_size=8).digest()
            made._hash = int.from_bytes(code, "little", signed=True)
            with cls._lock:  # two threads may be here with the same atom
                atom = cls._known.setdefault(ident, made)
        return atom

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:  # a copy of an atom is the atom, also in another process
        return Atom, (self.kind, *self.args)

    def __repr__(self) -> str:
        return self.key


Monomial = tuple[Atom, ...]
Terms = dict[Monomial, int]
Exact = Mapping[Atom, tuple["Sum", "Sum"]]  # quotient -> (dividend, divisor) that it divides
Identity = frozenset[tuple[Monomial, int]]


class Sum:
    """A polynomial with integer coefficients over atoms: monomial -> coefficient, none of them 0."""

    __slots__ = ("_identity", "_key", "terms")

    terms: Terms

    def __init__(self, terms: Terms):
        self.terms = terms
        self._identity: Identity | None = None
        self._key: str | None = None

    @property
    def identity(self) -> Identity:
        """What a sum is looked up by: the same for equal values, and to compare two asks nothing,
        where == between sums may be a question. It has no order."""
        if self._identity is None:
            self._identity = frozenset(self.terms.items())
        return self._identity

    def __reduce__(self) -> Any:
        return type(self), (self.terms,)

    @property
    def key(self) -> str:
        """A text that is the same for equal values everywhere."""
        if self._key is None:
            parts = [
                f"{c if abs(c) < _LONG else hex(c)}*{'*'.join(a.key for a in m)}"
                for m, c in self.terms.items()
            ]
            self._key = bounded_key("+".join(sorted(parts)) or "0")
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
        return set[str]().union(*(a.symbols for mono in self.terms for a in mono))

    def deep_atoms(self) -> set[Atom]:
        """All atoms, inside atoms too."""
        found: set[Atom] = set()
        stack: list[Any] = [self]
        while stack:
            value = stack.pop()
            if isinstance(value, Sum):
                new = value.atoms() - found
                found |= new
                stack.extend(arg for a in new for arg in a.args)
            elif isinstance(value, Condition):
                stack.extend(value.args)
        return found

    def same(self, other: Sum) -> bool:
        """Structural equality (== makes no condition here)."""
        return self.terms == other.terms


def _symbols_in(args: Iterable[Any]) -> frozenset[str]:
    """The names of all symbols in sums and conditions."""
    inner = (
        _symbols_in(a.args) if isinstance(a, Condition) else a.symbols()
        for a in args
        if isinstance(a, Sum | Condition)
    )
    return frozenset[str]().union(*inner)


class Condition:
    """A condition on sums: op lt, le, eq, ne over two of them; and, or, not over conditions."""

    __slots__ = ("_identity", "args", "key", "op")

    def __init__(self, op: str, *args: Any):
        self.op, self.args = op, args
        self.key = bounded_key(f"{op}[{','.join(a.key for a in args)}]")
        self._identity: tuple[Any, ...] | None = None

    def __reduce__(self) -> Any:
        return type(self), (self.op, *self.args)

    @property
    def identity(self) -> tuple[Any, ...]:
        """What a condition is looked up by, equal for equal conditions."""
        if self._identity is None:
            self._identity = (self.op, *(a.identity for a in self.args))
        return self._identity

    @property
    def remainder(self) -> Atom | None:
        """x % n of a condition x % n == 0 or x % n != 0."""
        if self.op in ("eq", "ne"):
            for a, b in (self.args, self.args[::-1]):
                found = a.single
                if b.constant == 0 and found is not None:
                    lowest = found.kind == "digit" and found.args[1].constant == 1
                    if found.kind == "floormod" or (lowest and found.args[2] is not None):
                        return found
        return None

    def exprs(self) -> Iterable[Any]:
        """The integer operands, in order."""
        for arg in self.args:
            if isinstance(arg, Condition):
                yield from arg.exprs()
            else:
                yield arg


def _identity(value: Any) -> Any:
    return value.identity if isinstance(value, (Sum, Condition)) else value


def depth(value: Any) -> int:
    """How many atoms stand inside one another in a sum or a condition; 0 for all else."""
    if isinstance(value, Sum):
        return max((a.depth for mono in value.terms for a in mono), default=0)
    return max(map(depth, value.args)) if isinstance(value, Condition) else 0


def bounded_key(text: str) -> str:
    """A key itself, its beginning and a digest where it is long: the parts of a key may be shared,
    and written out they would double with each level."""
    if len(text) <= KEY_LENGTH:
        return text
    return f"{text[:KEY_LENGTH]}#{blake2b(text.encode(), digest_size=16).hexdigest()}"


def degree(e: Sum) -> int:
    """How many factors the value is at most made of, inside of atoms too."""
    most = 0
    for mono in e.terms:
        count = 0
        for atom in mono:
            count += 1 if atom.kind == "sym" else _degree_of_atom(atom)
        most = max(most, count)
    return most


def _degree_of_atom(atom: Atom) -> int:
    known = atom._degree
    if known is None:
        args = [a for a in atom.args if isinstance(a, Sum)]
        if atom.kind == "floormod" or (atom.kind == "digit" and len(args) == 3):
            args = args[-1:]  # it is less than the divisor, however large the dividend is
        elif atom.kind == "and":
            args = [a for a in args if a.constant is not None and a.constant >= 0] or args
        known = atom._degree = max(map(degree, args), default=0)
    return known


# -- terms ---------------------------------------------------------------------------------------

_by_key = operator.attrgetter("key")


def times(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials, its atoms in order."""
    if not a:
        return b
    if not b:
        return a
    return tuple(sorted(a + b, key=_by_key))


def without(a: Monomial, b: Monomial) -> Monomial | None:
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


def distribute(a: Terms, b: Terms, exact: Exact) -> Terms:
    """The product, multiplied out."""
    if len(a) < len(b):
        a, b = b, a
    if len(b) == 1 and not exact:  # other terms stay other terms
        ((factor, by),) = b.items()
        return {times(mono, factor): c * by for mono, c in a.items()}
    result: Terms = {}
    for mono_b, c_b in b.items():
        for mono_a, c_a in a.items():
            mono, c = times(mono_a, mono_b), c_a * c_b
            if exact:
                mono, c = _cancel_exact(mono, c, exact)
            total = result.get(mono, 0) + c
            if total:
                result[mono] = total
            else:
                result.pop(mono, None)
    return result


def _cancel_exact(mono: Monomial, c: int, exact: Exact) -> tuple[Monomial, int]:
    """divisor * (dividend // divisor) is the dividend where it is known to divide."""
    for atom in mono:
        if atom in exact:
            dividend, divisor = exact[atom]
            ((d_mono, d_c),) = divisor.terms.items()
            rest = without(mono, times(d_mono, (atom,)))
            if rest is not None and c % d_c == 0:
                ((n_mono, n_c),) = dividend.terms.items()
                return _cancel_exact(times(rest, n_mono), c // d_c * n_c, exact)
    return mono, c


def divide(terms: Terms, by: Terms, exact: Exact) -> tuple[Terms, Terms]:
    """(quotient, rest): the terms that by, a single term, divides, divided, and the others."""
    ((mono, c),) = by.items()
    quotient: Terms = {}
    rest: Terms = {}
    for m, k in terms.items():
        divided = _divide_term(m, k, mono, c, exact)
        if divided is not None:
            quotient[divided[0]] = quotient.get(divided[0], 0) + divided[1]
        elif not m and not mono:
            if k // c:
                quotient[()] = quotient.get((), 0) + k // c
            rest[()] = k % c
        else:
            rest[m] = k
    return {m: k for m, k in quotient.items() if k}, rest


def _divide_term(
    m: Monomial, k: int, by: Monomial, c: int, exact: Exact
) -> tuple[Monomial, int] | None:
    """A term divided by another, None where that does not go: also 512*i by BN, which is
    (512 // BN)*i where BN is known to divide 512."""
    reduced = without(m, by)
    if reduced is not None and k % c == 0:
        return reduced, k // c
    for atom, (dividend, divisor) in exact.items():
        ((d_mono, d_c),) = divisor.terms.items()
        ((n_mono, n_c),) = dividend.terms.items()
        left, factor = without(by, d_mono), without(m, n_mono)
        if left is not None and factor is not None and c % d_c == 0 and k % n_c == 0:
            found = _divide_term(times(factor, (atom,)), k // n_c, left, c // d_c, {})
            if found is not None:
                return found
    return None

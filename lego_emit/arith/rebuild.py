"""Expressions made anew: with other atoms, multiplied out, in a user's own symbols."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from typing import Any, Protocol

from .expr import (
    Cond,
    Expr,
    bit_operation,
    digit,
    distribute,
    divide_terms,
    group,
    lookup,
    maximum,
    minimum,
    select,
    shift_left,
    shift_right,
)
from .terms import Atom

MOST_EXPANDED = 64  # terms of a product of sums that is multiplied out


def rebuild(
    e: Expr, replace: Callable[[Atom], Expr | None], made: dict[Any, Any] | None = None
) -> Expr:
    """The same value with atoms replaced (None: keep), made anew under what is known now. made:
    what was rebuilt before in the same way, where replace rebuilds parts itself."""
    memo: dict[Any, Any] = {} if made is None else made

    def walk(value: Any) -> Any:
        if isinstance(value, Expr):
            key = value.identity
            if key not in memo:
                total = Expr.of(0)
                for mono, coefficient in value.terms.items():
                    factors = [walk_atom(a) for a in mono]
                    total = total + reduce(operator.mul, factors, Expr.of(coefficient))
                memo[key] = total
            return memo[key]
        if isinstance(value, Cond):
            return value.rebuild(walk)
        return value

    def walk_atom(atom: Atom) -> Expr:
        if atom not in memo:
            new = replace(atom)
            memo[atom] = new if new is not None else make(atom.kind, *map(walk, atom.args))
        return memo[atom]

    return walk(e)


def put_back(value: Any, stand_ins: Mapping[Atom, Expr]) -> Any:
    """An expression or a condition with the values of the stand-ins that are in it."""
    exprs = list(value.exprs()) if isinstance(value, Cond) else [value]
    if not any(atom in stand_ins for e in exprs for atom in e.deep_atoms()):
        return value
    return put_back(
        value.rebuild(lambda e: rebuild(e, stand_ins.get))
        if isinstance(value, Cond)
        else rebuild(value, stand_ins.get),
        stand_ins,
    )


def opened(e: Expr, flats: Collection[Atom], kept: Collection[Atom]) -> Expr:
    """e with those of its flat positions looked into that are not kept as one value. A digit is then
    taken in the order in which a layout takes it: first the quotient, then its remainder."""

    made: dict[Any, Any] = {}

    def replace(atom: Atom) -> Expr | None:
        if atom in kept:
            return None
        if atom in flats:
            return rebuild(atom.args[0], replace, made)
        if atom.kind == "digit":
            base, lo, hi = atom.args
            if hi is not None:
                count, rest = divide_terms(hi, lo)
                if not rest.terms:
                    return rebuild(base, replace, made) // lo % count
        return None

    return rebuild(e, replace, made)


def make(kind: str, *args: Any) -> Expr:
    """An atom of a kind, simplified under the facts in force."""
    if kind == "digit":
        return digit(*args)
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
    if kind == "lookup":
        return lookup(*args)
    if kind in ("and", "or", "xor"):
        return bit_operation(kind, *args)
    if kind == "shl":
        return shift_left(*args)
    if kind == "shr":
        return shift_right(*args)
    return Expr.atom(Atom(kind, *args))


def expand_groups(e: Expr) -> Expr | None:
    """e with every group multiplied out, None where that makes too many terms."""
    memo: dict[Any, Expr] = {}

    def multiply(x: Expr) -> Expr:
        key = x.identity
        if key not in memo:
            total = Expr.of(0)
            for mono, coefficient in x.terms.items():
                product = Expr.of(coefficient)
                for atom in mono:
                    product = distribute(product, expanded(atom))
                    if len(product.terms) > MOST_EXPANDED:
                        raise _TooLong
                total = total + product
            memo[key] = total
        return memo[key]

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


class Substituted(Protocol):
    """What substitutions are known (Facts)."""

    @property
    def substitutions(self) -> Mapping[str, Expr]:
        """M -> BM * (M//BM)."""
        ...

    @property
    def quotients(self) -> Mapping[str, tuple[Expr, Expr]]:
        """M//BM -> (M, BM)."""
        ...


def unsubstitute(e: Expr, facts: Substituted) -> Expr:
    """e in the user's own symbols: BM * (M//BM) is M again, a lone M//BM a division."""
    if not facts.quotients and not facts.substitutions:
        return e
    foldings = sorted(
        (
            (name, *next(iter(value.terms.items())))
            for name, value in facts.substitutions.items()
            if value.symbols() & facts.quotients.keys()
        ),
        key=lambda f: (-len(f[1]), f[0]),
    )
    memo: dict[Any, Any] = {}

    def fold(value: Any) -> Any:
        if isinstance(value, Cond):
            return value.rebuild(fold)
        if not isinstance(value, Expr):
            return value
        key = value.identity
        if key not in memo:
            terms: dict[tuple, int] = {}
            for mono, coefficient in value.terms.items():
                rest = list(mono)
                for name, target, c in foldings:
                    while coefficient % c == 0 and _contains(rest, target):
                        for a in target:
                            rest.remove(a)
                        coefficient //= c
                        rest.append(Atom("sym", name))
                made = tuple(sorted((fold_atom(a) for a in rest), key=lambda a: a.key))
                terms[made] = terms.get(made, 0) + coefficient
            memo[key] = Expr({m: c for m, c in terms.items() if c})
        return memo[key]

    def fold_atom(atom: Atom) -> Atom:
        if atom not in memo:
            if atom.kind == "sym" and atom.args[0] in facts.quotients:
                dividend, divisor = facts.quotients[atom.args[0]]
                memo[atom] = Atom("digit", fold(dividend), fold(divisor), None)
            else:
                memo[atom] = Atom(atom.kind, *(fold(a) for a in atom.args))
        return memo[atom]

    return fold(e)


def _contains(atoms: list[Atom], wanted: tuple[Atom, ...]) -> bool:
    return all(atoms.count(a) >= wanted.count(a) for a in wanted)

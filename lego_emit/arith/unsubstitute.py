"""Expressions in the user's own symbols again."""

from __future__ import annotations

from typing import Any

from .expr import Cond, Expr
from .facts import Facts
from .terms import Atom


def unsubstitute(e: Expr, facts: Facts) -> Expr:
    """e in the user's own symbols: BM * (M//BM) is M again, a lone M//BM a division."""
    if not facts.quotients or e.symbols().isdisjoint(facts.quotients):
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

"""The value of a symbolic expression for given values of its symbols, in exact integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..operations import OPS
from ..table_lookup import Entries
from .expr import Cond, Expr
from .terms import Atom


class Undefined(ArithmeticError):
    """A division by zero, a root of a negative number, a negative shift, a place outside of a table."""


def evaluate(e: Expr, values: Mapping[str, int]) -> int:
    """The value; KeyError for a symbol without one, Undefined where there is none."""
    return Evaluation(values).expr(e)


def holds(condition: Cond, values: Mapping[str, int]) -> bool:
    """Whether a condition holds."""
    return Evaluation(values).condition(condition)


class Evaluation:
    """Expressions at one point, each atom and each condition once: what they share would double
    with each level."""

    def __init__(self, values: Mapping[str, int]):
        self.values = values
        self.known: dict[Any, int] = {}

    def expr(self, e: Expr) -> int:
        """The value of an expression; KeyError and Undefined as evaluate has them."""
        total = 0
        for mono, coefficient in e.terms.items():
            product = coefficient
            for atom in mono:
                product *= self.atom(atom)
            total += product
        return total

    def condition(self, condition: Cond) -> bool:
        """Whether a condition holds; of an "and" and an "or" only what decides it has a value."""
        key = condition.identity
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._condition(condition)
        return bool(found)

    def _condition(self, condition: Cond) -> bool:
        op, args = condition.op, condition.args
        if op == "not":
            return not self.condition(args[0])
        if op == "and":
            return self.condition(args[0]) and self.condition(args[1])
        if op == "or":
            return self.condition(args[0]) or self.condition(args[1])
        return OPS[op].value(*map(self.expr, args))

    def atom(self, atom: Atom) -> int:
        """The value of an atom; of a select only the branch that it takes is looked at."""
        found = self.known.get(atom)
        if found is None:
            found = self.known[atom] = self._atom(atom)
        return found

    def _atom(self, atom: Atom) -> int:
        kind, args = atom.kind, atom.args
        if kind == "sym":
            return self.values[args[0]]
        if kind == "select":
            return self.expr(args[1] if self.condition(args[0]) else args[2])
        if kind == "bool":
            return int(self.condition(args[0]))
        if kind == "opaque":
            return self.expr(args[0])
        if kind == "digit":
            base, lo = self.expr(args[0]), self.expr(args[1])
            if args[2] is not None:
                hi = self.expr(args[2])
                if hi == 0:
                    raise Undefined
                base = base % hi
            if lo == 0:
                raise Undefined
            return base // lo
        if kind == "lookup":
            return _entry(args[0], *map(self.expr, args[1:]))
        if kind in ("loop", "switch"):
            return args[0].values(*map(self.expr, args[2:]))[args[1]]
        row, values = OPS[kind], [self.expr(a) for a in args]
        if row.defined is not None and not row.defined(*values):
            raise Undefined
        return row.value(*values)


def _entry(entries: Entries, place: int, *members: int) -> int:
    try:
        return entries.read(place, *members)
    except ArithmeticError:
        raise Undefined from None

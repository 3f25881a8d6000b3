"""Symbols of small ranges at all of their values: what decides a condition that no proof does."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from math import prod
from typing import Any

from ..operations import OPS, is_condition
from .expr import Cond, Expr
from .terms import Atom

MOST = 1024  # points that are looked at where a path parts
MOST_PROVING = 4096  # and in place of a question to Z3
Column = list[int | None]  # None where there is no value, as after a division by zero


def _digit(base: int, lo: int, hi: int | None = None) -> int:
    return (base if hi is None else base % hi) // lo


def _valued(kind: str) -> Callable[..., int | None]:
    """An operation that gives None, or raises ArithmeticError, where it has no value."""
    row = OPS[kind]
    if (defined := row.defined) is None or row.sign in ("//", "%"):
        return row.value
    return lambda *args: row.value(*args) if defined(*args) else None


class Points:
    """All values of the symbols in ranges, and of expressions over them."""

    def __init__(self, ranges: Mapping[str, range]):
        columns = zip(*product(*ranges.values()), strict=True)
        self._known: dict[Any, list[Any]] = {
            Atom("sym", name): list(column) for name, column in zip(ranges, columns, strict=True)
        }
        self._places: dict[tuple[Any, ...], tuple[int, int]] = {}
        self._count = prod(map(len, ranges.values()))

    def possible(self, decided: Iterable[tuple[Cond, bool]], condition: Cond) -> list[bool]:
        """The values that a condition has at the points where the decided ones have theirs."""
        left = -1
        for other, value in decided:
            left &= self._where(other)[not value]
        places = self._where(condition)
        return [value for value in (True, False) if left & places[not value]]

    def nonneg(self, e: Expr, constraints: Iterable[Expr]) -> bool:
        """Whether an expression has a value that is not negative everywhere but where a constraint
        has a negative one."""
        outside = [False] * self._count
        for constraint in constraints:
            values = self._expr(constraint)
            outside = [
                out or (v is not None and v < 0) for out, v in zip(outside, values, strict=True)
            ]
        return all(
            out or (value is not None and value >= 0)
            for out, value in zip(outside, self._expr(e), strict=True)
        )

    def _where(self, condition: Cond) -> tuple[int, int]:
        """The points where it holds, or has no value, and those where it does not, as bits."""
        key = condition.identity
        if key not in self._places:
            column = self._condition(condition)
            self._places[key] = _places_not(False, column), _places_not(True, column)
        return self._places[key]

    def _condition(self, condition: Cond) -> list[bool | None]:
        key = condition.identity
        if key not in self._known:
            op, args = condition.op, condition.args
            if is_condition(op):
                made = _each(OPS[op].value, *map(self._expr, args))
            elif op == "not":
                made = _each(operator.not_, self._condition(args[0]))
            else:
                join = all if op == "and" else any
                made = _each(lambda *values: join(values), *map(self._condition, args))
            self._known[key] = made
        return self._known[key]

    def _expr(self, e: Expr) -> Column:
        key = e.identity
        if key not in self._known:
            total: Column = [0] * self._count
            for mono, coefficient in e.terms.items():
                part: Column = [coefficient] * self._count
                for atom in mono:
                    part = _each(operator.mul, part, self._atom(atom))
                total = _each(operator.add, total, part)
            self._known[key] = total
        return self._known[key]

    def _atom(self, atom: Atom) -> Column:
        if atom not in self._known:
            kind, args = atom.kind, atom.args
            if kind == "opaque":
                made = self._expr(args[0])
            elif kind == "bool":
                made = _each(int, self._condition(args[0]))
            elif kind == "select":
                columns = self._condition(args[0]), self._expr(args[1]), self._expr(args[2])
                made = [
                    None if c is None else a if c else b for c, a, b in zip(*columns, strict=True)
                ]
            elif kind == "node":  # of a form that was found: nothing is known of it
                made = [None] * self._count
            elif kind == "lookup":
                made = _each(args[0].read, *map(self._expr, args[1:]))
            elif kind in ("loop", "switch"):
                made = _each(lambda *v: args[0].values(*v)[args[1]], *map(self._expr, args[2:]))
            else:
                columns = [self._expr(a) for a in args if a is not None]
                made = _each(_digit if kind == "digit" else _valued(kind), *columns)
            self._known[atom] = made
        return self._known[atom]


def _places_not(value: bool, column: list[bool | None]) -> int:
    """The places of a column where another value stands, as bits."""
    return int("".join("01"[c is not value] for c in column), 2)


def _each(operation: Callable, *columns: list) -> list:
    try:
        return list(map(operation, *columns))
    except (ArithmeticError, TypeError):  # somewhere there is no value
        return [_one(operation, values) for values in zip(*columns, strict=True)]


def _one(operation: Callable, values: tuple) -> Any:
    try:
        return None if None in values else operation(*values)
    except ArithmeticError:
        return None

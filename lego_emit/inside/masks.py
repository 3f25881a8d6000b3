"""Positions in a load or store under a mask: computed where the mask holds, so that they are not masked again."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ..kernels.placed import sizes_of
from ..kernels.values import Test, Value
from .expressions import OPERATORS, Chosen, Expressions
from .flow import sides
from .outer import comes_from, tables_in


class Masks(Expressions):
    """Knows the conditions under which a call uses its pointer, tl.load(a + A[i, :], mask=A.in_bounds(i, ":"))."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.tests: dict[str, list[Any]] = {}  # names that are conditions of indices, as of now
        self._masked: dict[
            ast.expr, list[Any]
        ] = {}  # parts of pointers, and what holds where they are used

    def _moved_on(self, name: str, node: ast.AST) -> None:
        super()._moved_on(name, node)
        for test, parts in [*self.tests.items()]:
            if test == name or name in self._mentioned(parts):
                del self.tests[test]

    def _expression(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self._find_masked(node)
        super()._expression(node)

    def _asked(
        self, node: ast.expr, layout: Any, base: ast.expr, method: str, parts: Sequence[ast.expr]
    ) -> Any:
        found = super()._asked(node, layout, base, method, parts)
        tests = self._masked.get(node)
        if not tests or method not in ("apply", "at"):
            return found
        if tables := [name for one in sides(layout) for name in tables_in(one)]:
            raise self.source.error(
                node,
                f"{tables[0]} would be read where the mask does not hold, too: load its entry under the mask before, "
                "and add that to the pointer",
            )
        return _under(found, tests)

    def _find_masked(self, call: ast.Call) -> None:
        """Notes what the pointer of a load or store is a sum of, where there is a mask."""
        found = self.outer.value(call.func)
        place = self.language.masked.get(getattr(found, "__name__", ""))
        if place is None or not call.args or not comes_from(found, (self.language.package,)):
            return
        masks = [
            *call.args[place : place + 1],
            *(k.value for k in call.keywords if k.arg == "mask"),
        ]
        if len(masks) != 1 or any(isinstance(one, ast.NamedExpr) for one in ast.walk(call)):
            return
        if tests := self._tests(masks[0]):
            self._masked |= dict.fromkeys(_summands(call.args[0]), tests)

    def _tests(self, node: ast.expr) -> list[Any]:
        """The conditions of indices that all hold where a condition does."""
        match node:
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                return self._tests(left) + self._tests(right)
            case ast.Name(id=name):
                return self.tests.get(name, [])
            case ast.Call():
                found = self._index(node)
                return [found] if _is_test(found) else []
        return []

    def _learn_test(self, name: str, value: ast.expr) -> None:
        """A name is a condition from now on, unless it is made of what it was before."""
        tests = self._tests(value)
        if tests and name not in self._mentioned(tests):
            self.tests[name] = tests

    def _mentioned(self, found: Any) -> set[str]:
        """The kernel's names in conditions."""
        if isinstance(found, list):
            return set[str]().union(*map(self._mentioned, found))
        if isinstance(found, Chosen):
            names = self._roots(ast.parse(found.test, mode="eval"))
            return names | self._mentioned([found.yes, found.no])
        names = set[str]().union(*map(self.kernel._names_in, found.names))
        return names.union(*map(sizes_of, found.layouts))


def _is_test(found: Any) -> bool:
    """Whether a value is a condition of indices, in either of two layouts."""
    if isinstance(found, Chosen):
        return _is_test(found.yes) and _is_test(found.no)
    return isinstance(found, Test)


def _summands(node: ast.expr) -> Iterator[ast.expr]:
    """What a pointer is computed of, element by element."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield from _summands(node.left)
        yield from _summands(node.right)
    else:
        yield node


def _under(found: Any, tests: Sequence[Any]) -> Any:
    """A position where conditions hold."""
    if isinstance(found, Chosen):
        sides = ([_side(t, found.test, k) for t in tests] for k in (True, False))
        yes, no = (_under(x, side) for x, side in zip((found.yes, found.no), sides, strict=True))
        return Chosen(found.test, yes, no)
    if isinstance(found, Value):
        found.tests = tuple(test for test in tests if isinstance(test, Test))
    return found


def _side(test: Any, asked: str, holds: bool) -> Any:
    """What a condition is where a choice is made, if it is a choice by the same."""
    if isinstance(test, Chosen) and test.test == asked:
        return _side(test.yes if holds else test.no, asked, holds)
    return test

"""SymPy expressions as a Python function: SymPy's own value, to compare with what was emitted."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from ..arith.expr import Expr
from ..arith.given import Pair
from ..packages import sympy


class Evaluated:
    """The expressions of one function at integers, as SymPy itself evaluates them."""

    by = "SymPy's own value"

    def __init__(self, name: str, pair: Pair, params: Sequence[str]):
        self.__name__ = name
        self.pair = pair
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(p, kind) for p in params])

    def __call__(self, **values: Any) -> dict[str, int]:
        """The results by name, as SymPy itself evaluates them."""
        known = {n: sympy.Integer(int(v)) for n, v in values.items()}
        for symbol, e in self.pair.replacements:
            known[symbol.name] = _value(e, known, {})
        memo: dict[Any, Any] = {}
        found = {n: _value(e, known, memo) for n, e in self.pair.expressions.items()}
        for name, value in found.items():
            if not value.is_Integer:
                raise ValueError(f"{name} has no integer value there, but {value}")
        return {n: int(v) for n, v in found.items()}


def _value(e: Any, known: dict[str, Any], memo: dict[Any, Any]) -> Any:
    if isinstance(e, Expr):
        e = e.to_sympy()
    if not isinstance(e, sympy.Basic):
        return sympy.Integer(e)
    if e.is_Symbol:
        return known[e.name]  # pyright: ignore
    if not e.args:
        return e
    if e not in memo:
        memo[e] = e.func(*(_value(a, known, memo) for a in e.args))
    return memo[e]

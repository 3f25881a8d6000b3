"""Symbolic integers that keep themselves normal, what is known of them, and proofs."""

from typing import Any

from ..numeric import is_sympy
from .analyzer import Analyzer
from .expr import Expr, read_with, where_nothing_is_known


def _from_sympy(value: Any) -> Expr:
    from .from_sympy import from_sympy

    return from_sympy(value)


where_nothing_is_known(lambda: Analyzer(use_z3=False))
read_with(is_sympy, _from_sympy)

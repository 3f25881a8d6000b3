"""What a user gives in symbols: expressions, assumptions, ranges of parameters.

Here is what tells them apart. What reads them is loaded where there are some: formulas.py, assume.py
and given_ranges.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..numeric import is_sympy
from .expr import Cond, Expr


class Pair(NamedTuple):
    """(common parts with their names, results by name), as sympy.cse gives them."""

    replacements: Sequence[tuple[Any, Any]]
    expressions: Mapping[str, Any]


@dataclass(frozen=True, eq=False)  # == between bounds would be a question
class GivenRange:
    """least <= name < end; None where it is open."""

    name: str
    least: Expr | None
    end: Expr | None

    @property
    def bounds(self) -> list[Expr]:
        """Those that are not open."""
        return [e for e in (self.least, self.end) if e is not None]


def as_list(assume: Any) -> list[Any]:
    """assume= as a list, also where it is one assumption alone."""
    several = isinstance(assume, Iterable) and not isinstance(assume, (str, Cond))
    if several and getattr(assume, "shape", None) == ():  # an array of one value
        return [assume.item()]  # pyright: ignore[reportAttributeAccessIssue]
    return [*assume] if several else [assume]


def are_formulas(subject: Any) -> bool:
    """Whether generate() was given expressions, and not a function or a layout."""
    if isinstance(subject, (tuple, list, Mapping)) and not is_pair(subject):
        values = subject.values() if isinstance(subject, Mapping) else subject
        return any(is_pair(v) or isinstance(v, Expr) or is_sympy(v) for v in values)
    return is_pair(subject) or isinstance(subject, Expr) or is_sympy(subject)


def is_pair(value: Any) -> bool:
    """Whether it is (replacements, expressions), as sympy.cse gives it."""
    if isinstance(value, Pair):
        return True
    pair = isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], list)
    return pair and isinstance(value[1], (list, tuple, Mapping))

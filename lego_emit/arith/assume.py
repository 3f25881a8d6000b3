"""Assumptions as people write them, read into facts.

`M % BM == 0`, `N < 2**20`, `0 <= i < N`, as text or as SymPy relations. Text is parsed, never
executed.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import AssumptionError, LegoError, short_repr
from ..notation import UnreadableError, read_relations, read_value
from ..numeric import is_sympy
from .analyzer import Analyzer
from .expr import Cond, Expr, maximum, minimum
from .terms import Atom


def parse(assumption: Any) -> list[Cond]:
    """The conditions that an assumption states. Raises AssumptionError where it is none."""
    if isinstance(assumption, Cond):
        return _split(assumption)
    if isinstance(assumption, str):
        try:
            return read_relations(assumption, EXPRESSIONS)
        except UnreadableError as error:
            raise _unreadable(error, assumption, "assumption") from None
        except LegoError as error:
            raise AssumptionError(f"the assumption {_short(assumption)}: {error}") from None
        except RecursionError:
            raise AssumptionError(f"the assumption {_short(assumption)} is too long") from None
    if is_sympy(assumption):
        from .from_sympy import condition_from_sympy

        try:
            condition = condition_from_sympy(assumption)
        except LegoError as error:
            raise AssumptionError(f"the assumption {source_of(assumption)}: {error}") from None
        if isinstance(condition, Cond):
            return _split(condition)
    raise AssumptionError(
        f"{_short(assumption)} is not an assumption; write a relation such as 'M % BM == 0' or 'N < 2**20'"
    )


def parse_value(text: str) -> Expr:
    """A value as text, such as M // BM. Raises AssumptionError where it is none."""
    try:
        return read_value(text, EXPRESSIONS)
    except UnreadableError as error:
        raise _unreadable(error, text, "bound") from None
    except RecursionError:
        raise AssumptionError(f"the bound {_short(text)} is too long") from None


def _unreadable(error: UnreadableError, source: str, what: str) -> AssumptionError:
    if str(error):
        way = "; write == for an equality" if re.search(r"[^<>=!]=([^=]|$)", source) else ""
        return AssumptionError(f"cannot read the {what} {_short(source)}: {error}{way}")
    if not error.part:
        return AssumptionError(
            f"the {what} {_short(source)} is not a relation; write one such as 'M % BM == 0' or "
            f"'N < 2**20'"
        )
    return AssumptionError(
        f"cannot read {_short(error.part)} in the {what} {_short(source)}: integers, names, "
        f"+ - * // % ** << >> & | ^, min and max are known"
    )


class _Expressions:
    """Text read as symbolic integers."""

    def number(self, value: int) -> Expr:
        return Expr.of(value)

    def name(self, name: str) -> Expr:
        return Expr.atom(Atom("sym", name))

    def infix(self, op: str, left: Expr, right: Expr) -> Expr:
        made = _INFIX[op](left, right)
        return made if made.constant is None else Expr.of(made.constant)  # not too large

    def negative(self, value: Expr) -> Expr:
        return -value

    def extreme(self, name: str, left: Expr, right: Expr) -> Expr:
        return minimum(left, right) if name == "min" else maximum(left, right)

    def compare(self, op: str, left: Expr, right: Expr) -> Cond:
        if op in (">", ">="):
            return Cond("lt" if op == ">" else "le", right, left)
        return Cond({"<": "lt", "<=": "le", "==": "eq", "!=": "ne"}[op], left, right)


EXPRESSIONS = _Expressions()
_INFIX: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def _split(condition: Cond) -> list[Cond]:
    if condition.op == "and":
        return [*_split(condition.args[0]), *_split(condition.args[1])]
    return [condition]


def learn(analyzer: Analyzer, conditions: Iterable[tuple[Cond, str]]) -> None:
    """Put conditions (with their text, for messages) into what is analyzer."""
    for condition, source in conditions:
        try:
            _learn(analyzer, condition)
        except LegoError as error:
            raise AssumptionError(f"the assumption {_short(source)}: {error}") from None
    analyzer.learn_ends()


def source_of(assumption: Any) -> str:
    """An assumption as it was written."""
    return assumption if isinstance(assumption, str) else short_repr(assumption)


def _short(source: Any) -> str:
    """An assumption in a message: a long one is cut."""
    text = short_repr(source)
    return text if len(text) <= 100 else f"{text[:97]}.."


def _learn(analyzer: Analyzer, condition: Cond) -> None:
    op, args = condition.op, condition.args
    if op == "eq":
        if (divided := condition.remainder) is not None:
            _learn_divides(
                analyzer, divided.args[1 if divided.kind == "floormod" else 2], divided.args[0]
            )
            return
        for a, b in (args, args[::-1]):
            single, value = a.single, analyzer.rebuilt(b)
            if (
                single is not None
                and single.kind == "sym"
                and single.args[0] not in analyzer.facts.substitutions
            ):
                name = single.args[0]
                if name not in value.symbols() and len(value.terms) <= 1:
                    analyzer.learn_equal(name, value)
                    return
    if op in ("lt", "le", "eq"):
        a, b = (analyzer.rebuilt(x) for x in args)
        gap = b - a
        step = math.gcd(*(c for mono, c in gap.terms.items() if mono))
        if op == "eq" and step > 1 and gap.terms.get((), 0) % step:
            raise AssumptionError("it contradicts what is known already")
        if analyzer.decide(Cond(op, a, b)) is False:
            raise AssumptionError("it contradicts what is known already")
        for e in (b - a - (op == "lt"), *([a - b] if op == "eq" else [])):
            analyzer.learn_nonneg(e)
        return
    raise AssumptionError("only <, <=, ==, >=, > and 'and' can be used")


def _learn_divides(analyzer: Analyzer, divisor: Expr, dividend: Expr) -> None:
    """A divisor is no 0, and its symbols are taken to be positive unless they are known not to be;
    what it divides may be 0 and negative."""
    divisor, dividend = (_positive(analyzer.rebuilt(e)) for e in (divisor, dividend))
    for atom in sorted(divisor.atoms(), key=lambda a: a.key):
        if atom.kind == "sym" and not analyzer.nonneg(-Expr.atom(atom)):
            analyzer.learn_range(atom.args[0], Expr.of(1), None)
    if analyzer.nonneg(divisor - 1):
        analyzer.learn_divides(divisor, dividend, positive=False)


def _positive(e: Expr) -> Expr:
    """e or, for the divisibility as good, -e: with a positive coefficient where it is a product."""
    return -e if len(e.terms) == 1 and min(e.terms.values()) < 0 else e

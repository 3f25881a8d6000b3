"""Symbols that know whom to ask: what a user's function, or a block of a layout, computes with.

A `ContextExpr` is an expression together with a context, which does its operations: an analyzer, which
simplifies under what it knows, or a tape, which writes them down as well. Inside an analyzer, and in all
that is stored, expressions are plain (`plain`), for what is known of a value belongs to a question and
not to the value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Protocol

from .expr import RUNNING, Cond, Expr, as_number, isqrt


class Context(Protocol):
    """What does the operations of symbols."""

    def step(self, operation: Callable[..., Any], *operands: Any) -> Any:
        """The result of an operation, a symbol of this context where it is symbolic."""
        ...

    def show(self) -> None:
        """Text is made of a symbol."""
        ...


class _InContext:
    """What symbols and conditions in a context share."""

    __slots__ = ()
    _plain: Any
    context: Context

    @property
    def plain(self) -> Any:
        """The value under what was known when it was computed."""
        return self._plain

    def step(self, operation: Callable[..., Any], *operands: Any) -> Any:
        """The result of an operation with this value as an operand."""
        return self.context.step(operation, *operands)

    def __repr__(self) -> str:
        self.context.show()
        return repr(self._plain)


class ContextExpr(_InContext, Expr):
    """A symbolic integer in a context."""

    __slots__ = ("_plain", "context")

    def __init__(self, plain: Expr, context: Context):
        super().__init__(plain.terms)
        self._plain, self.context = plain, context

    __hash__ = Expr.__hash__

    def __reduce__(self) -> Any:
        return Expr, (self.terms,)

    def __bool__(self) -> bool:
        return bool(self.constant) if self.constant is not None else not bool(self == 0)

    def __format__(self, spec: str) -> str:
        self.context.show()
        return format(self._plain, spec)

    def isqrt(self) -> Expr:
        """The integer square root."""
        return self.context.step(isqrt, self)


class ContextCond(_InContext, Cond):
    """A condition in a context."""

    __slots__ = ("_plain", "context")

    def __init__(self, plain: Cond, context: Context):
        super().__init__(plain.op, *plain.args)
        self._plain, self.context = plain, context

    __hash__ = Cond.__hash__

    def __reduce__(self) -> Any:
        return Cond, (self.op, *self.args)

    def as_expr(self) -> Expr:
        """1 where the condition holds, else 0."""
        return self.context.step(as_number, self)


def _forward(operation: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: self.context.step(operation, self, *others)


def _reflected(operation: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda self, other: self.context.step(operation, other, self)


for _name in "add sub mul floordiv mod pow lshift rshift and or xor".split():
    _operation = pow if _name == "pow" else getattr(operator, f"__{_name}__")
    setattr(ContextExpr, f"__{_name}__", _forward(_operation))
    setattr(ContextExpr, f"__r{_name}__", _reflected(_operation))
for _name in ("neg", "pos", "invert", "abs", "eq", "ne", "lt", "le", "gt", "ge"):
    setattr(ContextExpr, f"__{_name}__", _forward(getattr(operator, f"__{_name}__")))
ContextExpr.__divmod__ = _forward(divmod)
ContextExpr.__rdivmod__ = _reflected(divmod)
for _name in ("eq", "ne", "invert", "and", "or"):
    setattr(ContextCond, f"__{_name}__", _forward(getattr(operator, f"__{_name}__")))
for _name in ("and", "or"):
    setattr(ContextCond, f"__r{_name}__", _reflected(getattr(operator, f"__{_name}__")))


def plain(value: Any) -> Any:
    """A symbol or a condition without its context; all else as it is."""
    if type(value) is Expr:
        return value
    return value.plain if isinstance(value, (Expr, Cond)) else value


def bound(value: Any) -> Any:
    """A value as a symbol that computes under what is known where something runs; else plain."""
    running = RUNNING.get()
    return Expr.of(value) if running is None else running.analyzer.bind(Expr.of(value))

"""What the operations ask of sizes and strides, though they be symbols: does it divide, is it less."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ..algebra.block import Block
from ..algebra.nested import number
from ..arith.analyzer import Analyzer
from ..arith.expr import RUNNING, Expr
from ..errors import LayoutError
from ..numeric import is_integer

WAY_OUT = "do it in a function that generate() is given, with assume="


def at_most(a: Any, b: Any) -> bool | None:
    """Whether a <= b; None where that is not known."""
    if is_integer(a) and is_integer(b):
        return a <= b
    gap = Expr.of(b) - Expr.of(a)
    known = _known(gap)
    gap = known.rebuilt(gap)
    if known.nonneg(gap):
        return True
    return False if known.nonneg(-gap - 1) else None


def divides(divisor: Any, n: Any) -> bool | None:
    """Whether n is a multiple of divisor; None where that is not known."""
    if is_integer(divisor) and is_integer(n):
        return n % divisor == 0
    if is_integer(divisor) and divisor == 1:
        return True
    n, divisor = Expr.of(n), Expr.of(divisor)
    known = _known(n + divisor)
    rest = known.simplifier.mod(known.rebuilt(n), known.rebuilt(divisor))
    if rest.constant is not None:
        return rest.constant == 0
    return False if known.nonneg(rest - 1) else None


def quotient(n: Any, divisor: Any) -> Any:
    """n // divisor, simplified."""
    if is_integer(n) and is_integer(divisor):
        return n // divisor
    n, divisor = Expr.of(n), Expr.of(divisor)
    known = _known(n + divisor)
    found = known.simplifier.floordiv(known.rebuilt(n), known.rebuilt(divisor))
    return number(known.unsubstitute(found))


def quotient_up(n: Any, divisor: Any, construct: object) -> Any:
    """n / divisor, rounded up. Raises LayoutError where symbols leave open whether it divides: a
    quotient among a layout's sizes says that it does."""
    if does_divide(divisor, n, construct):
        return quotient(n, divisor)
    return quotient(n + divisor - 1, divisor)


def does_divide(divisor: Any, n: Any, construct: object) -> bool:
    """Whether n is a multiple of divisor. Raises LayoutError where that is not known."""
    answer = divides(divisor, n)
    if answer is None:
        by = f"({divisor!r})" if len(Expr.of(divisor).terms) > 1 else repr(divisor)
        of = f"({n!r})" if len(Expr.of(n).terms) > 1 else repr(n)
        raise LayoutError(
            f"{construct}: whether {divisor!r} divides {n!r} is not known; write {n!r} as a product, as "
            f"in {by}*K, or {WAY_OUT}{[f'{of} % {by} == 0']}"
        )
    return answer


def decided(answer: bool | None, construct: object, question: object) -> bool:
    """An answer that must be known: to a relation, as a message names it. Raises LayoutError where it is not."""
    if answer is None:
        raise LayoutError(
            f"{construct}: whether {question} is not known; {WAY_OUT}{[str(question)]}, or what else holds"
        )
    return answer


def facts_of(layout: Block) -> AbstractContextManager[None]:
    """What a layout's sizes say of each other is known in the body: M % B == 0 of Col(M // B, B)."""
    from ..trace.layouts import facts_of

    return facts_of(layout)


def _known(e: Expr) -> Analyzer:
    """What is known where something runs; where nothing does, that each symbol is a size."""
    running = RUNNING.get()
    if running is not None:
        return running.analyzer
    known = Analyzer()
    for name in sorted(e.symbols()):
        known.learn_size(name)
    return known

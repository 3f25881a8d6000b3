"""What the operations ask of sizes and strides, though they be symbols: does it divide, is it less."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..algebra.block import Block, outside
from ..algebra.nested import number
from ..arith.expr import Expr
from ..arith.facts import Facts, current
from ..arith.knowledge import IN_FORCE, using
from ..arith.rebuild import unsubstitute
from ..errors import LayoutError
from ..kinds import is_integer

WAY_OUT = (
    "write a size that divides as a product, as in 8*K, or give generate() an assume such as "
    '"M % 8 == 0"'
)


def at_most(a: Any, b: Any) -> bool | None:
    """Whether a <= b; None where that is not known."""
    if is_integer(a) and is_integer(b):
        return a <= b
    gap = Expr.of(b) - Expr.of(a)
    with _facts(gap) as facts:
        gap = facts.rebuilt(gap)
        if facts.nonneg(gap):
            return True
        return False if facts.nonneg(-gap - 1) else None


def divides(divisor: Any, n: Any) -> bool | None:
    """Whether n is a multiple of divisor; None where that is not known."""
    if is_integer(divisor) and is_integer(n):
        return n % divisor == 0
    if is_integer(divisor) and divisor == 1:
        return True
    e = Expr.of(n) + Expr.of(divisor)
    with _facts(e) as facts:
        rest = facts.rebuilt(Expr.of(n)) % facts.rebuilt(Expr.of(divisor))
        if rest.constant is not None:
            return rest.constant == 0
        return False if facts.nonneg(rest - 1) else None


def quotient(n: Any, divisor: Any) -> Any:
    """n // divisor, simplified."""
    if is_integer(n) and is_integer(divisor):
        return n // divisor
    n, divisor = Expr.of(n), Expr.of(divisor)
    with _facts(n + divisor) as facts:
        return number(unsubstitute(facts.rebuilt(n) // facts.rebuilt(divisor), facts))


def quotient_up(n: Any, divisor: Any, construct: str) -> Any:
    """n / divisor, rounded up. Raises LayoutError where symbols leave open whether it divides: a
    quotient among a layout's sizes says that it does."""
    if decided(divides(divisor, n), construct, f"{divisor!r} divides {n!r}"):
        return quotient(n, divisor)
    return quotient(n + divisor - 1, divisor)


def decided(answer: bool | None, construct: str, question: str) -> bool:
    """An answer that must be known. Raises LayoutError where it is not."""
    if answer is None:
        raise LayoutError(f"{construct}: whether {question} is not known; {WAY_OUT}")
    return answer


@contextmanager
def facts_of(layout: Block) -> Iterator[None]:
    """What a layout's sizes say of each other is known in the body: M % B == 0 of Col(M // B, B)."""
    facts = Facts()
    with using(facts):
        outside("symbols").learn_layout(layout)
        yield


@contextmanager
def _facts(e: Expr) -> Iterator[Facts]:
    """What is in force; where nothing is, that each symbol is a size."""
    if IN_FORCE.get() is not None:
        yield current()
        return
    facts = Facts()
    with using(facts):
        for name in sorted(e.symbols()):
            facts.learn_size(name)
        yield facts

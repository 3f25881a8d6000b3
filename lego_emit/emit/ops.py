"""Spellings of operations: how their texts bind, and where a long line may be broken."""

from __future__ import annotations

from dataclasses import dataclass

ATOM = 100  # binds tighter than any operator
BREAK = "\v"  # inside an op's text: a blank where a long line may be broken


@dataclass(frozen=True, slots=True)
class Op:
    """A spelling. text has {0}, {1}.. for the operands, {T} for the index type's name and {unit}
    for the unit's; prec is how tightly the whole binds, needs the least binding that each operand
    must have to stand without parentheses."""

    text: str
    prec: int
    needs: tuple[int, ...]
    helper: str | None = None  # the helper function that the text calls


def infix(symbol: str, prec: int, left: int | None = None, right: int | None = None) -> Op:
    """A left-associative binary operator; left and right override the operands' least binding."""
    return Op(f"{{0}}{BREAK}{symbol} {{1}}", prec, (left or prec, right or prec + 1))


def call(text: str, arity: int, helper: str | None = None) -> Op:
    """A call or anything else that brackets its operands itself."""
    return Op(text, ATOM, (0,) * arity, helper)

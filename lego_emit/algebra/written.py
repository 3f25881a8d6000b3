"""Integers that write down what is done to them.

As a reader of the paper's figures would: what anyone leaves out is left out.
"""

from __future__ import annotations

from typing import Any

from ..table_lookup import Entries

_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "and": "&", "or": "|",
    "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip


class Written:
    """Base of such integers: made() is asked for each operation on integers, compared() for each
    comparison."""

    __lego_symbolic__ = True
    __array_ufunc__ = None
    __slots__ = ()

    def of(self, op: str, *args: Any) -> Any:
        """An operation over its operands, written down; op is Python's operator."""
        raise NotImplementedError

    def compared(self, op: str, other: Any) -> Any:
        """self op other, a condition."""
        raise NotImplementedError

    def looked_up(self, entries: Entries) -> Any:
        """The entry of a table at this place."""
        raise NotImplementedError

    def made(self, op: str, left: Any, right: Any) -> Any:
        """left op right, a number or an operand itself where any reader would leave the rest out."""
        if op in ("+", "|", "^") and is_number(left, 0):
            return right
        if op in ("+", "-", "|", "^", "<<", ">>") and is_number(right, 0):
            return left
        if op == "*" and (is_number(left, 0) or is_number(right, 0)):
            return 0
        if op == "*" and (is_number(left, 1) or is_number(right, 1)):
            return right if is_number(left, 1) else left
        if op == "//" and is_number(right, 1):
            return left
        if op == "%" and is_number(right, 1):
            return 0
        return self.of(op, left, right)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self.made("//", self, other), self.made("%", self, other)


def is_number(value: Any, number: int) -> bool:
    """Whether an operand is that number."""
    if isinstance(value, Written):
        return False
    known = value if isinstance(value, int) else getattr(value, "constant", None)
    return known == number


for _name, _op in _OPERATORS.items():
    setattr(Written, f"__{_name}__", lambda a, b, op=_op: a.made(op, a, b))
    setattr(Written, f"__r{_name}__", lambda a, b, op=_op: a.made(op, b, a))
for _name, _op in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(Written, f"__{_name}__", lambda a, b, op=_op: a.compared(op, b))

"""Conditions in arithmetic: 0 or 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .symbolic import check_lookup
from .terms import Condition


class Flag(Condition):
    """A condition, which is 0 or 1 where a number is wanted."""

    __slots__ = ()

    def __hash__(self) -> int:
        check_lookup(self)
        return hash(self.identity)

    def as_expr(self) -> Any:
        """1 where the condition holds, else 0."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self.as_expr() + other

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self.as_expr() * other

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return self.as_expr() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self.as_expr()

    def __rand__(self, other: Any) -> Any:
        return other & self.as_expr()

    def __ror__(self, other: Any) -> Any:
        return other | self.as_expr()

    def __neg__(self) -> Any:
        return -self.as_expr()

    def __index__(self) -> int:
        return int(bool(self))

    __int__ = __index__


def _as_number(method: str) -> Callable[..., Any]:
    return lambda self, *operands: getattr(self.as_expr(), method)(*operands)


for _name in (
    *("floordiv", "mod", "divmod", "truediv", "lshift", "rshift", "xor", "pow"),
    *("rfloordiv", "rmod", "rdivmod", "rtruediv", "rlshift", "rrshift", "rxor", "rpow"),
    *("lt", "le", "gt", "ge", "abs", "pos", "trunc", "floor", "ceil", "round", "float"),
):
    setattr(Flag, f"__{_name}__", _as_number(f"__{_name}__"))

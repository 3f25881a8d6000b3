"""What Python may ask of a number and a symbol cannot answer.

Each is refused with what to write instead.
"""

from __future__ import annotations

from typing import Any

from ..errors import RAISED, TraceError
from .terms import Condition, Sum


def check_lookup(value: Sum | Condition) -> None:
    """Refuse to look a symbol up by its hash while a user's function is called: it is not found,
    whatever its value may be. (Our own tables are keyed by identities, for a hash that two values share
    makes Python ask ==, which between symbols is a question and would part the path that is followed.)"""
    if RAISED.get() is not None and getattr(value, "constant", None) is None:
        raise TraceError(
            f"{value!r} is a symbol, which nothing can be looked up by: no key of a dict or a set, no "
            f"argument of a cached function; write a chain of `a if i == 0 else b`"
        )


class Symbolic(Sum):
    """A sum that takes the place of a Python int; where it is a number, it behaves as one."""

    __slots__ = ()

    def __hash__(self) -> int:
        check_lookup(self)
        constant = self.constant
        return hash(self.identity if constant is None else constant)

    def __truediv__(self, other: Any) -> Any:
        raise TraceError(f"({self!r}) / ({other!r}) is not an integer division: write //")

    __rtruediv__ = __truediv__

    def __index__(self) -> int:
        constant = self.constant
        if constant is not None:
            return constant
        raise TraceError(
            f"{self!r} is a symbol, and Python needs its value here (range, int(), a list's "
            f"index or slice); fix it with sizes={{...}}; a loop of so many rounds is "
            f"lego_emit.fori_loop, a root lego_emit.isqrt, a list that is looked up "
            f"lego_emit.Lookup([len(list)], list)"
        )

    __int__ = __index__

    def __float__(self) -> float:
        constant = self.constant
        if constant is not None:
            return float(constant)
        raise TraceError(
            f"{self!r} is a symbol, and Python wants a float here (float, math.sqrt, math.log); "
            f"indices are integers: write // for a division, lego_emit.isqrt for a root"
        )

    def __trunc__(self) -> Any:
        return self

    __floor__ = __ceil__ = __trunc__

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None or digits >= 0:
            return self
        raise TraceError(f"round({self!r}, {digits}): write it with // and *")

    def __format__(self, spec: str) -> str:
        constant = self.constant
        try:
            return format(repr(self) if constant is None else constant, spec)
        except ValueError:
            raise TraceError(
                f"{self!r} is a symbol and has no value that the format {spec!r} could show"
            ) from None

    def bit_length(self) -> Any:
        """Refused, with what to write instead."""
        raise TraceError(
            f"({self!r}).bit_length(): a symbol has no number of bits; where it is below 2**k, "
            f"write sum(x >= 1 << b for b in range(k))"
        )

    def bit_count(self) -> Any:
        """Refused, with what to write instead."""
        raise TraceError(
            f"({self!r}).bit_count(): a symbol's bits cannot be counted; where it is below 2**k, "
            f"write sum(x >> b & 1 for b in range(k))"
        )

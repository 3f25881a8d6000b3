"""What Python may ask of a number and a symbol cannot answer, each refused with what to write
instead."""

from __future__ import annotations

from typing import Any

from ..errors import TraceError
from .terms import Sum


class Symbolic(Sum):
    """A sum that takes the place of a Python int; where it is a number, it behaves as one."""

    __slots__ = ()

    def __truediv__(self, other: Any) -> Any:
        raise TraceError(f"({self!r}) / ({other!r}) is no integer division: write //")

    __rtruediv__ = __truediv__

    def __index__(self) -> int:
        constant = self.constant
        if constant is not None:
            return constant
        raise TraceError(
            f"{self!r} is a symbol, and Python needs its value here (range, int(), a list's "
            f"index or slice); fix it with sizes={{...}}; a root is lego_emit.isqrt"
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

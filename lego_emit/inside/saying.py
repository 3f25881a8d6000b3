"""assume(): what holds in a kernel."""

from __future__ import annotations

from typing import Any

from ..errors import AssumptionError


def assume(*conditions: Any) -> None:
    """Nothing; in a function under lego_emit.jit, its index expressions rest on these conditions.

    conditions: comparisons of the kernel's names, as in K % 16 == 0. Of a pointer it is the address in
        bytes. jit() takes the call away; where a name's multiples are meant, Triton is told by
        tl.multiple_of.

    Raises AssumptionError where it runs as plain Python and a condition is false.

        >>> from lego_emit import assume
        >>> assume(32 % 16 == 0)
    """
    for k, holds in enumerate(conditions, 1):
        if not holds:
            raise AssumptionError(f"assume(): condition {k} is {holds!r}")

"""Functions of few bits that cannot be followed with symbols, for their many paths or as they need a
parameter's value: called at every index, and taken for the affine map over F2 that they turn out to
be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..arith.expr import Expr
from ..errors import TraceError
from .calls import signature_of
from .trace import Trace

if TYPE_CHECKING:
    from ..algebra.linear import Linear

BITS = 16  # of all parameters together
LINES = 2**16  # that one call may run through; a loop without end is no map


def called_everywhere(fn: Callable[..., Any], error: TraceError) -> Callable[[Trace], Any]:
    """What follows fn by its values. It raises the error that was raised when fn was followed where a
    parameter's range is not a power of two from 0 on, where there are too many, or where fn is not
    affine."""
    made: dict[tuple[tuple[str, int], ...], Any] = {}

    def function(trace: Trace) -> Any:
        signature = signature_of(fn)
        if signature.groups or signature.result is not None:
            raise error
        given = {name: trace.argument(name) for name in signature.taken(trace.sizes)}
        trace.signature = [*given]
        fixed = {n: v for n, v in given.items() if isinstance(v, int)}
        free = {n: v for n, v in given.items() if n not in fixed}
        ins, bits = [], 0
        for name, symbol in free.items():
            lo, hi = trace.analyzer.interval(Expr.of(symbol))
            if trace.base or lo != 0 or hi is None or hi & (hi + 1):
                raise error
            ins.append((name, hi + 1))
            bits += hi.bit_length()
        if not ins or bits > BITS:
            raise error
        key = tuple(ins)
        if key not in made:
            made[key] = _layout(fn, dict(ins), fixed, error)
        layout, form = made[key]
        values = layout(*free.values())
        if isinstance(form, Mapping):
            return dict(zip(form, values, strict=True))
        return values if isinstance(form, tuple | list) else values[0]

    return function


def _layout(
    fn: Callable[..., Any], ins: Mapping[str, int], fixed: Mapping[str, int], error: TraceError
) -> tuple[Linear, Any]:
    """(the layout, fn's result at zero, whose form it has)."""
    from ..algebra.linear import Linear

    signature = signature_of(fn)

    def at(index: Mapping[str, int]) -> Any:
        positional, keywords = signature.arguments({**fixed, **index})
        return fn(*positional, **keywords)

    try:
        with _ending():
            form = at(dict.fromkeys(ins, 0))

        def called(*index: int) -> Any:
            with _ending():
                return at(dict(zip(ins, index, strict=True)))

        return Linear.of(called, ins), form
    except Exception:
        raise error from None


class _Endless(Exception):
    """A call that ran through too many lines."""


@contextmanager
def _ending() -> Iterator[None]:
    """Ends what runs in the body after LINES lines."""
    left = LINES

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Endless
        return line

    before = sys.gettrace()
    try:
        sys.settrace(line)
        yield
    finally:
        sys.settrace(before)

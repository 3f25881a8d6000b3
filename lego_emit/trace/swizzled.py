"""A swizzle whose numbers are symbols, at a position: shifts, and what makes them right."""

from __future__ import annotations

from typing import Any

from ..arith.expr import Cond, Expr
from ..numeric import is_sympy
from .learn import note, parameter_of
from .paths import Running, running
from .trace import step

MOST = {"B": 15, "M": 15, "S": 31}  # where nothing else bounds them: the mask fits 31 bits


def swizzled(swizzle: Any, position: Any) -> Any:
    """Where a swizzle takes a position, some of its numbers or the position being symbols (SymPy in,
    SymPy out).

    In a function that is followed, 0 <= B <= S and 0 <= M are known from here on: a parameter has that
    range, and of another value, or in a branch, the header has a precondition. A parameter that nothing
    bounds from above is at most what MOST says.
    """
    return step(_swizzled, position, swizzle.B, swizzle.M, swizzle.S)


def _swizzled(*given: Any) -> Any:
    values, here = [*map(Expr.of, given)], running()
    if here is not None:
        values = [here.analyzer.rebuilt(e) for e in values]
        if here.trace is not None:
            _learn(*values[1:], here)
        values = here.analyzer.bind(values)
    x, b, m, s = values
    found = x ^ (x >> s & (1 << b) - 1 << m)  # (x & ((1 << b) - 1 << m + s)) >> s, in fewer bits
    return Expr.of(found).to_sympy() if any(map(is_sympy, given)) else found


def _learn(b: Expr, m: Expr, s: Expr, here: Running) -> None:
    assert here.trace is not None
    for name in sorted(b.symbols() | m.symbols() | s.symbols()):
        if name.isidentifier() and name not in here.analyzer.facts.quotients:
            here.trace.add_parameter(name)  # a symbol that the user made is one, too
    most = {name: Expr.of(n) for name, n in MOST.items()}
    _bound(b, Expr.of(0), most["B"] if s.constant is None else s, here)
    _bound(m, Expr.of(0), most["M"], here)
    _bound(s, b, most["S"], here)


def _bound(value: Expr, least: Expr, most: Expr, here: Running) -> None:
    """From here on a value is known to be at least `least`; a parameter that nothing bounds from above is
    at most `most`."""
    known, trace = here.analyzer, here.trace
    low, high = known.nonneg(value - least), known.interval(value)[1] is not None
    name, base = parameter_of(value, here) or ("", 0)
    if trace and name in trace.params() and not known.facts.branch:
        trace.placed.add(name)
        known.learn_range(name, None if low else least + base, None if high else most + base)
    elif not low:
        note(Cond("le", *(known.unsubstitute(e) for e in (least, value))), trace)

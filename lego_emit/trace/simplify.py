"""One SymPy expression, simplified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..arith.expr import Expr
from ..arith.formulas import formulas_of, in_short, symbols_of
from ..arith.given import as_list
from ..arith.given_ranges import parse_ranges
from ..errors import AssumptionError, TraceError, did_you_mean
from ..numeric import is_sympy
from .follow import TraceOptions
from .formulas import trace_formulas


def simplify(expr: Any, assume: Sequence[Any] = (), ranges: Mapping[Any, Any] | None = None) -> Any:
    """A SymPy expression of integers, simplified under what is known of its symbols: an equal SymPy
    expression in the same symbols. Sums and products are SymPy's own, all other operations nodes
    of lego_emit.arith.sympy_nodes (FloorDiv, FloorMod, Select, ..), which round down.

    expr: what generate() takes as one expression, an expression of `symbols` too; every symbol is
        an integer, known by its name.
    assume, ranges: what holds of the symbols, as generate() takes them.

    The value is the same wherever expr has one. Raises LegoError for what is no integer expression.
    """
    if not (isinstance(expr, Expr) or is_sympy(expr)):
        raise TraceError(f"simplify() takes one SymPy expression, not {in_short(expr)}")
    given = formulas_of(expr)
    assert given is not None
    _, (found,) = trace_formulas(
        given, None, TraceOptions(assume=as_list(assume), ranges=parse_ranges(ranges))
    )
    for name in found.unmet:
        params = [n for n in found.trace.params() if n not in found.unmet]
        raise AssumptionError(
            f"ranges has {name}, which is not a parameter; parameters: "
            f"{', '.join(params) or 'none'}.{did_you_mean(name, params)}"
        )
    known = found.trace.analyzer
    value = known.unsubstitute(known.rebuilt(found.outputs["result"]))
    from ..arith.sympy_nodes import to_sympy

    return to_sympy(value, {s.name: s for s in reversed(symbols_of([expr]))})

"""One SymPy expression, simplified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..arith.formulas import formulas_of, in_short, symbols_of
from ..arith.given import as_list
from ..arith.given_ranges import parse_ranges
from ..arith.terms import Atom, without
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

        >>> from lego_emit import simplify
        >>> import sympy
        >>> i, j = sympy.symbols("i j")
        >>> simplify(sympy.floor((4 * i + j) / 4), ranges={"j": (0, 4)})
        i
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
    value = known.unsubstitute(_without_steps(known.rebuilt(found.outputs["result"]), known))
    from ..arith.sympy_nodes import to_sympy

    return to_sympy(value, {s.name: s for s in reversed(symbols_of([expr]))})


def _without_steps(e: Expr, known: Analyzer) -> Expr:
    """A sum in which choices between numbers are quotients, where it has fewer terms then: i, or i - 4 from
    4 on, is i % 4 below 8."""
    for mono, c in e.terms.items():
        for atom in mono:
            step = _step(atom, known) if atom.kind == "select" else None
            if step is not None:
                factor = Expr({without(mono, (atom,)) or (): c})
                made = known.rebuilt(e - Expr({mono: c}) + factor * step)
                if len(made.terms) < len(e.terms):
                    return _without_steps(made, known)
    return e


def _step(choice: Atom, known: Analyzer) -> Expr | None:
    """A choice between two numbers by x < n, where 0 <= x < 2*n, as a sum of one and a multiple of x // n."""
    condition, first, second = choice.args
    if condition.op not in ("lt", "le"):
        return None
    x, n = condition.args
    if x.constant is not None:  # n <= x
        x, n, first, second = n, x, second, first
        border = n.constant + (condition.op == "lt")
    elif n.constant is not None:
        border = n.constant + (condition.op == "le")
    else:
        return None
    (lo, hi), height = known.interval(x), (second - first).constant
    if height is None or lo is None or lo < 0 or hi is None or not hi < 2 * border:
        return None
    return first + height * known.simplifier.floordiv(x, Expr.of(border))

"""Whether two layouts are the same map, by their simplified formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.same import Same
from ..arith.analyzer import Analyzer
from ..arith.evaluate import Undefined
from ..arith.expr import Expr
from ..arith.terms import Atom
from .layouts import Symbols
from .learn import learn_layout, size_of
from .paths import Running

SAMPLES = 200  # of sizes and indices, where two layouts are compared


def same_map(a: Any, b: Any) -> Same:
    """Whether two layouts of as many dims are the same map, by their simplified formulas and by
    samples of their sizes and indices."""
    known = Analyzer()
    here = Running(known)
    with here.entered():
        for _ in range(3):
            for block in (a, b):
                learn_layout(block, here)
        for n, m in zip(a.dims, b.dims, strict=True):
            gap = known.simplifier.subtract(size_of(n, known), size_of(m, known))
            if known.nonneg(gap) and known.nonneg(-gap):
                continue
            return Same(None, None, f"the dims {n!r} and {m!r} are not known to be equal")
        index = [Expr.atom(Atom("sym", f"i{k}")) for k in range(len(a.dims))]
        for i, n in zip(index, a.dims, strict=True):
            known.learn_range(i.symbols().pop(), Expr.of(0), size_of(n, known) - 1)
        bound = known.bind(index)
        ones, others = (_results(block.forward(Symbols(here), bound)) for block in (a, b))
        if len(ones) != len(others):
            return Same(False, None, f"one has {len(ones)} results, the other {len(others)}")
        found = [_same(*pair, index, known) for pair in zip(ones, others, strict=True)]
    return next((s for s in found if s.verdict is False), min(found, key=bool))


def _results(found: Any) -> tuple[Expr, ...]:
    return tuple(map(Expr.of, found if isinstance(found, tuple) else (found,)))


def _same(one: Expr, other: Expr, index: Sequence[Expr], known: Analyzer) -> Same:
    """Whether two formulas are the same under what is known."""
    gap = known.rebuilt(one - other)
    flat = known.simplifier.expand_opaque(gap)
    if not gap.terms or (flat is not None and not flat.terms):
        return Same(True, None, "the formulas are equal")
    for sample in (*known.samples.first(), *known.samples.more(SAMPLES)):
        try:
            x, y = sample.expr(one), sample.expr(other)
        except (Undefined, KeyError):
            continue
        if x != y:
            values = {n: v for n, v in sample.values.items() if n.isidentifier()}
            at = tuple(values[f"i{k}"] for k in range(len(index)))
            where = ", ".join(f"{n}={v}" for n, v in sorted(values.items()))
            return Same(False, at, f"for {where} {x} and {y}")
    if known.nonneg(gap) and known.nonneg(-gap):
        return Same(True, None, "proven")
    return Same(None, None, f"{one!r} and {other!r} agree at all samples")

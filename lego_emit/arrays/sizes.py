"""Numbers for the sizes of a layout, by the shape of the array that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.block import Block
from ..arith.expr import Expr
from ..trace.numbered import numbered


def sized(layout: Block, shape: Sequence[int], of: Any) -> tuple[Block, Any]:
    """The layout, and of=, with numbers for the symbols that the last sizes of a shape decide: those of dims
    that are a symbol, or a number of times one."""
    if layout.is_concrete:
        return layout, of
    dims = layout.dims if of is None or isinstance(of, Block) else [*of]
    known: dict[str, int] = {}
    for n, given in zip(reversed(dims), reversed(tuple(shape)), strict=False):
        factor, name = _multiple(n)
        if name and given % factor == 0 and isinstance(given, int):
            known.setdefault(name, given // factor)
    return numbered(layout, known)[0], of


def _multiple(n: Any) -> tuple[int, str]:
    """(a factor, a name) of a size that is the product of both; (1, "") of others."""
    terms = [] if isinstance(n, int) else [*Expr.of(n).terms.items()]
    if len(terms) == 1 and len(terms[0][0]) == 1 and terms[0][0][0].kind == "sym":
        return terms[0][1], str(terms[0][0][0].args[0])
    return 1, ""

"""Conditions on values of many bits in fewer words."""

from __future__ import annotations

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from .wiring import Wiring

MOVING = ("digit", "and", "or", "xor")


def as_symbols(e: Expr, analyzer: Analyzer) -> Expr | None:
    """What shows that e is at least 0: e with the sum of the symbols in the place of their bits. It shows
    nothing where a bit is left out, or stands lower than in its symbol: None then. Where nothing but 1 is
    taken off it is the same condition, for a symbol is 0 where its bits are."""
    moved, wiring = _moved(e), Wiring(analyzer)
    bits = wiring.bits(moved)
    if bits is None:
        return None
    places = {source: place for place, bit in enumerate(bits) if len(bit) == 1 for source in bit}
    symbols = [(k, b) for k, width in enumerate(wiring.widths) for b in range(width)]
    if any(places.get((k, b), -1) < b for k, b in symbols):
        return None
    return sum(wiring.inputs, e - moved)


def as_number(e: Expr, analyzer: Analyzer, most: float) -> Expr | None:
    """What is at most `most` only where e is: e with the greatest number that its bits give in their
    place; None where that leaves nothing for the others."""
    moved = _moved(e)
    top, bits = analyzer.interval(moved)[1], Wiring(analyzer).bits(moved)
    if bits is not None:
        top = (1 << len(bits)) - 1
    return None if top is None or top >= most else e - moved + top


def _moved(e: Expr) -> Expr:
    """The terms that have bits of a value."""
    return Expr({mono: c for mono, c in e.terms.items() if any(a.kind in MOVING for a in mono)})

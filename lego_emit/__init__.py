"""Write a memory layout once in Python; get its index functions in seven languages.

The algebra is that of LEGO (CGO 2026): GroupBy, OrderBy, RegP, GenP, TileBy, ExpandBy.
"""

from .errors import LegoError, LegoWarning
from .layout import Col, ExpandBy, GenP, GroupBy, OrderBy, RegP, Row, TileBy, isqrt

__version__ = "0.1.0"

_LAZY = {"generate": "generator", "symbols": "expr", "Emitted": "emit", "Cost": "cost"}


def __getattr__(name: str):
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Col",
    "Cost",
    "Emitted",
    "ExpandBy",
    "GenP",
    "GroupBy",
    "LegoError",
    "LegoWarning",
    "OrderBy",
    "RegP",
    "Row",
    "TileBy",
    "generate",
    "isqrt",
    "symbols",
]

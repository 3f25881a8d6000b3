"""Write a memory layout once in Python; get its index functions in the languages of your kernels.

The algebra is that of LEGO (CGO 2026): GroupBy, OrderBy, RegP, GenP, TileBy, ExpandBy; with
strided layouts (CuTe's) and linear ones over F2 (Triton's) in the same algebra.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import methods
from .algebra.later import use
from .algebra.layout import GroupBy, OrderBy, TileBy
from .algebra.perms import Col, RegP, Row
from .errors import LegoError, LegoWarning, did_you_mean

if TYPE_CHECKING:
    from .algebra.choice import Choice
    from .algebra.genp import GenP, isqrt
    from .algebra.linear import Linear
    from .algebra.lookup import Lookup
    from .algebra.masked import ExpandBy, Padded
    from .algebra.packed import Packed
    from .algebra.part import Part
    from .algebra.strided import Strided
    from .arith.expr import symbols
    from .copies import copy as copy
    from .copies import pack as pack
    from .copies import unpack as unpack
    from .emitted import Emitted
    from .formats import catalogue
    from .ir.cost import Cost
    from .kernels import render
    from .movement import bank_conflicts, convert, gather, optimal_swizzle
    from .pattern import Pattern
    from .pipeline import generate
    from .recognition import recognize
    from .trace.any_rank import AnyRank
    from .trace.loops import fori_loop
    from .trace.ragged import Ragged
    from .trace.same import same_map
    from .trace.simplify import simplify

__version__ = "0.1.0"

use(methods)


# What needs more than the algebra is loaded when it is first used.
_LAZY = {
    "AnyRank": "trace.any_rank", "Choice": "algebra.choice", "Cost": "ir.cost", "Emitted": "emitted", "ExpandBy": "algebra.masked", "GenP": "algebra.genp",
    "Linear": "algebra.linear", "Lookup": "algebra.lookup", "Padded": "algebra.masked",
    "Packed": "algebra.packed", "Part": "algebra.part", "Pattern": "pattern", "Ragged": "trace.ragged", "Strided": "algebra.strided",
    "bank_conflicts": "movement", "catalogue": "formats", "convert": "movement", "copy": "copies",
    "fori_loop": "trace.loops", "gather": "movement", "generate": "pipeline", "isqrt": "algebra.genp",
    "optimal_swizzle": "movement", "pack": "copies", "recognize": "recognition", "render": "kernels",
    "same_map": "trace.same", "simplify": "trace.simplify", "symbols": "arith.expr", "unpack": "copies",
}  # fmt: skip
_MODULES = ("cute", "hardware", "movement")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    known = "" if name.startswith("_") else did_you_mean(name, __dir__())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{known}", name=name)


def __dir__() -> list[str]:
    """What is there to be used, loaded or not."""
    return sorted({*__all__, *_LAZY, "__version__", "errors", *_MODULES})


__all__ = [
    "AnyRank",
    "Choice",
    "Col",
    "Cost",
    "Emitted",
    "ExpandBy",
    "GenP",
    "GroupBy",
    "LegoError",
    "LegoWarning",
    "Linear",
    "Lookup",
    "OrderBy",
    "Packed",
    "Padded",
    "Part",
    "Pattern",
    "Ragged",
    "RegP",
    "Row",
    "Strided",
    "TileBy",
    "bank_conflicts",
    "catalogue",
    "convert",
    "fori_loop",
    "gather",
    "generate",
    "isqrt",
    "optimal_swizzle",
    "recognize",
    "render",
    "same_map",
    "simplify",
    "symbols",
]

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
from .errors import LegoError, LegoWarning, MovedError, NoAttributeError

if TYPE_CHECKING:
    from .algebra.choice import Choice
    from .algebra.genp import GenP, isqrt
    from .algebra.linear import Linear
    from .algebra.lookup import Lookup
    from .algebra.masked import ExpandBy
    from .algebra.packed import Packed
    from .algebra.strided import Strided
    from .arith.expr import symbols
    from .copies.unit import copy as copy
    from .copies.unit import pack as pack
    from .copies.unit import unpack as unpack
    from .formats import catalogue
    from .inside import assume, jit
    from .kernels import render
    from .movement import bank_conflicts, convert, optimal_swizzle
    from .pattern import Pattern
    from .pipeline import generate
    from .recognition import recognize
    from .trace.any_rank import AnyRank
    from .trace.loops import fori_loop
    from .trace.ragged import Ragged
    from .trace.simplify import simplify

__version__ = "0.1.0"

use(methods)


# What needs more than the algebra is loaded when it is first used.
_LAZY = {
    "AnyRank": "trace.any_rank", "assume": "inside", "jit": "inside", "Choice": "algebra.choice", "ExpandBy": "algebra.masked", "GenP": "algebra.genp",
    "Linear": "algebra.linear", "Lookup": "algebra.lookup", "Packed": "algebra.packed", "Pattern": "pattern", "Ragged": "trace.ragged", "Strided": "algebra.strided",
    "bank_conflicts": "movement", "catalogue": "formats", "convert": "movement", "copy": "copies.unit",
    "fori_loop": "trace.loops", "generate": "pipeline", "isqrt": "algebra.genp",
    "optimal_swizzle": "movement", "pack": "copies.unit", "recognize": "recognition", "render": "kernels",
    "simplify": "trace.simplify", "symbols": "arith.expr", "unpack": "copies.unit",
}  # fmt: skip
_MODULES = ("cute", "hardware", "movement", "types")
# What was here before, and where it is.
_MOVED = {
    "Cost": "ir.cost", "Emitted": "emitted", "Padded": "algebra.masked", "Part": "algebra.part",
    "gather": "movement", "same_map": "trace.same",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    if name in _MOVED:
        where = f"{__name__}.{_MOVED[name]}"
        raise MovedError(f"{name} is in {where}: write from {where} import {name}", name=name)
    raise NoAttributeError(f"module {__name__!r}", name, __dir__)


def __dir__() -> list[str]:
    """What is there to be used, loaded or not."""
    return sorted({*__all__, *_LAZY, "__version__", "errors", *_MODULES})


__all__ = [
    "AnyRank",
    "Choice",
    "Col",
    "ExpandBy",
    "GenP",
    "GroupBy",
    "LegoError",
    "LegoWarning",
    "Linear",
    "Lookup",
    "OrderBy",
    "Packed",
    "Pattern",
    "Ragged",
    "RegP",
    "Row",
    "Strided",
    "TileBy",
    "assume",
    "bank_conflicts",
    "catalogue",
    "convert",
    "fori_loop",
    "generate",
    "isqrt",
    "jit",
    "optimal_swizzle",
    "recognize",
    "render",
    "simplify",
    "symbols",
]

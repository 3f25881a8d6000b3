"""Write a memory layout once in Python; get its index functions in the languages of your kernels.

The algebra is that of LEGO (CGO 2026): GroupBy, OrderBy, RegP, GenP, TileBy, ExpandBy; with
strided layouts (CuTe's) and linear ones over F2 (Triton's) in the same algebra.
"""

import sys
from typing import TYPE_CHECKING, Any

from .algebra.block import provide
from .algebra.expand import ExpandBy
from .algebra.layout import GroupBy, OrderBy, TileBy
from .algebra.padded import Padded
from .algebra.part import Part
from .algebra.perms import Col, GenP, RegP, Row, isqrt
from .errors import LegoError, LegoWarning, nearest

if TYPE_CHECKING:
    from .algebra.linear import Linear
    from .algebra.lookup import Lookup
    from .algebra.same import same_map
    from .algebra.strided import Strided
    from .arith.expr import symbols
    from .emitted import Emitted
    from .formats import catalogue
    from .ir.cost import Cost
    from .kernels import render
    from .movement import bank_conflicts, convert, gather, optimal_swizzle
    from .pattern import Pattern
    from .pipeline import generate
    from .recognition import recognize

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # What needs more than the algebra is loaded when it is first used.
    match name:
        case "generate":
            from .pipeline import generate as found
        case "simplify":
            from .trace.simplify import simplify as found
        case "symbols":
            from .arith.expr import symbols as found
        case "Emitted":
            from .emitted import Emitted as found
        case "Cost":
            from .ir.cost import Cost as found
        case "Linear":
            from .algebra.linear import Linear as found
        case "Lookup":
            from .algebra.lookup import Lookup as found
        case "Strided":
            from .algebra.strided import Strided as found
        case "same_map":
            from .algebra.same import same_map as found
        case "Pattern":
            from .pattern import Pattern as found
        case "recognize":
            from .recognition import recognize as found
        case "convert":
            from .movement import convert as found
        case "gather":
            from .movement import gather as found
        case "bank_conflicts":
            from .movement import bank_conflicts as found
        case "optimal_swizzle":
            from .movement import optimal_swizzle as found
        case "catalogue":
            from .formats import catalogue as found
        case "render":
            from .kernels import render as found
        case "movement":
            import lego_emit.movement as found
        case "hardware":
            import lego_emit.hardware as found
        case "cute":
            import lego_emit.cute as found
        case _:
            known = "" if name.startswith("_") else nearest(name, __dir__())
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}.{known}", name=name
            )
    return found


def __dir__() -> list[str]:
    """What is there to be used, loaded or not."""
    return sorted([*__all__, "__version__", "cute", "errors", "hardware", "movement"])


def _symbols() -> Any:
    from .trace import layouts

    return layouts


def _tracing() -> Any:
    trace = sys.modules.get("lego_emit.trace.trace")  # where it is not loaded, nothing is traced
    return None if trace is None else trace.running()


def _check() -> Any:
    from .check.exhaustive import check

    return check


def _picture() -> Any:
    from .show import pictures

    return pictures


def _cute() -> Any:
    from . import cute

    return cute


def _recognize() -> Any:
    from . import recognition

    return recognition


def _compose() -> Any:
    from .algebra import compose

    return compose


provide("compose", _compose)
provide("cute", _cute)
provide("recognize", _recognize)
provide("symbols", _symbols)
provide("tracing", _tracing)
provide("check", _check)
provide("picture", _picture)

__all__ = [
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
    "Padded",
    "Part",
    "Pattern",
    "RegP",
    "Row",
    "Strided",
    "TileBy",
    "bank_conflicts",
    "catalogue",
    "convert",
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

"""cuTile's kernels under lego_emit.jit.

Reference: https://docs.nvidia.com/cuda/cutile-python; `//` and `%` round down, as Python's.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from lego_emit.emit.kernel_language import KernelLanguage, Wrap
from lego_emit.emit.printer import BREAK, Printer, call, infix
from lego_emit.printers.python import KEYWORDS, PYTHON_OPS
from lego_emit.printers.triton import TritonPrinter


class CutilePrinter(TritonPrinter):
    """Index expressions of 32 bits, on tiles and on numbers."""

    name, title = "cutile", "cuTile"
    types = {"int32": "ct.int32"}
    default_index = kernel_types = ("int32",)
    ops = {
        **PYTHON_OPS,
        "lnot": call("ct.logical_not({0})", 1),
        "land": infix("&", 8),
        "lor": infix("|", 6),
        "select": call(f"ct.where({{0}},{BREAK}{{1}},{BREAK}{{2}})", 3),
        "min": call(f"ct.minimum({{0}},{BREAK}{{1}})", 2),
        "max": call(f"ct.maximum({{0}},{BREAK}{{1}})", 2),
        "int": call(f"ct.astype({{0}},{BREAK}{{T}})", 1),
        "isqrt": call("_isqrt({0})", 1, "isqrt"),  # which no kernel has
    }
    reserved = KEYWORDS | {"ct"}
    cast = "ct.astype({0}, {T})"

    def block(self, size: str, axis: int, axes: int, vector: str = "") -> str:
        """A range among axes of one element."""
        places = ("None",) * axis + (":",) + ("None",) * (axes - axis - 1)
        text = vector or f"ct.arange({size}, dtype=ct.int32)"
        return text + f"[{', '.join(places)}]" * (axes > 1)


class CutileKernels(KernelLanguage):
    """What @ct.kernel makes. Launches are not asked: cuda.tile.launch() compiles the kernel itself."""

    name = target = "cutile"
    index_type = "int32"
    aliases = {"ct": "cuda.tile"}
    multiple = "{name} = ct.assume_divisible_by({name}, {number})"
    functions = False
    natural = ("bid", "num_blocks", "num_tiles")
    programs = ("bid",)
    package = "cuda"
    pure = (
        "bid",
        "num_blocks",
        "num_tiles",
        "arange",
        "cdiv",
        "minimum",
        "maximum",
        "where",
        "full",
        "zeros",
        "astype",
    )
    calls_by_value = True

    def printer(self) -> Printer:
        """Python's spellings, with cuTile's functions."""
        return CutilePrinter()

    def is_constant(self, annotation: str) -> bool:
        """Whether it is ct.Constant[int] or a name for that, as ConstInt."""
        return annotation.partition("[")[0].rpartition(".")[2].startswith("Const")

    def unwrap(self, given: Any) -> tuple[types.FunctionType, Wrap] | None:
        """The function of a kernel; the kernel of another is compiled with the same options."""
        if type(given).__module__ != "cuda.tile._execution" or type(given).__name__ != "kernel":
            return None

        def wrap(made: types.FunctionType) -> Any:
            options = dataclasses.asdict(given._compiler_options)
            return type(given)(made, **options)

        return given._pyfunc, wrap

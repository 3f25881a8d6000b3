"""The timing program in Julia."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from lego_emit.emit.unit import Unit
from lego_emit.measure.nest import COMMON_OPS, Language
from lego_emit.printers.julia import JuliaPrinter
from lego_emit.run.target import Target
from lego_emit.targets.cpu_timing import CpuProgram, Side

JULIA = Language(
    let="{name} = {value}",
    when="if {0}",
    otherwise="else",
    end="end",
    back="return ({0},)",
    ops={
        **COMMON_OPS,
        "//": "div({0}, {1})",
        "%": "rem({0}, {1})",
        "^": "xor({0}, {1})",
        "int": "{T}({0})",
        "isqrt": "unsafe_trunc({T}, sqrt(Float64({0})))",
        "table": "@inbounds({table}[{0} + 1])",
    },
    number="{T}({0})",
)


class JuliaProgram(CpuProgram):
    """The emitted functions are in the unit's module."""

    language = JULIA
    types = {"int32": "Int32", "int64": "Int64", "uint32": "UInt32", "uint64": "UInt64"}
    template = "timing_julia.jinja"
    source = "program.jl"

    def __init__(self, called: Callable[..., str]):
        self.called = called

    def fold(self, values: Sequence[str]) -> list[str]:
        """xor is a function here."""
        return [f"return xor({', '.join(values)})" if len(values) > 1 else f"return {values[0]}"]

    def ours(self, unit: Unit, side: Side, arguments: Sequence[str]) -> list[str]:
        """A call; of several results the tuple's elements, put together."""
        printer = cast(JuliaPrinter, unit.printer)
        module = printer.module_name(unit.program.name)
        made = printer.argument(module)
        call = self.called(side.function, arguments, made, module)
        if len(side.function.outputs) == 1 and side.function.aggregate is None:
            return [f"return {call}"]
        return [f"r = {call}", *self.fold(printer.parts(side.function, "r"))]

    def command(self, target: Target, folder: Path) -> list[str]:
        """Julia runs it as it is."""
        return [target.path(), "--startup-file=no", "-O3", str(folder / self.source)]

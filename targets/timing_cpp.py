"""The timing program in C++, and CUDA C's on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lego_emit.emit.printer import Printer
from lego_emit.emit.unit import Unit
from lego_emit.ir.program import Function
from lego_emit.measure.nest import COMMON_OPS, Language
from lego_emit.run.target import Target, outputs_of
from lego_emit.targets.cpu_timing import CpuProgram, Side

C = Language(
    let="[[maybe_unused]] const {T} {name} = {value};",
    when="if ({0}) {{",
    otherwise="}} else {{",
    end="}}",
    back="return {{{0}}};",
    ops={
        **COMMON_OPS,
        "//": "{0} / {1}",
        "int": "{0} ? 1 : 0",
        "isqrt": "static_cast<{T}>(sqrt(static_cast<double>({0})))",
        "table": "{table}[{0}]",
    },
)


class CppProgram(CpuProgram):
    """A program with the emitted functions. called: how one of them is called."""

    language = C
    types = {
        "int32": "int",
        "int64": "long long",
        "uint32": "unsigned",
        "uint64": "unsigned long long",
    }
    template = "timing_cpp.jinja"
    source = "program.cpp"

    def __init__(self, called: Callable[[Function, Printer, Sequence[str], str], str]):
        self.called = called

    def ours(self, unit: Unit, side: Side, arguments: Sequence[str]) -> list[str]:
        """A call; of several results the struct's members, put together."""
        namespace = f"::{unit.printer.namespace}".rstrip(":")
        call = self.called(side.function, unit.printer, arguments, f"{namespace}::")
        if len(side.function.outputs) == 1 and side.function.aggregate is None:
            return [f"return {call};"]
        members = " ^ ".join(outputs_of(side.function, "r"))
        return [f"const auto r = {call};", f"return {members};"]

    def command(self, target: Target, folder: Path) -> list[str]:
        """Compile it with g++."""
        path = target.path()
        target.execute([path, "-std=c++20", "-O2", "-o", "program", self.source], cwd=folder)
        return [str(folder / "program")]

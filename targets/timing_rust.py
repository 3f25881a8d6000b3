"""The timing program in Rust."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from lego_emit.emit.unit import Unit
from lego_emit.ir.program import Function
from lego_emit.measure.nest import COMMON_OPS, Language
from lego_emit.printers.rust import RustPrinter
from lego_emit.run.target import Target
from lego_emit.targets.cpu_timing import CpuProgram, Side

RUST = Language(
    let="let {name}: {T} = {value};",
    when="if {0} {{",
    otherwise="}} else {{",
    end="}}",
    back="return ({0});",
    ops={
        **COMMON_OPS,
        "//": "{0} / {1}",
        "int": "{T}::from({0})",
        "isqrt": "({0} as f64).sqrt() as {T}",
        "table": "unsafe {{ *{table}.get_unchecked({0} as usize) }}",
    },
)


class RustProgram(CpuProgram):
    """The emitted functions are in the module unit. called: how one of them is called."""

    language = RUST
    types = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64", "usize": "usize"}
    template = "timing_rust.jinja"
    source = "program.rs"

    def __init__(self, called: Callable[[Function, RustPrinter, Sequence[str], str], str]):
        self.called = called

    def table(self, side: Side) -> str:
        """A static's name, in upper case."""
        return super().table(side).upper()

    def ours(self, unit: Unit, side: Side, arguments: Sequence[str]) -> list[str]:
        """A call; of several results what they are together, put together."""
        function, printer = side.function, cast(RustPrinter, unit.printer)
        call = self.called(function, printer, arguments, "unit")
        if len(function.outputs) == 1 and function.aggregate is None:
            return [call]
        names = [f"r{k}" for k in range(len(function.outputs))]
        return [f"let {printer.pattern(function, 'unit')} = {call};", " ^ ".join(names)]

    def command(self, target: Target, folder: Path) -> list[str]:
        """Compile it with rustc."""
        flags = ["--edition", "2021", "-C", "opt-level=2", "-A", "warnings"]
        target.execute([target.path(), *flags, "-o", "program", self.source], cwd=folder)
        return [str(folder / "program")]

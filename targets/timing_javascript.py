"""The timing program in JavaScript, for Node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from lego_emit.emit.unit import Unit
from lego_emit.measure.nest import COMMON_OPS, Language
from lego_emit.printers import javascript_methods
from lego_emit.printers.javascript import JavaScriptPrinter
from lego_emit.run.target import Target, call_arguments
from lego_emit.targets.cpu_timing import CpuProgram, Side

JAVASCRIPT = Language(
    let="const {name} = {value};",
    when="if ({0}) {{",
    otherwise="}} else {{",
    end="}}",
    back="return [{0}];",
    ops={
        **COMMON_OPS,
        "//": "Math.trunc({0} / {1})",
        "int": "{0} ? 1 : 0",
        "isqrt": "Math.floor(Math.sqrt({0}))",
        "table": "{table}[{0}]",
    },
)


class JavaScriptProgram(CpuProgram):
    """The emitted functions are in the module unit; a table is a typed array. Several results are
    added up: ^ sees 32 bits only."""

    language = JAVASCRIPT
    types = {"int32": "Int32Array", "int53": "Float64Array", "uint32": "Uint32Array"}
    template = "timing_javascript.jinja"
    source = "program.mjs"

    def fold(self, values: Sequence[str]) -> list[str]:
        """The sum of the values."""
        return [f"return {' + '.join(values)};"]

    def ours(self, unit: Unit, side: Side, arguments: Sequence[str]) -> list[str]:
        """A call; of several results the array's elements, added up."""
        printer = cast(JavaScriptPrinter, unit.printer)
        given = call_arguments(side.function, arguments, printer.argument)
        held = call_arguments(side.function, arguments, printer.argument, held=True)
        name = (side.function.receiver or side.function).name
        call = javascript_methods.call(side.function, held, given, f"unit.{name}")
        parts = ["r" if key is None else f"r[{key!r}]" for key in printer.keys(side.function)]
        return [f"const r = {call};", f"return {' + '.join(parts)};"]

    def command(self, target: Target, folder: Path) -> list[str]:
        """Node runs it as it is."""
        return [target.path(), str(folder / self.source)]

"""The timing program in Fortran."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from lego_emit.emit.printer import BREAK, Printer
from lego_emit.emit.unit import Unit
from lego_emit.ir.program import Function
from lego_emit.measure.nest import COMMON_OPS, Language
from lego_emit.run.target import Target, call_arguments
from lego_emit.targets.cpu_timing import CpuProgram, Side, WayText

FORTRAN = Language(
    let="{name} = {value}",
    when="if ({0}) then",
    otherwise="else",
    end="end if",
    back="return",
    ops={
        **COMMON_OPS,
        "//": "{0} / {1}",
        "%": "mod({0}, {1})",
        "&": "iand({0}, {1})",
        "|": "ior({0}, {1})",
        "^": "ieor({0}, {1})",
        "<<": "shiftl({0}, {1})",
        ">>": "shiftr({0}, {1})",
        "!=": "{0} /= {1}",
        "int": "merge(1_ik, 0_ik, {0})",
        "isqrt": "int(sqrt(real({0}, real64)), ik)",
        "table": "{table}({0})",
    },
    number="{0}_ik",
)


class FortranProgram(CpuProgram):
    """One file with the emitted module first; ik is the index kind in each function."""

    language = FORTRAN
    types = {"int32": "int32", "int64": "int64", "integer": "kind(1)"}
    template = "timing_fortran.jinja"
    source = "program.f90"
    one_file = True

    def fold(self, values: Sequence[str]) -> list[str]:
        """Assign to the function's result, then return."""
        text = values[0]
        for value in values[1:]:
            text = f"ieor({text}, {value})"
        return [f"found = {text}", "return"]

    def ours(self, unit: Unit, side: Side, arguments: Sequence[str]) -> list[str]:
        """A function's value, or a subroutine's out arguments put together."""
        function = side.function
        name, printer = function.name, unit.printer
        make = partial(printer.aggregate, T="ik")
        held = call_arguments(function, arguments, make, printer.given, held=True)
        arguments = call_arguments(function, arguments, make, printer.given)
        if (receiver := function.receiver) is not None:
            made = f"associate (object => {receiver.name}({', '.join(held)}))".replace(BREAK, " ")
            name = f"object%{receiver.method or 'apply'}"
            *lines, last = self._called(function, printer, name, arguments)
            ends = [last, "end associate"] if last != "return" else ["end associate", last]
            return [made, *lines, *ends]
        return self._called(function, printer, name, arguments)

    def _called(
        self, function: Function, printer: Printer, name: str, arguments: Sequence[str]
    ) -> list[str]:
        outputs = function.outputs
        call = f"{name}({', '.join(arguments)})".replace(BREAK, " ")
        if (whole := function.aggregate) is not None:
            own = replace(whole, name="result")
            parts = [printer.member(own, k) for k in range(len(outputs))]
            assigned, _ = self.fold(parts)
            return [f"associate (result => {call})", f"  {assigned}", "end associate", "return"]
        if len(outputs) == 1:
            return [f"found = {call}"]
        names = [f"t{k + 1}" for k in range(len(outputs))]
        return [f"call {name}({', '.join([*arguments, *names])})", *self.fold(names)]

    def variables(self, way: WayText) -> list[str]:
        """The variables that a function must declare."""
        return sorted({name for line in way.lines for name in re.findall(r"\bt\d+\b", line)})

    def command(self, target: Target, folder: Path) -> list[str]:
        """Compile it with gfortran; sums wrap."""
        flags = ["-O2", "-fno-range-check"]
        target.execute([target.path(), *flags, "-o", "program", self.source], cwd=folder)
        return [str(folder / "program")]

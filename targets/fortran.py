"""Fortran through gfortran and cffi."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from lego_emit.emit.unit import Unit
from lego_emit.ir.program import Function
from lego_emit.printers.fortran import FortranPrinter
from lego_emit.run.devices import Rivals, Timer
from lego_emit.run.target import Library, NativeTarget, array_symbol, symbol

FLAGS = ("-std=f2018", "-Wall", "-Wextra", "-Werror", "-fcheck=all")


def wrapper(unit: int, position: int, function: Function, module: str) -> str:
    """The bind(C) procedure that applies one elemental procedure to whole arrays: an elemental
    procedure has no C interface of its own."""
    name, kind = symbol(unit, position), FortranPrinter.types[function.index_type]
    inputs = [f"in{k}" for k in range(len(function.params))]
    outputs = [f"out{k}" for k in range(len(function.outputs))]
    values = [f"int({x}, {kind})" for x in inputs]
    lines = [
        f"subroutine {name}({', '.join(['n', *inputs, *outputs])}) bind(C)",
        "  use, intrinsic :: iso_c_binding, only: c_int64_t",
        *_imported(kind),
        f"  use {module}, only: emitted => {function.name}",
        "  implicit none",
        "  integer(c_int64_t), value :: n",
        *(f"  integer(c_int64_t), intent(in) :: {x}(n)" for x in inputs),
        *(f"  integer(c_int64_t), intent(out) :: {x}(n)" for x in outputs),
    ]
    if len(outputs) == 1:
        result = f"emitted({', '.join(values)})"
        result = f"merge(1, 0, {result})" if function.is_condition else result
        lines += [f"  out0 = int({result}, c_int64_t)"]
    else:
        results = [f"result{k}" for k in range(len(outputs))]
        lines += [f"  integer({kind}) :: {x}(n)" for x in results]
        lines += [f"  call emitted({', '.join([*values, *results])})"]
        lines += [f"  {x} = int({r}, c_int64_t)" for x, r in zip(outputs, results, strict=True)]
    return _procedure(name, lines)


def array_wrapper(unit: int, position: int, function: Function, module: str, array: str) -> str:
    """The bind(C) procedure that runs an array form; its elements leave in Fortran's order."""
    name, kind = array_symbol(unit, position), FortranPrinter.types[function.index_type]
    scalars = [f"s{k}" for k in range(len(function.params) - len(function.axes))]
    outputs = [f"out{k}" for k in range(len(function.outputs))]
    values = [f"int({x}, {kind})" for x in scalars]
    lines = [
        f"subroutine {name}({', '.join(['n', *scalars, *outputs])}) bind(C)",
        "  use, intrinsic :: iso_c_binding, only: c_int64_t",
        *_imported(kind),
        f"  use {module}, only: emitted => {array}",
        "  implicit none",
        f"  integer(c_int64_t), value :: {', '.join(['n', *scalars])}",
        *(f"  integer(c_int64_t), intent(out) :: {x}(n)" for x in outputs),
    ]
    if len(outputs) == 1:
        lines += [f"  out0 = int(reshape(emitted({', '.join(values)}), [n]), c_int64_t)"]
    else:
        results = [f"result{k}" for k in range(len(outputs))]
        lines += [f"  integer({kind}) :: {x}(n)" for x in results]
        lines += [f"  call emitted({', '.join([*values, *results])})"]
        lines += [f"  {x} = int({r}, c_int64_t)" for x, r in zip(outputs, results, strict=True)]
    return _procedure(name, lines)


def _imported(kind: str) -> list[str]:
    return [] if "(" in kind else [f"  use, intrinsic :: iso_fortran_env, only: {kind}"]


def _procedure(name: str, lines: list[str]) -> str:
    lines = [line.replace(", ", ", &\n    ") if len(line) > 130 else line for line in lines]
    return "\n".join([*lines, f"end subroutine {name}", ""])


class _RowMajor:
    """A library whose array forms have the first axis fastest, as Fortran has it."""

    def __init__(self, library: Library):
        self._library = library
        self.call = library.call

    def call_array(self, unit: int, function: Function, scalars: list[int], count: int) -> list:
        axes = {axis for axis, _ in function.axes}
        names = [p.name for p in function.params if p.name not in axes]
        shape = function.extents(dict(zip(names, scalars, strict=True)))
        found = self._library.call_array(unit, function, scalars, count)
        return [values.reshape(shape, order="F").ravel() for values in found]


class FortranTarget(NativeTarget):
    """Fortran as a shared library, by gfortran; array forms' elements come in row-major order."""

    name = "fortran"
    program = "gfortran"
    install = "apt-get install gfortran"
    flags = FLAGS

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """The library, its array forms turned to row-major order."""
        return _RowMajor(super().build(units, folder))

    def link(self, units: Sequence[Unit], folder: Path, library: Path) -> None:
        """One source file with all modules and wrappers."""
        texts, wrappers, taken = [], [], set()
        for u, unit in enumerate(units):
            printer = cast(FortranPrinter, unit.printer)
            module = printer.module_name(unit.program.name)
            text = unit.source
            if module.lower() in taken:
                # A program cannot hold two modules of one name: the later ones are renamed here.
                new = f"lego_unit_{u}"
                text = re.sub(rf"(?m)^((?:end )?module ){module}$", rf"\g<1>{new}", text)
                module = new
            taken.add(module.lower())
            texts.append(text)
            for p, f in enumerate(unit.program.callable):
                wrappers.append(wrapper(u, p, f, module))
                if f.axes:
                    wrappers.append(array_wrapper(u, p, f, module, printer.array_name(f.name)))
        # One source file: gfortran starts its compiler anew for each.
        source = folder / "units.f90"
        source.write_text("\n".join([*texts, *wrappers]), encoding="utf-8")
        checks = ["-cpp"] * any(unit.program.checks for unit in units)
        command = [self.path(), *self.flags, *checks, "-O1", "-fPIC", "-shared", "-o", str(library)]
        self.execute([*command, source.name], cwd=folder)

    def timer(self, unit: Unit, device: str, rivals: Rivals) -> Timer:
        """On the CPU, a Fortran program."""
        if device != "cpu":
            return super().timer(unit, device, rivals)
        from lego_emit.targets.cpu_timing import CpuTimer
        from lego_emit.targets.timing_fortran import FortranProgram

        return CpuTimer(self, unit, rivals, FortranProgram())

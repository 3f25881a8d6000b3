"""Fortran through gfortran and cffi."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from lego_emit.emit.natives import is_plain, of_value, unmade
from lego_emit.emit.printer import BREAK
from lego_emit.emit.unit import Unit
from lego_emit.ir.program import Function, Group
from lego_emit.printers.fortran import FortranPrinter
from lego_emit.run.devices import Rivals, Timer
from lego_emit.run.fields import fields_symbol
from lego_emit.run.target import Library, NativeTarget, array_symbol, call_arguments, symbol
from lego_emit.run.walks import walk_symbol
from lego_emit.targets import walks

PRINTER = FortranPrinter()
FLAGS = ("-std=f2018", "-Wall", "-Wextra", "-Werror", "-fcheck=all")


def wrapper(
    unit: int, position: int, function: Function, module: str, included: Sequence[str] = ()
) -> str:
    """The bind(C) procedure that applies one elemental procedure to whole arrays: an elemental
    procedure has no C interface of its own."""
    name, kind = symbol(unit, position), FortranPrinter.types[function.index_type]
    inputs = [f"in{k}" for k in range(len(function.passed))]
    outputs = [f"out{k}" for k in range(len(function.outputs))]
    values = [
        PRINTER.given(p.type or function.index_type, x)
        for p, x in zip(function.passed, inputs, strict=True)
    ]
    types = _Types(function)
    lines = [
        f"subroutine {name}({', '.join(['n', *inputs, *outputs])}) bind(C)",
        "  use, intrinsic :: iso_c_binding, only: c_int64_t",
        *_imported(kind, *sorted(function.declared)),
        f"  use {module}, only: {', '.join([types.imported, *types.used])}",
        *(f"  {line}" for line in included),
        "  implicit none",
        "  integer(c_int64_t), value :: n",
        *(f"  integer(c_int64_t), intent(in) :: {x}(n)" for x in inputs),
        *(f"  integer(c_int64_t), intent(out) :: {x}(n)" for x in outputs),
    ]
    grouped = function.aggregate is not None or any(g.whole for g in function.groups)
    if grouped or function.receiver is not None:
        # An elemental procedure has no arrays, a structure constructor none of structures.
        own = [f"int({x}(i), {kind})" for x in inputs]
        arguments = call_arguments(function, own, types.constructor, PRINTER.given)
        held = call_arguments(function, own, types.constructor, PRINTER.given, held=True)
        lines += [
            f"  {types.result()}",
            *types.object(),
            "  integer(c_int64_t) :: i",
            "  do i = 1, n",
        ]
        lines += [*types.made(held), *types.called(arguments)]
        parts = zip(outputs, types.read(types.parts("result")), strict=True)
        lines += [*(f"    {x}(i) = int({part}, c_int64_t)" for x, part in parts), "  end do"]
    elif len(outputs) == 1:
        result = f"emitted({', '.join(values)})"
        (result,) = types.read([result])
        result = f"merge(1, 0, {result})" if function.is_condition else result
        lines += [f"  out0 = int({result}, c_int64_t)"]
    else:
        results = [f"result{k}" for k in range(len(outputs))]
        lines += [f"  {T} :: {x}(n)" for T, x in zip(types.outputs, results, strict=True)]
        lines += [f"  call emitted({', '.join([*values, *results])})"]
        pairs = zip(outputs, types.read(results), strict=True)
        lines += [f"  {x} = int({r}, c_int64_t)" for x, r in pairs]
    return _procedure(name, lines)


def array_wrapper(unit: int, position: int, function: Function, module: str, array: str) -> str:
    """The bind(C) procedure that runs an array form; its elements leave in Fortran's order."""
    name, kind = array_symbol(unit, position), FortranPrinter.types[function.index_type]
    scalars = [f"s{k}" for k in range(len(function.passed) - len(function.axes))]
    outputs = [f"out{k}" for k in range(len(function.outputs))]
    types = _Types(function)
    values = [f"int({x}, {kind})" for x in scalars]
    values = call_arguments(function, values, types.constructor)
    lines = [
        f"subroutine {name}({', '.join(['n', *scalars, *outputs])}) bind(C)",
        "  use, intrinsic :: iso_c_binding, only: c_int64_t",
        *_imported(kind),
        f"  use {module}, only: {', '.join([f'emitted => {array}', *types.used])}",
        "  implicit none",
        f"  integer(c_int64_t), value :: {', '.join(['n', *scalars])}",
        *(f"  integer(c_int64_t), intent(out) :: {x}(n)" for x in outputs),
    ]
    whole = function.aggregate
    if whole is not None:
        shape = "n" if whole.struct else f"{len(outputs)}_c_int64_t, n"
        lines += [f"  {types.result('n')}"]
        lines += [f"  result = reshape(emitted({', '.join(values)}), [{shape}])"]
        parts = zip(outputs, types.parts("result", ":"), strict=True)
        lines += [f"  {x} = int({part}, c_int64_t)" for x, part in parts]
    elif len(outputs) == 1:
        lines += [f"  out0 = int(reshape(emitted({', '.join(values)}), [n]), c_int64_t)"]
    else:
        results = [f"result{k}" for k in range(len(outputs))]
        lines += [f"  integer({kind}) :: {x}(n)" for x in results]
        lines += [f"  call emitted({', '.join([*values, *results])})"]
        lines += [f"  {x} = int({r}, c_int64_t)" for x, r in zip(outputs, results, strict=True)]
    return _procedure(name, lines)


def walk_wrapper(unit: int, position: int, function: Function, module: str) -> str:
    """The bind(C) procedure that goes through a walk."""
    kind = FortranPrinter.types[function.index_type]
    return _procedure(
        walk_symbol(unit, position), walks.fortran(unit, position, function, kind, module)
    )


def fields_wrapper(
    unit: int, position: int, function: Function, module: str, included: Sequence[str] = ()
) -> str:
    """The bind(C) procedure that reads or sets fields."""
    p, kind = function.packing, FortranPrinter.types[function.index_type]
    name, types, word = fields_symbol(unit, position), _Types(function), f"c_int{p.word}_t"
    inputs = [f"in{k}" for k in range(len(function.passed))]
    values = [f"int({x}(i), {kind})" for x in inputs]
    given = call_arguments(function, values, types.constructor, PRINTER.given)
    whole = "words(i)"
    if p.by_value and p.word < 64:
        whole = f"iand(int(words(i), c_int64_t), {2**p.word - 1}_c_int64_t)"
    own = ", ".join([whole if p.by_value else "words", *given])
    put = f"    call put({own}, values(i))"
    if p.by_value:
        up = 64 - p.word
        text = f"shifta(shiftl(put({own}, values(i)), {up}), {up})"
        put = f"    words(i) = int({text}, int{p.word})"
    lines = [
        f"subroutine {name}({', '.join(['sets', 'n', 'count', 'words', *inputs, 'values'])}) bind(C)",
        f"  use, intrinsic :: iso_c_binding, only: {', '.join(sorted({'c_int64_t', word}))}",
        *_imported(kind, f"int{p.word}", *sorted(function.declared)),
        f"  use {module}, only: {', '.join([f'get => {p.get}', f'put => {p.set}', *types.used])}",
        *(f"  {line}" for line in included),
        "  implicit none",
        "  integer(c_int64_t), value :: sets, n, count",
        f"  integer({word}), intent(inout) :: words(0:count - 1)",
        *(f"  integer(c_int64_t), intent(in) :: {x}(0:n - 1)" for x in inputs),
        "  integer(c_int64_t), intent(inout) :: values(0:n - 1)",
        "  integer(c_int64_t) :: i",
        "  do i = 0, n - 1",
        "    if (sets /= 0) then",
        put,
        "    else",
        f"    values(i) = get({own})",
        "    end if",
        "  end do",
    ]
    return _procedure(name, lines)


class _Types:
    """The derived types of a function, under names that the wrapper has for them."""

    def __init__(self, function: Function):
        self._function, self._kind = function, FortranPrinter.types[function.index_type]
        groups = [g for g in (*function.groups, function.aggregate) if g is not None and g.whole]
        structs = dict.fromkeys(g.struct for g in groups if g.struct and g.native is None)
        self._own = {struct: f"type{k}" for k, struct in enumerate(structs)}
        self.names = {g.struct: g.struct for g in groups} | self._own

    @property
    def imported(self) -> str:
        """What a use statement says of the function, or of the type whose method it is."""
        receiver = self._function.receiver
        return f"holder => {receiver.name}" if receiver else f"emitted => {self._function.name}"

    def object(self) -> list[str]:
        """The declaration of the object of a method."""
        return ["  type(holder) :: object"] if self._function.receiver else []

    def made(self, held: Sequence[str]) -> list[str]:
        """The statement that makes it, of what it holds."""
        made = f"    object = holder({', '.join(held)})"
        return [made] if self._function.receiver else []

    @property
    def used(self) -> list[str]:
        """What a use statement says of them."""
        return [f"{name} => {struct}" for struct, name in self._own.items()]

    def constructor(self, group: Group, values: list[str]) -> str:
        """A structure, or an array, as an argument."""
        together = ", ".join(values)
        if group.native is not None and not group.native.make and not is_plain(group, "%{}"):
            raise unmade(group)
        if group.native is not None:
            return PRINTER.aggregate(group, values, "").replace(BREAK, " ")
        if group.struct:
            return f"{self.names[group.struct]}({together})"
        own = PRINTER.member_types(group, self._function.index_type)[0]
        return f"[{PRINTER.declared(own)} :: {together}]"

    @property
    def outputs(self) -> list[str]:
        """What each output is declared as."""
        index = self._function.index_type
        kinds = self._function.output_types
        return [PRINTER.declared(PRINTER.type_of(kind, index)) for kind in kinds]

    def read(self, texts: Sequence[str]) -> list[str]:
        """The integers that the outputs are."""
        kinds = zip(self.outputs, texts, strict=True)
        return [f"merge(1, 0, {x})" if T == "logical" else x for T, x in kinds]

    def result(self, count: str = "") -> str:
        """The declaration of what holds the results of a call, or of so many calls."""
        whole, outputs = self._function.aggregate, self._function.outputs
        struct = whole is not None and whole.struct
        if whole is None and len(outputs) > 1:
            pairs = enumerate(self.outputs)
            return "\n".join(f"  {T} :: result{k}" for k, T in pairs).strip()
        sizes = [] if struct or (whole is None and len(outputs) == 1) else [str(len(outputs))]
        sizes += [count] if count else []
        dimension = f"({', '.join(sizes)})" if sizes else ""
        type_name = f"type({self.names[struct]})" if struct else self.outputs[0]
        return f"{type_name} :: result{dimension}"

    def called(self, arguments: list[str]) -> list[str]:
        """The statement that calls it."""
        receiver = self._function.receiver
        name = f"object%{receiver.method or 'apply'}" if receiver else "emitted"
        if (whole := self._function.aggregate) is not None and whole.open:
            return ["    result = 0", f"    call {name}({', '.join([*arguments, 'result'])})"]
        if self._function.aggregate is not None or len(self._function.outputs) == 1:
            return [f"    result = {name}({', '.join(arguments)})"]
        return [f"    call {name}({', '.join([*arguments, *self.parts('result')])})"]

    def parts(self, result: str, place: str = "") -> list[str]:
        """Each of the results of a call, or of all calls where place is a ':'."""
        whole, outputs = self._function.aggregate, self._function.outputs
        if whole is not None and whole.native is not None:
            return of_value(whole, result, PRINTER)
        if whole is not None and whole.struct:
            return [f"{result}%{name}" for name, _ in outputs]
        if whole is None and len(outputs) == 1:
            return [result]
        if whole is None:
            return [f"{result}{k}" for k in range(len(outputs))]
        after = f", {place}" if place else ""
        return [f"{result}({k + 1}{after})" for k in range(len(outputs))]


def _imported(*kinds: str) -> list[str]:
    found = [k for k in dict.fromkeys(kinds) if "(" not in k and k != "bool"]
    return [f"  use, intrinsic :: iso_fortran_env, only: {', '.join(found)}"] if found else []


def _procedure(name: str, lines: list[str]) -> str:
    lines = [line.replace(", ", ", &\n    ") if len(line) > 130 else line for line in lines]
    return "\n".join([*lines, f"end subroutine {name}", ""])


class _RowMajor:
    """A library whose array forms have the first axis fastest, as Fortran has it."""

    def __init__(self, library: Library):
        self._library = library
        self.call = library.call
        self.fields = getattr(library, "fields", None)
        self.call_walk = getattr(library, "call_walk", None)

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
                own = printer.included(unit.program)
                wrappers.append(wrapper(u, p, f, module, own))
                if f.packing is not None:
                    wrappers.append(fields_wrapper(u, p, f, module, own))
                if f.walk is not None:
                    wrappers.append(walk_wrapper(u, p, f, module))
                if f.axes:
                    wrappers.append(array_wrapper(u, p, f, module, printer.array_name(f.name)))
        # One source file: gfortran starts its compiler anew for each.
        source = folder / "units.f90"
        source.write_text("\n".join([self.prelude, *texts, *wrappers]), encoding="utf-8")
        checks = ["-cpp"] * any(unit.program.checks for unit in units)
        command = [self.path(), *self.flags, *checks, "-Og", "-fPIC", "-shared", "-o", str(library)]
        self.execute([*command, source.name], cwd=folder)

    def copy_library(self, unit: Unit, folder: Path, flags: Sequence[str]) -> tuple[Path, str]:
        """The library of a copy, and its functions' declarations."""
        from lego_emit.targets.copies import DECLARATIONS, fortran

        return fortran(self, unit, folder, flags), DECLARATIONS

    def timer(self, unit: Unit, device: str, rivals: Rivals) -> Timer:
        """On the CPU, a Fortran program."""
        if device != "cpu":
            return super().timer(unit, device, rivals)
        from lego_emit.targets.cpu_timing import CpuTimer
        from lego_emit.targets.timing_fortran import FortranProgram

        return CpuTimer(self, unit, rivals, FortranProgram())

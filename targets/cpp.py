"""C++ through g++ and cffi."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from lego_emit.emit.natives import variable as made
from lego_emit.emit.printer import Printer
from lego_emit.emit.unit import Unit
from lego_emit.ir.program import Function, Group
from lego_emit.printers.c_family import HeaderPrinter
from lego_emit.printers.c_natives import is_pointer
from lego_emit.printers.c_static import argument
from lego_emit.printers.cpp import VIEWS
from lego_emit.run.devices import Rivals, Timer
from lego_emit.run.fields import c_fields_declaration, c_loop
from lego_emit.run.target import (
    NativeTarget,
    c_array_declaration,
    c_declaration,
    call_arguments,
    grouped,
    outputs_of,
)
from lego_emit.targets import walks

FLAGS = (
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Werror",
)

VARIABLE = "{T} {name} = {value};", "{T} {name}{{}};", "{} = {};"  # forms of natives.variable()

# What the wrappers need.
INCLUDES = """#include <cstddef>
#include <cstdint>
using std::int64_t;
"""


def outside(units: Sequence[Unit]) -> str:
    """What the units include, to be done before they stand in a namespace. Nothing more: a standard
    header can take the compiler longer than the units."""
    lines = (line for unit in units for line in unit.source.splitlines())
    text = ""
    for line in dict.fromkeys(line for line in lines if line.startswith("#include ")):
        text += (
            f"#if __cplusplus >= 202002L\n{line}\n#endif\n" if "<ranges>" in line else f"{line}\n"
        )
    return text


def called(function: Function, printer: Printer, values: Sequence[str], scope: str) -> str:
    """A call as an expression; scope: what stands before the function's name. Where results are written
    to parameters its value is a struct of what was written."""
    before, arrays, index = list[str](), printer.naming.arrays, function.index_type

    def group(one: Group, texts: list[str]) -> str:
        inner = f"{{{', '.join(texts)}}}"
        name = "lego_r" if one.written else f"a{len(before)}"
        T = printer.member_types(one, index)[0]
        if one.native is not None:
            before.extend(made(one, texts, name, VARIABLE))
            return f"&{name}" if is_pointer(one) else name
        if one.written and not one.struct:
            before.append(f"struct {{ {T} v[{len(texts)}]; }} {name}{{{inner}}};")
            return f"{name}.v"
        if one.written:
            before.append(f"{scope}{one.struct} {name}{inner};")
            return name
        if one.struct or (arrays != "pointer" and not one.open):
            return inner
        before.append(f"const {T} {name}[{len(texts)}] = {inner};")
        return name

    arguments = call_arguments(function, values, group, printer.given, scope=scope)
    whole = function.aggregate
    name, names = f"{scope}{printer.instance(function)}", [n for n, _ in function.outputs]
    if function.receiver is not None:
        held = call_arguments(function, values, braced, printer.given, held=True)
        name = of_object(function, printer, held, scope, before)
    fills = whole is not None and whole.open
    if not fills and (not printer.writes_results or (whole is None and len(names) == 1)):
        call = f"{name}({', '.join(arguments)})"
        return f"[&] {{ {' '.join(before)} return {call}; }}()" if before else call
    if whole is not None and whole.written:
        pass
    elif whole is not None and whole.struct:
        before.append(f"{scope * (whole.native is None)}{whole.struct} lego_r{{}};")
        arguments.append(f"{'&' * (whole.native is not None and is_pointer(whole))}lego_r")
    else:
        kinds = [printer.type_of(kind, index) for kind in function.output_types]
        members = [f"{T} {n};" for T, n in zip(kinds, names, strict=True)]
        members = members if whole is None else [f"{kinds[0]} v[{len(whole.members)}];"]
        before.append(f"struct {{ {' '.join(members)} }} lego_r{{}};")
        arguments += ["lego_r.v"] if whole is not None else [f"lego_r.{n}" for n in names]
    call, given = f"{name}({', '.join(arguments)});", "lego_r"
    if whole is not None and whole.beside is not None:
        own = printer.type_of(function.output_types[-1], index)
        call = f"const {own} lego_own = {call} struct {{ decltype(lego_r) r; {own} own; }} lego_both{{lego_r, lego_own}};"
        given = "lego_both"
    return f"[&] {{ {' '.join(before)} {call} return {given}; }}()"


def of_object(
    function: Function, printer: Printer, held: Sequence[str], scope: str, before: list[str]
) -> str:
    """What calls a method: the object, of what it holds, and the method's name. before: the statements that
    make an object of a code base, to which they come."""
    receiver = function.receiver
    if receiver.alone:
        return f"{scope}{receiver.name}::{receiver.method}"
    if receiver.native is None:
        sizes = ", ".join(argument(p.default or 0) for p in function.static)
        text = f"{scope}{receiver.name}{f'<{sizes}>' if sizes else ''}{{{', '.join(held)}}}"
    else:
        text = "lego_object"
        before.extend(made(receiver_group(function), held, text, VARIABLE))
    return f"{text}.{receiver.method}" if receiver.method else text


def receiver_group(function: Function) -> Group:
    """The object of a type of a code base, as a struct of what it holds."""
    fields = tuple(one.held for one in function.held)
    receiver = function.receiver
    return Group("", fields, receiver.name, fields, native=receiver.native)


def c_wrapper(unit: int, position: int, function: Function, printer: Printer, scope: str) -> str:
    """The extern "C" loop around one C++ or CUDA C function (scope: what stands before its name)."""
    T = printer.types[function.index_type]
    values = [f"static_cast<{T}>(in{k}[lego_i])" for k in range(len(function.passed))]
    body = f"const auto r = {called(function, printer, values, scope)}; {c_stores(function, 'r')}"
    return (
        f'extern "C" {c_declaration(unit, position, function)} {{\n'
        f"  for (std::int64_t lego_i = 0; lego_i < n; ++lego_i) {{ {body} }}\n}}\n"
    )


def fields_wrapper(
    unit: int, position: int, function: Function, printer: Printer, scope: str
) -> str:
    """The loop around the functions that read and write fields."""
    p, T = function.packing, printer.types[function.index_type]
    values = [f"static_cast<{T}>(in{k}[lego_i])" for k in range(len(function.passed))]
    given = call_arguments(function, values, braced, printer.given)
    whole = printer.instance(function).removeprefix(function.name)

    def call(name: str, words: str, value: str) -> str:
        return f"{scope}{name}{whole}({', '.join(filter(None, [words, *given, value]))})"

    U = printer.spelled(f"uint{p.word}")
    S = printer.spelled(f"{'int' if p.signed else 'uint'}{p.word}")
    body = c_loop(function, call, U, S, "static_cast<{T}>({0})")
    return f'extern "C" {c_fields_declaration(unit, position, function)} {{\n{body}}}\n'


def braced(group: Group, values: list[str]) -> str:
    """A struct or an array as an argument."""
    return f"{{{', '.join(values)}}}"


def c_stores(function: Function, result: str) -> str:
    """The statements that put a result (an index or a struct of them) into the output arrays."""
    texts = enumerate(outputs_of(function, result))
    return " ".join(f"out{k}[lego_i] = static_cast<std::int64_t>({text});" for k, text in texts)


def c_scalars(function: Function, type_name: str) -> list[str]:
    """The arguments of an array form, from an array wrapper's parameters."""
    count = len(function.passed) - len(function.axes)
    values = [f"static_cast<{type_name}>(s{k})" for k in range(count)]
    return call_arguments(function, values, braced)


def undefined(units: Sequence[Unit]) -> str:
    """Lines that forget the structs that other namespaces have."""
    guards = (
        cast(HeaderPrinter, unit.printer).struct_guard(group)
        for unit in units
        for group, _ in unit.program.structs
    )
    return "".join(f"#undef {guard}\n" for guard in dict.fromkeys(guards))


class CppTarget(NativeTarget):
    """C++ as a shared library with a C interface, by g++ or clang++."""

    name = "cpp"
    program = "g++"
    install = "apt-get install g++"
    flags = FLAGS

    def copy_library(self, unit: Unit, folder: Path, flags: Sequence[str]) -> tuple[Path, str]:
        """The library of a copy, compiled with these flags, and its functions' declarations."""
        from lego_emit.targets.copies import DECLARATIONS, build

        return build(self, unit, folder, [*self.flags, *flags]), DECLARATIONS

    def link(self, units: Sequence[Unit], folder: Path, library: Path) -> None:
        """One source file with all units and wrappers, in as few namespaces as their names
        allow."""
        for u, unit in enumerate(units):
            (folder / f"unit_{u}{unit.printer.extension}").write_text(unit.source)
        text, groups = INCLUDES, grouped(units)
        if len(groups) > 1:
            text += outside(units)
        for g, group in enumerate(groups):
            scope = f"lego_group_{g}::" if g else ""
            if scope:
                text += undefined([units[u] for u in group])
            for u in group:
                text += self.wrapped(units[u], u, scope)
        (folder / "units.cpp").write_text(text)
        command = [*self.flags, "-Og", "-fPIC", "-shared", "-o", str(library), "units.cpp"]
        self.execute([self.path(), *command], cwd=folder)

    def wrapped(self, unit: Unit, u: int, scope: str) -> str:
        """The include of a unit and the wrappers of its functions; scope: the namespace, with its
        colons, that keeps units of one name apart."""
        guard = cast(HeaderPrinter, unit.printer).guard(unit.program.name)
        namespace = scope.rstrip(":")
        text = f'#include "unit_{u}{unit.printer.extension}"\n'
        if scope:
            text = f"#undef {guard}\nnamespace {namespace} {{\n{text}}}\n"
        scope = f"::{scope}{unit.printer.namespace}::".replace("::::", "::")
        for p, f in enumerate(unit.program.callable):
            text += c_wrapper(u, p, f, unit.printer, scope)
            if f.packing is not None:
                text += fields_wrapper(u, p, f, unit.printer, scope)
            if f.walk is not None:
                text += walks.cpp(u, p, f, unit.printer, scope)
            if f.axes:
                text += f'extern "C" {c_array_declaration(u, p, f)} {{\n'
                text += f"{self.array_body(unit.printer, f, scope)}}}\n"
        return f"\n{text}"

    def array_body(self, printer: Printer, function: Function, scope: str) -> str:
        """The body of an array form's wrapper; where the language standard or the compiler has no
        views it leaves the arrays as they are."""
        scalars = c_scalars(function, printer.types[function.index_type])
        view = f"{scope}{printer.array_name(function.name)}"
        count = len(function.passed) - len(function.axes)
        unused = "".join(f"(void)s{k}; " for k in range(count))
        unused += "".join(f"(void)out{k}; " for k in range(len(function.outputs)))
        return (
            f"{VIEWS}\n"
            f"  const auto view = {view}({', '.join(scalars)});\n"
            f"  if (static_cast<std::int64_t>(view.size()) != n) return;\n"
            f"  std::int64_t lego_i = 0;\n"
            f"  for (const auto r : view) {{ {c_stores(function, 'r')} ++lego_i; }}\n"
            f"#else\n  (void)n; {unused}\n#endif\n"
        )

    def timer(self, unit: Unit, device: str, rivals: Rivals) -> Timer:
        """On the CPU, a C++ program."""
        if device != "cpu":
            return super().timer(unit, device, rivals)
        from lego_emit.targets.cpu_timing import CpuTimer
        from lego_emit.targets.timing_cpp import CppProgram

        return CpuTimer(self, unit, rivals, CppProgram(called))

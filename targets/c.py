"""C99 through gcc and cffi."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lego_emit.emit.natives import variable as made
from lego_emit.emit.printer import Printer
from lego_emit.emit.unit import Unit
from lego_emit.ir.program import Function, Group
from lego_emit.run.fields import c_fields_declaration, c_loop
from lego_emit.run.target import (
    NativeTarget,
    c_array_declaration,
    c_declaration,
    call_arguments,
    grouped,
    members_of,
    outputs_of,
)
from lego_emit.targets import walks

FLAGS = (
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Werror",
)

VARIABLE = "{T} {name} = {value};", "{T} {name} = {{0}};", "{} = {};"  # forms of natives.variable()


def wrapper(unit: int, position: int, function: Function, printer: Printer) -> str:
    """The loop around a function."""
    T = printer.types[function.index_type]
    lines, texts = called(
        function, printer, [f"({T})in{k}[lego_i]" for k in range(len(function.passed))]
    )
    lines += [f"out{k}[lego_i] = (int64_t){text};" for k, text in enumerate(texts)]
    return (
        f"{c_declaration(unit, position, function)} {{\n"
        f"  for (int64_t lego_i = 0; lego_i < n; ++lego_i) {{ {' '.join(lines)} }}\n}}\n"
    )


def called(
    function: Function, printer: Printer, values: Sequence[str], variable: str = "lego_run_r"
) -> tuple[list[str], list[str]]:
    """(the statements of a call, the texts of the outputs after them). variable: what it makes. An array
    is a variable as well: in OpenCL C a literal is in no address space."""
    lines, whole = list[str](), function.aggregate
    kinds = [printer.type_of(kind, function.index_type) for kind in function.output_types]

    def group(one: Group, texts: list[str]) -> str:
        inner = f"{{{', '.join(texts)}}}"
        name = variable if one.written else f"{variable}_{len(lines)}"
        if one.native is not None:
            from lego_emit.printers.c_natives import is_pointer

            lines.extend(made(one, texts, name, VARIABLE))
            return f"&{name}" if one.written or is_pointer(one) else name
        if one.struct:
            if one.written:
                lines.append(f"{one.struct} {name} = {inner};")
            return f"&{name}" if one.written else f"({one.struct}){inner}"
        own = printer.member_types(one, function.index_type)[0]
        const = "" if one.written else "const "
        lines.append(f"{const}{own} {name}[{len(texts)}] = {inner};")
        return name

    arguments = call_arguments(function, values, group, printer.given)
    if whole is not None and whole.open:
        lines.append(f"{kinds[0]} {variable}[{len(kinds)}] = {{0}};")
        lines.append(f"{function.name}({', '.join([*arguments, variable])});")
        return lines, [f"{variable}[{k}]" for k in range(len(kinds))]
    count = len(function.outputs) if whole is None else len(whole.members)
    if not printer.writes_results or (whole is None and count == 1):
        call = f"{function.name}({', '.join(arguments)})"
        lines.append(f"const {result(function, printer)} {variable} = {call};")
        return lines, outputs_of(function, variable)
    if whole is not None and whole.written:
        texts = [f"{variable}[{k}]" for k in range(count)]
        texts = members_of(whole, variable) if whole.struct else texts
    elif whole is None:
        texts = [f"{variable}_out{k}" for k in range(count)]
        lines += [f"{T} {text};" for T, text in zip(kinds, texts, strict=True)]
        arguments += [f"&{text}" for text in texts]
    elif whole.struct:
        texts = members_of(whole, variable)
        lines.append(f"{whole.struct} {variable};")
        arguments.append(f"&{variable}")
    else:
        texts = [f"{variable}[{k}]" for k in range(count)]
        lines.append(f"{kinds[0]} {variable}[{count}];")
        arguments.append(variable)
    call = f"{function.name}({', '.join(arguments)});"
    if whole is not None and whole.beside is not None:
        call, texts = f"const {kinds[-1]} {variable}_own = {call}", [*texts, f"{variable}_own"]
    return [*lines, call], texts


def fields_wrapper(unit: int, position: int, function: Function, printer: Printer) -> str:
    """The loop around the functions that read and write fields."""
    p, T = function.packing, printer.types[function.index_type]
    values = [f"({T})in{k}[lego_i]" for k in range(len(function.passed))]
    given = call_arguments(function, values, partial(literal, T=T), printer.given)

    def call(name: str, words: str, value: str) -> str:
        return f"{name}({', '.join(filter(None, [words, *given, value]))})"

    U = printer.spelled(f"uint{p.word}")
    S = printer.spelled(f"{'int' if p.signed else 'uint'}{p.word}")
    body = c_loop(function, call, U, S, "({T}){0}")
    return f"{c_fields_declaration(unit, position, function)} {{\n{body}}}\n"


def literal(group: Group, values: list[str], T: str) -> str:
    """A struct or an array as an argument."""
    kind = group.struct or f"const {T}[{len(values)}]"
    return f"({kind}){{{', '.join(values)}}}"


def array_wrapper(unit: int, position: int, function: Function, printer: Printer) -> str:
    """The call of a function's array form, which fills an array of its results."""
    T = printer.types[function.index_type]
    values = [f"({T})s{k}" for k in range(len(function.passed) - len(function.axes))]
    scalars = call_arguments(function, values, partial(literal, T=T))
    kind = result(function, printer)
    return (
        f"{c_array_declaration(unit, position, function)} {{\n"
        f"  {kind} *results = ({kind} *)malloc((size_t)n * sizeof(*results));\n"
        f"  if (results == NULL) abort();\n"
        f"  {printer.array_name(function.name)}({', '.join([*scalars, 'results'])});\n"
        f"  for (int64_t lego_i = 0; lego_i < n; ++lego_i) {{ {stores(function, 'results[lego_i]')} }}\n"
        f"  free(results);\n}}\n"
    )


def result(function: Function, printer: Printer) -> str:
    """The type of a function's result."""
    if function.aggregate is not None:
        return function.aggregate.struct
    if len(function.outputs) > 1:
        return printer.result_name(function.name)
    return printer.type_of(function.output_types[0], function.index_type)


def stores(function: Function, value: str) -> str:
    """The statements that put a result into the output arrays."""
    texts = enumerate(outputs_of(function, value))
    return " ".join(f"out{k}[lego_i] = (int64_t){text};" for k, text in texts)


class CTarget(NativeTarget):
    """C as a shared library, by gcc or clang."""

    name = "c"
    program = "gcc"
    install = "apt-get install gcc"
    flags = FLAGS

    def copy_library(self, unit: Unit, folder: Path, flags: Sequence[str]) -> tuple[Path, str]:
        """The library of a copy, compiled with these flags, and its functions' declarations."""
        from lego_emit.targets.copies import DECLARATIONS, build

        return build(self, unit, folder, [*self.flags, *flags]), DECLARATIONS

    def link(self, units: Sequence[Unit], folder: Path, library: Path) -> None:
        """As few source files as the units' names allow: a compiler starts for each."""
        sources = []
        for g, group in enumerate(grouped(units)):
            texts, wrappers = [], []
            for u in group:
                unit = units[u]
                (folder / f"unit_{u}.h").write_text(unit.source)
                texts.append(f'#include "unit_{u}.h"\n')
                for p, f in enumerate(unit.program.callable):
                    wrappers.append(wrapper(u, p, f, unit.printer))
                    if f.axes:
                        wrappers.append(array_wrapper(u, p, f, unit.printer))
                    if f.packing is not None:
                        wrappers.append(fields_wrapper(u, p, f, unit.printer))
                    if f.walk is not None:
                        wrappers.append(walks.c(u, p, f, unit.printer))
            texts.append("\n#include <stdlib.h>\n")
            (folder / f"units_{g}.c").write_text("\n".join(["".join(texts), *wrappers]))
            sources.append(f"units_{g}.c")
        command = [*self.flags, "-Og", "-fPIC", "-shared", "-o", str(library), *sources]
        self.execute([self.path(), *command], cwd=folder)

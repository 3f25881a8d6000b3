"""C99 through gcc and cffi."""

from collections.abc import Sequence
from pathlib import Path

from lego_emit.emit.printer import Printer
from lego_emit.emit.unit import Unit
from lego_emit.ir.program import Function
from lego_emit.run.target import NativeTarget, c_array_declaration, c_declaration

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


def wrapper(unit: int, position: int, function: Function, printer: Printer) -> str:
    """The loop around a function."""
    T = printer.types[function.index_type]
    arguments = ", ".join(f"({T})in{k}[i]" for k in range(len(function.params)))
    body = f"const {result(function, printer)} r = {function.name}({arguments});"
    return (
        f"{c_declaration(unit, position, function)} {{\n"
        f"  for (int64_t i = 0; i < n; ++i) {{ {body} {stores(function, 'r')} }}\n}}\n"
    )


def array_wrapper(unit: int, position: int, function: Function, printer: Printer) -> str:
    """The call of a function's array form, which fills an array of its results."""
    T = printer.types[function.index_type]
    scalars = [f"({T})s{k}" for k in range(len(function.params) - len(function.axes))]
    kind = result(function, printer)
    return (
        f"{c_array_declaration(unit, position, function)} {{\n"
        f"  {kind} *results = ({kind} *)malloc((size_t)n * sizeof(*results));\n"
        f"  if (results == NULL) abort();\n"
        f"  {printer.array_name(function.name)}({', '.join([*scalars, 'results'])});\n"
        f"  for (int64_t i = 0; i < n; ++i) {{ {stores(function, 'results[i]')} }}\n"
        f"  free(results);\n}}\n"
    )


def result(function: Function, printer: Printer) -> str:
    """The type of a function's result."""
    several = len(function.outputs) > 1
    return printer.result_name(function.name) if several else printer.types[function.index_type]


def stores(function: Function, value: str) -> str:
    """The statements that put a result into the output arrays."""
    if len(function.outputs) == 1:
        return f"out0[i] = (int64_t){value};"
    names = (name for name, _ in function.outputs)
    return " ".join(f"out{k}[i] = (int64_t){value}.{name};" for k, name in enumerate(names))


class CTarget(NativeTarget):
    """C as a shared library, by gcc or clang."""

    name = "c"
    program = "gcc"
    install = "apt-get install gcc"
    flags = FLAGS

    def link(self, units: Sequence[Unit], folder: Path, library: Path) -> None:
        """A source file for each unit: units of one name have nothing in common then."""
        sources = []
        for u, unit in enumerate(units):
            (folder / f"unit_{u}.h").write_text(unit.source)
            text = f'#include "unit_{u}.h"\n\n#include <stdlib.h>\n'
            for p, f in enumerate(unit.program.callable):
                text += f"\n{wrapper(u, p, f, unit.printer)}"
                if f.axes:
                    text += f"\n{array_wrapper(u, p, f, unit.printer)}"
            (folder / f"unit_{u}.c").write_text(text)
            sources.append(f"unit_{u}.c")
        command = [*self.flags, "-O1", "-fPIC", "-shared", "-o", str(library), *sources]
        self.execute([self.path(), *command], cwd=folder)

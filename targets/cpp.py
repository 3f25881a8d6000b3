"""C++ through g++ and cffi."""

from collections.abc import Sequence
from pathlib import Path

from lego_emit.emit import Emitted
from lego_emit.printers.cpp import VIEWS
from lego_emit.program import Function
from lego_emit.target import NativeTarget, c_array_declaration, c_declaration

FLAGS = (
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Werror",
)


def c_wrapper(unit: int, position: int, function: Function, type_name: str, qualified: str) -> str:
    """The extern "C" loop around one C++ or CUDA C function (qualified: its full name)."""
    arguments = ", ".join(
        f"static_cast<{type_name}>(in{k}[i])" for k in range(len(function.params))
    )
    body = f"const auto r = {qualified}({arguments}); {c_stores(function, 'r')}"
    return (
        f'extern "C" {c_declaration(unit, position, function)} {{\n'
        f"  for (std::int64_t i = 0; i < n; ++i) {{ {body} }}\n}}\n"
    )


def c_stores(function: Function, result: str) -> str:
    """The statements that put a result (an index or a struct of them) into the output arrays."""
    if len(function.outputs) == 1:
        return f"out0[i] = static_cast<std::int64_t>({result});"
    return " ".join(
        f"out{k}[i] = static_cast<std::int64_t>({result}.{name});"
        for k, (name, _) in enumerate(function.outputs)
    )


def c_scalars(function: Function, type_name: str) -> list[str]:
    """The arguments of an array form, from an array wrapper's parameters."""
    count = len(function.params) - len(function.axes)
    return [f"static_cast<{type_name}>(s{k})" for k in range(count)]


def grouped(units: Sequence[Emitted]) -> list[list[int]]:
    """The units' numbers by source file: units of one name share an include guard, functions of
    one name cannot stand in one file."""
    groups: list[tuple[set[str], list[int]]] = []
    for u, unit in enumerate(units):
        names = {unit.program.name, *(f.name for f in unit.functions)}
        group = next((g for g in groups if not g[0] & names), None)
        if group is None:
            groups.append(group := (set(), []))
        group[0].update(names)
        group[1].append(u)
    return [numbers for _, numbers in groups]


class CppTarget(NativeTarget):
    name = "cpp"
    program = "g++"
    install = "apt-get install g++"
    flags = FLAGS

    def link(self, units: Sequence[Emitted], folder: Path, library: Path) -> None:
        for u, unit in enumerate(units):
            (folder / f"unit_{u}{unit.printer.extension}").write_text(unit.source)
        sources = []
        for g, group in enumerate(grouped(units)):
            text = "#include <cstdint>\n#include <vector>\nusing std::int64_t;\n"
            for u in group:
                unit = units[u]
                text += f'\n#include "unit_{u}{unit.printer.extension}"\n\n'
                for p, f in enumerate(unit.program.functions):
                    type_name = unit.printer.types[f.index_type]
                    text += c_wrapper(u, p, f, type_name, self.qualified(f.name))
                    if f.axes:
                        text += f'extern "C" {c_array_declaration(u, p, f)} {{\n'
                        text += f"{self.array_body(f, type_name)}}}\n"
            source = folder / f"units_{g}.cpp"
            source.write_text(text)
            sources.append(source.name)
        toolchain = self.find()
        self.execute(
            [toolchain.path, *self.flags, "-O1", "-fPIC", "-shared", "-o", str(library), *sources],
            cwd=folder,
        )

    def qualified(self, name: str) -> str:
        """A function's full name in the emitted text."""
        return f"lego::{name}"

    def array_body(self, function: Function, type_name: str) -> str:
        """The body of an array form's wrapper; where the language standard or the compiler has no
        views it leaves the arrays as they are."""
        scalars = c_scalars(function, type_name)
        unused = "".join(f"(void)s{k}; " for k in range(len(scalars)))
        unused += "".join(f"(void)out{k}; " for k in range(len(function.outputs)))
        return (
            f"{VIEWS}\n"
            f"  const auto view = {self.qualified(function.name)}_view({', '.join(scalars)});\n"
            f"  if (static_cast<std::int64_t>(view.size()) != n) return;\n"
            f"  std::int64_t i = 0;\n"
            f"  for (const auto r : view) {{ {c_stores(function, 'r')} ++i; }}\n"
            f"#else\n  (void)n; {unused}\n#endif\n"
        )

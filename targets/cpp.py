"""C++ through g++ and cffi."""

from collections.abc import Sequence
from pathlib import Path

from lego_emit.emit import Emitted
from lego_emit.program import Function
from lego_emit.target import NativeTarget, c_declaration

FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Werror")


def c_wrapper(unit: int, position: int, function: Function, type_name: str, qualified: str) -> str:
    """The extern "C" loop around one C++ or CUDA C function (qualified: its full name)."""
    arguments = ", ".join(f"static_cast<{type_name}>(in{k}[i])" for k in range(len(function.params)))
    if len(function.outputs) == 1:
        body = f"out0[i] = static_cast<std::int64_t>({qualified}({arguments}));"
    else:
        stores = "".join(
            f" out{k}[i] = static_cast<std::int64_t>(r.{name});"
            for k, (name, _) in enumerate(function.outputs)
        )
        body = f"const auto r = {qualified}({arguments});{stores}"
    return (
        f'extern "C" {c_declaration(unit, position, function)} {{\n'
        f"  for (std::int64_t i = 0; i < n; ++i) {{ {body} }}\n}}\n"
    )


class CppTarget(NativeTarget):
    name = "cpp"
    program = "g++"
    install = "apt-get install g++"
    flags = FLAGS

    def link(self, units: Sequence[Emitted], folder: Path, library: Path) -> None:
        # Units of one name share an include guard and a namespace: each is its own source file.
        sources = []
        for u, unit in enumerate(units):
            header = folder / f"unit_{u}{unit.printer.extension}"
            header.write_text(unit.source)
            wrappers = [
                c_wrapper(u, p, f, unit.printer.types[f.index_type], self.qualified(f.name))
                for p, f in enumerate(unit.program.functions)
            ]
            source = folder / f"unit_{u}.cpp"
            source.write_text(
                f'#include <cstdint>\n#include "{header.name}"\nusing std::int64_t;\n\n'
                + "\n".join(wrappers)
            )
            sources.append(source.name)
        toolchain = self.find()
        self.execute(
            [toolchain.path, *self.flags, "-O1", "-fPIC", "-shared", "-o", str(library), *sources],
            cwd=folder,
        )

    def qualified(self, name: str) -> str:
        """A function's full name in the emitted text."""
        return f"lego::{name}"

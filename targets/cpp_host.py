"""Languages for devices whose text C++ compilers take, run as host code."""

from collections.abc import Sequence

from lego_emit.ir.program import Function
from lego_emit.run.target import Target
from lego_emit.targets.cpp import FLAGS, CppTarget, c_scalars, c_stores


def element(function: Function, type_name: str, scope: str = "::") -> str:
    """The type of one result."""
    return type_name if len(function.outputs) == 1 else f"{scope}{function.name}_result"


class HostTarget(CppTarget):
    """Functions at global scope, with fills as array forms."""

    flags: Sequence[str] = ("-std=c++17", *FLAGS[1:])
    timer = Target.timer

    def qualified(self, name: str, scope: str = "") -> str:
        """Functions are at global scope."""
        return f"{scope or '::'}{name}"

    def array_body(self, function: Function, type_name: str, scope: str) -> str:
        """The body of an array form's wrapper: three work items fill the array in turn."""
        own = ["results.data()", f"static_cast<{type_name}>(rank)", "3"]
        arguments = ", ".join([*c_scalars(function, type_name), *own])
        fill = self.qualified(f"{function.name}_fill", scope)
        return (
            f"  std::vector<{element(function, type_name, scope)}> "
            f"results(static_cast<std::size_t>(n));\n"
            f"  for (int rank = 2; rank >= 0; --rank) {fill}({arguments});\n"
            f"  std::int64_t i = 0;\n"
            f"  for (const auto r : results) {{ {c_stores(function, 'r')} ++i; }}\n"
        )

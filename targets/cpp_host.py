"""Languages for devices whose text C++ compilers take, run as host code."""

from collections.abc import Sequence

from lego_emit.emit.printer import Printer
from lego_emit.ir.program import Function
from lego_emit.run.target import Target
from lego_emit.targets.cpp import FLAGS, CppTarget, c_scalars, c_stores


def element(printer: Printer, function: Function, scope: str) -> str:
    """The type of one result."""
    if function.aggregate is not None:
        return f"{scope}{function.aggregate.struct}"
    if len(function.outputs) > 1:
        return f"{scope}{printer.result_name(function.name)}"
    return printer.type_of(function.output_types[0], function.index_type)


class HostTarget(CppTarget):
    """Functions with fills as array forms."""

    flags: Sequence[str] = ("-std=c++17", *FLAGS[1:])
    timer = Target.timer

    def array_body(self, printer: Printer, function: Function, scope: str) -> str:
        """The body of an array form's wrapper: three work items fill the array in turn."""
        type_name = printer.types[function.index_type]
        own = ["results", f"static_cast<{type_name}>(rank)", "3"]
        arguments = ", ".join([*c_scalars(function, type_name), *own])
        fill = f"{scope}{printer.array_name(function.name)}"
        return (
            f"  auto *const results = "
            f"new {element(printer, function, scope)}[static_cast<std::size_t>(n)]();\n"
            f"  for (int rank = 2; rank >= 0; --rank) {fill}({arguments});\n"
            f"  for (std::int64_t lego_i = 0; lego_i < n; ++lego_i) {{ {c_stores(function, 'results[lego_i]')} }}\n"
            f"  delete[] results;\n"
        )

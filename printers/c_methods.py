"""Methods of structs that hold the sizes, in C++, CUDA C, HIP and Metal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lego_emit.emit import methods
from lego_emit.emit.methods import ReceiverView
from lego_emit.emit.printer import FunctionView
from lego_emit.ir.program import Group


class Holder(ReceiverView):
    """The struct as its template sees it."""

    @property
    def declared(self) -> list[str]:
        """The lines that declare what it holds, each below what is said of it."""
        lines, said, printer = list[str](), self.said, self.printer
        for name, T, one in self.fields:
            lines += [f"/// {line}" for line in printer.comment(said[name], "///")]
            if isinstance(one, Group) and not one.struct and printer.naming.arrays != "std::array":
                own = printer.member_types(one, self.methods[0].index_type)[0]
                lines.append(f"{own} {name}[{len(one.members)}];")
            else:
                lines.append(f"{T} {name};")
        return lines

    @property
    def docs(self) -> list[str]:
        """The lines of the comment above it."""
        sizes, call = ", ".join(self.names), ", ".join(self.methods[0].inputs)
        own = f"<{', '.join(p.name for p, _ in self.template)}>" if self.template else ""
        text = f"Sizes, which are given once: {self.name}{own}{{{sizes}}}({call})."
        said = self.header.params
        told = [f"@tparam {p.name} {said[p.name]}" for p, _ in self.template if said[p.name]]
        return [line for x in (text, *told) for line in self.outer.comment(x, "///")]


def receivers(
    printer: Any, functions: Sequence[FunctionView], fits: Sequence[FunctionView]
) -> list[Holder]:
    """The structs whose methods functions are."""
    return methods.receivers(printer, functions, fits, Holder, 2)


def head(printer: Any, function: FunctionView, result: str, parameters: str) -> str:
    """The head of a method, in its struct or apart from it."""
    receiver, outside = function.receiver, function.calls_others
    name, end = receiver.method or "operator()", " {" if outside else printer.head_end
    if receiver.alone:
        start = f"{printer.attributes}static {printer.host} bool {name}"
        return printer.head(start, parameters, end)
    if receiver.native is not None:
        mark = printer.own_qualifiers or "inline"
        return printer.head(f"{mark} {result} {receiver.name}::{name}", parameters, f" const{end}")
    mark = printer.qualifiers_of_methods
    mark = mark.replace("constexpr", "").rstrip() if outside else mark
    start = " ".join(filter(None, [mark, result, name]))
    plain = printer.writes(function) and not function.beside
    start = start if plain else f"{printer.attributes}{start}"
    return printer.head(start, parameters, f" const{end}")

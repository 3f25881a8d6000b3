"""Derived types that hold the sizes, with type-bound procedures, in Fortran.

Reference: ISO/IEC 1539-1:2018, 7.5.5 (type-bound procedures)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lego_emit.emit import methods
from lego_emit.emit.methods import ReceiverView
from lego_emit.emit.printer import BREAK, FunctionView
from lego_emit.ir.program import Group


class Holder(ReceiverView):
    """The type as its template sees it."""

    @property
    def lines(self) -> list[str]:
        """Its definition, each component below what is said of it."""
        printer, said, text = self.outer, self.said, list[str]()
        sizes, call = ", ".join(self.names), ", ".join(self.methods[0].inputs)
        about = f"Sizes, which are given once: sizes = {self.name}({sizes}), sizes%apply({call})"
        text += printer.wrapped(about, "  !> ")
        text.append(f"  type, public :: {self.name}")
        for name, T, one in self.fields:
            text += printer.wrapped(said[name], "    !> ") if said[name] else []
            declared = T if isinstance(one, Group) else printer.declared(T)
            text.append(f"    {declared} :: {name}")
        text.append("  contains")
        for f in self.methods:
            bound = f"procedure :: {f.receiver.method or 'apply'} =>{BREAK}{f.name}"
            text.append(f"    {printer.line(bound, 4)}")
        return [*text, f"  end type {self.name}"]


def receivers(
    printer: Any, functions: Sequence[FunctionView], fits: Sequence[FunctionView]
) -> list[Holder]:
    """The types whose methods functions are."""
    return methods.receivers(printer, functions, fits, Holder)


def declared(f: FunctionView) -> list[str]:
    """The lines that declare the object of a method, and read it where the method reads nothing of it."""
    lines = [f"class({f.receiver.name}), intent(in) :: self"]
    if not any(map(f.is_read, f.held)):
        lines.append("associate (unused => self); end associate")
    return lines

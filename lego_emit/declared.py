"""Declared types of parameters and results: which index type they ask for, and whether a language has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .emit.borders import check_declared
from .emit.printer import Printer
from .errors import TargetError, did_you_mean
from .ir.index_types import DECLARED, IndexType
from .ir.program import Program
from .trace.calls import signature_of


def result_types(
    subject: Any, given: Mapping[str, str] | None, types: Sequence[IndexType], printer: Printer
) -> Sequence[IndexType]:
    """The index types to choose from where a result's type is declared: those of its sign that are no
    wider, at least 32 bits. given: param_types."""
    kind = (given or {}).get("return", "")
    if not kind and callable(subject):
        kind = signature_of(subject).types.get("return", "")
    if not kind or kind == "bool":
        return types
    t, own = DECLARED[kind], printer.index_types
    names = ("int32", "int64") if t.least < 0 or t.width < 32 else ("uint32", "uint64")
    found = [own[n] for n in names if n in own and own[n].width <= max(32, t.width)]
    return found or types


def check_types(given: Mapping[str, str], program: Program, printer: Printer) -> None:
    """Raise TargetError for a name of param_types that nothing has, and for a type that the language
    has not."""
    known = {"return", *(p.name for f in program.functions for p in f.params)}
    known |= {g.name for f in program.functions for g in f.groups}
    for name in given:
        if name not in known:
            raise TargetError(
                f"param_types names {name}, which is no parameter; there are "
                f"{', '.join(sorted(known))}.{did_you_mean(name, known)}"
            )
    for f in program.functions:
        check_declared(sorted(f.declared), printer)

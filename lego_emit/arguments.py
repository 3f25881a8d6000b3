"""What generate() is given beside its subject, checked and in the form that the stages take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .arith.given import GivenRange, as_list
from .emit import registry
from .emit.printer import Printer
from .errors import TargetError, did_you_mean, short_repr
from .ir.cost import MOST_EFFORT
from .ir.index_types import INDEX_TYPES, IndexType
from .ir.program import Program
from .numeric import as_integer, is_integer
from .trace.follow import Base


def lines_of(header: str | Sequence[str]) -> tuple[str, ...]:
    """The lines of header=. Raises TargetError."""
    lines = header.splitlines() if isinstance(header, str) else header
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        raise TargetError(f"header={short_repr(header)}: give a text, or a list of its lines")
    return tuple(lines)


def effort_of(given: Any) -> int:
    """effort= as a number. Raises TargetError."""
    number = None if isinstance(given, bool) else as_integer(given)
    if number is None or not 1 <= number <= MOST_EFFORT:
        raise TargetError(f"effort is {short_repr(given)}; give a number from 1 to {MOST_EFFORT}")
    return number


def ranges_of(given: Any) -> list[GivenRange]:
    """ranges= as a list, in order. Raises AssumptionError."""
    if given is None:
        return []
    from .arith.given_ranges import parse_ranges

    return parse_ranges(given)


def index_types_of(given: Any) -> list[str]:
    """The index types that are asked for, each once."""
    names = as_list(given) if isinstance(given, (str, list, tuple)) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise TargetError(
            f"no index type {short_repr(given)}; give auto, a type such as int32, or a list"
        )
    if "auto" in names[1:]:
        raise TargetError(
            "of several index types auto is the first; the others name their functions"
        )
    return [*dict.fromkeys(names)]


def candidates(index_type: str, printer: Printer) -> tuple[IndexType, ...]:
    """The types that an index type may come to, narrowest first. Raises TargetError where the language
    has none."""
    own = printer.index_types
    if isinstance(index_type, str) and index_type == "auto":
        return tuple(own[t] for t in printer.default_index)
    if isinstance(index_type, str) and index_type in printer.index_names:
        return (own[printer.index_names[index_type][0]],)
    if isinstance(index_type, str) and index_type in own:
        return (own[index_type],)
    if isinstance(index_type, str) and index_type in INDEX_TYPES:
        raise TargetError(f"{printer.title} has no {index_type}; it has {', '.join(printer.types)}")
    known = [*own, *printer.index_names]
    raise TargetError(
        f"no index type {short_repr(index_type)}; {printer.title} has auto, {', '.join(known)}."
        f"{did_you_mean(short_repr(index_type), known)}"
    )


def counted(base: Any) -> Base:
    """base= as a number, or as the names of what counts from 1. Raises TargetError."""
    named = base.items() if isinstance(base, Mapping) else [("", base)]
    for name, number in named:
        if not is_integer(number) or number not in (0, 1):
            what = f"base of {name}" if name else "base"
            raise TargetError(f"{what} is {short_repr(number)}; indices count from 0 or from 1")
        if not isinstance(name, str):
            raise TargetError(f"base names {short_repr(name)}, which is no name; write {{'i': 1}}")
    return frozenset(n for n, number in named if number) if isinstance(base, Mapping) else base


def check_counted(base: Any, program: Program) -> None:
    """Raise TargetError for a name of base= that nothing has that could count from 1."""
    if not isinstance(base, Mapping):
        return
    indices = {p.name for f in program.functions for p in f.params if not p.size}
    indices |= {n for f in program.functions for n, _ in f.outputs}
    for name in sorted(base.keys() - indices):
        known = sorted(indices)
        raise TargetError(
            f"base is {short_repr(base)}, and {name} is no index and no result; there are {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )


def check_views(view: bool, printer: Printer) -> None:
    """Raise TargetError where views are asked for in a language that has none."""
    if view and not printer.has_views:
        known = [n for n in registry.targets() if registry.printer(n).has_views]
        raise TargetError(f"{printer.title} has no views of layouts; {', '.join(known)} have")

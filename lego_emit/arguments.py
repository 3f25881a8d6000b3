"""What depends on the language or on the program in what generate() is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .arith.given import GivenRange
from .emit import registry
from .emit.printer import Printer
from .errors import TargetError, did_you_mean, short_repr
from .ir.index_types import INDEX_TYPES, IndexType
from .ir.program import Program
from .trace.follow import Base


def ranges_of(given: Any) -> list[GivenRange]:
    """ranges= as a list, in order."""
    if given is None:
        return []
    from .arith.given_ranges import parse_ranges

    return parse_ranges(given)


def candidates(index_type: str | None, printer: Printer) -> tuple[IndexType, ...]:
    """The types that an index type may come to, narrowest first. Raises TargetError where the language
    has none."""
    own = printer.index_types
    if index_type is None or (isinstance(index_type, str) and index_type == "auto"):
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
    """base= as a number, or as the names of what counts from 1."""
    return frozenset(n for n, k in base.items() if k) if isinstance(base, Mapping) else base


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
        known = [n for n, other in registry.working().items() if other.has_views]
        raise TargetError(f"{printer.title} has no views of layouts; {', '.join(known)} have")

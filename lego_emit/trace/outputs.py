"""Names that outputs= gives the results of a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..algebra.block import Block
from ..errors import TraceError
from ..ir.program import Group


def applied(found: Any, group: Group | None, count: int) -> tuple[Group | None, tuple[str, ...]]:
    """(what the results are together, their names) as outputs= says: as many names as there are results,
    or one of the struct or the array, and one of the integer beside it. count: how many results there are.
    Raises TraceError for names that they cannot have."""
    names, t = tuple(found.outputs), found.trace
    beside = group is not None and group.beside is not None
    whole = group is not None and len(names) == 1 + beside and (group.struct or count > len(names))
    parameters = {*t.signature, *t.free, *t.axes, *(g.name for g in t.groups)}
    twice = next((n for n in names if names.count(n) > 1), None)
    taken = next((n for n in names if n in parameters), None)
    wrong = ""
    if isinstance(found.result, Mapping) or (group is not None and group.fields and not whole):
        wrong = "they have names, those of what it returns"
    elif len(names) != count and not whole:
        wrong = f"it has {count}"
    elif twice is not None:
        wrong = f"{twice} stands there twice"
    elif taken is not None:
        wrong = f"{taken} is a parameter"
    if wrong:
        raise TraceError(
            f"{found.unit}: outputs names its results {', '.join(names)}, and {wrong}; give each result of "
            "a tuple one name of its own, or leave outputs out"
        )
    if group is None:
        return None, names
    last = (names[-1], group.beside[1]) if group.beside is not None else None
    if whole:
        return replace(group, called=names[0], beside=last), ()
    own = names[:-1] if beside else names
    return replace(group, members=own, beside=last), names


def refused(unit: str, subject: Any) -> TraceError:
    """The error for a subject whose results outputs= does not name."""
    reason = "are of expressions: give those in a dict"
    if isinstance(subject, Block):
        reason = "are a layout's, which have names"
    return TraceError(
        f"{unit}: outputs is for a function that returns a tuple; its results {reason}"
    )

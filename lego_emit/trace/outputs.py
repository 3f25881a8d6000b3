"""Names that outputs= gives the results of a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..algebra.block import Block
from ..errors import TraceError


def check(found: Any, count: int) -> None:
    """Raise TraceError for names that the results of a traced function cannot have. count: how many it
    has."""
    names, t = found.outputs, found.trace
    parameters = {*t.signature, *t.free, *t.axes}
    twice = next((n for n in names if names.count(n) > 1), None)
    taken = next((n for n in names if n in parameters), None)
    wrong = ""
    if isinstance(found.result, Mapping) or (found.group is not None and found.group.fields):
        wrong = "they have names, those of what it returns"
    elif len(names) != count:
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


def refused(unit: str, subject: Any) -> TraceError:
    """The error for a subject whose results outputs= does not name."""
    reason = "are of expressions: give those in a dict"
    if isinstance(subject, Block):
        reason = "are a layout's, which have names"
    return TraceError(
        f"{unit}: outputs is for a function that returns a tuple; its results {reason}"
    )

"""The layouts of a Choice as subjects of their own, whose functions its own ones call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..algebra.block import Block
from ..algebra.choice import Choice, function_names
from ..errors import TraceError
from .subject import several


def with_functions(subject: Any, options: Any) -> tuple[Any, Any]:
    """A subject of generate(), and its options, with the layouts of each Choice of form "functions" before it as
    subjects: NAME_rows of a key Order.ROWS. Raises TraceError where that is another one's name."""
    alone = isinstance(subject, Block)
    parts = subject.values() if isinstance(subject, Mapping) else subject
    parts = parts if isinstance(subject, Mapping | list | tuple) else [subject]
    if not any(isinstance(part, Choice) and part.form == "functions" for part in parts):
        return subject, options
    options = options.replace(name=options.name or "layout") if alone else options
    named, found = {options.name: subject} if alone else several(subject), dict[str, Any]()

    def add(name: str, part: Any) -> None:
        if isinstance(part, Choice) and part.form == "functions":
            for key, own in function_names(part, name).items():
                if own in named or own in found:
                    raise TraceError(
                        f"two of what generate() was given are called {own}, one of them a layout of {name}; "
                        "name them otherwise"
                    )
                add(own, part.layouts[key])
        found[name] = part

    for name, part in named.items():
        add(name, part)
    return found, options

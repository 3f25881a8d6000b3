"""What a user's docstring says of a function, of its parameters and of its result."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from ..ir.program import Doc


def doc_of(fn: Any) -> Doc:
    """That of a function, or of an object that can be called; in the forms of Google, NumPy and
    Sphinx."""
    while isinstance(fn, partial):
        fn = fn.func
    text = getattr(fn, "__doc__", None)
    own = "__doc__" in getattr(fn, "__dict__", ())  # a function's, or by update_wrapper
    if not own and not isinstance(fn, type) and inspect.isfunction(vars(type(fn)).get("__call__")):
        text = type(fn).__call__.__doc__ or text
    if not isinstance(text, str) or not text.strip():
        return Doc()
    text = inspect.cleandoc(text)
    if "\n" not in text:
        return Doc(_line(text))
    from ..packages import docstring_parser

    try:
        found = docstring_parser.parse(text)
    except (docstring_parser.ParseError, IndexError, ValueError):  # some odd text breaks it
        return Doc(_line(text.partition("\n\n")[0]))
    summary = found.short_description or ""
    if found.long_description and not found.blank_after_short_description:
        summary += f"\n{found.long_description}".partition("\n\n")[0]
    params = {
        name.strip(" *"): _phrase(p.description)
        for p in found.params
        for name in p.arg_name.split(",")
        if p.description
    }
    named = len(found.many_returns) > 1
    told = (
        f"{r.return_name}: {said}" if named and r.return_name else said
        for r in found.many_returns
        if (said := _phrase(r.description or ""))
    )
    return Doc(_line(summary), params, "; ".join(told))


def _line(text: str) -> str:
    return " ".join(text.split())


def _phrase(text: str) -> str:
    """A description as part of a sentence."""
    text = _line(text)
    return text[:-1] if text.endswith(".") and not text.endswith("..") else text

"""Subjects of which each function is one of its own."""

from __future__ import annotations

from typing import Any

from ..algebra.block import is_bundle
from ..errors import TraceError
from .subject import several


def unbundled(subject: Any, name: str | None = None) -> Any:
    """A subject in which what is several functions is a dict of them. name: of the unit, where that is said."""
    if is_bundle(subject):
        return subject.functions_of(name or "")
    found = dict[str, Any]()
    for key, part in several(subject).items():
        own = part.functions_of(key) if is_bundle(part) else {key: part}
        if twice := found.keys() & own:
            raise TraceError(
                f"generate() would make two functions {min(twice)}; name them otherwise in a dict"
            )
        found |= own
    return found

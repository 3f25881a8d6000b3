"""Printers by name."""

from __future__ import annotations

from functools import cache

from ..errors import TargetError, nearest, shown
from ..plugins import entries, load
from .printer import Printer

GROUP = "lego_emit.printers"
OWN = "lego_emit."  # what our own plug-ins' modules begin with


def targets() -> list[str]:
    """The names of all installed printers, sorted."""
    return sorted(entries(GROUP))


def own_targets() -> list[str]:
    """The names of the printers that come with lego_emit, sorted."""
    return sorted(name for name, entry in entries(GROUP).items() if entry.value.startswith(OWN))


def printer(target: str) -> Printer:
    """The printer of a target, by its name or one of its aliases. Raises TargetError for an unknown
    name, with the nearest."""
    if not isinstance(target, str):
        raise TargetError(f"target must be a name such as 'cuda', not {shown(target)}")
    return _printer(target.lower(), target)


@cache
def _printer(name: str, given: str) -> Printer:
    names = targets()
    if name in names:
        return load(GROUP, name, Printer)
    known = [printer(n) for n in names]
    for found in known:
        if name in found.aliases:
            return found
    aliases = [a for found in known for a in found.aliases]
    raise TargetError(
        f"no target {given!r}; installed: {', '.join(names)}.{nearest(name, [*names, *aliases])}"
    )

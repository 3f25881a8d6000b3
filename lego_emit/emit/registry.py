"""The printers, each found by its language's name when it is first asked for."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from ..errors import TargetError, did_you_mean, short_repr
from ..ir.index_types import INDEX_TYPES
from ..plugins import entries, load
from ..templates import OWN
from .printer import Printer

GROUP = "lego_emit.printers"

DEFAULT = "cuda"  # the target where none is named


def targets() -> list[str]:
    """The names of all installed printers, sorted."""
    return sorted(entries(GROUP))


def own_targets() -> list[str]:
    """The names of the printers that come with lego_emit, sorted."""
    return sorted(name for name, entry in entries(GROUP).items() if entry.value.startswith(OWN))


def working(having: str = "") -> dict[str, Printer]:
    """The installed printers by their names, without those that cannot be used: what is wrong with
    one is said where it is asked for. having: what they have, as "copies"."""
    found: dict[str, Printer] = {}
    for name in targets():
        with suppress(TargetError):
            found[name] = printer(name)
    return {n: one for n, one in found.items() if not having or getattr(one, having, "")}


def index_types() -> list[str]:
    """The names of the index types of all installed languages, the common ones first."""
    printers = working().values()
    names = [
        *INDEX_TYPES,
        *(t for p in printers for t in p.index_types),
        *(t for p in printers for t in p.index_names),
    ]
    return list(dict.fromkeys(str(name) for name in names))


def printer(target: str) -> Printer:
    """The printer of a target, by its name or one of its aliases. Raises TargetError for an unknown
    name, with the nearest, and for another package's printer that cannot be used."""
    if not isinstance(target, str):
        raise TargetError(f"target must be a name such as 'cuda', not {short_repr(target)}")
    return _printer(target.lower(), target)


@cache
def _printer(name: str, given: str) -> Printer:
    installed = entries(GROUP)
    if name in installed:
        found = load(GROUP, name, Printer)
        if not installed[name].value.startswith(OWN):
            from .printer_check import check_printer

            check_printer(found, name)
        return found
    known, names = working(), sorted(installed)
    aliases = {alias: n for n, found in known.items() for alias in found.aliases}
    if name in aliases:
        return known[aliases[name]]
    related = [n for n, found in known.items() if name in found.related]
    hint = did_you_mean(name, names) or did_you_mean(name, aliases)
    if related:
        hint = f" Did you mean {related[0]!r}?"
    if name == "all":
        hint = " Call generate() for each; 'all' is the command line's: lego-emit generate -t all"
    raise TargetError(f"no target {given!r}; installed: {', '.join(names)}.{hint}")

"""Plug-ins by name, found by entry point and loaded when first asked for."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from .errors import TargetError

T = TypeVar("T")


def entries(group: str) -> dict[str, EntryPoint]:
    """The installed plug-ins of a group by name. All packages' files are read once for each group,
    and again where a folder of sys.path has changed."""
    return {**_entries(group, tuple(map(_state, sys.path)))}


def _state(folder: str) -> tuple[object, ...]:
    """What changes where a package is installed into a folder, or removed."""
    try:
        found = os.stat(folder or ".")
    except (OSError, ValueError):
        return (folder,)
    return folder, found.st_dev, found.st_ino, found.st_mtime_ns


@lru_cache(maxsize=16)
def _entries(group: str, _: tuple[object, ...]) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        if entry.name in found and found[entry.name].value != entry.value:
            raise TargetError(
                f"two installed packages offer the {group} plug-in {entry.name!r}: "
                f"{found[entry.name].value} and {entry.value}; uninstall one of them"
            )
        found[entry.name] = entry
    return found


def load(group: str, name: str, base: type[T]) -> T:
    """An instance of the class that an installed plug-in offers under a name."""
    entry = entries(group)[name]
    try:
        kind = entry.load()
        if isinstance(kind, type) and issubclass(kind, base):
            return kind()
    except Exception as error:
        raise TargetError(
            f"the {group} plug-in {name!r} ({entry.value}) does not load: {error}"
        ) from error
    raise TargetError(f"the {group} plug-in {name!r} ({entry.value}) is no {base.__name__} class")

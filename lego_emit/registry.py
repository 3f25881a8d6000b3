"""Printers and toolchains by name, found by entry point and loaded when first asked for."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from .errors import TargetError, ToolchainError, nearest, shown
from .printer import Printer
from .target import Target

ALIASES = {
    "js": "javascript",
    "c++": "cpp",
    "cxx": "cpp",
    "cu": "cuda",
    "jl": "julia",
    "f90": "fortran",
    "rs": "rust",
}


def _entries(group: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        if entry.name in found and found[entry.name].value != entry.value:
            raise TargetError(
                f"two installed packages offer the {group} plug-in {entry.name!r}: "
                f"{found[entry.name].value} and {entry.value}; uninstall one of them"
            )
        found[entry.name] = entry
    return found


def targets() -> list[str]:
    """The names of all installed printers, sorted."""
    return sorted(_entries("lego_emit.printers"))


def _load(group: str, name: str, base: type):
    entry = _entries(group)[name]
    try:
        kind = entry.load()
        if isinstance(kind, type) and issubclass(kind, base):
            return kind()
    except Exception as error:
        raise TargetError(
            f"the {group} plug-in {name!r} ({entry.value}) does not load: {error}"
        ) from error
    raise TargetError(f"the {group} plug-in {name!r} ({entry.value}) is no {base.__name__} class")


def printer(target: str) -> Printer:
    """The printer of a target. Raises TargetError for an unknown name, with the nearest."""
    if not isinstance(target, str):
        raise TargetError(f"target must be a name such as 'cuda', not {shown(target)}")
    return _printer(target)


@cache
def _printer(target: str) -> Printer:
    names = targets()
    name = ALIASES.get(target.lower(), target.lower())
    if name not in names:
        raise TargetError(
            f"no target {target!r}; installed: {', '.join(names)}."
            f"{nearest(name, [*names, *ALIASES])}"
        )
    return _load("lego_emit.printers", name, Printer)


def toolchain(target: str) -> Target:
    """The toolchain of a target. Raises ToolchainError where no plug-in can run it."""
    return _toolchain(printer(target).name)


@cache
def _toolchain(name: str) -> Target:
    if name not in _entries("lego_emit.targets"):
        raise ToolchainError(
            f"no installed plug-in can compile {name!r}; the text can still be saved"
        )
    return _load("lego_emit.targets", name, Target)

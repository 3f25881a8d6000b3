"""The toolchains, each found by its language's name when it is first asked for."""

from __future__ import annotations

from functools import cache

from ..emit.printer import Printer
from ..emit.registry import printer
from ..errors import ToolchainError
from ..plugins import entries, load
from .target import Target

GROUP = "lego_emit.targets"


def toolchain(target: str) -> Target:
    """The toolchain of a target. Raises ToolchainError where no plug-in can run it."""
    return toolchain_of(printer(target))


def toolchain_of(language: Printer) -> Target:
    """The toolchain of what a printer prints. Raises ToolchainError where no plug-in can run it."""
    return _toolchain(language.name)


@cache
def _toolchain(name: str) -> Target:
    if name not in entries(GROUP):
        raise ToolchainError(
            f"no installed plug-in can compile {name!r}; the text can still be saved"
        )
    return load(GROUP, name, Target)

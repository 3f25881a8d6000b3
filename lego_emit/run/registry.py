"""The toolchains, each found by its language's name when it is first asked for."""

from __future__ import annotations

from functools import cache

from ..emit.registry import printer
from ..errors import ToolchainError
from ..plugins import entries, load
from .target import Target

GROUP = "lego_emit.targets"


def toolchain(target: str) -> Target:
    """The toolchain of a target. Raises ToolchainError where no plug-in can run it."""
    return _toolchain(printer(target).name)


@cache
def _toolchain(name: str) -> Target:
    if name not in entries(GROUP):
        raise ToolchainError(
            f"no installed plug-in can compile {name!r}; the text can still be saved"
        )
    return load(GROUP, name, Target)

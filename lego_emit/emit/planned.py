"""What a printer gives for a plan that moves a tile between registers (lego_emit.plans)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..algebra.linear import Linear
    from ..ir.program import Program


class PlanPrinter(Protocol):
    """A printer of one plan's file: its device function, below the index functions that it calls."""

    @property
    def called(self) -> Mapping[str, tuple[str, Linear]]:
        """The index functions by their names: what each gives, and its bits."""
        ...

    @property
    def said(self) -> str:
        """The first line of the file's comment, which says what the plan moves."""
        ...

    def emit(self, program: Program) -> str:
        """The file; program: the index functions."""
        ...

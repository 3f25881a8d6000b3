"""Several index functions that belong together, and are one subject of generate()."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..arith.given_ranges import parse_ranges
from .follow import TraceOptions


class Bundle:
    """Index functions that are emitted together. A subclass gives own(), by what stands behind NAME_; unit: what they
    are called where the user says nothing.

    What a function of own() may have beside: `ranges`, which hold of its parameters; `outputs`, the names of its
    results; and `cases`, the name of a parameter and {number: the function for that number, without the parameter}."""

    unit = ""

    def own(self) -> dict[str, Callable[..., Any]]:
        """The functions, each traced as a user's is."""
        raise NotImplementedError

    def functions_of(self, name: str = "") -> dict[str, Callable[..., Any]]:
        """The functions by the names that they have in a file."""
        found = {f"{name or self.unit}_{end}": fn for end, fn in self.own().items()}
        for key, fn in found.items():
            fn.__name__, fn.bundle = key, self  # type: ignore[attr-defined]
        return found


def with_own(fn: Any, options: TraceOptions) -> TraceOptions:
    """Options with the ranges and the outputs of a function's own."""
    ranges = [*parse_ranges(getattr(fn, "ranges", {})), *options.ranges]
    return replace(options, ranges=ranges, outputs=options.outputs or getattr(fn, "outputs", ()))

"""Several index functions that belong together, and are one subject of generate()."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .follow import TraceOptions
from .functions import trace_function
from .traced import Traced


class Bundle:
    """Index functions that are emitted together. A subclass gives own(), by what stands behind NAME_; unit: what they
    are called where the user says nothing.

    What a function of own() may have beside: `ranges`, which hold of its parameters, and `cases`, the name of a
    parameter and {number: the function for that number, without the parameter}."""

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


def traced_cases(
    fn: Callable[..., Any], unit: str, options: TraceOptions
) -> list[tuple[str, int, Traced]]:
    """(a parameter, its number, the function for it) of a function that has such cases, unless sizes gives the number."""
    name, cases = getattr(fn, "cases", ("", {}))
    if name in options.numbers():
        return []
    own = replace(options, types={n: kind for n, kind in options.types.items() if n != name})
    made = {k: trace_function(case, unit, own, False).traced() for k, case in cases.items()}
    return [(name, k, case) for k, case in made.items()]

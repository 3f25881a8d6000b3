"""Functions for single numbers of a parameter, beside the one for all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .follow import TraceOptions
from .functions import trace_function
from .traced import Traced


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

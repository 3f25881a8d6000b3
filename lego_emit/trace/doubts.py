"""What a user's function may not mean, to be told."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..algebra.bijection import names_in
from ..arith.expr import Expr
from ..errors import nearest
from .trace import Trace

INDEX_NAMES = frozenset("ijk")  # of variables that are hardly meant as constants
ALIKE = 0.7  # names that are taken for one another


def unmet(unit: str, name: str, known: Sequence[str]) -> str:
    """What may not be meant: a range of a name that no expression has."""
    return (
        f"{unit}: nothing in the expression is called {name}, which becomes a parameter."
        f"{nearest(name, known)}"
    )


def doubts(fn: Callable[..., Any], trace: Trace) -> Iterator[str]:
    """What fn may not mean: names that nobody defined, variables around it that are indices, a
    branch that its layouts rule out."""
    free = [name for name in trace.undefined if name not in trace.sizes]
    misread = {n: (value, f", as {place}") for n, (value, place) in trace.misread.items()}
    if isinstance(fn, types.FunctionType):
        for n in sorted(INDEX_NAMES & names_in(fn.__code__) - misread.keys()):
            if isinstance(value := fn.__globals__.get(n), int):
                misread[n] = value, ""  # somewhere in what it computes
    rebuilt = trace.facts.rebuilt
    divides = [
        c
        for c in trace.asked.values()
        if (atom := c.remainder) is not None and rebuilt(Expr.atom(atom)).constant == 0
    ]
    if not free and not misread and not divides:
        return
    name = getattr(fn, "__name__", "the function")
    own = [*inspect.signature(fn).parameters]
    code = getattr(fn, "__code__", None)
    known = {*own, *(code.co_varnames if code else ()), *getattr(fn, "__globals__", ())}
    meant = [n for n in free if not nearest(n, known, ALIKE)]

    def signature(more: Sequence[str]) -> str:
        names = ", ".join([*own, *(n for n in more if n not in own)])
        return f"lambda {names}: .." if name == "<lambda>" else f"def {name}({names})"

    for n in free:
        if n not in meant:
            yield f"{name}: nobody defined {n}, which becomes a parameter.{nearest(n, known, ALIKE)}"
    if meant:
        one = len(meant) == 1
        yield (
            f"{name}: nobody defined {', '.join(meant)}, which {'becomes a' if one else 'become'} "
            f"parameter{'s' * (not one)}; write {'it' if one else 'them'} in the signature, "
            f"{signature(meant)}"
        )
    for c in divides:
        yield (
            f"{name}: it asks whether {c!r}, and a layout in it has a size that says so: the function "
            f"is made for that alone; emit the other branch as a function of its own"
        )
    for n, (value, place) in misread.items():
        yield (
            f"{name}: {n} is {value}, a variable around the function{place}; for a parameter "
            f"write it in the signature, {signature([*misread])}; where the number is meant, in capitals"
        )

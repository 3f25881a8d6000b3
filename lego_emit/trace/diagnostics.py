"""What a user's function may not mean, to be told."""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import Any

from ..algebra.block import Block
from ..arith.expr import Expr
from ..ends import names_in
from ..errors import did_you_mean
from .trace import Trace

INDEX_NAMES = frozenset("ijk")  # of variables that are hardly meant as constants
ALIKE = 0.7  # names that are taken for one another


def unmet(unit: str, name: str, known: Sequence[str]) -> str:
    """What may not be meant: a range of a name that no expression has."""
    return (
        f"{unit}: nothing in the expression is called {name}, which becomes a parameter."
        f"{did_you_mean(name, known)}"
    )


def _captured_indices(fn: types.FunctionType) -> dict[str, tuple[int, str]]:
    """{name: (value, place)} of the integers from around fn, their names not in capitals, that stand
    alone as an index: L[n], L[i, n], L.apply(n, j) or L.inv(n)."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False))

    def value(name: str) -> Any:
        try:
            return cells[name].cell_contents if name in cells else fn.__globals__.get(name)
        except ValueError:  # an empty cell
            return None

    found: dict[str, tuple[int, str]] = {}
    codes = [fn.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        for layout, axis, name in _indexed(code):
            number = value(name)
            if not isinstance(number, Integral) or isinstance(number, bool) or name == name.upper():
                continue
            known = value(layout) if layout else None
            if known is None or isinstance(known, Block):
                place = "the position" if axis is None else f"index {axis}"
                text = f", as {place}" + (f" of {layout}" if layout else "")
                found.setdefault(name, (int(number), text))
    return found


_NO_STEPS = {"CACHE", "PRECALL", "PUSH_NULL", "NOP", "EXTENDED_ARG", "RESUME"}
_NAMES = {"LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"}


def _indexed(code: types.CodeType) -> Iterator[tuple[str, int | None, str]]:
    """(what is indexed, "" where it has no name; which index, None for a position; the name that
    is the index) of each subscript, apply() and inv() in code that has a name alone as an index."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in _NO_STEPS]

    def start(end: int) -> int:
        """Where the operand begins that ends at a step: one value more is on the stack then."""
        depth, at = 0, end
        while at >= 0:
            effect = dis.stack_effect(steps[at].opcode, steps[at].arg, jump=False)
            names_null = steps[at].opname == "LOAD_GLOBAL" and effect == 2
            depth += 1 if names_null else effect
            if depth >= 1:
                break
            at -= 1
        return at

    def operands(end: int, count: int) -> tuple[int, list[str]]:
        """(the step before the operands, their names: "" of one that is not a name alone)."""
        names = []
        for _ in range(count):
            first = start(end)
            lone = first == end and steps[end].opname in _NAMES
            names.append(steps[end].argval if lone else "")
            end = first - 1
        return end, names[::-1]

    for at, step in enumerate(steps):
        end, names, by_position = at - 1, [], False
        if step.opname == "BINARY_SUBSCR" or (step.opname, step.argrepr) == ("BINARY_OP", "[]"):
            if end >= 0 and steps[end].opname == "BUILD_TUPLE":
                end, names = operands(end - 1, steps[end].arg or 0)
            else:
                end, names = operands(end, 1)
        elif step.opname == "CALL":
            end, names = operands(end, step.arg or 0)
            if end < 0 or steps[end].argval not in ("apply", "inv"):
                continue
            by_position = steps[end].argval == "inv" and len(names) == 1
            end -= 1
        if not any(names) or end < 0:
            continue
        lone = steps[end].opname in _NAMES | {"LOAD_FAST"}
        layout = steps[end].argval if lone else ""
        for axis, name in enumerate(names):
            if name:
                yield layout, None if by_position else axis, name


def diagnostics(fn: Callable[..., Any], trace: Trace) -> Iterator[str]:
    """What fn may not mean: names that nobody defined, variables around it that are indices, a
    branch that its layouts rule out."""
    free = [name for name in trace.undefined if name not in trace.sizes]
    misread: dict[str, tuple[int, str]] = {}
    if isinstance(fn, types.FunctionType):
        misread |= _captured_indices(fn)
        for n in sorted(INDEX_NAMES & names_in(fn.__code__) - misread.keys()):
            if isinstance(value := fn.__globals__.get(n), int):
                misread[n] = value, ""  # somewhere in what it computes
    rebuilt = trace.analyzer.rebuilt
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
    meant = [n for n in free if not did_you_mean(n, known, ALIKE)]

    def signature(more: Sequence[str]) -> str:
        names = ", ".join([*own, *(n for n in more if n not in own)])
        return f"lambda {names}: .." if name == "<lambda>" else f"def {name}({names})"

    for n in free:
        if n not in meant:
            yield f"{name}: nobody defined {n}, which becomes a parameter.{did_you_mean(n, known, ALIKE)}"
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

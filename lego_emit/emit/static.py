"""Static sizes in a file: where the language has them, and what it calls their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import TargetError
from ..ir.index_types import DECLARED, INT32
from ..ir.program import Function, Param, Program
from ..ir.relations import says
from .naming import fresh, keys_of

if TYPE_CHECKING:
    from .printer import Printer


def placed(program: Program, printer: Printer) -> Program:
    """A program whose static sizes are what the language makes of them: parameters as others, parameters
    of templates, arguments that the compiler knows, or constants of the file. Raises TargetError for
    a constant that has no number, and for what a function with static sizes has not."""
    if not printer.static:
        return _with(program, lambda _, p: replace(p, static=False))
    for f in program.functions:
        if f.static and (f.axes or f.view is not None):
            what, way = (
                ("array form", "a parameter for ':'") if f.axes else ("view", "no view=True")
            )
            raise TargetError(
                f"{f.name}: in {printer.title} there is no {what} of a function with static sizes "
                f"({', '.join(p.name for p in f.static)}); write {way}, or int for Static[int]"
            )
    if printer.static == "argument":
        return program
    if printer.static == "template":
        return _with(program, lambda _, p: replace(p, apart=True))
    known: dict[str, list[tuple[Function, Param]]] = {}
    for f in program.functions:
        for p in f.static:
            known.setdefault(p.name, []).append((f, p))
    kinds = {name: _kind([*own], printer) for name, own in known.items()}
    if printer.static == "constant":
        missing = [name for name, ((_, p), *_) in known.items() if p.default is None]
        if missing:
            given = ", ".join(f"'{name}': 32" for name in missing)
            raise TargetError(
                f"{program.name}: a static size is a constant in {printer.title}, and has a number: give "
                f"sizes={{{given}}}"
            )
    constants = tuple(
        replace(own[0][1], type=kinds[name], apart=True) for name, own in known.items()
    )
    made = _with(
        program,
        lambda f, p: replace(
            p, apart=True, type="" if kinds[p.name] == f.index_type else kinds[p.name]
        ),
    )
    return replace(made, constants=constants)


def said_of(constant: Param, printer: Printer) -> str:
    """What the comment of a static size says that a file defines: what it is, and its range."""
    lows = {constant.name: constant.lo}
    said = constant.range.says(constant.name, lambda n: says(n, printer.notation, lows))
    return "; ".join(filter(None, [constant.meaning, said]))


def names_of(program: Program, printer: Printer, taken: set[str]) -> dict[str, str]:
    """What the constants of a file are called, by their names; taken gets those. No macro has the name of
    anything in the text of a helper."""
    words, found = set[str](), {}
    if printer.static == "macro":
        texts = (re.sub(r"//.*|{{.*?}}|{%.*?%}", "", text) for text in printer.helpers.values())
        words.update(*(re.findall(r"[^\W\d]\w*", text) for text in texts))
    for p in program.constants:
        found[p.name] = fresh(printer.naming.local(p.name), printer, taken | words)
        taken |= keys_of(found[p.name], printer)
    return found


def _with(program: Program, change: Callable[[Function, Param], Param]) -> Program:
    """The program with its static sizes changed."""
    functions = tuple(
        replace(f, params=tuple(change(f, p) if p.static else p for p in f.params))
        if f.static
        else f
        for f in program.functions
    )
    return replace(program, functions=functions)


def _kind(own: Sequence[tuple[Function, Param]], printer: Printer) -> str:
    """The type of a constant that functions read: of a macro an int's, else the one that it is
    declared as, or the widest of their index types."""
    if printer.static == "macro":
        least, most = INT32.ends
        fits = all(p.default is None or least <= p.default <= most for _, p in own)
        return "int32" if fits else "int64"
    declared = {p.type for _, p in own}
    if len(declared) > 1:
        raise TargetError(
            f"{own[0][1].name} is a static size of several types, {', '.join(sorted(declared))}, and one "
            f"constant in {printer.title}; declare it alike"
        )
    if "" not in declared:
        return declared.pop()
    index = {f.index_type for f, _ in own}
    if len(index) == 1:
        return str(index.pop())
    widest = max((t for t in index if t in DECLARED), key=lambda t: t.most)
    return str(widest)

"""Declared types of parameters and results: which index type they ask for, and whether a language has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .emit.borders import check_declared
from .emit.printer import Printer
from .errors import TargetError, did_you_mean
from .ir.index_types import DECLARED, IndexType
from .ir.program import Function, Program
from .trace.calls import signature_of


def result_types(
    subject: Any, given: Mapping[str, str] | None, types: Sequence[IndexType], printer: Printer
) -> Sequence[IndexType]:
    """The index types to choose from where a result's type is declared: those of its sign that are no
    wider, at least 32 bits. given: param_types."""
    kind = (given or {}).get("return", "")
    if not kind and callable(subject):
        kind = signature_of(subject).types.get("return", "")
    if not kind or kind == "bool":
        return types
    t, own = DECLARED[kind], printer.index_types
    names = ("int32", "int64") if t.least < 0 or t.width < 32 else ("uint32", "uint64")
    found = [own[n] for n in names if n in own and own[n].width <= max(32, t.width)]
    return found or types


def check_types(given: Mapping[str, str], program: Program, printer: Printer) -> None:
    """Raise TargetError for a name of param_types that nothing has, and for a type that the language
    has not."""
    known = {"return", *(p.name for f in program.functions for p in f.params)}
    known |= {g.name for f in program.functions for g in f.groups}
    for name in given:
        if name not in known:
            raise TargetError(
                f"param_types names {name}, which is no parameter; there are "
                f"{', '.join(sorted(known))}.{did_you_mean(name, known)}"
            )
    for f in program.functions:
        check_declared(sorted(f.declared), printer)


def bound(program: Program, texts: Mapping[str, str], printer: Printer) -> Program:
    """A program in which texts stand in the place of parameters, structs and arrays. Raises TargetError for
    a name that nothing has, for a part of a struct, and where an array form or a view takes it."""
    known = dict.fromkeys(one.name for f in program.functions for one in f.arguments)
    for name in texts:
        if name not in known:
            raise TargetError(
                f"bind names {name}, which is no parameter; there are {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )
    return replace(program, functions=tuple(_bound(f, texts, printer) for f in program.functions))


def _bound(f: Function, texts: Mapping[str, str], printer: Printer) -> Function:
    own = {one.name: _operand(texts[one.name]) for one in f.arguments if one.name in texts}
    what = "an array form" if f.axes else "a view" if f.view is not None else ""
    if own and what:
        raise TargetError(
            f"bind: {f.name} has {what}, which takes all parameters; leave {min(own)} out"
        )
    groups, apart = [], dict[str, str]()
    for group in f.groups:
        if group.name in own:
            if not printer.has(group):
                raise TargetError(
                    f"bind: {group.name} is a struct or an array, and {printer.title} has its members "
                    f"by themselves; bind those"
                )
            group = replace(group, bound=own[group.name])
            apart |= dict.fromkeys(group.names, "")
        groups.append(group)
    params = tuple(
        replace(p, bound=own.get(p.name, ""), apart=True, static=False)
        if p.name in own or p.name in apart
        else p
        for p in f.params
    )
    return replace(f, params=params, groups=tuple(groups))


def _operand(text: str) -> str:
    """A text as it may stand among operators: in brackets where it has some of its own."""
    rest = text.strip()
    for _ in range(len(rest)):
        shorter = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", rest)
        if shorter == rest:
            break
        rest = shorter
    plain = re.fullmatch(r"[^\W\d]\w*((\.|->|::|%)\w+)*|\d+", rest)
    return text.strip() if plain else f"({text.strip()})"

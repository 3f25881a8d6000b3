"""Declared types of parameters and results: which index type they ask for, and whether a language has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .algebra.block import Block
from .emit.borders import check_declared
from .emit.natives import is_atom
from .emit.printer import Printer
from .errors import TargetError, did_you_mean
from .ir.index_types import DECLARED, IndexType
from .ir.program import Function, Param, Program
from .ir.relations import const
from .trace.calls import signature_of

GENERICS = re.compile(r"<[^<>()]*>")


def result_types(
    subject: Any, given: Mapping[str, str] | None, types: Sequence[IndexType], printer: Printer
) -> Sequence[IndexType]:
    """The index types to choose from where a result's type is declared, or all parameters are unsigned:
    of at least 32 bits and as many as the results have; unsigned where all results are and no parameter has
    a sign. given: param_types."""
    names, results = dict(given or {}), [(given or {}).get("return", "")]
    whole = False
    if callable(subject) and not isinstance(subject, Block):
        signature = signature_of(subject)
        signature.declare(names, {})
        names = signature.types
        members = (n for p in signature.parameters for n in signature.members(p))
        whole = all(n in names for n in members)
        results = [names.get("return", "")]
        results = (
            [k for _, k in signature.result.results] if signature.result is not None else results
        )
    params = [DECLARED[kind] for n, kind in names.items() if n != "return" and kind != "bool"]
    known = [DECLARED[kind] for kind in results if kind and kind != "bool"]
    own = printer.index_types
    if not known and whole and params and all(t.least == 0 and t.width >= 32 for t in params):
        known = params
    if not known:
        return types
    wide = [t for t in known if t.least == 0 and t.width >= 32]
    unsigned = len(wide) == len(known) and all(t.least == 0 for t in params)
    if unsigned and printer.size_index and all(t == "size" for t in known):
        return [own[printer.size_index]]
    kinds = ("uint32", "uint64") if unsigned else ("int32", "int64")
    most = max(32, *(t.width for t in known), 64 if wide and not unsigned else 0)
    return [own[n] for n in kinds if n in own and own[n].width <= most] or types


def with_ranges(program: Program, printer: Printer) -> Program:
    """A program whose header says the ranges of types that the language does not declare."""

    def of(p: Param) -> Param:
        if not p.type or (printer.declares and p.type in printer.declared_types):
            return p
        t, r = DECLARED[p.type], p.range
        narrow = t.width < 64
        least = const(t.least) if r.least is None and (narrow or t.least == 0) else r.least
        end = const(t.most + 1) if r.end is None and narrow else r.end
        return replace(p, range=replace(r, least=least, end=end))

    functions = (replace(f, params=tuple(map(of, f.params))) for f in program.functions)
    return replace(program, functions=tuple(functions))


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
    if not printer.binds:
        raise TargetError(
            f"bind: a function in {printer.title} has no texts for parameters; leave it out"
        )
    return replace(program, functions=tuple(_bound(f, texts, printer) for f in program.functions))


def _bound(f: Function, texts: Mapping[str, str], printer: Printer) -> Function:
    own = {one.name: _operand(texts[one.name], printer) for one in f.arguments if one.name in texts}
    for name, text in own.items():
        if any(text == p.name != name for p in f.params):
            raise TargetError(f"bind: {name} is {text!r}, which is a parameter; give another text")
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


def _operand(text: str, printer: Printer) -> str:
    """A text as it may stand among operators: in brackets where it has some of its own. Raises
    TargetError for brackets without a partner, a comment, and the end of a statement."""
    open_, ends = [], False
    for char in text:
        ends = ends or (char == ";" and not open_)
        if char in "([{":
            open_.append(char)
        elif char in ")]}" and (not open_ or open_.pop() + char not in ("()", "[]", "{}")):
            open_ = [char]
            break
    mark = next((m for m in printer.comments if m in text), "")
    if open_ or mark or ends:
        what = f"a bracket without a partner, {open_[0]}" if open_ else "the end of a statement, ;"
        what = f"a comment, {mark}" if mark else what
        raise TargetError(f"bind: {text!r} has {what}; give an expression")
    own = text.strip()
    return own if is_atom(GENERICS.sub("", own), percent=True) else f"({own})"

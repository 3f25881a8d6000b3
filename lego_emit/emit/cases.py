"""Functions that have a text of their own where a parameter is one of a few numbers: straight-line code before the
loop that is for all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from ..ir.nodes import Node
from ..ir.program import Function
from .naming import fresh


@dataclass(frozen=True)
class CaseForms:
    """How a language spells such a case. first: the line that begins what is done where {expr} holds; assign: sets
    {name} to {expr}; give: the lines that give the value {expr} of the function {name}; leave: the lines that end a function that has filled
    {array}; last: the line behind it, indent: of what is in it."""

    first: str = "if ({expr}) {{"
    assign: str = "{name} = {expr};"
    give: tuple[str, ...] = ("return {expr};",)
    leave: tuple[str, ...] = ("return;",)
    last: str = "}"
    indent: int = 2


def with_cases(
    like: Function,
    cases: Sequence[tuple[Node, Function]],
    names: Mapping[str, str],
    scope: set[str],
    change: Callable[[Node, Mapping[str, str]], Node],
    printer: Any,
) -> Function:
    """A function of a file with its cases. names: of its parameters there, and scope, to which others come; change: a
    node in such names."""
    found = []
    for condition, case in cases:
        own, taken = {**names}, {*scope}
        for local, _ in case.body:
            own[local] = fresh(printer.naming.local(local), printer, taken)
        made = replace(
            case.renamed_params(own),
            name=like.name,
            groups=like.groups,
            result=like.result,
            types=like.types[: len(case.outputs)],
            body=tuple((own[n], change(e, own)) for n, e in case.body),
            outputs=tuple((n, change(e, own)) for n, e in case.outputs),
        )
        found.append((change(condition, own), made))
    return replace(like, cases=tuple(found))


def lines(view: Any, form: str, indent: int) -> list[str]:
    """The lines of the cases of a function."""
    printer, found = view._printer, list[str]()
    module, _, name = printer.loops.partition(":")
    forms: CaseForms | None = module and getattr(
        import_module(module), f"{name.upper()}_CASES", None
    )
    if not forms:  # the loop says what is missing
        return []
    inner = indent + forms.indent
    for condition, function in view._function.cases:
        own, within = view.inside(function), list[str]()
        found.append(forms.first.format(expr=printer.inline(printer.expression(condition, view))))
        within += own.statements(form, inner, False)
        texts = [printer.expression(node, own) for _, node in function.outputs]
        if view.fills:
            for k, text in enumerate(texts):
                place = printer.member(view.aggregate, k)
                within.append(printer.line(forms.assign.format(name=place, expr=text), inner))
            within += [line.format(array=view.fills) for line in forms.leave]
        else:
            given = (line.format(name=view.name, expr=texts[0]) for line in forms.give)
            within += [printer.line(text, inner) for text in given]
        found += [*(" " * forms.indent + line for line in within), *filter(None, [forms.last])]
    return found

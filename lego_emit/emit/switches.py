"""Switches in a file: the lines of one, and the constants that its tags are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from ..errors import TargetError
from ..ir.loops import is_same
from ..ir.nodes import Node, const
from ..ir.program import Function, Program
from ..ir.switches import Cases
from .naming import fresh, keys_of
from .ops import BREAK

Body = Sequence[tuple[str, Node]]


@dataclass(frozen=True)
class SwitchForms:
    """How a language spells a switch, "" for what it does without.

    declare: a variable {name} of the type {T}, {zero} at first; first: what begins a switch over {tag};
    case, default: what begins the case of a {key}, and the last one; begun: the first case, where that is
    otherwise; block: what stands behind those where a case has variables of its own, and what ends it then;
    always: in every case; assign: sets {name} to {expr}; end: the last line of a case; last: that of the switch;
    indent: of a case, and of what is in it.

    arm: the lines of a case that is the value of the results, {names} in first, of what begins it, its
    statements, its results' texts and its indent; None where variables are set. alone: what begins and ends
    such a switch that is a function's result itself.

    listed: what stands before, between and behind the arguments of a call, with the marks of where a line may
    break; several: sets {names} to what a {call} gives, of the type {R}, or {callee} does with {args}; each: one of them
    after that.

    constant: that of a tag, a {number}, or {value} of the type {T}, which is {of} in Python; enum: what begins and
    ends all of them; prefixed: whether its name begins with the unit's; selects: the index types that others
    are cast to for a tag."""

    declare: str = "{T} {name} = {zero};"
    first: str = "switch ({tag}) {{"
    case: tuple[str, ...] = ("case {key}:",)
    default: tuple[str, ...] = ("case {key}:", "default:")
    begun: str = ""
    block: tuple[str, str] = (" {", "}")
    always: bool = False
    assign: str = "{name} = {expr};"
    end: str = "break;"
    last: str = "}"
    indent: tuple[int, int] = (2, 2)
    arm: Callable[..., list[str]] | None = None
    alone: tuple[str, str] = ("", "")
    listed: tuple[str, str, str] = ("", f",{BREAK}", "")
    several: tuple[str, ...] = ("const {R} found = {call};",)
    each: str = "{name} = found.{field};"
    constant: str = "  {name} = {number},"
    enum: tuple[str, ...] = ("enum {{", "}};")
    prefixed: bool = False
    selects: Mapping[str, str] = field(default_factory=dict)


def lines(view: Any, node: Node, before: Body, form: str, indent: int) -> list[str]:
    """The lines of a switch; none of a result of one that is there already."""
    if any(is_same(node, other) for _, other in before):
        return []
    printer: Any = view._printer
    forms, cases = forms_of(printer), node.args[0].value
    names = [n for n in cases.names[1:] if n]
    tag, kind = printer.inline(printer.expression(node.args[1], view)), view.index_type
    if kind in forms.selects:
        kind = forms.selects[kind]
        tag = f"{printer.types[kind]}({tag})"
    ends = forms.arm and ends_in_switch(view) and len(before) == len(view.body) - 1
    calls = [*view.calls] if all(cases.names[1:]) else []
    zero = printer.expression(const(0), view)
    found = [forms.declare.format(T=view.T, name=n, zero=zero) for n in names if forms.declare]
    first, last = forms.alone if ends else (forms.first, forms.last)
    all_of_them = names[0] if len(names) == 1 else f"({', '.join(names)})"
    found += [first.format(tag=tag, names=all_of_them)] if first else []
    outer, inner = forms.indent
    depth = indent + outer + inner
    for k, part in enumerate(cases.parts):
        own, key = view.inside(part), cases.labels[k] or printer.literal(cases.keys[k], kind)
        heads = forms.default if k == len(cases.parts) - 1 else forms.case
        heads = (forms.begun,) if k == 0 and forms.begun else heads
        *others, head = (text.format(key=key, tag=tag) for text in heads)
        within = [] if calls else own.statements(form, depth)
        values = [] if calls else [printer.expression(value, own) for _, value in part.outputs]
        if forms.arm is not None:
            values = [] if ends_in_switch(own) else values
            values = [_call(calls[k], forms)] if calls else values
            made = forms.arm(head, within, values, indent + outer)
        else:
            declares = bool(part.body)
            if calls:
                received, declares = _received(calls[k], names, forms, printer)
                within = [printer.line(text, depth) for text in received]
            texts = zip(names, values, strict=False)
            sets = (forms.assign.format(name=name, expr=text) for name, text in texts)
            within += [printer.line(text, depth) for text in sets]
            within += [forms.end] if forms.end else []
            around = forms.block if declares or forms.always else ("", "")
            made = [*others, head + around[0], *(" " * inner + line for line in within)]
            made += [around[1]] if around[1] else []
        found += [" " * outer + line for line in made]
    return [*found, last] if last else found


def _call(called: tuple[str, tuple[str, ...], tuple[str, ...]], forms: SwitchForms) -> str:
    first, between, last = forms.listed
    return f"{called[0]}({first}{between.join(called[1])}{last})"


def _received(
    called: tuple[str, tuple[str, ...], tuple[str, ...]],
    names: Sequence[str],
    forms: SwitchForms,
    printer: Any,
) -> tuple[list[str], bool]:
    """(the lines that set variables to the results of a call, whether these declare another one)."""
    (callee, given, fields), call = called, _call(called, forms)
    if len(names) == 1:
        return [forms.assign.format(name=names[0], expr=call)], False
    several, each, mark = forms.several, forms.each, ""
    if printer.writes_results:  # they are no struct's, but parameters
        several, each = ("{callee}({args}{refs});",), ""
        mark = "&" if "*" in printer.out_forms[0] else ""
    said = {"R": printer.result_name(callee), "call": call, "callee": callee}
    said |= {"args": "".join(f"{n},{BREAK}" for n in given), "names": ", ".join(names)}
    said["refs"] = f",{BREAK}".join(f"{mark}{n}" for n in names)
    pairs = zip(names, fields, strict=True) if each else ()
    sets = [each.format(name=n, field=f) for n, f in pairs]
    return [*(line.format(**said) for line in several), *sets], bool(each)


def linked(program: Program, named: Mapping[str, Any], options: Any) -> tuple[Program, str | None]:
    """(a program in which the functions of a Choice call those of its layouts, which are subjects, too; the
    index type that they should all have, None where they have one). Raises TargetError for options that
    calls have not."""
    from ..algebra.choice import function_names

    functions = {f.name: f for f in program.functions}
    for name, subject in named.items():
        if getattr(subject, "form", "") != "functions":
            continue
        if options.methods or options.prepare or options.index is not None or options.group:
            raise TargetError(
                f"{name}: functions of a Choice that call those of its layouts have no methods, structs or "
                "prepared sizes; leave methods=, prepare=, index= and group= out, or form='functions'"
            )
        own = function_names(subject, name)
        for kind in ("apply", "inv"):
            made = functions.get(f"{name}_{kind}")
            if made is None or not made.body or any(n.op != "switch" for _, n in made.body):
                continue  # one layout is left
            if any(made.starts) or made.base:
                raise TargetError(
                    f"{made.name} calls the functions of its layouts, which count from 0; leave base= out, or "
                    "form='functions'"
                )
            cases: Cases = made.body[0][1].args[0].value
            callees = (functions[f"{own[key]}_{kind}"] for key in cases.keys)
            calls = tuple((f.name, _arguments(f, made, subject), ()) for f in callees)
            functions[made.name] = replace(made, calls=calls)
    program = replace(program, functions=tuple(functions.values()))
    return program, _one_type(program)


def _one_type(program: Program) -> str | None:
    """The index type in which a function and those that it calls are to be, None where they are in one."""
    types = {f.name: f.index_type for f in program.functions}
    for f in program.functions:
        found = [f.index_type, *(types[callee] for callee, *_ in f.calls)]
        if len({*found}) > 1:
            return str(max(found, key=lambda t: t.most))
    return None


def _arguments(callee: Function, caller: Function, choice: Any) -> tuple[str, ...]:
    """The caller's names of what a layout's function is called with: sizes, then the index, and tables."""
    count = len(choice.dims) if caller.name.endswith("_apply") else len(choice.results or ("flat",))
    sizes = [p.name for p in callee.params][: len(callee.params) - count]
    return *sizes, *(p.name for p in caller.params[-count:]), *(t.name for t in callee.tables)


def enumerators(
    program: Program, printer: Any, unit: str, taken: set[str]
) -> dict[tuple[str, int, str], str]:
    """What the file calls the numbers of tags that an IntEnum names: (its name there, the number, the index
    type of the function) -> a name that nothing else in the file has; taken gets those."""
    found: dict[tuple[str, int, str], str] = {}
    prefix = f"{unit}_" if printer.switches and forms_of(printer).prefixed else ""
    for function in program.functions:
        for key in _labels(function):
            if key not in found:
                text = _upper(printer.legal_name(f"{prefix}{key[0].replace('.', '_')}"))
                found[key] = fresh(text, printer, taken)
                taken |= keys_of(found[key], printer)
    return found


def defined(program: Program, names: Mapping[tuple[str, int, str], str], printer: Any) -> Program:
    """A program with the constants that tags are. names: as enumerators() gives them."""
    forms, lines = forms_of(printer), list[str]()
    known = tuple((name, *key[1:], key[0]) for key, name in names.items())
    for name, number, index_type, of in known:
        kind = forms.selects.get(index_type, index_type)
        T, value = printer.types[kind], printer.literal(number, kind)
        lines.append(forms.constant.format(name=name, number=number, T=T, value=value, of=of))
    around = [text.format() for text in forms.enum]
    text = "\n".join([*around[:1], *lines, *around[1:]])
    return replace(program, enumerators=known, tags=(text,))


def forms_of(printer: Any) -> SwitchForms:
    """How a language spells a switch."""
    module, _, name = printer.switches.partition(":")
    return getattr(import_module(module), name)


def ends_in_switch(view: Any) -> bool:
    """Whether the only result of a function is what its last statement, a switch, gives."""
    if not view.body or len(view.outputs) != 1 or view.aggregate is not None:
        return False
    (name, node), ((_, result),) = view.body[-1], view.outputs
    return node.op == "switch" and result.op == "var" and result.value == name


def _labels(function: Function) -> Iterator[tuple[str, int, str]]:
    for node in function.nodes():
        if node.op == "switch":
            cases: Cases = node.args[0].value
            for label, key in zip(cases.labels, cases.keys, strict=True):
                if label:
                    yield label, key, str(function.index_type)


def _upper(name: str) -> str:
    """A name as constants have it: TILE_ORDER_ROWS of TileOrder_ROWS."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()

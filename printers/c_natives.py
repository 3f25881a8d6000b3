"""Types of a code base in the languages of C: by value, by reference, by a pointer."""

from __future__ import annotations

from typing import Any

from lego_emit.emit.natives import filled, is_place, made, read
from lego_emit.emit.printer import BREAK, FunctionView
from lego_emit.ir.index_types import DECLARED
from lego_emit.ir.program import Group, Program


def included(program: Program) -> list[str]:
    """The lines that include what the types need."""
    texts = (line if line[0] in '#<"' else f'"{line}"' for line in program.included)
    return [text if text[0] == "#" else f"#include {text}" for text in texts]


def checked(printer: Any, function: FunctionView) -> list[str]:
    """The statements that let no function compile in which a product of members has fewer bits than the
    index: an int overflows before it meets one."""
    found, seen = list[str](), set[str]()
    groups = [*function.groups]
    if function.receiver is not None and function.receiver.native is not None:
        held = [p for p in function.params if p.held and function.is_read(p)]
        names, own = (p.name for p in held), function.receiver
        groups += [
            Group("", tuple(names), own.name, types=tuple(p.type for p in held), native=own.native)
        ]
    for group in groups:
        kinds = [DECLARED[kind] if kind else function.index_type for kind in group.types or ("",)]
        if group.native is None or group.struct in seen or all(kind.width < 64 for kind in kinds):
            continue
        tests = [f"sizeof(+{name}) == 8" for name in group.names]
        way = "member_type" if group.name else "param_types="
        said = f"here members of {group.struct} are narrower, say so by {way}"
        seen.add(group.struct)
        if printer.asserts:
            test = f"{BREAK}&& ".join(tests)
            found.append(printer.line(f'static_assert({test},{BREAK}"w{said}");', 2))
        else:
            found.append(f"// W{said}.")
            found += [printer.line(f"(void)sizeof(char[{test} ? 1 : -1]);", 2) for test in tests]
    return found


def passed(group: Group, form: str) -> str:
    """A parameter in a form that a type says."""
    return filled(form, {"type": group.struct, "name": group.name})


def refers(group: Group) -> bool:
    """Whether one is passed by a pointer or a reference."""
    return not {*"*&"}.isdisjoint(group.native.passing)


def is_pointer(group: Group) -> bool:
    """Whether an argument is an address."""
    return "*" in group.native.passing


def written(group: Group, form: str) -> str:
    """The parameter that is written to; form: the language's, of a struct."""
    if refers(group):
        return passed(group, group.native.passing.replace("const ", ""))
    return form.format(T=group.struct, name=group.name)


def through(printer: Any, group: Group) -> str:
    """ "*" where one is written to through a pointer, and its members are those of a value."""
    return "*" if printer.out_forms[3] == "->" and not refers(group) else ""


def member(printer: Any, group: Group, place: int) -> str:
    """The text that reads a member of a parameter."""
    return read(group, place, through=through(printer, group) if group.written else "")


def places(printer: Any, function: FunctionView) -> list[str]:
    """What each result is written to; [] where the members are no places, and all is written at once."""
    whole = function.aggregate
    count = range(len(whole.members))
    own = through(printer, whole)
    found = [read(whole, k, through=own, plain=True) for k in count]
    return found if all(map(is_place, found)) else []


def whole(printer: Any, function: FunctionView) -> str:
    """The statement that writes all results at once."""
    group = function.aggregate
    pointer = "*" in written(group, printer.out_forms[0])
    return f"{'*' * pointer}{group.name} = {value(function)};"


def value(function: FunctionView) -> str:
    """The text that makes the result."""
    group = function.aggregate
    return made(group, function.texts()[: len(group.members)], f",{BREAK}".join)

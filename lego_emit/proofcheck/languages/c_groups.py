"""Parameters and results of C's family, among them structs and arrays: read member by member, as what
the text writes to read one, at.x and X[0]."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from ..text import Type
from .c_types import TYPES, known_type, literal, words
from .tree import inside, unread

# The fields of each struct, in order; with None for a type, one whose fields are not known.
Structs = dict[str, list[tuple[str, Type | None]]]
ARRAY = re.compile(r"std::array<([\w: ]+), ([0-9]+)>")


def add_struct(structs: Structs, node: Any) -> None:
    """Note a definition of a struct. Raises UnsupportedSyntax where its name means something else, too."""
    name, fields = node.child_by_field_name("name"), []
    for part in inside(node.child_by_field_name("body")):
        declared, kind = (part.child_by_field_name(f) for f in ("declarator", "type"))
        plain = part.type == "field_declaration" and declared is not None
        fields.append((words(declared), known_type(kind)) if plain else ("", None))
    if name is None:
        return
    if node.parent.type == "type_definition":
        alias = words(inside(node.parent)[-1])
        if alias != words(name):
            raise unread(node.parent, "a struct of two names")
    if words(name) in (*TYPES, "array") or f"std::{words(name)}" in TYPES:
        raise unread(node, "another meaning of a type's name")
    again = words(name) in structs and structs[words(name)] != fields
    structs[words(name)] = [("", None)] if again else fields


def check_guard(node: Any) -> None:
    """Raises UnsupportedSyntax where the guard of a struct does not stand for its text: a file with another
    one would be taken for one with the same. node: what the guard is around."""
    parts = [n for n in inside(node) if n.type not in ("identifier", "preproc_elif")]
    if [n.type for n in parts[1:]] not in (["struct_specifier"], ["type_definition"]):
        return
    text = words(parts[1]) + ";" * (parts[1].type == "struct_specifier")
    value = parts[0].child_by_field_name("value")
    if value is None or words(value).strip() != f"0x{crc32(text.encode()) & 0x7FFFFFFF:08x}":
        raise unread(parts[1], "a struct whose guard stands for another one")


def parameters(
    node: Any,
    structs: Mapping[str, Sequence[tuple[str, Type | None]]],
    language: str,
    counts: Mapping[str, int],
    strict: bool = False,
) -> list[tuple[str, Any, bool]]:
    """(name, type, whether it is for a result) of each parameter of a definition, of a struct or an array
    those of its members; that of a result is what the text writes to. The type is None where it is no
    integer: with strict, UnsupportedSyntax is raised there. counts: how many elements a pointer is to."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None:
        return [("", None, False)]
    found = [(name, kind, False) for name, kind in static_parameters(node)]
    for param in inside(declarator.child_by_field_name("parameters")):
        own = _members(param, structs, language, counts)
        if strict and any(k is None for _, k, _ in own):
            raise unread(param, "a parameter of a type that no index has")
        found += own
    return found


def static_parameters(node: Any) -> list[tuple[str, Type | None]]:
    """(name, type) of each parameter of the template that a definition is; the type None where it is no
    integer."""
    head = node.parent.child_by_field_name("parameters")
    if node.parent.type != "template_declaration" or head is None:
        return []
    found: list[tuple[str, Type | None]] = []
    for param in inside(head):
        named = param.child_by_field_name("declarator")
        plain = param.type == "parameter_declaration" and named is not None
        kind = known_type(param.child_by_field_name("type")) if plain else None
        found.append((words(named) if plain else words(param), kind))
    return found


def _members(
    param: Any,
    structs: Mapping[str, Sequence[tuple[str, Type | None]]],
    language: str,
    counts: Mapping[str, int],
) -> list[tuple[str, Any, bool]]:
    """What parameters() finds of one parameter."""
    named, kind = param.child_by_field_name("declarator"), param.child_by_field_name("type")
    if named is None:
        return [("", None, False)]
    known, fields = known_type(kind), structs.get(words(kind))
    constant = "const" in [words(n) for n in param.children if n.type == "type_qualifier"]
    shape = named.type
    if shape == "identifier":
        name = words(named)
        if known is None and fields is not None:
            return [(f"{name}.{field}", k, False) for field, k in fields]
        return [(name, known, False)]
    if shape == "array_declarator":
        return _elements(named, known, not constant)
    if shape not in ("reference_declarator", "pointer_declarator"):
        return [(words(named), None, False)]
    inner, to_one = inside(named)[0], shape == "reference_declarator"
    name = words(inner)
    if shape == "pointer_declarator" and constant:  # an array's first element
        return [(f"{name}[{k}]", known, False) for k in range(counts.get(name, 0))] or [
            (name, None, False)
        ]
    plain = inner.type == "identifier" and not constant
    if not plain or to_one == (language == "c"):
        return [(name, None, False)]
    if known is None and fields is not None and language != "glsl":
        return [(f"{name}{'.' if to_one else '->'}{field}", k, True) for field, k in fields]
    return [(name if to_one else f"*{name}", known, True)]


def own_name(place: str) -> str:
    """What a result is called that is written to this place; "" of an element of an array."""
    return "" if place.endswith("]") else re.split(r"\.|->|\*", place)[-1]


def _elements(named: Any, kind: Type | None, out: bool) -> list[tuple[str, Any, bool]]:
    """The elements of an array that a function reads or writes: of a reference to one in C++, of a pointer
    to its first in C."""
    inner = named.child_by_field_name("declarator")
    while inner.type in ("parenthesized_declarator", "reference_declarator"):
        (inner,) = inside(inner)
    count, _ = literal(named.child_by_field_name("size"), "c")
    if inner.type != "identifier" or count < 1:
        return [(words(named), None, False)]
    return [(f"{words(inner)}[{k}]", kind, out) for k in range(count)]


def result_types(
    kind: Any, structs: Mapping[str, Sequence[tuple[str, Type | None]]]
) -> tuple[list[Type | None], tuple[str, ...]]:
    """(the types, the names) of the results of a function that returns this type; a type None where it
    is none of ours, no names where the results have none."""
    text = " ".join(words(kind).split())
    fields = structs.get(text.rsplit("::", 1)[-1])
    if fields is not None:
        return [k for _, k in fields], tuple(name for name, _ in fields)
    array = ARRAY.fullmatch(text)
    if array is not None:
        return [TYPES.get(array[1])] * int(array[2]), ()
    return [known_type(kind)], ()

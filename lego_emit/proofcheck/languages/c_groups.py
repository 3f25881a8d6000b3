"""Parameters and results of C's family, among them structs and arrays: read member by member, as what
the text writes to read one, at.x and X[0]."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from ..text import BOOL, Type
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
    node: Any, structs: Mapping[str, Sequence[tuple[str, Type | None]]], strict: bool = False
) -> list[tuple[str, Any, bool]]:
    """(name, type, whether it is for a result) of each parameter of a definition, of a struct or an array
    those of its members; the type None where it is no integer: with strict, UnsupportedSyntax is raised
    there."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None:
        return [("", None, False)]
    found: list[tuple[str, Any, bool]] = []
    for param in inside(declarator.child_by_field_name("parameters")):
        named, kind = param.child_by_field_name("declarator"), param.child_by_field_name("type")
        shape = named.type if named is not None else ""
        known = known_type(kind)
        if shape == "identifier" and known is None and words(kind) in structs:
            own = [(f"{words(named)}.{f}", k, False) for f, k in structs[words(kind)]]
        elif shape == "array_declarator":
            own = _elements(param, named, known)
        else:
            out = shape == "reference_declarator"
            plain = out or shape == "identifier"
            name = words(inside(named)[0] if out else named) if named is not None else ""
            own = [(name, known if plain else None, out)]
        grouped = len(own) != 1 or own[0][0] != words(named)
        if strict and any(k is None or (grouped and k is BOOL) for _, k, _ in own):
            raise unread(param, "a parameter of a type that no index has")
        found += own
    return found


def _elements(param: Any, named: Any, kind: Type | None) -> list[tuple[str, Any, bool]]:
    """The elements of an array that a function reads: of a reference to one in C++, of a pointer to its
    first in C."""
    inner = named.child_by_field_name("declarator")
    while inner.type in ("parenthesized_declarator", "reference_declarator"):
        (inner,) = inside(inner)
    count, _ = literal(named.child_by_field_name("size"), "c")
    constant = "const" in [words(n) for n in param.children if n.type == "type_qualifier"]
    if inner.type != "identifier" or not constant or count < 1 or kind is BOOL:
        return [(words(named), None, False)]
    return [(f"{words(inner)}[{k}]", kind, False) for k in range(count)]


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

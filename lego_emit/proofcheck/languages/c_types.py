"""The integer types of C++, CUDA C and GLSL, and their literals, as the checker reads them."""

from __future__ import annotations

from typing import Any

from ..text import BOOL, I8, I16, I32, I64, U8, U16, U32, U64, Type
from . import tree
from .tree import unread

MARK = "__name"  # before a name that C++'s grammar keeps for itself
TYPES = {
    "int": I32, "int32_t": I32, "std::int32_t": I32, "unsigned": U32, "unsigned int": U32,
    "uint": U32, "uint32_t": U32, "std::uint32_t": U32, "long long": I64, "int64_t": I64,
    "std::int64_t": I64, "unsigned long long": U64, "uint64_t": U64, "std::uint64_t": U64,
    "size_t": U64, "std::size_t": U64, "bool": BOOL, "signed char": I8, "int8_t": I8,
    "std::int8_t": I8, "short": I16, "int16_t": I16, "std::int16_t": I16, "unsigned char": U8,
    "uint8_t": U8, "std::uint8_t": U8, "unsigned short": U16, "uint16_t": U16, "std::uint16_t": U16,
}  # fmt: skip
# The standard's macros; a text that defines one is not read.
GREATEST = {
    "INT32_MAX": I32, "INT64_MAX": I64, "UINT32_MAX": U32, "UINT64_MAX": U64, "SIZE_MAX": U64,
}  # fmt: skip
# Only helpers that are run use them: a number, and one whose square root is meant.
FLOATS = {"float": Type("float", None), "double": Type("double", None)}
ROOTS = {"float": Type("square root of a float", None), "double": Type("of a double", None)}
NO_INTEGERS = (*FLOATS.values(), *ROOTS.values())


def words(node: Any) -> str:
    """A node's text, as it was before names were marked."""
    return tree.words(node).replace(MARK, "")


def known_type(node: Any) -> Type | None:
    """The type that a node names; None where it is none of ours."""
    return TYPES.get(" ".join(words(node).split())) if node is not None else None


def type_of(node: Any) -> Type:
    """The type that a node names. Raises UnsupportedSyntax where it is none of ours."""
    found = known_type(node)
    if found is None:
        raise unread(node, "a type that the checker does not know")
    return found


def literal(node: Any, language: str) -> tuple[int, Type]:
    """The value and the type of an integer literal. Raises UnsupportedSyntax where no type of ours holds it."""
    text = words(node).lower().replace("'", "")
    sign = -1 if text.startswith("-") else 1
    text = text.removeprefix("-")
    hexadecimal = text.startswith("0x")
    digits = text.rstrip("ul")
    suffix = text[len(digits) :]
    try:
        number = int(digits, 0)
    except ValueError:
        raise unread(node, "a number that the checker does not know") from None
    types = (U32, U64) if "u" in suffix else (I32, U32, I64, U64) if hexadecimal else (I32, I64)
    if language == "glsl":
        types = (U32,) if "u" in suffix else (I32,)
        types = tuple({I32: I64, U32: U64}[t] for t in types) if "l" in suffix else types
    elif "l" in suffix:
        types = tuple(t for t in types if t.bits == 64)
    for kind in types:
        if number <= (kind.highest or 0):
            return sign * number, kind
    raise unread(node, "a number that no type holds")

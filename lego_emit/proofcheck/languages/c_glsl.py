"""GLSL for the reader of C's family: its text as C++, its vectors as structs."""

from __future__ import annotations

import re
from typing import Any

from ..text import I32, I64, U32, U64, Type, UnsupportedSyntax
from .c_types import MARK, TYPES, words

# Names in GLSL that C++'s grammar keeps for itself; they are marked while it reads them.
GLSL_NAMES = re.compile(
    r"\b(alignas|alignof|and|auto|catch|class|concept|constexpr|delete|enum|explicit|export|extern|"
    r"friend|goto|inline|long|mutable|namespace|new|noexcept|not|nullptr|operator|or|private|"
    r"protected|public|register|requires|short|signed|sizeof|static|template|this|throw|try|typedef|"
    r"typename|union|using|virtual|xor)\b"
)
INT = r"(u?int(?:32_t|64_t)?|bool)"
# GLSL's vectors by their names, as structs.
VECTORS = {
    f"{prefix}vec{n}": [(field, kind) for field in "xyzw"[:n]]
    for prefix, kind in (("i", I32), ("u", U32), ("i64", I64), ("u64", U64))
    for n in (2, 3, 4)
}


def as_cpp(text: str) -> str:
    """A text of GLSL as C++ parses it: an array's type as one name. Raises UnsupportedSyntax."""
    if re.search(r"^(?!\s*(//|#)).*__", text, re.MULTILINE):
        raise UnsupportedSyntax("a name with two underscores in a row")  # GLSL has none
    text = re.sub(r"^(?!\s*//).+", lambda line: _line(line[0]), text, flags=re.MULTILINE)
    return re.sub(rf"= {INT}\[\d*\]\(([^()]*)\)", r"= {\2}", text)


def array_result(kind: Any) -> tuple[list[Type | None], tuple[str, ...]] | None:
    """(the types, no names) of the results of a function that returns an array; None for another type."""
    array = re.fullmatch(r"(\w+)__([0-9]+)", words(kind))
    return None if array is None else ([TYPES.get(array[1])] * int(array[2]), ())


def _line(line: str) -> str:
    line = GLSL_NAMES.sub(rf"\1{MARK}", line)
    line = re.sub(rf"const {INT}\[(\d*)\] (\w+) =", r"const \1 \3[\2] =", line)
    line = re.sub(rf"^{INT}\[(\d+)\] (\w+)\(", r"\1__\2 \3(", line)
    line = re.sub(rf"^( *return ){INT}\[(\d+)\]\(", r"\1\2__\3(", line)
    line = re.sub(rf"([(,] *|^ +){INT} (\w+)\[(\d+)\](?=[,)])", r"\1const \2 \3[\4]", line)
    return re.sub(rf"\bout {INT} (\w+)", r"\1 &\2", line)

"""Layouts from CuTe's text, or from a shape and strides."""

from __future__ import annotations

import ast
import operator
from typing import Any

from ..algebra.nested import MOST_DEPTH, checked, compact, is_tuple
from ..algebra.strided import Strided, Swizzle, Swizzled
from ..arith.expr import symbols
from ..errors import LayoutError, LazyText, brief, short_repr
from ..numeric import is_integer

MOST_TEXT = 4096  # characters of a layout's text

_OPERATIONS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@brief
def layout(shape: Any, stride: Any = None) -> Any:
    """A layout from CuTe's text, or from a shape and strides.

    shape: "((4,8),2):((32,1),16)", "S<3,4,3> o 0 o (8,64):(64,1)", or a size or nested tuple of
    sizes. stride: nested alike; without it the strides are compact, the left mode fastest. Names
    in the text are symbols, which + - * // may join; 1 is also written _1. What stands after the
    stride and a " + " with spaces is the offset, as str() writes it: "(4,8):(32,1) + 16".

    Raises LayoutError where the text cannot be read, or shape and strides are not nested alike.

        >>> from lego_emit import cute
        >>> print(cute.layout("(4,8):(8,1)"))
        (4,8):(8,1)
        >>> print(cute.layout((4, 8)))
        (4,8):(1,4)
        >>> cute.layout("(4,8):(8,1)")(1, 2)
        10
    """
    if isinstance(shape, str):
        if stride is not None:
            raise LayoutError(
                f"layout({short_repr(shape)}, ..): the text has its strides after a ':'"
            )
        return _read(shape)
    if isinstance(shape, Strided | Swizzled):
        if stride is not None:
            raise LayoutError(f"layout({shape}, ..): it has strides; give a shape to other ones")
        return shape
    if stride is None:
        shape = checked(shape, LazyText("layout({})", shape), "shape", 1)
        stride = compact(shape)
    return Strided(shape, stride)


def tiler(source: str) -> Any:
    """A tiler from CuTe's text, "<4:2, (2,2):(1,4)>": a tuple of a layout for each mode, or None for
    "_". Any other text is read as a layout. Raises LayoutError where it cannot be read."""
    stripped = source.strip()
    if not (stripped.startswith("<") and stripped.endswith(">")):
        return layout(source)
    construct = LazyText("tiler({})", source)
    if len(source) > MOST_TEXT:
        raise LayoutError(f"{construct}: {len(source)} characters; at most {MOST_TEXT} are taken")
    return _tiler(stripped, construct)


def _tiler(source: str, construct: object, depth: int = 0) -> Any:
    source = source.strip()
    if depth > MOST_DEPTH:
        raise LayoutError(f"{construct}: nested more than {MOST_DEPTH} deep; flatten it")
    if source == "_":
        return None
    if source.startswith("<") and source.endswith(">"):
        return tuple(_tiler(part, construct, depth + 1) for part in _parts(source[1:-1]))
    if "<" in source or ">" in source:
        raise LayoutError(f"{construct}: {short_repr(source)} is not a layout; write <4:2, 8:1>")
    return _plain(source, construct)


def _read(source: str) -> Any:
    construct = LazyText("layout({})", source)
    if len(source) > MOST_TEXT:
        raise LayoutError(f"{construct}: {len(source)} characters; at most {MOST_TEXT} are taken")
    parts = [part.strip() for part in source.split(" o ")]
    if len(parts) not in (1, 3):
        raise LayoutError(
            f'{construct}: not CuTe\'s text; write "(4,2):(2,1)" or "S<3,4,3> o 0 o (8,64):(64,1)"'
        )
    found = _plain(parts[-1], construct)
    if len(parts) == 1:
        return found
    offset = _tree(parts[1], construct)
    if is_tuple(offset):
        raise LayoutError(f"{construct}: the offset is {short_repr(offset)}; give one number")
    return Swizzled(
        _swizzle(parts[0], construct), Strided(found.shape, found.stride, offset + found.offset)
    )


def _plain(source: str, construct: object) -> Strided:
    pieces = source.split(":")
    balanced, first = ([text.count(c) for c in "()"] for text in (source, pieces[0]))
    if len(pieces) > 2 or (balanced[0] == balanced[1] and first[0] != first[1]):
        raise LayoutError(f"{construct}: write SHAPE:STRIDE, with one ':' outside of parentheses")
    shape = _tree(pieces[0], construct)
    if len(pieces) == 1:
        return Strided(shape, layout(shape).stride)
    stride, offset = pieces[1], "0"
    if (at := _outside(stride, " + ")) is not None:
        stride, offset = stride[:at], stride[at + 3 :]
    return Strided(shape, _tree(stride, construct), _tree(offset, construct))


def _outside(source: str, mark: str) -> int | None:
    """Where a mark first stands outside of parentheses."""
    depth = 0
    for k, c in enumerate(source):
        depth += (c == "(") - (c == ")")
        if not depth and source.startswith(mark, k):
            return k
    return None


def _swizzle(source: str, construct: object) -> Swizzle:
    inner = source.replace("Sw<", "S<").replace("Swizzle<", "S<")
    if not (inner.startswith("S<") and inner.endswith(">")) or inner.count(",") != 2:
        raise LayoutError(f"{construct}: {source!r} is not a swizzle; write S<3,4,3>")
    b, m, s = (_tree(part, construct) for part in inner[2:-1].split(","))
    made = Swizzle(b, m, s)
    made.check_concrete(construct)
    return made


def _tree(source: str, construct: object, depth: int = 0) -> Any:
    source = source.strip()
    if not source:
        raise LayoutError(f"{construct}: a part is empty; write a number, a name or a tuple")
    if depth > MOST_DEPTH:
        raise LayoutError(f"{construct}: nested more than {MOST_DEPTH} deep; flatten it")
    if source.startswith("(") and _closing(source, construct) == len(source) - 1:
        return tuple(_tree(part, construct, depth + 1) for part in _parts(source[1:-1]))
    try:
        return _value(ast.parse(source, mode="eval").body, construct)
    except (SyntaxError, ValueError, RecursionError) as error:
        if isinstance(error, LayoutError):
            raise
        raise LayoutError(f"{construct}: {short_repr(source)} cannot be read") from None


def _parts(source: str) -> list[str]:
    found, depth, start = [], 0, 0
    for k, c in enumerate(source):
        depth += (c in "(<") - (c in ")>")
        if c == "," and not depth:
            found.append(source[start:k])
            start = k + 1
    rest = source[start:]
    return [*found, rest] if rest.strip() or not found else found


def _closing(source: str, construct: object) -> int:
    depth = 0
    for k, c in enumerate(source):
        depth += (c == "(") - (c == ")")
        if not depth:
            return k
    raise LayoutError(f"{construct}: a '(' is not closed")


def _value(tree: ast.expr, construct: object) -> Any:
    match tree:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if name.startswith("_") and name[1:].isdigit():
            return int(name[1:])
        case ast.Name(id=name):
            return symbols(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, construct)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            one, other = _value(left, construct), _value(right, construct)
            if isinstance(op, ast.FloorDiv | ast.Mod) and is_integer(other) and other == 0:
                raise LayoutError(f"{construct}: it divides by 0; give another divisor")
            return _OPERATIONS[type(op)](one, other)
    raise LayoutError(f"{construct}: {short_repr(ast.unparse(tree))} is not a size or stride")

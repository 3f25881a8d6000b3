"""Layouts from CuTe's text, from shapes and strides, and from parts."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence
from typing import Any

from ..algebra.nested import compact, congruent, flat, is_tuple, modes, shaped, times
from ..algebra.strided import Strided, Swizzle, Swizzled
from ..arith.expr import symbols
from ..errors import LayoutError, shown
from ..kinds import is_integer

_OPERATIONS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def layout(shape: Any, stride: Any = None) -> Any:
    """A layout from CuTe's text, or from a shape and strides.

    shape: "((4,8),2):((32,1),16)", "S<3,4,3> o 0 o (8,64):(64,1)", or a size or nested tuple of
    sizes. stride: nested alike; without it the strides are compact, the left mode fastest. Names
    in the text are symbols, which + - * // may join; 1 is also written _1.

    Raises LayoutError where the text cannot be read, or shape and strides are not nested alike.
    """
    if isinstance(shape, str):
        if stride is not None:
            raise LayoutError(f"layout({shape!r}, ..): the text has its strides after a ':'")
        return _read(shape)
    if isinstance(shape, Strided | Swizzled):
        return shape
    return Strided(shape, compact(shape) if stride is None else stride)


def as_layout(given: Any, construct: str) -> Strided:
    """What an operation takes for a strided layout: one, its text, or a shape. Raises LayoutError."""
    if isinstance(given, Strided):
        return given
    found = None if given is None or isinstance(given, Swizzled) else layout(given)
    if not isinstance(found, Strided):
        raise LayoutError(
            f"{construct}: {shown(given)} is no layout of a shape and strides; give a Strided, a "
            'text such as "(4,2):(2,1)", or a shape'
        )
    return found


def make_layout(*layouts: Any) -> Strided:
    """The layouts side by side, each a mode of the result; their offsets add up."""
    found = [as_layout(each, "make_layout(..)") for each in layouts]
    if not found:
        raise LayoutError("make_layout(): give at least one layout")
    offset: Any = 0
    for each in found:
        offset = offset + each.offset
    return Strided(tuple(a.shape for a in found), tuple(a.stride for a in found), offset)


def make_ordered_layout(shape: Any, order: Any) -> Strided:
    """Compact strides of a shape, its leaves numbered in the order of `order`, nested alike: the
    leaf with the least one is the fastest.

    Raises LayoutError where shape and order are not nested alike, or an order is no integer.
    """
    construct = f"make_ordered_layout({shown(shape)}, {shown(order)})"
    if not congruent(shape, order):
        raise LayoutError(f"{construct}: shape and order are not nested alike")
    orders, sizes = flat(order), flat(shape)
    if not all(map(is_integer, orders)):
        raise LayoutError(f"{construct}: an order is no integer")
    strides: list[Any] = [0] * len(sizes)
    running: Any = 1
    for k in sorted(range(len(sizes)), key=lambda k: orders[k]):
        strides[k], running = running, times(running, sizes[k])
    return Strided(shape, shaped(shape, iter(strides)))


def make_layout_like(a: Any) -> Strided:
    """A compact layout of the same shape, its leaves in the order of a's strides; stride 0 stays."""
    a = as_layout(a, "make_layout_like(..)")
    strides: list[Any] = [0] * len(a.leaves)
    running: Any = 1
    for k in sorted(range(len(a.leaves)), key=lambda k: a.leaves[k][1]):
        n, d = a.leaves[k]
        if not (is_integer(d) and d == 0):
            strides[k], running = running, times(running, n)
    return Strided(a.shape, shaped(a.shape, iter(strides)))


def with_offset(a: Strided, offset: Any) -> Strided:
    """The same layout from another position on."""
    return Strided(a.shape, a.stride, offset)


def get(a: Any, *place: int) -> Strided:
    """A mode of a layout, or a mode of that mode; its offset is left out."""
    found = as_layout(a, "get(..)")
    for k in place:
        if not is_integer(k) or not -found.rank <= k < found.rank:
            raise LayoutError(f"get({a}, {shown(place)}): {found} has {found.rank} modes")
        found = found.mode(k)
    return found


def of_leaves(leaves: Sequence[tuple[Any, Any]], offset: Any = 0) -> Strided:
    """A layout of (size, stride) pairs: a single one is no tuple, none at all is 1:0."""
    if not leaves:
        return Strided(1, 0, offset)
    if len(leaves) == 1:
        return Strided(*leaves[0], offset)
    return Strided(tuple(n for n, _ in leaves), tuple(d for _, d in leaves), offset)


def flatten(a: Any) -> Strided:
    """The layout with its leaves side by side."""
    a = as_layout(a, "flatten(..)")
    if not is_tuple(a.shape):
        return a
    return Strided(flat(a.shape), flat(a.stride), a.offset)


def group(a: Any, begin: int, end: int) -> Strided:
    """The layout with its modes begin..end-1 put into one."""
    a = as_layout(a, "group(..)")
    if not 0 <= begin < end <= a.rank:
        raise LayoutError(f"group({a}, {begin}, {end}): it has {a.rank} modes")
    parts = [modes(a.shape), modes(a.stride)]
    grouped = [(*p[:begin], p[begin:end], *p[end:]) for p in parts]
    shape, stride = grouped
    return Strided(shape, stride, a.offset)


def slice_(coordinate: Any, a: Any) -> Any:
    """The layout of the modes where the coordinate has None, from the position of the others on."""
    return a(*coordinate) if is_tuple(coordinate) else a(coordinate)


# -- text ----------------------------------------------------------------------------------------


def _read(source: str) -> Any:
    construct = f"layout({source!r})"
    parts = [part.strip() for part in source.split(" o ")]
    if len(parts) not in (1, 3):
        raise LayoutError(
            f'{construct}: not CuTe\'s text; write "(4,2):(2,1)" or "S<3,4,3> o 0 o (8,64):(64,1)"'
        )
    pieces = parts[-1].split(":")
    if len(pieces) > 2:
        raise LayoutError(f"{construct}: there are {len(pieces) - 1} ':'; write SHAPE:STRIDE")
    shape = _tree(pieces[0], construct)
    stride = _tree(pieces[1], construct) if len(pieces) == 2 else None
    if len(parts) == 1:
        return layout(shape, stride)
    offset = _tree(parts[1], construct)
    found = Strided(shape, compact(shape) if stride is None else stride, offset)
    return Swizzled(_swizzle(parts[0], construct), found)


def _swizzle(source: str, construct: str) -> Swizzle:
    inner = source.replace("Sw<", "S<").replace("Swizzle<", "S<")
    if not (inner.startswith("S<") and inner.endswith(">")) or inner.count(",") != 2:
        raise LayoutError(f"{construct}: {source!r} is no swizzle; write S<3,4,3>")
    b, m, s = (_tree(part, construct) for part in inner[2:-1].split(","))
    return Swizzle(b, m, s)


def _tree(source: str, construct: str) -> Any:
    source = source.strip()
    if not source:
        raise LayoutError(f"{construct}: a part is empty; write a number, a name or a tuple")
    if source.startswith("(") and _closing(source, construct) == len(source) - 1:
        return tuple(_tree(part, construct) for part in _parts(source[1:-1], construct))
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError:
        raise LayoutError(f"{construct}: {source!r} cannot be read") from None
    return _value(tree, construct)


def _parts(source: str, construct: str) -> list[str]:
    found, depth, start = [], 0, 0
    for k, c in enumerate(source):
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            found.append(source[start:k])
            start = k + 1
    rest = source[start:]
    return [*found, rest] if rest.strip() or not found else found


def _closing(source: str, construct: str) -> int:
    depth = 0
    for k, c in enumerate(source):
        depth += (c == "(") - (c == ")")
        if not depth:
            return k
    raise LayoutError(f"{construct}: a '(' is not closed")


def _value(tree: ast.expr, construct: str) -> Any:
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
            return _OPERATIONS[type(op)](_value(left, construct), _value(right, construct))
    raise LayoutError(f"{construct}: {ast.unparse(tree)!r} is no size or stride")

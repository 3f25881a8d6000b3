"""Indices of a type that nobody knows, as what a kernel loads: wide enough before anything is computed of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..ir.nodes import Node

CONVERTING = ("to", "astype", "cast")
WIDE = ("int32", "int64")  # types that compute an index as it is
NARROW = ("int8", "int16", *(f"uint{bits}" for bits in (8, 16, 32, 64)))


def widened(
    node: Node, limits: tuple[int, int], wide: Callable[[str], str | None], must: bool
) -> Node:
    """A value whose names of unknown type are converted where it may be beyond the limits, in which any type computes
    the same. wide: a name converted, None of one whose type is known; must: whether more is computed of the value."""
    if node.op == "var":
        text = wide(str(node.value)) if must else None
        return node if text is None else replace(node, value=text)
    if node.is_bool:
        must = any(a.op == "const" and not _within(a, limits) for a in node.args)
    else:
        must = must or not _within(node, limits)
    return node.over(tuple(widened(a, limits, wide, must) for a in node.args))


def _within(node: Node, limits: tuple[int, int]) -> bool:
    least, most = (node.value, node.value) if node.op == "const" else (node.lo, node.hi)
    return least is not None and most is not None and limits[0] <= least <= most <= limits[1]


def loaded(function: ast.AST, loads: Sequence[str]) -> set[str]:
    """The names that a function ever gives a value which functions of these names load."""
    known = set[str]()
    pairs: list[tuple[set[str], ast.expr]] = []
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.AugAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
            ):
                targets = [target]
            case _:
                continue
        pairs.append(
            ({n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}, value)
        )
    while more := [
        names for names, value in pairs if names - known and _loads(value, known, loads)
    ]:
        known.update(*more)
    return known


def _loads(node: ast.AST, known: set[str], loads: Sequence[str]) -> bool:
    """Whether a value is computed of what is loaded or has a narrow type, in this type."""
    match node:
        case ast.Name(id=name):
            return name in known
        case ast.Attribute(attr=name):
            return name in NARROW
        case ast.Compare():
            return False
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=args, keywords=named):
            if name in loads:
                return True
            if name in CONVERTING:
                types = (ast.unparse(one) for one in (*args, *(k.value for k in named)))
                return all(text.rpartition(".")[2] not in WIDE for text in types)
    return any(_loads(child, known, loads) for child in ast.iter_child_nodes(node))


def reads(text: str, known: set[str], loads: Sequence[str]) -> bool:
    """Whether an index that is text is computed of what is loaded."""
    try:
        return _loads(ast.parse(text, mode="eval").body, known, loads)
    except SyntaxError:
        return bool(re.search(rf"\b({'|'.join(loads)})\(", text))

"""The relations of a header as text: "0 <= i < M // BM", "M % BM == 0". They are read, evaluated on
numbers, and said in other names; a text that is no relation stays as it is."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from keyword import iskeyword
from math import isqrt
from typing import Any

KEYWORD = "\u01c0"  # a letter; before a keyword that is a name here (a size may be called `in`)
WORDS = frozenset({"and", "or", "not", "if", "else"})  # what Python's keywords mean in a relation
FITS = "every intermediate value fits"  # an index type: what a header says where no relation does
NAME = re.compile(r"[^\W\d]\w*")

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_SIGNS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_CALLS: dict[str, Callable[..., Any]] = {
    "min": lambda *given: reduce(lambda a, b: _choose(a <= b, a, b), given),
    "max": lambda *given: reduce(lambda a, b: _choose(a >= b, a, b), given),
    "isqrt": isqrt,
    "abs": abs,
}
_CALLS |= {"Min": _CALLS["min"], "Max": _CALLS["max"]}
_UNREADABLE = (SyntaxError, KeyError, TypeError, ValueError, ZeroDivisionError, RecursionError)


def bounds(text: str, name: str, values: Mapping[str, int]) -> tuple[int | None, int | None]:
    """The inclusive bounds that "0 <= i < M // BM" gives to i; None where it gives none."""
    lo, hi = _relation(text, name)
    try:
        low = None if lo is None else _value(lo[0], values) + lo[1]
        high = None if hi is None else _value(hi[0], values) + hi[1]
    except _UNREADABLE:
        return None, None
    return low, high


def has_end(text: str, name: str) -> bool:
    """Whether a relation bounds a name from above."""
    return _relation(text, name)[1] is not None


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """A relation or an expression on integers or NumPy arrays of objects; None where it cannot be
    read so."""
    try:
        return _value(_tree(text), values)
    except _UNREADABLE:
        return None


def names_in(text: str) -> list[str]:
    """The names in a relation, functions left out; none where the text is no relation."""
    try:
        tree = _tree(text)
    except (SyntaxError, ValueError):
        return []
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called)
    return [_name(node) for node in found]


def pieces(text: str) -> set[str]:
    """The comparisons that a chain of them consists of, in one spelling each; the text itself
    where it is no chain."""
    try:
        tree = _tree(text)
    except (SyntaxError, ValueError):
        return {text}
    if not isinstance(tree, ast.Compare):
        return {ast.unparse(tree)}
    found = set()
    for a, op, b in zip((tree.left, *tree.comparators), tree.ops, tree.comparators, strict=False):
        if isinstance(op, ast.Gt | ast.GtE):
            op, a, b = (ast.Lt() if isinstance(op, ast.Gt) else ast.LtE()), b, a
        if isinstance(op, ast.LtE) and (number := _number(b)) is not None:
            op, b = ast.Lt(), ast.Constant(number + 1)
        elif isinstance(op, ast.Lt) and (number := _number(a)) is not None:
            op, a = ast.LtE(), ast.Constant(number + 1)
        found.add(f"{ast.unparse(a)} {_SIGNS.get(type(op), ast.dump(op))} {ast.unparse(b)}")
    return found


def _number(tree: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(tree)
    except ValueError:
        return None
    return value if type(value) is int else None


def reworded(text: str, names: Mapping[str, str]) -> str:
    """A relation in other names; a sentence stays as it is, and so do the functions it calls."""
    if all(names.get(word, word) == word for word in NAME.findall(text)):
        return text
    try:
        _tree(text)
    except (SyntaxError, ValueError):
        return text

    def new(match: re.Match[str]) -> str:
        word = match.group()
        called = text[match.end() :].lstrip().startswith("(")
        return word if called or word in WORDS else names.get(word, word)

    return NAME.sub(new, text)


# -- reading -------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _tree(text: str) -> ast.expr:
    """The text as Python reads it; keywords other than WORDS are names like others."""

    def marked(match: re.Match[str]) -> str:
        word = match.group()
        return KEYWORD + word if iskeyword(word) and word not in WORDS else word

    return ast.parse(NAME.sub(marked, text.strip()), mode="eval").body


def _name(node: ast.Name) -> str:
    return node.id.removeprefix(KEYWORD)


def _relation(text: str, name: str) -> tuple[Any, Any]:
    """((lower bound, what to add), (upper bound, what to add)) of a name in a chain."""
    lo = hi = None
    try:
        tree = _tree(text or "0")
    except (SyntaxError, ValueError):
        return lo, hi
    if not isinstance(tree, ast.Compare):
        return lo, hi
    parts = [tree.left, *tree.comparators]
    for left, sign, right in zip(parts, tree.ops, parts[1:], strict=False):
        if isinstance(right, ast.Name) and _name(right) == name:
            left, right = right, left
            flipped = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
            sign = flipped.get(type(sign), type(sign))()
        if not (isinstance(left, ast.Name) and _name(left) == name):
            continue
        if isinstance(sign, ast.Lt | ast.LtE):
            hi = (right, -1 if isinstance(sign, ast.Lt) else 0)
        elif isinstance(sign, ast.Gt | ast.GtE):
            lo = (right, 1 if isinstance(sign, ast.Gt) else 0)
    return lo, hi


def _value(node: ast.AST, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name():
            return values[_name(node)]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _value(operand, values) ^ True
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, values), _value(right, values))
        case ast.BoolOp(op=op, values=operands):
            join = operator.and_ if isinstance(op, ast.And) else operator.or_
            found = _value(operands[0], values)
            for operand in operands[1:]:
                if isinstance(found, bool) and found is isinstance(op, ast.Or):
                    break  # what stands behind it may have no value
                found = join(found, _value(operand, values))
            return found
        case ast.IfExp(test=test, body=body, orelse=other):
            found = _value(test, values)
            if isinstance(found, bool):
                return _value(body if found else other, values)
            return _choose(found, _value(body, values), _value(other, values))
        case ast.Call(func=ast.Name(id=name), args=args) if name in _CALLS:
            return _CALLS[name](*(_value(a, values) for a in args))
        case ast.Compare(left=left, ops=ops, comparators=rest):
            found = [_value(n, values) for n in (left, *rest)]
            pairs = zip(found, ops, found[1:], strict=False)
            return reduce(operator.and_, (_COMPARE[type(op)](a, b) for a, op, b in pairs))
    raise ValueError(f"not an expression of a header: {ast.dump(node)}")


def _choose(condition: Any, then: Any, other: Any) -> Any:
    """then or other; element by element where they are arrays."""
    if isinstance(condition, bool):
        return then if condition else other
    return then * condition + other * ~condition

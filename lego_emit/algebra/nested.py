"""Nested tuples of integers and symbols: the shapes and strides of strided layouts.

A nested tuple is a number, or a tuple of nested tuples. Its leaves stand from left to right; the
left one counts fastest (the colexicographic order).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import LONGEST, LayoutError, a_type, short_repr
from ..numeric import is_integer, is_symbolic
from .sizes import way_out

MOST_DEPTH = 32  # levels of a nested tuple


def is_tuple(x: Any) -> bool:
    """Whether x is written as a tuple or a list."""
    return isinstance(x, tuple | list)


def flat(tree: Any) -> tuple[Any, ...]:
    """The integers and symbols of a nested tuple, left to right."""
    if not is_tuple(tree):
        return (tree,)
    return tuple(leaf for part in tree for leaf in flat(part))


def is_too_deep(tree: Any) -> bool:
    """Whether a nested tuple has more levels than are taken."""
    level, depth = [tree], 0
    while level and depth <= MOST_DEPTH:
        level = [part for each in level if is_tuple(each) for part in each]
        depth += 1
    return bool(level)


def modes(tree: Any) -> tuple[Any, ...]:
    """The parts of the top level; of a number, the number itself."""
    return tuple(tree) if is_tuple(tree) else (tree,)


def size_of(tree: Any) -> Any:
    """The product of the leaves; 1 where there are none."""
    found: Any = 1
    for leaf in flat(tree):
        found = times(found, leaf)
    return found


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The same nesting with change(leaf) for each leaf."""
    return tuple(mapped(part, change) for part in tree) if is_tuple(tree) else change(tree)


def shaped(tree: Any, leaves: Iterator[Any]) -> Any:
    """The same nesting with the next leaf for each leaf."""
    return mapped(tree, lambda _: next(leaves))


def congruent(a: Any, b: Any) -> bool:
    """Whether two nested tuples have the same nesting."""
    if is_tuple(a) != is_tuple(b):
        return False
    if not is_tuple(a):
        return True
    return len(a) == len(b) and all(map(congruent, a, b))


def compact(shape: Any, start: Any = 1) -> Any:
    """The strides that number the shape's elements from start on, the left one fastest."""
    running = [start]

    def stride(n: Any) -> Any:
        found = running[0]
        running[0] = times(found, n)
        return found

    return mapped(shape, stride)


def times(a: Any, b: Any) -> Any:
    """a * b; 0 and 1 leave nothing else behind."""
    if (is_integer(a) and a == 0) or (is_integer(b) and b == 0):
        return 0
    if is_integer(a) and a == 1:
        return b
    return a if is_integer(b) and b == 1 else a * b


def number(value: Any) -> Any:
    """A value as an int where it is one, though it be an expression."""
    constant = getattr(value, "constant", None)
    if constant is not None:
        return constant
    if not is_integer(value):
        return value
    return int(value)


def same(a: Any, b: Any) -> bool:
    """Whether two numbers are equal as they are written: no assumption helps."""
    if is_integer(a) and is_integer(b):
        return a == b
    gap = a - b
    constant = getattr(gap, "constant", None)
    if constant is None and hasattr(gap, "expand"):
        gap = gap.expand()
        constant = int(gap) if gap.is_Integer else None
    return constant is not None and constant == 0


def checked(tree: Any, construct: object, what: str, least: int | None) -> Any:
    """A nested tuple as tuples of ints and symbols. Raises LayoutError where a leaf is none, or an
    int less than least, and where it is nested too deep."""
    if is_too_deep(tree):
        raise LayoutError(
            f"{construct}: the {what} is nested more than {MOST_DEPTH} deep; flatten it"
        )
    return _checked(tree, construct, what, least)


def _checked(tree: Any, construct: object, what: str, least: int | None) -> Any:
    if is_tuple(tree):
        if not len(tree):
            raise LayoutError(f"{construct}: the {what} has an empty tuple; give each mode a size")
        return tuple(_checked(part, construct, what, least) for part in tree)
    value = number(tree)
    if is_integer(value):
        if least is not None and value < least:
            raise LayoutError(
                f"{construct}: the {what} has {short_repr(value)}; a size is at least {least}"
            )
        if value.bit_length() > LONGEST:
            raise LayoutError(
                f"{construct}: the {what} has {short_repr(value)}; at most 2**{LONGEST} is taken"
            )
        return value
    if is_symbolic(value):
        return value
    raise LayoutError(
        f"{construct}: the {what} has {short_repr(value)}, {a_type(value)}; give an integer or a "
        f"symbol{way_out(value)}"
    )


def check_congruent(shape: Any, stride: Any, construct: object, place: str = "") -> None:
    """Raise LayoutError with the first mode in which the nestings differ."""
    where = f"mode {place}" if place else "the whole"
    if not is_tuple(shape) and not is_tuple(stride):
        return
    if is_tuple(shape) != is_tuple(stride) or len(shape) != len(stride):
        raise LayoutError(
            f"{construct}: shape and stride are not congruent: {where} is {text(shape)} in the "
            f"shape and {text(stride)} in the stride; nest both alike"
        )
    for k, (a, b) in enumerate(zip(shape, stride, strict=True)):
        check_congruent(a, b, construct, f"{place}.{k}" if place else str(k))


def text(tree: Any) -> str:
    """A nested tuple in CuTe's notation, as ((4,8),2)."""
    if is_tuple(tree):
        return f"({','.join(map(text, tree))})"
    return short_repr(tree)


def digits(sizes: Sequence[Any], index: Any) -> list[Any]:
    """The coordinates of a colexicographic index; the last one is what is left, unreduced."""
    found: list[Any] = []
    for n in sizes[:-1]:
        if is_integer(n) and n == 1:
            found.append(0)
            continue
        index, digit = divmod(index, n)
        found.append(digit)
    found.append(index)
    return found

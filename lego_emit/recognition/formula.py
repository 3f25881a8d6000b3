"""Functions that are trees: called like Python functions, and spelled as lambdas."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..lower.trees import Tree

# Python's spelling, how tightly it binds, and the operation.
_SPELLED: dict[str, tuple[str, int, Callable[[Any, Any], Any]]] = {
    "mul": ("*", 6, operator.mul),
    "div": ("//", 6, operator.floordiv),
    "floordiv": ("//", 6, operator.floordiv),
    "mod": ("%", 6, operator.mod),
    "floormod": ("%", 6, operator.mod),
    "add": ("+", 5, operator.add),
    "sub": ("-", 5, operator.sub),
    "shl": ("<<", 4, operator.lshift),
    "shr": (">>", 4, operator.rshift),
    "and": ("&", 3, operator.and_),
    "xor": ("^", 2, operator.xor),
    "or": ("|", 1, operator.or_),
    "lt": ("<", 0, operator.lt),
}


@dataclass(frozen=True)
class Formula:
    """A function of integers, arrays without a choice, or symbols, by a tree over their names; of
    several trees a tuple of results."""

    names: tuple[str, ...]
    trees: tuple[Tree, ...]

    def __call__(self, *index: Any) -> Any:
        """The value at an index; of several trees a tuple."""
        given = dict(zip(self.names, index, strict=True))
        found = tuple(value(tree, given) for tree in self.trees)
        return found[0] if len(found) == 1 else found

    @property
    def __name__(self) -> str:
        """The lambda that it is, for the repr of a GenP."""
        text = ", ".join(spelled(tree) for tree in self.trees)
        return f"lambda {', '.join(self.names)}: {f'({text})' if len(self.trees) > 1 else text}"


def value(tree: Tree, given: Mapping[str, Any]) -> Any:
    """A tree's value where its names have these values."""
    if not isinstance(tree, tuple):
        return given[tree] if isinstance(tree, str) else tree
    if tree[0] == "select":
        return value(tree[2] if value(tree[1], given) else tree[3], given)
    return _SPELLED[tree[0]][2](value(tree[1], given), value(tree[2], given))


def spelled(tree: Tree, least: int = -1) -> str:
    """A tree in Python; in parentheses where it binds less tightly than `least`."""
    if not isinstance(tree, tuple):
        return str(tree) if not isinstance(tree, int) or tree >= 0 else f"({tree})"
    if tree[0] == "select":
        condition, one, other = (spelled(t, 0) for t in tree[1:])
        text, binds = f"{one} if {condition} else {other}", -1
    else:
        sign, binds, _ = _SPELLED[tree[0]]
        text = f"{spelled(tree[1], binds)} {sign} {spelled(tree[2], binds + 1)}"
    return f"({text})" if binds < least else text


def put_in(tree: Tree, inner: Mapping[str, Tree]) -> Tree:
    """The tree with others in the place of its names."""
    if isinstance(tree, tuple):
        return (tree[0], *(put_in(t, inner) for t in tree[1:]))
    return inner[tree] if isinstance(tree, str) else tree


def total(terms: list[tuple[int, Tree]], constant: int = 0) -> Tree:
    """The sum of factor * tree, and a constant."""
    found: Tree | None = None
    for factor, tree in sorted(terms, key=lambda term: term[0] < 0):
        size = abs(factor)
        part: Tree = tree if size == 1 else ("mul", tree, size)
        if found is None:
            if factor < 0:
                found, constant = ("sub", constant, part), 0
            else:
                found = part
        else:
            found = ("add" if factor > 0 else "sub", found, part)
    if found is None:
        return constant
    if constant:
        found = ("add", found, constant) if constant > 0 else ("sub", found, -constant)
    return found


def digit(tree: Tree, below: int, size: int | None) -> Tree:
    """tree // below % size; without a size the last digit."""
    found = tree if below == 1 else ("div", tree, below)
    return found if size is None else ("mod", found, size)

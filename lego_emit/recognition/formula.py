"""Functions that are trees: called like Python functions, and spelled as lambdas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..ir.nodes import Node, const, made
from ..notation import BINDING


@dataclass(frozen=True)
class Formula:
    """A function of integers, arrays without a choice, or symbols, by a tree over their names; of
    several trees a tuple of results."""

    names: tuple[str, ...]
    trees: tuple[Node, ...]

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


def value(tree: Node, given: Mapping[str, Any]) -> Any:
    """A tree's value where its names have these values."""
    if not tree.args:
        return given[tree.value] if tree.op == "var" else tree.value
    first, *others = tree.args
    if tree.op == "select":
        return value(others[0 if value(first, given) else 1], given)
    return tree.row.value(value(first, given), *(value(t, given) for t in others))


def spelled(tree: Node, least: int = BINDING["if"]) -> str:
    """A tree in Python; in parentheses where it binds less tightly than `least`."""
    if not tree.args:
        text = str(tree.value)
        return f"({text})" if text.startswith("-") else text
    if tree.op == "select":
        condition, one, other = (spelled(t, BINDING["<"]) for t in tree.args)
        text, binds = f"{one} if {condition} else {other}", BINDING["if"]
    else:
        sign, (left, right) = tree.row.sign, tree.args
        if not sign:  # min and max
            return f"{tree.op}({spelled(left)}, {spelled(right)})"
        binds = BINDING[sign]
        text = f"{spelled(left, binds)} {sign} {spelled(right, binds + 1)}"
    return f"({text})" if binds < least else text


def total(terms: list[tuple[int, Node]], constant: int = 0) -> Node:
    """The sum of factor * tree, and a constant."""
    found: Node | None = None
    for factor, tree in sorted(terms, key=lambda term: term[0] < 0):
        size = abs(factor)
        part = tree if size == 1 else made("mul", tree, size)
        if found is None:
            if factor < 0:
                found, constant = made("sub", constant, part), 0
            else:
                found = part
        else:
            found = made("add" if factor > 0 else "sub", found, part)
    if found is None:
        return const(constant)
    if constant:
        found = made("add", found, constant) if constant > 0 else made("sub", found, -constant)
    return found


def digit(tree: Node, below: int, size: int | None) -> Node:
    """tree // below % size; without a size the last digit."""
    found = tree if below == 1 else made("div", tree, below)
    return found if size is None else made("mod", found, size)

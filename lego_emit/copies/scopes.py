"""Names for the integers of a kernel, some of which end with a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ..ir.nests import Let
from ..ir.nodes import Node, var
from .digits import Size
from .tiles import Names
from .values import node_of

R = TypeVar("R")


class Scopes(Names):
    """Names that are no names of sizes."""

    def __init__(self, taken: Sequence[str]):
        super().__init__(taken)
        self._outside = frozenset(self._taken)

    def named(self, size: Size, stem: str) -> Node:
        """A size as a number, a parameter, or a variable that has its value."""
        return self.kept(node_of(size), stem)

    def kept(self, node: Node, stem: str) -> Node:
        """A number, a parameter, or a variable that has a node's value."""
        if not node.args:
            return node
        if node not in self._known:
            name = self.fresh(stem)
            self.lets.append(Let(name, node))
            self._known[node] = var(name)
        return self._known[node]

    def local(self, stem: str) -> str:
        """The stem, or the stem with underscores, for a scope that ends before another one takes it."""
        return stem if stem not in self._outside else self.local(f"{stem}_")

    def numbered(self, stem: str) -> str:
        """The same of names that are a stem and a number each."""
        is_taken = any(stem == name.rstrip("0123456789") for name in self._outside)
        return stem if not is_taken else self.numbered(f"{stem}_")

    def scoped(self, make: Callable[[], R]) -> tuple[list[Let], R]:
        """What a function makes, and the variables that it named, whose names others may have after it."""
        before = {*self._taken}, [*self.lets], dict(self._known)
        result = make()
        own = self.lets[len(before[1]) :]
        self._taken, self.lets, self._known = before
        return own, result

    def take(self, names: Iterable[str]) -> None:
        """No other variable gets one of these."""
        self._taken.update(names)

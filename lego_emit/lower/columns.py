"""The values of a graph's nodes over all values of their symbols, where those are few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import inf, prod
from typing import Any

from ..ir.nodes import Node, tabulate
from ..operations import OPS
from .lowering import Lowering
from .search import SMALL

Names = tuple[str, ...]


class Columns:
    """Bounds of nodes that depend on symbols of small ranges, found by looking at all values: a
    form that was searched for has no other proof."""

    def __init__(self, lowering: Lowering):
        self.lowering, self.graph = lowering, lowering.graph
        self._names: dict[Node, Names] = {}
        self._domains: dict[Names, list[tuple[int, ...]] | None] = {}
        self._columns: dict[Names, dict[Node, Sequence[Any]]] = {}

    def least(self, node: Node) -> float:
        """The least value of a node, which its bounds are from here on; -inf where it is not
        found."""
        bounds = self._bounds(node)
        return -inf if bounds is None else bounds[0]

    def bound_all(self, roots: Iterable[Node]) -> None:
        """Find the bounds of all that the roots need."""
        for node in self.graph.reached(roots):
            self._bounds(node)
        self.lowering.ranges.forget()

    def _bounds(self, node: Node) -> tuple[int, int] | None:
        if node.op not in OPS or node.is_bool:
            return None
        if node not in self.lowering.bounds:
            found = self._column(node, self.names(node))
            if found is not None:
                self.lowering.bounds[node] = min(found), max(found)
        return self.lowering.bounds.get(node)

    def names(self, node: Node) -> Names:
        """The symbols that a node depends on."""
        if node not in self._names:
            own = {str(node.value)} if node.op == "var" else set()
            self._names[node] = tuple(sorted(own.union(*map(self.names, node.args))))
        return self._names[node]

    def _domain(self, names: Names) -> list[tuple[int, ...]] | None:
        if names not in self._domains:
            analyzer = self.lowering.analyzer
            ends = [analyzer.interval(analyzer.symbol(n)) for n in names]
            ranges = [range(lo, hi + 1) for lo, hi in ends if lo is not None and hi is not None]
            few = len(ranges) == len(names) > 0 and 0 < prod(map(len, ranges)) <= SMALL
            self._domains[names] = [*product(*ranges)] if few else None
        return self._domains[names]

    def _column(self, node: Node, names: Names) -> Sequence[int] | None:
        """The node's values where the symbols run through theirs; None where it has none
        somewhere."""
        domain = self._domain(names)
        if domain is None:
            return None
        if names not in self._columns:
            own = zip(names, zip(*domain, strict=True), strict=True)
            self._columns[names] = {self.graph.var(name): column for name, column in own}
        columns = self._columns[names]
        if node not in columns:
            try:
                tabulate(self.graph.reached([node]), columns, len(domain))
            except (ArithmeticError, ValueError):
                return None
        return columns[node]

"""Switches in a lowered program: the cases of one, the value of the leaf of a node "switch".

Nodes and Functions are Any here: both hold cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..intervals import Interval


@dataclass(frozen=True)
class Cases:
    """The cases of a switch: the first operand of a node "switch", which the tag and what the cases take from
    outside follow. parts: for each case the Function that gives its results of what is taken; keys: the numbers
    of the tag, the last case that of any other; labels: what each is called, "" for nothing; item: the result
    that the node is; bounds: of each result; key: the same for equal switches; shown: what a program calls the
    tag and the results; names: what the text at hand does, whose parts give the results by name; "" of a result
    that nothing reads."""

    parts: tuple[Any, ...] = field(compare=False, repr=False)
    keys: tuple[int, ...]
    labels: tuple[str, ...]
    item: int
    bounds: tuple[Interval, ...]
    key: str = field(repr=False)
    shown: tuple[str, ...]
    names: tuple[str, ...] = field(default=(), compare=False)

    own = 0  # parameters of a part that are not taken from outside
    first = 2  # where what is taken begins among the operands of a node

    @property
    def count(self) -> int:
        """How many results there are."""
        return len(self.shown) - 1

    @property
    def price(self) -> float:
        """What the dearest case costs, of one of the results."""
        return max(part.cost for part in self.parts) / self.count

    def check(self) -> None:
        """Raise InternalError unless its functions are well formed."""
        for part in self.parts:
            part.check()

    def mapped(self, change: Callable[[Any], Any]) -> Cases:
        """The cases with their functions changed."""
        return replace(self, parts=tuple(map(change, self.parts)))

    def nodes(self) -> Iterator[Any]:
        """Every node in them."""
        for part in self.parts:
            yield from part.nodes()

    def _of(self, tag: int) -> int:
        if tag not in self.keys:
            raise ArithmeticError(f"no case for {tag}")
        return self.keys.index(tag)

    def values(self, tag: int, *given: int) -> list[int]:
        """The results. given: what is taken."""
        if any(hasattr(v, "shape") for v in (tag, *given)):  # each element by itself
            from ..packages import numpy as np

            each = np.frompyfunc(lambda *v: tuple(self.values(*v)), 1 + len(given), self.count)
            found = each(tag, *given)
            return [*found] if self.count > 1 else [found]
        part = self.parts[self._of(tag)]
        found = part.evaluate({p.name: v for p, v in zip(part.params, given, strict=True)})
        return [found.get(n, 0) for n in (self.names[1:] or found)]

    def run(self, compiled: Callable[[Any], Callable[[Any], list[int]]]) -> Callable[..., int]:
        """What gives the result that the node is, of this leaf's value, the tag and what is taken. compiled: a
        Function as a Python one of its parameters' values."""
        parts, names = [*map(compiled, self.parts)], [p.name for p in self.parts[0].params]

        def run(_: Any, tag: int, *given: int) -> int:
            return parts[self._of(tag)](dict(zip(names, given, strict=True)))[self.item]

        return run

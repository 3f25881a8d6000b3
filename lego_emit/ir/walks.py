"""A walk in a lowered program: from the positions of one index to those of the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .nodes import Node


@dataclass(frozen=True)
class Odometer:
    """A walk over strided memory of any rank, whose function has the parameters rank, shape, strides, and flat.

    name: of the subject; most: the greatest rank; names: in a file, what is called walk, cursor and next there.
    """

    name: str
    most: int
    names: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[Any, ...] = ()
    fixed: tuple[str, ...] = ()
    results: tuple[str, ...] = ("position",)

    def beside(self, function: Any) -> Any:
        """A function with what the walk assumes, too: nothing more."""
        return function

    def in_function(self, change: Callable[[Node], Node], names: Mapping[str, str]) -> Odometer:
        """The walk with what the function says of its parameters in other names."""
        return self


@dataclass(frozen=True)
class Walk:
    """A walk over a function of indices.

    name: of the subject; axes: the indices that it goes along, the outermost first; extents: (the first index,
    one past the last) of each; fixed: the other parameters that it needs; results: the positions; kept: what it
    keeps beside them; start: functions that give both at an index, one after the other, each of which reads what
    those before it give; step: those that give what changes along the last axis, from the index before. All have
    the same parameters: those of the function, the positions, and what is kept. names: in a file, what is called
    walk, cursor, next and seek there, and first and last of each axis; gives: "position" of an index, or "index" of
    a position. assumed: conditions on sizes that its parts ask beside those of the function; unseen: whether values
    in them must fit of which no more can be said; reads: what the function calls those of fixed and of axes.
    """

    name: str
    axes: tuple[str, ...]
    extents: tuple[tuple[int, Node], ...]
    fixed: tuple[str, ...]
    results: tuple[str, ...]
    kept: tuple[str, ...]
    start: tuple[Any, ...]
    step: tuple[Any, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    gives: str = "position"
    assumed: tuple[Node, ...] = ()
    unseen: bool = False
    reads: tuple[str, ...] = ()

    @property
    def limits(self) -> list[str]:
        """The first and the last of each axis, as names has them: first indices, then last ones."""
        return [f"{end} {axis}" for end in ("first", "last") for axis in self.axes]

    @property
    def parts(self) -> tuple[Any, ...]:
        """The functions that it has."""
        return (*self.start, *self.step)

    def beside(self, function: Any) -> Any:
        """A function with what the walk assumes, too."""
        assumed, unseen = (*function.assumed, *self.assumed), function.unseen or self.unseen
        return replace(function, assumed=assumed, unseen=unseen)

    def in_function(self, change: Callable[[Node], Node], names: Mapping[str, str]) -> Walk:
        """The walk with what the function says of its parameters in other names."""
        reads = tuple(names[n] for n in self.reads)
        return replace(self, assumed=tuple(map(change, self.assumed)), reads=reads)

    def mapped(self, change: Callable[[Any], Any]) -> Walk:
        """The walk with its functions changed."""
        start, step = (tuple(map(change, stages)) for stages in (self.start, self.step))
        return replace(self, start=start, step=step)

    def run(
        self, fixed: Mapping[str, int], first: tuple[int, ...], last: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        """The positions of the box of indices from first on, below last, in row-major order."""
        if any(a >= b for a, b in zip(first, last, strict=True)):
            return
        state = {n: 0 for n in (*self.results, *self.kept)} | {**fixed}
        state |= zip(self.axes, first, strict=True)
        stages = self.start
        while True:
            for f in stages:
                state |= f.evaluate(state)
            yield tuple(state[n] for n in self.results)
            stages = self.step
            for k in reversed(range(len(self.axes))):
                state[self.axes[k]] += 1
                if state[self.axes[k]] < last[k]:
                    break
                state[self.axes[k]], stages = first[k], self.start
            else:
                return

"""What an emitted function means, at integers: what generate() was given, called on plain numbers.

A layout gives its reference evaluator's values; a Python function is called as Python calls it, its
layouts on integers being their references. Nothing here goes through symbols, but where a definition
itself makes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ..algebra import reference
from ..algebra.block import Block
from ..arith.expr import Expr
from .trace import Trace

POINTS, FEW = 48, 16  # how often a definition is called; one that may take long
WORD = re.compile(r"\w+")
Values = Mapping[str, int]


class Definition(Protocol):
    """What a function means. name: in messages; points: at how many it is asked."""

    name: str
    points: int

    @property
    def is_total(self) -> bool:
        """Whether it has a value wherever its sizes allow it: a layout's function, of which a
        function of Python's may say nothing at some integers, as isqrt(-1)."""
        ...

    @property
    def stays_small(self) -> bool:
        """Whether sizes without bounds stay small: a GenP is checked anew for each size."""
        ...

    def __call__(self, values: Values) -> Any:
        """Its result at values of the parameters, which count from 0. Raises what it raises."""
        ...


class GivesLayout(Protocol):
    """A function that returns a layout."""

    def __call__(self, values: Values) -> Any:
        """The layout at values of the parameters."""
        ...

    def on_constants(self, values: Values) -> Any:
        """The layout where the arguments are constants of the type that symbols have."""
        ...


class OfLayout:
    """One of a layout's two functions: apply, or inv where inverse is true. given: the layout, or
    the function that returns it."""

    is_total = True

    def __init__(
        self,
        given: Block | GivesLayout,
        trace: Trace,
        name: str,
        indices: Sequence[str],
        inverse: bool,
    ):
        self.name, self._given, self._trace = name, given, trace
        self._indices, self._inverse = indices, inverse
        self._made: dict[tuple[tuple[str, int], ...], Block] = {}
        self.points = POINTS if isinstance(given, Block) and given.is_concrete else FEW

    @property
    def stays_small(self) -> bool:
        """Whether sizes without bounds stay small: the layout holds a GenP of symbolic sizes."""
        return self._trace.has_genp

    def __call__(self, values: Values) -> Any:
        """The position, or the index, at values of the parameters. Raises LegoError where it has
        none."""
        sizes = {n: v for n, v in values.items() if n not in self._indices}
        key = tuple(sorted(sizes.items()))
        layout = self._made.get(key)
        if layout is None:
            layout = self._made[key] = self._at(sizes)
        return self._value(layout, values)

    def on_constants(self, values: Values) -> Any:
        """The result where the layout's function is given constants of the type that symbols have."""
        if isinstance(self._given, Block):
            return self(values)
        sizes = {n: v for n, v in values.items() if n not in self._indices}
        return self._value(self._given.on_constants(sizes), values)

    def _value(self, layout: Block, values: Values) -> Any:
        index = [values[n] for n in self._indices]
        return layout.inv(*index) if self._inverse else reference.apply(layout, index)

    def _at(self, sizes: Values) -> Block:
        given = self._given
        if not isinstance(given, Block):
            return given(sizes)
        if given.is_concrete:
            return given
        from .numbered import Numbered

        cancelled = dict.fromkeys(symbols_in(given), 1)
        return given.with_sizes(Numbered(given, {**cancelled, **self._trace.sizes, **sizes}))


def results_of(result: Any) -> list[int]:
    """A definition's result as numbers. Raises TypeError where it is none."""
    if isinstance(result, Mapping):
        result = list(result.values())
    found = result if isinstance(result, tuple | list) else [result]
    return [int(v) if isinstance(v, int) else v.__index__() for v in found]


def names_of(sizes: Iterable[Any]) -> list[str]:
    """The names of the symbols of sizes, each once, in the order in which they are printed."""
    found = dict[str, None]()
    for n in sizes:
        e = Expr.of(n)
        own = e.symbols()
        found |= dict.fromkeys(name for name in WORD.findall(repr(e)) if name in own)
        found |= dict.fromkeys(sorted(own))
    return [*found]


def parameters_of(layout: Any, said: Callable[[Expr], Expr] = lambda e: e) -> list[str]:
    """The names of a layout's symbols, in the order in which they are printed, sizes before others; those of a
    layout of the catalogue in the order that its entry declares. said: what a size was before it was replaced."""
    names = names_of(said(Expr.of(n)) for n in (*layout.sizes(), *layout.offsets()))
    for arguments in _declared(layout):
        declared = [n for n in names_of(map(said, map(Expr.of, arguments))) if n in names]
        places = [k for k, n in enumerate(names) if n in declared]
        for k, n in zip(places, declared, strict=True):
            names[k] = n
    return names


def _declared(layout: Block) -> Iterator[tuple[Any, ...]]:
    """The arguments of layouts of the catalogue in a layout, however deep."""
    met: dict[int, Any] = {}
    left: list[Any] = [layout]
    while left:
        one = left.pop()
        own = vars(one) if isinstance(one, Block) else one
        if own is not one and "_arguments" in own:
            yield own["_arguments"]
        met[id(one)] = one
        parts = own.values() if isinstance(own, Mapping) else own
        left += [p for p in parts if isinstance(p, Block | tuple | Mapping) and id(p) not in met]


def symbols_in(layout: Any) -> set[str]:
    """The names of the symbols that a layout, or a swizzle, has."""
    return set[str]().union(*(Expr.of(n).symbols() for n in (*layout.sizes(), *layout.offsets())))

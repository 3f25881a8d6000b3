"""Layouts over symbolic indices and sizes: Figs. 4, 5 and 9 in terms of Expr.

Flattening is a sum of products, unflattening a chain of divmods; both stay in normal form, so that
what comes out is simplified already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..algebra.slices import run_of
from ..arith.analyzer import Analyzer
from ..arith.context import plain
from ..arith.expr import Cond, Expr, lookup, opaque
from ..errors import IndexRangeError
from ..numeric import is_array, is_sympy
from ..table_lookup import Entries
from .learn import (
    is_inside,
    learn_application,
    learn_inversion,
    learn_layout,
    parameter_of,
    product_of,
    size_of,
    stand_in,
)
from .paths import Running, running
from .trace import Trace, step

NEAR = 1024  # entries of a table that surely stays in the nearest cache


def apply(block: Any, indices: Sequence[Any]) -> Any:
    """The physical position of symbolic indices (SymPy in, SymPy out)."""
    return step(_apply, block, indices)


def _apply(block: Any, indices: Sequence[Any]) -> Any:
    return _converted(lambda values, here: _apply_checked(block, values, here), block, indices)


def inv(block: Any, flat: Any) -> tuple:
    """The logical indices of a symbolic position."""
    return step(_inv, block, flat)


def _inv(block: Any, flat: Any) -> tuple:
    return _converted(lambda values, here: _inv_checked(block, values[0], here), block, [flat])


def getitem(layout: Any, indices: Sequence[Any]) -> Any:
    """layout[i, j, :, :]: every ':' becomes an axis of the running trace."""
    return step(_getitem, layout, indices)


def _getitem(layout: Any, indices: Sequence[Any]) -> Any:
    if any(isinstance(i, slice) for i in indices):
        here = running()
        if here is None or here.trace is None:
            raise IndexRangeError(
                f"{layout!r}: ':' over a symbolic size works only inside a function given to generate()"
            )
        learn_layout(layout, here)
        indices = [
            _along(here.trace, n, i) if isinstance(i, slice) else i
            for i, n in zip(indices, layout.dims, strict=True)
        ]
    return _apply(layout, indices)


def _along(trace: Trace, n: Any, part: slice) -> Expr:
    """The index that runs over a part of an axis: a parameter from 0 on, or what is made of it."""
    first, step, count = run_of(n if isinstance(n, int) else size_of(n, trace.analyzer), part)
    i = trace.axis(Expr.of(count) if isinstance(count, int) else count)
    return i if (first, step) == (0, 1) else i * step + first


def _converted(
    compute: Callable[[list[Expr], Running], Any], block: Any, values: Sequence[Any]
) -> Any:
    """Run compute in the trace that is running, or under what the layout's own sizes say; in SymPy
    terms where the caller's symbols are SymPy's."""
    if any(map(is_array, values)):
        raise IndexRangeError(
            f"{block!r}: an index is an array, and a size or another index a symbol; give numbers for "
            "the symbols"
        )
    used_sympy = any(map(is_sympy, (*values, *block.sizes(), *block.offsets())))
    exprs = [Expr.of(v) for v in values]
    here = running()
    if here is not None and here.trace is not None:
        return compute(exprs, here)
    known = Analyzer()
    here = Running(known)
    with here.entered():
        for _ in range(3):
            before = len(known.facts.quotients)
            learn_layout(block, here)
            if len(known.facts.quotients) == before:
                break
        result = compute([known.rebuilt(e) for e in exprs], here)
    result = _map(result, known.unsubstitute)
    return _map(result, Expr.to_sympy) if used_sympy else result


@contextmanager
def facts_of(layout: Any) -> Iterator[None]:
    """What a layout's sizes say of each other is known in the body."""
    here = Running(Analyzer())
    learn_layout(layout, here)
    with here.entered():
        yield


def in_general(block: Any, indices: Sequence[Any]) -> Any:
    """The position of an index where every size that is no number is at least 2."""
    known = Analyzer()
    here = Running(known)
    with here.entered():
        learn_layout(block, here)
        for n in block.sizes():
            for name in sorted(Expr.of(n).symbols()):
                known.learn_range(name, Expr.of(2), None)
        learn_layout(block, here)
        for n in block.sizes():
            size = known.rebuilt(Expr.of(n))
            if size.constant is None:
                known.learn_nonneg(size - 2)
        values = [known.rebuilt(Expr.of(v)) for v in indices]
        found = block.forward(Symbols(here), known.bind(values))
        found = Expr.of(found[0] if isinstance(found, tuple) else found)
        found = known.unsubstitute(known.rebuilt(found))
    return found.to_sympy() if any(map(is_sympy, block.sizes())) else found


def in_sympy(function: Callable[[Expr], Expr], value: Any) -> Any:
    """A function of one of our expressions at a SymPy expression."""
    return Expr.of(function(Expr.of(value))).to_sympy()


def _map(value: Any, change: Callable[[Expr], Any]) -> Any:
    return tuple(change(v) for v in value) if isinstance(value, tuple) else change(value)


@dataclass(frozen=True, eq=False)
class Application:
    """A layout applied to indices, or inverted at a position: a step."""

    block: Any
    values: tuple[Expr, ...]
    inverse: bool


# -- evaluation ----------------------------------------------------------------------------------


def _apply_checked(block: Any, values: list[Expr], here: Running) -> Any:
    known = here.analyzer
    learn_application(block, values, here)
    _tell(block, values, known, inverse=False)
    dims = [size_of(n, known) for n in block.dims]
    bounded = [_bounded_by(v, n, here) for v, n in zip(values, dims, strict=True)]
    found = block.forward(Symbols(here), known.bind([b for b, _ in bounded]))
    if isinstance(found, tuple):  # one of each of the block's results
        return tuple(_put_back(Expr.of(e), bounded, known) for e in found)
    return _put_back(Expr.of(found), bounded, known)


def _inv_checked(block: Any, flat: Expr, here: Running) -> tuple[Expr, ...]:
    known = here.analyzer
    learn_inversion(block, flat, here)
    _tell(block, [flat], known, inverse=True)
    bounded = _bounded_by(flat, product_of(block.physical_dims, known), here)
    found = block.backward(Symbols(here), known.bind(bounded[0]))
    return tuple(_put_back(Expr.of(e), [bounded], known) for e in found)


def _bounded_by(value: Expr, size: Expr, here: Running) -> tuple[Expr, Expr | None]:
    """(value, None) where 0 <= value < size is known; else what was learned to stand in for it, and
    the value that takes its place afterwards."""
    known = here.analyzer
    if size.constant == 1 and parameter_of(value, here) is not None:
        return Expr.of(0), None
    standing = stand_in(value, size)
    if standing.args[0] not in known.facts.ranges or is_inside(value, size, known):
        return value, None
    return Expr.atom(standing), value


def _tell(block: Any, values: Sequence[Expr], known: Analyzer, inverse: bool) -> None:
    if known.log is not None:
        known.log.add(Application(block, tuple(values), inverse))


def _put_back(e: Expr, bounded: list[tuple[Expr, Expr | None]], known: Analyzer) -> Expr:
    replaced = {stand_in.single: value for stand_in, value in bounded if value is not None}
    return known.rebuild(e, replaced.get) if replaced else e


class Symbols:
    """Symbolic integers, as blocks are evaluated over them in what runs."""

    def __init__(self, here: Running):
        self._here, self._known = here, here.analyzer

    def size(self, n: Any) -> Expr:
        """A size in one term."""
        return self._known.bind(size_of(n, self._known))

    def whole(self, flat: Expr, sizes: Sequence[Expr]) -> Expr:
        """A flat position about to be taken apart: as it is, or as one value where the trace says so
        (a form whose quotients share it can be smaller than one that looks into it)."""
        trace, known = self._here.trace, self._known
        if trace is None or not trace.keeps or len(flat.terms) < 2:
            return flat
        size = reduce(known.simplifier.multiply, map(Expr.of, sizes), Expr.of(1))
        kept = opaque(plain(flat), Expr.of(0), size - 1, bool(known.facts.branch))
        trace.flats.update(dict.fromkeys(kept.atoms()))
        return known.bind(kept)

    def called(self, block: Any, index: Sequence[Expr]) -> Expr:
        """A GenP's position of an index."""
        from .bijections import position

        found, size = position(block, index, self._here)
        return self._known.bind(found) if size is None else self._bounded(found, size)

    def called_back(self, block: Any, flat: Expr) -> list[Expr]:
        """A GenP's index of a position."""
        from .bijections import indices

        return [self._bounded(value, n) for value, n in indices(block, flat, self._here)]

    def looked_up(self, entries: Entries, place: Expr) -> Expr:
        """The entry of a table at a symbolic place, with the place and the entry in range."""
        known = self._known
        at = self._bounded(Expr.of(place), size_of(entries.size, known))
        found = lookup(entries, Expr.of(at))
        if entries.most is not None:
            return known.bind(found)
        return self._bounded(found, size_of(entries.below, known))

    def by_formula(self, entries: Entries) -> bool:
        """Whether the trace does not ask for tables; it knows then that there is one."""
        trace = self._here.trace
        if trace is None or len(entries) > NEAR:
            return True
        trace.has_tables[entries] = None
        return not trace.tables

    def masked(
        self, sizes: Sequence[Any], coordinates: Sequence[Expr], values: Sequence[Expr]
    ) -> list[Expr]:
        """The values where each coordinate lies below its size, else -1."""
        known = self._known
        condition = _inside(
            [Expr.of(c) for c in coordinates], [size_of(n, known) for n in sizes], known
        )
        return known.bind([known.simplifier.select(condition, v, -1) for v in values])

    def chosen(
        self, block: Any, results: Callable[[Symbols, Any], list[Any]], inverse: bool
    ) -> list[Expr]:
        """The results of the layout that a Choice takes, known to be in range."""
        from .choosing import chosen

        return chosen(block, lambda here, L: results(Symbols(here), L), self._here, inverse)

    def _bounded(self, e: Expr, size: Expr) -> Expr:
        """e, which is known to be in 0..size-1 because the block is a bijection."""
        known = self._known
        if not is_inside(e, size, known):
            e = opaque(e, Expr.of(0), size - 1, bool(known.facts.branch))
        return known.bind(e)


def _inside(indices: Sequence[Expr], sizes: Sequence[Expr], known: Analyzer) -> Cond | bool:
    condition: Cond | bool = True
    for i, n in zip(indices, sizes, strict=True):
        test = i < n
        decided = known.simplifier.decided(test)
        if decided is False:
            return False
        if decided is None:
            condition = test if condition is True else condition & test
    return condition

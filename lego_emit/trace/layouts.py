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

from ..algebra.genp import GenP
from ..algebra.part import Part
from ..algebra.same import Same
from ..algebra.slices import run_of
from ..arith.analyzer import Analyzer
from ..arith.context import plain
from ..arith.evaluate import Undefined
from ..arith.expr import Cond, Expr, group, lookup
from ..arith.terms import Atom
from ..entries import Entries
from ..errors import IndexRangeError, LayoutError
from ..kinds import is_array, is_sympy
from .bijections import call, check_part, check_small, given
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
from .paths import Running, explore, running
from .trace import Trace, step

SAMPLES = 200  # of sizes and indices, where two layouts are compared


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


def same_map(a: Any, b: Any) -> Same:
    """Whether two layouts of as many dims are the same map, by their simplified formulas and by
    samples of their sizes and indices."""
    known = Analyzer()
    here = Running(known)
    with here.entered():
        for _ in range(3):
            for block in (a, b):
                learn_layout(block, here)
        for n, m in zip(a.dims, b.dims, strict=True):
            gap = known.simplifier.subtract(size_of(n, known), size_of(m, known))
            if known.nonneg(gap) and known.nonneg(-gap):
                continue
            return Same(None, None, f"the dims {n!r} and {m!r} are not known to be equal")
        index = [Expr.atom(Atom("sym", f"i{k}")) for k in range(len(a.dims))]
        for i, n in zip(index, a.dims, strict=True):
            known.learn_range(i.symbols().pop(), Expr.of(0), size_of(n, known) - 1)
        bound = known.bind(index)
        ones, others = (_results(block.forward(Symbols(here), bound)) for block in (a, b))
        if len(ones) != len(others):
            return Same(False, None, f"one has {len(ones)} results, the other {len(others)}")
        found = [_same(*pair, index, known) for pair in zip(ones, others, strict=True)]
    return next((s for s in found if s.verdict is False), min(found, key=bool))


def _results(found: Any) -> tuple[Expr, ...]:
    return tuple(map(Expr.of, found if isinstance(found, tuple) else (found,)))


def _same(one: Expr, other: Expr, index: Sequence[Expr], known: Analyzer) -> Same:
    """Whether two formulas are the same under what is known."""
    gap = known.rebuilt(one - other)
    flat = known.simplifier.expand_groups(gap)
    if not gap.terms or (flat is not None and not flat.terms):
        return Same(True, None, "the formulas are equal")
    for sample in (*known.samples.first(), *known.samples.more(SAMPLES)):
        try:
            x, y = sample.expr(one), sample.expr(other)
        except (Undefined, KeyError):
            continue
        if x != y:
            values = {n: v for n, v in sample.values.items() if n.isidentifier()}
            at = tuple(values[f"i{k}"] for k in range(len(index)))
            where = ", ".join(f"{n}={v}" for n, v in sorted(values.items()))
            return Same(False, at, f"for {where} {x} and {y}")
    if known.nonneg(gap) and known.nonneg(-gap):
        return Same(True, None, "proven")
    return Same(None, None, f"{one!r} and {other!r} agree at all samples")


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
        kept = group(plain(flat), Expr.of(0), size - 1, bool(known.facts.branch))
        trace.flats.update(dict.fromkeys(kept.atoms()))
        return known.bind(kept)

    def called(self, block: GenP | Part, index: Sequence[Expr]) -> Expr:
        """A GenP's position of an index, all paths of its function followed."""
        _note_genp(block, self._here.trace)
        known, index = self._known, self._known.bind([*index])
        result = given(block, "apply", explore(lambda: call(block, "apply", *index), self._here))
        if isinstance(block, Part):
            check_part(block, [size_of(n, known) for n in block.sizes()], known)
        if block.inv_function is None or isinstance(block, Part):
            return known.bind(result)
        check_small(block, [size_of(n, known) for n in block.dims], known)
        return self._bounded(result, product_of(block.dims, known))

    def called_back(self, block: GenP | Part, flat: Expr) -> list[Expr]:
        """A GenP's index of a position."""
        _note_genp(block, self._here.trace)
        known, flat = self._known, self._known.bind(flat)
        sizes = [size_of(n, known) for n in block.dims]
        result = explore(lambda: call(block, "inv", flat), self._here)
        values = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(values) != len(sizes):
            raise LayoutError(f"{block!r}: inv gives {len(values)} indices, not {len(sizes)}")
        if isinstance(block, Part):
            check_part(block, [size_of(n, known) for n in block.sizes()], known)
        else:
            check_small(block, sizes, known)
        return [
            self._bounded(given(block, "inv", v), n) for v, n in zip(values, sizes, strict=True)
        ]

    def looked_up(self, entries: Entries, place: Expr) -> Expr:
        """The entry of a table at a symbolic place, with the place and the entry in range."""
        known = self._known
        at = self._bounded(Expr.of(place), size_of(entries.size, known))
        found = lookup(entries, Expr.of(at))
        if entries.most is not None:
            return known.bind(found)
        return self._bounded(found, size_of(entries.below, known))

    def masked(
        self, sizes: Sequence[Any], coordinates: Sequence[Expr], values: Sequence[Expr]
    ) -> list[Expr]:
        """The values where each coordinate lies below its size, else -1."""
        known = self._known
        condition = _inside(
            [Expr.of(c) for c in coordinates], [size_of(n, known) for n in sizes], known
        )
        return known.bind([known.simplifier.select(condition, v, -1) for v in values])

    def _bounded(self, e: Expr, size: Expr) -> Expr:
        """e, which is known to be in 0..size-1 because the block is a bijection."""
        known = self._known
        if not is_inside(e, size, known):
            e = group(e, Expr.of(0), size - 1, bool(known.facts.branch))
        return known.bind(e)


def _inside(indices: Sequence[Expr], sizes: Sequence[Expr], known: Analyzer) -> Cond | bool:
    condition: Cond | bool = True
    for i, n in zip(indices, sizes, strict=True):
        test = i < n
        decided = known.decide(test)
        if decided is False:
            return False
        if decided is None:
            condition = test if condition is True else condition & test
    return condition


def _note_genp(block: Any, trace: Trace | None) -> None:
    if not block.is_concrete and trace is not None:
        trace.has_genp = True

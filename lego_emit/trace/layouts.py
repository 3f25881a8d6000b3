"""Layouts over symbolic indices and sizes: Figs. 4, 5 and 9 in terms of Expr.

Flattening is a sum of products, unflattening a chain of divmods; both stay in normal form, so that
what comes out is simplified already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..algebra.part import Part
from ..algebra.perms import GenP
from ..algebra.same import Same
from ..algebra.slices import run_of
from ..arith.evaluate import Undefined
from ..arith.expr import Cond, Expr, group, lookup, select
from ..arith.facts import Facts, current
from ..arith.knowledge import using
from ..arith.rebuild import expand_groups, rebuild, unsubstitute
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
from .paths import explore, in_a_branch
from .trace import Trace, running, step

SAMPLES = 200  # of sizes and indices, where two layouts are compared


def apply(block: Any, indices: Sequence[Any]) -> Any:
    """The physical position of symbolic indices (SymPy in, SymPy out)."""
    return step(_apply, block, indices)


def _apply(block: Any, indices: Sequence[Any]) -> Any:
    return _converted(lambda values: _apply_checked(block, values), block, indices)


def inv(block: Any, flat: Any) -> tuple:
    """The logical indices of a symbolic position."""
    return step(_inv, block, flat)


def _inv(block: Any, flat: Any) -> tuple:
    return _converted(lambda values: _inv_checked(block, values[0]), block, [flat])


def getitem(layout: Any, indices: Sequence[Any]) -> Any:
    """layout[i, j, :, :]: every ':' becomes an axis of the running trace."""
    return step(_getitem, layout, indices)


def _getitem(layout: Any, indices: Sequence[Any]) -> Any:
    if any(isinstance(i, slice) for i in indices):
        trace = running()
        if trace is None:
            raise IndexRangeError(
                f"{layout!r}: ':' over a symbolic size works only inside a function given to generate()"
            )
        learn_layout(layout)
        indices = [
            _along(trace, n, i) if isinstance(i, slice) else i
            for i, n in zip(indices, layout.dims, strict=True)
        ]
    return _apply(layout, indices)


def _along(trace: Trace, n: Any, part: slice) -> Expr:
    """The index that runs over a part of an axis: a parameter from 0 on, or what is made of it."""
    first, step, count = run_of(n if isinstance(n, int) else size_of(n), part)
    i = trace.axis(Expr.of(count) if isinstance(count, int) else count)
    return i if (first, step) == (0, 1) else i * step + first


def _converted(compute: Callable[[list[Expr]], Any], block: Any, values: Sequence[Any]) -> Any:
    """Run compute under the facts in force, or under facts of the layout's own; in SymPy terms
    where the caller's symbols are SymPy's."""
    if any(map(is_array, values)):
        raise IndexRangeError(
            f"{block!r}: an index is an array, and a size or another index a symbol; give numbers for "
            "the symbols"
        )
    used_sympy = any(map(is_sympy, (*values, *block.sizes(), *block.offsets())))
    exprs = [Expr.of(v) for v in values]
    if running() is not None:
        return compute(exprs)
    facts = Facts()
    with using(facts):
        for _ in range(3):
            before = len(facts.quotients)
            learn_layout(block)
            if len(facts.quotients) == before:
                break
        result = compute([facts.rebuilt(e) for e in exprs])
        result = _map(result, lambda e: unsubstitute(e, facts))
    return _map(result, Expr.to_sympy) if used_sympy else result


def in_general(block: Any, indices: Sequence[Any]) -> Any:
    """The position of an index where every size that is no number is at least 2."""
    facts = Facts()
    with using(facts):
        learn_layout(block)
        for n in block.sizes():
            for name in sorted(Expr.of(n).symbols()):
                facts.learn_range(name, Expr.of(2), None)
        learn_layout(block)
        for n in block.sizes():
            size = facts.rebuilt(Expr.of(n))
            if size.constant is None:
                facts.learn_nonneg(size - 2)
        values = [facts.rebuilt(Expr.of(v)) for v in indices]
        found = block.forward(SYMBOLS, values)
        found = Expr.of(found[0] if isinstance(found, tuple) else found)
        found = unsubstitute(facts.rebuilt(found), facts)
    return found.to_sympy() if any(map(is_sympy, block.sizes())) else found


def in_sympy(function: Callable[[Expr], Expr], value: Any) -> Any:
    """A function of one of our expressions at a SymPy expression."""
    return function(Expr.of(value)).to_sympy()


def _map(value: Any, change: Callable[[Expr], Any]) -> Any:
    return tuple(change(v) for v in value) if isinstance(value, tuple) else change(value)


def same_map(a: Any, b: Any) -> Same:
    """Whether two layouts of as many dims are the same map, by their simplified formulas and by
    samples of their sizes and indices."""
    facts = Facts()
    with using(facts):
        for _ in range(3):
            for block in (a, b):
                learn_layout(block)
        for n, m in zip(a.dims, b.dims, strict=True):
            if facts.nonneg(gap := size_of(n) - size_of(m)) and facts.nonneg(-gap):
                continue
            return Same(None, None, f"the dims {n!r} and {m!r} are not known to be equal")
        index = [Expr.atom(Atom("sym", f"i{k}")) for k in range(len(a.dims))]
        for i, n in zip(index, a.dims, strict=True):
            facts.learn_range(i.symbols().pop(), Expr.of(0), size_of(n) - 1)
        ones, others = (_results(block.forward(SYMBOLS, index)) for block in (a, b))
        if len(ones) != len(others):
            return Same(False, None, f"one has {len(ones)} results, the other {len(others)}")
        found = [_same(*pair, index) for pair in zip(ones, others, strict=True)]
    return next((s for s in found if s.verdict is False), min(found, key=bool))


def _results(found: Any) -> tuple[Expr, ...]:
    return tuple(map(Expr.of, found if isinstance(found, tuple) else (found,)))


def _same(one: Expr, other: Expr, index: Sequence[Expr]) -> Same:
    """Whether two formulas are the same under the facts in force."""
    facts = current()
    gap = facts.rebuilt(one - other)
    flat = expand_groups(gap)
    if not gap.terms or (flat is not None and not flat.terms):
        return Same(True, None, "the formulas are equal")
    for sample in (*facts.samples(), *facts.more_samples(SAMPLES)):
        try:
            x, y = sample.expr(one), sample.expr(other)
        except (Undefined, KeyError):
            continue
        if x != y:
            values = {n: v for n, v in sample.values.items() if n.isidentifier()}
            at = tuple(values[f"i{k}"] for k in range(len(index)))
            where = ", ".join(f"{n}={v}" for n, v in sorted(values.items()))
            return Same(False, at, f"for {where} {x} and {y}")
    if facts.nonneg(gap) and facts.nonneg(-gap):
        return Same(True, None, "proven")
    return Same(None, None, f"{one!r} and {other!r} agree at all samples")


@dataclass(frozen=True, eq=False)
class Application:
    """A layout applied to indices, or inverted at a position: a step."""

    block: Any
    values: tuple[Expr, ...]
    inverse: bool


# -- evaluation ----------------------------------------------------------------------------------


def _apply_checked(block: Any, values: list[Expr]) -> Any:
    learn_application(block, values)
    _tell(block, values, inverse=False)
    bounded = [_bounded_by(v, size_of(n)) for v, n in zip(values, block.dims, strict=True)]
    found = block.forward(SYMBOLS, [b for b, _ in bounded])
    if isinstance(found, tuple):  # one of each of the block's results
        return tuple(_put_back(Expr.of(e), bounded) for e in found)
    return _put_back(Expr.of(found), bounded)


def _inv_checked(block: Any, flat: Expr) -> tuple[Expr, ...]:
    learn_inversion(block, flat)
    _tell(block, [flat], inverse=True)
    bounded = _bounded_by(flat, product_of(block.physical_dims))
    return tuple(_put_back(e, [bounded]) for e in block.backward(SYMBOLS, bounded[0]))


def _bounded_by(value: Expr, size: Expr) -> tuple[Expr, Expr | None]:
    """(value, None) where 0 <= value < size is known; else what was learned to stand in for it, and
    the value that takes its place afterwards."""
    if size.constant == 1 and parameter_of(value) is not None:
        return Expr.of(0), None
    standing = stand_in(value, size)
    if standing.args[0] not in current().ranges or is_inside(value, size):
        return value, None
    return Expr.atom(standing), value


def _tell(block: Any, values: Sequence[Expr], inverse: bool) -> None:
    log = current().log
    if log is not None:
        log.add(Application(block, tuple(values), inverse))


def _put_back(e: Expr, bounded: list[tuple[Expr, Expr | None]]) -> Expr:
    replaced = {stand_in.single: value for stand_in, value in bounded if value is not None}
    return rebuild(e, replaced.get) if replaced else e


class Symbols:
    """Symbolic integers, as blocks are evaluated over them."""

    def size(self, n: Any) -> Expr:
        """A size in one term."""
        return size_of(n)

    def whole(self, flat: Expr, sizes: Sequence[Expr]) -> Expr:
        """A flat position about to be taken apart: as it is, or as one value where the trace says so
        (a form whose quotients share it can be smaller than one that looks into it)."""
        trace = running()
        if trace is None or not trace.keeps or len(flat.terms) < 2:
            return flat
        size = reduce(lambda a, b: a * b, sizes, Expr.of(1))
        kept = group(flat, Expr.of(0), size - 1, in_a_branch())
        trace.flats.update(dict.fromkeys(kept.atoms()))
        return kept

    def called(self, block: GenP | Part, index: Sequence[Expr]) -> Expr:
        """A GenP's position of an index, all paths of its function followed."""
        _note_genp(block)
        result = given(block, "apply", explore(lambda: call(block, "apply", *index)))
        if isinstance(block, Part):
            check_part(block, [size_of(n) for n in block.sizes()])
        if block.inv_function is None or isinstance(block, Part):
            return result
        check_small(block, [size_of(n) for n in block.dims])
        return _bounded(result, product_of(block.dims))

    def called_back(self, block: GenP | Part, flat: Expr) -> list[Expr]:
        """A GenP's index of a position."""
        _note_genp(block)
        sizes = [size_of(n) for n in block.dims]
        result = explore(lambda: call(block, "inv", flat))
        values = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(values) != len(sizes):
            raise LayoutError(f"{block!r}: inv gives {len(values)} indices, not {len(sizes)}")
        if isinstance(block, Part):
            check_part(block, [size_of(n) for n in block.sizes()])
        else:
            check_small(block, sizes)
        return [_bounded(given(block, "inv", v), n) for v, n in zip(values, sizes, strict=True)]

    def looked_up(self, entries: Entries, place: Expr) -> Expr:
        """A table's entry."""
        found = lookup(entries, _bounded(Expr.of(place), size_of(entries.size)))
        return found if entries.most is not None else _bounded(found, size_of(entries.below))

    def masked(
        self, sizes: Sequence[Any], coordinates: Sequence[Expr], values: Sequence[Expr]
    ) -> list[Expr]:
        """The values where each coordinate lies below its size, else -1."""
        condition = _inside(coordinates, [size_of(n) for n in sizes])
        return [select(condition, value, -1) for value in values]


SYMBOLS = Symbols()


def _bounded(e: Expr, size: Expr) -> Expr:
    """e, which is known to be in 0..size-1 because the block is a bijection."""
    facts = current()
    if facts.nonneg(e) and facts.nonneg(size - 1 - e):
        return e
    return group(e, Expr.of(0), size - 1, in_a_branch())


def _inside(indices: Sequence[Expr], sizes: Sequence[Expr]) -> Cond | bool:
    condition: Cond | bool = True
    for i, n in zip(indices, sizes, strict=True):
        test = i < n
        known = current().decide(test)
        if known is False:
            return False
        if known is None:
            condition = test if condition is True else condition & test
    return condition


def isqrt(x: Any) -> Any:
    """The integer square root of a SymPy expression."""
    root = Expr.of(x).isqrt()
    return root.to_sympy() if is_sympy(x) else root


def _note_genp(block: Any) -> None:
    if not block.is_concrete and (trace := running()) is not None:
        trace.has_genp = True

"""A GenP over symbolic sizes: its functions called, and checked to be a bijection for small ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import islice
from typing import Any

from ..algebra.bijection import SameGenP, call_apply, numbers_near, positions, reads
from ..algebra.genp import GenP
from ..algebra.part import Part
from ..arith.analyzer import Analyzer
from ..arith.evaluate import Undefined, evaluate
from ..arith.expr import Expr
from ..arith.powers import is_power, learn_power
from ..arith.terms import Atom
from ..errors import LayoutError, LegoError, TraceError, short_repr
from .calls import called, taking_symbols
from .learn import product_of, size_of
from .numbered import Numbered
from .paths import Running, explore
from .trace import Trace

SMALL_SIZES = (1, 2, 3, 5)
LARGER_SIZES = (9, 17, 33, 65, 129, 257, 1025)
SAME_POINTS = 64  # of a GenP whose sizes are numbers
CHECKED_POINTS = 1024  # of a GenP over symbolic sizes
SAMPLED = 6  # numbers for the sizes and the other symbols of a GenP that has such


def position(block: GenP | Part, index: Sequence[Expr], here: Running) -> tuple[Expr, Expr | None]:
    """(the position of an index, all paths of the block's function followed; the size that it is
    known to lie below, None of a Part and of a GenP without inverse)."""
    _note(block, here)
    known, index = here.analyzer, here.analyzer.bind([*index])
    found = given(block, "apply", explore(lambda: call(block, "apply", *index), here))
    if isinstance(block, Part):
        check_part(block, [size_of(n, known) for n in block.sizes()], known)
        return found, None
    if block.inv_function is None:
        return found, None
    check_small(block, [size_of(n, known) for n in block.dims], known)
    return found, product_of(block.dims, known)


def indices(block: GenP | Part, flat: Expr, here: Running) -> list[tuple[Expr, Expr]]:
    """The index of a position, each coordinate with its size."""
    _note(block, here)
    known, flat = here.analyzer, here.analyzer.bind(flat)
    sizes = [size_of(n, known) for n in block.dims]
    result = explore(lambda: call(block, "inv", flat), here)
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(values) != len(sizes):
        raise LayoutError(f"{block!r}: inv gives {len(values)} indices, not {len(sizes)}")
    if isinstance(block, Part):
        check_part(block, [size_of(n, known) for n in block.sizes()], known)
    else:
        check_small(block, sizes, known)
    return [(given(block, "inv", v), n) for v, n in zip(values, sizes, strict=True)]


def _note(block: GenP | Part, here: Running) -> None:
    if not block.is_concrete and here.trace is not None:
        here.trace.has_genp = True


def call(block: GenP | Part, method: str, *values: Expr) -> Any:
    """One of the block's functions, called."""
    function = taking_symbols(getattr(block, f"{method}_function"))
    return called(function, f"{method} of {block!r}", *values)


def given(block: GenP | Part, method: str, value: Any) -> Expr:
    """What one of them gave, as an Expr."""
    try:
        return Expr.of(value)
    except TraceError as error:
        raise TraceError(f"{method} of {block!r}: {error}") from None


_checked: set[tuple[str, ...]] = set()  # what passed: apply, inv, sizes, numbers for all symbols
_parts: set[Part] = set()  # and these


def check_small(block: GenP, sizes: Sequence[Expr], facts: Analyzer) -> None:
    """A GenP over symbolic sizes: a bijection for small ones? (One whose sizes are numbers is
    checked when it is made; on symbols it must give the same.)"""
    if block.is_concrete:
        _check_same(SameGenP((block.dims, reads(block)), block))
        return
    names = sorted({name for n in sizes for name in n.symbols()})
    powers = [name for name in names if is_power(facts, facts.symbol(name))]
    sides = tuple(k for k, n in enumerate(block.dims) if is_power(facts, Expr.of(n)))
    dims = tuple(Expr.of(n).key for n in block.dims)
    forward, back = _both_ways(SameGenP((dims, reads(block)), block), sides)
    key = (*powers, *map(str, sides), *(e.key for e in (forward, *back, *sizes)))
    used = forward.symbols().union(*(b.symbols() for b in back))
    own = {"?flat", *(f"?{k}" for k in range(len(sizes)))}
    others = sorted(used - own.union(names))
    if key in _checked:
        return
    near = numbers_near(block.apply_function, block.inv_function)
    few = (
        _sampled(facts, sizes, names, others)
        if others
        else _small(sizes, names, near, powers, sides)
    )
    for values, dims in few:
        at = *key, *(f"{name}={value}" for name, value in values.items())
        if at not in _checked:
            _check_table(block, dims, values, forward, back, near)
            _checked.add(at)
    if not others:
        _checked.add(key)


@lru_cache(maxsize=256)
def _both_ways(same: SameGenP, sides: tuple[int, ...]) -> tuple[Expr, list[Expr]]:
    """The position of an index, and the index of a position. sides: the sizes that are powers of two."""
    block, known = same.genp, Analyzer(use_z3=False)
    assert isinstance(block, GenP)
    alone = Trace(known, {}, lambda t: None).running()
    for k in sides:
        learn_power(known, Expr.of(block.dims[k]))
    parameters = known.bind([known.symbol(f"?{k}") for k in range(len(block.dims))])
    flat = known.bind(known.symbol("?flat"))
    forward = given(block, "apply", explore(lambda: call(block, "apply", *parameters), alone))
    back = explore(lambda: call(block, "inv", flat), alone)
    back = back if isinstance(back, (tuple, list)) else [back]
    return forward, [given(block, "inv", v) for v in back]


@lru_cache(maxsize=256)
def _check_same(same: SameGenP) -> None:
    """Raises LayoutError where the functions of a GenP of numbers give other values on symbols than
    on numbers: they ask what they are given, or what time it is."""
    block = same.genp
    assert isinstance(block, GenP)
    known = Analyzer(use_z3=False)
    alone = Running(known)
    names = [f"?{k}" for k in range(len(block.dims))]
    for name, n in zip((*names, "?flat"), (*block.dims, block.size), strict=True):
        known.learn_range(name, Expr.of(0), Expr.of(n - 1))
    given_index = known.bind([*map(known.symbol, names)])
    position = known.bind(known.symbol("?flat"))
    try:
        forward = Expr.of(explore(lambda: call(block, "apply", *given_index), alone))
        back = explore(lambda: call(block, "inv", position), alone)
    except LegoError:  # where its indices are known better, it may be followed
        return
    back = [Expr.of(v) for v in (back if isinstance(back, tuple | list) else [back])]
    for index in positions(block.dims, block.size, SAME_POINTS, SAME_POINTS // 4):
        try:
            flat = evaluate(forward, dict(zip(names, index, strict=True)))
            again = tuple(evaluate(b, {"?flat": flat}) for b in back)
        except Undefined:
            continue
        if (flat, again) != (call_apply(block, index), index):
            raise LayoutError(
                f"{block!r}: on symbols apply{index} gives {short_repr(flat)} and inv({short_repr(flat)}) "
                f"{short_repr(again)}, on integers {call_apply(block, index)} and {index}; its functions "
                f"must compute the same every time, whatever they are given"
            )


def check_part(block: Part, sizes: Sequence[Expr], known: Analyzer) -> None:
    """A Part over symbolic sizes: does it hold what its functions say, for small ones? (It is checked
    when it is made of numbers.)"""
    if block.is_concrete or block in _parts:
        return
    names = sorted({name for n in sizes for name in n.symbols()})
    held = {name for n in block.offsets() for name in Expr.of(n).symbols()}
    others = sorted(held.difference(names))
    for values, _ in _sampled(known, sizes, names, others) if others else _small(sizes, names):
        block.with_sizes(Numbered(block, values))
    if not others:
        _parts.add(block)


def _sampled(
    known: Analyzer, sizes: Sequence[Expr], names: list[str], others: list[str]
) -> Iterator[tuple[dict[str, int], list[int]]]:
    """Numbers that the facts allow for the symbols, and the sizes that they give."""
    for count, sample in enumerate(islice(known.samples.first(), SAMPLED)):
        values = {}
        for name in (*names, *others):
            try:
                values[name] = sample.expr(known.rebuilt(Expr.atom(Atom("sym", name))))
            except (Undefined, KeyError):  # nothing is known of it
                values[name] = count + 1
        try:
            dims = [evaluate(n, values) for n in sizes]
        except Undefined:
            continue
        if min(dims) >= 1:
            yield values, dims


def _small(
    sizes: Sequence[Expr],
    names: list[str],
    near: Sequence[int] = (),
    powers: Sequence[str] = (),
    sides: Sequence[int] = (),
) -> Iterator[tuple[dict[str, int], list[int]]]:
    """Small numbers for the symbols and the sizes that they give; larger ones where small ones
    give none, and one more than the largest of `near`. powers: the symbols that are powers of two, sides: which
    sizes are."""
    found = False
    past = [n + 1 for n in sorted(near)[-1:] if n + 1 not in SMALL_SIZES]
    for value in (*SMALL_SIZES, *past, *LARGER_SIZES):
        if found and (value not in (*SMALL_SIZES, *past) or not names):
            return
        values = {name: value + (k if value > 2 else 0) for k, name in enumerate(names)}
        values |= {name: 1 << (values[name] - 1) % 4 for name in powers}
        try:
            dims = [evaluate(n, values) for n in sizes]
        except Undefined:
            continue
        if min(dims) >= 1 and not any(dims[k] & dims[k] - 1 for k in sides):
            found = True
            yield values, dims


def _check_table(
    block: GenP,
    dims: Sequence[int],
    values: Mapping[str, int],
    forward: Expr,
    back: Sequence[Expr],
    near: Sequence[int],
) -> None:
    total = reduce(lambda a, b: a * b, dims, 1)
    seen: dict[int, tuple[int, ...]] = {}
    where = f" for {', '.join(f'{k}={v}' for k, v in values.items())}" if values else ""
    for index in positions(tuple(dims), total, CHECKED_POINTS, CHECKED_POINTS // 4, near):
        point = {**values, **{f"?{k}": i for k, i in enumerate(index)}}
        try:
            flat = evaluate(forward, point)
            again = [evaluate(b, {**values, "?flat": flat}) for b in back]
        except Undefined:
            raise LayoutError(f"{block!r} is undefined at {list(index)}{where}") from None
        if not 0 <= flat < total:
            raise LayoutError(
                f"{block!r} is not a bijection{where}: apply{index} is {short_repr(flat)}, outside 0..{total - 1}"
            )
        if seen.setdefault(flat, index) != index:
            raise LayoutError(
                f"{block!r} is not a bijection{where}: {seen[flat]} and {index} both go to {flat}"
            )
        if tuple(again) != index:
            raise LayoutError(
                f"{block!r}{where}: inv({flat}) is {short_repr(tuple(again))}, but apply{index} is {flat}"
            )

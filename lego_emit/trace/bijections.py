"""A GenP over symbolic sizes: its functions called, and checked to be a bijection for small ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from typing import Any

from ..algebra.bijection import positions
from ..algebra.part import Part
from ..algebra.perms import GenP
from ..arith.evaluate import Undefined, evaluate
from ..arith.expr import Expr
from ..arith.facts import Facts, current
from ..arith.knowledge import using
from ..arith.terms import Atom
from ..errors import LayoutError, shown
from .calls import called
from .numbered import Numbered
from .paths import alone, explore

SMALL_SIZES = (1, 2, 3, 5)
LARGER_SIZES = (9, 17, 33, 65, 129, 257, 1025)
CHECKED_POINTS = 1024  # of a GenP over symbolic sizes
SAMPLED = 6  # numbers for the sizes and the other symbols of a GenP that has such


def call(block: GenP | Part, method: str, *values: Expr) -> Any:
    """One of the block's functions, called."""
    return called(getattr(block, f"{method}_function"), f"{method} of {block!r}", *values)


_checked: set[tuple[str, ...]] = set()  # what passed: apply, inv, sizes, numbers for all symbols
_parts: set[Part] = set()  # and these


def check_small(block: GenP, sizes: Sequence[Expr]) -> None:
    """A GenP over symbolic sizes: a bijection for small ones? (One whose sizes are numbers is
    checked when it is made.)"""
    if block.is_concrete:
        return
    facts = current()
    with using(Facts(use_z3=False)), alone():
        parameters = [Expr.atom(Atom("sym", f"?{k}")) for k in range(len(sizes))]
        flat = Expr.atom(Atom("sym", "?flat"))
        forward = Expr.of(explore(lambda: call(block, "apply", *parameters)))
        back = explore(lambda: call(block, "inv", flat))
        back = [Expr.of(v) for v in (back if isinstance(back, (tuple, list)) else [back])]
    key = tuple(e.key for e in (forward, *back, *sizes))
    used = forward.symbols().union(*(b.symbols() for b in back))
    names = sorted({name for n in sizes for name in n.symbols()})
    own = {"?flat", *(f"?{k}" for k in range(len(sizes)))}
    others = sorted(used - own.union(names))
    if key in _checked:
        return
    for values, dims in _sampled(facts, sizes, names, others) if others else _small(sizes, names):
        at = *key, *(f"{name}={value}" for name, value in values.items())
        if at not in _checked:
            _check_table(block, dims, values, forward, back)
            _checked.add(at)
    if not others:
        _checked.add(key)


def check_part(block: Part, sizes: Sequence[Expr]) -> None:
    """A Part over symbolic sizes: does it hold what its functions say, for small ones? (It is checked
    when it is made of numbers.)"""
    if block.is_concrete or block in _parts:
        return
    facts = current()
    names = sorted({name for n in sizes for name in n.symbols()})
    held = {name for n in block.offsets() for name in Expr.of(n).symbols()}
    others = sorted(held.difference(names))
    for values, _ in _sampled(facts, sizes, names, others) if others else _small(sizes, names):
        with using(Facts(use_z3=False)), alone():
            block.with_sizes(Numbered(block, values))
    if not others:
        _parts.add(block)


def _sampled(
    facts: Facts, sizes: Sequence[Expr], names: list[str], others: list[str]
) -> Iterator[tuple[dict[str, int], list[int]]]:
    """Numbers that the facts allow for the symbols, and the sizes that they give."""
    for count, sample in enumerate(islice(facts.samples(), SAMPLED)):
        values = {}
        for name in (*names, *others):
            try:
                values[name] = sample.expr(facts.rebuilt(Expr.atom(Atom("sym", name))))
            except (Undefined, KeyError):  # nothing is known of it
                values[name] = count + 1
        try:
            dims = [evaluate(n, values) for n in sizes]
        except Undefined:
            continue
        if min(dims) >= 1:
            yield values, dims


def _small(sizes: Sequence[Expr], names: list[str]) -> Iterator[tuple[dict[str, int], list[int]]]:
    """Small numbers for the symbols and the sizes that they give; larger ones where small ones
    give none."""
    found = False
    for value in (*SMALL_SIZES, *LARGER_SIZES):
        if found and (value not in SMALL_SIZES or not names):
            return
        values = {name: value + (k if value > 2 else 0) for k, name in enumerate(names)}
        try:
            dims = [evaluate(n, values) for n in sizes]
        except Undefined:
            continue
        if min(dims) >= 1:
            found = True
            yield values, dims


def _check_table(
    block: GenP,
    dims: Sequence[int],
    values: Mapping[str, int],
    forward: Expr,
    back: Sequence[Expr],
) -> None:
    total = reduce(lambda a, b: a * b, dims, 1)
    seen: dict[int, tuple[int, ...]] = {}
    where = f" for {', '.join(f'{k}={v}' for k, v in values.items())}" if values else ""
    for index in positions(tuple(dims), total, CHECKED_POINTS, CHECKED_POINTS // 4):
        point = {**values, **{f"?{k}": i for k, i in enumerate(index)}}
        try:
            flat = evaluate(forward, point)
            again = [evaluate(b, {**values, "?flat": flat}) for b in back]
        except Undefined:
            raise LayoutError(f"{block!r} is undefined at {list(index)}{where}") from None
        if not 0 <= flat < total:
            raise LayoutError(
                f"{block!r} is not a bijection{where}: apply{index} is {shown(flat)}, outside 0..{total - 1}"
            )
        if seen.setdefault(flat, index) != index:
            raise LayoutError(
                f"{block!r} is not a bijection{where}: {seen[flat]} and {index} both go to {flat}"
            )
        if tuple(again) != index:
            raise LayoutError(
                f"{block!r}{where}: inv({flat}) is {shown(tuple(again))}, but apply{index} is {flat}"
            )

"""Compiled walks beside their functions: verify() and golden cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from ..errors import VerifyError
from ..ir.walks import Walk
from ..packages import numpy as np
from ..run.space import Space

MOST = 2**18  # positions of a compiled walk that are compared


def compared(space: Space, compiled: Any) -> tuple[int, str]:
    """(how many results were compared, what is wrong): the compiled walk over all indices of a space of its function,
    or over its first and its last ones where they are many, and the function."""
    function, count = space.function, 0
    walk = function.walk
    assert walk is not None
    run = compiled.walker(function)
    named = run.__name__
    for values, passed in _runs(walk, space) if isinstance(walk, Walk) else _shapes(space):
        wanted = compiled.columns(function, [values[name] for name in space.names])
        try:
            found = run(*passed)
        except VerifyError as error:
            return count, str(error)
        found = [*found] if isinstance(found, tuple) else [found]
        differs = np.any([f != w for f, w in zip(found, wanted, strict=True)], axis=0)
        if differs.any():
            at = int(np.argmax(differs))
            gives, due = (
                tuple(int(x[at]) for x in columns) if len(columns) > 1 else int(columns[0][at])
                for columns in (found, wanted)
            )
            place = ", ".join(f"{n}={int(np.ravel(v)[at % np.size(v)])}" for n, v in values.items())
            return (
                count,
                f"{named} gives {gives} as number {at:,}, where {function.name}({place}) gives {due}",
            )
        count += len(differs)
    return count, ""


def _runs(walk: Walk, space: Space) -> Iterator[tuple[Mapping[str, Any], list[int]]]:
    """(the values of the parameters at each index of a box, what the walk over that is passed)."""
    running = {a.name: a for a in space.axes}
    fixed, axes = walk.reads[: len(walk.fixed)], [running[n] for n in walk.reads[len(walk.fixed) :]]
    sides = [a.count for a in axes]
    while prod(sides) > MOST:
        sides[sides.index(max(sides))] //= 2
    whole = sides == [a.count for a in axes]
    others = [a for a in space.axes if a not in axes]
    ends = [dict.fromkeys((a.lo, a.hi)) for a in others]
    digits = np.indices(sides).reshape(len(sides), -1)
    for values in product(*ends):
        known = {**space.fixed, **dict(zip((a.name for a in others), values, strict=True))}
        for is_last in (False,) if whole else (False, True):
            first = [a.lo + is_last * (a.count - side) for a, side in zip(axes, sides, strict=True)]
            last = [a + side for a, side in zip(first, sides, strict=True)]
            index = {a.name: d + lo for a, d, lo in zip(axes, digits, first, strict=True)}
            shown = {n: np.broadcast_to(v, digits[0].shape) for n, v in (known | index).items()}
            yield shown, [*(known[n] for n in fixed), *first, *last]


def _shapes(space: Space) -> Iterator[tuple[Mapping[str, Any], list[Any]]]:
    """The same of the walk over memory of each rank that the space has, of the shape and the strides that it has."""
    rank, *given, flat = space.names
    ranks = [space.fixed[rank]] if rank in space.fixed else []
    ranks = ranks or next(range(a.lo, a.hi + 1) for a in space.axes if a.name == rank)
    elements = [space.fixed.get(n, 1) for n in given]
    for own in ranks:
        shape, strides = elements[:own], elements[len(given) // 2 :][:own]
        if (count := prod(shape)) <= MOST:
            values = {rank: own, **dict(zip(given, elements, strict=True))}
            shown = {n: np.broadcast_to(v, (count,)) for n, v in values.items()}
            yield shown | {flat: np.arange(count)}, [own, shape, strides]

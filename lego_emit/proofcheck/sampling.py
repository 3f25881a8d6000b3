"""Numbers that a text's comment allows: small ones, and some as large as it allows.

They refute. What they do not refute is not shown by them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from . import exhaustive
from .exhaustive import Failure
from .terms import FALSE, TRUE, Term, both

SMALL = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 32, 48, 64)
NEAR = (*SMALL, 0, *(-n for n in SMALL))
FAR = tuple(sign * (2**k + d) for k in range(7, 62) for d in (-1, 0, 1) for sign in (1, -1))
SIZES = 48  # choices of small sizes
LARGE_ONES = 12  # choices of large ones
POINTS = 2048  # indices for each of them
TRIES = 20000  # choices of which few are allowed
LARGE = 2**63
KEPT = 4  # sets of conditions whose points are kept
FEW, MANY = 2**12, 2**40  # numbers in a range that is small, of a size and of an index


def failure(
    goals: Sequence[Term], names: Sequence[str], given: Sequence[Term]
) -> tuple[int, Failure | None]:
    """(how many points were tried, the first one at which a goal does not hold)."""
    tried = 0
    for sample in _samples_of(names, given):
        here = [goal.put(sample.values) for goal in goals]
        count, wrong = exhaustive.failure_at(here, sample.columns, sample.count)
        tried += count
        if wrong is not None:
            found = {**sample.values, **wrong.point}
            point = {name: found[name] for name in names if name in found}
            return tried, Failure(point, wrong.goal)
    return tried, None


@dataclass(frozen=True)
class _Sample:
    """Numbers of some variables, and in columns those of the others at so many points."""

    values: Mapping[str, int]
    columns: Mapping[str, Any]
    count: int


class _Samples:
    """What is allowed, drawn as far as it is asked for: all statements of a function ask for the same."""

    def __init__(self, names: Sequence[str], given: Sequence[Term]):
        self._drawn: list[_Sample] = []
        self._more = _drawn(names, given)

    def __iter__(self) -> Iterator[_Sample]:
        for k in itertools.count():
            if k == len(self._drawn):
                sample = next(self._more, None)
                if sample is None:
                    return
                self._drawn.append(sample)
            yield self._drawn[k]


_known_samples: dict[tuple[tuple[str, ...], tuple[int, ...]], _Samples] = {}


def _samples_of(names: Sequence[str], given: Sequence[Term]) -> _Samples:
    key = tuple(names), tuple(g.key for g in given)
    samples = _known_samples.pop(key, None) or _Samples(names, given)
    if len(_known_samples) >= KEPT:
        del _known_samples[next(iter(_known_samples))]
    _known_samples[key] = samples
    return samples


def _drawn(names: Sequence[str], given: Sequence[Term]) -> Iterator[_Sample]:
    for values, ranges, rest in allowed(names, given):
        if exhaustive.count(ranges) <= POINTS:
            points = exhaustive.points(ranges, rest)
        else:
            points = _some(ranges, rest)
        for columns in points:
            yield _Sample(values, columns, len(next(iter(columns.values()))) if columns else 1)


def allowed(
    names: Sequence[str], given: Sequence[Term]
) -> Iterator[tuple[dict[str, int], dict[str, range], list[Term]]]:
    """(numbers of some variables, the ranges that the others then have, what is given of those)."""
    sizes = _unbounded(names, given)
    for values in _sizes(sizes, given) if sizes else [{}]:
        rest = [g.put(values) for g in given]
        rest = [g for g in rest if g is not TRUE]
        others = [name for name in names if name not in values]
        ranges = exhaustive.bounds(others, rest)
        if ranges is not None and (not others or exhaustive.count(ranges)):
            if not any(g is FALSE for g in rest):
                yield values, ranges, rest


def _sizes(names: Sequence[str], given: Sequence[Term]) -> list[dict[str, int]]:
    """Numbers for sizes at which all holds that is given of them alone: those near to 0, and some of
    them made as large as is allowed."""
    from ..packages import numpy as np

    own = [g for g in given if g.names() <= set(names)]
    draw = np.random.default_rng(0)
    numbers = {name: _numbers(name, own) for name in names}
    columns = {name: draw.choice(np.array(numbers[name]), TRIES) for name in names}
    columns[names[0]][: len(numbers[names[0]])] = numbers[names[0]]
    holds, defined = exhaustive.Values(columns, TRIES).at(both(own))
    kept = np.flatnonzero(np.broadcast_to(holds.astype(bool) & defined, (TRIES,)))
    rows = [{name: int(columns[name][k]) for name in names} for k in kept]
    rows = list({tuple(row.values()): row for row in rows}.values())
    choose = Random(0)
    few = sorted(rows, key=lambda row: sum(map(abs, row.values())))[: SIZES // 2]
    few += choose.sample(rows, min(len(rows), SIZES // 2))
    grown = [_grown(choose, row, own) for row in choose.sample(rows, min(len(rows), LARGE_ONES))]
    return list({tuple(row.values()): row for row in (*few, *grown)}.values())


def _numbers(name: str, own: Sequence[Term]) -> list[int]:
    """Those that a variable is tried with: near to 0 where such ones are allowed."""
    alone = [g for g in own if g.names() == {name}]
    for numbers in (NEAR, FAR):
        found = [n for n in numbers if _holds(alone, {name: n})]
        if found:
            return found
    return [*SMALL]


def _holds(given: Sequence[Term], values: Mapping[str, int]) -> bool:
    try:
        return all(g.at(values) for g in given)
    except (ArithmeticError, ValueError):
        return False


def _grown(draw: Random, row: dict[str, int], own: Sequence[Term]) -> dict[str, int]:
    """The same sizes, multiplied and then made larger as long as it is allowed."""
    found = dict(row)

    of = {name: [g for g in own if name in g.names()] for name in found}

    def fits(name: str, value: int) -> bool:  # what is given of the others alone holds as it did
        return abs(value) < LARGE and _holds(of[name], {**found, name: value})

    for name in draw.sample(sorted(found), len(found)):
        for bits in (32, 16, 8, 4, 2, 1):
            while draw.random() < 0.9 and fits(name, found[name] << bits):
                found[name] <<= bits
    for name in draw.sample(sorted(found), len(found)):
        sign, step = (-1 if found[name] < 0 else 1), abs(found[name]) >> 1
        while step:
            if fits(name, found[name] + sign * step):
                found[name] += sign * step
            step >>= 1
    return found


def _unbounded(names: Sequence[str], given: Sequence[Term]) -> list[str]:
    """The variables that are to be chosen, so that the others have ranges: those of which other ranges
    are made, or that have no small one of their own, and no upper bound that is made of others."""
    free = []
    for name in names:
        own = exhaustive.bounds([name], [g for g in given if g.names() <= {name}])
        many = FEW if any(_bounded_by(n, [name, n], given) for n in names) else MANY
        if own is None or exhaustive.length(own[name]) > many:
            free.append(name)
    return [name for name in free if not _bounded_by(name, names, given)]


def _bounded_by(name: str, names: Sequence[str], given: Sequence[Term]) -> bool:
    """Whether an upper bound of a variable is made of others."""
    for g in given:
        for part in exhaustive.parts(g):
            if (
                part.op in ("lt", "le")
                and part.args[0].op == "var"
                and part.args[0].args[0] == name
            ):
                if part.args[1].names() & set(names) - {name}:
                    return True
    return False


def _some(ranges: Mapping[str, range], given: Sequence[Term]) -> Iterator[dict[str, Any]]:
    """Corners and random points, in columns."""
    from ..packages import numpy as np

    draw, fewer = np.random.default_rng(1), POINTS // 4
    arrays: dict[str, Any] = {}
    for name, r in ranges.items():
        fits = -LARGE <= r.start and r.stop <= LARGE
        corners = np.array([r.start, r.stop - 1, (r.start + r.stop) // 2], None if fits else object)
        if fits:
            others = draw.integers(r.start, r.stop - 1, POINTS - fewer, np.int64, endpoint=True)
        else:
            wide = Random(1)
            others = np.array(
                [wide.randrange(r.start, r.stop) for _ in range(POINTS - fewer)], object
            )
        arrays[name] = np.concatenate([draw.choice(corners, fewer), others])
    holds, defined = exhaustive.Values(arrays, POINTS).at(both(given))
    kept = np.broadcast_to(holds.astype(bool) & defined, (POINTS,))
    if kept.any():
        yield {name: a[kept] for name, a in arrays.items()}

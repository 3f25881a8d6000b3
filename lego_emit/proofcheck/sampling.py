"""Numbers that a text's comment allows: small ones, and some as large as it allows.

They refute. What they do not refute is not shown by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from . import exhaustive
from .exhaustive import Failure
from .terms import FALSE, Term, both, made

SIZES = 60  # choices of sizes
POINTS = 2048  # indices for each of them
TRIES = 4000  # choices of which few are allowed
LARGE = 2**62


def failure(
    goals: Sequence[Term], names: Sequence[str], given: Sequence[Term]
) -> tuple[int, Failure | None]:
    """(how many points were tried, the first one at which a goal does not hold)."""
    tried = 0
    for values, ranges, rest in allowed(names, given):
        here = [goal.put(values) for goal in goals]
        if exhaustive.count(ranges) <= POINTS:
            count, wrong = exhaustive.failure(here, ranges, rest)
        else:
            count, wrong = _some(here, ranges, rest)
        tried += count
        if wrong is not None:
            found = {**values, **wrong.point}
            point = {name: found[name] for name in names if name in found}
            return tried, Failure(point, wrong.goal)
    return tried, None


def allowed(
    names: Sequence[str], given: Sequence[Term]
) -> Iterator[tuple[dict[str, int], dict[str, range], list[Term]]]:
    """(numbers of some variables, the ranges that the others then have, what is given of those)."""
    draw = Random(0)
    unbounded = _unbounded(names, given)
    if not unbounded:
        ranges = exhaustive.bounds(names, given)
        if ranges is not None and exhaustive.count(ranges):
            yield {}, ranges, list(given)
        return
    found = 0
    seen: set[tuple[int, ...]] = set()
    good: list[dict[str, int]] = []
    for attempt in range(TRIES):
        if found >= SIZES:
            return
        if good and attempt % 3 == 2:
            values = _grown(draw, draw.choice(good), names, given)
        else:
            values = {name: draw.choice((1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24)) for name in unbounded}
        key = tuple(values.values())
        if key in seen:
            continue
        seen.add(key)
        made_ = _fixed(values, names, given)
        if made_ is None:
            continue
        good.append(values)
        found += 1
        yield values, *made_


def _unbounded(names: Sequence[str], given: Sequence[Term]) -> list[str]:
    """The variables that are to be chosen, so that the others have ranges: those in whose ranges no
    other one stands, and whose own range is not small."""
    chosen: list[str] = []
    while True:
        rest = [name for name in names if name not in chosen]
        plain = [g for g in given if g.names() <= set(rest)]
        if not rest:
            return chosen
        ranges = {name: exhaustive.bounds([name], plain) for name in rest}
        free = [n for n in rest if (r := ranges[n]) is None or r[n].stop - r[n].start > 2**40]
        # Those that bound others come first.
        others = [
            n
            for n in free
            if any(n in g.names() and len(g.names()) > 1 for g in given)
            and not _bounded_by(n, rest, given)
        ]
        if not others:
            left = [n for n in free if not _bounded_by(n, names, given)]
            return chosen + left
        chosen += others


def _bounded_by(name: str, rest: Sequence[str], given: Sequence[Term]) -> bool:
    """Whether an upper bound of a variable is made of others."""
    for g in given:
        for part in exhaustive.parts(g):
            if part.op in ("lt", "le") and part.args[0].op == "var" and part.args[0].args[0] == name:
                if part.args[1].names() & set(rest) - {name}:
                    return True
    return False


def _fixed(
    values: Mapping[str, int], names: Sequence[str], given: Sequence[Term]
) -> tuple[dict[str, range], list[Term]] | None:
    rest = [g.put(values) for g in given]
    if any(g is FALSE for g in rest):
        return None
    others = [name for name in names if name not in values]
    ranges = exhaustive.bounds(others, rest)
    if ranges is None or (others and not exhaustive.count(ranges)):
        return None
    return ranges, rest


def _grown(
    draw: Random, values: dict[str, int], names: Sequence[str], given: Sequence[Term]
) -> dict[str, int]:
    """The same numbers, some of them multiplied as long as it is allowed."""
    found = dict(values)
    for name in draw.sample(sorted(found), len(found)):
        factor = 2 ** draw.choice((1, 4, 8, 16, 24))
        while found[name] * factor < LARGE:
            more = {**found, name: found[name] * factor}
            if _fixed(more, names, given) is None:
                break
            found = more
    for _ in range(64):  # up to the last one that is allowed
        name = draw.choice(sorted(found))
        more = {**found, name: found[name] + max(1, found[name] >> draw.choice((2, 4, 8, 16, 60)))}
        if more[name] < LARGE and _fixed(more, names, given) is not None:
            found = more
    return found


def _some(
    goals: Sequence[Term], ranges: Mapping[str, range], given: Sequence[Term]
) -> tuple[int, Failure | None]:
    """At corners and at random points."""
    from ..packages import numpy as np

    draw = Random(1)
    columns: dict[str, list[int]] = {name: [] for name in ranges}
    for k in range(POINTS):
        for name, r in ranges.items():
            if k < POINTS // 4:
                columns[name].append(draw.choice((r[0], r[-1], r[len(r) // 2])))
            else:
                columns[name].append(r[draw.randrange(len(r))])
    arrays = {name: np.array(column, object) for name, column in columns.items()}
    arrays = {
        name: a.astype(np.int64) if all(abs(x) < 2**63 for x in a) else a
        for name, a in arrays.items()
    }
    holds, defined = exhaustive.Values(arrays, POINTS).at(both(given))
    kept = np.broadcast_to(holds.astype(bool) & defined, (POINTS,))
    if not kept.any():
        return 0, None
    arrays = {name: a[kept] for name, a in arrays.items()}
    return exhaustive.failure_at(goals, arrays)


def follows(condition: Term, given: Sequence[Term]) -> bool:
    """Whether a condition is one of those given, or no numbers were found at which it is not, though
    all of them hold."""
    if any(condition is g for g in given):
        return True
    names = sorted(condition.names().union(*(g.names() for g in given)))
    tried, wrong = failure([made("land", condition, condition)], names, given)
    return bool(tried) and wrong is None

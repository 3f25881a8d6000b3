"""The checks of walks: sequences beside the definition's values before one is given out."""

from __future__ import annotations

from itertools import product

from ..errors import InternalError, LegoError
from ..ir.nodes import evaluated
from ..ir.program import Function
from ..ir.walks import Walk
from ..trace.definition import Definition, results_of
from .emission import REPORT
from .points import Points

SIDES = (7, 70)  # how far a box goes along an outer axis, and along the last one
POINTS = 12  # boxes that are tried


def check_walk(function: Function, walk: Walk, definition: Definition) -> int:
    """How many positions were compared. Raises InternalError where a walk gives another position than the
    definition."""
    count, bases = 0, {p.name: p.base for p in function.params if p.base}
    ranges = {p.name: p.range for p in function.params}
    for values in Points(function, definition.stays_small).draw(POINTS):
        sides = [*SIDES[:1] * (len(walk.axes) - 1), SIDES[1]]
        ends = [ranges[n].at(values)[1] for n in walk.axes]
        first = [
            max(values[n] - side // 3, base)
            for n, side, (base, _) in zip(walk.axes, sides, walk.extents, strict=True)
        ]
        last = [
            a + side if end is None else min(a + side, end + 1)
            for a, end, side in zip(first, ends, sides, strict=True)
        ]
        fixed = {n: values[n] for n in walk.fixed}
        found = walk.run(fixed, tuple(first), tuple(last))
        for index in product(*(range(a, b) for a, b in zip(first, last, strict=True))):
            at = values | dict(zip(walk.axes, index, strict=True))
            try:
                wanted = results_of(definition({n: v - bases.get(n, 0) for n, v in at.items()}))
            except LegoError:  # it has no value there, and so no walk has
                break
            got = [*next(found, ())]
            if got != function.called(wanted):
                where = ", ".join(f"{n} = {v}" for n, v in at.items())
                raise InternalError(
                    f"{walk.name}: the walk gives {got} at {where}, where the definition gives "
                    f"{function.called(wanted)}; nothing was emitted. {REPORT}"
                )
            count += 1
        else:
            if next(found, None) is not None:
                raise InternalError(
                    f"{walk.name}: the walk goes beyond its box, up to {last}; nothing was emitted. {REPORT}"
                )
    return count


def check_steps(function: Function, walk: Walk, definition: Definition) -> int:
    """How many elements of rows of an array form were compared. Raises InternalError as check_walk does."""
    count, (axis,), (name,) = 0, walk.axes, walk.results
    ((_, extent),) = walk.extents
    for values in Points(function, definition.stays_small).draw(POINTS):
        at = values | {axis: 0}
        ((_, first),) = function.evaluate(at).items()
        last = min(evaluated(extent, values, {}), SIDES[1])
        rows = walk.run({**at, name: first}, (0,), (last,))
        for index, found in enumerate(rows):
            at[axis] = index
            try:
                wanted = function.called(results_of(definition(at)))
            except LegoError:
                break
            if [*found] != wanted:
                where = ", ".join(f"{n} = {v}" for n, v in at.items())
                raise InternalError(
                    f"{walk.name}: the array form gives {found[0]} at {where}, where the definition gives "
                    f"{wanted[0]}; nothing was emitted. {REPORT}"
                )
            count += 1
    return count

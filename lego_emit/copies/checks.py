"""The check of every copy: its plan and its nest, compared with both layouts before they are given out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, product
from math import prod
from typing import Any

from ..errors import InternalError
from ..ir.nests import Body, Way, run
from ..ir.nodes import evaluate
from .digits import Digit
from .plan import PAD, Box, Plan, check_plan, model
from .schedule import LINE, nest_of
from .values import value_of

MOST_CHECKED = 2**12  # places of a memory that a nest is run over in Python
MOST_PLANNED = 2**20  # that a plan's boxes are compared at
WAYS = (
    Way(),
    Way(large=True),
    Way(large=True, before=5),
    Way(aligned=False, large=True),
    Way(vectors=False),
)


def check(plan: Plan, body: Body) -> int:
    """Compare plan and nest with the layouts; how many sizes were compared. Raises InternalError."""
    count = 0
    for sizes in sizes_of(plan):
        if value_of(plan.destination_size, sizes) <= MOST_PLANNED and plan.is_affine:
            check_plan(plan, sizes)
            count += 1
        if value_of(plan.destination_size, sizes) <= MOST_CHECKED:
            for way in WAYS if plan.is_affine else WAYS[:1]:
                check_nest(plan, body, sizes, way)
            count += 1
    if plan.is_affine and not plan.space.sizes:
        check_small(plan)
        count += 1
    return count


# Numbers for sizes in turn: a single index, odd ones, the borders of tiles, rows a power of two apart.
TRIED = (
    (17, 21, 9, 5, 2), (64, 48, 32, 16, 8), (33, 16, 5, 3, 2), (256, 40, 3, 1, 1), (40, 256, 1, 3, 1),
    (65, 37, 2, 2, 2), (9, 21, 33, 40, 48), (33, 64, 512, 512, 512), (1, 1, 1, 1, 1), (2, 37, 7, 6, 2), (8, 8, 8, 8, 8),
)  # fmt: skip


def sizes_of(plan: Plan, count: int = 10) -> list[dict[str, int]]:
    """Numbers for the sizes that what is assumed of them allows, of which memories stay small."""
    names, found = plan.space.sizes, list[dict[str, int]]()
    if not names:
        return [{}]
    samples = plan.space.trace.analyzer.samples
    drawn = (s.values for s in (*samples.first(), *samples.more(40)))
    tried = ({n: own[k % len(own)] for k, n in enumerate(names)} for own in TRIED)
    for given in chain(tried, drawn):
        values = {n: given[n] for n in names if n in given}
        if len(found) < count and len(values) == len(names) and values not in found:
            if allowed(plan, values) and value_of(plan.destination_size, values) <= MOST_PLANNED:
                found.append(values)
    return found


def allowed(plan: Plan, values: Mapping[str, int]) -> bool:
    """Whether sizes are those that the layouts and the assumptions allow."""
    function = plan.function
    if function is None:
        return True
    params = [p for p in function.params if p.name in values]
    ranges = [c for p in params for c in p.range.conditions(p.name)]
    return all(evaluate(node, values) in (True, None) for node in (*ranges, *function.assumed))


def check_nest(plan: Plan, body: Body, sizes: Mapping[str, int], way: Way) -> None:
    """Run a nest on the source's places, and compare what the destination has with the layouts."""
    wanted = model(plan, sizes)
    if not plan.pads:
        wanted[wanted == PAD] = -1
    found: dict[int, Any] = {}
    try:
        run(body, sizes, range(value_of(plan.source_size, sizes)), found, way)
    except (IndexError, KeyError) as error:
        raise _fault(plan, f"it reads outside of the source ({error}) at {dict(sizes)}") from None
    for place, due in enumerate(wanted.tolist()):
        if found.pop(place, -1) != due:
            raise _fault(plan, f"its nest leaves a wrong element in place {place} at {dict(sizes)}")
    if found:
        raise _fault(plan, f"its nest writes outside of the destination at {dict(sizes)}")


def check_small(plan: Plan) -> None:
    """Run the nests of boxes with the same strides and smaller extents."""
    line = LINE // min(LINE, plan.element_bytes)
    for box in plan.boxes:
        small = Box(
            tuple(Digit(_smaller(d.n, line), d.a, d.b) for d in box.digits),
            box.a,
            box.b,
            box.is_padding,
        )
        if prod(d.n for d in small.digits) > 4 * MOST_CHECKED:
            small = replace(
                small, digits=tuple(Digit(min(d.n, _least(d)), d.a, d.b) for d in small.digits)
            )
        alone = replace(plan, boxes=(small,))
        body, _ = nest_of(alone)
        due = {
            small.b + sum(i * d.b for i, d in zip(index, small.digits, strict=True)): small.a
            + sum(i * d.a for i, d in zip(index, small.digits, strict=True))
            for index in product(*(range(d.n) for d in small.digits))
        }
        if small.is_padding:
            due = dict.fromkeys(due, PAD)
        for way in WAYS:
            found: dict[int, Any] = {}
            run(body, {}, _Places({*due.values()}), found, way)
            if found != due:
                raise _fault(plan, f"the nest of {box} exchanges elements")


class _Places:
    """A source whose elements are their own places; KeyError beyond those that a box has."""

    def __init__(self, places: set[int]):
        self.places = places

    def __getitem__(self, place: int) -> int:
        if place not in self.places:
            raise KeyError(place)
        return place


def _smaller(n: int, line: int) -> int:
    """An extent that has the same rest over tiles."""
    return n if n <= 2 * line else line + n % line


def _least(d: Digit) -> int:
    return d.n if 1 in (d.a, d.b) else 2


def _fault(plan: Plan, why: str) -> InternalError:
    space = plan.space
    return InternalError(
        f"the copy from {space.source!r} to {space.destination!r}: {why}; nothing was emitted. "
        "This is a fault of lego_emit: please report it, with both layouts"
    )

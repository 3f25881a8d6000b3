"""The check of every copy: its plan and its nest, compared with both layouts before they are given out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import prod
from random import Random
from typing import Any

from ..arith.expr import Expr
from ..errors import InternalError, LayoutError
from ..ir import grids
from ..ir.nest_runs import Negative, Runner, Way, runner, told_apart
from ..ir.nests import (
    FIRST,
    LAST,
    PART,
    Abilities,
    Body,
    Call,
    Let,
    Loop,
    Vectors,
    When,
    kernels,
    walk,
)
from ..ir.nodes import Node, evaluate, evaluated
from ..packages import numpy as np
from .chunks import Chunks, in_chunks
from .digits import Digit
from .kinds import nest_of
from .launch import IN_THREADS, grid_of, word_of
from .passes import passes_of
from .pieces import Pieces, count_of, covers_once, in_pieces
from .plan import PAD, Box, Plan, check_plan, model
from .schedule import LINE, VECTOR
from .tiles import Names, Tiles
from .values import value_of

MOST_CHECKED = 2**12  # places of a memory that a nest is run over in Python
MOST_PLANNED = 2**20  # that a plan's boxes are compared at
MOST_IN_THREADS = 2**16  # that threads carry out at once
MOST_OF_BITS = 2**20  # elements of a box of so many digits that few of each are many
MOST_BLOCKS = 16  # of those
MOST_DRAWN, MOST_COVERING = 400, 6  # sizes that are looked at for boxes, and taken
MOST_COVERED = 2**16  # places of a memory there where a single tile has more than MOST_CHECKED
DRAWN = (
    1,
    2,
    3,
    5,
    7,
    9,
    15,
    17,
    31,
    33,
    40,
    47,
    63,
    65,
    100,
    129,
    200,
)  # numbers for them
SOME = 4  # parts at both ends
TILES = (1024, 512, 256, 128, 64, 32, 16)  # extents of boxes that are larger
FINE = 2**8  # bytes of a piece where small memories are to have several
WAYS = (
    Way(),
    Way(large=True),
    Way(large=True, before=5),
    Way(aligned=False, large=True),
    Way(vectors=False),
)


def check(
    plan: Plan,
    body: Body,
    blocks: Node | None = None,
    abilities: Abilities = IN_THREADS,
    pieces: Pieces | None = None,
) -> int:
    """Compare plan and nest with the layouts; how many sizes were compared. blocks: of a launch, where it is
    threads that carry the nest out; abilities: of their language; pieces: what the nest was made of where it has
    some, which are compared piece by piece. Raises InternalError."""
    count, fine = 0, pieces
    for kernel in kernels(body):
        if not kernel.zips_alike:
            raise _fault(plan, "the zips of a kernel move elements elsewhere")
    if isinstance(pieces, Chunks):
        fine = in_chunks(plan, sizes_of(plan), (), abilities, FINE)
    elif pieces is not None and plan.is_affine:
        fine = in_pieces(plan, piece=FINE)
    run, run_fine = runner(body), runner(body if fine is None else fine.body)
    ways = told_apart(body, WAYS) if plan.is_affine else WAYS[:1]
    own = sizes_of(plan)
    more = covering(plan, own)
    for sizes in (*own, *more):
        check_calls(plan, body, sizes, pieces)
        if value_of(plan.destination_size, sizes) <= MOST_PLANNED and plan.is_affine:
            check_plan(plan, sizes)
            count += 1
        if isinstance(pieces, Chunks):
            small = value_of(plan.destination_size, sizes) <= MOST_PLANNED
            (check_chunks if small else check_counts)(plan, pieces, sizes)
        elif pieces is not None and not covers_once(pieces, body, sizes):
            raise _fault(plan, f"its parts do not have each element once at {dict(sizes)}")
        if sizes not in more and value_of(plan.destination_size, sizes) > MOST_CHECKED:
            continue
        due = due_of(plan, sizes) if blocks is None else {}
        if blocks is not None:
            check_threads(plan, body, sizes, int(evaluated(blocks, sizes, {})))
        elif isinstance(pieces, Chunks) and isinstance(fine, Chunks):
            for one, own_run in ((pieces, run), (fine, run_fine)):
                check_slices(plan, one, own_run, sizes, due)
        else:
            is_small = value_of(plan.destination_size, sizes) <= MOST_CHECKED
            for way in ways if is_small else ways[:1]:
                check_nest(plan, run, sizes, way, due, pieces)
            if fine is not None and is_small and (sizes not in more or sizes is more[0]):
                check_parts(plan, fine, run_fine, sizes, due)
        count += 1
    if plan.is_affine and not plan.space.sizes:
        if blocks is None:
            check_small(plan)
        else:
            check_small_threads(plan, abilities)
        count += 1
    return count


# Numbers for sizes in turn: a single index, odd ones, the borders of tiles, all digits of 16 and of 32, rows a power
# of two apart.
TRIED = (
    (17, 21, 9, 5, 2), (49, 53, 9, 5, 2), (64, 48, 32, 16, 8), (33, 16, 5, 3, 2), (256, 40, 3, 1, 1), (40, 256, 1, 3, 1),
    (65, 37, 2, 2, 2), (9, 21, 33, 40, 48), (33, 64, 512, 512, 512), (1, 1, 1, 1, 1), (2, 37, 7, 6, 2), (8, 8, 8, 8, 8),
)  # fmt: skip


def sizes_of(
    plan: Plan, count: int = 11, numbers: Any = TRIED, least: int = 0
) -> list[dict[str, int]]:
    """Numbers for the sizes that what is assumed of them allows, of which memories stay small. numbers: those that
    are tried, in turn; least: bytes of the destination."""
    names, found = plan.space.sizes, list[dict[str, int]]()
    if not names:
        return [{}]
    samples = plan.space.trace.analyzer.samples
    drawn = (s.values for s in (*samples.first(), *samples.more(40)))
    tried = ({n: own[k % len(own)] for k, n in enumerate(names)} for own in numbers)
    for given in chain(tried, drawn):
        values = {n: given[n] for n in names if n in given}
        if len(found) < count and len(values) == len(names) and values not in found:
            if not allowed(plan, values):
                continue
            ends = [value_of(n, values) for n in (plan.source_size, plan.destination_size)]
            if least <= ends[1] * plan.element_bytes and max(ends) <= MOST_PLANNED:
                found.append(values)
    return found


def covering(plan: Plan, found: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
    """More numbers for sizes, at which nests are run, too: some of each box, and several of each of its digits, as far
    as small memories have them."""
    names, extents = plan.space.sizes, [[d.n for d in box.digits] for box in plan.boxes]
    if not names or len(plan.boxes) < 2:
        return []
    sums = {n.identity: n for own in extents for n in own if not isinstance(n, int)}

    most = MOST_CHECKED

    def met(values: Mapping[str, int]) -> set[tuple[int, int]]:
        if value_of(plan.destination_size, values) > most:
            return set()
        known = {identity: value_of(n, values) for identity, n in sums.items()}  # boxes share most
        counts = [[n if isinstance(n, int) else known[n.identity] for n in own] for own in extents]
        some = [(at, own) for at, own in enumerate(counts) if all(n > 0 for n in own)]
        return {(at, k) for at, own in some for k in range(-1, len(own)) if k < 0 or own[k] > 1}

    done = {one for values in found for one in met(values)}
    if not done:  # not even a single tile is small
        least = min((value_of(plan.destination_size, values) for values in found), default=0)
        most = min(2 * least, MOST_COVERED)
    draw, more = Random(0), list[dict[str, int]]()
    tried = [{n: draw.choice(DRAWN) for n in names} for _ in range(MOST_DRAWN)]
    left = [(values, met(values)) for values in tried if allowed(plan, values)]
    while len(more) < MOST_COVERING:
        values, own = max(left, key=lambda one: len(one[1] - done), default=({}, done))
        if own <= done:
            break
        more.append(values)
        done |= own
    return more


def check_calls(
    plan: Plan, body: Body, sizes: Mapping[str, int], pieces: Pieces | None = None
) -> None:
    """Compare what is given to the functions that move boxes with the plan, in the first and the last parts."""
    if not any(isinstance(s, Call) for s in walk(body)):
        return
    env: dict[str, Any] = dict(sizes)
    if isinstance(pieces, Chunks):
        parts = [
            part for part, _, _ in pieces.slices(sizes, value_of(plan.destination_size, sizes))
        ]
        for part in (*parts[:SOME], *parts[-SOME:]):
            _check_calls(plan, body, {**env, PART: part}, sizes)
        return
    if pieces is not None:
        env |= {FIRST: 0, LAST: count_of(pieces, sizes)}
    _check_calls(plan, body, env, sizes)


def _check_calls(plan: Plan, body: Body, env: dict[str, Any], sizes: Mapping[str, int]) -> None:
    known: dict[int, Any] = {}

    def value(node: Node) -> int:
        return int(evaluated(node, env, known))

    for s in body:
        if isinstance(s, Let):
            env[s.name] = value(s.value)
        elif isinstance(s, Loop) and s.name == PART:
            rounds = range(value(s.start), value(s.stop))
            for part in dict.fromkeys((*rounds[:SOME], *rounds[-SOME:])):
                _check_calls(plan, s.body, {**env, PART: part}, sizes)
        elif isinstance(s, When):
            if s.condition is None or value(s.condition):
                _check_calls(plan, s.then, {**env}, sizes)
            _check_calls(plan, s.otherwise, {**env}, sizes)
        elif isinstance(s, Vectors):
            _check_calls(plan, s.body, {**env}, sizes)
            _check_calls(plan, s.plain, {**env}, sizes)
        elif isinstance(s, Call):
            given = [value(n) for n in s.arguments]
            if s.due and given != [value(n) for n in s.due]:
                raise _fault(plan, f"a box is moved with a wrong argument at {dict(sizes)}")
            own = {**env, **dict(zip(s.helper.parameters, given, strict=True))}
            _check_calls(plan, s.helper.body, own, sizes)


def allowed(plan: Plan, values: Mapping[str, int]) -> bool:
    """Whether sizes are those that the layouts and the assumptions allow."""
    function = plan.function
    if function is None:
        return True
    params = [p for p in function.params if p.name in values]
    ranges = [c for p in params for c in p.range.conditions(p.name)]
    return all(evaluate(node, values) in (True, None) for node in (*ranges, *function.assumed))


def check_threads(plan: Plan, body: Body, sizes: Mapping[str, int], blocks: int) -> None:
    """Let threads carry a copy out, with memory that is aligned and not, and compare what the destination has with the
    layouts. blocks: of a launch; fewer are taken, so that each has several pieces."""
    word = word_of(plan.element_bytes)
    parts = plan.element_bytes // word
    wanted = model(plan, sizes)
    if not plan.pads:
        wanted[wanted == PAD] = -1
    due = np.where(
        wanted[:, None] >= 0, wanted[:, None] * parts + np.arange(parts), wanted[:, None]
    )
    source, destination = (
        value_of(n, sizes) * parts for n in (plan.source_size, plan.destination_size)
    )
    fewer = max(2, min(MOST_BLOCKS, -(-blocks // 3)))
    for is_aligned in (True, False):
        found = np.full(destination, -1)
        try:
            places, values = grids.run(
                body, sizes, (source, destination), word, is_aligned, parts, fewer
            )
        except grids.Wrong as error:
            raise _fault(plan, f"{error} at {dict(sizes)}") from None
        found[places] = values
        wrong = np.flatnonzero(found != due.reshape(-1))
        if len(wrong):
            place = int(wrong[0]) // parts
            raise _fault(
                plan, f"its threads leave a wrong element in place {place} at {dict(sizes)}"
            )


def check_nest(
    plan: Plan,
    run: Runner,
    sizes: Mapping[str, int],
    way: Way,
    due: Mapping[int, int],
    pieces: Pieces | None = None,
) -> None:
    """Run a nest, or all of its pieces, on the source's places, and compare what the destination has with what is
    due."""
    whole = {} if pieces is None else {FIRST: 0, LAST: count_of(pieces, sizes)}
    _compare(plan, _moved(plan, run, sizes, whole, way), sizes, due)


def check_parts(
    plan: Plan, pieces: Pieces, run: Runner, sizes: Mapping[str, int], due: Mapping[int, int]
) -> None:
    """Run a nest piece by piece, and compare what they write together. Raises InternalError where two of them write
    one place, too."""
    for way in told_apart(pieces.body, WAYS[:1] + WAYS[2:3]):
        found: dict[int, Any] = {}
        for part in range(count_of(pieces, sizes)):
            own = _moved(plan, run, sizes, {FIRST: part, LAST: part + 1}, way)
            if not found.keys().isdisjoint(own):
                raise _fault(plan, f"two of its parts write one place at {dict(sizes)}")
            found |= own
        _compare(plan, found, sizes, due)


def check_chunks(plan: Plan, chunks: Chunks, sizes: Mapping[str, int]) -> None:
    """Compare what all parts have of the plan's boxes with the layouts."""
    found = np.full(value_of(plan.destination_size, sizes), -1, np.int64)
    for part, start, stop in chunks.slices(sizes, len(found)):
        for box, a, b in chunks.pairs(part, sizes):
            if b.size and not 0 <= b.min() <= b.max() < stop - start:
                raise _fault(plan, f"a part writes outside of its slice at {dict(sizes)}")
            found[start + b] = PAD if box.is_padding else a
    wanted = model(plan, sizes)
    if not plan.pads:
        wanted[wanted == PAD] = -1
    if not np.array_equal(found, wanted):
        raise _fault(plan, f"its parts do not have each element once at {dict(sizes)}")


def check_counts(plan: Plan, chunks: Chunks, sizes: Mapping[str, int]) -> None:
    """Compare how many elements all parts have with the plan, and that each lies in its slice, which no other part
    has: enough where a plan is too large to be compared place by place."""
    size, end, total = value_of(plan.destination_size, sizes), 0, 0
    for part, start, stop in chunks.slices(sizes, size):
        if start != end:
            raise _fault(plan, f"its slices leave a gap at {dict(sizes)}")
        end = stop
        for box in chunks.boxes_of(part, sizes):
            count = prod(max(0, int(d.n)) for d in box.digits)
            least, most = (
                int(box.b) + sum(side(0, (int(d.n) - 1) * int(d.b)) for d in box.digits)
                for side in (min, max)
            )
            if count and not 0 <= least <= most < stop - start:
                raise _fault(plan, f"a part writes outside of its slice at {dict(sizes)}")
            total += count
    wanted = sum(prod(max(0, int(d.n)) for d in box.at(sizes).digits) for box in plan.boxes)
    if end != size or total != wanted:
        raise _fault(plan, f"its parts do not have each element once at {dict(sizes)}")


def check_slices(
    plan: Plan, chunks: Chunks, run: Runner, sizes: Mapping[str, int], due: Mapping[int, int]
) -> None:
    """Run a nest part by part, each on its slice of the destination, and compare what they write together."""
    for way in told_apart(chunks.body, (Way(), Way(vectors=False))):
        found: dict[int, Any] = {}
        for part, start, stop in chunks.slices(sizes, value_of(plan.destination_size, sizes)):
            own = _moved(plan, run, sizes, {PART: part}, way)
            if own and not 0 <= min(own) <= max(own) < stop - start:
                raise _fault(plan, f"a part writes outside of its slice at {dict(sizes)}")
            found |= {start + place: value for place, value in own.items()}
        _compare(plan, found, sizes, due)


def _moved(
    plan: Plan, run: Runner, sizes: Mapping[str, int], more: Mapping[str, int], way: Way
) -> dict[int, Any]:
    """What a nest writes into each place of the destination."""
    found: dict[int, Any] = {}
    try:
        run({**sizes, **more}, range(value_of(plan.source_size, sizes)), found, way)
    except (IndexError, KeyError) as error:
        raise _fault(plan, f"it reads outside of the source ({error}) at {dict(sizes)}") from None
    except Negative:
        space = plan.space
        ends = space.source, space.destination
        own = [*space.positions, *(Expr.of(n) for L in ends for n in L.sizes())]
        atoms = (a for e in own for a in e.deep_atoms() if a.kind in ("digit", "floordiv"))
        divided = [a.args[0] for a in atoms if a.args[0].symbols().isdisjoint(space.names)]
        if not all(map(space.known.nonneg, divided)):
            raise LayoutError(
                f"copy: from {ends[0]!r} to {ends[1]!r} a number below 0 is divided at {dict(sizes)}, which copies don't do; round up by "
                "(K + 15) // 16, not by -(-K // 16)"
            ) from None
        raise _fault(plan, f"it divides a negative number at {dict(sizes)}") from None
    return found


def due_of(plan: Plan, sizes: Mapping[str, int]) -> dict[int, int]:
    """What a copy writes into places of the destination, by the layouts."""
    wanted = model(plan, sizes)
    if not plan.pads:
        wanted[wanted == PAD] = -1
    return {place: value for place, value in enumerate(wanted.tolist()) if value != -1}


def _compare(
    plan: Plan, found: Mapping[int, Any], sizes: Mapping[str, int], due: Mapping[int, int]
) -> None:
    """Compare what was written with what is due."""
    if found == due:
        return
    for place in range(value_of(plan.destination_size, sizes)):
        if found.get(place, -1) != due.get(place, -1):
            raise _fault(plan, f"its nest leaves a wrong element in place {place} at {dict(sizes)}")
    raise _fault(plan, f"its nest writes outside of the destination at {dict(sizes)}")


def check_small(plan: Plan) -> None:
    """Run the nests of boxes with the same strides and smaller extents."""
    for small in (own for box in plan.boxes for own in _fewer(box, plan.element_bytes)):
        alone = replace(plan, boxes=(small,))
        body = nest_of(alone)[0]
        run = runner(body)
        a, b = small.pairs({})
        due = dict(zip(b.tolist(), a.tolist(), strict=True))
        if small.is_padding:
            due = dict.fromkeys(due, PAD)
        for way in told_apart(body, WAYS):
            found: dict[int, Any] = {}
            run({}, _Places({*due.values()}), found, way)
            if found != due:
                raise _fault(plan, f"the nest of {small} exchanges elements")


def _fewer(box: Box, element_bytes: int) -> Iterator[Box]:
    """A box of smaller extents, or where it has too many digits for that, some with a few of the outer ones each."""
    line, most = LINE // min(LINE, element_bytes), 4 * MOST_CHECKED
    digits = tuple(Digit(_smaller(d.n, line), d.a, d.b) for d in box.digits)
    if prod(d.n for d in digits) > most:
        digits = _least_of(box, element_bytes)
    outer: list[int] = []
    if prod(d.n for d in digits) > most:
        tile = Tiles(replace(box, digits=digits), element_bytes, Names(()), None).tile
        outer = [k for k, d in enumerate(digits) if not tile[k] and 1 not in (d.a, d.b)]
    inside = prod(d.n for k, d in enumerate(digits) if k not in outer)
    count = max(1, (most // inside).bit_length() - 1)
    for at in range(0, max(1, len(outer)), count):
        left_out = {*outer} - {*outer[at : at + count]}
        own = (replace(d, n=1) if k in left_out else d for k, d in enumerate(digits))
        yield replace(box, digits=tuple(own))


def check_small_threads(plan: Plan, abilities: Abilities) -> None:
    """Let threads carry out boxes with the same strides and smaller extents, of several tiles where they are few."""
    word = word_of(plan.element_bytes)
    parts = plan.element_bytes // word
    for box in plan.boxes:
        small = next(own for n in TILES if (own := _of_fewer(box, n)) is not None)
        a, b = small.pairs({})
        alone = replace(plan, boxes=(small,), destination_size=int(b.max(initial=0)) + 1)
        body, _, blocks = grid_of(alone, (), abilities)
        a, b = (p[:, None] * parts + np.arange(parts) for p in (a, b))
        due = _in_order(b.reshape(-1), np.full(b.size, PAD) if box.is_padding else a.reshape(-1))
        ends = int(a.max(initial=0)) + 1, int(b.max(initial=0)) + 1
        fewer = max(2, min(MOST_BLOCKS, -(-int(evaluated(blocks, {}, {})) // 3)))
        for is_aligned in (True, False):
            try:
                found = _in_order(*grids.run(body, {}, ends, word, is_aligned, parts, fewer))
            except grids.Wrong as error:
                raise _fault(plan, f"{error} in {box}") from None
            if not np.array_equal(found, due):
                raise _fault(plan, f"the threads of {box} exchange elements")


def _of_fewer(box: Box, most: int) -> Box | None:
    """A box of at most about so many of each digit, which have the same rest, and one of the farthest of many digits of
    two; None where it is still large."""
    digits = tuple(
        Digit(d.n if d.n <= 2 * most else most + d.n % most, d.a, d.b) for d in box.digits
    )
    if prod(d.n for d in digits) > MOST_IN_THREADS:
        if most > TILES[-1]:
            return None
        digits = tuple(Digit(min(d.n, _least(d)), d.a, d.b) for d in digits)
    far = sorted(digits, key=lambda d: min(abs(d.a), abs(d.b)))
    while prod(d.n for d in far) > MOST_OF_BITS and 1 not in (far[-1].a, far[-1].b):
        digits = tuple(replace(d, n=1) if d == far[-1] else d for d in digits)
        far.pop()
    return replace(box, digits=digits)


def _in_order(places: Any, values: Any) -> Any:
    order = np.argsort(places)
    return np.stack([places[order], values[order]])


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


def _least_of(box: Box, element_bytes: int) -> tuple[Digit, ...]:
    """The digits of a box with few of each, but all that two kernels take at once."""
    own = passes_of(box.digits, element_bytes) if VECTOR % element_bytes == 0 else None
    whole = {} if own is None else {**dict.fromkeys(own.held), own.across: own.width}
    return tuple(
        Digit(min(d.n, (whole[k] or d.n) if k in whole else _least(d)), d.a, d.b)
        for k, d in enumerate(box.digits)
    )


def _fault(plan: Plan, why: str) -> InternalError:
    space = plan.space
    return InternalError(
        f"the copy from {space.source!r} to {space.destination!r}: {why}; nothing was emitted. "
        "This is a fault of lego_emit: please report it, with both layouts"
    )

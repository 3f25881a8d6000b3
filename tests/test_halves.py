"""Tables of places, made of what high and low bits give, without a trace and without lowering."""

import operator
import random
from functools import cache
from typing import Any

import numpy as np
import pytest
from marks import rest_deep

from lego_emit import Col, GenP, GroupBy, Lookup, RegP, Row, Strided, catalogue
from lego_emit.algebra.genp import of_operators
from lego_emit.algebra.masked import Padded
from lego_emit.arrays import halves
from lego_emit.arrays import plan as planning
from lego_emit.copies import digits
from lego_emit.cute import Swizzle, Swizzled
from lego_emit.formats.curves import from_distance, to_distance

N = 2048


@cache  # to check that it is a bijection takes a while
def hilbert(n):
    return catalogue["hilbert.2D"](n, n)


def test_a_hilbert_curve_is_planned_by_a_few_thousand_numbers(monkeypatch):
    """The first pack of 2^22 places: nothing is traced or lowered, and eight operations have all places."""
    counts, whole = [], []

    @of_operators
    def counted(distance):
        counts.append(
            len(distance.rows) + len(distance.columns) if hasattr(distance, "rows") else 1
        )
        return from_distance(11, distance)

    curve = GenP([N, N], lambda x, y: to_distance(11, x, y), counted)
    counts.clear()

    def never(*_):
        raise AssertionError("traced or lowered")

    def carried_out(steps):
        whole.append(len(steps))
        return made(steps)

    made = halves._carried_out
    monkeypatch.setattr(halves, "_carried_out", carried_out)
    monkeypatch.setattr(planning, "arithmetic", never)
    monkeypatch.setattr(digits, "index_space", never)
    memory = curve.pack(np.arange(N * N, dtype=np.int32).reshape(N, N))
    assert sum(counts) < 2**14 and whole == [8]
    for k in random.Random(0).sample(range(N * N), 500):
        x, y = hilbert(N).inv(k)
        assert memory[k] == x * N + y


LAYOUTS = {
    "curve of even order": lambda: hilbert(64),
    "curve of odd order": lambda: hilbert(128),
    "curve in a view": lambda: GroupBy([64, 256]).OrderBy(hilbert(128)),
    "Morton order": lambda: catalogue["morton.3D"](16, 32, 64),
    "swizzle": lambda: Swizzled(Swizzle(3, 4, 3), Strided((128, 128), (128, 1))),
    "swizzle down": lambda: Swizzled(Swizzle(3, 0, -3), Strided((128, 128), (1, 128))),
    "negative": lambda: Strided((128, 128), (-1, 128), 127),
    "threes": lambda: GroupBy([64, 192]).OrderBy(RegP([4, 16, 3, 64], [2, 0, 3, 1])),
    "turned": lambda: GroupBy([96, 128]).OrderBy(Col(96, 128)),
    "transposed curve": lambda: GroupBy([64, 64]).OrderBy(Col(64, 64)).OrderBy(hilbert(64)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_places_are_those_of_the_reference(name):
    layout = LAYOUTS[name]()
    source = Row(*layout.dims)
    made = halves.places(source, layout, layout.size)
    assert made is not None
    found, least, most = made
    assert (least, most) == (found.min(), found.max()) == (0, layout.size - 1)
    for k in random.Random(0).sample(range(layout.size), 300):
        assert found[k] == source.apply(*layout.inv(k))


def plain(i, j):
    return 64 * i + j


@pytest.mark.parametrize(
    "layout",
    [
        GenP([64, 64], plain, lambda p: (p // 64, p % 64)),  # it may use if
        Lookup([4096], random.Random(0).sample(range(4096), 4096)),
        GroupBy([3, 1365]).OrderBy(Col(3, 1365)),
        Row(8, 8),
    ],
    ids=["functions", "table", "odd", "small"],
)
def test_other_ways_are_left_to_others(layout):
    assert halves.places(Row(*layout.dims), layout, layout.size) is None


OPERATORS = [
    operator.and_, operator.or_, operator.xor, operator.add, operator.sub, operator.mul,
    operator.floordiv, operator.mod, operator.lshift, operator.rshift,
]  # fmt: skip


@pytest.mark.parametrize("seed", rest_deep(range(400), 40))
def test_operators_are_those_of_arrays(seed):
    """And bits has what is set in any number, of which none is negative then."""
    rng = random.Random(seed)
    rows, columns = np.arange(0, 1024, 32), np.arange(32)
    known: list[tuple[halves.Grid, Any]] = [(halves.Apart(rows, columns), np.arange(1024))]
    for _ in range(rng.randint(2, 8)):
        sign = rng.choice(OPERATORS)
        x, a = rng.choice(known)
        if sign in (operator.lshift, operator.rshift):
            y = b = rng.randrange(4)
        elif sign in (operator.floordiv, operator.mod):
            y = b = rng.choice([1, 2, 3, 8, 32, 100, 4096])
        else:
            y, b = rng.choice([*known, *((n, n) for n in (0, 1, 5, 31, 64, 1023))])
        if sign is operator.sub and rng.random() < 0.5:
            x, y, a, b = y, x, b, a
        if sign is operator.mul and max(np.abs(a).max(), np.abs(b).max()) >= 2**20:
            continue
        try:
            found, wanted = sign(x, y), sign(a, b)
        except halves.NotApart:
            continue
        if not isinstance(found, halves.Grid):
            assert (found == wanted).all()
            continue
        known.append((found, wanted))
        if found.bits is not None:
            assert wanted.min() >= 0 and not np.bitwise_or.reduce(wanted) & ~found.bits
        assert np.array_equal(halves._carried_out(halves._steps(found))[0], wanted)


@pytest.mark.parametrize(
    "layout, may",
    [
        (lambda: hilbert(N), False),
        (lambda: catalogue["hilbert.3D"](4, 4, 4), False),
        (lambda: Swizzled(Swizzle(2, 0, 3), Strided((8, 8), (8, 1))), False),
        (lambda: Swizzled(Swizzle(1, 1, 2), Strided((8, 16), (16, 1))), False),  # along its rows
        (lambda: Swizzled(Swizzle(1, 1, 2), Strided((8, 2), (2, 1))), False),
        (lambda: Swizzled(Swizzle(1, 3, 2), Strided((4, 4), (4, 1))), True),  # beyond all places
        (lambda: Col(4, 6), True),
        (lambda: Padded([5, 7], Row(8, 8)), True),
        (lambda: GroupBy([4, 6]).OrderBy(RegP([2, 2, 6], [2, 0, 1])), True),
    ],
)
def test_what_is_no_sum_of_digits_is_told_without_a_trace(layout, may):
    layout = layout()
    assert planning._may_have_digits(layout) == may
    if not may:
        assert digits.index_space(Row(*layout.dims), layout).axes is None

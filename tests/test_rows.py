"""Functions of real code, and how many operations they take by each cost model: a value that is
written in a long way is computed in a short one."""

from itertools import product

import pytest
from marks import rest_slow

from lego_emit import GroupBy, RegP, generate
from lego_emit.pipeline import build_program
from lego_emit.run import registry

CPP = registry.printer("cpp")


def least(a, b):
    return min(a, b)


def most(a, b):
    return max(a, b)


def spelled_least(a, b):
    return a if a < b else b


def inside(x, low, high):
    return least(most(x, low), high)


def sum_of_least(least, i, j, k):
    return least(i, j) + least(j, k)


def one_number(o, i, a, b):
    return ((o // 4 * 3 + i // 4 + a + b) * 4 + i % 4) * 4 + o % 4


def rows_of_a_tile(t, r):
    y = t // 4 + 32 * r
    return y * 200 + t % 4 * 8, 32 * y + ((t % 4) ^ (y % 4)) * 8


def padded_pair(i):
    return 2 * i + 1 + (2 * i + 1) // 32, 2 * i + 2 + (2 * i + 2) // 32


def flagged(i, a, b, c):
    if a:
        i = i + 1
    if b:
        i = i + 3
    if c:
        i = i + 9
    return i


def channels_last(images, channels, pixels):
    layout = GroupBy([images * channels * pixels])
    layout = layout.OrderBy(RegP([images, channels, pixels], [0, 2, 1]))
    return lambda i: layout.apply(i)


def transposed_twice(rows, columns, others):
    layout = GroupBy([rows * columns]).OrderBy(RegP([rows, columns], [1, 0]))
    layout = layout.OrderBy(RegP([others, rows * columns // others], [1, 0]))
    return lambda i: layout.apply(i)


def padded_pixel(r, c, pad, height, width):
    """-1 in the padding."""
    row, column = r - pad, c - pad
    if row < 0 or column < 0 or row >= height or column >= width:
        return -1
    return row * width + column


def turned(x, y, swapped, mirrored, flipped):
    if swapped:
        x, y = y, x
    if mirrored:
        x = 6 - x
    if flipped:
        y = 6 - y
    return 9 * y + x


COLUMNS = (1, 1026, 6, 8, 16, 32, 2112, 136, 304, 512, 1024, 2048)


def linear(x):
    total = 0
    for k, column in enumerate(COLUMNS):
        total ^= (x >> k & 1) * column
    return total


# name: (function, ranges, cost by "ops", cost by "latency")
ROWS = {
    "a range of one number": (one_number, dict(o=8, i=12, a=1, b=1), 5, 5.5),
    "min in a helper": (lambda i, j: least(2 * i + 1, j) * 3 + i, dict(i=9, j=9), 5, 5.5),
    "max in a helper": (lambda i, j: most(i, j) + most(j, 5), dict(i=9, j=9), 3, 3),
    "helpers in a helper": (lambda i: inside(i, 3, 50), dict(i=60), 2, 2),
    "two of a helper": (
        lambda i, j, k: sum_of_least(least, i, j, k),
        dict(i=6, j=7, k=8),
        3,
        3,
    ),
    "a choice that is the lesser": (
        lambda i, j: spelled_least(2 * i + 1, j) * 3 + i,
        dict(i=9, j=9),
        5,
        5.5,
    ),
    "two choices that are the lesser": (
        lambda i, j, k: sum_of_least(spelled_least, i, j, k),
        dict(i=6, j=7, k=8),
        3,
        3,
    ),
    "the lesser of three by choices": (
        lambda i, j, k: spelled_least(spelled_least(i, j), k),
        dict(i=6, j=7, k=8),
        2,
        2,
    ),
    "rows of a tile": (rows_of_a_tile, dict(t=128, r=2), 11, 12),
    "a padded pair": (padded_pair, dict(i=256), 5, 6),
    "channels last": (channels_last(2, 3, 5), dict(i=30), 6.001, 11),
    "channels last, 4 of 49": (channels_last(2, 4, 49), dict(i=392), 6.001, 11),
    "channels last, 16 of 9": (channels_last(3, 16, 9), dict(i=432), 6.001, 10.5),
    "two transpositions of 36": (transposed_twice(4, 9, 6), dict(i=36), 3.001, 6.5),
    "two transpositions of 20": (transposed_twice(4, 5, 2), dict(i=20), 3.001, 6),
    "a linear map": (linear, dict(x=4096), 9, 10),
    "differences that are compared": (
        padded_pixel,
        dict(r=8, c=8, pad=3, height=5, width=5),
        12,
        12.5,
    ),
    "a picture turned": (turned, dict(x=7, y=7, swapped=2, mirrored=2, flipped=2), 11, 11.5),
    "three flags": (flagged, dict(i=9, a=2, b=2, c=2), 8, 8),
}


@pytest.mark.parametrize("cost", rest_slow(["ops", "latency"]))
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.quick(4)
def test_a_row_takes_no_more_than_is_known_to_do(row, cost):
    fn, ends, operations, latency = ROWS[row]
    ranges = {name: (0, end) for name, end in ends.items()}
    (made,) = build_program(fn, CPP, ranges=ranges, cost=cost).functions
    assert [p.name for p in made.params] == [*ends]
    assert made.cost <= (operations if cost == "ops" else latency) + 0.001, made.cost
    for values in product(*map(range, ends.values())):
        index, wanted = dict(zip(ends, values, strict=True)), fn(*values)
        found = tuple(made.evaluate(index).values())
        assert found == (wanted if isinstance(wanted, tuple) else (wanted,)), index


def test_a_quotient_that_an_assumption_keeps_from_0_divides():
    made = generate(
        lambda k, c, s: (k // (c // (s * s)), k % (c // (s * s))), "c", name="f",
        ranges={"k": (0, 64), "c": (4, 64), "s": (1, 8)}, assume=["s * s <= c"],
    )  # fmt: skip
    assert "floor" not in made.source and "(s*s) != 0" not in made.source


@pytest.mark.parametrize("k", [-3, -1, 1, 2])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("off", [-2, -1, 0, 1, 2])
@pytest.mark.quick(4)
def test_a_choice_is_the_lesser_or_the_larger_only_where_it_is(k, strict, off):
    """Next to the border that makes it so it stays a choice."""

    def fn(i, j):
        chosen = i < j + off if strict else i <= j + off
        return k * i + j if chosen else (k + 1) * j

    (made,) = build_program(fn, CPP, ranges={"i": (0, 9), "j": (0, 9)}).functions
    used = str(generate(fn, "python", name="f", ranges={"i": (0, 9), "j": (0, 9)}))
    is_extreme = off in ((0, 1) if strict else (0, -1))
    assert ("min(" in used or "max(" in used) is is_extreme
    for i, j in product(range(9), range(9)):
        assert made.evaluate({"i": i, "j": j}) == {"result": fn(i, j)}


STEP = 3


def writing(i):
    global STEP
    STEP = 3
    return min(i, STEP)


def own_min(i, j):
    min = max
    return min(i, j)


def later(i, depth=2):
    return min(i, 5) if not depth else later(i + 1, depth - 1)


@pytest.mark.parametrize(
    "fn",
    [
        lambda i: writing(i) + 2 * i,
        lambda i: own_min(i, 4),
        lambda i: later(i),
        lambda i: sum(least(i, k) for k in range(3)),
        lambda i: least(isinstance(i, int) * i, 4),
        lambda i: inside(*sorted([3, 1]), i),
    ],
)
def test_helpers_of_every_kind_are_called_as_they_are(fn):
    (made,) = build_program(fn, CPP, ranges={"i": (0, 9)}).functions
    for i in range(9):
        assert made.evaluate({"i": i}) == {"result": fn(i)}


def test_a_number_stays_in_the_signature_and_in_its_range():
    text = str(generate(lambda i, a: 7 * i + a, "c", name="f", ranges={"i": (0, 5), "a": (3, 4)}))
    assert "f(int32_t i, int32_t a)" in text
    assert "@param a 3 <= a < 4" in text
    assert "return 7 * i + 3;" in text


def test_a_size_of_one_value_makes_an_index_one_number():
    ranges = {"i": (0, "N"), "N": (1, 2), "k": (2, 5)}
    (made,) = build_program(lambda i, N, k: i + N * k, CPP, ranges=ranges).functions
    assert made.op_count == 0
    assert made.evaluate({"i": 0, "N": 1, "k": 4}) == {"result": 4}


def test_a_quotient_that_a_layout_makes_is_known_as_a_number():
    ranges = {"i": (0, 64), "N": (8, 9)}
    (made,) = build_program(lambda i, N: i // (N // 4) + N, CPP, ranges=ranges).functions
    assert made.op_count == 2
    assert all(made.evaluate({"i": i, "N": 8}) == {"result": i // 2 + 8} for i in range(64))


@pytest.mark.parametrize(
    ("fn", "ops", "latency"),
    [
        (lambda i, j, N, M: i * N + (N - 1 - j), 3.01, 4),
        (lambda i, j, N, M: i * N * M + (N * M - 1 - j), 3.02, 4.75),
        (lambda i, j, N, M: (N - 1 - j) * M + i * 2 + (M - 1), 4.02, 5.5),
    ],
)
def test_what_depends_on_sizes_alone_stands_together(fn, ops, latency):
    ranges = {"i": (0, "M"), "j": (0, "N"), "N": (1, 1000), "M": (1, 100)}
    for cost, most_of_it in (("ops", ops), ("latency", latency)):
        for language in ("cpp", "wgsl"):
            printer = registry.printer(language)
            (made,) = build_program(fn, printer, ranges=ranges, cost=cost).functions
            assert made.cost <= most_of_it, made.cost
            for i, j, n, m in product((0, 1), (0, 1, 3), (4, 7), (2, 5)):
                values = {"i": i, "j": j, "N": n, "M": m}
                given = {p.name: values[p.name] for p in made.params}
                assert made.evaluate(given) == {"result": fn(**values)}

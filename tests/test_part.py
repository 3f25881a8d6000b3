"""Part: the indices of a box that a memory holds."""

import numpy as np
import pytest

from lego_emit import ExpandBy, GenP, GroupBy, catalogue, generate, isqrt, symbols
from lego_emit.algebra.masked import Padded
from lego_emit.algebra.part import Part
from lego_emit.errors import IndexRangeError, InverseError, LayoutError

N = symbols("N")


def band(n):
    """The diagonal and the one above it, column by column; its first place is left out."""

    def apply(i, j):
        return 2 * j + i - j if 0 <= j - i <= 1 else -1

    def inv(flat):
        return flat - (flat + 1) // 2, (flat + 1) // 2

    return Part([n, n], 2 * n - 1, apply, inv)


def test_positions():
    layout = band(4)
    assert layout.dims == (4, 4) and layout.physical_size == 7 and layout.masks
    wanted = {(0, 0): 0, (0, 1): 1, (1, 1): 2, (1, 2): 3, (2, 2): 4, (2, 3): 5, (3, 3): 6}
    for i in range(4):
        for j in range(4):
            assert layout.apply(i, j) == wanted.get((i, j), -1)
    assert [layout.inv(flat) for flat in range(7)] == list(wanted)
    assert layout.check() == "7 indices: a bijection onto 0..6, inv undoes apply; 9 are masked"
    assert layout != band(4) and layout == Part(
        [4, 4], 7, layout.apply_function, layout.inv_function
    )


def test_arrays():
    layout = band(4)
    assert layout[:, 1].tolist() == [1, 2, -1, -1]
    rows, columns = layout.inv(np.arange(7))
    assert rows.tolist() == [0, 0, 1, 1, 2, 2, 3] and columns.tolist() == [0, 1, 1, 2, 2, 3, 3]


@pytest.mark.slow
def test_a_check_calls_each_function_once_for_each_index_or_position():
    class calls:  # what a class holds, no cache looks at
        apply = inv = 0

    n = 320  # more indices than are tried when it is made

    def apply(i, j):
        calls.apply += 1
        return i * (i + 1) // 2 + j if j <= i else -1

    def inv(flat):
        calls.inv += 1
        i = (isqrt(8 * flat + 1) - 1) // 2
        return i, flat - i * (i + 1) // 2

    layout = Part([n, n], n * (n + 1) // 2, apply, inv)
    made = calls.apply, calls.inv
    assert layout.check().startswith("51360 indices: a bijection onto 0..51359")
    assert calls.apply - made[0] == n * n
    assert calls.inv - made[1] == n * (n + 1) // 2
    numbers = np.arange(layout.physical_size)
    assert [tuple(map(int, x)) for x in zip(*layout.inv(numbers), strict=True)] == [
        layout.inv(int(k)) for k in numbers
    ]


def test_symbols():
    apply, inv = generate(band(symbols("n")), "cpp").functions
    for n in (1, 2, 5):
        layout = band(n)
        for i in range(n):
            for j in range(n):
                assert apply.evaluate({"n": n, "i": i, "j": j})["flat"] == layout.apply(i, j)
        for flat in range(layout.physical_size):
            assert tuple(inv.evaluate({"n": n, "flat": flat}).values()) == layout.inv(flat)
    assert band(symbols("n")).check(n=6).startswith("11 indices: a bijection onto 0..10")


def diagonal(positions, apply=lambda i, j: i if i == j else -1, inv=lambda k: (k, k)):
    """Of 2 x 2."""
    return Part([2, 2], positions, apply, inv)


def test_one_dimension_may_come_back_as_an_integer():
    layout = Part([4], 2, lambda i: i - 1 if 1 <= i <= 2 else -1, lambda k: k + 1)
    assert layout.inv(0) == (1,) and layout.inv(np.arange(2))[0].tolist() == [1, 2]
    assert generate(layout, "cpp").functions[1].evaluate({"flat": 1}) == {"i": 2}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Part([2, 0], 2, min, tuple), "size 1 is 0"),
        (lambda: Part([2, 2], "x", min, tuple), "size 0 is 'x'"),
        (lambda: Part([2, 2], 2, min, 5), "give two functions"),
        (lambda: Part([2, 2], 4, min, lambda flat: (flat // 2, flat % 2)), "but inv"),
        (lambda: diagonal(2, lambda i, j: 2 * i if i == j else -1), "gives 2, outside -1..1"),
        (lambda: diagonal(2, lambda i, j: i if i == j else -2), "gives -2, outside -1..1"),
        (lambda: diagonal(3), r"inv\(2\) gives \(2, 2\), outside its sizes"),
        (lambda: diagonal(2, inv=lambda k: k), "inv.0. gives 0; give a tuple of 2 integers"),
        (lambda: diagonal(2, inv=lambda k: (k, k, k)), "give a tuple of 2 integers"),
        (lambda: diagonal(2, inv=lambda k: [][k]), "Part.*inv.0. raised IndexError"),
        (lambda: diagonal(2, inv=lambda k: (k - 1, k)), "gives .-1, 0., outside its sizes"),
        (lambda: Part([3], 2, lambda i: 0 if i == 0 else -1, lambda k: 0), "whose position is 0"),
        (lambda: generate(Part([N], N, abs, lambda k: (k, k)), "cpp"), "a tuple of 1 integers"),
        (lambda: band(4) @ GroupBy([16]), ": Part gives -1 where it masks"),
        (lambda: band(4).inverse(), "its apply is -1 in places"),
        (lambda: GroupBy([16]).OrderBy(band(4)), "put the Part around"),
        (lambda: Padded([3, 3], band(4)), "masks nothing"),
        (lambda: band(4).apply(4, 0), "4"),
        (lambda: band(4).inv(7), "7"),
    ],
)
def test_bad_input(make, said):
    with pytest.raises((LayoutError, IndexRangeError, InverseError), match=said):
        make()


# -- symbols that functions hold -----------------------------------------------------------------


def rotated(n, by):
    return GenP([n], lambda i: (i + by) % n, lambda p: (p - by) % n)


def test_a_symbol_that_functions_hold_is_a_parameter():
    n, by = symbols("n by")
    layout = rotated(n, by)
    assert layout.check(n=5, by=-3) == "5 indices: a bijection onto 0..4, inv undoes apply"
    apply, inv = generate(layout, "cpp", assume=["by >= 0"]).functions
    assert [p.name for p in apply.params] == ["n", "by", "i"] and apply.params[1].lo == 0
    assert inv.evaluate({"n": 7, "by": 4, "flat": 2}) == {"flat": 5} or inv.evaluate(
        {"n": 7, "by": 4, "flat": 2}
    ) == {"i": 5}
    assert not rotated(4, by).is_concrete and rotated(4, 1).is_concrete
    assert ExpandBy([3], [4], GroupBy([4]).OrderBy(rotated(4, by))).check(by=1).startswith("3 ")


def test_what_is_no_bijection_for_some_number_is_refused():
    by = symbols("by")
    wrong = GenP([4], lambda i: i * by % 4, lambda p: p)
    with pytest.raises(LayoutError, match="by="):
        generate(wrong, "cpp")
    with pytest.raises(LayoutError, match="no size is called q; it has by"):
        wrong.check(q=1)


def test_sizes_that_functions_hold_are_at_least_one():
    n, by = symbols("n by")
    layout = GenP([n], lambda i: i // by * by + (by - 1 - i % by), lambda p: p, sizes=[by])
    assert [p.range_text for p in generate(rotated(n, by), "cpp").functions[0].params][1] == ""
    grouped = catalogue["triton.grouped"](7, n, by)
    source = generate(grouped, "cpp").source
    assert "by >= 1" in source and "floor_div" not in source and "by != 0" not in source
    assert grouped.check(n=4, by=3).startswith("28 indices: a bijection")
    assert "sizes=[by]" in repr(layout) and layout.with_sizes is not None
    with pytest.raises(LayoutError, match="a size is at least 1"):
        GenP([4], lambda i: i, sizes=[0])


def test_a_bound_of_a_size_adds_no_precondition():
    n = symbols("n")
    source = generate(catalogue["onednn.nChw16c"](1, n, 4, 4), "cpp", assume=["n <= 512"]).source
    assert "@pre" not in source


def test_a_wrong_part_of_symbols_is_refused():
    m = symbols("m")
    with pytest.raises(LayoutError, match="Part"):
        generate(Part([m, m], m, lambda i, j: i, lambda flat: (flat, flat)), "cpp")

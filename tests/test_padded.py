"""Padded: a problem in a memory whose sizes were rounded up."""

from itertools import product

import numpy as np
import pytest

from lego_emit import Col, ExpandBy, GroupBy, Linear, OrderBy, RegP, generate, symbols
from lego_emit.algebra.masked import Padded
from lego_emit.errors import InverseError, LayoutError


def blocked(n, m, b):
    """Rows of tiles of b columns, each tile row-major."""
    count = (m + b - 1) // b
    return Padded([n, m], GroupBy([n, b * count]).OrderBy(RegP([n, count, b], [1, 0, 2])))


def test_positions_and_padding():
    layout = blocked(3, 6, 4)
    assert layout.dims == (3, 6) and layout.physical_size == 24
    held = {int(layout.apply(i, j)): (i, j) for i in range(3) for j in range(6)}
    assert held == {j // 4 * 12 + i * 4 + j % 4: (i, j) for i, j in held.values()}
    for flat in range(24):
        assert layout.inv(flat) == held.get(flat, (-1, -1))
    assert layout.check() == (
        "18 indices: a bijection onto 18 of the positions 0..23, inv undoes apply"
    )


def test_a_problem_that_fills_the_memory_has_no_padding():
    assert not blocked(3, 8, 4).masks_inverse and blocked(3, 7, 4).masks_inverse


def test_symbols():
    n, m = symbols("n m")
    unit = generate(blocked(n, m, 4), "cpp")
    apply, inv = unit.functions
    for a, b in ((3, 6), (1, 1), (5, 8), (2, 9)):
        layout = blocked(a, b, 4)
        for i in range(a):
            for j in range(b):
                assert apply.evaluate({"n": a, "m": b, "i": i, "j": j})["flat"] == layout.apply(
                    i, j
                )
        for flat in range(layout.physical_size):
            assert tuple(inv.evaluate({"n": a, "m": b, "flat": flat}).values()) == layout.inv(flat)
    assert "? " not in unit.source.partition("layout_inv")[0]  # no index is masked


@pytest.mark.parametrize("a", ["a", 16])
def test_tiles_of_symbolic_sizes_take_a_division_an_index(a):
    n, m, b = symbols("n m b")
    rows = symbols(a) if a == "a" else a

    def tiles(n, m, a, b):
        p, q = (n + a - 1) // a, (m + b - 1) // b
        return Padded([n, m], GroupBy([a * p, b * q]).OrderBy(RegP([p, a, q, b], [0, 2, 1, 3])))

    unit = generate(tiles(n, m, rows, b), "cpp", name="tiles")
    apply, inv = unit.functions
    assert apply.op_count <= 11 and inv.op_count <= 21
    assert not any(
        "/ (" in said or "// (" in said for f in unit.functions for said in f.assumptions
    )
    for sizes in ((21, 13, 4), (16, 8, 8), (1, 5, 9), (33, 1, 1)):
        at = dict(zip("nmb", sizes, strict=True)) | ({"a": 3} if a == "a" else {})
        known = tiles(at["n"], at["m"], at.get("a", a), at["b"])
        for i, j in product(range(at["n"]), range(at["m"])):
            flat = known.apply(i, j)
            assert apply.evaluate({**at, "i": i, "j": j})["flat"] == flat
            assert tuple(inv.evaluate({**at, "flat": flat}).values()) == (i, j)


@pytest.mark.slow
def test_a_number_rounded_up_to_a_symbol_divides_nothing():
    b, m = symbols("b m")
    layout = GroupBy([3, b * ((9 + b - 1) // b)]).OrderBy(RegP([3, (9 + b - 1) // b, b], [1, 0, 2]))
    (apply, inv) = generate(Padded([3, 9], layout), "cpp", name="by_b").functions
    for n in (1, 2, 4, 5, 9, 12):
        numbers = blocked(3, 9, n)
        for i, j in product(range(3), range(9)):
            found = apply.evaluate({"b": n, "i": i, "j": j})["flat"]
            assert found == numbers.apply(i, j)
            assert tuple(inv.evaluate({"b": n, "flat": found}).values()) == (i, j)
    for more in (1, 5, 9):  # m + more is rounded up to m // 4 + 1, 2, 3 tiles
        functions = generate(blocked(3, m + more, 4), "cpp").functions
        assert not any("%" in said for f in functions for said in f.assumptions)
    (exact, _) = generate(GroupBy([m // b, b]), "cpp").functions
    assert exact.assumptions[0] == "m % b == 0"


def test_arrays():
    layout = blocked(3, 6, 4)
    assert layout[:, 5].tolist() == [13, 17, 21]
    rows, columns = layout.inv(np.arange(24))
    assert rows[13] == 0 and columns[13] == 5 and rows[14] == -1


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Padded([3], Col(2, 2)), "1 sizes and a layout of 2 dims"),
        (lambda: Padded([3, 2], Col(2, 2)), "size 0 is 3, and the layout has 2"),
        (lambda: Padded([2, 2], 5), "5 is not a layout"),
        (lambda: Padded(2, Col(2, 2)), "the sizes are 2; give a list"),
        (lambda: Padded([1, 2], Padded([1, 2], Col(2, 2))), "masks nothing"),
        (lambda: Padded([2], ExpandBy([3], [4], GroupBy([4]))), "masks nothing"),
        (lambda: Padded([2], Linear({"x": [(1, 0), (0, 1)]}, ["a", "b"])), "one position"),
        (lambda: OrderBy(Padded([1, 2], Col(2, 2))), "put the Padded around"),
        (lambda: blocked(3, 6, 4).inverse(), "Write a function"),
        (lambda: GroupBy([18]).OrderBy(blocked(3, 6, 4)), "put the Padded around"),
    ],
)
def test_bad_input(make, said):
    with pytest.raises((LayoutError, InverseError), match=said.replace("(", r"\(")):
        make()


def test_composition_goes_one_way():
    composed = Col(2, 12) @ blocked(3, 6, 4)
    assert composed.apply(2, 5) == Col(2, 12).apply(*divmod(21, 12)) and not composed.has_inverse


def test_a_size_that_is_rounded_up_costs_one_division():
    n, m = symbols("n m")
    source = generate(Padded([n, m], GroupBy([n, 4 * ((m + 3) // 4)])), "cpp").source
    assert "return 4 * ((m + 3) >> 2) * i + j;" in source
    assert "/// @param flat 0 <= flat < 4*n*((m - 1) / 4 + 1)\n" in source
    assert "@pre 0 <= flat" not in source

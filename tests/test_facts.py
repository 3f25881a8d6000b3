"""The paper's facts about its algebra, one by one, and the tables of its layouts.

facts.json holds every claim that was checked, with the verdict: true, or false for a misprint or a
contradiction, whose correction is then what is tested. Its permutations are 1-based, as printed.
"""

import json
import math
import runpy
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from lego_emit.algebra.genp import GenP, isqrt
from lego_emit.algebra.layout import GroupBy, OrderBy, TileBy, sigma
from lego_emit.algebra.masked import ExpandBy
from lego_emit.algebra.paper_definitions import reference_unravel
from lego_emit.algebra.perms import Col, RegP, Row
from lego_emit.algebra.reference import table
from lego_emit.errors import IndexRangeError, LayoutError

HERE = Path(__file__).parent
GIVEN = json.loads((HERE / "facts.json").read_text())
FACTS = {fact["id"]: fact for fact in GIVEN["facts"]}
LAYOUTS = {layout["id"]: layout for layout in GIVEN["layouts"]}

UNTESTED = {
    "lean_scatter": "about the authors' Lean code",
    "lean_fulllayout": "about the authors' Lean code",
    "authors_antidiag": "compares the authors' Python with Fig. 7; Fig. 7 itself is tested",
    "authors_antidiag_inv": "compares the authors' Python with Fig. 7; Fig. 7 itself is tested",
    "ops_31_9": "counts operations in two listings of the paper",
}

TESTS = {}


def fact(*ids):
    def register(function):
        for name in ids:
            assert name not in TESTS
            TESTS[name] = function
        return function

    return register


def antidiag(n, i, j):
    """Fig. 7, with / read as integer division."""
    antidg = i + j + 1
    if antidg <= n:
        return i + antidg * (antidg - 1) // 2
    antidg = 2 * n - antidg
    gauss = antidg * (antidg - 1) // 2
    return n * n - n + i - gauss


def antidiag_inv(n, x0):
    """Fig. 7, with its undefined x read as xx."""
    s = n * (n + 1) // 2
    xx = x0 if x0 < s else n * n - 1 - x0
    antidg = isqrt(2 * xx)
    antidg += xx >= antidg * (antidg + 1) // 2
    i = xx - antidg * (antidg - 1) // 2
    j = antidg - i - 1
    return (i, j) if x0 < s else (n - 1 - i, n - 1 - j)


def antidiagonal(n):
    return GenP([n, n], partial(antidiag, n), partial(antidiag_inv, n))


def reverse(i, j):
    return (2 - i) * 2 + (1 - j)


def reverse_inv(flat):
    return 2 - flat // 2, 1 - flat % 2


REVERSE = GenP([3, 2], reverse, reverse_inv)
FIG2 = GroupBy([6, 4]).OrderBy(RegP([2, 2], [1, 0]), REVERSE)
O2 = OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3]))
O1 = OrderBy(RegP([2, 2], [1, 0]), antidiagonal(3))
FIG6_MID = GroupBy([6, 6]).OrderBy(O2)
FIG6 = GroupBy([6, 6]).OrderBy(O2).OrderBy(O1)
FIG8 = GroupBy([2, 2, 2, 2, 2]).OrderBy(RegP([2, 2, 2, 2, 2], [4, 1, 3, 2, 0]))


def same(one, other):
    return table(one).tolist() == table(other).tolist()


def strided(dims, strides):
    return [sum(map(lambda i, s: i * s, index, strides)) for index in np.ndindex(*dims)]


def is_affine(block):
    origin = block.apply([0] * len(block.dims))
    units = np.eye(len(block.dims), dtype=int)
    steps = [
        block.apply(unit.tolist()) - origin if n > 1 else 0
        for unit, n in zip(units, block.dims, strict=True)
    ]
    return table(block).tolist() == [origin + p for p in strided(block.dims, steps)]


def shape_of(name):
    return tuple(int(n) for n in name.split("_")[-1].split("x"))


@fact("fig2_flat")
def fig2_flat(_):
    assert GroupBy([6, 4]).apply(4, 1) == 17


@fact("fig2_apply")
def fig2_apply(given):
    assert FIG2.apply([4, 1]) == given["computed"]


@fact("fig2_inv")
def fig2_inv(given):
    assert FIG2.inv(6) == tuple(given["computed"])


@fact("fig2_4d")
def fig2_4d(_):
    assert GroupBy([2, 2, 3, 2]).inv(6) == (0, 1, 0, 0)


@fact("fig2_tile")
def fig2_tile(given):
    assert GroupBy([2, 2], [3, 2]).inv(17) == tuple(given["computed"])


@fact("fig2_reshape_not_spatial")
def fig2_reshape_not_spatial(_):
    assert FIG2.apply(4, 1) == 6
    assert OrderBy(RegP([2, 2], [1, 0]), REVERSE).apply(4 // 3, 1 // 2, 4 % 3, 1 % 2) == 8


@fact("fig2_paren")
def fig2_nested_form_with_balanced_parentheses(_):
    assert GroupBy([6, 4], OrderBy(RegP([2, 2], [1, 0]), REVERSE)) == FIG2


@fact("fig6_26")
def fig6_26(_):
    assert GroupBy([6, 6]).apply(4, 2) == 26


@fact("fig6_23")
def fig6_23(given):
    flat, index = given["computed"]
    assert FIG6_MID.apply(4, 2) == flat
    assert GroupBy([2, 2, 3, 3]).inv(flat) == tuple(index)


@fact("fig6_15")
def fig6_15(given):
    flat, index = given["computed"]
    assert FIG6.apply(4, 2) == flat
    assert GroupBy([2, 2, 3, 3]).inv(flat) == tuple(index)


@fact("fig6_inv")
def fig6_inv(given):
    assert FIG6.inv(15) == tuple(given["computed"])


@fact("chain_order")
def dots_are_application_order(given):
    assert GroupBy([6, 6], O1, O2) == FIG6
    assert FIG6.apply(4, 2) == 15
    assert GroupBy([6, 6], O2, O1).apply(4, 2) == given["computed"]


@fact("nw_layout")
def nw_is_one_antidiagonal(_):
    n = 16 + 1
    buffer = TileBy([n, n]).OrderBy(antidiagonal(n))
    assert table(buffer).tolist() == [antidiag(n, i, j) for i, j in np.ndindex(n, n)]


@fact("sigma_dq_2x3", "sigma_dq_3x2")
def sigma_is_as_printed(given):
    assert [k + 1 for k in sigma(*shape_of(given["id"]))] == given["computed"]


@fact("sigma_gather")
def sigma_is_a_gather(_):
    labels = [f"{dim}{level}" for level in (1, 2, 3) for dim in (1, 2)]
    gathered = [labels[k] for k in sigma(2, 3)]
    assert gathered == ["11", "12", "13", "21", "22", "23"]
    dims = (2, 3, 1, 2, 3, 2)
    shape = [dims[k] for k in sigma(2, 3)]
    want = np.arange(72).reshape(shape).transpose(np.argsort(sigma(2, 3)))
    assert want.ravel().tolist() == table(RegP(dims, sigma(2, 3))).tolist()


@fact(*(name for name in FACTS if name.startswith("tileby_")))
def tileby_is_row_major_in_the_untiled_array(given):
    tiles = LAYOUTS[given["id"].removesuffix("_rowmajor")]["tiles"]
    rank = len(tiles[0])
    full = [math.prod(tile[k] for tile in tiles) for k in range(rank)]
    layout = TileBy(*tiles)
    for index in np.ndindex(*layout.dims):
        levels = np.reshape(index, (len(tiles), rank))
        at = [
            np.ravel_multi_index(tuple(levels[:, k]), [tile[k] for tile in tiles])
            for k in range(rank)
        ]
        assert layout.apply(index) == np.ravel_multi_index(at, full)


@fact(*(name for name in FACTS if name.startswith("col_printed_")))
def the_printed_col_is_the_inverse_permutation(given):
    n = shape_of(given["id"])
    printed = RegP(n[::-1], range(len(n))[::-1])
    assert np.argsort(table(printed)).tolist() == table(Col(*n)).tolist()
    assert same(printed, Col(*n)) is given["holds"]


@fact(*(name for name in FACTS if name.startswith("col_fixed_")))
def col_is_column_major(given):
    n = shape_of(given["id"])
    want = np.arange(math.prod(n)).reshape(n[::-1]).T
    assert table(GroupBy(n).OrderBy(Col(n))).tolist() == want.ravel().tolist()


@fact("tileorderby_fig6")
def tileorderby_gives_fig6(_):
    assert same(GroupBy([6, 6]).TileOrderBy(RegP([2, 2], [1, 0]), antidiagonal(3)), FIG6)


@fact("tileorderby_literal")
def tileorderby_as_printed_drops_its_perms(_):
    back = np.argsort(sigma(2, 2)).tolist()
    literal = GroupBy([6, 6]).OrderBy(RegP([2, 3, 2, 3], back))
    assert same(literal, FIG6_MID) and not same(literal, FIG6)


@fact("tileorderby_typo")
def tileorderby_does_not_apply_its_perms_first(_):
    back = np.argsort(sigma(2, 2)).tolist()
    assert not same(GroupBy([6, 6]).OrderBy(O1).OrderBy(RegP([2, 3, 2, 3], back)), FIG6)


@fact("fig8_grid")
def fig8_grid_is_column_major(_):
    grid = GroupBy([4, 8]).OrderBy(Col(4, 8))
    assert table(grid).tolist() == [r + 4 * c for r, c in np.ndindex(4, 8)]
    assert grid[0, :].tolist() == [0, 4, 8, 12, 16, 20, 24, 28] and grid[3, 7] == 31


@fact("fig8_table1")
def fig8_is_its_cute_layout(given):
    assert table(FIG8).tolist() == given["computed"]
    assert table(FIG8).tolist() == strided(FIG8.dims, (1, 8, 2, 4, 16))


@fact("fig8_tiles")
def fig8_tiles_are_contiguous_in_neither_dimension(given):
    for tile in product(range(2), range(2)):
        cells = sorted((p % 4, p // 4) for p in FIG8[(*tile, *[slice(None)] * 3)].ravel().tolist())
        assert [list(cell) for cell in cells] == given["tiles"][str(tile)]
        for axis in range(2):
            used = sorted({cell[axis] for cell in cells})
            assert used != list(range(used[0], used[-1] + 1))


@fact("fig8_as_4x8")
def fig8_has_no_4x8_view(given):
    view = GroupBy([4, 8]).OrderBy(*FIG8.chain)
    assert table(view).reshape(4, 8).tolist() == given["computed"]
    assert not same(view, Col(4, 8))


@fact("table1_row1")
def table1_row1(_):
    for m, k, bm, bk in ((12, 20, 3, 5), (8, 8, 4, 2), (6, 4, 6, 1)):
        layout = TileBy([m // bm, k // bk], [bm, bk]).OrderBy(Row(m, k))
        assert table(layout).tolist() == strided(layout.dims, (k * bm, bk, k, 1))


@fact("table1_6mid_apply")
def table1_6mid_apply_has_another_cute_layout(_):
    assert table(FIG6_MID).tolist() != strided((2, 2, 3, 3), (18, 3, 6, 1))
    assert table(FIG6_MID).tolist() == strided((2, 3, 2, 3), (18, 3, 9, 1))


@fact("table1_6mid_inv")
def table1_6mid_is_inv(_):
    flat = GroupBy([6, 6]).apply(*FIG6_MID.inv(np.arange(36)))
    assert flat.tolist() == strided((2, 2, 3, 3), (18, 3, 6, 1))


@fact("table1_12b")
def table1_12b_is_the_identity(_):
    r, t = 3, 4
    layout = GroupBy([r, r], [t, t]).OrderBy(Row(r * t, r * t))
    assert table(layout).tolist() == strided(layout.dims, (r * t * t, t * t, t, 1))
    assert table(layout).tolist() == list(range(r * r * t * t))


BRICKS = TileBy([3, 3, 3], [2, 2, 2]).OrderBy(Row(3, 3, 3), Row(2, 2, 2))


@fact("table1_12c_printed")
def table1_12c_under_figs_4_and_5_is_row_major(_):
    dims = [3, 3, 3, 2, 2, 2]
    printed = GroupBy(dims).OrderBy(RegP(dims, sigma(3, 2))).OrderBy(Row(3, 3, 3), Row(2, 2, 2))
    assert same(printed, TileBy([3, 3, 3], [2, 2, 2])) and not same(printed, BRICKS)


@fact("table1_12c_tileorderby")
def table1_12c_is_a_tileorderby(_):
    n, b = 6, 2
    strides = (n**2 * b, n * b**2, b**3, b**2, b, 1)
    assert table(BRICKS).tolist() == strided(BRICKS.dims, strides)


@fact("authors_tileby_implicit")
def orderby_under_tileby_is_tileorderby(_):
    perms = Row(3, 3, 3), Row(2, 2, 2)
    assert BRICKS == TileBy([3, 3, 3], [2, 2, 2]).TileOrderBy(*perms)
    assert BRICKS == OrderBy(*perms).TileBy([3, 3, 3], [2, 2, 2])
    perms = Col(2, 3), Row(3, 2)
    assert not same(GroupBy([6, 6]).OrderBy(*perms), GroupBy([6, 6]).TileOrderBy(*perms))


def triton_grouped(pid, rows, columns, group):
    in_group = group * columns
    first = pid // in_group * group
    size = min(rows - first, group)
    return first + pid % in_group % size, pid % in_group // size


@fact("grouped_pid_8_6_4", "grouped_pid_8_6_8", "grouped_pid_12_5_3")
def grouped_pid_is_tritons(given):
    m, n, g = map(int, given["id"].split("_")[2:])
    layout = TileBy([m, n]).OrderBy(Col(m // g, 1), Col(g, n))
    assert [layout.inv(pid) for pid in range(m * n)] == [
        triton_grouped(pid, m, n, g) for pid in range(m * n)
    ]


@fact("grouped_pid_ragged")
def grouped_pid_with_a_ragged_group_is_a_genp(given):
    order = given["table"]
    inverse = [order.index(flat) for flat in range(60)]
    ragged = GenP(
        [10, 6],
        lambda i, j: inverse[i * 6 + j],
        lambda pid: triton_grouped(pid, 10, 6, 4),
    )
    layout = GroupBy([10, 6]).OrderBy(ragged)
    assert GroupBy([10, 6]).apply(*layout.inv(np.arange(60))).tolist() == order


@fact("antidiag_bijective", "antidiag_inv_xx")
def antidiag_is_a_bijection_that_its_mended_inverse_inverts(_):
    for n in range(1, 41):
        block = antidiagonal(n)  # refuses what is no bijection
        assert sorted(table(block).tolist()) == list(range(n * n))
        assert all(block.apply(block.inv(flat)) == flat for flat in range(n * n))


@fact("antidiag_order")
def antidiag_numbers_antidiagonals_in_order(_):
    for n in range(1, 9):
        cells = sorted(np.ndindex(n, n), key=lambda cell: (sum(cell), cell[0]))
        assert [antidiagonal(n).inv(flat) for flat in range(n * n)] == cells


@fact("antidiag_inv_as_printed")
def antidiag_inv_as_printed_is_refused(_):
    def printed(n, x0):
        return math.floor(math.sqrt(2 * x))  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(LayoutError, match=r"inv\(0\) raised NameError"):
        GenP([3, 3], partial(antidiag, 3), partial(printed, 3))


def antidiag_inv_of_x0(n, x0):
    s = n * (n + 1) // 2
    xx = x0 if x0 < s else n * n - 1 - x0
    antidg = isqrt(2 * x0)
    antidg += xx >= antidg * (antidg + 1) // 2
    i = xx - antidg * (antidg - 1) // 2
    j = antidg - i - 1
    return (i, j) if x0 < s else (n - 1 - i, n - 1 - j)


@fact("antidiag_inv_x0")
def antidiag_inv_with_x0_is_refused(_):
    wrong = [
        (n, flat)
        for n in range(1, 41)
        for flat in range(n * n)
        if antidiag(n, *antidiag_inv_of_x0(n, flat)) != flat
    ]
    assert len(wrong) == 10222 and wrong[:3] == [(3, 8), (4, 13), (4, 14)]
    with pytest.raises(LayoutError, match=r"inv\(6\) gives \(3, -1\)"):
        GenP([3, 3], partial(antidiag, 3), partial(antidiag_inv_of_x0, 3))


@fact("antidiag_sqrt_double")
def antidiag_sqrt_in_double_is_isqrt(_):
    assert all(math.floor(math.sqrt(2 * x)) == isqrt(2 * x) for x in range(40 * 41 // 2))


@fact("antidiag_sqrt_float32")
def antidiag_sqrt_in_float_needs_one_correction(_):
    k = np.arange(1, 46341)
    for xx in (k * (k - 1) // 2, k * (k - 1) // 2 + k // 2, k * (k + 1) // 2 - 1):
        root = np.floor(np.sqrt((2 * xx).astype(np.float32))).astype(np.int64)
        root += xx >= root * (root + 1) // 2
        assert np.array_equal(root, k)


EXPANDED = {
    "expandby_5x7": ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2])),
    "expandby_10": ExpandBy([10], [12], TileBy([3], [4])),
    "expandby_7x9": ExpandBy([7, 9], [8, 12], TileBy([2, 3], [4, 4])),
    "expandby_3x3x5": ExpandBy([3, 3, 5], [4, 4, 6], TileBy([2, 2, 3], [2, 2, 2])),
}


@fact(*EXPANDED)
def expandby_numbers_the_elements_in_bounds(given):
    layout = EXPANDED[given["id"]]
    for index in np.ndindex(*layout.dims):
        at = np.unravel_index(layout.layout.apply(index), layout.n_prime)
        if all(i < n for i, n in zip(at, layout.n, strict=True)):
            assert layout.apply(index) == np.ravel_multi_index(at, layout.n)
            assert layout.inv(layout.apply(index)) == index
        else:
            assert layout.apply(index) == -1
    count = math.prod(layout.n)
    assert sorted(p for p in table(layout).tolist() if p >= 0) == list(range(count))


PACKED = GroupBy([6, 8]).OrderBy(RegP([3, 2, 4, 2], [0, 2, 1, 3]))


@fact("expandby_masks_physical")
def expandby_masks_the_physical_side_unless_asked_otherwise(given):
    inside = [i < 5 and j < 7 for i, j in np.ndindex(6, 8)]
    kept = table(ExpandBy([5, 7], [6, 8], PACKED)) >= 0
    masked = [index for index, i, k in zip(np.ndindex(6, 8), inside, kept, strict=True) if i > k]
    assert len(masked) == 5
    assert sum(k > i for i, k in zip(inside, kept, strict=True)) == 5
    assert all(tuple(index) in masked for index in given["example_masked"])
    logical = ExpandBy([5, 7], [6, 8], PACKED, guard="logical")
    assert (table(logical) >= 0).tolist() == inside


@fact("expandby_grammar")
def expandby_states_its_side_conditions(_):
    with pytest.raises(LayoutError, match="more than n_prime"):
        ExpandBy([7, 7], [6, 8], PACKED)
    with pytest.raises(LayoutError, match=r"6\*9 = 54"):
        ExpandBy([5, 7], [6, 9], PACKED)


@fact("broadcast_injective")
def broadcasts_and_gaps_have_no_inverse(_):
    assert table(GroupBy([4, 8]).OrderBy(GenP([4, 8], lambda i, j: i))).tolist() == [
        i for i, _ in np.ndindex(4, 8)
    ]
    assert table(GroupBy([4]).OrderBy(GenP([4], lambda i: 2 * i))).tolist() == [0, 2, 4, 6]
    with pytest.raises(LayoutError, match="not a bijection"):
        GenP([4, 8], lambda i, j: i, lambda flat: (flat, 0))
    with pytest.raises(LayoutError, match=r"gives 4, outside 0\.\.3"):
        GenP([4], lambda i: 2 * i, lambda flat: flat // 2)


@fact("affine_single")
def one_orderby_of_regp_is_affine(_):
    for perm in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        assert is_affine(OrderBy(RegP([2, 3, 4], perm), Col(3, 2)))


@fact("affine_single_logical")
def one_orderby_of_regp_is_not_affine_in_a_coarser_view(_):
    assert is_affine(O2) and not is_affine(FIG6_MID)


@fact("affine_two")
def two_orderbys_of_regp_need_not_be_affine(_):
    assert not is_affine(GroupBy([6, 4]).OrderBy(Col(6, 4)).OrderBy(Col(3, 8)))


@fact("cute_all_strided")
def strides_that_are_no_bijection_are_refused(_):
    for dims, strides in (((4, 4), (5, 1)), ((4, 4), (1, 1)), ((4, 8), (0, 1)), ((4, 4), (-4, 1))):

        def place(i, j, strides=strides):
            return i * strides[0] + j * strides[1]

        def back(flat, dims=dims):
            return divmod(flat, dims[1])

        with pytest.raises(LayoutError, match=r"not a bijection|inv must undo apply"):
            GenP(dims, place, back)
        assert table(GenP(dims, place)).tolist() == strided(dims, strides)


SIGNED = range(-9, 10)
TABLE_II = {
    "t2_1": lambda d, q, r: d == 0 or (d * q + r) % d == r % d,
    "t2_2a": lambda d, q, r: not 0 <= r < d or (d * q + r) // d == q,
    "t2_2b": lambda d, q, r: d == 0 or (d * q + r) // d == q + r // d,
    "t2_3": lambda d, x, _: d <= 0 or (x % d) // d == 0,
    "t2_4": lambda a, x, _: not 0 <= x < a or x // a == 0,
    "t2_5": lambda a, x, _: not 0 <= x < a or x % a == x,
    "t2_6": lambda n, y, _: (n + y) // 1 == n + y // 1,
    "t2_7": lambda a, x, _: a == 0 or a * (x // a) + x % a == x,
}


@fact(*TABLE_II)
def table_ii_holds_for_floor_division(given):
    assert all(TABLE_II[given["id"]](*values) for values in product(SIGNED, repeat=3))


@fact("binv_lead")
def an_unreduced_leading_digit_is_caught(_):
    assert reference_unravel((6, 4), 25) == (6, 1)
    with pytest.raises(IndexRangeError, match=r"25, outside 0\.\.23"):
        GroupBy([6, 4]).inv(25)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.quick(4)
def test_fact(name):
    TESTS[name](FACTS[name])


def test_every_fact_is_tested_or_says_why_not():
    assert set(TESTS) | set(UNTESTED) == set(FACTS)
    assert not set(TESTS) & set(UNTESTED)


def from_spec(spec):
    if "ExpandBy" in spec:
        n, n_prime, inner = spec["ExpandBy"]
        return ExpandBy(n, n_prime, from_spec(inner))  # type: ignore[arg-type]
    layout = GroupBy(*spec["GroupBy"])
    for step in spec["chain_in_application_order"]:
        layout = layout.OrderBy(*map(perm_from_spec, step["OrderBy"]))
    return layout


def perm_from_spec(spec):
    ((name, (dims, what)),) = spec.items()
    if name == "RegP":
        return RegP(dims, [k - 1 for k in what])
    return REVERSE if what.startswith("reverse") else antidiagonal(dims[0])


def as_golden(name):
    return runpy.run_path(str(HERE.parent / "golden" / name / "layout.py"))["layout"]


def test_every_layout_has_a_golden_case():
    cases = {path.parent.name for path in (HERE.parent / "golden").glob("*/layout.py")}
    assert set(LAYOUTS) <= cases


@pytest.mark.parametrize("source", ["spec", "golden"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layout(name, source):
    given = LAYOUTS[name]
    layout = from_spec(given["spec"]) if source == "spec" else as_golden(name)
    assert list(layout.dims) == given["logical_shape"]
    assert table(layout).tolist() == given["table"]
    indices = list(np.ndindex(*layout.dims))
    assert [layout.apply(index) for index in indices] == given["table"]
    assert all(
        layout.inv(flat) == index
        for index, flat in zip(indices, given["table"], strict=True)
        if flat >= 0
    )
    flat = np.arange(layout.physical_size)
    assert layout.apply(*layout.inv(flat)).tolist() == flat.tolist()
    if "inverse_table" in given:
        back = GroupBy(layout.dims).apply(*layout.inv(flat))
        assert back.tolist() == given["inverse_table"]

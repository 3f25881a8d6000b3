"""layout.check(): a line that says what holds, an error with a counterexample."""

import numpy as np
import pytest

from lego_emit import Col, ExpandBy, GenP, GroupBy, OrderBy, Row, TileBy, symbols
from lego_emit.errors import LayoutError
from lego_emit.show.compare import compare

M, N, BM, BN = symbols("M N BM BN")


def sound(n):
    return "a bijection onto 0.." + str(n - 1) + ", inv undoes apply"


@pytest.mark.parametrize(
    ("layout", "line"),
    [
        (GroupBy([6, 4]).OrderBy(Col(6, 4)), f"24 indices: {sound(24)}"),
        (TileBy([2, 2], [3, 3]), f"36 indices: {sound(36)}"),
        (Row(4, 5), f"20 indices: {sound(20)}"),
        (OrderBy(Col(2, 3), Row(4)), f"24 indices: {sound(24)}"),
        (
            ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2])),
            f"35 indices: {sound(35)}; 13 are masked",
        ),
        (
            ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]), guard="logical"),
            "35 indices: a bijection onto 35 of the positions 0..47, inv undoes apply; "
            "13 are masked",
        ),
        (
            GroupBy([3, 2]).OrderBy(GenP([3, 2], lambda i, j: i)),
            "6 indices: many-to-one, 3 positions in 0..2, no inverse; apply(0, 0) and "
            "apply(0, 1) both give 0",
        ),
        (
            GroupBy([5]).OrderBy(GenP([5], lambda i: 2 * i)),
            "5 indices: injective into 0..8, no inverse",
        ),
    ],
)
def test_the_line(layout, line):
    assert layout.check() == line


def test_sizes_are_fixed():
    layout = TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))
    assert layout.check(M=12, N=20, BM=3, BN=5) == f"240 indices: {sound(240)}"
    with pytest.raises(
        LayoutError, match=r"BN, M have no number.*check\(BM=.., BN=.., M=.., N=..\)"
    ):
        layout.check(BM=3, N=4)
    with pytest.raises(LayoutError, match=r"no size is called BMM.*Did you mean 'BM'\?"):
        layout.check(M=12, N=20, BMM=3, BN=5)
    with pytest.raises(LayoutError, match="make the products equal"):
        layout.check(M=12, N=20, BM=5, BN=5)
    with pytest.raises(LayoutError, match=r"the size .* has no value with .* a division by zero"):
        layout.check(M=12, N=20, BM=0, BN=5)
    with pytest.raises(LayoutError, match="it has none"):
        Row(3).check(M=3)


@pytest.mark.slow
def test_a_wrong_inverse_is_found_where_samples_miss_it():
    """A large GenP is only sampled when it is made, and where its functions' own numbers are."""
    size, wrong = 2**17, 70001

    def apply(i):
        return i

    def inv(p):
        return p if p != wrong else wrong - 1

    layout = GroupBy([size]).OrderBy(GenP([size], apply, inv))
    with pytest.raises(
        LayoutError, match=r"apply\(70001\) gives 70001 but inv\(70001\) gives \(70000\)"
    ):
        layout.check()


def test_two_layouts_are_compared():
    row, col = GroupBy([4, 6]).OrderBy(Row(4, 6)), GroupBy([4, 6]).OrderBy(Col(4, 6))
    same = compare(row, GroupBy([4, 6]))
    assert same and str(same) == "equal at all 24 indices"
    found = compare(row, col)
    assert not found and found.differ == 22
    assert found.first[0] == "apply[0, 1]: 1 -> 4"
    tiled = GroupBy([4, 6]).OrderBy(Row(4, 6)), TileBy([2, 2], [2, 3])
    text = str(compare(*tiled))
    assert "of 24 indices differ" in text
    bricks = GroupBy([12, 20]).OrderBy(Row(12, 20))
    packed = TileBy([4, 4], [3, 5]).OrderBy(Row(12, 20))
    text = str(compare(packed, GroupBy([4, 4, 3, 5])))
    assert text.endswith("runs of 5 to 10 elements, 5 in the median; lego_emit.copy emits it")
    with pytest.raises(LayoutError, match=r"has 240 elements and .* has 24"):
        compare(bricks, row)
    many = GroupBy([4, 6]).OrderBy(GenP([4, 6], lambda i, j: i))
    assert compare(row, many).runs is None


def test_runs_of_masked_layouts():
    logical = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]), guard="logical")
    physical = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))
    assert np.sum(compare(physical, logical).runs) == 35

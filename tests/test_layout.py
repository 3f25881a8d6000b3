"""The layout algebra's blocks and their evaluation on integers and arrays."""

import copy
import math
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass
from functools import partial

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from lego_emit import Linear, generate, symbols
from lego_emit.algebra import bijection, block
from lego_emit.algebra.genp import GenP, isqrt
from lego_emit.algebra.layout import ONE_WAY, GroupBy, OrderBy, TileBy
from lego_emit.algebra.masked import ExpandBy
from lego_emit.algebra.perms import Col, RegP, Row
from lego_emit.algebra.reference import table
from lego_emit.algebra.sizes import comparable
from lego_emit.errors import IndexRangeError, InverseError, LayoutError, WidthError
from lego_emit.trace import layouts as symbolic_side


def reverse(i, j):
    return (2 - i) * 2 + (1 - j)


def reverse_inv(flat):
    return 2 - flat // 2, 1 - flat % 2


def flip(i):
    """Bits of a 4-element tile swapped, written with an `if`."""
    if i == 1:
        return 2
    if i == 2:
        return 1
    return i


REVERSE = GenP([3, 2], reverse, reverse_inv)
PACKED = GroupBy([6, 8]).OrderBy(RegP([3, 2, 4, 2], [0, 2, 1, 3]))
PLAIN = GroupBy([6, 4])


# -- values --------------------------------------------------------------------------------------

PRINTED = [
    "Row(6, 4)",
    "Row(5)",
    "Col(2, 3, 4)",
    "RegP([2, 3, 4], [0, 2, 1])",
    "GenP([3, 2], reverse, reverse_inv)",
    "GenP([3, 2], reverse)",
    "OrderBy(Col(2, 2), GenP([3, 2], reverse, reverse_inv))",
    "OrderBy(Row(6, 4)).OrderBy(Col(3, 8))",
    "GroupBy([6, 4])",
    "GroupBy([2, 2], [3, 2])",
    "GroupBy([6, 4]).OrderBy(Col(6, 4)).OrderBy(Col(3, 8))",
    "GroupBy([6, 4]).TileOrderBy(Col(2, 2), Row(3, 2))",
    "TileBy([4, 5], [8, 6]).OrderBy(Col(32, 30))",
    "TileBy([3, 3], [2, 2]).OrderBy(Row(3, 3), Col(2, 2))",
    "ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))",
    "ExpandBy([5, 7], [6, 8], GroupBy([6, 8]), guard='logical')",
]


@pytest.mark.parametrize("text", PRINTED)
def test_a_block_prints_as_the_expression_that_makes_it(text):
    block = eval(text)
    assert repr(block) == text
    assert eval(repr(block)) == block
    assert hash(eval(repr(block))) == hash(block)


def test_functions_print_by_name():
    n = 4
    block = GenP([4], partial(lambda n, i: n - 1 - i, n), inv=lambda x: 3 - x)
    assert repr(block) == "GenP([4], partial(<lambda>, 4), <lambda>)"


def test_different_blocks_differ():
    blocks = [eval(text) for text in PRINTED]
    assert len(set(blocks)) == len(blocks)
    assert all((a == b) is (a is b) for a in blocks for b in blocks)
    assert Row(2, 3) != (2, 3)


def test_a_tileby_is_no_groupby_as_its_orderby_means_another_thing():
    by_hand = GroupBy([3, 3], [2, 2]).OrderBy(RegP([3, 3, 2, 2], [0, 2, 1, 3]))
    tiled = TileBy([3, 3], [2, 2])
    assert tiled.chain == by_hand.chain and tiled != by_hand


def test_blocks_do_not_change():
    with pytest.raises(FrozenInstanceError):
        PLAIN.tiles = ((24,),)  # type: ignore[misc]
    dims = [6, 4]
    block = Row(dims)
    dims[0] = 5
    assert block.dims == (6, 4)


@pytest.mark.parametrize("text", [text for text in PRINTED if "GenP" not in text])
def test_blocks_can_be_copied_and_pickled(text):
    block = eval(text)
    assert copy.deepcopy(block) == block == pickle.loads(pickle.dumps(block))


def test_sizes_and_indices_may_be_numpy_integers():
    n = np.array([6, 4], dtype=np.uint8)
    block = GroupBy([n[0], n[1]]).OrderBy(RegP(list(n), list(np.array([1, 0]))))
    assert repr(block) == "GroupBy([6, 4]).OrderBy(Col(6, 4))"
    assert all(type(size) is int for size in block.dims)
    assert type(block.apply(np.int8(5), np.uint64(3))) is int


def test_dims_and_sizes():
    assert OrderBy(Col(2, 2), REVERSE).dims == (2, 2, 3, 2)
    assert (PLAIN.dims, PLAIN.size, GroupBy([2, 2], [3, 2]).dims) == ((6, 4), 24, (2, 2, 3, 2))
    padded = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))
    assert (padded.dims, padded.size, padded.physical_size) == ((3, 4, 2, 2), 48, 35)
    assert ExpandBy([5, 7], [6, 8], PACKED, guard="logical").physical_size == 48


# -- spellings -----------------------------------------------------------------------------------


def test_sizes_may_come_in_a_list_or_one_by_one():
    assert Row([2, 3]) == Row((2, 3)) == Row(2, 3)
    assert Col([2, 3]) == Col(2, 3)
    assert GroupBy(6, 4) == GroupBy([6, 4]) == GroupBy((6, 4))
    assert GroupBy([2, 2], [3, 2]) != GroupBy([2, 2, 3, 2])
    assert PLAIN.apply([4, 1]) == PLAIN.apply((4, 1)) == PLAIN.apply(4, 1) == 17


def test_logical_first_applies_in_the_order_of_the_dots():
    one, other = OrderBy(Col(6, 4)), OrderBy(Col(3, 8))
    chained = PLAIN.OrderBy(one).OrderBy(other)
    assert chained.chain == (one, other)
    assert chained == PLAIN.OrderBy(Col(6, 4)).OrderBy(Col(3, 8))
    assert chained.apply(1, 0) == other.apply(*GroupBy([3, 8]).inv(one.apply(1, 0)))


def test_physical_first_is_the_same_layout():
    one, other = OrderBy(Col(6, 4)), OrderBy(Col(3, 8))
    want = PLAIN.OrderBy(one).OrderBy(other)
    assert other.OrderBy(one).GroupBy([6, 4]) == want
    assert OrderBy(other).OrderBy(Col(6, 4)).GroupBy(6, 4) == want
    assert repr(other.OrderBy(one).GroupBy([6, 4])) == repr(want)
    assert OrderBy(Row(12, 20)).TileBy((4, 4), (3, 5)) == TileBy([4, 4], [3, 5]).OrderBy(
        Row(12, 20)
    )
    assert OrderBy(Row(3, 3), Col(2, 2)).TileBy([3, 3], [2, 2]) == TileBy(
        [3, 3], [2, 2]
    ).TileOrderBy(Row(3, 3), Col(2, 2))


def test_the_nested_form_applies_its_last_orderby_first():
    one, other = OrderBy(Col(6, 4)), OrderBy(Col(3, 8))
    want = PLAIN.OrderBy(one).OrderBy(other)
    assert GroupBy([6, 4], other, one) == GroupBy([6, 4], [other, one]) == want
    assert GroupBy([6, 4], other.OrderBy(one)) == want


def test_orderby_under_a_tileby_orders_tile_by_tile():
    tiled = TileBy([3, 3], [2, 2])
    perms = Col(3, 3), Row(2, 2)
    assert tiled.OrderBy(*perms) == tiled.TileOrderBy(*perms) == tiled.OrderBy(OrderBy(*perms))
    assert tiled.OrderBy(*perms).chain == (
        OrderBy(RegP([3, 3, 2, 2], [0, 2, 1, 3])),
        OrderBy(RegP([3, 2, 3, 2], [0, 2, 1, 3])),
        OrderBy(*perms),
    )
    assert tiled.OrderBy(Col(6, 6)).chain == (tiled.chain[0], OrderBy(Col(6, 6)))
    assert GroupBy([6, 6]).OrderBy(*perms).chain == (OrderBy(*perms),)


def test_tile_ranks_of_a_tileorderby_are_its_own():
    layout = TileBy([36]).OrderBy(Col(2, 3), Row(3, 2))
    assert sorted(table(layout).tolist()) == list(range(36))


# -- errors --------------------------------------------------------------------------------------

REFUSED = {
    "1-based permutation": (
        lambda: RegP([2, 3], [2, 1]),
        "RegP([2, 3], [2, 1]): the permutation looks 1-based, as in the paper; permutations are "
        "0-based here, write [1, 0]",
    ),
    "repeated in permutation": (
        lambda: RegP([2, 3], [0, 0]),
        "RegP([2, 3], [0, 0]): not a permutation of 0..1: 0 stands twice",
    ),
    "outside permutation": (
        lambda: RegP([2, 3], [0, 5]),
        "RegP([2, 3], [0, 5]): not a permutation of 0..1: 5 is outside",
    ),
    "permutation of another rank": (
        lambda: RegP([2, 3], [0, 1, 2]),
        "RegP([2, 3], [0, 1, 2]): 2 sizes and a permutation of 3; give as many of each",
    ),
    "permutation of floats": (
        lambda: RegP([2, 3], [0, 1.0]),  # type: ignore[list-item]
        "RegP([2, 3], [0, 1.0]): the permutation must be a list of integers, as in [1, 0]",
    ),
    "zero size": (lambda: Row(2, 0), "Row(2, 0): size 1 is 0; a size is at least 1"),
    "negative size": (lambda: Col(-2, 3), "Col(-2, 3): size 0 is -2; a size is at least 1"),
    "bool size": (
        lambda: GroupBy([6, True]),
        "GroupBy([6, True]): size 1 is True, a bool; a size is an integer or a symbol",
    ),
    "float size": (
        lambda: TileBy([6 / 2, 2], [2, 2]),
        "TileBy([3.0, 2], [2, 2]): size 0 is 3.0, a float; a size is an integer or a symbol; "
        "write // for integer division",
    ),
    "text size": (
        lambda: Row("M"),
        "Row('M'): size 0 is 'M', a str; a size is an integer or a symbol; symbols('M') makes one",
    ),
    "no list of sizes": (
        lambda: RegP(6, [0]),  # type: ignore[arg-type]
        "RegP(6, [0]): the sizes are 6; give a list, as in [6, 4]",
    ),
    "empty Row": (lambda: Row(), "Row(): give at least one size"),
    "empty tile": (lambda: GroupBy([]), "GroupBy([]): give at least one size"),
    "empty GroupBy": (
        lambda: GroupBy(),
        "GroupBy(): give at least one tile, as in GroupBy([6, 4])",
    ),
    "empty TileBy": (lambda: TileBy(), "TileBy(): give at least one tile, as in TileBy([6, 4])"),
    "empty OrderBy": (
        lambda: OrderBy(),
        "OrderBy(): give at least one RegP, Row, Col or GenP",
    ),
    "tiles and sizes": (
        lambda: GroupBy([2, 3], 4),
        "GroupBy([2, 3], 4): some tiles are lists and some are not; make all lists",
    ),
    "permutation as a tile": (
        lambda: GroupBy([6, 4], Row(6, 4)),
        "GroupBy([6, 4], Row(6, 4)): Row(6, 4) is not a tile; give reorderings with "
        "GroupBy(..).OrderBy(..)",
    ),
    "OrderBy of a tile": (
        lambda: OrderBy([6, 4]),  # type: ignore[arg-type]
        "OrderBy([6, 4]): [6, 4] is a list; OrderBy takes RegP, Row, Col and GenP blocks and "
        "other layouts, or one OrderBy",
    ),
    "sizes that do not multiply out": (
        lambda: PLAIN.OrderBy(Row(5, 5)),
        "GroupBy([6, 4]).OrderBy(Row(5, 5)): the GroupBy has 6*4 = 24 elements and "
        "OrderBy(Row(5, 5)) has 5*5 = 25; make the products equal",
    ),
    "TileBy sizes that do not multiply out": (
        lambda: TileBy([4, 4], [3, 5]).OrderBy(Row(12, 21)),
        "TileBy([4, 4], [3, 5]).OrderBy(Row(12, 21)): the TileBy has 4*4*3*5 = 240 elements and "
        "OrderBy(Row(12, 21)) has 12*21 = 252; make the products equal",
    ),
    "TileBy ranks": (
        lambda: TileBy([4, 4], [2]),
        "TileBy([4, 4], [2]): the tiles have 2, 1 dimensions; all tiles of a TileBy have the same "
        "number, write a size of 1 where a level does not tile (or use GroupBy for a mere "
        "reshape)",
    ),
    "TileOrderBy ranks": (
        lambda: TileBy([6, 6]).OrderBy(Row(3, 3), Row(4)),
        "TileBy([6, 6]).OrderBy(Row(3, 3), Row(4)): the perms have 2, 1 dimensions; ordering tile "
        "by tile needs the same number in each, write a size of 1 where a level does not tile (or "
        "use GroupBy and OrderBy)",
    ),
    "GenP without a function": (
        lambda: GenP([3], 5),  # type: ignore[arg-type]
        "GenP([3], ..): apply is 5; give a function",
    ),
    "GenP of floats": (
        lambda: GenP([4], lambda i: i / 1, lambda x: x),
        "GenP([4], <lambda>, <lambda>): apply(0) gives 0.0, a float, where an integer is wanted; "
        "write // for integer division, / gives floats",
    ),
    "GenP with an inv of floats": (
        lambda: GenP([4], flip, lambda x: x / 1),
        "GenP([4], flip, <lambda>): inv(0) gives 0.0, a float, where an integer is wanted; write "
        "// for integer division, / gives floats",
    ),
    "GenP of floats without inverse": (
        lambda: GenP([4], lambda i: i / 2),
        "GenP([4], <lambda>): apply(0) gives 0.0, a float, where an integer is wanted; write // "
        "for integer division, / gives floats",
    ),
    "GenP that collides": (
        lambda: GenP([2, 2], lambda i, j: min(i + j, 1), lambda x: (x // 2, x % 2)),
        "GenP([2, 2], <lambda>, <lambda>): apply(0, 1) and apply(1, 0) both give 1: not a "
        "bijection. Correct it, or leave inv out if it is meant to be many-to-one (section III-D)",
    ),
    "GenP that leaves its range": (
        lambda: GenP([4], lambda i: i + 1, lambda x: x - 1),
        "GenP([4], <lambda>, <lambda>): apply(3) gives 4, outside 0..3: not a bijection. Correct it, "
        "or leave inv out if it is meant to leave its range (section III-D)",
    ),
    "GenP with a wrong inv": (
        lambda: GenP([4], flip, lambda x: (x + 1) % 4),
        "GenP([4], flip, <lambda>): apply(0) gives 0 but inv(0) gives (1): inv must undo apply",
    ),
    "GenP with an inv out of range": (
        lambda: GenP([4], flip, lambda x: -1),
        "GenP([4], flip, <lambda>): inv(0) gives (-1,), outside its sizes",
    ),
    "GenP with an inv of another rank": (
        lambda: GenP([3, 2], reverse, lambda x: x),
        "GenP([3, 2], reverse, <lambda>): inv(5) gives 5; give a tuple of 2 integers",
    ),
    "GenP that raises": (
        lambda: GenP([3, 2], lambda i: i, lambda x: x),
        "GenP([3, 2], <lambda>, <lambda>): apply(0, 0) raised TypeError: ",
    ),
    "GenP without inverse in a chain": (
        lambda: GroupBy([4]).OrderBy(GenP([4], flip)).OrderBy(Row(4)),
        "GroupBy([4]).OrderBy(GenP([4], flip)).OrderBy(Row(4)): a GenP without inverse needs "
        "exactly one GroupBy followed by one OrderBy of the same shape, with that GenP alone "
        f"(section III-D); {ONE_WAY}",
    ),
    "GenP without inverse of another shape": (
        lambda: GroupBy([2, 2]).OrderBy(GenP([4], flip)),
        "GroupBy([2, 2]).OrderBy(GenP([4], flip)): a GenP without inverse needs exactly one "
        "GroupBy",
    ),
    "GenP without inverse under a TileBy": (
        lambda: TileBy([4]).OrderBy(GenP([4], flip)),
        "TileBy([4]).OrderBy(GenP([4], flip)): a GenP without inverse needs exactly one GroupBy",
    ),
    "GenP without inverse beside others": (
        lambda: OrderBy(Row(2), GenP([4], flip)),
        "OrderBy(Row(2), GenP([4], flip)): a GenP without inverse must stand alone in its OrderBy "
        f"(section III-D); {ONE_WAY}",
    ),
    "ExpandBy of no layout": (
        lambda: ExpandBy([5], [6], Row(6)),  # type: ignore[arg-type]
        "ExpandBy([5], [6], Row(6)): the third argument must be a GroupBy or a TileBy, "
        "such as GroupBy([6])",
    ),
    "ExpandBy that shrinks": (
        lambda: ExpandBy([7, 8], [6, 8], PACKED),
        f"ExpandBy([7, 8], [6, 8], {PACKED}): n is 7 on axis 0, more than n_prime, 6; n_prime is "
        "n rounded up to whole tiles",
    ),
    "ExpandBy of another size": (
        lambda: ExpandBy([5], [7], GroupBy([6])),
        "ExpandBy([5], [7], GroupBy([6])): n_prime has 7 elements and the layout has 6; make the "
        "products equal",
    ),
    "ExpandBy ranks": (
        lambda: ExpandBy([5, 1], [6], GroupBy([6])),
        "ExpandBy([5, 1], [6], GroupBy([6])): n has 2 dimensions and n_prime 1; give both the "
        "same number",
    ),
    "ExpandBy guard": (
        lambda: ExpandBy([5], [6], GroupBy([6]), guard="both"),
        "ExpandBy([5], [6], GroupBy([6])): guard is 'both'; give guard='physical' (Fig. 9) or "
        "guard='logical'",
    ),
    "ExpandBy without inverse": (
        lambda: ExpandBy([3], [4], GroupBy([4]).OrderBy(GenP([4], flip))),
        "ExpandBy([3], [4], GroupBy([4]).OrderBy(GenP([4], flip))): the layout must be a "
        f"bijection, give its GenP an inv, or {ONE_WAY}, which is -1 where this ExpandBy masks",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_layout_that_cannot_exist_is_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(LayoutError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_the_way_that_the_refusal_of_a_genp_without_inverse_names():
    """It stands for what was refused: a pitch of 8 behind tiles, and behind an ExpandBy's mask."""

    def f(position):
        return position // 6 * 8 + position % 6

    L = TileBy([2, 2], [2, 3]).OrderBy(Row(4, 6))
    with pytest.raises(LayoutError):
        L.OrderBy(GenP([24], f))
    assert ONE_WAY.endswith("GroupBy(L.dims).OrderBy(GenP(L.dims, lambda *i: f(L.apply(*i))))")
    pitched = eval(ONE_WAY.rpartition("position: ")[2], {**globals(), "L": L, "f": f})
    assert table(pitched).tolist() == [f(int(p)) for p in table(L)]
    assert pitched[1, 1, 1, 2] == 29


OUT_OF_RANGE = {
    "too large": (lambda: PLAIN.apply(6, 0), "GroupBy([6, 4]): index 0 is 6, outside 0..5"),
    "negative": (lambda: PLAIN[0, -1], "GroupBy([6, 4]): index 1 is -1, outside 0..3"),
    "too few": (lambda: PLAIN.apply(1), "GroupBy([6, 4]): 2 indices wanted, 1 given"),
    "too many": (lambda: PLAIN[1, 2, 3], "GroupBy([6, 4]): 2 indices wanted, 3 given"),
    "one wanted": (lambda: GroupBy([6]).apply(1, 2), "GroupBy([6]): 1 index wanted, 2 given"),
    "first in an array": (
        lambda: PLAIN.apply(0, np.array([[0, 3], [7, 9]])),
        "GroupBy([6, 4]): element (1, 0) of index 1 is 7, outside 0..3",
    ),
    "negative in an array": (
        lambda: PLAIN.apply(np.array([0, 1, -2]), 0),
        "GroupBy([6, 4]): element 2 of index 0 is -2, outside 0..5",
    ),
    "huge in an array": (
        lambda: PLAIN.apply(0, np.array([2**64 - 1], dtype=np.uint64)),
        f"GroupBy([6, 4]): element 0 of index 1 is {2**64 - 1}, outside 0..3",
    ),
    "inverse": (lambda: PLAIN.inv(24), "GroupBy([6, 4]): the flat index is 24, outside 0..23"),
    "negative inverse": (lambda: PLAIN.inv(-1), "GroupBy([6, 4]): the flat index is -1, outside"),
    "inverse of an array": (
        lambda: PLAIN.inv(np.arange(25)),
        "GroupBy([6, 4]): element 24 of the flat index is 24, outside 0..23",
    ),
    "inverse past the masked elements": (
        lambda: ExpandBy([5], [6], GroupBy([6])).inv(5),
        "ExpandBy([5], [6], GroupBy([6])): the flat index is 5, outside 0..4",
    ),
    "block": (lambda: Row(2, 3).apply(0, 3), "Row(2, 3): index 1 is 3, outside 0..2"),
    "float": (
        lambda: PLAIN.apply(1.0, 0),
        "GroupBy([6, 4]): index 0 is 1.0, a float; give an integer, an array of integers or a "
        "symbol",
    ),
    "bool": (lambda: PLAIN[True, 0], "GroupBy([6, 4]): index 0 is True, a bool; give"),
    "list": (lambda: PLAIN[[4, 1], 0], "GroupBy([6, 4]): index 0 is [4, 1], a list; give"),
    "array of floats": (
        lambda: PLAIN.apply(np.zeros(1), 0),
        "GroupBy([6, 4]): index 0 is array([0.]), an array of float64; give",
    ),
    "shapes": (
        lambda: PLAIN.apply(np.arange(2), np.arange(3)),
        "GroupBy([6, 4]): index arrays of shapes (2,), (3,) do not broadcast together",
    ),
    "an array where a size is a symbol": (
        lambda: GroupBy([*symbols("M N")]).apply(np.arange(2), 0),
        "GroupBy([M, N]): an index is an array, and a size or another index a symbol; give numbers",
    ),
    "no part of an axis": (
        lambda: PLAIN[0, 3:1],
        "GroupBy([6, 4]): axis 1 got the slice 3:1, which holds no index of 0..3",
    ),
    "no step": (
        lambda: PLAIN[::0, 0],
        "GroupBy([6, 4]): axis 0 got the slice ::0; a step is not 0",
    ),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_an_index_out_of_range_is_refused(name):
    ask, message = OUT_OF_RANGE[name]
    with pytest.raises(IndexRangeError) as caught:
        ask()
    assert str(caught.value).startswith(message)


def test_an_inverse_that_is_not_there_is_refused():
    layout = GroupBy([4, 8]).OrderBy(GenP([4, 8], lambda i, j: i))
    assert layout.apply(3, 7) == 3
    assert not layout.has_inverse
    for one in (layout, layout.chain[0], layout.chain[0].perms[0]):
        with pytest.raises(InverseError, match="has no inverse: its GenP was given without inv"):
            one.inv(0)


def test_a_layout_is_not_iterable():
    with pytest.raises(TypeError):
        iter(PLAIN)


def test_functions_must_be_values():
    @dataclass
    class Shift:
        by: int

        def __call__(self, i):
            return (i + self.by) % 4

    with pytest.raises(LayoutError, match=r"apply is .*Shift\(by=1\), which cannot be hashed"):
        GenP([4], Shift(1), Shift(3))


# -- the check of GenP ---------------------------------------------------------------------------


class Counted:
    """The identity, which notes what it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, i):
        self.calls.append(i)
        return i


def test_a_genp_is_checked_once():
    counted = Counted()
    GenP([5], counted, int)
    GenP([5], counted, int)
    assert counted.calls == [0, 1, 2, 3, 4]


def test_a_large_genp_is_checked_at_its_corners_and_elsewhere():
    n = 1000
    assert n * n > bijection.EXHAUSTIVE

    def row_major(i, j):
        return i * n + j

    GenP([n, n], row_major, lambda x: divmod(x, n))

    def wrong_at_a_corner(i, j):
        return 5 if (i, j) == (n - 1, 0) else i * n + j

    with pytest.raises(LayoutError, match=r"apply\(999, 0\) gives 5 but inv\(5\)"):
        GenP([n, n], wrong_at_a_corner, lambda x: divmod(x, n))
    with pytest.raises(LayoutError, match="inv must undo apply"):
        GenP([n, n], row_major, lambda x: (x // n, x % n // 2 * 2))


@pytest.mark.slow
def test_what_the_samples_missed_is_refused_when_it_is_met():
    n = 1000

    def nearly(i, j):
        return -1 if (i, j) == (500, 1) else i * n + j

    block = GenP([n, n], nearly, lambda x: divmod(x, n))
    with pytest.raises(LayoutError, match=r"apply\(500, 1\) gives -1, outside 0\.\.999999"):
        block.apply(500, 1)
    with pytest.raises(LayoutError, match=r"apply\(500, 1\) gives -1"):
        table(block)


@pytest.mark.deep
def test_corners_of_many_dimensions():
    dims = [2] * 20

    def flat(*index):
        return int("".join(map(str, index)), 2)

    block = GenP(dims, flat, lambda x: tuple(map(int, f"{x:020b}")))
    assert block.apply([1] * 20) == 2**20 - 1


def test_inv_of_one_dimension_may_be_an_int_or_a_tuple():
    assert GenP([4], flip, flip).inv(2) == GenP([4], flip, lambda x: (flip(x),)).inv(2) == (1,)


# -- integers and arrays -------------------------------------------------------------------------


@pytest.mark.parametrize("text", PRINTED)
def test_integers_and_arrays_agree(text):
    block = eval(text)
    if not hasattr(block, "dims"):
        block = block.GroupBy([6, 4])
    indices = list(np.ndindex(*block.dims))
    want = [block.apply(index) for index in indices]
    assert all(type(flat) is int for flat in want)
    got = block.apply(*np.array(indices).T)
    assert got.dtype == np.int64 and got.tolist() == want == table(block).tolist()
    grid = block.apply(*np.ogrid[tuple(slice(n) for n in block.dims)])
    assert grid.shape == block.dims and grid.ravel().tolist() == want
    if block.has_inverse:
        flat = np.arange(block.physical_size)
        back = block.inv(flat.reshape(1, -1))
        assert all(part.dtype == np.int64 and part.shape == (1, len(flat)) for part in back)
        assert list(zip(*(part[0].tolist() for part in back), strict=True)) == [
            block.inv(int(p)) for p in flat
        ]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64])
def test_arrays_of_any_integer_type(kind):
    layout = GroupBy([100, 100]).OrderBy(Col(100, 100))
    got = layout.apply(np.array([99], dtype=kind), np.array([98], dtype=kind))
    assert got.dtype == np.int64 and got.tolist() == [9899]


def test_empty_and_dimensionless_arrays():
    layout = GroupBy([6, 4]).OrderBy(Col(2, 2), REVERSE)
    empty = layout.apply(np.zeros((0, 3), dtype=int), 1)
    assert empty.shape == (0, 3) and empty.dtype == np.int64
    assert [part.shape for part in layout.inv(np.zeros(0, dtype=int))] == [(0,), (0,)]
    assert layout.apply(np.array(4), np.array(1)) == 6


def test_python_ints_know_no_limit_and_arrays_say_theirs():
    n = 2**40
    layout = GroupBy([n, n]).OrderBy(Col(n, n))
    assert layout.apply(1, n - 1) == (n - 1) * n + 1
    assert layout.inv((n - 1) * n + 1) == (1, n - 1)
    with pytest.raises(WidthError, match="more than an int64 array can number"):
        layout.apply(np.array([1]), 0)
    with pytest.raises(WidthError):
        layout.inv(np.array([1]))
    with pytest.raises(WidthError):
        layout[0, :]
    edge = GroupBy([2**31, 2**32 - 1])
    assert edge.apply(np.array([2**31 - 1]), 2**32 - 2).tolist() == [2**31 * (2**32 - 1) - 1]


def test_values_beyond_int64():
    block = GenP([3], lambda i: i * 2**62)
    assert block.apply(2) == 2**63
    with pytest.raises(WidthError, match="beyond int64"):
        block.apply(np.array([2]))


def test_user_functions_meet_python_ints_only():
    seen = set()

    def watched(i, j):
        seen.add((type(i), type(j)))
        return i * 2000 + j

    def watched_inv(x):
        seen.add((type(x), type(x)))
        return divmod(x, 2000)

    large = GenP([2000, 2000], watched, watched_inv)  # too large for a table
    flat = np.array([[5, 3_999_999], [5, 123_456]])
    assert large.apply(*large.inv(flat)).tolist() == flat.tolist()
    assert [part.shape for part in large.inv(flat[:0])] == [(0, 2), (0, 2)]
    small = GenP([4], flip, flip)
    assert small.apply(np.array([0, 1, 2, 3])).tolist() == [0, 2, 1, 3]
    assert small.inv(np.array([0, 1, 2, 3]))[0].tolist() == [0, 2, 1, 3]
    assert small.apply(np.int64(1)) == 2
    assert seen == {(int, int)}


def test_full_slices_give_arrays():
    layout = TileBy([2, 3], [4, 5]).OrderBy(Col(8, 15))
    got = layout[1, :, 2, :]
    assert got.dtype == np.int64 and got.shape == (3, 5)
    assert got.tolist() == [[layout[1, a, 2, b] for b in range(5)] for a in range(3)]
    assert layout[:, :, :, :].ravel().tolist() == table(layout).tolist()
    assert GroupBy([5])[:].tolist() == [0, 1, 2, 3, 4]
    assert layout[1, np.array([0, 2]), 2, 3].tolist() == [layout[1, 0, 2, 3], layout[1, 2, 2, 3]]
    padded = ExpandBy([10], [12], TileBy([3], [4]))
    assert padded[2, :].tolist() == [8, 9, -1, -1]


# -- ExpandBy ------------------------------------------------------------------------------------

EXPANDED = {
    "rows": ([5, 7], [6, 8], TileBy([3, 4], [2, 2])),
    "tiles": ([5, 7], [6, 8], TileBy([3, 4], [2, 2]).OrderBy(Col(3, 4), Row(2, 2))),
    "packed": ([5, 7], [6, 8], PACKED),
    "column": ([5, 7], [6, 8], GroupBy([6, 8]).OrderBy(Col(6, 8))),
    "whole": ([6, 8], [6, 8], PACKED),
    "reversed": ([5, 3], [6, 4], GroupBy([6, 4]).OrderBy(Col(2, 2), REVERSE)),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_the_physical_guard_masks_the_flat_result(name):
    n, n_prime, inner = EXPANDED[name]
    layout = ExpandBy(n, n_prime, inner)
    for index in np.ndindex(*inner.dims):
        at = np.unravel_index(inner.apply(index), n_prime)
        inside = at[0] < n[0] and at[1] < n[1]
        assert layout.apply(index) == (at[0] * n[1] + at[1] if inside else -1)
    assert [layout.apply(layout.inv(p)) for p in range(math.prod(n))] == list(range(math.prod(n)))


@pytest.mark.parametrize("name", EXPANDED)
def test_the_logical_guard_masks_the_index_in_the_untiled_array(name):
    n, n_prime, inner = EXPANDED[name]
    layout = ExpandBy(n, n_prime, inner, guard="logical")
    kept = 0
    for index in np.ndindex(*inner.dims):
        row, column = index[:2]
        if inner.tiled:
            row, column = row * 2 + index[2], column * 2 + index[3]
        inside = row < n[0] and column < n[1]
        kept += inside
        flat = inner.apply(index)
        assert layout.apply(index) == (flat if inside else -1)
        assert layout.inv(flat) == (index if inside else (-1,) * len(index))
    assert kept == math.prod(n)


# -- isqrt ---------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(st.integers(0, 2**63 - 1), min_size=1))
def test_isqrt_is_exact(values):
    assert isqrt(np.array(values)).tolist() == [math.isqrt(x) for x in values]


def test_isqrt_at_the_edges_of_squares():
    roots = [0, 1, 2, 94906265, 94906266, 94906267, 3037000498, 3037000499]
    values = [x for r in roots for x in (r * r - 1, r * r, r * r + 1) if x >= 0] + [2**63 - 1]
    assert isqrt(np.array(values)).tolist() == [math.isqrt(x) for x in values]
    assert isqrt(10**40) == 10**20
    assert type(isqrt(np.int64(10))) is int
    assert isqrt(np.array([[4, 9]], dtype=np.uint8)).tolist() == [[2, 3]]


def test_isqrt_refuses_what_has_no_integer_root():
    for value in (-1, np.array([4, -1])):
        with pytest.raises(LayoutError, match=r"isqrt\(-1\): only a non-negative integer"):
            isqrt(value)
    for value in (2.0, np.array([2.0]), True):
        with pytest.raises(LayoutError, match="give an integer, not a"):
            isqrt(value)
    with pytest.raises(WidthError, match="more than an int64 holds"):
        isqrt(np.array([2**63], dtype=np.uint64))


# -- symbols -------------------------------------------------------------------------------------


class Symbol:
    """The least that a symbolic size must be."""

    __lego_symbolic__ = True

    def __init__(self, name):
        self.name = self.key = name

    def __repr__(self):
        return self.name

    def __mul__(self, other):
        return Symbol(f"{self}*{other}")

    __rmul__ = __mul__

    def __eq__(self, other):
        raise AssertionError("a comparison of symbols is a question to the trace")

    def isqrt(self):
        return Symbol(f"isqrt({self})")


def test_symbolic_sizes_are_kept_and_compare_as_values():
    m, k = Symbol("m"), Symbol("k")
    layout = OrderBy(Row(m, k)).TileBy((4, k), (2, 3))
    assert repr(layout) == "TileBy([4, k], [2, 3]).OrderBy(Row(m, k))"
    assert layout == TileBy([4, Symbol("k")], [2, 3]).OrderBy(Row(Symbol("m"), Symbol("k")))
    assert layout != TileBy([4, m], [2, 3]).OrderBy(Row(m, k))
    assert len({layout, TileBy([4, k], [2, 3]).OrderBy(Row(m, k))}) == 1
    assert repr(Row(m, k).size) == "m*k"
    assert not layout.is_concrete and Row(2, 3).is_concrete
    assert repr(isqrt(m)) == "isqrt(m)"
    assert GenP([m, m], lambda i, j: 0).dims == (m, m)
    with pytest.raises(LayoutError, match="a table needs integer sizes"):
        table(layout)


def test_sympy_sizes():
    m, k = sympy.symbols("M K")
    layout = GroupBy([m // k, k]).OrderBy(Col(m // k, k))
    assert layout == GroupBy([m // k, k]).OrderBy(Col(m // k, k))
    assert layout.dims == (m // k, k)
    assert Row(sympy.Integer(4), 2) == Row(4, 2)


def test_symbols_go_to_the_symbolic_side(monkeypatch):
    asked = []
    for name in ("apply", "inv", "getitem"):
        stub = lambda block, values, name=name: asked.append((name, values))  # noqa: E731
        monkeypatch.setattr(symbolic_side, name, stub)
    m, i = Symbol("m"), Symbol("i")
    PLAIN.apply(i, 1)
    PLAIN.inv(i)
    _ = PLAIN[i, :]
    GroupBy([m]).apply(3)
    GroupBy([m]).inv(3)
    _ = GroupBy([m])[:]
    ExpandBy([m], [6], GroupBy([6])).apply(3)
    everything = slice(None)
    want = [
        ("apply", (i, 1)),
        ("inv", i),
        ("getitem", (i, everything)),
        ("apply", (3,)),
        ("inv", 3),
        ("getitem", (everything,)),
        ("apply", (3,)),
    ]
    assert repr(asked) == repr(want)
    with pytest.raises(IndexRangeError, match="2 indices wanted"):
        PLAIN.apply(i)
    with pytest.raises(IndexRangeError, match="got the slice 5:"):
        _ = PLAIN[i, 5:]


def test_the_reference_loads_neither_sympy_nor_the_symbolic_side():
    code = (
        "import sys; import lego_emit as l; assert 'numpy' not in sys.modules\n"
        "g = l.GroupBy([6, 4]).OrderBy(l.Col(6, 4)); assert g.apply(4, 1) == 10\n"
        "import lego_emit.algebra.reference as r; assert r.table(g).size == 24\n"
        "bad = {'sympy', 'z3', 'lego_emit.trace.layouts', 'lego_emit.arith.expr'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# -- random layouts against NumPy ----------------------------------------------------------------


@st.composite
def shapes(draw, size):
    """A list of sizes that multiply out to size, ones among them."""
    factors = []
    rest = size
    while rest > 1:
        factor = next(p for p in range(2, rest + 1) if rest % p == 0)
        factors.append(factor)
        rest //= factor
    dims = [1] * draw(st.integers(1, max(1, min(5, len(factors) + 1))))
    for factor in factors:
        dims[draw(st.integers(0, len(dims) - 1))] *= factor
    return dims


@st.composite
def perms(draw, dims):
    """A block over dims, and its memory: the logical flat index at each physical position."""
    size = math.prod(dims)
    if draw(st.integers(0, 3)):
        perm = draw(st.permutations(range(len(dims))))
        return RegP(dims, perm), np.arange(size).reshape(dims).transpose(perm).ravel()
    memory = np.array(draw(st.permutations(range(size))))
    place = np.argsort(memory).reshape(dims)
    block = GenP(
        dims,
        lambda *index: int(place[index]),
        lambda flat: tuple(map(int, np.unravel_index(memory[flat], dims))),
    )
    return block, memory


@st.composite
def orders(draw, size):
    """An OrderBy and its memory."""
    dims = draw(shapes(size))
    found, memory = [], np.zeros(1, dtype=int)
    while dims:
        count = draw(st.integers(1, len(dims)))
        block, inner = draw(perms(dims[:count]))
        found.append(block)
        memory = (memory[:, None] * len(inner) + inner[None, :]).ravel()
        dims = dims[count:]
    return OrderBy(*found), memory


@st.composite
def layouts(draw):
    """A GroupBy with its table, worked out by moving a NumPy array about."""
    size = draw(st.sampled_from([1, 2, 6, 12, 24, 30, 36, 60, 64, 72]))
    layout = GroupBy(draw(shapes(size)))
    memory = np.arange(size)
    for _ in range(draw(st.integers(0, 3))):
        order, inner = draw(orders(size))
        layout = layout.OrderBy(order)
        memory = memory[inner]
    return layout, np.argsort(memory)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(layouts())
def test_random_layouts_are_the_bijections_that_numpy_makes(drawn):
    layout, want = drawn
    assert table(layout).tolist() == want.tolist()
    indices = list(np.ndindex(*layout.dims))
    assert [layout.apply(index) for index in indices] == want.tolist()
    assert [layout.inv(int(flat)) for flat in want] == indices
    assert layout.apply(*layout.inv(np.arange(layout.size))).tolist() == list(range(layout.size))


@st.composite
def tilings(draw):
    rank, levels = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    tile = st.lists(st.integers(1, 3), min_size=rank, max_size=rank)
    return draw(st.lists(tile, min_size=levels, max_size=levels))


@pytest.mark.slow
@settings(deadline=None)
@given(tilings())
def test_random_tilings_are_the_bijections_that_numpy_makes(tiles):
    levels, rank = len(tiles), len(tiles[0])
    interleaved = [tiles[h][k] for k in range(rank) for h in range(levels)]
    level_major = [levels * k + h for h in range(levels) for k in range(rank)]
    untiled = np.arange(math.prod(interleaved)).reshape(interleaved).transpose(level_major)
    layout = TileBy(*tiles)
    assert table(layout).tolist() == untiled.ravel().tolist()
    # Packing the same tiles one after the other undoes the tiling.
    packed = layout.OrderBy(*(Row(tile) for tile in tiles))
    assert table(packed).tolist() == list(range(layout.size))


@pytest.mark.parametrize(
    "block_",
    [
        Row(3, 4),
        RegP([3, 4], [1, 0]),
        GenP([3, 2], reverse, reverse_inv),
        OrderBy(Col(2, 2)),
        Linear({"lane": [(0, 1), (0, 2)], "warp": [(1, 1)]}, out={"row": 2, "col": 4}),
        Linear({"lane": [1, 2], "warp": [4]}, out={"flat": 8}),
    ],
)
def test_every_block_takes_brackets(block_):
    last = tuple(n - 1 for n in block_.dims)
    assert block_[last] == block_.apply(*last)
    row = block_[1, :]
    every = block_.apply(1, np.arange(block_.dims[1]))
    assert np.array_equal(row, every)
    with pytest.raises(IndexRangeError, match="2 indices wanted, 1 given"):
        block_[1]
    with pytest.raises(TypeError):
        iter(block_)
    unit = generate(lambda: block_[1, :], "cpp")
    outputs = unit.functions[0].evaluate({"i": 1}).values()
    want = block_[1, 1]
    assert tuple(outputs) == (want if isinstance(want, tuple) else (want,))


# -- a kind of block of one's own ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Turned(block.Indexable):
    """Each row turned by its number, as any kind of block may be written."""

    dims: tuple

    def with_sizes(self, new):
        return Turned(tuple(map(new.size, self.dims)))

    def forward(self, numbers, index):
        n = numbers.size(self.dims[1])
        return n * index[0] + (index[0] + index[1]) % n

    def backward(self, numbers, flat):
        n = numbers.size(self.dims[1])
        return [flat // n, (flat % n - flat // n) % n]

    def reference_apply(self, index):
        return self.forward(Plain, index)

    def reference_inv(self, flat):
        return tuple(self.backward(Plain, flat))

    def _value(self):
        return comparable(self.dims)


class Plain:
    """Integers as they are."""

    @staticmethod
    def size(n):
        return n


def test_a_kind_of_block_of_ones_own():
    turned = Turned((4, 6))
    assert turned == Turned((4, 6)) != Turned((6, 4))
    assert turned[1, :].tolist() == [7, 8, 9, 10, 11, 6]
    assert "24" in turned.check()
    unit = generate(turned, "cpp")
    assert "Turned(dims=(4, 6))" in unit.source
    (flat,) = unit.functions[0].evaluate({"i": 3, "j": 5}).values()
    assert flat == turned.apply(3, 5)
    assert "M*N" in generate(Turned(symbols("M N")), "cpp").source


LEFT_OUT = {
    "with_sizes": lambda t: t.with_sizes(None),
    "forward": lambda t: generate(t, "cpp"),
    "backward": lambda t: generate(t, "cpp"),
    "reference_apply": lambda t: t.apply(1, 2),
    "reference_inv": lambda t: t.inv(3),
    "_value": hash,
    "__repr__": lambda t: generate(t, "cpp"),
}


@pytest.mark.parametrize("method", LEFT_OUT)
def test_a_kind_of_block_says_which_method_it_lacks(method):
    kind = type("Half", (Turned,), {method: getattr(block.Block, method)})
    words = rf"Half is a kind of block without {method}; write def {method}\(self"
    with pytest.raises(LayoutError, match=words):
        LEFT_OUT[method](kind((4, 6)))

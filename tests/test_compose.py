"""Layouts composed, inverted and compared, as functions; slices as NumPy takes them."""

import random
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from net.layouts import texts
from net.words import build

from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    LegoError,
    LegoWarning,
    Linear,
    RegP,
    Strided,
    TileBy,
    cute,
    generate,
    hardware,
    symbols,
)
from lego_emit.algebra.compose import Composed, Inverse
from lego_emit.emit import registry
from lego_emit.errors import IndexRangeError, InverseError, LayoutError
from lego_emit.pipeline import build_program
from lego_emit.trace.same import same_map

CPP = registry.printer("cpp")


def unflattened(dims, flat):
    return tuple(int(i) for i in np.unravel_index(flat, dims))


@pytest.mark.parametrize(
    "outer",
    [
        Strided((32, 64), (64, 1)),
        GroupBy([16, 32]).OrderBy(Col(16, 32)),
        Linear({"a": [1, 2, 4, 8, 16], "b": [32, 64, 128, 256]}, out={"flat": 512}),
    ],
)
def test_a_tile_of_a_larger_layout_is_told(outer):
    with pytest.warns(LegoWarning, match=r"go to its first 128 indices, row-major") as told:
        found = outer @ hardware.mma("c")
    assert told[0].filename == __file__
    assert "(16, 8), (m, n)) @ .." in str(told[0].message)
    assert "T[16*m + dim0, 8*n + dim1]" in str(told[0].message)
    assert found.apply(3, 9) == outer.apply(*unflattened(outer.dims, 10 * 8 + 3))


def test_what_has_more_positions_is_refused_once():
    a, c = hardware.mma("a"), hardware.mma("c")
    for outer, inner, way in [
        (c, a, "from one layout of a tensor to another goes A.invert_and_compose(B)"),
        (Strided((4, 8), (8, 1)), c, "enlarge the first, or compose it with a part of the second"),
    ]:
        with pytest.raises(LayoutError) as error:
            outer @ inner
        assert str(error.value).endswith(way) and str(error.value).count("Linear(") <= 2


def test_an_index_or_a_reshape_is_not_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fragment = hardware.mma("c")
        assert (Strided((16, 8), (64, 1)) @ fragment).apply(3, 9) == 10 * 64 + 3
        Strided((8, 16), (16, 1)) @ fragment
        Strided((4, 4, 8), (32, 8, 1)) @ fragment
        Strided((256, 1), (1, 1)) @ GroupBy([16, 8])
        GroupBy([*symbols("M N")]) @ fragment


def resized(layout, dims):
    """A layout of other dims and the same size: a view of it."""
    return GroupBy(list(dims)).OrderBy(layout)


@st.composite
def pairs(draw):
    """(outer, inner) of one size, each a random layout of numbers."""
    inner = build(draw(texts(False, calm=True))[0])
    assume(inner.size <= 4096)
    outer = build(draw(texts(False, calm=True))[0])
    if outer.size != inner.size:
        n = inner.size
        half = max(d for d in range(1, n + 1) if n % d == 0 and d * d <= n)
        outer = GroupBy([half, n // half]).OrderBy(Col(half, n // half))
    return outer, inner


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(pairs())
def test_composition_is_that_of_functions(pair):
    outer, inner = pair
    both = outer @ inner
    assert both.dims == inner.dims and both.has_inverse
    assert both.check()
    functions = build_program(both, CPP).functions
    rng = random.Random(1)
    for flat in {0, inner.size - 1, *(rng.randrange(inner.size) for _ in range(20))}:
        index = unflattened(inner.dims, flat)
        want = outer.apply(*unflattened(outer.dims, inner.apply(*index)))
        assert both.apply(*index) == want and both.inv(want) == index
        names = [p.name for p in functions[0].params]
        assert functions[0].evaluate(dict(zip(names, index, strict=True))) == {"flat": want}
    table = both.apply(*(i.ravel() for i in np.indices(inner.dims)))
    assert sorted(table.tolist()) == list(range(inner.size))
    assert same_map(both @ both.inverse(), GroupBy([inner.size]))
    assert same_map(resized(both, inner.dims), both)
    assert same_map(GroupBy(list(inner.dims)).OrderBy(inner).OrderBy(outer), both)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(texts(False, calm=True))
def test_the_inverse_is_a_layout(made):
    layout = build(made[0])
    assume(layout.size <= 4096)
    back = layout.inverse()
    assert back.dims == (layout.size,)
    assert same_map(layout @ back, GroupBy([layout.size]))
    for flat in {0, layout.size - 1, layout.size // 2}:
        assert unflattened(layout.dims, back.apply(flat)) == layout.inv(flat)
        assert back.inv(back.apply(flat)) == (flat,)
    assert same_map(back.inverse(), GroupBy([layout.size]).OrderBy(layout))


def test_over_symbols():
    M, N = symbols("M N")
    layout = GroupBy([M, N]).OrderBy(Col(M, N))
    assert same_map(layout.inverse() @ layout, GroupBy([M, N]))
    different = same_map(layout, GroupBy([M, N]))
    assert different.verdict is False and not different
    i, j = different.counterexample
    assert (i, j) != (0, 0)
    apply, inv = build_program(
        TileBy([M, N], [4, 1]) @ TileBy([M, N], [4, 1]).inverse(), CPP
    ).functions
    assert apply.op_count == inv.op_count == 0
    undecided = same_map(layout, GroupBy([N, M]))
    assert undecided.verdict is None and "not known to be equal" in str(undecided)


def test_what_is_not_the_same():
    a, b = GroupBy([6, 4]), GroupBy([6, 4]).OrderBy(Col(6, 4))
    found = same_map(a, b)
    assert found.counterexample == (0, 1) and a.apply(0, 1) != b.apply(0, 1)
    assert str(found) == "different maps: at (0, 1) 1 and 6"
    assert same_map(a, GroupBy([4, 6])).verdict is False
    assert same_map(a, GroupBy([24])).why == "one has 2 dims, the other 1"
    big = GroupBy([2**12, 2**12])
    assert same_map(big.OrderBy(RegP([2**12, 2**12], [1, 0])), big).verdict is False
    assert same_map(big.OrderBy(RegP([2**12, 2**12], [0, 1])), big).verdict is True


def test_composed_and_inverse_are_values():
    a, b = GroupBy([6, 4]), GroupBy([24]).OrderBy(Col(4, 6))
    assert a @ b == a @ b != b @ a and hash(a @ b) == hash(Composed(a, b))
    assert repr(a @ (b @ a)) == f"{a!r} @ ({b!r} @ {a!r})"
    assert repr((a @ b) @ a) == f"{a!r} @ {b!r} @ {a!r}"
    assert b.inverse() == Inverse(b) and b.inverse().inverse() is b
    assert eval(repr(a @ b.inverse())) == a @ b.inverse()


REFUSED = {
    "masked": (
        lambda: GroupBy([64]) @ ExpandBy([5], [8], GroupBy([8])),
        LayoutError,
        "gives -1 where it masks",
    ),
    "too many": (
        lambda: GroupBy([2, 2]) @ GroupBy([24]),
        LayoutError,
        r"GroupBy\(\[2, 2\]\) @ .* positions in 0..23, and the first takes 4",
    ),
    "unknown range": (
        lambda: GroupBy([16]) @ GenP([4], lambda i: i * i),
        LayoutError,
        "not known to lie in 0..15",
    ),
    "no layout": (lambda: GroupBy([16]) @ 3, LayoutError, "3 is not a layout"),
    "no inverse": (lambda: GenP([4], lambda i: i // 2).inverse(), InverseError, "has no inverse"),
    "inverse of a mask": (
        lambda: ExpandBy([5], [8], GroupBy([8])).inverse(),
        InverseError,
        "masks",
    ),
    "a product": (lambda: GroupBy([4]) * GroupBy([4]), LayoutError, "no such product"),
    "a mask in an order": (
        lambda: GroupBy([8]).OrderBy(ExpandBy([5], [8], GroupBy([8]))),
        LayoutError,
        "around the whole layout",
    ),
    "a step of 0": (lambda: GroupBy([8])[::0], IndexRangeError, "a step is not 0"),
    "no index": (lambda: GroupBy([8])[5:2], IndexRangeError, "holds no index of 0..7"),
    "no integer": (lambda: GroupBy([8])[1.5:], IndexRangeError, "are integers"),
    "a symbol's part": (
        lambda: GroupBy([symbols("M")])[:3],
        IndexRangeError,
        "a part that goes up to the end",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    make, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as raised:
        make()
    assert isinstance(raised.value, LegoError)


# -- slices --------------------------------------------------------------------------------------

SLICES = [slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(4, 0, -2)]


@pytest.mark.parametrize("rows, columns", list(product(SLICES, SLICES)))
@pytest.mark.quick(4)
def test_slices_are_those_of_numpy(rows, columns):
    layout = TileBy([3, 2], [2, 3])[:, :, :, :].reshape(6, 6)
    view = GroupBy([6, 6]).OrderBy(RegP([3, 2, 2, 3], [0, 2, 1, 3]))
    whole = view[:, :]
    assert layout.shape == whole.shape
    assert (view[rows, columns] == whole[rows, columns]).all()
    assert (view[2, columns] == whole[2, columns]).all()

    def kernel(x):
        return view[rows, columns] + x

    (function,) = build_program(kernel, CPP).functions
    want = whole[rows, columns]
    axes = [name for name, _ in function.axes]
    for index in np.ndindex(want.shape):
        values = {"x": 5, **dict(zip(axes, index, strict=True))}
        assert function.evaluate(values) == {"result": want[index] + 5}
    assert function.extents({"x": 5}) == want.shape


@pytest.mark.slow
@pytest.mark.parametrize("base", [0, 1])
def test_a_part_of_an_axis_whose_size_is_a_symbol(base, need):
    need("g++", "apt-get install g++")

    def kernel(M):
        return GroupBy([M, 6]).OrderBy(Col(M, 6))[1:, ::2]

    unit = generate(kernel, "cpp", base=base)
    assert unit.verify(sizes={"M": 7})
    (function,) = unit.functions
    assert function.extents({"M": 7}) == (6, 3)
    whole = GroupBy([7, 6]).OrderBy(Col(7, 6))[1:, ::2]
    for i, j in np.ndindex(whole.shape):
        got = function.evaluate({"M": 7, "i": i + base, "j": j + base})["result"]
        assert got == whole[i, j] + base


# -- a layout that is no bijection, next to the memory -------------------------------------------


@pytest.mark.slow
def test_strided_layouts_are_blocks_like_the_others(need):
    need("g++", "apt-get install g++")
    pitched = Strided((6, 4), (1, 8))
    view = TileBy([2, 2], [3, 2]).OrderBy(pitched)
    assert not view.has_inverse and view.physical_size == pitched.physical_size == 30
    for index in np.ndindex(view.dims):
        rows, columns = index[0] * 3 + index[2], index[1] * 2 + index[3]
        assert view.apply(*index) == rows + 8 * columns
    unit = generate(view, "cpp")
    assert unit.verify() and len(unit.functions) == 1
    assert unit.functions[0].result_range == "0 <= the result < 30"
    assert (GroupBy([64]) @ pitched).apply(2, 3) == 26
    rows = cute.layout("(8,8):(8,1)")
    swizzled = cute.composition(cute.Swizzle(3, 0, 3), rows)
    assert same_map(swizzled.inverse() @ GroupBy([8, 8]).OrderBy(swizzled), GroupBy([8, 8]))
    assert str(rows * cute.layout("2:1")) == str(cute.logical_product(rows, cute.layout("2:1")))
    for p in range(4):
        back = cute.layout("4:2").left_inverse()
        assert back(cute.layout("4:2")(p)) == p


def test_where_a_layout_without_inverse_may_stand():
    pitched = Strided((6, 4), (1, 8))
    for make, words in (
        (lambda: GroupBy([6, 4]).OrderBy(pitched).OrderBy(Col(6, 4)), "must be the last step"),
        (lambda: GroupBy([6, 4, 2]).OrderBy(pitched, Col(2)), "must stand alone"),
        (lambda: GroupBy([64]) @ Strided((4, 4), (-1, 4)), "not known to lie in 0..63"),
        (lambda: GroupBy([7]).OrderBy(pitched), "has 7 elements"),
        (lambda: ExpandBy([5, 4], [6, 4], GroupBy([6, 4]).OrderBy(pitched)), "bijection"),
    ):
        with pytest.raises(LayoutError, match=words):
            make()
    with pytest.raises(InverseError, match="has no inverse"):
        pitched.inverse()


@pytest.mark.slow
def test_a_tensor_in_memory_under_a_linear_layout(need):
    """Where a thread's register lies: the memory's layout after the hardware's."""
    need("g++", "apt-get install g++")
    fragment = Linear(
        {"register": [(0, 1), (8, 0)], "lane": [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]},
        out={"dim0": 16, "dim1": 8},
    )
    pitched = GroupBy([16, 8]).OrderBy(Strided((16, 8), (12, 1)))
    both = pitched @ fragment
    assert both.coordinates == ("register", "lane") and both.results is None
    for register, lane in np.ndindex(4, 32):
        row, column = fragment(register=register, lane=lane)
        assert both.apply(register, lane) == 12 * row + column
    assert generate(both, "cpp").verify()
    assert isinstance(fragment @ fragment.inverse(), Linear)
    assert same_map(fragment.right_inverse(), fragment.inverse())
    flat = fragment.flatten_outs()
    view = GroupBy([4, 32]).OrderBy(flat)
    assert same_map(view, flat) and generate(view, "cpp").verify()
    with pytest.raises(LayoutError, match=r"gives 'dim0', 'dim1', and memory has one"):
        GroupBy([4, 32]).OrderBy(fragment)
    half = Linear({"x": [1, 0]}, out={"y": 2})
    with pytest.raises(InverseError, match="has no inverse"):
        half.inverse()
    assert same_map(half @ half.right_inverse(), Linear({"y": [1]}, out={"y": 2}))
    with pytest.raises(InverseError, match="no right inverse: it reaches 2 of 4"):
        Linear({"x": [1]}, out={"y": 4}).right_inverse()

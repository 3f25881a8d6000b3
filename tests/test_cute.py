"""CuTe's operations: the laws they are defined by over random layouts, and the examples of CuTe's
documentation."""

import itertools
import random
import re

import pytest
from marks import rest_deep

from lego_emit import cute, generate, symbols
from lego_emit.errors import LayoutError

pytestmark = pytest.mark.slow

L = cute.layout


def leaves(tree):
    return [x for part in tree for x in leaves(part)] if isinstance(tree, tuple) else [tree]


def put(shape, flat):
    return tuple(put(part, flat) for part in shape) if isinstance(shape, tuple) else flat.pop(0)


def random_shape(draw, depth=2, sizes=(1, 2, 2, 3, 4, 6, 8)):
    if depth and draw.random() < 0.5:
        return tuple(random_shape(draw, depth - 1, sizes) for _ in range(draw.randint(1, 3)))
    return draw.choice(sizes)


def random_layout(draw, depth=2, injective=False):
    """Strides with gaps in a random order; some are 0, some arbitrary, unless it is injective."""
    shape = random_shape(draw, depth)
    while cute.size(shape) > 150:
        shape = random_shape(draw, depth)
    sizes = leaves(shape)
    strides, running = [0] * len(sizes), draw.choice([1, 1, 1, 2, 3])
    for k in draw.sample(range(len(sizes)), len(sizes)):
        strides[k] = running
        running *= sizes[k] * draw.choice([1, 1, 1, 2, 3])
    if not injective and draw.random() < 0.5:
        for k in range(len(sizes)):
            strides[k] = draw.choice([strides[k], 0, draw.randint(0, 12)])
    return L(shape, put(shape, strides))


def values(a):
    return [a(k) for k in range(a.size)]


def attempts(make, count=700, seed=0):
    """(arguments, result) of each attempt that is no refusal; at least a part is none."""
    draw, found = random.Random(seed), 0
    for _ in range(count):
        try:
            made = make(draw)
        except LayoutError:
            continue
        found += 1
        yield made
    assert found > count // 10, found


def test_coalesce():
    def make(draw):
        a = random_layout(draw)
        return a, cute.coalesce(a)

    for a, found in attempts(make):
        assert values(found) == values(a)
        flat = leaves(found.shape)
        assert len(flat) <= len(leaves(a.shape))
        assert found.rank == len(flat)
        assert cute.coalesce(found) == found
        for (n, d), (_, e) in itertools.pairwise(found.leaves):
            assert n * d != e
        if a.rank > 1:
            by_mode = cute.coalesce(a, (1,) * a.rank)
            assert by_mode.dims == a.dims
            assert values(by_mode) == values(a)


def test_composition():
    def make(draw):
        a, b = random_layout(draw), random_layout(draw)
        return a, b, cute.composition(a, b)

    for a, b, found in attempts(make, 2000):
        assert found.size == b.size
        assert values(found) == [a(p) for p in values(b)]
        assert compatible(b.shape, found.shape)


def compatible(a, b):
    """Whether b's nesting refines a's, of the same sizes."""
    if not isinstance(a, tuple):
        return cute.size(b) == a
    return isinstance(b, tuple) and len(a) == len(b) and all(map(compatible, a, b))


def test_composition_with_one_mode_names_it():
    draw = random.Random(8)
    refused = 0
    for _ in range(800):
        a = random_layout(draw, 1, injective=True)
        n, r = draw.choice([2, 3, 4, 6]), draw.randint(1, 8)
        try:
            assert values(cute.composition(a, L(n, r))) == [a(r * k) for k in range(n)]
        except LayoutError as error:
            refused += 1
            assert "mode 0" in str(error)
            assert not a.cosize == a.size or len(leaves(a.shape)) > 1
    assert refused > 10


def test_composition_by_mode():
    def make(draw):
        a = cute.make_layout(random_layout(draw, 1), random_layout(draw, 1))
        parts = tuple(draw.choice([None, random_layout(draw, 1)]) for _ in range(2))
        return a, parts, cute.composition(a, parts)

    for a, parts, found in attempts(make, 1000):
        for k, part in enumerate(parts):
            mode = cute.get(a, k)
            wanted = values(mode) if part is None else [mode(p) for p in values(part)]
            assert values(cute.get(found, k)) == wanted


def test_complement():
    def make(draw):
        a, target = random_layout(draw), draw.choice([1, 7, 24, 64, 1000])
        return a, target, cute.complement(a, target)

    for a, target, found in attempts(make):
        mine, others = set(values(a)), values(found)
        assert others == sorted(set(others))
        assert list(leaves(found.stride)) == sorted(leaves(found.stride))
        sums = [p + q for p in mine for q in others]
        assert len(set(sums)) == len(sums)  # disjoint
        moving = cute.filter(a)
        assert found.cosize + moving.cosize > target or moving.size * found.size >= target


def test_complement_fills_the_cotarget():
    """Where strides divide one another, all positions are reached once."""
    draw = random.Random(11)
    for _ in range(200):
        a = random_layout(draw, injective=True)
        target = a.cosize * draw.choice([1, 2, 5])
        found = cute.complement(a, target)
        both = sorted(p + q for p in values(a) for q in values(found))
        assert both == list(range(len(both)))
        assert len(both) >= target


def test_right_inverse():
    def make(draw):
        a = random_layout(draw, injective=draw.random() < 0.6)
        return a, cute.right_inverse(a)

    for a, found in attempts(make):
        assert [a(found(k)) for k in range(found.size)] == list(range(found.size))
        if sorted(values(a)) == list(range(a.size)):
            assert found.size == a.size


def test_left_inverse():
    def make(draw):
        a = random_layout(draw, injective=draw.random() < 0.8)
        return a, cute.left_inverse(a)

    for a, found in attempts(make):
        assert [found(p) for p in values(a)] == [of_moving(a, i) for i in range(a.size)]
        assert [a(found(p)) for p in values(a)] == values(a)


def of_moving(a, index):
    """The index with 0 in the modes of stride 0: its own where there are none."""
    below, found = 1, 0
    for n, d in a.leaves:
        found += index // below % n * below if d else 0
        below *= n
    return found


def signed(a, position):
    """a at a position, below 0 too, as C's division has it."""
    return a(position) if position >= 0 else 2 * a.offset - a(-position)


def test_composition_with_negative_strides():
    draw, tried = random.Random(35), [0, 0]
    for _ in range(4000):
        a, b = random_layout(draw, 1), random_layout(draw, 1)
        strides = [draw.choice([d, -d]) for d in leaves(b.stride)]
        lowest = sum(min(0, (n - 1) * d) for n, d in zip(leaves(b.shape), strides, strict=True))
        b = cute.Strided(b.shape, put(b.shape, strides), draw.choice([0, -lowest, 3 - lowest]))
        try:
            found = cute.composition(a, b)
        except LayoutError:
            continue
        assert values(found) == [signed(a, p) for p in values(b)], (a, b)
        assert compatible(b.shape, found.shape)
        if len(cute.coalesce(a).leaves) > 1 and min(leaves(b.stride)) < 0:
            tried[min(values(b)) < 0] += 1
    assert min(tried) > 50, tried


def random_swizzle(draw):
    bits = draw.choice([1, 1, 2, 3])
    shift = bits + draw.randint(0, 2)
    return cute.Swizzle(bits, draw.randint(0, 2), draw.choice([shift, shift, -shift]))


def swizzled_layout(draw):
    shape = random_shape(draw, 1, (1, 2, 4, 8, 8))
    sizes = leaves(shape)
    strides, running = [0] * len(sizes), 1
    for k in draw.sample(range(len(sizes)), len(sizes)):
        strides[k], running = running, running * sizes[k] * draw.choice([1, 1, 1, 2, 3])
    return cute.composition(random_swizzle(draw), L(shape, put(shape, strides)))


def test_composition_with_a_swizzled_layout():
    draw, found = random.Random(36), 0
    for _ in range(1500):
        b = swizzled_layout(draw)
        a = draw.choice([random_layout(draw, 1), swizzled_layout(draw).layout, L("(8,64):(64,1)")])
        a = cute.Strided(a.shape, a.stride, draw.choice([0, 0, 64, 3]))
        if draw.random() < 0.2:
            a = cute.composition(random_swizzle(draw), a)
        whole = draw.random() < 0.2
        try:
            made = cute.composition(a, b.swizzle if whole else b)
        except LayoutError:
            continue
        swizzled = [b.swizzle(k) for k in range(cute.size(a))]
        positions = swizzled if whole else values_of(b)
        assert values_of(made) == [a(p) for p in positions], (a, b, whole)
        found += isinstance(made, cute.Swizzled)
    assert found > 150, found


def values_of(a):
    return [a(k) for k in range(cute.size(a))]


def test_inverses_of_swizzled_layouts():
    draw, found = random.Random(37), [0, 0]
    for _ in range(1500):
        a = swizzled_layout(draw)
        for k, inverse in enumerate((cute.left_inverse, cute.right_inverse)):
            try:
                made = inverse(a)
            except LayoutError:
                continue
            if k:
                assert [a(made(p)) for p in range(cute.size(made))] == list(range(cute.size(made)))
            else:
                assert [made(p) for p in values_of(a)] == list(range(cute.size(a)))
            found[k] += isinstance(made, cute.Swizzled)
    assert min(found) > 100, found


def test_a_swizzle_and_its_inverse_are_no_swizzle():
    a = L("S<3,3,3> o 0 o (8,64):(64,1)")
    assert str(cute.composition(a, cute.right_inverse(a))) == "(64,8):(1,64)"
    assert str(cute.composition(cute.left_inverse(a), a)) == "(8,64):(1,8)"


@pytest.mark.parametrize(
    "text, tiler",
    [
        ("<4:2, (2,2):(1,4)>", (L("4:2"), L("(2,2):(1,4)"))),
        ("<_, 4>", (None, 4)),
        (" <(2,2):(4,1),4:1> ", (L("(2,2):(4,1)"), 4)),
        ("4:2", L("4:2")),
    ],
)
def test_a_tiler_as_text(text, tiler):
    a = L("(8,(4,4)):(1,(8,32))")
    operations = [cute.composition, *DIVIDES, *PRODUCTS]
    for operation in operations:
        assert operation(a, text) == operation(a, tiler)
    nested = "((8,4),16):((1,8),32)"
    assert cute.composition(nested, "<<4:2, _>, 8:2>") == cute.composition(
        nested, ((L("4:2"), None), L("8:2"))
    )


def test_nullspace_and_filter():
    def make(draw):
        a = random_layout(draw)
        return a, cute.nullspace(a), cute.filter(a)

    for a, null, kept in attempts(make):
        assert len(set(values(null))) == null.size
        assert {a(k) for k in values(null)} == {0}
        assert null.size * kept.size == a.size
        assert set(values(kept)) == set(values(a))
        assert 0 not in leaves(kept.stride) or kept.size == 1


DIVIDES = [cute.logical_divide, cute.zipped_divide, cute.tiled_divide, cute.flat_divide]
PRODUCTS = [cute.logical_product, cute.zipped_product, cute.tiled_product, cute.flat_product]


def test_logical_divide():
    def make(draw):
        a, b = random_layout(draw), random_layout(draw, 1, injective=True)
        return a, b, cute.logical_divide(a, b)

    for a, b, found in attempts(make):
        assert values(cute.get(found, 0)) == [a(p) for p in values(b)]
        rest = cute.complement(b, a.size)
        assert values(cute.get(found, 1)) == [a(p) for p in values(rest)]
        assert found.rank == 2
        if b.cosize * 1 <= a.size and a.size % (b.size * rest.size) == 0:
            assert sorted(values(found)) == sorted(values(a))


def test_logical_product():
    def make(draw):
        a, b = random_layout(draw, injective=True), random_layout(draw, 1)
        return a, b, cute.logical_product(a, b)

    for a, b, found in attempts(make):
        assert cute.get(found, 0) == a
        copies = cute.get(found, 1)
        assert compatible(b.shape, copies.shape)
        room = cute.complement(a, a.size * b.cosize)
        assert values(copies) == [room(p) for p in values(b)]
        if cute.filter(b).size == b.size and len(set(values(b))) == b.size:
            assert len(set(values(found))) == found.size


@pytest.mark.parametrize("count", rest_deep([30, 400]))
def test_divisions_by_mode_are_one_map(count):
    draw = random.Random(5)
    for _ in range(count):
        shape = (draw.choice([4, 8, 12]), draw.choice([4, 8, 16]), draw.choice([2, 3]))
        a = cute.make_ordered_layout(shape, tuple(draw.sample(range(3), 3)))
        tiler = (draw.choice([2, 4]), draw.choice([2, L(2, 2)]))
        logical, zipped, tiled, flat = (f(a, tiler) for f in DIVIDES)
        for i, j, k in itertools.product(*map(range, shape)):
            (tile0, rest0), (tile1, rest1) = (split(logical, m, c) for m, c in ((0, i), (1, j)))
            at = logical((tile0, rest0), (tile1, rest1), k)
            assert zipped((tile0, tile1), (rest0, rest1, k)) == at
            assert tiled((tile0, tile1), rest0, rest1, k) == at
            assert flat(tile0, tile1, rest0, rest1, k) == at
        assert sorted(values(flat)) == list(range(a.size))


def split(logical, mode, c):
    tile, _ = logical.shape[mode]
    return c % cute.size(tile), c // cute.size(tile)


def test_products_by_mode_are_one_map():
    a, tiler = L("(2,5):(5,1)"), (3, 4)
    logical, zipped, tiled, flat = (f(L((2, 5), (1, 2)), tiler) for f in PRODUCTS)
    assert zipped.shape == ((2, 5), (3, (2, 2)))
    assert tiled.shape == ((2, 5), 3, (2, 2))
    assert flat.shape == (2, 5, 3, (2, 2))
    for i, j, k, m in itertools.product(range(2), range(5), range(3), range(4)):
        at = logical((i, k), (j, m))
        assert at == zipped((i, j), (k, m)) == tiled((i, j), k, m) == flat(i, j, k, m)
    assert cute.blocked_product(a, "(3,4):(1,3)").dims == (6, 20)


def test_blocked_and_raked_product():
    draw = random.Random(6)
    for _ in range(300):
        m, n, p, q = (draw.choice([1, 2, 3, 4]) for _ in range(4))
        block = cute.make_ordered_layout((m, n), draw.choice([(0, 1), (1, 0)]))
        tiler = cute.make_ordered_layout((p, q), draw.choice([(0, 1), (1, 0)]))
        blocked, raked = cute.blocked_product(block, tiler), cute.raked_product(block, tiler)
        assert blocked.dims == raked.dims == (m * p, n * q)
        for i, j in itertools.product(range(m * p), range(n * q)):
            wanted = block(i % m, j % n) + block.size * tiler(i // m, j // n)
            assert blocked(i, j) == wanted
            wanted = block(i // p, j // q) + block.size * tiler(i % p, j % q)
            assert raked(i, j) == wanted


def test_tile_to_shape():
    draw = random.Random(7)
    for _ in range(300):
        m, n, p, q = (draw.choice([1, 2, 3, 4]) for _ in range(4))
        block = cute.make_ordered_layout((m, n), draw.choice([(0, 1), (1, 0)]))
        order = draw.choice([(0, 1), (1, 0)])
        found = cute.tile_to_shape(block, (m * p, n * q), order)
        assert found.dims == (m * p, n * q)
        tiler = cute.make_ordered_layout((p, q), order)
        for i, j in itertools.product(range(m * p), range(n * q)):
            assert found(i, j) == block(i % m, j % n) + block.size * tiler(i // m, j // n)


@pytest.mark.parametrize(
    "found, wanted",
    [
        # CuTe Layouts, and CuTe Layout Algebra (CUTLASS's documentation)
        (lambda: L((2, (2, 2)), (4, (2, 1))), "(2,(2,2)):(4,(2,1))"),
        (lambda: L((2, 4)), "(2,4):(1,2)"),
        (lambda: cute.coalesce("(2,(1,6)):(1,(6,2))"), "12:1"),
        (lambda: cute.coalesce("(2,(1,6)):(1,(6,2))", (1, 1)), "(2,6):(1,2)"),
        (lambda: cute.composition("(6,2):(8,2)", "(4,3):(3,1)"), "((2,2),3):((24,2),8)"),
        (lambda: cute.composition("20:2", "(5,4):(4,1)"), "(5,4):(8,2)"),
        (lambda: cute.composition("(10,2):(16,4)", "(5,4):(1,5)"), "(5,(2,2)):(16,(80,4))"),
        (lambda: cute.composition("(4,2,8):(3,12,97)", "3:3"), "3:9"),
        (
            lambda: cute.composition("(12,(4,8)):(59,(13,1))", (L("3:4"), L("8:2"))),
            "(3,(2,4)):(236,(26,1))",
        ),
        (
            lambda: cute.composition("(12,(4,8)):(59,(13,1))", (3, 8)),
            "(3,(4,2)):(59,(13,1))",
        ),
        (lambda: cute.complement("4:1", 24), "6:4"),
        (lambda: cute.complement("6:4", 24), "4:1"),
        (lambda: cute.complement("(4,6):(1,4)", 24), "1:0"),
        (lambda: cute.complement("4:2", 24), "(2,3):(1,8)"),
        (lambda: cute.complement("(2,4):(1,6)", 24), "3:2"),
        (lambda: cute.complement("(2,2):(1,6)", 24), "(3,2):(2,12)"),
        (lambda: cute.logical_divide("(4,2,3):(2,1,8)", "4:2"), "((2,2),(2,3)):((4,1),(2,8))"),
        (
            lambda: cute.logical_divide("(9,(4,8)):(59,(13,1))", (L("3:3"), L("(2,4):(1,8)"))),
            "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))",
        ),
        (
            lambda: cute.zipped_divide("(9,(4,8)):(59,(13,1))", (L("3:3"), L("(2,4):(1,8)"))),
            "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
        ),
        (lambda: cute.logical_product("(2,2):(4,1)", "6:1"), "((2,2),(2,3)):((4,1),(2,8))"),
        (
            lambda: cute.logical_product("(2,2):(4,1)", "(4,2):(2,1)"),
            "((2,2),(4,2)):((4,1),(8,2))",
        ),
        (
            lambda: cute.blocked_product("(2,5):(5,1)", "(3,4):(1,3)"),
            "((2,3),(5,4)):((5,10),(1,30))",
        ),
        (
            lambda: cute.raked_product("(2,5):(5,1)", "(3,4):(1,3)"),
            "((3,2),(4,5)):((10,5),(30,1))",
        ),
        (lambda: cute.left_inverse("4:2"), "(2,4):(0,1)"),
        (lambda: cute.left_inverse("(4,2):(1,0)"), "4:1"),
        (lambda: cute.left_inverse("(2,4,3):(0,2,8)"), "(2,12):(0,2)"),
        (lambda: cute.composition("(4,6):(1,10)", "2:-1"), "2:-1"),
        (lambda: cute.composition("(4,6):(1,10)", "4:-1 + 3"), "4:-1 + 3"),
        (
            lambda: cute.composition("(64,64):(64,1)", cute.Swizzle(3, 3, 3)),
            "S<3,0,-9> o 0 o (64,64):(64,1)",
        ),
        (
            lambda: cute.right_inverse("S<3,3,3> o 0 o (8,64):(64,1)"),
            "S<3,0,-6> o 0 o (64,8):(8,1)",
        ),
        (lambda: cute.nullspace("(2,3,4):(1,0,0)"), "(3,4):(2,6)"),
        (lambda: cute.make_ordered_layout((2, 3, 4), (2, 0, 1)), "(2,3,4):(12,1,3)"),
        (lambda: cute.filter("(2,3,4):(0,1,3)"), "12:1"),
        (lambda: cute.make_layout_like("(4,(2,3)):(0,(9,2))"), "(4,(2,3)):(0,(3,1))"),
        (lambda: cute.flatten("((4,8),2):((32,1),16)"), "(4,8,2):(32,1,16)"),
        (lambda: cute.group("(2,3,4):(1,2,6)", 0, 2), "((2,3),4):((1,2),6)"),
        (
            lambda: cute.composition(cute.Swizzle(3, 4, 3), "(8,64):(64,1)"),
            "S<3,4,3> o 0 o (8,64):(64,1)",
        ),
    ],
)
def test_documented(found, wanted):
    assert str(found()) == wanted


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: cute.composition("(4,6,8):(1,10,100)", "(2,6):(1,3)"), "in mode 1 the stride 3"),
        (lambda: cute.composition("(4,6,8):(1,10,100)", "(2,(2,6)):(1,(1,1))"), "mode 1.1 takes 4"),
        (
            lambda: cute.composition("(4,6):(1,10)", "(2,2):(-1,4)"),
            "in mode 0, and positions from -1",
        ),
        (lambda: cute.composition("(4,6):(1,10)", "4:1 + 2"), "disjoint digits"),
        (lambda: cute.composition("(4,6):(1,10)", "5:-1 + 5"), "which do not divide its size 5"),
        (lambda: cute.composition("(2,2,5):(1,12,144)", "(6,8):(2,1)"), "disjoint digits"),
        (lambda: cute.composition("4:1", (2, 2)), "the layout has 1"),
        (lambda: cute.logical_divide("(4,6):(1,10)", "3:1"), "the division does not exist"),
        (lambda: cute.zipped_divide("((4,6),8):((1,10),100)", (3, 2)), "mode 0"),
        (lambda: cute.zipped_divide("8:1", (2, 2)), "the layout has 1"),
        (lambda: cute.complement("(4,4):(1,2)", 16), "positions come twice"),
        (lambda: cute.complement("4:-1", 16), "-1 is not positive"),
        (lambda: cute.left_inverse("(2,2):(2,3)"), "does not divide 3"),
        (lambda: cute.right_inverse(off("4:1")), "starts at"),
        (lambda: cute.tile_to_shape("(4,4):(4,1)", (6, 8)), "mode 0 of size 4 does not divide 6"),
        (lambda: cute.tile_to_shape("(4,4):(4,1)", 8), "2 modes"),
        (lambda: cute.make_ordered_layout((2, 3), (0, (1, 2))), "not nested alike"),
        (lambda: cute.logical_divide("(M,N):(N,1)", (8, 8)), "whether 8 divides M is not known"),
        (lambda: cute.complement("S<3,4,3> o 0 o 8:1"), "not a layout of a shape and strides"),
        (lambda: cute.get("(2,3)", 2), "2 modes"),
        (lambda: cute.composition("(48,64):(64,1)", cute.Swizzle(3, 3, 3)), "the size 48"),
        (lambda: cute.composition("(16,64):(64,1)", cute.Swizzle(3, 3, 3)), "not next to each"),
        (lambda: cute.composition("(8,64):(-64,1)", cute.Swizzle(3, 3, 3)), "the stride -64"),
        (lambda: cute.composition(cute.Swizzle(3, 3, 3), "S<2,3,3> o 0 o 8:1"), "two swizzles"),
        (lambda: cute.right_inverse("S<1,0,2> o 0 o 7:1"), "does not keep the 7 positions"),
        (lambda: cute.logical_divide("(8,8)", "<4:1, <2>"), "is not a layout; write <4:2, 8:1>"),
        (lambda: cute.logical_divide("(8,8)", "<>"), "a part is empty"),
        (lambda: cute.logical_divide("(8,8)", "<" * 40 + "8" + ">" * 40), "32 deep"),
        (lambda: cute.slice_("(4,8):(8,1)", (None, 2)), "slice_((None, 2), '(4,8):(8,1)')"),
        (lambda: cute.slice_(L("(4,8):(8,1)"), None), "the coordinate goes first"),
        (
            lambda: cute.zipped_divide("(M,8):(8,1)", (4, 4)),
            "whether 4 divides M is not known; write M as a product, as in 4*K, or do it in a "
            "function that generate() is given, with assume=['M % 4 == 0']",
        ),
        (lambda: cute.logical_divide("M + 1:1", "N"), "assume=['(M + 1) % N == 0']"),
        (lambda: cute.complement("(4,M):(N,1)"), "with assume=['"),
        (lambda: cute.make_layout(), "give a shape and its strides, or layouts"),
        (lambda: cute.make_layout(4, 8, 2), "give a shape and its strides, or layouts"),
        (lambda: cute.make_layout((4, 8), (8,)), "not congruent"),
        (lambda: cute.make_layout(L("4"), stride=2), "it has strides"),
        (lambda: cute.layout((4, 8), ("a", 1)), "a symbol; symbols('a') makes one"),
    ],
)
def test_refused(make, says):
    with pytest.raises(LayoutError) as error:
        make()
    assert says in str(error.value)


def off(source):
    a = L(source)
    return cute.Strided(a.shape, a.stride, 3)


def test_offsets_are_kept():
    a = off("(4,6):(1,10)")
    assert cute.composition(a, "2:2")(1) == 5
    assert cute.coalesce(a).offset == 3
    assert cute.logical_divide(a, (2, 3))((1, 0), (0, 1)) == 3 + 1 + 30


@pytest.mark.parametrize(
    "found, wanted",
    [
        (lambda: cute.make_layout((4, 8), (8, 1)), "(4,8):(8,1)"),
        (lambda: cute.make_layout((4, 8), stride=(8, 1)), "(4,8):(8,1)"),
        (lambda: cute.make_layout((4, (2, 3))), "(4,(2,3)):(1,(4,8))"),
        (lambda: cute.make_layout(8, 2), "8:2"),
        (lambda: cute.make_layout("4:2", "8:1"), "(4,8):(2,1)"),
        (lambda: cute.make_layout(L("4:2"), 8), "(4,8):(2,1)"),
        (lambda: cute.make_layout("4:2"), "(4):(2)"),
    ],
)
def test_make_layout_takes_a_shape_with_strides_or_layouts(found, wanted):
    assert str(found()) == wanted


def test_text_is_read_where_a_layout_is_looked_at():
    text = "((4,8),2):((32,1),16)"
    assert (cute.size(text), cute.rank(text), cute.cosize(text)) == (64, 2, 120)
    assert str(cute.complement("4:2", "(4,6)")) == "(2,3):(1,8)"
    assert str(cute.slice_((None, 2), "(4,8):(8,1)")) == "4:8 + 2"


# -- symbols -------------------------------------------------------------------------------------


def test_symbols():
    M, N = symbols("M N")
    assert str(cute.composition(L((M, N), (N, 1)), L(N, M))) == "N:1"
    assert str(cute.right_inverse(L((M, N), (N, 1)))) == "(N,M):(M,1)"
    a = cute.zipped_divide("(8*M,8*K):(8*K,1)", (2, 4))
    assert str(a) == "((2,4),(4*M,2*K)):((8*K,1),(16*K,4))"
    assert str(cute.complement(L(M, N), M * N)) == "N:1"
    assert str(cute.logical_product(L((4, 8)), L(M, 1))) == "((4,8),M):((1,4),32)"


def test_an_assumption_that_a_message_names_is_a_way_out():
    def tile(M, r, t):
        return cute.zipped_divide(L((M, 8), (8, 1)), (4, 4))((r, 0), (t, 1))

    with pytest.raises(LayoutError) as error:
        generate(tile, "cpp")
    (assumption,) = re.findall(r"assume=\['(.*?)'\]", str(error.value))
    unit = generate(tile, "cpp", assume=[assumption])
    assert unit.functions[0].evaluate({"M": 8, "r": 3, "t": 1}) == {"result": (3 + 4) * 8 + 4}


def test_facts_of_the_running_trace():
    def tiled(M, N, row, tile):
        a = cute.zipped_divide(L((M, N), (N, 1)), (8, 16))
        return a((row, 3), (tile, 0))

    unit = generate(tiled, "cpp", assume=["M % 8 == 0", "N % 16 == 0"])
    numbers = {"M": 16, "N": 32, "row": 5, "tile": 1}
    function = unit.functions[0]
    given = {p.name: numbers[p.name] for p in function.params}
    assert list(function.evaluate(given).values()) == [(8 + 5) * 32 + 3]


def test_emitted_results():
    for a in [
        cute.zipped_divide("(8,12):(12,1)", (4, 3)),
        cute.raked_product("(2,5):(5,1)", "(3,4):(1,3)"),
        cute.composition(cute.Swizzle(2, 0, 3), cute.tile_to_shape("(8,4):(4,1)", (16, 8))),
    ]:
        unit = generate(a, "cpp")
        m, n = a.dims
        for i, j in itertools.product(range(m), range(n)):
            assert unit.functions[0].evaluate({"i": i, "j": j}) == {"flat": a(i, j)}
        if a.has_inverse:
            for k in range(a.size):
                assert tuple(unit.functions[1].evaluate({"flat": k}).values()) == a.inv(k)

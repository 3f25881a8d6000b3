"""Tiles, partitions, coordinates, tiled copies and MMAs, other widths: each from its definition."""

import itertools
import random

import pytest
from test_cute import L, random_layout, values

from lego_emit import Linear, cute, generate, hardware, symbols
from lego_emit.errors import IndexRangeError, InverseError, LayoutError

pytestmark = pytest.mark.slow

# SM80_16x8x16_F32F16F16F32_TN, CUTLASS's include/cute/atom/mma_traits_sm80.hpp
ATOM = cute.MMAAtom(
    (16, 8, 16),
    "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "((4,8),(2,2)):((16,1),(8,64))",
    "((4,8),(2,2)):((32,1),(16,8))",
)


def test_an_atom_of_the_hardwares_fragments():
    assert cute.MMAAtom.of(*(hardware.mma(operand) for operand in "abc")) == ATOM
    for a, b, c in [
        *([hardware.mma(w, bits) for w in "ab"] + [hardware.mma("d")] for bits in (4, 8, 32, 64)),
        [hardware.mfma(w) for w in "abc"],
        [hardware.wmma(w) for w in "abd"],
    ]:
        atom = cute.MMAAtom.of(a, b, c)
        m, n, _ = atom.shape_mnk
        for lane, value in itertools.product(range(atom.threads), range(a.in_dims["register"])):
            row, column = a(register=value, lane=lane)
            assert atom.layout_a(lane, value) == row + m * column
        for lane, value in itertools.product(range(atom.threads), range(b.in_dims["register"])):
            row, column = b(register=value, lane=lane)
            assert atom.layout_b(lane, value) == column + n * row
        assert Linear.of(atom.layout_c).rank == c.rank


def test_an_atom_over_four_warps():
    a, d = hardware.wgmma("a"), hardware.wgmma("d")
    b = Linear(
        {"register": [(k, 0) for k in (1, 2, 4, 8)], "lane": [(0, 1), (0, 2), (0, 4)]}
        | {"warp": [(0, 0)] * 4},
        out={"dim0": 16, "dim1": 8},
    )
    atom = cute.MMAAtom.of(a, b, d)
    assert atom.threads == 128 and str(atom.layout_c) == "((4,8,4),(2,2)):((128,1,16),(64,8))"


def random_matrix(draw, m, n):
    kind = draw.randrange(3)
    if kind == 0:
        return cute.make_ordered_layout((m, n), draw.choice([(0, 1), (1, 0)]))
    if kind == 1:
        return cute.Strided((m, n), (n + draw.randint(0, 3), 1), draw.randint(0, 5))
    found = cute.make_ordered_layout((m, n), (1, 0))
    return cute.composition(cute.Swizzle(draw.randint(0, 2), draw.randint(0, 2), 2), found)


def test_local_tile():
    draw = random.Random(1)
    for _ in range(300):
        m, n, p, q = (draw.choice([1, 2, 3, 4]) for _ in range(4))
        a = random_matrix(draw, m * p, n * q)
        x, y = draw.randrange(p), draw.randrange(q)
        tile, row = cute.local_tile(a, (m, n), (x, y)), cute.local_tile(a, (m, n), (x, None))
        one = cute.local_tile(a, (m, n), x + p * y)
        assert tile.dims == one.dims == (m, n)
        assert row.dims == (m, n, q)
        for i, j in itertools.product(range(m), range(n)):
            assert tile(i, j) == one(i, j) == row(i, j, y) == a(x * m + i, y * n + j)


def test_local_partition():
    draw = random.Random(2)
    for _ in range(300):
        m, n, p, q = (draw.choice([1, 2, 3, 4]) for _ in range(4))
        threads = cute.make_ordered_layout((m, n), draw.choice([(0, 1), (1, 0)]))
        a = random_matrix(draw, m * p, n * q)
        x, y = draw.randrange(m), draw.randrange(n)
        part = cute.local_partition(a, threads, threads(x, y))
        assert part.dims == (p, q)
        for i, j in itertools.product(range(p), range(q)):
            assert part(i, j) == a(x + m * i, y + n * j)


def test_projections_choose_modes():
    """CuTe's GEMM tutorial: the tiler and the coordinate of (M, N, K), the tensors of two each."""
    a, tiler, coord = L("(32,24):(24,1)"), (8, 4, 6), (1, 2, None)
    assert cute.local_tile(a, tiler, coord, (1, None, 1)) == cute.local_tile(a, (8, 6), (1, None))
    assert cute.local_tile(a, tiler, coord, (None, 1, 1)) == cute.local_tile(a, (4, 6), (2, None))
    assert cute.local_tile(a, tiler, coord, (1, 1, None)) == cute.local_tile(a, (8, 4), (1, 2))
    row = L("32:3")
    for t in range(32):
        part = cute.local_partition(row, "(4,8):(8,1)", t, (1, None))
        assert values(part) == [row(t // 8 + 4 * k) for k in range(8)]


def test_coordinates_are_cut_as_their_tensor_is():
    draw = random.Random(3)
    for _ in range(60):
        m, n, p, q = (draw.choice([1, 2, 3, 4]) for _ in range(4))
        a, where = random_matrix(draw, m * p, n * q), cute.make_identity_layout((m * p, n * q))
        threads = cute.make_ordered_layout((m, n), draw.choice([(0, 1), (1, 0)]))
        copy = cute.make_tiled_copy(threads, (p, 1)) if q == 1 else cute.make_tiled_copy(threads)
        x, y, t = draw.randrange(p), draw.randrange(q), draw.randrange(m * n)
        cuts = [
            (cute.local_tile, (m, n), (x, y)),
            (cute.local_tile, (m, n), (x, None)),
            (cute.local_partition, threads, t),
            (lambda tensor, copy, thread: copy.partition(tensor, thread), copy, t),
        ]
        for cut, *given in cuts:
            one, other = cut(a, *given), cut(where, *given)
            assert one.dims == other.dims
            for index in itertools.product(*map(range, one.dims)):
                assert a(*other(*index)) == one(*index)
                assert other.apply(*index) == other(*index)


@pytest.mark.parametrize("name", ["logical", "zipped", "tiled", "flat"])
def test_swizzled_layouts_and_coordinates_are_divided(name):
    draw, divide = random.Random(8), getattr(cute, f"{name}_divide")
    for _ in range(40):
        m, n, p, q = (draw.choice([1, 2, 3, 4]) for _ in range(4))
        a, where = random_matrix(draw, m * p, n * q), cute.make_identity_layout((m * p, n * q))
        one, other = divide(a, (m, n)), divide(where, (m, n))
        assert one.shape == other.shape
        for k in range(m * n * p * q):
            assert one(k) == a(*other(k))


@pytest.mark.parametrize("name", ["logical", "zipped", "tiled", "flat", "blocked", "raked"])
def test_swizzled_layouts_are_repeated(name):
    draw, product = random.Random(9), getattr(cute, f"{name}_product")
    for _ in range(40):
        m, n, p, q = (draw.choice([1, 2, 4]) for _ in range(4))
        a = cute.make_ordered_layout((m, n), draw.choice([(0, 1), (1, 0)]))
        tiler = cute.make_ordered_layout((p, q), draw.choice([(0, 1), (1, 0)]))
        swizzle = cute.Swizzle(1, draw.randint(0, 2), 2)
        found, plain = product(cute.Swizzled(swizzle, a), tiler), product(a, tiler)
        assert values(found) == [swizzle(k) for k in values(plain)]


def test_coordinates_tell_where_a_ragged_tile_ends():
    """9 rows by 4: the third tile reaches to row 11, and the coordinates say so."""
    a, where = L("(9,8):(8,1)"), cute.make_identity_layout((9, 8))
    tile, at = (cute.local_tile(x, (4, 8), (2, 0)) for x in (a, where))
    inside = [tile(i, j) for i in range(4) for j in range(8) if at(i, j)[0] < 9]
    assert inside == list(range(64, 72))


def test_coordinates_of_nested_shapes_and_symbols():
    a = cute.make_identity_layout(((2, 3), 4))
    assert a.dims == (6, 4)
    assert a(5, 2) == (1, 2, 2)
    assert str(a) == "(0,0,0) o ((2,3),4):((1@0,1@1),1@2)"
    M, N, x, y = symbols("M N x y")
    tile = cute.local_tile(cute.make_identity_layout((8 * M, 4 * N)), (8, 4), (x, y))
    assert str(tile) == "(8*x,4*y) o (8,4):(1@0,1@1)"
    unit = generate(cute.local_tile(cute.make_identity_layout((8, 12)), (4, 3), (1, 2)), "cpp")
    assert [f.name.rpartition("_")[2] for f in unit.functions] == ["apply"]
    assert unit.functions[0].evaluate({"i": 3, "j": 1}) == {"c0": 7, "c1": 7}
    with pytest.raises(InverseError, match="not a bijection"):
        a.inv(0)


def test_layout_tv():
    draw = random.Random(4)
    for _ in range(200):
        m, n, p, q = (draw.choice([1, 2, 3, 4]) for _ in range(4))
        threads = cute.make_ordered_layout((m, n), draw.choice([(0, 1), (1, 0)]))
        vals = cute.make_ordered_layout((p, q), draw.choice([(0, 1), (1, 0)]))
        tiler, tv = cute.make_layout_tv(threads, vals)
        assert tiler == (m * p, n * q)
        assert tv.dims == (m * n, p * q)
        for i, j, k, s in itertools.product(range(m), range(n), range(p), range(q)):
            assert tv(threads(i, j), vals(k, s)) == i * p + k + m * p * (j * q + s)


def test_a_tiled_copy_moves_each_element_once():
    copy = cute.make_tiled_copy("(4,8):(8,1)", "(2,4):(4,1)")
    assert (copy.tiler, copy.size) == ((8, 32), 32)
    a = L("(16,64):(64,1)")
    parts = [copy.partition(a, t) for t in range(32)]
    assert sorted(p for part in parts for p in values(part)) == list(range(1024))
    for t, v, i, j in itertools.product(range(32), range(8), range(2), range(2)):
        row, column = t // 8 * 2 + v // 4, t % 8 * 4 + v % 4
        assert parts[t](v, i, j) == a(8 * i + row, 32 * j + column)
    thread = symbols("thread")
    part = copy.partition(a, thread)
    unit = generate(lambda thread: part(3, 1, 1), "cpp", ranges={"thread": (0, 32)})
    for t in range(32):
        assert list(unit.functions[0].evaluate({"thread": t}).values()) == [parts[t](3, 1, 1)]


@pytest.mark.parametrize("operand, rows", [("a", 16), ("b", 8), ("c", 16)])
def test_the_atom_is_the_hardwares(operand, rows):
    """The same fragment as hardware.mma's, which is written from PTX's documentation."""
    found = hardware.mma(operand)
    atom = getattr(ATOM, f"layout_{operand}")
    if found.in_dims != {"register": atom.dims[1], "lane": 32}:
        pytest.skip(f"{found.in_dims}")
    for register, lane in itertools.product(range(atom.dims[1]), range(32)):
        row, column = found(register=register, lane=lane)
        row, column = (column, row) if operand == "b" else (row, column)
        assert atom(lane, register) == row + rows * column


@pytest.mark.parametrize("warps", ["(1,1,1)", "(2,2,1)", "(2,3,1):(3,1,6)", "(1,2,2)", "(4,1)"])
@pytest.mark.parametrize("operand, pair", [("a", (0, 2)), ("b", (1, 2)), ("c", (0, 1))])
def test_tiled_mma(warps, operand, pair):
    """Warp (m, n, k) has the atoms at (m + warps of M * i, ..) and each atom's own fragment."""
    mma = cute.make_tiled_mma(ATOM, warps)
    atoms = mma.atom_layout_mnk
    atom = getattr(ATOM, f"layout_{operand}")
    size = [mma.tile_mnk[k] for k in pair]
    p, q = (ATOM.shape_mnk[k] for k in pair)
    a = cute.Strided((2 * size[0], 3 * size[1]), (3 * size[1], 1), 7)
    for warp in itertools.product(*map(range, atoms.dims)):
        at = [warp[k] for k in pair]
        for lane in (1, 6, 31):
            part = mma.partition(operand, a, lane + 32 * atoms(*warp))
            assert part.dims == (atom.dims[1], 2, 3)
            for v, i, j in itertools.product(range(atom.dims[1]), range(2), range(3)):
                place = atom(lane, v)
                row = place % p + p * (at[0] + atoms.dims[pair[0]] * i)
                column = place // p + q * (at[1] + atoms.dims[pair[1]] * j)
                assert part(v, i, j) == a(row, column)
    tv = mma.layout_tv(operand)
    assert tv.dims[0] == mma.size
    assert set(values(tv)) == set(range(size[0] * size[1]))


def test_tiled_mma_permuted():
    """CuTe's MMA tutorial: (8,2,2):(1,16,8) of N gives each warp neighboring values."""
    mma = cute.make_tiled_mma(ATOM, "(2,2,1)", (None, "(8,2,2):(1,16,8)", None))
    assert mma.tile_mnk == (32, 32, 16)
    a = L("(32,64):(64,1)")
    plain = cute.make_tiled_mma(ATOM, "(2,2,1)")
    order = L("(8,2,2):(1,16,8)")
    for t in range(0, 128, 5):
        one, other = mma.partition("c", a, t), plain.partition("c", a, t)
        for v, j in itertools.product(range(4), range(4)):
            row, column = divmod(other(v, 0, j), 64)
            assert one(v, 0, j) == a(row, column // 32 * 32 + order(column % 32))


def test_recast_keeps_the_bits():
    draw = random.Random(5)
    for _ in range(300):
        m, n = draw.choice([1, 2, 3]), 8 * draw.choice([1, 2])
        a = cute.Strided((m, n), (n + 8 * draw.randint(0, 2), 1), 8 * draw.randint(0, 2))
        old, new = draw.choice([(8, 16), (16, 32), (16, 128), (32, 8), (16, 8), (24, 16), (4, 12)])
        try:
            found = cute.recast(a, old, new)
        except LayoutError as error:
            assert new in (16, 12), error
            continue
        bits = {p * old + b for p in values(a) for b in range(old)}
        assert {p * new + b for p in values(found) for b in range(new)} >= bits
        if n * old % new == 0:
            assert {p * new + b for p in values(found) for b in range(new)} == bits
    swizzled = cute.composition(cute.Swizzle(3, 3, 3), "(8,64):(64,1)")
    wide = cute.recast(swizzled, 16, 128)
    assert str(wide) == "S<3,0,3> o 0 o (8,8):(8,1)"
    assert all(wide(i, j) == swizzled(i, 8 * j) // 8 for i in range(8) for j in range(8))
    assert cute.recast(wide, 128, 16) == swizzled


def test_max_common_vector():
    draw = random.Random(6)
    more = 0
    for _ in range(600):
        a, b = random_layout(draw, 1, injective=True), random_layout(draw, 1, injective=True)
        b = draw.choice([a, b])
        found = cute.max_common_layout(a, b)
        size = cute.max_common_vector(a, b)
        more += size > 1
        assert [a(k) for k in values(found)] == list(range(size))
        assert [b(k) for k in values(found)] == list(range(size))
    assert more > 50
    assert cute.max_common_vector("(8,16):(16,1)", "(8,16):(32,1)") == 16
    assert cute.max_common_vector("(8,16):(16,1)", "(8,16):(1,8)") == 1
    assert cute.max_common_vector("(8,16):(1,8)", "(8,16):(1,8)") == 128


@pytest.mark.parametrize(
    "make, says",
    [
        (
            lambda: cute.local_tile("((4,6),8):((1,10),80)", (3, 4), (0, 0)),
            "the division does not exist",
        ),
        (lambda: cute.local_tile("(8,12)", (4, 4), (0, 0, 0)), "3 coordinates for 2 modes"),
        (lambda: cute.local_tile("(8,12)", (4, 4), (0, -1)), "below 0"),
        (lambda: cute.local_tile("(8,12)", (4, 4), (0, 0), (1, 1, None)), "as many parts as"),
        (lambda: cute.local_partition(3.5, (4, 4), 0), "give an integer"),
        (lambda: cute.make_layout_tv("(4,8):(0,1)", 4), "thr_layout is not a bijection"),
        (lambda: cute.make_tiled_copy("(4,8)", "4:2"), "val_layout is not a bijection"),
        (lambda: cute.MMAAtom((16, 8, 8), "32:1", "32:1", "32:1"), "(thread, value)"),
        (lambda: cute.MMAAtom((2, 2, 2), "(4,1)", "(4,1)", "(2,2)"), "[2, 4] threads"),
        (lambda: cute.MMAAtom((16, 8), "32:1", "32:1", "32:1"), "give three integers"),
        (lambda: cute.MMAAtom("16", "32:1", "32:1", "32:1"), "MMAAtom('16'): the shape has '16'"),
        (lambda: cute.MMAAtom.of(1, 2, 3), "a is 1; give a layout of register and lane"),
        (
            lambda: cute.MMAAtom.of(*map(hardware.mma, "bac")),
            "a is 16 x 8, b 16 x 16 and c 16 x 8; give M x K, K x N and M x N",
        ),
        (
            lambda: cute.make_tiled_mma("atom", (2, 2, 1)),
            "it is no MMAAtom but a str; give a cute.MMAAtom(",
        ),
        (lambda: cute.make_tiled_mma(hardware.mma("c")), "it is no MMAAtom but a Linear"),
        (lambda: cute.make_tiled_mma(ATOM, "(2,2,1):(1,1,1)"), "up to three modes"),
        (lambda: cute.make_tiled_mma(ATOM, (1, 1, 1), (8, 8)), "2 permutations"),
        (lambda: cute.make_tiled_mma(ATOM).partition("d", "(16,8)", 0), "not an operand"),
        (lambda: cute.make_tiled_mma(ATOM).partition("c", "16:1", 0), "1 modes"),
        (lambda: cute.recast("(4,4):(5,1)", 16, 32), "divides the other"),
        (lambda: cute.recast("(4,4):(4,1)", 0, 32), "no width"),
        (lambda: cute.recast(cute.Strided(8, 1, 3), 16, 32), "not a multiple of 2"),
        (lambda: cute.upcast("S<3,0,3> o 0 o (8,8):(8,1)", 4), "within the 4"),
        (lambda: cute.Coordinates((L("4"), L("5"))), "of one shape"),
    ],
)
def test_refused(make, says):
    with pytest.raises((LayoutError, IndexRangeError)) as error:
        make()
    assert says in str(error.value)


def test_a_fragment_is_linear_too():
    tv = cute.make_tiled_mma(ATOM).layout_tv("c")
    assert Linear.of(tv).rank == 7

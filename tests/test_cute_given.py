"""What the functions of lego_emit.cute are given: swizzled layouts and coordinates, texts with an
offset, projections, and what is no layout at all."""

import inspect
import itertools
import random
from enum import Enum

import numpy as np
import pytest
import sympy
from steps import at_most
from test_cute import L, random_layout, values

from lego_emit import GroupBy, LegoError, Linear, Row, Strided, cute, generate, symbols
from lego_emit.errors import IndexRangeError, InternalError, LayoutError
from lego_emit.trace.same import same_map

M, N = symbols("M N")
SWIZZLE = cute.Swizzle(2, 1, 2)

# -- a swizzle and coordinates stay --------------------------------------------------------------

RENAMING = {
    "coalesce": lambda a: cute.coalesce(a),
    "flatten": lambda a: cute.flatten(a),
    "filter": lambda a: cute.filter(a),
    "filter_zeros": lambda a: cute.filter_zeros(a),
    "group": lambda a: cute.group(a, 0, 2),
    "composition": lambda a: cute.composition(a, "(4,2):(2,1)"),
    "composition by mode": lambda a: cute.composition(a, ("2:2", None)),
    "logical_divide": lambda a: cute.logical_divide(a, (2, "2:2")),
    "zipped_divide": lambda a: cute.zipped_divide(a, (2, 4)),
    "tiled_divide": lambda a: cute.tiled_divide(a, (2, 4)),
    "flat_divide": lambda a: cute.flat_divide(a, (2, 4)),
    "slice_": lambda a: cute.slice_((2, None), a),
}
REPEATING = {
    "logical_product": lambda a: cute.logical_product(a, "4:1"),
    "zipped_product": lambda a: cute.zipped_product(a, "4:1"),
    "tiled_product": lambda a: cute.tiled_product(a, "4:1"),
    "flat_product": lambda a: cute.flat_product(a, "4:1"),
    "blocked_product": lambda a: cute.blocked_product(a, "(2,3):(3,1)"),
    "raked_product": lambda a: cute.raked_product(a, "(2,3):(3,1)"),
    "tile_to_shape": lambda a: cute.tile_to_shape(a, (8, 24)),
}
MATRICES = ["(4,8):(8,1)", "(4,8):(1,4)", "(4,8):(9,1) + 3", "((2,2),8):((8,16),1)"]


@pytest.mark.parametrize("source", MATRICES)
@pytest.mark.parametrize("name", [*RENAMING, *REPEATING])
@pytest.mark.quick(4)
def test_a_swizzle_stays(name, source):
    plain = L(source)
    if name in REPEATING and plain.offset:
        return
    swizzled = cute.composition(SWIZZLE, plain)
    change = (RENAMING | REPEATING)[name]
    wanted, found = change(plain), change(swizzled)
    assert found == cute.Swizzled(SWIZZLE, wanted)
    assert change(str(swizzled)) == found
    assert [found(k) for k in range(found.size)] == [SWIZZLE(p) for p in values(wanted)]


@pytest.mark.parametrize("name", RENAMING)
def test_coordinates_are_renamed_as_positions_are(name):
    plain, where = L("(4,8):(8,1)"), cute.make_identity_layout((4, 8))
    wanted, found = RENAMING[name](plain), RENAMING[name](where)
    assert (found.shape, cute.size(found), cute.rank(found)) == (
        wanted.shape,
        wanted.size,
        wanted.rank,
    )
    for k, position in enumerate(values(wanted)):
        assert plain(*found(k)) == position


@pytest.mark.parametrize("name", REPEATING)
def test_coordinates_are_not_repeated(name):
    with pytest.raises(LayoutError, match="is not a layout of a shape and strides"):
        REPEATING[name](cute.make_identity_layout((4, 8)))


def test_a_mode_of_what_is_swizzled_starts_where_it_does():
    a = cute.composition(SWIZZLE, L("(4,8):(9,1) + 3"))
    assert [cute.get(a, 1)(j) for j in range(8)] == [a(0, j) for j in range(8)]
    assert str(cute.get(cute.make_identity_layout((4, 8)), 1)) == "(0,0) o 8:1@1"
    assert str(cute.tile_to_shape("S<3,3,3> o 0 o (8,64):(64,1)", (128, 64))) == (
        "S<3,3,3> o 0 o (128,64):(64,1)"
    )


@pytest.mark.slow
def test_vectors_under_a_swizzle():
    draw = random.Random(1)
    found = set()
    for _ in range(400):
        a, b = (random_layout(draw, 1, injective=True) for _ in "ab")
        b = draw.choice([a, a, b])
        if draw.random() < 0.7:
            a = cute.composition(cute.Swizzle(1, draw.randint(0, 3), draw.choice([2, -2])), a)
        if draw.random() < 0.3:
            b = cute.composition(SWIZZLE, b)
        common = cute.max_common_layout(a, b)
        size = cute.max_common_vector(a, b)
        found.add(size)
        assert [a(k) for k in values(common)] == list(range(size)) == [b(k) for k in values(common)]
    assert found > {1, 2, 4}
    assert cute.max_common_vector("S<3,3,3> o 0 o (8,64):(64,1)", "(8,64):(64,1)") == 8
    assert cute.max_common_vector(cute.composition(SWIZZLE, L((4 * M, 8))), L((4 * M, 8))) == 2


def test_only_the_contiguous_mode_grows():
    assert str(cute.downcast("(8,1):(1,1)", 2)) == "(16,1):(1,2)"
    assert str(cute.downcast("1:1", 2)) == "2:1"


# -- projections ---------------------------------------------------------------------------------


def test_projected_tiles_and_threads():
    """As a GEMM cuts A and C: the block's coordinate is (m, n, k)."""
    a, c = L("(16,12):(12,1)"), L("(16,8):(8,1)")
    tiler, coord = (4, 2, 3), (3, 1, None)
    assert cute.local_tile(a, tiler, coord, (1, None, 1)) == cute.local_tile(a, (4, 3), (3, None))
    assert cute.local_tile(c, tiler, coord, (1, 1, None)) == cute.local_tile(c, (4, 2), (3, 1))
    threads = L("(4,2):(2,1)")
    for t in range(threads.size):
        part = cute.local_partition(a, threads, t, (1, None))
        assert [part(i, j) for i in range(4) for j in range(12)] == [
            a(4 * i + t // 2, j) for i in range(4) for j in range(12)
        ]


# -- texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "a",
    [
        Strided(4, 1, 5),
        Strided((4, 8), (32, 1), -16),
        Strided(4, N + 1),
        Strided(4, N + 1, M),
        Strided(M + 1, N - 1, 2 * M + N),
        Strided((M + 1, N), (N + 3, 1), M - N),
        cute.composition(SWIZZLE, Strided(8, N + 1, M + 2)),
        cute.composition(SWIZZLE, Strided((8, 8), (8, 1), 5)),
    ],
    ids=str,
)
def test_the_text_has_the_offset(a):
    assert cute.layout(str(a)) == a


def test_sympy_and_arrays():
    x, y = sympy.symbols("x y")
    a = cute.composition(SWIZZLE, L("(4,8):(8,1)"))
    for found in (a(x, y), SWIZZLE(8 * x + y)):
        numbers = {s: {"x": 3, "y": 5}[s.name] for s in found.free_symbols}
        assert found.subs(numbers) == a(3, 5)
    assert a(np.arange(4)[:, None], np.arange(8)).tolist() == [
        [a(i, j) for j in range(8)] for i in range(4)
    ]
    assert generate(cute.zipped_divide(a, (2, 4)), "cpp").functions[0].op_count


def test_coordinates_are_compared_result_by_result():
    where = cute.make_identity_layout((M, N))
    turned = cute.Coordinates((where.parts[1], where.parts[0]))
    assert same_map(where, cute.make_identity_layout((M, N)))
    assert same_map(where, turned).verdict is False
    assert same_map(where, L((M, N))).why == "one has 2 results, the other 1"


# -- no layouts ----------------------------------------------------------------------------------

DEEP = 4
for _ in range(3000):
    DEEP = (DEEP,)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: L("4//0"), "divides by 0"),
        (lambda: L("(" * 3000 + "4" + ")" * 3000), "4096"),
        (lambda: L("(" * 300 + "4" + ")" * 300), "32 deep"),
        (lambda: L("-" * 4000 + "1"), "cannot be read"),
        (lambda: L("+".join("1" * 2000)), "cannot be read"),
        (lambda: L("((4,2):(2,1))"), "outside of parentheses"),
        (lambda: L(DEEP), "32 deep"),
        (lambda: L((None, 2)), "NoneType"),
        (lambda: cute.size((None, 2)), "NoneType"),
        (lambda: cute.size(10**5000), "about 10**5000"),
        (lambda: L("(4,2)")(DEEP), "nested too deep"),
        (lambda: L("(4,2)")(np.arange(3), np.arange(2)), "do not broadcast"),
        (lambda: L("(M,2)")(np.arange(3), 1), "do not mix"),
        (lambda: L("(4,2)").mode(2), "2 modes"),
        (lambda: cute.Swizzle(3, 10**6, 3), "beyond 256"),
        (lambda: cute.Swizzle(3, 0, 3)(range(4)), "not a position"),
        (lambda: cute.Swizzled(3, L(4)), "give a Swizzle and a Strided"),
        (lambda: cute.Coordinates("x"), "a tuple of Strided"),
        (lambda: cute.TiledCopy(L(4), (2, 2)), "(thread, value)"),
        (lambda: cute.MMAAtom((16, 8), 1, 1, 1), "three integers"),
        (lambda: cute.make_tiled_mma(3), "no MMAAtom"),
        (lambda: cute.composition(GroupBy([4]), 2), "to_cute()"),
        (lambda: cute.filter_zeros("(4,2)", (1, (1, 1))), "(1,1) where the shape has 2"),
        (lambda: cute.coalesce("(4,2)", "x"), "profile has 'x'"),
        (lambda: cute.group("(4,2)", "a", 2), "begin is 'a'"),
        (lambda: cute.upcast("8:1", 0), "at least 1"),
        (lambda: cute.upcast("S<2,1,2> o 0 o 8:1", 3), "power of two"),
        (lambda: cute.zipped_divide("(8,8)", (None, None)), "divides nothing"),
        (lambda: cute.local_tile("(8,8)", (4, 4, 2), (0, 0), (1, None, 1)), "proj"),
        (lambda: cute.local_partition("(8,8)", "(4,4)", -1), "no thread"),
        (lambda: cute.layout_left(DEEP), "32 deep"),
        (lambda: cute.layout_left_padded((4, 2), (1, 2)), "tuple"),
        (lambda: np.zeros((2, 2)).tolist() @ GroupBy([4]), "not a layout"),
        (lambda: same_map(L(4), 10**5000), "about 10**5000"),
    ],
)
def test_refused(make, says):
    with pytest.raises((LayoutError, IndexRangeError)) as error:
        make()
    text = str(error.value)
    assert says in text
    assert "\n" not in text and len(text) < 600


NONSENSE = [
    *[None, True, 0, -1, 3, 2.5, float("nan"), 1j, "", "x", "(", "4//0", (), [], (None, None)],
    *[(None, 2), ("2", "x"), {}, set(), object(), int, len, b"a", slice(None), ..., range(4)],
    *[10**5000, 2**70, DEEP, np.arange(3), np.zeros((2, 3)), np.int64(4), np.float64(3.0)],
    *[M, M - N, -M, sympy.Symbol("K"), sympy.Rational(1, 2), GroupBy([4, 4]), Row(4, 4)],
    *[Linear({"x": [(1,), (2,)]}, out={"p": 4}), SWIZZLE, (4, 2), ((4, 2), 3), "4:-1", "4:0"],
]
LAYOUTS = [
    *["(4,2):(2,1)", L("((4,2),3):((1,4),8)"), L("(M,N):(N,1)"), Strided((4, 4), (4, 1), 3)],
    *[cute.make_identity_layout((8, 8)), L("S<3,3,3> o 0 o (8,64):(64,1)"), 8],
]


def is_enum(x):
    return isinstance(x, type) and issubclass(x, Enum)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in cute.__all__ if not is_enum(getattr(cute, n))])
def test_nonsense_gives_one_error_of_ours(name):
    function = getattr(cute, name)
    parameters = list(inspect.signature(function).parameters.values())
    least = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in parameters)
    draw = random.Random(name)
    some = (
        [draw.choice(LAYOUTS if draw.random() < 0.4 else NONSENSE) for _ in range(k)]
        for k in itertools.islice(itertools.cycle(range(least, len(parameters) + 1)), 150)
    )
    for given in some:
        with at_most(1_000_000, given):
            try:
                repr(function(*given))
            except LegoError as error:
                assert not isinstance(error, InternalError)
                assert "\n" not in str(error)

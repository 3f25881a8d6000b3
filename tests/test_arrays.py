"""Arrays that are read at what is known when the text runs: Array[...] of any length, and Array[n]."""

import itertools
import random

import numpy as np
import pytest
from marks import rest_deep

from lego_emit import fori_loop, generate
from lego_emit.errors import LegoError
from lego_emit.types import I32, I64, U8, Array, Bool

LANGUAGES = ("c", "cpp", "cuda", "rust", "fortran", "julia", "javascript", "python", "hip", "metal")


def offset(index, rank, shape: Array[...], strides: Array[...]):
    """The position of a flat index in memory of these strides, as candle and MLX find it."""

    def axis(k, state):
        rest, position = state
        size = shape[rank - 1 - k]
        return rest // size, position + rest % size * strides[rank - 1 - k]

    return fori_loop(0, rank, axis, (index, 0), most=8)[1]


def checkerboard(site, rank, dims: Array[...], counts: Array[...]):
    """Grid's parity of a site: that of the sum of the coordinates that count."""

    def axis(k, state):
        rest, total = state
        return rest // dims[k], total + rest % dims[k] * counts[k]

    return fori_loop(0, rank, axis, (site, 0), most=8)[1] % 2


def grid_cell(rank, position: Array[...], resolution, hashed):
    """instant-ngp's index of a dense cell: axes from which on the stride is beyond the table count no more."""

    def axis(k, state):
        index, stride = state
        return index + position[k] * stride, stride * resolution

    return fori_loop(0, rank, axis, (0, 1), most=4, while_=lambda k, s: s[1] <= hashed)[0]


def blocked(rank, at: Array[...], strides: Array[...], blocks, axes: Array[...], sizes: Array[...]):
    """oneDNN's off_v: the position in a layout of inner blocks, (axes[b], sizes[b]) each, the last the fastest."""

    def within(a, last, of):
        """The product of the blocks after b that are of an axis."""
        return fori_loop(
            0, blocks, lambda c, n: n * (sizes[c] if c > last and axes[c] == of else 1), 1, most=4
        )

    def block(k, state):
        position, stride = state
        b = blocks - 1 - k
        here = at[axes[b]] // within(0, b, axes[b]) % sizes[b]
        return position + here * stride, stride * sizes[b]

    inner = fori_loop(0, blocks, block, (0, 1), most=4)[0]
    return fori_loop(
        0, rank, lambda d, p: p + at[d] // within(0, -1, d) * strides[d], inner, most=4
    )


CASES = {
    offset: {"index": (0, None), "rank": (0, 9), "shape": (1, None)},
    checkerboard: {"site": (0, None), "rank": (0, 9), "dims": (1, None), "counts": (0, 2)},
    grid_cell: {"rank": (0, 5), "position": (0, 1024), "resolution": (1, 1025), "hashed": (1, 2**20)},
    blocked: {
        "rank": (0, 5), "blocks": (0, 4), "axes": (0, 4), "sizes": (1, 65), "at": (0, 4096), "strides": (0, 2**20),
    },
}  # fmt: skip


def emitted(case, language, **options):
    return generate(case, language, ranges=CASES[case], **options)


def arguments(case, rng):
    """What the function may be given: sizes of the ranks first."""
    rank = rng.randrange(5)
    some = lambda lo, hi, n=8: [rng.randrange(lo, hi) for _ in range(n)]  # noqa: E731
    if case is offset:
        shape = some(1, 6)
        return [rng.randrange(10**6), rank, shape, some(-40, 40)]
    if case is checkerboard:
        return [rng.randrange(10**6), rank, some(1, 6), some(0, 2)]
    if case is grid_cell:
        return [rank, some(0, 30), rng.randrange(1, 30), rng.randrange(1, 2000)]
    return [rank, some(0, 64), some(0, 999), rng.randrange(4), some(0, 4), some(1, 5)]


@pytest.mark.parametrize("language", rest_deep(LANGUAGES, 4))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_equal_to_python(case, language, toolchain_of):
    toolchain_of(language)
    unit, rng = emitted(case, language), random.Random(7)
    run, count = unit.compile()[case.__name__], 0
    assert unit.functions[0].checked[0] > 20
    for _ in range(60):
        given = arguments(case, rng)
        assert run(*given) == case(*given), given
        count += 1
    assert count == 60


@pytest.mark.parametrize("language", rest_deep(("c", "rust", "fortran"), 1))
def test_strides_of_numpy(language, toolchain_of):
    """Random views of arrays: broadcast, turned around, in another order, of every rank up to six."""
    toolchain_of(language)
    run, rng = emitted(offset, language).compile()["offset"], random.Random(3)
    for _ in range(300):
        rank = rng.randrange(1, 7)
        whole = np.arange(4**rank).reshape([4] * rank).transpose(rng.sample(range(rank), rank))
        cut = [slice(None, None, rng.choice([1, 1, 2, -1, -2])) for _ in range(rank)]
        view = whole[tuple(cut)]
        if rng.random() < 0.3:
            view = np.broadcast_to(view[..., :1], view.shape)
        first = int(view[(0,) * rank])
        found = run(
            np.arange(view.size), rank, view.shape, [s // whole.itemsize for s in view.strides]
        )
        assert (found + first == view.ravel()).all()


@pytest.mark.parametrize("language", rest_deep(("c", "rust", "julia"), 1))
def test_verified(language, toolchain_of):
    toolchain_of(language)
    sizes = {"rank": 3, "shape[0]": 2, "shape[1]": 3, "shape[2]": 4}
    sizes |= {"strides[0]": 12, "strides[1]": 4, "strides[2]": 1}
    unit = generate(offset, language, ranges={**CASES[offset], "index": (0, 24)})
    report = unit.verify(sizes=sizes, claim="injective")
    assert report, str(report)
    assert unit.verify(sizes={"rank": 2})  # the elements are numbers of their ranges


# -- what is said ----------------------------------------------------------------------------------


TEXTS = {
    "c": ["const int64_t *shape", "@param shape at least rank elements, each >= 1"],
    "cpp": ["const std::int64_t* shape", "shape at least rank elements, each >= 1"],
    "opencl": ["global const int *shape", "shape at least rank elements, each >= 1"],
    "metal": ["device const int* shape", "shape at least rank elements, each >= 1"],
    "rust": ["shape: &[i64]", "- `shape: at least rank elements, each >= 1`"],
    "fortran": ["dimension(0:*), intent(in) :: shape_v, strides", "at least rank_v elements"],
    "julia": ["shape::AbstractVector{<:Integer}", "- `shape`: `at least rank elements`, `each >= 1`"],
    "javascript": ["@param {ArrayLike<number>} shape at least rank elements, each >= 1"],
    "python": ["shape: Sequence[int]", "shape: at least rank elements, each >= 1"],
}  # fmt: skip


@pytest.mark.parametrize("language", TEXTS)
def test_the_text(language):
    source = emitted(offset, language).source
    for text in TEXTS[language]:
        assert text in source
    assert "[7]" not in source and "(void)" not in source


def test_how_many_elements():
    def first(X: Array[...], i):
        return X[0] * i + X[2]

    def tree(table: Array[...], key, depth):
        return fori_loop(0, depth, lambda k, node: table[2 * node + (key >> k & 1)], 0)

    def none(X: Array[...], i):
        return i

    def several(X: Array[...], i, j):
        return X[i] + X[j + 3] + X[1]

    ranges = {"table": (0, 256), "depth": (0, 9), "i": (0, 5), "j": (0, 9)}
    for function, said in [
        (first, "at least 3 elements"),
        (tree, "at least 512 elements, 0 <= each < 256"),
        (several, "at least max(i + 1, j + 4) elements"),
    ]:
        names = function.__code__.co_varnames
        unit = generate(function, "c", ranges={n: r for n, r in ranges.items() if n in names})
        assert said in unit.source
    assert "(void)X;" in generate(none, "c").source


def test_elements_of_their_own_range():
    def product(X: Array[...], i):
        return X[i] * X[0]

    source = generate(product, "c", ranges={"i": (0, 3)}, assume=["X[0] >= 1"]).source
    assert "at least i + 1 elements, X[0] >= 1" in source


def test_types(toolchain_of):
    """Shapes of 32 bits beside strides of 64: nothing overflows in the narrower type."""

    def far(
        k,
        shape: Array[..., I32],
        strides: Array[..., I64],
        more: Array[4, U8],
        on: Array[..., Bool],
    ) -> I64:
        square = shape[k] * shape[k + 1]
        return (square + strides[k] + more[k % 4] if on[k] else square) + more[0]

    given = [1, [7, 2**31 - 1, 2**31 - 1], [1, -(2**40), 3], [255, 254, 3, 4], [False, True, False]]
    for language in ("c", "cpp", "rust", "cuda"):
        unit = generate(far, language, ranges={"k": (0, 7)}, index_type="int64")
        assert unit.compile()["far"](*given) == far(*given)
        texts = {"c": "const int32_t *shape", "rust": "shape: &[i32]"}
        assert texts.get(language, "") in unit.source
    assert (
        repr((Array[4, U8], Array[..., I32], Array[4]))
        == "(Array[4, U8], Array[..., I32], Array[4])"
    )


def test_an_array_of_known_length_is_read_anywhere(toolchain_of):
    def at(X: Array[4], i):
        return X[i] - X[0]

    for language in (
        "c",
        "cpp",
        "rust",
        "fortran",
        "julia",
        "javascript",
        "python",
        "glsl",
        "wgsl",
    ):
        toolchain_of(language)
        run = generate(at, language, ranges={"i": (0, 4)}).compile()["at"]
        assert [run((5, 7, 11, -3), i) for i in range(4)] == [0, 2, 6, -8]
    source = generate(at, "c").source
    assert "@pre i >= 0" in source and "@pre i < 4" in source


def test_a_branch_and_a_place_below_0(toolchain_of):
    """Where the branch is not taken nothing is read before the first element."""

    def at(X: Array[...], i):
        return X[i - 2] if i >= 2 else -1

    for language in ("c", "rust", "fortran", "julia", "javascript"):
        toolchain_of(language)
        run = generate(at, language, ranges={"i": (0, 10)}).compile()["at"]
        assert [run([3, 1, 4], i) for i in range(5)] == [
            -1,
            -1,
            3,
            1,
            4,
        ]


def test_constants_alone(toolchain_of):
    def outer(X: Array[...], i):
        return X[1] * i + X[0]

    for language in ("c", "fortran", "julia", "rust"):
        toolchain_of(language)
        assert generate(outer, language).compile()["outer"]([3, 5], 7) == 38


def test_a_text_stands_for_an_array():
    def pair(X: Array[...], i):
        return X[i] * X[i + 1]

    source = generate(pair, "cpp", ranges={"i": (0, 5)}, bind={"X": "this->x"}).source
    assert "this->x[i] * this->x[i + 1]" in source
    assert "at least i + 2 elements" in source


def test_the_same_bytes_with_other_subjects():
    alone = emitted(offset, "c").source
    generate(checkerboard, "c", ranges=CASES[checkerboard])
    assert emitted(offset, "c").source == alone


# -- loops that look for something -------------------------------------------------------------------


def bin_of(edges: Array[...], bins, value):
    """The bin of a value: how many of the edges are not above it."""

    def halve(k, state):
        lo, hi = state
        mid = (lo + hi) // 2
        return (mid + 1, hi) if edges[mid] <= value else (lo, mid)

    return fori_loop(
        0, 32, halve, (0, bins), while_=lambda k, s: s[0] < s[1],
        invariant=lambda k, s: [s[0] >= 0, s[0] <= s[1], s[1] <= bins],
    )[0]  # fmt: skip


def leaf_of(child: Array[...], nodes, depth):
    """The node where a path down a tree ends."""
    return fori_loop(
        0, depth, lambda k, node: child[node], 0, while_=lambda k, node: child[node] >= 0,
        invariant=lambda k, node: [node >= 0, node < nodes],
    )  # fmt: skip


def test_a_binary_search(toolchain_of):
    """As NumPy's searchsorted, on the right side."""
    for language in ("c", "rust", "fortran", "javascript"):
        toolchain_of(language)
        unit = generate(bin_of, language, ranges={"bins": (0, None)})
        assert "at least bins elements" in unit.source
        run, rng = unit.compile()["bin_of"], random.Random(5)
        for bins in range(8):
            edges = sorted(rng.randrange(9) for _ in range(8))
            wanted = np.searchsorted(edges[:bins], np.arange(-1, 11), side="right")
            assert (run(edges, bins, np.arange(-1, 11)) == wanted).all()


def test_a_walk_down_a_tree(toolchain_of):
    """A range may end at a parameter, for each element."""
    ranges = {"nodes": (1, 2**20), "child": (-1, "nodes"), "depth": (0, 9)}
    unit = generate(leaf_of, "c", ranges=ranges)
    assert "child at least nodes elements, -1 <= each < nodes" in unit.source
    run, tree = unit.compile()["leaf_of"], [3, -1, -1, 1, 2, -1, -1, -1]
    for depth in range(9):
        assert run(tree, 8, depth) == leaf_of(tree, 8, depth)


# -- what others found -------------------------------------------------------------------------------


def _total(n, X: Array[4]):
    return fori_loop(0, n, lambda k, s: s + X[k], 0)


def test_an_array_that_counts_from_1_in_a_loop(toolchain_of):
    toolchain_of("fortran")
    run = generate(_total, "fortran", ranges={"n": (0, 5)}).compile()["total"]
    assert [run(n, (5, 7, 11, 13)) for n in range(5)] == [0, 5, 12, 23, 36]


def test_a_run_reads_no_element_that_nobody_gives(toolchain_of):
    def total(X: Array[...], n):
        return fori_loop(0, n, lambda k, s: (s + X[k]) % 8, 0, most=20)

    unit = generate(total, "c", ranges={"n": (0, 20)})
    run = unit.compile()["total"]
    assert run([3, 1, 4], 3) == 0
    for given, n, said in [
        ([3, 1, 4], 4, "reads 4 elements of X, and 3 are given"),
        ([0] * 8, 9, "reads 9 elements of X, and 8 are given"),
        ([0] * 9, 1, "X is given 9 elements; a run has 1 to 8"),
        ([], 0, "X is given 0 elements"),
    ]:
        with pytest.raises(TypeError, match=said):
            run(given, n)
    with pytest.raises(LegoError, match="reads 9 elements of X, and 8 are given"):
        unit.verify(sizes={"n": 9})
    assert unit.verify(sizes={"n": 8})


def test_an_element_that_no_point_has():
    """Of X[8] nothing is known where the program is compared with its definition."""

    def chosen(X: Array[...], i, n):
        return X[i] * X[i] + X[i] if i < n else 0

    assert generate(chosen, "c", ranges={"i": (0, 9), "n": (0, 9)}).functions[0].checked[0]


def test_constants_where_arrays_are_no_arrays():
    def pair(X: Array[...], i):
        return X[2] + X[i]

    for target, text in {
        "mlir": "%c2_i64 : i64 to index",
        "triton": "tl.load(X + 2)",
        "numpy": "np.take(X, 2)",
    }.items():
        assert text in generate(pair, target, ranges={"i": (0, 5)}).source


def test_ranges_of_single_elements():
    def pair(X: Array[...], i):
        return X[9] + X[i]

    source = generate(pair, "c", ranges={"i": (0, 12), "X": (0, 9), "X[3]": (2, 4)}).source
    assert "0 <= each < 9, 2 <= X[3] < 4" in source


def _pair(X: Array[...], i):
    return X[0] + X[i]


def _held(X: Array[...], i):
    return i in X


def _compared(X: Array[...], i):
    return X == (i,)


@pytest.mark.parametrize("function, options, message", [
    (_pair, {"methods": "X"}, "methods names X, an array of any length, which no type can hold"),
    (_pair, {"param_types": {"X[0]": "int32"}}, "an array has one: name X"),
    (_pair, {"sizes": {f"X[{k}]": k for k in range(8)}}, "sizes fixes 8 elements of X"),
    (_held, {}, "no len"),
    (_compared, {}, "comparisons"),
    (_total, {"rewrite": lambda name, outputs: outputs}, "a loop is no SymPy expression"),
])  # fmt: skip
def test_options_that_an_array_refuses(function, options, message):
    with pytest.raises(LegoError, match=message):
        generate(
            function,
            "cpp",
            ranges={"n": (0, 5)} if function is _total else {"i": (0, 5)},
            **options,
        )


# -- what is refused ---------------------------------------------------------------------------------


def _endless(X: Array[...], n):
    return fori_loop(0, n, lambda k, s: X[s], 0)


def _anywhere(X: Array[2], Y: Array[...], i):
    return X[i] + Y[i]


def _last(X: Array[...], i):
    return X[-1] + i


def _length(X: Array[...], i):
    return len(X) + i


def _all(X: Array[...], i):
    return sum(X) + i


def _result(i) -> Array[...]:
    return (i, i)


def _slice(X: Array[...], i):
    return X[1:][i]


@pytest.mark.parametrize("function, target, message", [
    (_endless, "c", "X is read at .*, of which no end is known"),
    (_last, "c", r"X\[-1\]: the elements of an array of any length count from 0"),
    (_length, "c", "X is an array of any length, which has no len"),
    (_all, "c", "go through it with fori_loop"),
    (_slice, "c", "X is an array of any length"),
    (_result, "c", r"is Array\[...\]; say how many elements it has"),
    (offset, "glsl", "GLSL gives functions no tables and no arrays of any length"),
    (offset, "wgsl", "WGSL gives functions no tables and no arrays of any length"),
    (offset, "numpy", "is not there in NumPy"),
    (offset, "triton", "is not there in Triton"),
    (offset, "mlir", "MLIR has no loop"),
])  # fmt: skip
def test_refused(function, target, message):
    ranges = CASES.get(function, {})
    with pytest.raises(LegoError, match=message):
        generate(function, target, ranges=ranges)


@pytest.mark.parametrize(
    "wrong", ["Array[0]", "Array[True]", "Array['x']", "Array[..., str]", "Array[4, 5]"]
)
def test_no_array(wrong):
    with pytest.raises(LegoError, match=r"Array\["):
        eval(wrong)


def test_elements_that_sizes_fixes():
    """One is a number in the text; an array that is read anywhere is read whole."""

    def pair(X: Array[2], Y: Array[...], i):
        return X[i] + Y[1]

    source = generate(
        pair, "c", ranges={"i": (0, 2)}, sizes={"X[0]": 3, "X[1]": 5, "Y[1]": 7}
    ).source
    assert "return 2 * i + 10;" in source
    for name in ("X[0]", "Y[0]"):
        with pytest.raises(
            LegoError, match=rf"sizes fixes {name[0]}\[0\], and {name[0]} is read at i"
        ):
            generate(_anywhere, "c", sizes={name: 3})


def test_no_divisor_in_a_loop_is_0():
    def divided(rank, X: Array[...], i):
        return fori_loop(0, rank, lambda k, s: s // X[k], i, most=8)

    ranges = {"rank": (0, 9), "i": (0, 100)}
    said = "no divisor in a loop is 0"
    assert said in generate(divided, "c", ranges=ranges).functions[0].assumptions
    assert said not in generate(divided, "c", ranges={**ranges, "X": (1, None)}).source


def test_a_range_that_names_no_parameter_lists_arrays_whole():
    with pytest.raises(LegoError, match="parameters: index, rank, shape, strides"):
        generate(offset, "c", ranges={**CASES[offset], "shap": (1, 9)})


def test_a_certificate_says_that_it_knows_nothing():
    def at(X: Array[...], i):
        return X[i]

    with pytest.raises(LegoError, match="reads X at an index that is no constant"):
        generate(at, "c", ranges={"i": (0, 4)}).certificate()


def test_python_imports_what_it_names():
    """Annotations are evaluated where a module is loaded by itself."""

    def at(X: Array[...], i):
        return X[i]

    source = generate(at, "python", ranges={"i": (0, 4)}).source
    module: dict = {}
    exec(compile(source, "module", "exec", dont_inherit=True), module)
    assert module["at"]([3, 5], 1) == 5


def test_every_language_or_a_reason():
    """Each language has the text of a function that reads an array without a loop, or refuses it."""
    from lego_emit.emit.registry import targets

    def at(X: Array[...], i):
        return X[i]

    refused = set()
    for target in targets():
        try:
            assert "X" in generate(at, target, ranges={"i": (0, 4)}).source
        except LegoError:
            refused.add(target)
    assert refused == {"glsl", "wgsl"}


def test_known_blocks():
    """nChw16c of 2 x 32 x 3 x 3, and OIhw4i16o4i, by NumPy."""
    strides, places = (
        [32 * 9, 16 * 9, 16 * 3, 16],
        itertools.product(range(2), range(32), range(3), range(3)),
    )
    image = (
        np.arange(2 * 32 * 9).reshape(2, 2, 3, 3, 16).transpose(0, 1, 4, 2, 3).reshape(2, 32, 3, 3)
    )
    for at in places:
        assert blocked(4, at, strides, 1, [1], [16]) == image[at]
    inner = [(1, 4), (0, 16), (1, 4)]
    axes, sizes = zip(*inner, strict=True)
    weights = (
        np.arange(16 * 16 * 2)
        .reshape(1, 1, 2, 4, 16, 4)
        .transpose(0, 4, 1, 3, 5, 2)
        .reshape(16, 16, 2)
    )
    for at in itertools.product(range(16), range(16), range(2)):
        assert blocked(3, at, [512, 512, 256], 3, axes, sizes) == weights[at]

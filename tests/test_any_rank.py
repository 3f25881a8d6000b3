"""AnyRank: strided memory whose rank is known when the program runs; results that are arrays of such a length."""

import random
import subprocess
from math import prod

import numpy as np
import pytest
from marks import rest_deep, rest_slow

from lego_emit import AnyRank, LegoError, generate

LANGUAGES = ("c", "rust", "javascript", "fortran", "cpp", "julia", "python", "cuda", "hip", "metal")


def view(rng, rank):
    """A random view of an array: axes in another order, turned around, in steps, broadcast, of one element."""
    whole = np.arange(prod(range(2, rank + 2))).reshape(range(2, rank + 2))
    whole = whole.transpose(rng.sample(range(rank), rank))
    found = whole[tuple(slice(None, None, rng.choice([1, 1, 2, -1, -2])) for _ in range(rank))]
    if rng.random() < 0.3:
        found = np.broadcast_to(found[..., :1], found.shape)
    return found, [s // whole.itemsize for s in found.strides]


@pytest.mark.parametrize("language", rest_deep(LANGUAGES, 4))
def test_equal_to_numpy(language, toolchain_of):
    """At each element of random views of every rank; so many in compiled languages that thousands are met."""
    toolchain_of(language)
    unit, rng = generate(AnyRank(), language, name="nd", index_type="int64"), random.Random(11)
    apply, at, inv = (unit.compile()[name] for name in unit.compile())
    elements = 0
    for turn in range(60 if language in ("c", "rust", "fortran") else 12):
        rank = 1 + turn % 6
        array, strides = view(rng, rank)
        first, shape = int(array[(0,) * rank]), array.shape
        flat = np.arange(array.size)
        index = np.unravel_index(flat, shape)
        assert (at(rank, shape, strides, flat) + first == array.ravel()).all()
        found = inv(rank, shape, flat)
        assert all((a == b).all() for a, b in zip(found, index, strict=True))
        for k in rng.sample(range(array.size), min(3, array.size)):
            own = [int(i[k]) for i in index]
            assert apply(rank, shape, strides, own) + first == array[tuple(own)]
            assert inv(rank, shape, k) == tuple(own) == AnyRank().inv(shape, k)
        elements += array.size
    assert elements > 1000


def test_on_integers():
    """As NumPy has it, of rank 0 too."""
    rng, some = random.Random(5), AnyRank()
    for rank in [0, *(rng.randrange(1, 7) for _ in range(300))]:
        array, strides = view(rng, rank) if rank else (np.zeros(()), [])
        first, k = array[(0,) * rank], rng.randrange(array.size)
        own = tuple(int(i) for i in np.unravel_index(k, array.shape)) if rank else ()
        assert some.inv(array.shape, k) == own
        assert some.apply(array.shape, strides, own) + first == array[own]
        assert some.at(array.shape, strides, k) == some.apply(array.shape, strides, own)


@pytest.mark.parametrize("language", rest_deep(("c", "python", "rust", "javascript", "fortran"), 1))
@pytest.mark.parametrize("unrolled", rest_deep([2, 0, 4, 8]))
def test_every_rank(unrolled, language, toolchain_of):
    """Those with code of their own, and those of the loop; of rank 0 nothing is read."""
    toolchain_of(language)
    some, rng = AnyRank(unrolled=unrolled), random.Random(2)
    run = generate(some, language, name="nd").compile()
    for rank in range(9):
        shape = [rng.randrange(1, 4) for _ in range(rank)]
        strides = [rng.randrange(-50, 50) for _ in range(rank)]
        flat = rng.randrange(prod(shape))
        index = some.inv(shape, flat)
        filled = [x or [1] for x in (shape, strides, index)]
        assert run["nd_inv"](rank, filled[0], flat) == index
        assert run["nd_at"](rank, *filled[:2], flat) == some.at(shape, strides, flat)
        assert run["nd_apply"](rank, *filled) == some.apply(shape, strides, index)


@pytest.mark.parametrize("language", rest_deep(("c", "rust", "julia", "javascript", "fortran"), 1))
def test_types(language, toolchain_of):
    """Shapes of 32 bits beside strides of 64; in an unsigned index type; the array that is filled has its own."""
    toolchain_of(language)
    given = {"shape": "int32", "strides": "int64"}
    kinds = [{"param_types": {**given, "index": "int32"}}, {"index_type": "int64"}]
    kinds += [{"index_type": "uint64"}] if language != "fortran" else []
    for options in kinds[language in ("julia", "javascript") :]:
        run = generate(AnyRank(), language, name="nd", **options).compile()
        for rank in (1, 2, 5):
            shape = [2, 3, 4, 2, 3][:rank]
            flat = prod(shape) - 1
            assert run["nd_inv"](rank, shape, flat) == tuple(n - 1 for n in shape)
            assert (
                run["nd_at"](rank, shape, [2**40] * rank, flat) == sum(n - 1 for n in shape) << 40
            )


def test_check():
    assert AnyRank().check([2, 3], [1, 2]) == "6 elements at 6 positions, 0..5: inv undoes at"
    assert AnyRank().check([2, 3], [0, -1]) == "6 elements at 3 positions, -2..0: inv undoes at"
    assert AnyRank().check([2, 0], [1, 1]) == "0 elements at 0 positions: inv undoes at"
    assert AnyRank().check([], []) == "1 element at 1 position, 0..0: inv undoes at"
    with pytest.raises(LegoError, match="1048577 elements are too many to check"):
        AnyRank().check([2**20 + 1], [1])


TEXTS = {
    "c": ["void nd_inv(int32_t rank, const int32_t *shape, int64_t flat, int64_t *index) {",
          "@param[out] index rank elements", "    index[1] = flat % shape[1];\n    return;"],
    "cpp": ["std::int64_t* index) noexcept {", "constexpr void nd_inv("],
    "rust": ["pub fn nd_inv(rank: i32, shape: &[i32], flat: i64, index: &mut [i64]) {"],
    "fortran": ["pure subroutine nd_inv(rank_v, shape_v, flat, index_v)",
                "integer(int64), dimension(0:*), intent(out) :: index_v"],
    "julia": ["index = Vector{Int64}(undef, rank)", ")::Vector{Int64}"],
    "javascript": ["const index = new Array(rank);", "@returns {number[]} rank elements"],
    "python": ["flat: int) -> tuple[int, ...]:", "    index = [0] * rank", "return tuple(index)"],
    "opencl": ["global const long *shape, long flat, long *index)"],
    "metal": ["device const long* shape, long flat, thread long* index)"],
}  # fmt: skip


@pytest.mark.parametrize("language", rest_deep(rest_slow(TEXTS), 5))
def test_the_text(language):
    kinds = {"shape": "int32"} if language in ("c", "cpp", "rust") else {}
    index = None if language == "javascript" else "int64"
    some = AnyRank(unrolled=2)
    unit = generate(some, language, name="nd", index_type=index, param_types=kinds)
    for text in TEXTS[language]:
        assert text in unit.source
    assert "nd_inv_result" not in unit.source


def test_rank_as_a_number(toolchain_of):
    unit = generate(AnyRank(unrolled=1), "javascript", name="nd", sizes={"rank": 3})
    assert "new Array(3)" in unit.source
    assert unit.compile()["nd_inv"]([2, 3, 4], 23) == (1, 2, 3)


def test_several_in_a_file(toolchain_of):
    unit = generate({"a": AnyRank(1), "b": AnyRank(2), "twice": lambda i: 2 * i}, "c")
    names = [f"{one}_{end}" for one in "ab" for end in ("apply", "at", "inv")]
    assert [f.name for f in unit.functions] == [*names, "twice"]
    run = unit.compile()
    assert run["b_inv"](2, [2, 3], 5) == (1, 2) and run["twice"](4) == 8
    assert [f.name for f in generate([AnyRank(1)], "c").functions] == [
        "nd_apply",
        "nd_at",
        "nd_inv",
    ]


@pytest.mark.parametrize("language", rest_deep(("python", "c", "rust"), 1))
def test_verified(language, toolchain_of):
    toolchain_of(language)
    ranges = {"flat": (0, 24), "index": (0, 2), "shape": (2, 5), "strides": (-10, 10)}
    unit = generate(AnyRank(unrolled=2), language, name="nd", ranges=ranges)
    for rank in (2, 5):
        report = unit.verify(sizes={"rank": rank})
        assert report, str(report)
    assert "nd_inv and the Python function" in str(report)


def test_few_operations_are_counted():
    """An element of the array is no operation, and a loop is counted once."""
    counts = [f.op_count for f in generate(AnyRank(unrolled=0), "c", name="nd").functions]
    assert counts == [5, 12, 9]


def test_equality():
    assert AnyRank() == AnyRank(8) != AnyRank(4) and AnyRank(unrolled=0) != AnyRank()
    assert len({AnyRank(), AnyRank(8), AnyRank(4)}) == 2
    assert repr([AnyRank(), AnyRank(3), AnyRank(6, unrolled=2)]) == (
        "[AnyRank(most=8), AnyRank(most=3), AnyRank(most=6, unrolled=2)]"
    )


# -- what is refused ---------------------------------------------------------------------------------

SOME = AnyRank(unrolled=0)


@pytest.mark.parametrize("wrong, message", rest_slow([
    (lambda: AnyRank(0), "most is 0; give the greatest rank, from 1 to 32"),
    (lambda: AnyRank(33), "most is 33"),
    (lambda: AnyRank(True), "most is True"),
    (lambda: AnyRank("8"), "most is '8'"),
    (lambda: AnyRank(unrolled=9), "unrolled is 9; .*from 0 to 8"),
    (lambda: AnyRank(unrolled=None), "unrolled is None"),
    (lambda: SOME.apply([2, 3], [1], [0, 0]), "shape has 2 entries, and strides has 1"),
    (lambda: SOME.apply([2, 3], [1, 2], [0]), "shape has 2 entries, and index has 1"),
    (lambda: SOME.apply([2, 3], [1, 2], [0, 3]), r"index\[1\] is 3, and shape\[1\] is 3; give 0 to 2"),
    (lambda: SOME.apply([2, 3], [1, 2], [-1, 0]), r"index\[0\] is -1"),
    (lambda: SOME.at([2, 3], [1, 2, 3], 0), "shape has 2 entries, and strides has 3"),
    (lambda: SOME.inv([2, 3], 6), "flat is 6, and the shape has 6 elements"),
    (lambda: SOME.inv([2, 3], -1), "flat is -1"),
    (lambda: SOME.inv([0, 3], 0), "the shape has 0 elements"),
    (lambda: SOME.inv([2, -3], 0), r"shape is \[2, -3\]; a size is 0 or more"),
    (lambda: AnyRank().inv([1] * 9, 0), r"the rank is 9, and most is 8; give AnyRank\(most=9\)"),
    (lambda: SOME.inv([1.5], 0), "shape is a list; give a list of integers"),
    (lambda: SOME.inv(3, 0), "shape is an int; give a list of integers"),
    (lambda: SOME.inv([3], "x"), "flat is a str; give an integer"),
    (lambda: generate(SOME, "c", sizes={"rank": 9}), "sizes fixes rank to 9, outside of its range"),
    (lambda: generate(SOME, "cpp", view=True), "it gives no layout"),
    (lambda: generate([SOME, AnyRank(2)], "c"), "two of what generate.. was given are called nd"),
    (lambda: generate({"a": SOME, "a_at": lambda i: i}, "c"), "two functions a_at; name them otherwise"),
    (lambda: generate(SOME, "c", prepare=True), "no divisor of nd_apply is made of parameters alone"),
    (lambda: generate(SOME, "glsl"), "an array whose length is known when it runs, which GLSL has not"),
    (lambda: generate(SOME, "wgsl"), "WGSL has not"),
    (lambda: generate(SOME, "numpy"), "NumPy has not"),
    (lambda: generate(SOME, "triton"), "Triton has not"),
    (lambda: generate(SOME, "mlir"), "MLIR has not"),
], 6))  # fmt: skip
def test_refused(wrong, message):
    with pytest.raises(LegoError, match=message):
        wrong()


@pytest.mark.parametrize("kinds", [{}, {"shape": "int32", "strides": "int64", "index": "int32"}])
def test_rustfmt_and_clippy_find_nothing(kinds, tmp_path, need):
    path = tmp_path / "nd.rs"
    path.write_text(generate(AnyRank(), "rust", name="nd", param_types=kinds).source)
    rustfmt = need("rustfmt", "rustup component add rustfmt")
    clippy = need("clippy-driver", "rustup component add clippy")
    lints = ["--crate-type=lib", "--emit=metadata", "-D", "warnings", "-W", "clippy::pedantic"]
    for command in ([rustfmt, "--check"], [clippy, *lints]):
        command += ["--edition", "2021", path]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

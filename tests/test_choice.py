"""Choice: one of several layouts by a tag, in Python, emitted in each language, and what is refused."""

import random
import re
import shutil
import subprocess
from enum import IntEnum
from pathlib import Path

import numpy as np
import pytest
from marks import rest_deep

import lego_emit
from lego_emit import (
    Choice,
    Col,
    GenP,
    GroupBy,
    LegoError,
    Lookup,
    RegP,
    Row,
    Strided,
    catalogue,
    fori_loop,
    generate,
    golden,
    symbols,
)
from lego_emit.algebra.masked import Padded
from lego_emit.errors import LayoutError

LANGUAGES = (
    "c", "cpp", "cuda", "hip", "opencl", "metal", "rust", "fortran", "julia", "glsl", "wgsl", "javascript",
    "python", "numpy", "triton", "mlir",
)  # fmt: skip


KINDS = ("apply", "inv")


class Order(IntEnum):
    ROWS = 0
    TILES = 1
    MORTON = 2
    SWIZZLED = 3


order, tag, M, N = symbols("order tag M N")


def swizzled(n, m):
    """Rows of m elements, each with its elements permuted by the row: a power of two each."""
    return GenP([n, m], lambda i, j: i * m + (j ^ i % m), lambda p: (p // m, p % m ^ p // m % m))


def orders(n=16):
    """The orders of a texture of n x n texels."""
    return {
        Order.ROWS: Row(n, n),
        Order.TILES: GroupBy([n, n]).OrderBy(RegP([n // 8, 8, n // 8, 8], [0, 2, 1, 3])),
        Order.MORTON: catalogue["morton.2D"](n, n),
        Order.SWIZZLED: swizzled(n, n),
    }


TEXTURE = Choice(order, orders())
OF_SYMBOLS = Choice(
    tag,
    {
        2: Row(M, N),
        7: Col(M, N),
        3: GroupBy([M, N]).OrderBy(RegP([M // 4, 4, N // 8, 8], [0, 2, 1, 3])),
    },
)


def in_a_function(tag, n, i, j):
    """What follows a choice is computed once."""
    if n > 3:
        i = i + 1
    at = Choice(tag, {0: Row(9, 8), 1: Col(9, 8)})[i, j]
    if n > 5:
        at = at * 2
    return at + n


def in_a_branch(tag, n, i):
    """Elsewhere the layouts are none: n - 4 is no size."""
    if n > 4:
        return Choice(tag, {0: Row(n - 4, 8), 2: Col(n - 4, 8)}).apply((i + n) % (n - 4), i % 8)
    return i


def divided(tag, M, i, j):
    """The branch speaks of M // 4, of which elsewhere nothing is known."""
    if M > 9:
        tiles = GroupBy([M, 8]).OrderBy(RegP([M // 4, 4, 8], [1, 0, 2]))
        return Choice(tag, {0: tiles, 1: Row(M, 8)})[i % M, j]
    return i


def twice(tag, other, i, j):
    """A choice of what another one gives."""
    at = Choice(tag, {0: Row(6, 4), 1: Col(6, 4)})[i, j]
    return Choice(other, {1: Row(4, 6), 0: Col(4, 6)})[at // 6, at % 6]


def in_a_loop(tag, n, i):
    """A choice in each round, of the state."""

    def round_(k, s):
        return (Choice(tag, {0: Row(8, 4), 1: Col(8, 4)})[s // 4, s % 4] + k) % 32

    return fori_loop(0, n, round_, i, most=6)


def in_a_case(tag, i, j):
    """A loop in one of the cases."""

    def summed(i, j):
        return fori_loop(0, i + 1, lambda k, s: s + (k if j > 2 else 0), 0)

    return Choice(tag, {0: GenP([5, 4], summed), 1: GenP([5, 4], lambda i, j: i * j)})[i, j]


FUNCTIONS = {
    in_a_function: ["0 <= tag", "tag < 2", "0 <= n", "n < 8", "0 <= i", "i < 8", "0 <= j", "j < 8"],
    in_a_branch: ["0 <= tag", "tag < 3", "0 <= n", "n < 9", "0 <= i", "i < 20"],
    divided: ["0 <= i", "i < 40", "0 <= j", "j < 8", "0 <= tag", "tag < 2", "4 <= M", "M < 24"],
    twice: [],
    in_a_loop: ["0 <= n", "n <= 6", "0 <= i", "i < 32"],
    in_a_case: [],
}


# -- in Python -------------------------------------------------------------------------------------


def test_of_a_number_it_is_the_layout():
    assert Choice(0, {0: Row(4, 6), 1: Col(4, 6)}) == Row(4, 6)
    assert Choice(Order.TILES, orders()) == orders()[Order.TILES]
    assert Choice(np.int64(1), {0: Row(4, 6), 1: Col(4, 6)})[1, 2] == 9
    assert Choice(symbols("x") * 0 + 1, {0: Row(4, 6), 1: Col(4, 6)}) == Col(4, 6)


def test_it_is_a_block():
    again = Choice(order, orders())
    assert TEXTURE.dims == (16, 16) and TEXTURE.size == 256 and TEXTURE.has_inverse
    same = Choice(order, {0: Row(4, 6), 1: Col(4, 6)})
    assert same == Choice(order, {0: Row(4, 6), 1: Col(4, 6)}) != Choice(tag, same.layouts)
    assert hash(same) == hash(Choice(order, {0: Row(4, 6), 1: Col(4, 6)}))
    assert same != Choice(order, {0: Row(4, 6), 1: Col(4, 6)}, form="functions")
    assert repr(same) == "Choice(order, {0: Row(4, 6), 1: Col(4, 6)})"
    assert "Order.TILES: GroupBy" in repr(again)
    assert not again.is_concrete


def test_checked_at_numbers():
    assert OF_SYMBOLS.check(tag=7, M=4, N=8) == Col(4, 8).check()
    with pytest.raises(LayoutError, match="tag"):
        OF_SYMBOLS.check(M=4, N=8)


# -- emitted ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_choices_are_verified_whole(language, toolchain_of):
    toolchain_of(language)
    assert generate(TEXTURE, language, name="texture").verify()


@pytest.mark.parametrize("language", rest_deep(LANGUAGES, 0))
def test_in_functions(language, toolchain_of):
    toolchain_of(language)
    assert generate(OF_SYMBOLS, language).verify(sizes={"M": 12, "N": 16})
    for function, assume in FUNCTIONS.items():
        if function in (in_a_loop, in_a_case) and language == "mlir":
            continue  # which has no loops
        assert generate(function, language, assume=assume).verify(), function


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_functions_of_each_layout(language, toolchain_of):
    toolchain_of(language)
    subject = Choice(order, orders(8), form="functions")
    unit = generate(subject, language, name="texture")
    named = ["texture_rows", "texture_tiles", "texture_morton", "texture_swizzled", "texture"]
    found = [f.name.replace("_", "").lower() for f in unit.program.functions]
    assert found == [f"{n}{k}".replace("_", "") for n in named for k in KINDS]
    assert unit.verify()


def test_functions_of_choices_in_choices_and_of_one_layout_in_two(toolchain_of):
    toolchain_of("c")
    rows, other = Row(4, 6), symbols("other")
    inner = Choice(other, {1: Col(4, 6), -2: rows}, form="functions")
    unit = generate(Choice(tag, {0: rows, 1: inner}, form="functions"), "c", name="f")
    assert [f.name for f in unit.functions if f.name.endswith("inv")] == [
        "f_0_inv", "f_1_1_inv", "f_1_minus_2_inv", "f_1_inv", "f_inv",
    ]  # fmt: skip
    assert unit.verify()
    shared = {n: Choice(tag, {0: rows, 1: Col(4, 6)}, form="functions") for n in ("a", "b")}
    assert generate(shared, "c").verify()


@pytest.mark.deep
@pytest.mark.parametrize(
    "options", [{"results": "out"}, {"checks": True}, {"index_type": "uint32"}]
)
def test_options(options, toolchain_of):
    for target in ("c", "cpp"):
        toolchain_of(target)
        for form in ("switch", "functions"):
            subject = Choice(order, orders(8), form=form)
            assert generate(subject, target, name="texture", **options).verify()


@pytest.mark.parametrize(
    "language", rest_deep(("javascript", "glsl", "wgsl", "rust", "c", "fortran", "julia"), 0)
)
def test_of_64_bits(language, toolchain_of):
    toolchain_of(language)
    wide = Choice(tag, OF_SYMBOLS.layouts, form="functions")
    assert generate(wide, language).verify(sizes={"M": 8, "N": 16})
    for form in ("switch", "functions"):
        for index_type in ("int64", "uint64") if language != "fortran" else ("int64",):
            unit = generate(Choice(order, orders(8), form=form), language, index_type=index_type)
            assert unit.verify()


def random_layout(random_, n, m):
    """A layout of n x m: its digits in a random order, a swizzle, or a table."""
    kind = random_.randrange(4)
    if kind == 0:
        table = [*range(n * m)]
        random_.shuffle(table)
        return Lookup([n, m], table)
    if kind == 1 and n % m == 0 and not m & (m - 1):
        return swizzled(n, m)
    digits = []
    for size in (n, m):
        left = size
        while left > 1:
            digit = random_.choice([d for d in range(2, left + 1) if left % d == 0])
            digits.append(digit)
            left //= digit
    perm = [*range(len(digits))]
    random_.shuffle(perm)
    return GroupBy([n, m]).OrderBy(RegP(digits, perm))


@pytest.mark.parametrize("seed", rest_deep(range(24)))
def test_random_choices(seed, toolchain_of):
    """Compiled C and Rust beside Python's own layouts, at all indices of all tags."""
    random_ = random.Random(seed)
    n, m = random_.choice([(8, 12), (16, 8), (6, 10), (9, 27), (32, 32)])
    keys = random_.sample(range(-9, 40), random_.randint(2, 7))
    layouts = {key: random_layout(random_, n, m) for key in keys}
    form = random_.choice(("switch", "functions"))
    units = [generate(Choice(tag, layouts, form=form), t, name="f") for t in ("c", "rust")]
    index = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    flat = np.arange(n * m)
    for target, unit in zip(("c", "rust"), units, strict=True):
        toolchain_of(target)
        functions = {f.name.removeprefix("f_"): f.name for f in unit.functions}
        made = unit.compile()
        for key, layout in layouts.items():
            assert (made[functions["apply"]](key, *index) == layout.apply(*index)).all()
            for one, other in zip(made[functions["inv"]](key, flat), layout.inv(flat), strict=True):
                assert (one == other).all()


# -- the text --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_text_of_a_choice():
    source = generate(TEXTURE, "c", name="texture").source
    assert "enum {\n  TEXTURE_ORDER_ROWS = 0,\n  TEXTURE_ORDER_TILES = 1," in source
    assert "    case TEXTURE_ORDER_ROWS:\n      position = 16 * i + j;\n      break;\n" in source
    assert "@param order 0 <= order < 4" in source
    functions = generate(Choice(order, orders(), form="functions"), "c", name="texture").source
    assert "      position = texture_morton_apply(i, j);\n" in functions
    rust = generate(TEXTURE, "rust", name="texture").source
    assert "    match order {\n        ORDER_ROWS => 16 * i + j,\n" in rust


def test_a_tag_without_a_layout_is_a_precondition():
    (function, _) = generate(OF_SYMBOLS, "c").functions
    assert function.ranges["tag"] == "2 <= tag < 8"
    assert "tag == 2 or tag == 3 or tag == 7" in function.assumptions
    narrow = generate(TEXTURE, "c", ranges={"order": (1, 3)})
    assert "ROWS" not in re.sub("//.*", "", narrow.source)


@pytest.mark.slow
@pytest.mark.parametrize("form", rest_deep(["switch", "functions"]))
@pytest.mark.parametrize("target", rest_deep(["c", "rust", "python", "numpy"]))
def test_the_text_grows_with_the_layouts(target, form):
    """A linear number of operations and lines, whatever follows: no path is followed once for each layout."""

    def follows(count):
        layouts = {
            k: GroupBy([64, 64]).OrderBy(RegP([2**k, 64, 64 // 2**k], [1, 0, 2]))
            for k in range(count)
        }

        def f(tag, n, i, j):
            at = Choice(tag, layouts)[i, j]
            for k in range(4):
                if n > k:
                    at = at ^ k + 5
            return at

        made = Choice(tag, layouts, form=form)
        return [len(generate(subject, target).source) for subject in (f, made)]

    one, two, three = (follows(count) for count in (2, 4, 6))
    for a, b, c in zip(one, two, three, strict=True):
        assert c - b < 1.3 * (b - a) + 200


def test_what_follows_is_done_once():
    source = generate(in_a_function, "c", assume=FUNCTIONS[in_a_function]).source
    assert source.count("switch (") == 1 and source.count("2 * position") == 1


def test_bounds_are_those_of_all_layouts():
    strided = {
        0: Strided((4, 8), (8, 1)),
        1: Strided((4, 8), (1, 16)),
        2: Strided((4, 8), (100, 1)),
    }
    (function,) = generate(Choice(tag, strided), "c").functions
    assert function.result_range == "0 <= the result < 308"


def test_of_one_tag_that_is_left_there_is_no_switch():
    assert "switch" not in generate(TEXTURE, "c", ranges={"order": (2, 3)}).source
    assert "switch" not in generate(TEXTURE, "c", sizes={"order": 2}).source


def test_explained():
    text = str(generate(TEXTURE, "c", name="texture").explain("texture_apply"))
    assert "Order.ROWS: position = 16*i + j" in text and "one of its layouts, by a tag" in text


def test_in_a_template_it_is_an_expression():
    layout = Choice(tag, {0: Row(4, 6), 1: Col(4, 6)})
    text = lego_emit.render("a[{{ L[i, j] }}]", "c", L=layout, names="i j tag")
    assert text == "a[tag == 0 ? 6 * i + j : 4 * j + i]"
    with pytest.raises(LegoError, match="is what a loop leaves, which no expression is"):
        lego_emit.render(
            "{{ f(i) }}", "c", f=lambda i: fori_loop(0, i, lambda k, s: s + k, 0), names="i"
        )


def test_packed_and_composed(toolchain_of):
    toolchain_of("c")
    choice = Choice(order, {0: Row(4, 6), 1: Col(4, 6)})
    assert generate(lego_emit.Packed(choice, 3), "c").verify()
    assert generate(Row(4, 6) @ choice, "c").verify()
    assert generate(choice.inverse(), "c").verify()


def test_of_masked_layouts(toolchain_of):
    toolchain_of("c")
    tiles = Padded([5, 7], GroupBy([8, 8]).OrderBy(RegP([2, 4, 2, 4], [0, 2, 1, 3])))
    other = Padded([5, 7], Col(8, 8))
    unit = generate(Choice(order, {0: tiles, 1: other}), "c")
    assert unit.verify()
    assert unit.functions[0].result_range == generate(tiles, "c").functions[0].result_range


# -- golden ----------------------------------------------------------------------------------------

GOLDEN = Path(__file__).parent / "choices"


@pytest.mark.slow
def test_golden_files_are_as_they_should_be():
    """After a change that is meant: lego-emit golden update tests/choices."""
    found = golden.check(GOLDEN)
    assert found == [], "\n".join(map(str, found))


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_golden_cases_are_run(language, toolchain_of):
    toolchain_of(language)
    cases = golden.cases(GOLDEN)
    found = [golden.verify(cases, language, fixed) for fixed in (False, True)]
    assert [each.mismatches for each in found] == [[], []]
    assert sum(each.comparisons for each in found) > 4096


# -- refused ---------------------------------------------------------------------------------------


class Other(IntEnum):
    A = 0


ONE_WAY = GenP([4, 6], lambda i, j: i * j)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: Choice(5, {0: Row(4, 6), 1: Col(4, 6)}),
            "no layout for the tag 5; there are 0, 1",
        ),
        (lambda: Choice(7, orders()), "there are Order.ROWS, Order.TILES"),
        (lambda: Choice(tag, {}), "give at least one layout"),
        (lambda: Choice(tag, [Row(4, 6)]), "give a dict"),
        (lambda: Choice(tag, {"a": Row(4, 6)}), "the key 'a' is a str; a tag is an integer"),
        (lambda: Choice(tag, {0.5: Row(4, 6)}), "the key 0.5 is a float"),
        (lambda: Choice(tag, {True: Row(4, 6)}), "the key True is"),
        (lambda: Choice(tag, {0: 5}), "has 5, no layout"),
        (lambda: Choice("tag", {0: Row(4, 6)}), "symbols.'tag'. makes one"),
        (
            lambda: Choice(tag, {0: Row(4, 6), 1: Row(6, 4)}),
            r"Row\(4, 6\) and Row\(6, 4\), have the coordinates",
        ),
        (lambda: Choice(tag, {0: Row(M, 6), 1: Row(N, 6)}), r"\[M, 6\] and \[N, 6\]"),
        (
            lambda: Choice(tag, {0: Row(4, 6)}, form="both"),
            "form is 'both'; give 'switch' or 'functions'",
        ),
        (
            lambda: Choice(tag, {k: Row(4, 6) for k in range(257)}),
            "257 layouts; there are at most 256",
        ),
        (
            lambda: Choice(tag, {0: Row(4, 6), 1: ONE_WAY}).inv(3),
            "has no inverse: the layout of 1, GenP",
        ),
        (
            lambda: Choice(tag, {0: Lookup([4], [0, 1, 2, 3]), 1: Lookup([4], [0, 1, 2, 9])}).inv(
                3
            ),
            "has no inverse: the layout of 1",
        ),
        (
            lambda: generate(TEXTURE, "c", ranges={"order": (9, 12)}),
            "no layout for the tag|contradict",
        ),
        (lambda: generate(TEXTURE, "c", sizes={"order": 4}), "no layout for the tag 4"),
        (lambda: generate(TEXTURE, "c").certificate(), "has a switch, of which a certificate"),
        (lambda: generate(TEXTURE, "c").sympy, "a switch is no SymPy expression"),
        (
            lambda: generate(
                Choice(tag, {0: Row(4, 6), 1: Col(4, 6)}, form="functions"), "cpp", methods=True
            ),
            "leave methods=",
        ),
        (
            lambda: generate(
                Choice(tag, {0: Row(4, 6), 1: Col(4, 6)}, form="functions"), "c", base=1
            ),
            "count from 0",
        ),
        (
            lambda: generate(
                {
                    "a": Choice(tag, {0: Row(4, 6), 1: Col(4, 6)}, form="functions"),
                    "a_0": Row(4, 6),
                },
                "c",
            ),
            "a layout of a; name them otherwise",
        ),
    ],
)
@pytest.mark.quick(4)
def test_what_is_refused(make, said):
    with pytest.raises(LegoError, match=said):
        make()


@pytest.mark.deep
@pytest.mark.parametrize("form", ["switch", "functions"])
def test_rust_is_as_rustfmt_and_clippy_have_it(form, tmp_path):
    path = tmp_path / "choices.rs"
    layouts = orders() | {7: Lookup([16, 16], [*range(255, -1, -1)], as_table=True)}
    generate([Choice(order, layouts, form=form), in_a_case, twice], "rust").save(path)
    lints = ["-D", "warnings", "-W", "clippy::pedantic"]
    checks = {
        "rustfmt": ["--check", "--edition", "2021"],
        "clippy-driver": ["--edition", "2021", "--crate-type=lib", "--emit=metadata", *lints],
    }
    for tool, options in checks.items():
        if not shutil.which(tool):
            pytest.skip(f"{tool} is missing")
        done = subprocess.run(
            [tool, *options, str(path)], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

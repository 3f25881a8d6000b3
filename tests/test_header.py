"""What a header promises is true: of results, of parameters, in every language and under every name."""

import random
import subprocess
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import rest_slow
from net.choose import strategy
from net.layouts import expanded, texts
from net.points import Relations
from net.words import WORDS, build

import lego_emit
from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    OrderBy,
    RegP,
    Row,
    TileBy,
    generate,
    isqrt,
    symbols,
)
from lego_emit.algebra import reference
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.evaluate import evaluate as evaluated
from lego_emit.arith.expr import Expr
from lego_emit.arith.terms import Atom
from lego_emit.emit.comments import UNSEEN
from lego_emit.errors import AssumptionError, LayoutError, TargetError, WidthError
from lego_emit.ir.nodes import evaluate
from lego_emit.ir.relations import names_in, parts, read, renamed, says
from lego_emit.lower.relations import value
from lego_emit.pipeline import build_program
from lego_emit.run import registry
from lego_emit.run.space import space_of
from lego_emit.targets.cpp import FLAGS

CPP = registry.printer("cpp")

# -- the results' ranges -------------------------------------------------------------------------


def results(layout, functions, base, numbers):
    """(function, all its results) of a layout's functions, from the reference evaluator."""
    every = list(product(*map(range, layout.dims)))
    found = [[(reference.apply(layout, index) + base,) for index in every]]
    if len(functions) > 1:
        positions = range(layout.physical_size)
        found.append([tuple(i + base for i in reference.inv(layout, p)) for p in positions])
    return zip(functions, found, strict=True)


def assert_promised(layout, functions, base, numbers, tight):
    """Every result lies in the range that the header gives it; tight: no range is too wide."""
    space = {**WORDS, **numbers}
    for function, rows in results(layout, functions, base, numbers):
        texts = function.result_range.split(", ")
        assert len(texts) == len(function.promises) == len(function.outputs)
        for text, promise, column in zip(
            texts, function.promises, zip(*rows, strict=True), strict=True
        ):
            least, end = says(promise.least), says(promise.end)
            last = text.rpartition(" <= ")[2]
            assert text.startswith(f"{least} <= ")
            assert text.endswith(f" < {end}") or (least == "1" and f"{last} + 1" == end)
            lo, hi = eval(least, space), eval(end, space) - 1
            assert promise.at(numbers) == (lo, hi)
            assert lo <= min(column) and max(column) <= hi, (function.name, text, numbers)
            assert not tight or (lo, hi) == (min(column), max(column)), (function.name, text)


@st.composite
def one_way(draw):
    """A strided, shifted or broadcast map without an inverse."""
    dims = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    names = "ijk"[: len(dims)]
    sum_ = " + ".join(f"{draw(st.sampled_from([-3, 0, 1, 2, 7]))}*{n}" for n in names)
    start = draw(st.sampled_from([0, 3, -4]))
    return f"GroupBy({dims}).OrderBy(GenP({dims}, lambda {', '.join(names)}: {sum_} + {start}))"


@pytest.mark.deep
@settings(max_examples=150, deadline=None, derandomize=True)
@given(texts(symbolic=False).map(lambda made: made[0]) | one_way(), st.sampled_from([0, 1]))
def test_ranges_of_layouts(text, base):
    layout = build(text)
    functions = build_program(layout, CPP, base=base).functions
    assert_promised(layout, functions, base, {}, tight=True)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(strategy(expanded), st.sampled_from([0, 1]))
def test_ranges_with_masked_positions(text, base):
    """A mask, or a part, may leave out the last positions, and a part the first: then the ends are the
    layout's all the same."""
    layout = build(text)
    functions = build_program(layout, CPP, base=base).functions
    assert_promised(layout, functions, base, {}, tight=False)
    (_, rows), *_ = results(layout, functions, base, {})
    if layout.masks:
        assert int(functions[0].promises[0].least.value) == min(rows)[0]


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(texts(symbolic=True), st.sampled_from([0, 1]))
def test_ranges_of_symbolic_layouts(made, base):
    """The stated ranges are the layout's sizes, whatever numbers those are."""
    text, names, relations = made
    symbols = {n: lego_emit.symbols(n) for n in names}
    known = [r for r in relations if set(names_in(read(r))) <= set(names)]
    functions = build_program(build(text, **symbols), CPP, base=base, assume=known).functions
    draw = random.Random(text)
    for _ in range(3):
        numbers = Relations(relations, names, 1, 12).draw(draw) or {}
        if len(numbers) < len(names) or build(text, **numbers).size > 3000:
            continue
        assert_promised(build(text, **numbers), functions, base, numbers, tight=True)


@pytest.mark.parametrize("guard", ["physical", "logical"])
@pytest.mark.parametrize("base", [0, 1])
def test_ranges_of_symbolic_masks(guard, base):
    def one(N, P):
        return ExpandBy([N], [2 * P], GroupBy([2 * P]).OrderBy(RegP([2, P], [1, 0])), guard)

    def two(N, P):
        return ExpandBy(
            [N, 3], [P, 4], GroupBy([2, 2 * P]).OrderBy(RegP([2, P, 2], [2, 0, 1])), guard
        )

    for make in (one, two):
        functions = build_program(make, CPP, base=base, assume=["N <= P"]).functions
        for n, p in ((1, 1), (1, 3), (2, 3), (5, 5)):
            assert_promised(make(n, p), functions, base, {"N": n, "P": p}, tight=False)


def test_the_inverse_of_a_mask_over_one_dimension():
    layout = ExpandBy([5], [8], GroupBy([8]).OrderBy(RegP([2, 4], [1, 0])))
    apply, inv = build_program(layout, CPP).functions
    assert max(layout.inv(p)[0] for p in range(5)) == 5
    assert inv.result_range == "0 <= the result < 7"
    assert apply.result_range == "-1 <= the result < 5"
    logical = ExpandBy([5], [8], GroupBy([8]).OrderBy(RegP([2, 4], [1, 0])), "logical")
    assert [f.result_range for f in build_program(logical, CPP, base=1).functions] == [
        "0 <= the result < 9",
        "0 <= the result < 9",
    ]


# -- names that are changed ----------------------------------------------------------------------


def lone(the, result, value):
    """A lone result beside parameters that the sentences of a header are made of."""
    return GroupBy([the, value])[result, value - 1]


def several(end, loop, end_v, mod, i, function):
    """Results and parameters whose names are taken in some language."""
    flat = GroupBy([end, loop]).OrderBy(Col(end, loop))[i, function]
    return {"result": flat, "in": i + end, "end": function - 5, "mod": flat + end_v + mod}


def test_a_promise_outlives_new_names(target):
    """What verify() checks does not depend on how the header's sentence reads."""
    (found,) = generate(lone, target).functions
    space = space_of(found, {"the": 4, "value": 3})
    assert space.promised == [(0, 11)]
    (found,) = generate(several, target, assume=["3 <= end_v < 7", "mod >= -2"]).functions
    numbers = {"end": 4, "loop": 3, "mod": 10}
    space = space_of(found, numbers)
    assert space.promised == [(0, 11), (1, 7), (-5, -3), (1, 27)]
    for (name, _), text in zip(found.outputs, found.result_range.split(", "), strict=True):
        assert name in text.split()
    stated = {name for promise in found.promises for name in promise.names()}
    assert stated and stated <= {p.name for p in found.params}


def test_a_relation_in_other_names():
    """Functions are no names, and names that change places do."""
    found = renamed(read("min(min, b) <= a"), {"min": "min_v", "a": "b", "b": "a"})
    assert says(found) == "min(min_v, a) <= b"


def test_sizes_that_are_keywords():
    """A symbol may have any name; its relations are read all the same."""
    n = Atom("sym", "in")
    layout = GroupBy([Expr.atom(n), 4])
    apply, _ = build_program(layout, CPP, assume=[Expr.atom(n) <= 20]).functions
    space = space_of(apply, {"in": 3})
    assert space.total == 12 and space.promised == [(0, 11)]
    with pytest.raises(AssumptionError, match="assumes 1 <= in < 21, which is false for in = 21"):
        space_of(apply, {"in": 21})


# -- a user's words in comments ------------------------------------------------------------------

NASTY = (
    "ends in \\",
    "in a path C:\\ here",
    "a trigraph ??/",
    "*/ closes */",
    "/* opens",
    "turned \u202e round \u2066",
    "two\u2028lines\u0085or\x0cmore\rof\x0bthem\ttoo",
    "zero \x00 escape \x1b[2J half \ud800 mark \ufeff tag \U000e0041 \uffff",
    'quotes """" and "\'\\"',
    "$(rm) ${x} $x `tick ``` [link] {{ 7 }} {% if %} %d {0} #= =# --> <!-- //",
)


def shift(text):
    """A unit in which a text stands wherever a user can put one."""

    def forward(i):
        return i * 3 % 8

    def back(p):
        return p * 3 % 8

    def kernel(N, j):
        return GroupBy([N]).OrderBy(Row(N))[j]

    forward.__name__ = text
    kernel.__doc__ = text
    kernel.__name__ = text
    layout = GroupBy([8]).OrderBy(GenP([8], forward, partial(back)))
    words = " ".join(text.replace("\x00", "").replace("\ud800", "").split())  # as Python reads them
    return layout, kernel, f"N < 100 # {words}"


@pytest.mark.parametrize("text", rest_slow(NASTY, 20), ids=range(len(NASTY)))
@pytest.mark.quick(8)
def test_texts_in_comments(target, text):
    """One line, no character that a compiler warns of, in the file and in its declarations."""
    layout, kernel, relation = shift(text)
    for unit in (generate(layout, target), generate(kernel, target, assume=[relation])):
        for source in unit.files("x").values():
            assert not UNSEEN.search(source.replace("\n", "")), source
            assert "??/" not in source and "\\\n" not in source
            comments = source.count("/**") if target == "javascript" else 0
            assert source.count("*/") == comments
            assert source.encode()


@pytest.mark.deep
def test_toolchains_take_any_text_in_comments(toolchain):
    """All texts at once, under the flags that the targets are compiled with."""
    units = []
    for k, text in enumerate(NASTY):
        layout, kernel, relation = shift(text)
        units.append(generate(layout, toolchain.name, name=f"layout_{k}"))
        units.append(generate(kernel, toolchain.name, name=f"kernel_{k}", assume=[relation]))
    for unit, compiled in zip(units, toolchain.compile(units), strict=True):
        name = unit.functions[0].name
        assert compiled[name](*([9, 4] if name.startswith("kernel") else [3])) in (4, 1)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("name", ["cpp", "cuda"])
def test_compilers_with_trigraphs(need, tmp_path, compiler, name):
    """Where trigraphs count, a question mark can be a backslash."""
    need(compiler, "apt-get install g++ clang")
    for k, text in enumerate(NASTY):
        layout, kernel, _ = shift(text)
        for part, subject in (("a", layout), ("b", kernel)):
            (tmp_path / f"{part}{k}.hpp").write_text(
                generate(subject, name, name=f"{part}{k}").source
            )
    includes = "".join(f'#include "{p.name}"\n' for p in sorted(tmp_path.iterdir()))
    (tmp_path / "all.cpp").write_text(includes)
    command = [compiler, "-std=c++17", "-trigraphs", *FLAGS[1:], "-Wtrigraphs", "-Wcomment"]
    done = subprocess.run(
        [*command, "-fsyntax-only", "all.cpp"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# -- all that a result relies on -----------------------------------------------------------------


def assumed(fn, **options):
    """The assumptions of a function's header."""
    (found,) = build_program(fn, CPP, **options).functions
    return found.assumptions


def test_an_axis_of_one_element_in_a_branch():
    """x is dropped from the text where c > 3, so the header must say that it is 0 there."""

    def kernel(x, j, c):
        return GroupBy([1, 4])[x, j] if c > 3 else 7

    assert "c <= 3 or 0 <= x < 1" in assumed(kernel)
    (found,) = build_program(lambda x, j: GroupBy([1, 4])[x, j], CPP, base=1).functions
    assert found.ranges == {"x": "1 <= x < 2", "j": "1 <= j < 5"}


def test_only_a_users_names_are_said():
    """What stands for a value of unknown range on the way is nobody's parameter."""

    def kernel(x, y, N):
        root = GenP([N], lambda i: GroupBy([N])[N - 1 - isqrt(i * i)] if i < y else i)
        return GroupBy([N]).OrderBy(root)[x + y]

    assert assumed(kernel)[:2] == (
        "0 <= x + y < N",
        "y <= x + y or 0 <= N - isqrt((x + y)*(x + y)) - 1 < N",
    )
    (found,) = build_program(kernel, CPP).functions
    for condition in found.assumed:
        assert set(names_in(condition)) <= {"x", "y", "N"}


def test_assumptions_are_said_of_the_parameters_that_are_left():
    """With the numbers of fixed sizes, in Python's words, and each once."""
    import sympy

    def kernel(i, j, M, BM):
        return GroupBy([M // BM, BM])[i, j]

    relations = ["M % BM == 0", "M < BM * 100 - low", "low >= 0"]
    found = assumed(
        lambda i, j, M, BM, low: kernel(i, j, M, BM) + low,
        assume=relations,
        sizes={"BM": 32, "low": 3},
    )
    assert found[:2] == ("M % 32 == 0", "M < 32*100 - 3")
    M, BM = sympy.symbols("M BM", integer=True)
    found = assumed(kernel, assume=[sympy.Eq(sympy.Mod(M, BM), 0), sympy.And(M > 2, M < 100)])
    assert found[0] == "M % BM == 0" and set(found[1:3]) == {"M > 2", "M < 100"}


def test_the_pieces_of_a_chain():
    def pieces(text):
        return {says(part) for part in parts(read(text))}

    assert pieces("0 <= i < N << 2") == {"0 <= i", "i < N << 2"}
    assert pieces("N > i >= 0") == {"0 <= i", "i < N"}
    assert pieces("x != 3 and i <= 4") == {"x != 3", "i < 5"}


def test_arguments_that_an_unsigned_type_cannot_hold():
    """Unused, they are arguments all the same."""
    with pytest.raises(WidthError, match=r"the argument x \(-5 <= x < 3\) does not fit uint32"):
        build_program(lambda x, y: y, CPP, assume=["-5 <= x", "x < 3"], index_type="uint32")


def test_a_quotient_of_two_branches_is_computed_before_them_and_divides_by_no_zero():
    def kernel(x, d):
        y = GroupBy([100])[x]
        one = y // d if d > 0 else 0
        other = (y // d) * (y // d) if d > 0 else 1
        return one + 3 * other

    for function in (kernel, lambda x, d: GroupBy([100])[x] // d if d > 0 else 0):
        (found,) = build_program(function, CPP).functions
        assert not any("!=" in text for text in found.assumptions)
        for x, d in product((0, 7, 99), (-3, 0, 1, 5)):
            assert found.evaluate({"x": x, "d": d}) == {"result": function(x, d)}


def test_a_lone_upper_bound_is_said():
    (found,) = build_program(lambda i: i, CPP, assume=["i < 7"]).functions
    assert found.result_range == "the result < 7"
    (found,) = build_program(lambda i, N: GroupBy([N])[i], CPP, assume=["i < N"]).functions
    assert found.result_range == "0 <= the result < N" and "0 <= i" in found.assumptions[0]


def test_of_a_size_that_cancels_out_nothing_is_said():
    """64 // BM * BM is 64 where BM divides it: BM is no parameter then."""
    import sympy

    BM, BN = sympy.symbols("BM BN", integer=True)
    layout = GroupBy([64 * BN]).OrderBy(RegP([(64 // BM) * BM, BN], [1, 0]))
    for function in build_program(layout, CPP).functions:
        names = {p.name for p in function.params}
        assert "BM" not in names or "64 % BM == 0" in function.assumptions
        assert all(names.issuperset(names_in(c)) for c in function.assumed)


def test_comparisons_chain_as_they_do_in_python():
    """However many there are, in either direction; numbers stand where the user put them."""

    for text in ("0 <= i <= j < k <= 100", "100 >= k > j >= i >= 0", "i < j and k < N", "i == 2"):
        assert says(read(text)) == text
    kernel = OrderBy(Row(M := symbols("M"), N := symbols("N"))).TileBy((M // 4, N // 5), (4, 5))
    (found,) = build_program(lambda p: kernel[p, 1, :, :], CPP).functions
    assert "N // 5 > 1" in found.assumptions
    (found,) = build_program(
        lambda i, N: i + N, CPP, assume=["N > 0", "0 <= i <= N"], sizes={"N": 2}
    ).functions
    assert found.assumptions == () and found.ranges["i"] == "0 <= i < 3"
    (found,) = build_program(lambda i, N: i % N, CPP, assume=["0 <= i <= N"]).functions
    assert not any("i" in text.split() for text in found.assumptions)


def test_a_partial_function_says_what_the_function_says():
    def g(K, i):
        "Sum up."
        return K + i

    unit = generate(partial(g, 3), "c", name="g")
    assert "/// Sum up." in unit.source and "partial(" not in unit.source


@pytest.mark.parametrize("header", [5, None, b"abc", [1, None]])
def test_header_lines_are_text(header):
    with pytest.raises(TargetError, match="give a text, or a list of its lines"):
        generate(lambda i: i, "c", header=header)


def test_a_power_is_no_xor():
    def f(i):
        return i

    text = generate(f, "c", assume=["i**2 < 100", "(i ^ 2) < 100"]).source
    assert "@pre i*i < 100" in text and "@pre (i ^ 2) < 100" in text


def test_rust_s_comments_round_down_for_negative_divisors():
    def f(i, K):
        return i + K

    ranges = {"i": (-50, 50), "K": (-9, -1)}
    assert "floor(i / K) < 3" in generate(f, "rust", assume=["i//K < 3"], ranges=ranges).source


@pytest.mark.parametrize(
    ("made", "assume", "said"),
    [
        (lambda x: (5 - x) // 4 * 5 + x - 3, ["0 <= x", "x < 12"], "-13 <= the result < 14"),
        (lambda i, j: 7 * i + (1 - i // 2 % 2) * j + i // 2 % 2 * (6 - j) - 1,
         ["0 <= i", "i < 5", "0 <= j", "j < 7"], "-13 <= the result < 40"),
        # The parts may be negative, their sum is not.
        (lambda x: (5 - x) // 4 * 5 + x, ["0 <= x", "x < 12"], "0 <= the result < 17"),
    ],
)  # fmt: skip
def test_a_result_that_may_be_negative_has_both_bounds(made, assume, said):
    assert f"@return {said}\n" in generate(made, "c", name="f", assume=assume).source


# -- quotients that one case of a size has -------------------------------------------------------

UP_TO = range(1, 17)


def fig1(nm, nn, GM):
    return OrderBy(Col(max(nm // GM, 1), 1), Col(min(nm, GM), nn)).TileBy([nm, nn])


def multiplies_out(nm, GM):
    return max(nm // GM, 1) * min(nm, GM) == nm


def holds(function, **values):
    """Whether a header's conditions all hold."""
    return all(evaluate(c, values) for c in function.assumed)


@pytest.mark.slow
def test_a_quotient_under_max_divides_in_that_case_only():
    """Fig. 1 as it stands: its header demands what its sizes say, and where they say so it is
    right; with fewer rows than a group has, it was emitted for whole groups alone."""
    unit = build_program(fig1, registry.printer("python"))
    for function in unit.functions:
        assert function.assumptions == ("nm <= GM or nm % GM == 0",)
    space = {}
    exec(generate(fig1, "numpy", name="fig1").source, space)
    for nm, nn, GM in product(UP_TO, UP_TO, UP_TO):
        met = [holds(f, nm=nm, nn=nn, GM=GM) for f in unit.functions]
        assert met == [multiplies_out(nm, GM)] * 2
        if not met[0]:
            continue
        i, j = np.indices((nm, nn))
        flat = fig1(nm, nn, GM).apply(i, j)
        assert (space["fig1_apply"](nm, nn, GM, i, j) == flat).all()
        assert (np.array(space["fig1_inv"](nm, nn, GM, flat)) == np.array((i, j))).all()


def test_a_quotient_under_max_compiled(need, tmp_path):
    """Fig. 1 in C++, at every index of all sizes up to 8 at which it has one."""
    compiler = need("g++", "apt-get install g++")
    generate(fig1, "cpp", name="fig1").save(tmp_path / "fig1.hpp")
    sizes = [s for s in product(range(1, 9), repeat=3) if multiplies_out(s[0], s[2])]
    calls = "".join(f"  run({nm}, {nn}, {GM});\n" for nm, nn, GM in sizes)
    (tmp_path / "all.cpp").write_text(
        f"""#include "fig1.hpp"
#include <cstdio>
static void run(int nm, int nn, int GM) {{
  for (int i = 0; i < nm; ++i)
    for (int j = 0; j < nn; ++j) {{
      const long flat = lego::fig1_apply(nm, nn, GM, i, j);
      const auto at = lego::fig1_inv(nm, nn, GM, flat);
      std::printf("%ld %d ", flat, at.i == i && at.j == j);
    }}
}}
int main() {{
{calls}}}
"""
    )
    command = [compiler, "-std=c++17", *FLAGS[1:], "all.cpp", "-o", "all"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    told = subprocess.run([tmp_path / "all"], check=True, capture_output=True, text=True).stdout
    wanted = []
    for nm, nn, GM in sizes:
        for flat in fig1(nm, nn, GM).apply(*np.indices((nm, nn))).ravel():
            wanted += [int(flat), 1]
    assert [*map(int, told.split())] == wanted


def by_if(n, b, i):
    count = n // b if n > b else 1
    return TileBy([n]).OrderBy(Col(count, min(n, b)))[i]


def by_two_ifs(n, b, i):
    count, size = (n // b, b) if n >= b else (1, n)
    return TileBy([n]).OrderBy(Col(count, size))[i]


def by_max(n, b, i):
    return TileBy([n]).OrderBy(Col(max(n // b, 1), min(n, b)))[i]


def by_select(n, b, i):
    return TileBy([n]).OrderBy(Col(max(b, n) // b if n > b else 1, min(n, b)))[i]


def by_two_choices(n, b, i):
    return TileBy([n]).OrderBy(Col(min(n // b, 4), max(n // 4, b)))[i]


@pytest.mark.slow
@pytest.mark.parametrize("fn", [by_if, by_two_ifs, by_max, by_select, by_two_choices])
def test_a_quotient_in_one_case_says_nothing_of_the_other(fn):
    """The header holds exactly where the layout is one, and there the function is right."""
    (function,) = build_program(fn, registry.printer("python")).functions
    space = {}
    exec(generate(fn, "python", name="of").source, space)
    for n, b in product(range(1, 25), range(1, 13)):
        for i in range(n):
            try:
                wanted = fn(n, b, i)
            except LayoutError:
                wanted = None
            assert holds(function, n=n, b=b, i=i) is (wanted is not None), (n, b, i)
            assert wanted is None or space["of"](n, b, i) == wanted


@pytest.mark.parametrize(
    "made",
    rest_slow(
        [
            lambda n, b: TileBy([n]).OrderBy(Col(max(n // b, 1), min(n, b))),
            lambda n, b: GroupBy([min(n, b), max(n // b, 1)]).OrderBy(Row(n)),
            lambda n, b: TileBy([n]).OrderBy(Col(min(n // b, 4), max(n // 4, b))),
            lambda n, b: GroupBy([n]).OrderBy(Row(b, b + 1)).OrderBy(Col(b + 1, b)),
            lambda n, b: GroupBy([2, n]).OrderBy(Col(max(n, b), 2 * min(n, b) - b)),
        ],
        2,
    ),
)
@pytest.mark.parametrize("index_type", rest_slow(["int64", "uint64"]))
def test_what_the_sizes_must_say_of_each_other_stays_said(made, index_type):
    """Though it is known where the functions are simplified; both are right wherever it holds."""
    forward, back = generate(made, "c", name="f", index_type=index_type).functions
    (position,) = (p.name for p in back.params if p.name not in ("n", "b"))
    count = 0
    for n, b in product(range(1, 25), range(1, 13)):
        try:
            layout = made(n, b)
        except LayoutError:
            assert not holds(back, n=n, b=b, **{position: 0}), (n, b)
            continue
        for index in product(*map(range, layout.dims)):
            at = dict(zip([p.name for p in forward.params if p.axis], index, strict=True))
            assert holds(forward, n=n, b=b, **at), (n, b, at)
            (flat,) = forward.evaluate({"n": n, "b": b, **at}).values()
            assert flat == layout.apply(*index)
            assert holds(back, n=n, b=b, **{position: flat})
            assert tuple(back.evaluate({"n": n, "b": b, position: flat}).values()) == index
            count += 1
    assert count >= 40


@pytest.mark.parametrize("size", [4, "K"])
def test_a_size_that_is_an_index_of_another_layout_is_bounded_by_it(size):
    def f(M, N, BM, K, k):
        GroupBy([N // BM, BM])[1, k]
        GroupBy([M, size if isinstance(size, int) else K])[1, N]
        return N + k

    (function,) = generate(f, "c").functions
    assert f"0 <= N < {size}" in function.assumptions or f"N < {size}" in function.assumptions
    assert not holds(function, M=2, N=24, BM=2, K=8, k=0)


def test_a_branch_that_asks_whether_a_size_divides():
    """Both branches are emitted; what holds in the first is not said of the other."""

    def kernel(n, b, i, j):
        return TileBy([n // b, b]).OrderBy(Col(n // b, b))[i, j] if n % b == 0 else 7 * i + j

    (function,) = build_program(kernel, registry.printer("python")).functions
    assert not any(text.startswith("n % b ==") for text in function.assumptions)
    space = {}
    exec(generate(kernel, "python", name="of").source, space)
    for n, b in product(range(1, 13), range(1, 7)):
        for i, j in product(range(n // b), range(b)):
            assert holds(function, n=n, b=b, i=i, j=j)
            assert space["of"](n, b, i, j) == kernel(n, b, i, j)


def test_a_branch_whose_layout_needs_whole_tiles():
    """What one branch needs is a precondition of that branch."""

    def kernel(n, b, i):
        return TileBy([n // b, b])[i // b, i % b] if i < 5 else i

    assert "i >= 5 or n % b == 0" in assumed(kernel)
    assert not any(text.startswith("n % b") for text in assumed(kernel))


def test_a_quotient_of_a_sum_in_a_branch_may_be_0():
    """It is a size as it is, in a branch as elsewhere, and the header says that it is one."""

    def kernel(n, b, i):
        return TileBy([(n - 3) // b, b])[i // b, i % b] if i < 5 else i

    found = assumed(kernel)
    assert any(">= 1" in text and text.startswith("i >= 5 or") for text in found)
    assert not any("% b == 0" in text for text in found)


def test_a_quotient_that_is_a_size_divides_as_before():
    """As a size, a factor or a term of one; under max and as a factor, too."""
    assert "n % b == 0" in assumed(lambda n, b, i: GroupBy([n // b, b])[0, i])
    assert "n % b == 0" in assumed(lambda n, b, i: GroupBy([max(n // b, 2), n // b, b])[0, 0, i])


# -- sizes that are rounded up by what is left ----------------------------------------------------

ROUNDED = {
    "a comparison": lambda n, b: n // b + (n % b != 0),
    "divmod": lambda n, b: divmod(n, b)[0] + (divmod(n, b)[1] > 0),
    "the quotient again": lambda n, b: n // b + (n // b * b < n),
    "a number": lambda n, b: n // 2 + n % 2,
    "bits": lambda n, b: (n >> 1) + (n & 1),
    "the rest itself": lambda n, b: n - n // b * b + 1,
}


@pytest.mark.parametrize("name", ROUNDED)
def test_a_size_that_asks_for_the_rest_is_no_whole_quotient(name):
    rounded = ROUNDED[name]

    def layout(n, b):
        return Row(rounded(n, b), b)

    unit = generate(layout, "python")
    apply, inv = unit.functions
    assert not any("% b == 0" in a or "% 2 == 0" in a for a in apply.assumptions)
    made = {}
    exec(unit.source, made)
    for n, b in product(range(1, 14), range(1, 6)):
        holds = layout(n, b)
        takes = [{"n": n, "b": b}[p.name] for p in apply.params[:-2]]
        back = [{"n": n, "b": b}[p.name] for p in inv.params[:-1]]
        for i, j in product(*map(range, holds.dims)):
            assert made[apply.name](*takes, i, j) == holds[i, j]
            assert made[inv.name](*back, holds[i, j]) == (i, j)


@pytest.mark.parametrize("size", [lambda n, b: n // b, lambda n, b: n // b * b + 1])
def test_a_quotient_alone_divides(size):
    unit = generate(lambda n, b: Row(size(n, b), b), "python")
    assert "n % b == 0" in unit.functions[0].assumptions


def test_a_long_sum_is_said_as_the_product_that_it_is():
    m, n = symbols("m n")
    assert says(value(m * n + 31 * m + 31 * n + 960, Analyzer())) == "(m + 31)*(n + 31) - 1"
    assert says(value(m * n + m - n, Analyzer())) == "m*n + m - n"  # short ones stand as they are
    assert says(value(2 * m * n + 4 * n + 3 * m + 6, Analyzer())) == "(m + 2)*(2*n + 3)"


def test_a_quotient_that_is_rounded_up_is_said_so():
    n, b = symbols("n b")
    analyzer = Analyzer()
    assert says(value(-b * (-n // b), analyzer)) == "-b*((-n) // b)"  # b may be negative
    analyzer.learn_size("b")
    e = analyzer.rebuilt(-b * (-n // b))
    assert says(value(e, analyzer)) == "b*((b + n - 1) // b)"


@pytest.mark.parametrize("seed", range(40))
def test_what_is_said_of_a_sum_has_its_value(seed):
    """Products of random sums multiplied out, with more terms added, at random points."""
    rng, names = random.Random(seed), "abcd"
    symbol = dict(zip(names, symbols(" ".join(names)), strict=True))
    analyzer = Analyzer()
    for name in names:
        analyzer.learn_size(name)

    def linear():
        chosen = rng.sample(names, rng.randint(1, 2))
        return sum(
            (rng.choice((-3, -1, 1, 2)) * symbol[x] for x in chosen), Expr.of(rng.randint(-2, 2))
        )

    e = linear()
    for _ in range(rng.randint(1, 2)):
        e = analyzer.simplifier.times(e, linear())
    for _ in range(rng.randint(0, 2)):
        x, y = rng.sample(names, 2)
        e = e + rng.choice((-2, 1, 3)) * (rng.choice((-1, 1)) * symbol[x] // symbol[y]) * symbol[y]
    node = value(e, analyzer)
    for _ in range(20):
        at = {x: rng.randint(1, 30) for x in names}
        assert evaluate(node, at) == evaluated(e, at)

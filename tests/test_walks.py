"""Walks: the positions of a box of indices one after the other, without a division."""

import inspect
import itertools
import random
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from marks import rest_deep

from lego_emit import (
    AnyRank,
    Choice,
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    Lookup,
    Ragged,
    RegP,
    Row,
    TileBy,
    catalogue,
    cute,
    fori_loop,
    generate,
    golden,
    render,
    surfaces,
    symbols,
)  # fmt: skip
from lego_emit.check.walks import check_steps
from lego_emit.errors import (
    InternalError,
    LegoError,
    OptionError,
    TargetError,
    TraceError,
    WidthError,
)
from lego_emit.operations import DIVISIONS
from lego_emit.options import Options
from lego_emit.run.registry import toolchain
from lego_emit.trace.follow import TraceOptions
from lego_emit.trace.subject import traced_subject
from lego_emit.types import Array

LANGUAGES = ("c", "rust", "javascript", "cpp", "fortran", "julia", "cuda", "hip")
GOLDEN = Path(__file__).parent / "walks"
SIZES = {"H": 3, "W": 2, "N": 5}


def exchanged(i, j):
    return i * 32 + (j ^ i % 8)


def exchanged_inv(flat):
    return flat // 32, flat % 32 ^ flat // 32 % 8


def tiled(H, N, W):
    return GroupBy([H * N, W * N]).OrderBy(RegP([H, N, W, N], [0, 2, 1, 3]))


def eights(H, W):
    return GroupBy([H * 8, W * 8]).OrderBy(RegP([H, 8, W, 8], [0, 2, 1, 3]))


LAYOUTS = {
    "morton": catalogue["morton.2D"](32, 32),
    "rows of tiles": TileBy([4, 4], [8, 8]).OrderBy(Row(32, 32)),
    "eights": GroupBy([32, 32]).OrderBy(RegP([4, 8, 4, 8], [0, 2, 1, 3])),
    "sixes": GroupBy([36, 36]).OrderBy(RegP([6, 6, 6, 6], [0, 2, 1, 3])),
    "twice": GroupBy([36, 36]).OrderBy(RegP([2, 3, 6, 3, 2, 6], [0, 3, 1, 4, 2, 5])),
    "exchanged": GroupBy([32, 32]).OrderBy(GenP([32, 32], exchanged, exchanged_inv)),
    "unaligned": GroupBy([6, 4]).OrderBy(Col(6, 4)).OrderBy(Col(3, 8)),
    "padded": ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2])),
    "hilbert": catalogue["hilbert.2D"](8, 8),
    "flipped": cute.layout("(4,6):(-6,-1)"),
    "pitched": cute.layout("(4,(3,2)):(11,(1,4))"),
    "symbolic": tiled,
    "of eights": eights,
}


def numbered(layout):
    """A layout of numbers."""
    if not inspect.isfunction(layout):
        return layout
    names = layout.__code__.co_varnames[: layout.__code__.co_argcount]
    return layout(*(SIZES[n] for n in names))


def walked(unit):
    """The function of a unit that has the walk."""
    return next(f for f in unit.program.functions if f.walk)


def boxes(dims, count, rng):
    yield (0,) * len(dims), tuple(dims)
    for _ in range(count):
        yield tuple(rng.randint(0, n) for n in dims), tuple(rng.randint(0, n) for n in dims)


def expected(layout, walk, first, last):
    """What a walk gives, by the reference evaluator."""
    places = itertools.product(*(range(a, b) for a, b in zip(first, last, strict=True)))
    if walk == "memory":
        return [tuple(map(int, layout.reference_inv(flat))) for (flat,) in places]
    return [(int(np.asarray(layout.reference_apply(index)).item()),) for index in places]


def run(language, wanted, count=2, **options):
    """Compare walks over boxes with the reference; how many positions were compared. wanted: names of layouts and
    orders."""
    rng, compared, shift = random.Random(count), 0, options.get("base", 0)
    units = [generate(LAYOUTS[n], language, name="tex", walk=walk, **options) for n, walk in wanted]
    for (layout, walk), unit, compiled in zip(
        wanted, units, toolchain(language).compile(units), strict=True
    ):
        function, layout = walked(unit), numbered(LAYOUTS[layout])
        name = next(n for n in compiled if n.lower().endswith("walk"))
        dims = (layout.size,) if walk == "memory" else layout.dims
        for first, last in boxes(dims, count, rng):
            given = [SIZES[n] for n in function.walk.fixed]
            found = compiled[name](*given, *(n + shift for n in (*first, *last)))
            found = [*zip(*found, strict=True)] if walk == "memory" else [(int(v),) for v in found]
            due = [tuple(v + shift for v in w) for w in expected(layout, walk, first, last)]
            assert [tuple(map(int, f)) for f in found] == due, (first, last)
            compared += len(due)
    return compared


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_walks_give_the_positions_of_boxes(language, toolchain_of):
    toolchain_of(language)
    one_way = ("padded", "hilbert", "flipped", "pitched")
    wanted = [(n, "logical") for n in LAYOUTS]
    wanted += [(n, "memory") for n in LAYOUTS if n not in one_way]
    assert run(language, wanted) > 8000


@pytest.mark.parametrize(
    ("language", "index_type"),
    rest_deep([("c", "uint32"), ("javascript", "int64"), ("rust", "usize"), ("cpp", "uint64"), ("julia", "uint32")], 2),
)  # fmt: skip
def test_walks_have_the_index_type(language, index_type, toolchain_of):
    toolchain_of(language)
    names = ("morton", "eights", "sixes", "symbolic", "exchanged", "rows of tiles")
    assert run(language, [(n, "logical") for n in names], 1, index_type=index_type) > 3000


@pytest.mark.parametrize("language", rest_deep(["fortran", "julia"], 1))
def test_walks_count_from_1(language, toolchain_of):
    toolchain_of(language)
    names = ("morton", "eights", "sixes", "symbolic", "exchanged")
    wanted = [(n, walk) for n in names for walk in ("logical", "memory")]
    assert run(language, wanted, 1, base=1) > 3000


def test_walks_go_along_the_axes_that_are_named(toolchain_of):
    toolchain_of("c")
    layout = LAYOUTS["rows of tiles"]
    unit = generate(layout, "c", name="tex", walk=["l", "j"])
    found = unit.compile()["tex_walk"](2, 5, 1, 0, 8, 3)
    wanted = [layout.apply(2, j, 5, w) for w in range(1, 8) for j in range(3)]
    assert [*found] == wanted


AT_RUN_TIME = {
    "cases": (lambda tag: Choice(tag, {7: Row(16, 16), -2: Col(16, 16), 0: catalogue["morton.2D"](16, 16)}), (7, -2, 0)),
    "curve": (lambda n: catalogue["hilbert.2D"](n, n), (16,)),
}  # fmt: skip


def at_run_time(which, language, **options):
    """The unit of one of these, of a symbol."""
    assume = ["pow2(n)"] * (which == "curve")
    return generate(AT_RUN_TIME[which][0](symbols("n")), language, assume=assume, **options)


@pytest.mark.parametrize("language", rest_deep(LANGUAGES, 2))
def test_walks_compute_loops_and_switches(language, toolchain_of):
    """What a position takes at run time is in the functions of the walk."""
    toolchain_of(language)
    wanted = [(name, walk) for name in AT_RUN_TIME for walk in ("logical", "memory")]
    units = [at_run_time(name, language, name="tex", walk=walk) for name, walk in wanted]
    for (name, walk), compiled in zip(wanted, toolchain(language).compile(units), strict=True):
        of_number, values = AT_RUN_TIME[name]
        run = compiled[next(n for n in compiled if n.lower().endswith("walk"))]
        for value in values:
            fixed = of_number(value)
            dims = (256,) if walk == "memory" else (16, 16)
            for first, last in boxes(dims, 3, random.Random(value)):
                found = run(value, *first, *last)
                found = [*zip(*found, strict=True)] if walk == "memory" else [(v,) for v in found]
                assert found == expected(fixed, walk, first, last), (value, first, last)


@pytest.mark.parametrize("base", [0, 1])
def test_what_is_masked_is_the_greatest_number_of_an_unsigned_walk(base, toolchain_of):
    toolchain_of("c")
    layout = ExpandBy([5, 3], [6, 4], GroupBy([6, 4]).OrderBy(Col(6, 4)))
    whole = (layout.apply(*np.indices(layout.dims)) + base).ravel()
    whole[whole < base] = 0 if base else 2**32 - 1
    assert len({*whole}) == 16
    unit = generate(layout, "c", name="tex", walk="logical", index_type="uint32", base=base)
    found = unit.compile()["tex_walk"](base, base, 6 + base, 4 + base)
    assert found.tolist() == whole.tolist()


def test_what_a_step_asks_beyond_its_function_is_said():
    """At M = 1 and T = 38,000,000 the function fits, and the stride of the step, 64*T, does not."""
    M, T = symbols("M T")
    layout = cute.layout(((8, M), 4), ((1, 64 * T), 8))
    plain, unit = (
        generate(layout, "c", name="tex", index_type="int32", **options)
        for options in ({}, {"walk": ["i"]})
    )
    own = "64*M*T - 8*T + 24 <= 2**31 - 1"
    assert plain.functions[0].assumptions == (own,)
    assert unit.functions[0].assumptions == (own, "64*T <= 2**31 - 1")
    before, _, walk = unit.source.partition("typedef struct")
    asked = "@pre 64*T <= INT32_MAX"
    assert (asked in before, asked in walk) == (False, True)
    for T, fit in ((33_000_000, (True, True)), (38_000_000, (True, False))):
        assert tuple(bool(u.compile()["tex_fits"](1, T)) for u in (plain, unit)) == fit


@pytest.mark.slow
def test_no_step_divides():
    for name, layout in LAYOUTS.items():
        for target in ("c", "rust"):
            walk = walked(generate(layout, target, name="tex", walk="logical")).walk
            assert not any(n.op in DIVISIONS for f in walk.step for n in f.nodes()), name


@pytest.mark.slow
def test_the_way_is_the_cheapest():
    def step(layout, walk="logical"):
        source = generate(layout, "c", name="tex", walk=walk).source
        lines = source.partition("_next(tex_cursor *cursor) {\n")[2].splitlines()[1:]
        return [
            *itertools.takewhile(
                lambda line: "return;" not in line and line != "  }", map(str.rstrip, lines)
            )
        ]

    assert step(LAYOUTS["rows of tiles"]) == ["    cursor->flat += 1;"]
    assert step(LAYOUTS["morton"]) == [
        "    cursor->flat_bits = (cursor->flat_bits - 341) & 0x155;",
        "    cursor->flat = cursor->flat_bits | cursor->flat_rest;",
    ]
    assert step(eights) == ["    cursor->flat += (cursor->j & 7) == 0 ? 57 : 1;"]
    assert step(LAYOUTS["sixes"]) == [
        "    cursor->j_rest = cursor->j_rest == 5 ? 0 : cursor->j_rest + 1;",
        "    cursor->flat += cursor->j_rest == 0 ? 31 : 1;",
    ]
    assert step(LAYOUTS["exchanged"]) == [
        "    cursor->flat = (33 * cursor->i & 0x3e7) ^ cursor->j;"
    ]


def test_a_wrong_walk_is_not_given_out(monkeypatch):
    """The check compares sequences with the definition."""
    from lego_emit.trace import walks

    def wrong(self, known, tiles, values):
        return chosen(self, known, tiles, [v + 1 for v in values])

    chosen = walks._Making.chosen
    monkeypatch.setattr(walks._Making, "chosen", wrong)
    with pytest.raises(LegoError, match="the walk gives"):
        generate(eights, "c", walk="logical")


@pytest.mark.parametrize(
    ("subject", "walk", "numbers", "wrong"),
    [
        ("of eights", "logical", {"H": 2, "W": 3}, ("? 57 : 1", "? 56 : 1")),
        ("morton", "memory", {}, ("bits_3_2 & 31", "bits_3_2 & 15")),
        ("any rank", "logical", {"rank": 3}, (">strides[k];", ">strides[k] + k;")),
    ],
)
def test_verify_runs_walks(subject, walk, numbers, wrong, toolchain_of):
    toolchain_of("c")
    layout = LAYOUTS.get(subject) or AnyRank(4)
    domain = {"flat": 8} if subject == "any rank" else {}
    unit = generate(layout, "c", name="tex", walk=walk)
    for text, is_right in ((unit.source, True), (unit.source.replace(*wrong), False)):
        found = replace(unit, source=text).verify(sizes=numbers, domain=domain)
        (check,) = (c for c in found.checks if c.what.startswith("tex_walk and tex_"))
        assert (check.ok, text == unit.source) == (is_right, is_right), check
        assert is_right or "tex_walk g" in check.found


def rounds(n, i):
    return fori_loop(0, n, lambda k, s: s * 2 + 1, i, most=4)


H = symbols("H")


@pytest.mark.parametrize(
    ("subject", "options", "error", "message"),
    [
        (LAYOUTS["sixes"], {"target": "glsl"}, TargetError, "walks are not emitted in GLSL; .*Rust"),
        (LAYOUTS["sixes"], {"walk": ["i", "q"]}, OptionError, "walk names q, .* there are i, j"),
        (LAYOUTS["sixes"], {"walk": 3}, OptionError, "give logical, memory, or names"),
        (LAYOUTS["sixes"], {"walk": ["i", "i"]}, OptionError, "give logical, memory, or names"),
        (rounds, {}, OptionError, "rounds is not a function of a layout"),
        (Lookup([6], "perm"), {}, OptionError, "layout_apply has a parameter that is an array"),
        (Ragged([3, 3, 7]), {}, OptionError, "is not a function of a layout"),
        (Row(2**31), {}, WidthError, "one past the last i is 2147483648, which does not fit int32; choose a wider"),
        (Row(2**16, 2**16), {"walk": "memory", "index_type": "uint32"}, WidthError, "past the last flat is 4294967296"),
        (LAYOUTS["pitched"], {"walk": "memory"}, OptionError, "has no inverse"),
        (
            GroupBy([6, 6]).OrderBy(Lookup([6, 6], [*range(5, 36), *range(5)])).OrderBy(Col(4, 9)),
            {},
            TraceError,
            "walk: no step of layout along j is known without a division",
        ),
        (eights, {"methods": True, "target": "cpp"}, OptionError, "walk and methods are both given"),
        (eights, {"prepare": True}, OptionError, "walk and prepare are both given"),
        (LAYOUTS["sixes"], {"index": Array[2]}, OptionError, "walk and index are both given"),
    ],
)  # fmt: skip
@pytest.mark.quick(4)
def test_what_has_no_walk_says_so(subject, options, error, message):
    target = options.pop("target", "c")
    with pytest.raises(error, match=message):
        generate(subject, target, **{"walk": "logical", **options})


def low_bits(n, i):
    return fori_loop(0, n, lambda k, s: s + 1 if (i >> k) % 4 == 0 else s, 0, most=20)


def test_rustfmt_and_clippy_find_nothing(tmp_path, need):
    commands = {
        need("rustfmt", "rustup component add rustfmt"): ["--check"],
        need("clippy-driver", "rustup component add clippy"): [
            "--crate-type=lib", "--emit=metadata", "-D", "warnings", "-W", "clippy::pedantic",
        ],
    }  # fmt: skip
    named = {"tex_of": LAYOUTS["eights"], "place": LAYOUTS["sixes"], "symbolic": tiled}
    table = Lookup([16, 16], [*range(255, -1, -1)], as_table=True)
    units = [generate(named, "rust", walk=walk) for walk in ("logical", "memory")]
    units += [
        generate(named, "rust", walk="logical", names="PascalCase"),
        generate(table, "rust", walk="logical"),
    ]
    units += [at_run_time(name, "rust", walk="logical") for name in AT_RUN_TIME]
    twice = Choice(symbols("tag"), {0: Row(8, 8), 1: Col(8, 8), 2: Row(8, 8)})
    units += [
        generate(twice, "rust", walk="logical"),
        generate(low_bits, "rust", ranges={"n": (0, 20), "i": (0, 2**20)}),
    ]
    for k, unit in enumerate(units):
        path = tmp_path / f"walks_{k}.rs"
        path.write_text(unit.source)
        for command, options in commands.items():
            done = subprocess.run(
                [command, "--edition", "2021", *options, path],
                cwd=tmp_path,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stdout + done.stderr


def test_a_range_of_c_plus_plus_20(toolchain_of, tmp_path):
    """The class is an input range: algorithms and views take it."""
    toolchain_of("cpp")
    generate(LAYOUTS["sixes"], "cpp", name="tex", walk="logical").save(tmp_path / "tex.hpp")
    (tmp_path / "main.cpp").write_text("""
#include "tex.hpp"
#include <algorithm>
#include <ranges>
static_assert(std::input_iterator<lego::tex_walk>);
static_assert(std::ranges::input_range<lego::tex_walk>);
constexpr int last() {
  int found = -1;
  for (const int at : lego::tex_walk(0, 0, 36, 36)) found = at;
  return found;
}
static_assert(last() == 1295);
int main() {
  int count = 0;
  std::ranges::for_each(lego::tex_walk(0, 0, 36, 36), [&](int) { ++count; });
  for (const int at : lego::tex_walk(0, 0, 36, 36) | std::views::filter([](int n) { return n < 10; })) count += at;
  return count == 1296 + 45 ? 0 : 1;
}
""")  # fmt: skip
    command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "main.cpp", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True)


@pytest.mark.slow
def test_golden_files_are_as_they_should_be():
    """After a change that is meant: lego-emit golden update tests/walks."""
    found = golden.check(GOLDEN)
    assert found == [], "\n".join(map(str, found))


@pytest.mark.parametrize("language", rest_deep(LANGUAGES, 2))
def test_golden_cases_are_run(language, toolchain_of):
    toolchain_of(language)
    found = golden.verify(golden.cases(GOLDEN), language)
    assert found.mismatches == []
    assert found.cases == 7


@pytest.mark.parametrize("language", rest_deep(LANGUAGES[:7], 2))
def test_memory_of_any_rank_has_an_odometer(language, toolchain_of):
    toolchain_of(language)
    rng, compared = random.Random(7), 0
    kinds = {"shape": "int32", "strides": "int64"}
    units = [generate(AnyRank(unrolled=2), language, walk="logical")]
    units.append(generate(AnyRank(5), language, name="nd", walk="logical", param_types=kinds))
    for compiled in toolchain(language).compile(units):
        name = next(n for n in compiled if n.lower().endswith("walk"))
        for k in range(25):
            rank = rng.randint(0, 5)
            shape = [rng.randint(0 if k % 7 == 0 else 1, 4) for _ in range(rank)]
            strides = [rng.randint(-20, 20) for _ in range(rank)]
            indices = itertools.product(*map(range, shape))
            due = [sum(i * s for i, s in zip(index, strides, strict=True)) for index in indices]
            assert [*map(int, compiled[name](rank, shape, strides))] == due
            compared += len(due)
    assert compared > 1000


# -- steps and parts -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "axis", "text"),
    [
        ("morton", "j", "(flat | 682) + 1 & 341 | flat & 682"),
        ("morton", "i", "(flat | 341) + 1 & 682 | flat & 341"),
        ("eights", "j", "(57 if (j + 1) % 8 == 0 else 1) + flat"),
        ("eights", "i", "(200 if (i + 1) % 8 == 0 else 8) + flat"),
        ("rows of tiles", "k", "flat + 32"),
        ("sixes", "j", "(31 if (j + 1) % 6 == 0 else 1) + flat"),
        ("flipped", "j", "flat - 1"),
    ],
)
def test_a_step_is_an_expression(layout, axis, text):
    layout = LAYOUTS[layout]
    assert repr(layout.step(**{axis: 1})) == text
    names = layout.coordinates or ("i", "j", "k", "l")[: len(layout.dims)]
    place, count = names.index(axis), 0
    for index in itertools.product(*map(range, layout.dims)):
        if index[place] + 1 < layout.dims[place]:
            after = tuple(v + (n == place) for n, v in enumerate(index))
            values = dict(zip(names, index, strict=True)) | {"flat": layout.apply(*index)}
            assert eval(text, {}, values) == layout.apply(*after), index
            count += 1
    assert count > 10


def test_a_step_of_symbols():
    H, W, N = symbols("H W N")
    assert repr(eights(H, W).step(i=1)) == "(64*W - 56 if (i + 1) % 8 == 0 else 8) + flat"
    assert repr(tiled(H, N, W).step(j=1)) == "(N*N - N if (j + 1) % N == 0 else 0) + flat + 1"
    assert repr(GroupBy([H, W]).OrderBy(Row(H, W)).step(i=-2)) == "flat - 2*W"


@pytest.mark.slow
def test_a_step_in_a_template_is_a_choice():
    def rendered(step, **layouts):
        return render(f"{{% names i, j %}}p += {{{{ {step} }}}};", "cuda", **layouts)

    eights = LAYOUTS["eights"]
    assert rendered("A[i, j].step(j=1)", A=eights) == "p += ((j + 1) & 7) == 0 ? 57 : 1;"
    assert rendered("2 * A[i, j].step(i=1)", A=eights) == "p += (i & 7) < 7 ? 16 : 400;"
    for step in ("A[i, j].step(j=2)", "M[i, j].step(j=1)"):
        with pytest.raises(LegoError, match=r"not the same for every j: .* walk=\[\"j\"\]"):
            rendered(step, A=eights, M=LAYOUTS["morton"])


@pytest.mark.parametrize(
    ("layout", "by", "message"),
    [
        ("hilbert", {"i": 1}, r"no step without a division is known; generate\(.., walk="),
        ("morton", {"i": 2}, "no step without a division is known"),
        ("morton", {"q": 1}, "name one coordinate and how far it goes, as j=1; there are i, j"),
        ("morton", {}, "name one coordinate"),
        ("morton", {"i": "x"}, "name one coordinate"),
        ("chosen", {"j": 1}, "a choice of layouts gives the position, which is computed anew"),
    ],
)
def test_what_has_no_step_says_so(layout, by, message):
    with pytest.raises(LegoError, match=message):
        (LAYOUTS | {"chosen": Choice(H, {0: Row(4, 4), 1: Col(4, 4)})})[layout].step(**by)


@pytest.mark.parametrize("language", rest_deep(("c", "rust", "fortran", "javascript", "glsl"), 1))
@pytest.mark.parametrize("split", [True, "tables"])
def test_parts_join_to_the_position(language, split, toolchain_of):
    toolchain_of(language)
    signs = {"morton": "+", "sixes": "+", "exchanged": "^", "rows of tiles": "+", "flipped": "+"}
    units = [generate(LAYOUTS[n], language, name="tex", split=split) for n in signs]
    for (name, sign), compiled in zip(
        signs.items(), toolchain(language).compile(units), strict=True
    ):
        layout, total = LAYOUTS[name], None
        index = np.indices(layout.dims).reshape(len(layout.dims), -1)
        parts = [n for n in compiled if not n.lower().endswith(("apply", "inv"))]
        assert len(parts) == len(layout.dims)
        for part, values in zip(parts, index, strict=True):
            found = compiled[part](values)
            total = found if total is None else total ^ found if sign == "^" else total + found
        assert (total == layout.reference_apply(tuple(index))).all()


@pytest.mark.slow
def test_a_part_takes_the_sizes_that_it_depends_on():
    """H bounds neither j nor its part; all parts have the type of the position."""

    def parts(target="c", **options):
        unit = generate(eights, target, name="tex", split=True, **options)
        assert unit.verify(sizes={"H": 3, "W": 4})
        return [(f.index_type, [p.name for p in f.params]) for f in unit.functions[2:]]

    i, j = ["H", "W", "i"], ["W", "j"]
    assert parts(assume=["W <= 1000"]) == [("int64", i), ("int64", j)]
    assert parts(assume=["H <= W", "W < 9"]) == [("int32", i), ("int32", ["H", *j])]
    assert parts("cpp", methods=["H", "W"]) == [("int64", i), ("int64", ["H", *j])]


def swizzled(N):
    """Rows whose columns are exchanged by the row."""
    return {
        "rows": GenP([N, 32], lambda i, j: i * 32 + (j ^ i % 32 ^ 5), lambda p: (p // 32, p % 32 ^ p // 32 % 32 ^ 5)),
        "many": GenP([4096, 4096], lambda i, j: i * 4096 + (j ^ i % 8 * 4), lambda p: (p // 4096, p % 4096 ^ p // 4096 % 8 * 4)),
        "twice": GroupBy([N, 8, 16]).OrderBy(
            GenP(
                [N, 8, 16],
                lambda i, j, k: i * 128 + 16 * (j ^ i % 8) + (k ^ j),
                lambda p: (p // 128, p // 16 % 8 ^ p // 128 % 8, p % 16 ^ p // 16 % 8 ^ p // 128 % 8),
            )
        ),
    }  # fmt: skip


def test_parts_are_joined_by_an_exclusive_or_of_any_size(toolchain_of):
    toolchain_of("c")
    layouts, rng = swizzled(symbols("N")), np.random.default_rng(1)
    for name, layout in layouts.items():
        unit = generate(layout, "c", name="tex", split=True)
        run, numbers, total = unit.compile(), swizzled(7)[name], 0
        index = [rng.integers(0, n, 500) for n in numbers.dims]
        for part, values in zip(unit.functions[2:], index, strict=True):
            sizes = [7] * (len(part.params) - 1)
            total ^= run[part.name](*sizes, values)
        assert (total == numbers.reference_apply(tuple(index))).all(), name


@pytest.mark.parametrize(
    "position",
    [
        lambda i, j: i * 16 + (j ^ i % 32),  # a bit in common
        lambda i, j: i * j,
        lambda i, j: 3 * (i % 4 ^ j),
        lambda i, j: (i % 4 ^ j) - 32 * i,
    ],
)
def test_what_is_not_known_to_separate_says_so(position):
    def index(N):
        return GenP([N, 32], position)

    with pytest.raises(
        OptionError, match="not known to be a sum or an exclusive or of a part of i"
    ):
        generate(index, "c", split=True)


def crossed(i, j):
    return i * 8 + (i + j) % 8


def crossed_inv(flat):
    return flat // 8, (flat % 8 - flat // 8) % 8


@pytest.mark.parametrize(
    ("subject", "options", "message"),
    [
        (
            GroupBy([8, 8]).OrderBy(GenP([8, 8], crossed, crossed_inv)),
            {},
            "the part of i in the position of layout depends on j",
        ),
        (eights, {"split": "tables"}, "i of eights depends on sizes"),
        (LAYOUTS["padded"], {}, "layout masks some indices"),
        (LAYOUTS["sixes"], {"base": 1}, "layout counts from 1"),
        (LAYOUTS["sixes"], {"split": "maybe"}, "split is 'maybe'; give True or 'tables'"),
        (LAYOUTS["sixes"], {"split": np.array([1, 2])}, r"split is array\(\[1, 2\]\); give True"),
        (rounds, {}, "rounds is not a function of a layout"),
        (
            GroupBy([5000]).OrderBy(Row(5000)),
            {"split": "tables"},
            "has 5000 indices; a table has at most",
        ),
    ],
)
def test_what_does_not_separate_says_so(subject, options, message):
    with pytest.raises(OptionError, match=message):
        generate(subject, "c", **{"split": True, **options})


def test_axes_are_named_in_a_text_or_a_list():
    """As a project file and the command line give them."""
    kind = surfaces.keys(Options)["walk"]
    for given in ("j,i", ["j", "i"], ["j,i"], "j i"):
        assert Options(walk=kind.of_toml(given)).walk == ("j", "i")
    for given in ("memory", ["memory"]):
        assert Options(walk=kind.of_toml(given)).walk == "memory"
    for given in (True, [], "", ["i", ""]):
        with pytest.raises((ValueError, OptionError), match="give"):
            Options(walk=kind.of_toml(given) or " ")


@pytest.mark.slow
def test_parts_beside_walks_and_several_subjects():
    unit = generate(
        {"a": LAYOUTS["sixes"], "b": LAYOUTS["morton"]}, "c", split=True, walk="logical"
    )
    names = [f.name for f in unit.program.functions]
    assert names == ["a_apply", "a_inv", "a_i", "a_j", "b_apply", "b_inv", "b_i", "b_j"]
    assert "a_next" in unit.source and "b_next" in unit.source


STEPPED = ("c", "javascript", "fortran", "julia")


def crossing(H, W, N, result, j_rest, out, values, position, total):
    """Of names that array forms and steps want."""
    return tiled(H, N, W)[result, :] + j_rest + out + values + position + total


ARRAY_FORMS = {
    "row": lambda H, W, N, k: tiled(H, N, W)[k, :],
    "column": lambda H, W, N, k: tiled(H, N, W)[:, k],
    "whole": lambda H, W, N: tiled(H, N, W)[:, :],
    "crossing": crossing,
    "morton": lambda k: LAYOUTS["morton"][k, :],
    "sixes": lambda k: LAYOUTS["sixes"][k, :],
    "linear": lambda M, N, k: GroupBy([M, N])[k, :],
}
IN_STEPS = {
    "c": {"row", "whole", "crossing"},
    "javascript": {"row", "whole", "crossing", "morton", "sixes"},
    "fortran": {"row", "column", "whole", "crossing"},
    "julia": {"row", "column", "whole", "crossing"},
}


def in_steps(unit):
    return {f.name for f in unit.program.functions if f.steps}


@pytest.mark.parametrize("language", rest_deep(STEPPED, 2))
def test_array_forms_go_by_steps(language, toolchain_of):
    toolchain_of(language)
    unit = generate(ARRAY_FORMS, language, name="forms", index_type="auto")
    assert in_steps(unit) & IN_STEPS[language] == IN_STEPS[language]
    assert "linear" not in in_steps(unit)
    run = unit.compile().array
    for H, W, N in ((1, 1, 1), (2, 3, 4), (3, 1, 5), (1, 4, 2)):
        grid = np.array([w for (w,) in expected(tiled(H, N, W), "logical", (0, 0), (H * N, W * N))])
        grid = grid.reshape(H * N, W * N)
        for k in (0, H * N - 1):
            assert np.array_equal(run("row")(H, W, N, k), grid[k])
            assert np.array_equal(run("crossing")(H, W, N, k, 1, 2, 3, 4, 5), grid[k] + 15)
        assert np.array_equal(run("column")(H, W, N, W * N - 1), grid[:, -1])
        assert np.array_equal(run("whole")(H, W, N), grid)
    for name in ("morton", "sixes"):
        layout = LAYOUTS[name]
        for k in (0, 13, layout.dims[0] - 1):
            due = expected(layout, "logical", (k, 0), (k + 1, layout.dims[1]))
            assert [(v,) for v in run(name)(k).tolist()] == due


@pytest.mark.parametrize("language", STEPPED)
@pytest.mark.parametrize(
    ("made", "options"),
    [
        (ARRAY_FORMS["linear"], {}),
        (ARRAY_FORMS["row"], {"base": 1}),
        (lambda H, W, N: {"a": tiled(H, N, W)[0, :], "b": W}, {}),
        (lambda T, k: ExpandBy([5, 7], [6, 8], GroupBy([6, 8]))[k, :] // T, {}),
        (lambda H, W, n, k: tiled(H, n, W)[k, :] // (n + W), {}),
        (lambda n, k: fori_loop(0, n, lambda r, s: s * 2, GroupBy([4, n])[k, :], most=4), {}),
    ],
)  # fmt: skip
@pytest.mark.quick(8)
def test_array_forms_of_calls(language, made, options):
    """Where calls are as quick, or no step is known."""
    unit = generate(made, language, name="f", **options)
    assert all(f.axes for f in unit.program.functions) and not in_steps(unit)


def test_languages_whose_array_form_is_shared_or_goes_both_ways_call():
    for language in ("cpp", "rust", "cuda", "opencl", "metal", "glsl", "numpy", "mlir"):
        assert not in_steps(generate(ARRAY_FORMS["row"], language, name="row"))


def test_sizes_beyond_python_s_lengths_are_checked_too():
    """20*B*H is up to 2**64 - 1, and an axis of ':' longer than sys.maxsize."""

    def flat(B, H):
        return GroupBy([B * 4 * 5 * H]).OrderBy(RegP([B * 4, 5, H], [2, 1, 0]))[:]

    assert in_steps(generate(flat, "c", index_type="uint64"))


def test_steps_of_an_array_form_are_checked():
    (traced,) = traced_subject(ARRAY_FORMS["row"], "row", TraceOptions()).functions
    (function,) = generate(ARRAY_FORMS["row"], "c", name="row").program.functions
    assert check_steps(function, function.steps, traced.definition) > 20
    with pytest.raises(InternalError, match=r"row: the array form gives .* where the definition"):
        check_steps(function, replace(function.steps, step=()), traced.definition)

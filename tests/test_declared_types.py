"""Parameters, members and results that are declared as other integer types than the index type."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from marks import rest_slow

from lego_emit import Col, GroupBy, LegoError, generate, symbols
from lego_emit.cli import main
from lego_emit.emit import registry
from lego_emit.ir.index_types import DECLARED
from lego_emit.ir.nodes import evaluate
from lego_emit.types import I8, I16, I32, I64, U8, U16, U32, U64, Array, Bool, Size

C_FAMILY = "c cpp cuda hip metal opencl".split()
COMPILED = [*C_FAMILY, "rust", "fortran", "glsl", "wgsl"]
UNSIGNED = [*C_FAMILY, "rust"]  # languages that have all types


class Small(NamedTuple):
    x: I16
    y: I16


class Mixed(NamedTuple):
    a: I64
    b: Bool
    c: I16


class Plain(NamedTuple):
    x: I32
    y: I32


def voxel(size: Small, at: Small, n: I32, b: Bool) -> I64:
    return ((at.y * size.x + at.x) * n + n % 3) * 2 + b


def taken_apart(n: I64, w: I16) -> Mixed:
    return Mixed(n // w, n % w == 0, n % w)


def narrow(i: I8, j: I16) -> I16:
    return i * 3 + j


def elements(X: tuple[I16, I16], i: I8) -> tuple[I32, I32]:
    return X[0] * i, X[1] * i - X[0]


def less(i: I16, j: I32) -> Bool:
    return i < j


def named(i: I16, j: I16):
    return {"product": i * j * i, "difference": i - j}


def read_twice(i: I32, j: I32) -> I64:
    return i * j + (i + j) // 7 + min(i, j)


def chosen(flag: Bool, i: I16, j: I16) -> I32:
    return i * 2 if flag else j - i


def words(i: U8, j: U16, n: U32, most: Size) -> U64:
    return (i * n + j) % most + (i ^ j) + (n >> 3)


def negated(i: U16, n: U32, k: I64) -> I64:
    return k - n * 3 + (-i) // 4 - (n - i)


def plain(size: Plain, at: Plain) -> I64:
    return at.y * size.x + at.x


def plain_inverse(w: I32, n: I32) -> Plain:
    return Plain(n % w, n // w)


SIGNED = {
    "voxel": (voxel, {"at.x": (0, "size.x"), "at.y": (0, "size.y")}),
    "taken_apart": (taken_apart, {"n": (0, 10**6), "w": (1, 300)}),
    "narrow": (narrow, {"i": (0, 5), "j": (0, 50)}),
    "elements": (elements, {"i": (-5, 8)}),
    "less": (less, None),
    "named": (named, None),
    "read_twice": (read_twice, None),
    "chosen": (chosen, None),
}
ALL = {
    **SIGNED,
    "words": (words, {"most": (1, 10**6)}),
    "negated": (negated, {"k": (0, 1000)}),
}
SHADERS = {
    "plain": (plain, {"at.x": (0, "size.x"), "at.y": (0, "size.y")}),
    "plain_inverse": (plain_inverse, {"n": (0, 1000), "w": (1, 30)}),
    "read_twice": (read_twice, {"i": (0, 100), "j": (0, 100)}),
}
CASES = [
    *((t, n, ALL[n]) for t in UNSIGNED for n in ALL),
    *(("fortran", n, SIGNED[n]) for n in SIGNED),
    *((t, n, SHADERS[n]) for t in ("glsl", "wgsl") for n in SHADERS),
]


def points(function, count=60):
    """Values of the parameters in their ranges, the ends of small types among them."""
    numbers = random.Random(function.name)
    for _ in range(count):
        values = {}
        for p in function.params:
            least = max(p.lo if p.lo is not None else -300, -40_000)
            most = min(p.hi if p.hi is not None else 300, 70_000)
            for name in p.range.names():  # at.x < size.x
                most = min(most, values[name] - 1)
            if p.size and most > 300:
                most = 300
            values[p.name] = numbers.choice([least, most, *(numbers.randint(least, most),) * 3])
        yield values


def held(function, values):
    """Whether the results fit what they are declared as."""
    found = zip(function.evaluate(values).values(), function.output_types, strict=True)
    kinds = ((v, DECLARED[kind] if kind else function.index_type) for v, kind in found)
    return all(t.least <= v <= t.most for v, t in kinds)


@pytest.mark.parametrize("target", COMPILED)
def test_values_are_those_of_the_definition(target, toolchain_of):
    own = [(name, case) for t, name, case in CASES if t == target]
    units = [generate(fn, target, ranges=ranges) for _, (fn, ranges) in own]
    toolchain = toolchain_of(target)
    compiled = toolchain.compile(units)
    for (name, _), unit, run in zip(own, units, compiled, strict=True):
        (f,) = unit.functions
        rows = [v for v in points(f) if held(f, v)]
        assert len(rows) > 20, name
        for values in rows:
            found = run.columns(f.name, [values[p.name] for p in f.params])
            assert [int(v) for v in found] == list(f.evaluate(values).values()), (name, values)


@pytest.mark.parametrize("options", [{"arrays": "pointer"}, {"results": "out"}], ids=str)
@pytest.mark.parametrize("target", rest_slow(["c", "cpp", "cuda"]))
def test_forms_of_arrays_and_results_have_the_types(target, options):
    for name in ("elements", "taken_apart", "named"):
        fn, ranges = ALL[name]
        unit = generate(fn, target, ranges=ranges, **options)
        (f,), run = unit.functions, unit.compile()
        for values in filter(lambda v: held(f, v), points(f, 20)):
            found = run.columns(f.name, [values[p.name] for p in f.params])
            assert [int(v) for v in found] == list(f.evaluate(values).values()), (name, values)


def test_c_promotes_and_casts_where_it_must():
    unit = generate(read_twice, "c")
    assert "const int64_t i_i64 = (int64_t)i;" in unit.source  # min takes one type
    unit = generate(plain, "c", ranges=SHADERS["plain"][1])
    assert "return (int64_t)size.x * at.y + at.x;" in unit.source
    unit = generate(narrow, "c", ranges=SIGNED["narrow"][1])
    assert "return (int16_t)(3 * i + j);" in unit.source
    assert "int16_t narrow(int8_t i, int16_t j) {" in unit.source


def test_rust_shadows_what_is_read_more_than_once():
    source = generate(read_twice, "rust").source
    assert "let i = i as i64;" in source
    assert "pub const fn read_twice(i: i32, j: i32) -> i64 {" in source


def test_fortran_declares_kinds_and_logicals():
    source = generate(taken_apart, "fortran", ranges=SIGNED["taken_apart"][1]).source
    assert "integer(int64) :: a\n    logical :: b\n    integer(int16) :: c" in source
    assert "only: int16, int32, int64" in source


@pytest.mark.parametrize("target", ["python", "numpy", "julia", "javascript", "triton", "mlir"])
def test_languages_without_such_types_have_the_index_type(target):
    typed = generate(narrow, target, ranges=SIGNED["narrow"][1])

    def same(i, j):
        return i * 3 + j

    bare = generate(same, target, name="narrow", ranges=SIGNED["narrow"][1])
    assert typed.source.split("narrow(i: I8")[0] == bare.source.split("narrow(i, j)")[0]
    assert "I16" not in typed.source.split("-> I16")[-1]


def test_the_results_type_says_which_index_type():
    def product(i: I32, j: I32) -> I64:
        return i * j

    def short(i: I32, j: I32) -> I32:
        return i * j

    def remainder(i: I64) -> I64:
        return i % 8

    small = {"i": (0, 9), "j": (0, 9)}
    types = {
        fn.__name__: generate(fn, "cpp").functions[0].index_type
        for fn in (product, short, remainder)
    }
    assert types == {"product": "int64", "short": "int32", "remainder": "int64"}
    assert generate(product, "cpp", ranges=small).functions[0].index_type == "int32"
    assert generate(product, "cpp", index_type="int64", ranges=small).functions[0].index_type == (
        "int64"
    )


def test_options_say_the_same_as_annotations():
    def bare(X, i):
        return X * 2 + i

    def typed(X: I16, i: U8) -> I32:
        return X * 2 + i

    bare.__name__ = typed.__name__ = "f"
    given = {"X": "int16", "i": "uint8", "return": "int32"}
    a, b = generate(bare, "cpp", param_types=given), generate(typed, "cpp")
    assert a.source.split("namespace lego {")[1] == b.source.split("namespace lego {")[1]


def test_a_struct_has_the_types_of_its_fields_whoever_says_them():
    class Pair(NamedTuple):
        x: int
        y: int

    def apart(at: Pair, X: Array[2]) -> Pair:
        return Pair(at.x + X[0], at.y + X[1])

    source = generate(
        apart, "c", param_types={"at": "int16", "X": "int8", "return": "int16"}
    ).source
    assert "  int16_t x;\n  int16_t y;\n" in source
    assert "apart(Pair at, const int8_t X[2]) {" in source
    with pytest.raises(
        LegoError, match="two structs are named Pair, and their fields have other types"
    ):
        generate(apart, "c", param_types={"at": "int16"})


def test_layouts_take_and_give_declared_types():
    class Place(NamedTuple):
        row: U16
        col: U16

    class Extent(NamedTuple):
        m: U32
        n: U32

    M, N = symbols("M N")
    layout = GroupBy([M, N]).OrderBy(Col(M, N))
    unit = generate(layout, "cpp", index=Place, group={"size": Extent(M, N)})
    assert "layout_apply(Extent size, Place index) noexcept" in unit.source
    assert "static_cast<std::uint16_t>(flat % size_m_i64)" in unit.source
    assert unit.verify(sizes={"M": 5, "N": 7})
    fixed = generate(
        layout, "c", sizes={"M": 5, "N": 7}, param_types={"i": "uint8", "flat": "uint16"}
    )
    assert "int32_t layout_apply(uint8_t i, int32_t j)" in fixed.source
    assert fixed.verify()


@pytest.mark.slow
def test_structs_of_symbols_take_numbers_and_types():
    class Dims(NamedTuple):
        R: int
        C: int

    M, N = symbols("M N")
    layout, dims = GroupBy([M, N]).OrderBy(Col(M, N)), {"dims": Dims(M, N)}
    for sizes in ({"M": 6}, {"dims.R": 6}):
        unit = generate(layout, "cpp", group=dims, sizes=sizes)
        assert "layout_apply(" in unit.source and "return 6 * j + i;" in unit.source
        assert unit.verify(sizes={"N": 4})
    assert (
        "return 6 * j + i;" in generate(layout, "c", group=dims, sizes={"dims": Dims(6, 4)}).source
    )

    class Place(NamedTuple):
        row: int
        column: int

    types = {"index": "int16", "dims": "uint8"}
    source = generate(layout, "cpp", group=dims, index=Place, param_types=types).source
    assert "std::uint8_t R;" in source and "std::int16_t row;" in source
    with pytest.raises(LegoError, match="group: dims has M twice"):
        generate(layout, "cpp", group={"dims": Dims(M, M)})
    with pytest.raises(LegoError, match="group has index, which is what index= calls the index"):
        generate(layout, "cpp", group={"index": Dims(M, N)}, index=Dims)


def test_narrow_types_are_known_ranges():
    def product(i: I16, j: I16):
        return i * j

    (f,) = generate(product, "cpp").functions
    assert (f.index_type, f.assumptions) == ("int32", ())

    def wide(i: U32):
        return i + 1

    (f,) = generate(wide, "cpp").functions
    assert f.index_type == "uint32"

    def beside(i: U32, j: I8):
        return i + j

    (f,) = generate(beside, "cpp").functions
    assert f.index_type == "int64"


def test_what_a_conversion_needs_is_a_precondition():
    def f(n: Size, i: I64):
        return n * 2 + i

    (given,) = generate(f, "cpp", index_type="int32").functions
    assert {"n <= 2**31 - 1", "i <= 2**31 - 1", "-2147483648 <= i"} <= {*given.assumptions}

    def halved(i: I32, j: I32) -> I16:
        return i + j

    (given,) = generate(halved, "cpp", ranges={"i": (0, 100)}).functions
    assert any("<= 32767" in a for a in given.assumptions)
    assert any("-32768 <=" in a for a in given.assumptions)


def test_a_sign_that_is_lost_is_a_range():
    def f(i: I32, j: U32) -> U32:
        return i + j

    (given,) = generate(f, "cpp").functions
    assert (given.index_type, given.ranges) == ("int64", {"i": "", "j": ""})
    assert given.assumptions == ("i + j <= 4294967295", "0 <= i + j")
    (given,) = generate(f, "cpp", index_type="uint32").functions
    assert given.ranges == {"i": "i >= 0", "j": ""}
    with pytest.raises(LegoError, match="the range of i has negative numbers"):
        generate(f, "cpp", index_type="uint32", ranges={"i": (-8, 8)})


def test_unsigned_parameters_are_not_compared_with_zero(tmp_path):
    """Compilers warn of that."""

    def f(i: U8, n: Size, m: I64):
        return i * n + m

    unit = generate(f, "cpp", ranges={"i": (0, "m")}, checks=True, hints=True)
    assert "i >= 0" not in unit.source and "0 <= i" not in unit.source
    (tmp_path / "f.hpp").write_text(unit.source)
    (tmp_path / "main.cpp").write_text(
        '#include "f.hpp"\nint main() { return int(lego::f(1, 2, 3) - 5); }\n'
    )
    flags = "-std=c++17 -Wall -Wextra -Wconversion -Wsign-conversion -Werror".split()
    done = subprocess.run(
        ["g++", *flags, "main.cpp", "-o", "main"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "main"]).returncode == 0


def f_axis(n: I32, N: I32):
    return GroupBy([N, 4])[:, 1] + n


def f_never(i: I8) -> I8:
    return i + 300


def f_mixed(X: tuple[I16, I32]):
    return X[0]


@pytest.mark.parametrize(
    ("fn", "target", "options", "message"),
    [
        (f_axis, "cpp", {}, "f_axis: it has an array form, whose parameters have the index type"),
        (f_never, "cpp", {}, "f_never: result is never in -128..127, as int8 holds; declare it"),
        (f_mixed, "cpp", {}, "the annotation of X has elements of several types"),
        (narrow, "glsl", {}, "GLSL has no int16; parameters and results can be int32, int64"),
        (words, "fortran", {}, "Fortran has no size; parameters and results can be int8, int16"),
        (
            narrow,
            "cpp",
            {"param_types": {"k": "int8"}},
            "param_types names k, which is no parameter",
        ),
        (narrow, "cpp", {"param_types": {"i": "int9"}}, "param_types: i is 'int9'; there are int8"),
        (narrow, "cpp", {"param_types": ["i"]}, "give a dict such as"),
    ],
)
def test_errors_name_the_place_and_the_way_out(fn, target, options, message):
    with pytest.raises(LegoError, match=message.replace("(", r"\(").replace("..", r"\.\.")):
        generate(fn, target, **options)


def test_command_line_and_toml_take_types(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("f.py").write_text("def f(i, j):\n    return i * 4 + j\n")
    command = ["generate", "f.py:f", "-t", "c", "--param-types", "i=int16,return=int64"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert (
        "int64_t f(int16_t i, int64_t j) {" in done.output or "int64_t f(int16_t i," in done.output
    )


def test_clippy_and_rustfmt_find_nothing(tmp_path, need):
    need("clippy-driver", "apt-get install rust-clippy")
    need("rustfmt", "apt-get install rustfmt")
    for name, (fn, ranges) in ALL.items():
        path = tmp_path / f"{name}.rs"
        path.write_text(generate(fn, "rust", ranges=ranges).source)
        lints = ["-D", "warnings", "-W", "clippy::pedantic", "--edition", "2021"]
        command = ["clippy-driver", *lints, "--crate-type", "lib", "-o", tmp_path / "out", path]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, (name, done.stderr)
        done = subprocess.run(["rustfmt", "--check", path], capture_output=True, text=True)
        assert done.returncode == 0, (name, done.stdout)


def test_declared_types_cost_no_operations():
    def cluster(w, h, x, y, z, slices):
        return (y * w + x) * slices + z

    ranges = {"x": (0, "w"), "y": (0, "h"), "z": (0, "slices")}
    bare = generate(cluster, "cuda", ranges=ranges).functions[0]
    for kind in ("uint32", "int64", "int16"):
        types = dict.fromkeys("w h x y z slices return".split(), kind)
        typed = generate(cluster, "cuda", ranges=ranges, param_types=types).functions[0]
        assert (typed.op_count, typed.cost) == (bare.op_count, bare.cost), kind


def test_truths_are_joined_as_a_programmer_would():
    def inside(p: Plain, low: Plain, high: Plain) -> Bool:
        return low.x <= p.x and p.x < high.x and (p.y < high.y or low.y == p.y)

    cpp, fortran, wgsl = (generate(inside, t).source for t in ("cpp", "fortran", "wgsl"))
    expected = "return low.x <= p.x && (p.x < high.x && (p.y < high.y || p.y == low.y));"
    assert expected in cpp and expected in wgsl
    assert ".and." in fortran and "merge(" not in fortran
    unit = generate(inside, "cpp")
    run = unit.compile()["inside"]
    for x in range(-1, 4):
        for y in range(-1, 4):
            at = Plain(x, y), Plain(0, 0), Plain(3, 2)
            assert bool(run(*at)) == inside(*at)

    def number(a: I8) -> Bool:
        return a

    with pytest.raises(LegoError, match="may be another number than 0 and 1"):
        generate(number, "cpp")


def test_unsigned_structs_are_computed_without_signs():
    class Tile(NamedTuple):
        x: U32
        y: U32

    def tile(dims: Tile, index: U32) -> Tile:
        return Tile(index % dims.x, index // dims.x)

    assert "return vec2<u32>(index % dims.x, index / dims.x);" in generate(tile, "wgsl").source
    assert "return {index % dims.x, index / dims.x};" in generate(tile, "cpp").source


def test_signed_parameters_of_an_unsigned_result_keep_their_signs():
    def clamped(p: I32, n: I32) -> Size:
        return min(max(p, 0), n - 1)

    unit = generate(clamped, "cpp")
    assert unit.functions[0].index_type == "int64"
    assert unit.compile()["clamped"](-5, 7) == 0
    assert "/// @return 0 <= the result" in unit.source


def test_an_index_that_a_struct_cannot_hold_is_refused():
    class Byte(NamedTuple):
        a: I8
        b: I8

    class Word(NamedTuple):
        a: U16
        b: U16

    with pytest.raises(LegoError, match="w_inv: i reaches 999, and Byte has int8, which holds 127"):
        generate(GroupBy([1000, 2]), "cpp", index=Byte, name="w")
    M, N = symbols("M N")
    inverse = generate(GroupBy([M, N]), "cpp", index=Word, name="w").functions[1]
    assert {"M <= 65536", "N <= 65536"} <= {*inverse.assumptions}


def test_languages_without_the_types_say_their_ranges():
    def f(x: U8):
        return x % 256

    assert "x: 0 <= x < 256" in generate(f, "python").source
    assert (
        "x" in generate(f, "cpp").functions[0].ranges
        and not generate(f, "cpp").functions[0].ranges["x"]
    )


def test_debug_builds_assert_what_a_conversion_loses():
    def f(n: Size, i: U32) -> Size:
        return n * 2 + i

    source = generate(f, "c", index_type="int32", checks=True).source
    assert "assert(n <= 2147483647);" in source and "assert(i <= 2147483647u);" in source

    def g(x: I8, y: I16) -> U32:
        return x * 3 + y

    source = generate(g, "c", index_type="uint32", checks=True).source
    assert "assert(x >= 0);" in source and "assert(y >= 0);" in source


# -- texts in the place of parameters --------------------------------------------------------------


class Extent(NamedTuple):
    x: U32
    y: U32


def cluster(size: Extent, at: Extent, z: U32, slices: U32) -> U32:
    return (at.y * size.x + at.x) * slices + z


INSIDE = {"at.x": (0, "size.x"), "at.y": (0, "size.y"), "z": (0, "slices")}


def test_a_text_stands_in_the_place_of_a_parameter(tmp_path):
    bind = {"size": "params.screen", "z": "block.z", "slices": "16u + 8u"}
    unit = generate(cluster, "cpp", ranges=INSIDE, bind=bind, namespace="acme")
    assert "inline std::uint32_t cluster(Extent at) {" in unit.source  # the text may be no constant
    returned = "return (16u + 8u) * (params.screen.x * at.y + at.x) + block.z;"
    assert returned in unit.source
    assert "/// @pre block.z < (16u + 8u)" in unit.source
    (tmp_path / "cluster.hpp").write_text(unit.source)
    (tmp_path / "main.cpp").write_text(
        "#include <cstdint>\n"
        "namespace acme { struct Extent; }\n"
        "struct { struct { std::uint32_t x, y; } screen; } params{{10u, 20u}};\n"
        "struct { std::uint32_t z; } block{3u};\n"
        '#include "cluster.hpp"\n'
        "int main() { return acme::cluster({4u, 5u}) != 24u * (5u * 10u + 4u) + 3u; }\n"
    )
    command = "g++ -std=c++17 -Wall -Wextra -Werror -Wconversion main.cpp -o main".split()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "main"]).returncode == 0


def test_a_text_of_any_type_is_converted():
    """blockIdx.z is unsigned: a difference would be, too."""

    def halved(x: int, z: int) -> int:
        return (x - z) // 2 + 5

    ranges, bind = {"x": (0, 10), "z": (0, 10)}, {"z": "blockIdx.z"}
    source = generate(halved, "cuda", ranges=ranges, bind=bind).source
    assert "return ((x - static_cast<int>(blockIdx.z)) >> 1) + 5;" in source


@pytest.mark.parametrize(
    ("target", "returned"),
    [
        ("wgsl", "return slices * (params.screen.x * at.y + at.x) + u32(id.z);"),
        ("glsl", "return slices * (params.screen.x * at.y + at.x) + u32(id.z);"),
        ("rust", "slices * (params.screen.x * at.y + at.x) + u32(id.z)"),
        ("c", "return slices * (params.screen.x * at.y + at.x) + u32(id.z);"),
    ],
)
def test_texts_stand_in_every_language(target, returned):
    bind = {"size": "params.screen", "z": "u32(id.z)"}
    unit = generate(cluster, target, ranges=INSIDE, bind=bind)
    assert returned in unit.source
    with pytest.raises(
        LegoError, match=r"cluster reads (params\.screen|u32\(id\.z\)), which nobody"
    ):
        unit.compile()


def test_a_struct_that_a_text_stands_for_is_not_defined():
    def flat(size: Extent, i: int, j: int) -> int:
        return j * size.x + i

    unit = generate(flat, "cpp", bind={"size": "self.size"})
    assert "struct Extent" not in unit.source
    assert "static_cast<std::int64_t>(self.size.x)" in unit.source


@pytest.mark.parametrize(
    ("bind", "target", "message"),
    [
        ({"sizes": "s"}, "cpp", r"bind names sizes, which is no parameter; .* Did you mean 'size'"),
        ({"size": ""}, "cpp", "bind: size is ''; give a text on one line"),
        ({"z": "a; b"}, "cpp", "'a; b' has the end of a statement, ;; give an expression"),
        ({"size": "s"}, "numpy", "bind: a function in NumPy has no texts for parameters"),
        ({"z": "size.x)"}, "c", "'size.x\\)' has a bracket without a partner"),
        ({"z": "a // b"}, "c", "'a // b' has a comment, //; give an expression"),
        ({"z": "slices"}, "c", "bind: z is 'slices', which is a parameter"),
        (["size"], "cpp", "give a dict such as"),
    ],
)
def test_wrong_texts_are_refused(bind, target, message):
    with pytest.raises(LegoError, match=message):
        generate(cluster, target, ranges=INSIDE, bind=bind)


# -- random functions of random types --------------------------------------------------------------

OPERATORS = [
    "+",
    "-",
    "*",
    "+",
    "-",
    "*",
    "//",
    "%",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "min",
    "if",
    "~",
    "neg",
]


def expression(numbers, names, depth):
    """A random expression of the names, as text."""
    if depth == 0 or numbers.random() < 0.15:
        constant = str(numbers.choice([0, 1, 2, 3, 7, 16, 100, 255, -1, -3, 1000]))
        return numbers.choice(names) if numbers.random() < 0.8 else constant
    op = numbers.choice(OPERATORS)
    a, b, c, d = (expression(numbers, names, depth - 1) for _ in range(4))
    return {
        "//": f"(({a}) // {numbers.choice([2, 3, 7, 8, 10])})",
        "%": f"(({a}) % {numbers.choice([2, 3, 7, 8, 10])})",
        "<<": f"(({a}) << {numbers.choice([1, 2, 5])})",
        ">>": f"(({a}) >> {numbers.choice([1, 2, 5])})",
        "min": f"min({a}, {b})",
        "if": f"(({a}) if ({c}) {numbers.choice(['<', '>=', '==', '!='])} ({d}) else ({b}))",
        "~": f"(~({a}))",
        "neg": f"(-({a}))",
    }.get(op, f"(({a}) {op} ({b}))")


def random_function(seed, kinds):
    """(a random function, its types, ranges and options)."""
    numbers = random.Random(seed)
    names = [f"p{k}" for k in range(numbers.randint(1, 4))]
    types = {name: numbers.choice(kinds) for name in names if numbers.random() < 0.8}
    space = {}
    text = expression(numbers, names, numbers.randint(1, 4))
    exec(f"def f{seed}({', '.join(names)}):\n    return {text}\n", space)
    if numbers.random() < 0.8:
        types["return"] = numbers.choice([k for k in kinds if k != "bool"])
    own = [t for t in ("int32", "int64", "uint32", "uint64") if t in kinds]
    options = {"index_type": numbers.choice(own)} if numbers.random() < 0.3 else {}
    ranges = {n: (0, numbers.choice([2, 10, 100])) for n in names if numbers.random() < 0.4}
    return space[f"f{seed}"], {"param_types": types, "ranges": ranges or None, **options}


def all_values_fit(function, values):
    """Whether every value on the way fits the index type, which the header asks for."""
    known, ends = dict(values), function.index_type.ends
    for name, node in (*function.body, *function.outputs):
        inner = (evaluate(n, known) for n in node.walk() if not n.is_bool)
        if not all(ends[0] <= value <= ends[1] for value in inner):
            return False
        known[name] = evaluate(node, known)
    return held(function, values)


def drawn(function, numbers):
    """Values of the parameters: ends of their types, small ones, others."""
    values = {}
    for p in function.params:
        index = function.index_type
        kind = DECLARED[p.type] if p.type else index
        least = max(-(2**62), kind.least, index.least, *([p.lo] if p.lo is not None else []))
        most = min(2**62, kind.most, index.most, *([p.hi] if p.hi is not None else []))
        small = min(most, max(least, numbers.randint(-20, 20)))
        values[p.name] = numbers.choice([least, most, small, small, numbers.randint(least, most)])
    return values


@pytest.mark.parametrize(
    ("target", "first", "count"),
    [
        ("cpp", 1, 60),
        ("rust", 1, 60),
        *(
            pytest.param(t, 100, 200, marks=pytest.mark.deep)
            for t in [*C_FAMILY, "rust", "fortran"]
        ),
    ],
)
def test_random_functions_of_random_types(target, first, count, toolchain_of):
    toolchain = toolchain_of(target)
    kinds = [k for k in DECLARED if k in registry.printer(target).declared_types]
    units, functions = [], []
    for seed in range(first, first + count):
        fn, options = random_function(seed, kinds)
        try:
            units.append(generate(fn, target, **options))
            functions.append(fn)
        except LegoError:  # a value that never fits
            continue
    assert len(units) > count * 0.8
    compared = 0
    for fn, unit, run in zip(functions, units, toolchain.compile(units), strict=True):
        (f,), numbers = unit.functions, random.Random(fn.__name__)
        for values in (drawn(f, numbers) for _ in range(40)):
            if not all_values_fit(f, values):
                continue
            arguments = [values[p.name] for p in f.params]
            (found,) = run.columns(f.name, arguments)
            assert (int(found) - int(fn(*arguments))) % 2**64 == 0, (unit.source, values)
            compared += 1
    assert compared > 15 * count


def test_a_word_without_a_sign_stays_one_in_wgsl(toolchain_of):
    """wgpu's i64 of a u32 keeps a sign."""

    def after(a: U32) -> I64:
        return a + 1

    def same(y: U64):
        return y

    units = [generate(after, "wgsl"), generate(same, "wgsl", index_type="uint32")]
    one, two = toolchain_of("wgsl").compile(units)
    assert "i64(u64(a))" in units[0].source
    assert one["after"](2**32 - 1) == 2**32 and two["same"](3310433151) == 3310433151


@pytest.mark.parametrize("language", ["c", "cpp", "rust", "fortran"])
def test_a_result_that_is_a_parameter_of_its_type_is_not_converted(toolchain_of, language):
    def halves(a: I16, b: I8, c: I16) -> I16:
        return a if b else c

    def same(a: I16, b: I16) -> tuple[I16, I16]:
        return b, a

    units = [generate(halves, language), generate(same, language)]
    assert not re.search(r"_i32|as i\d|int\(|int16_t[)>]", units[1].source), units[1].source
    one, two = toolchain_of(language).compile(units)
    assert one["halves"](-32768, 0, 7) == 7 and two["same"](-32768, 5) == (5, -32768)

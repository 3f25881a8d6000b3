"""Static sizes in signatures: emitted, compiled in every language, and compared with the plain form."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import fake_cuda
import numpy as np
import pytest
from marks import rest_slow
from typed import halved, tile

from lego_emit import GroupBy, LegoError, OrderBy, Row, generate, golden
from lego_emit.emit import registry
from lego_emit.types import I8, I32, U8, U16, Bool, Size, Static

LANGUAGES = "c cpp cuda hip opencl metal rust fortran julia javascript glsl wgsl python numpy triton mlir".split()
ORDINARY = ("javascript", "python", "numpy", "mlir")
ROOT = Path(__file__).parent.parent


class Coord(NamedTuple):
    x: int
    y: int


def plain(BM: int, BN: int, M: int, N: int, i: int, j: int) -> int:
    return i // BM * BM * N + j // BN * BM * BN + i % BM * BN + j % BN


def bricks(BM: Static[int], BN: Static[I32], M: int, N: int):
    """A matrix in bricks.

    Args:
        BM: how tall a brick is.
    """
    layout = OrderBy(Row(M // BM, N // BN, BM, BN))
    return GroupBy([M // BM, N // BN, BM, BN]).OrderBy(layout)


def parts(BM: Static[I32], M: int, i: int):
    return {"square": min(BM * BM, M), "rest": i % BM, "part": max(BM, i // BM)}


def coord(at: Coord, bm: Static[int]) -> Coord:
    return Coord(at.x // bm, at.y * bm + at.x % bm)


def alone(BM: Static[int], BN: Static[int]) -> int:
    return BM * BN + BM


def swept(BM: Static[int], BN: Static[int], k: int):
    return GroupBy([BM, BN])[:, :] * k


INSIDE = {"i": (0, "M"), "j": (0, "N")}
SIZES = {"BM": 4, "BN": 3}
SUBJECTS = {
    "tile": (tile, {"ranges": INSIDE, "sizes": SIZES}),
    "bricks": (bricks, {"sizes": SIZES}),
    "parts": (parts, {"ranges": {"i": (0, 1000), "M": (0, 9999)}, "sizes": {"BM": 5}}),
    "coord": (coord, {"ranges": {"at.x": (0, 99), "at.y": (0, 99)}, "sizes": {"bm": 7}}),
    "alone": (alone, {"sizes": SIZES}),
}


def emitted(language, **more):
    """A unit of each subject."""
    found = [
        generate(fn, language, name=name, **(options | more))
        for name, (fn, options) in SUBJECTS.items()
    ]
    together = [tile, plain]
    return [*found, generate(together, language, name="both", ranges=INSIDE, sizes=SIZES, **more)]


@pytest.fixture(scope="module", params=rest_slow(LANGUAGES, 2))
def compiled(request, toolchain_of):
    """The subjects of a language, compiled, by name."""
    more = {"checks": True} if registry.printer(request.param).has_checks else {}
    more |= {"hints": True} if registry.printer(request.param).has_hints else {}
    units = emitted(request.param, **more)
    runs = toolchain_of(request.param).compile(units)
    return dict(zip([*SUBJECTS, "both"], runs, strict=True))


def table(*sizes):
    """All indices below the sizes, a column each."""
    return [column.ravel() for column in np.indices(sizes)]


def test_tile(compiled):
    i, j = table(8, 9)
    found = compiled["tile"]["tile"](4, 3, 8, 9, i, j)
    assert (found == plain(4, 3, 8, 9, i, j)).all()
    assert sorted(found) == [*range(72)]
    assert compiled["tile"]["tile"](4, 3, 8, 9, 7, 8) == 71
    if compiled["tile"].unit.program.fits:
        assert compiled["tile"]["tile_fits"](4, 3, 8, 9) is True
        assert compiled["tile"]["tile_fits"](4, 3, 0, 9) is False


def test_a_layout_of_static_sizes(compiled):
    run = compiled["bricks"]
    index = table(2, 3, 4, 3)
    found = run["bricks_apply"](4, 3, 8, 9, *index)
    assert (found == np.arange(72)).all()
    for column, wanted in zip(run["bricks_inv"](4, 3, 8, 9, found), index, strict=True):
        assert (column == wanted).all()
    if run.unit.program.fits:
        assert [run["bricks_fits"](4, 3, m, 9) for m in (7, 8)] == [False, True]


def test_declared_types_and_several_results(compiled):
    i = np.arange(1000)
    square, rest, part = compiled["parts"]["parts"](5, 20, i)
    assert (square == 20).all() and (rest == i % 5).all()
    assert (part == np.maximum(5, i // 5)).all()


def test_structs_beside_static_sizes(compiled):
    for x, y in ((0, 0), (7, 3), (98, 98)):
        assert compiled["coord"]["coord"](Coord(x, y), 7) == Coord(x // 7, y * 7 + x % 7)


def test_a_function_of_static_sizes_alone(compiled):
    assert compiled["alone"]["alone"](4, 3) == 16


def test_a_name_that_another_function_has(compiled):
    """The sizes of a plain function are folded, beside one whose sizes are static."""
    i, j = table(8, 9)
    wanted = plain(4, 3, 8, 9, i, j)
    assert (compiled["both"]["tile"](4, 3, 8, 9, i, j) == wanted).all()
    assert (compiled["both"]["plain"](8, 9, i, j) == wanted).all()


def test_another_number(compiled):
    run = compiled["tile"]["tile"]
    if compiled["tile"].unit.printer.name in ORDINARY:
        assert run(2, 3, 8, 9, 7, 8) == plain(2, 3, 8, 9, 7, 8)
        return
    with pytest.raises(
        LegoError, match=r"compiled for BM = 4, and cannot be called with 2; give .*'BM': 2"
    ):
        run(2, 3, 8, 9, 7, 8)
    with pytest.raises(LegoError, match="compiled for BN = 3, and cannot be called with 5"):
        run(4, np.array([3, 5]), 8, 9, 7, 8)


@pytest.mark.parametrize("language", rest_slow(["cpp", "c", "cuda", "opencl", "metal", "rust"]))
def test_types_of_their_own(language, toolchain_of):
    def three(a: Static[U8], b: Static[U16], c: Static[Size], i: int) -> int:
        return max(a * b, i) + i // (b * c) * (a * a)

    units = [
        generate(
            three, language, index_type=t, ranges={"i": (0, 99)}, sizes={"a": 5, "b": 3, "c": 2}
        )
        for t in ("int64", "uint32", "uint64")
    ]
    i = np.arange(99)
    wanted = np.maximum(15, i) + i // 6 * 25
    for run in toolchain_of(language).compile(units):
        assert (run["three"](5, 3, 2, i) == wanted).all()


@pytest.mark.parametrize("language", rest_slow(LANGUAGES, 2))
def test_every_width(language, toolchain_of):
    toolchain = toolchain_of(language)
    i, j = table(8, 9)
    widths = [
        t for t in ("int32", "uint32", "int64", "uint64") if t in registry.printer(language).types
    ]
    units = [generate(tile, language, index_type=t, ranges=INSIDE, sizes=SIZES) for t in widths]
    units += [
        generate(
            parts, language, index_type=t, ranges={"i": (0, 1000), "M": (0, 9999)}, sizes={"BM": 5}
        )
        for t in widths
    ]
    several = generate(
        tile, language, name="several", index_type=widths[:2], ranges=INSIDE, sizes=SIZES
    )
    try:
        runs = toolchain.compile([*units, several])
    except LegoError as error:  # the device
        assert "no 64-bit integers" in str(error)
        return
    for run in (*runs[: len(widths)], runs[-1]):
        for name, f in run.items():
            if not name.endswith("_fits"):
                assert (f(4, 3, 8, 9, i, j) == plain(4, 3, 8, 9, i, j)).all()
    for run in runs[len(widths) : -1]:
        square, rest, _ = run["parts"](5, 20, i)
        assert (square == 20).all() and (rest == i % 5).all()


def test_index_types_of_a_language(toolchain_of):
    """Those that no other language has: Fortran's default integer, C's size_t, Rust's usize."""
    small = {**INSIDE, **{n: (1, 99) for n in ("BM", "BN", "M", "N")}}
    for language, widths in (
        ("fortran", "integer"),
        ("fortran", ("integer", "int64")),
        ("c", "size_t"),
        ("rust", "usize"),
    ):
        unit = generate(tile, language, index_type=widths, ranges=small, sizes=SIZES)
        run = toolchain_of(language).compile([unit])[0]
        for name, f in run.items():
            if name.endswith("_fits"):
                assert [f(4, 3, m, 9) for m in (8, 99)] == [True, False]
            else:
                assert f(4, 3, 8, 9, 7, 8) == 71


def test_verify(toolchain_of):
    toolchain_of("cpp")
    unit = generate(tile, "cpp", ranges=INSIDE, sizes=SIZES)
    found = unit.verify(sizes={"M": 8, "N": 9}, claim="bijective")
    assert found and "equal (72 indices" in str(found)
    with pytest.raises(LegoError, match="compiled for BM = 4, and cannot be verified with 8"):
        unit.verify(sizes={"BM": 8, "M": 8, "N": 9})
    assert generate(tile, "python", ranges=INSIDE, sizes=SIZES).verify(
        sizes={"BM": 8, "M": 8, "N": 9}
    )


@pytest.mark.slow
@pytest.mark.parametrize("language", ["cpp", "rust", "fortran", "julia"])
def test_time(language, toolchain_of):
    toolchain_of(language)
    unit = generate(tile, language, ranges=INSIDE, sizes=SIZES)
    assert unit.time(sizes={"M": 8, "N": 9}, repeat=2).cost("apply", "ours") is not None


# -- texts ---------------------------------------------------------------------------------------


def test_templates():
    text = generate(tile, "cpp", ranges=INSIDE).source
    assert (
        "// tile(BM: Static[int], BN: Static[int], M: int, N: int, i: int, j: int) -> int\n" in text
    )
    assert text.count("template <std::int64_t BM, std::int64_t BN>\n[[nodiscard]] constexpr ") == 2
    assert "/// @tparam BM BM >= 1\n" in text and "@param BM" not in text
    text = generate(tile, "cpp", ranges=INSIDE, sizes={"BN": 3}).source
    assert "template <std::int64_t BM, std::int64_t BN = 3>\n" in text
    text = generate(tile, "cpp", ranges=INSIDE, sizes={"BM": 3}).source
    assert "template <std::int64_t BM, std::int64_t BN>\n" in text
    text = generate(halved, "cpp", sizes={"n": 8}).source
    assert "template <std::int32_t n = 8>\n" in text
    assert "// halved(n: Static[I32], i: int) -> int\n" in text
    for language, T in (("cuda", "long long"), ("hip", "long long"), ("metal", "long")):
        text = generate(tile, language, ranges=INSIDE).source
        assert "template <int BM, int BN>\n" in text and f"{T} tile(" not in text
        text = generate(tile, language, ranges=INSIDE, index_type="auto").source
        assert f"template <{T} BM, {T} BN>\n" in text and f"{T} tile(" in text
    text = generate(tile, "rust", ranges=INSIDE).source
    assert (
        "pub const fn tile<const BM: i64, const BN: i64>(M: i64, N: i64, i: i64, j: i64) -> i64 {"
        in text
    )
    assert "/// - `BM >= 1`\n" in text
    assert "#[allow(non_upper_case_globals)]\n" in generate(coord, "rust").source


def test_macros():
    unit = generate(bricks, "c", sizes={"BM": 64})
    assert "// how tall a brick is; BM >= 1\n#ifndef BM\n#define BM 64\n#endif\n" in unit.source
    assert (
        "#error BN is a static size: define it before this file, as with -DBN=32\n" in unit.source
    )
    assert "bricks_apply(\n    int64_t M, int64_t N, int64_t i, " in unit.source
    assert "@param BM" not in unit.source and "flat % scaled / ((int64_t)BM * BN)" in unit.source
    wide = generate(tile, "c", ranges=INSIDE, index_type="uint64", sizes=SIZES).source
    assert "  const uint64_t BM_u64 = (uint64_t)BM;\n" in wide
    assert "return (uint64_t)BM >= 1ull" in wide


def test_constants():
    text = generate(tile, "fortran", ranges=INSIDE, sizes=SIZES).source
    assert "  !> BM >= 1\n  integer(int64), parameter, public :: BM = 4_int64\n" in text
    assert "elemental integer(int64) function tile(M, N, i, j)\n" in text

    def narrow(n: Static[I8], i: int) -> int:
        return i // n * 100 + i % n

    for n, text in ((4, "4_int8"), (-128, "not(huge(0_int8))")):
        given = {"sizes": {"n": n}, "ranges": {"n": (-128, 5) if n < 0 else (1, 5), "i": (0, 99)}}
        unit = generate(narrow, "fortran", **given)
        assert f"  integer(int8), parameter, public :: n = {text}\n" in unit.source
    text = generate(tile, "glsl", ranges=INSIDE, sizes=SIZES).source
    assert "// BM >= 1\nconst int BM = 4;\n" in text and "int tile(int M, int N, " in text
    text = generate(tile, "wgsl", ranges=INSIDE, sizes=SIZES).source
    assert "/// BM >= 1\nconst BM: i32 = 4;\n" in text and "fn tile(M: i32, N: i32, " in text


def test_arguments():
    text = generate(tile, "julia", ranges=INSIDE).source
    assert "function tile(::Val{BM}, ::Val{BN}, M::Int64, N::Int64, " in text
    assert "where {BM, BN}\n" in text and "    tile(Val(BM), Val(BN), M, N, i, j)\n" in text
    text = generate(tile, "julia", ranges=INSIDE, index_type="int32").source
    assert "where {BM, BN, Ti<:Union{Int32, Int64}}\n" in text and "div(i, Ti(BM))" in text
    text = generate(tile, "triton", ranges=INSIDE).source
    assert "def tile(BM: tl.constexpr, BN: tl.constexpr, M, N, i, j):\n" in text
    for language in ORDINARY:
        text = generate(tile, language, ranges=INSIDE, sizes=SIZES).source
        assert text == generate(tile, language, ranges=INSIDE).source
        assert re.search(r"tile\(%?BM\b.*, %?BN\b.*, %?M\b.*, %?N\b", text.split("Static")[-1])


@pytest.mark.slow
def test_the_body_is_that_of_ordinary_parameters():
    """A static size stays a symbol: its number is a default, and not folded."""
    for language in LANGUAGES:
        if language not in ("fortran", "glsl", "wgsl"):
            own = generate(tile, language, ranges=INSIDE, sizes=SIZES).functions[0]
            other = generate(tile, language, ranges=INSIDE).functions[0]
            assert own.body == other.body and own.outputs == other.outputs


@pytest.mark.parametrize("language", ["c", "cpp", "cuda"])
def test_clang_format_changes_nothing(language, need, tmp_path):
    formatter = need("clang-format", "apt-get install clang-format")
    style = (ROOT / ".clang-format").read_text()
    style += "PointerAlignment: Right\n" if language == "c" else ""
    (tmp_path / ".clang-format").write_text(style)

    def many(
        tile_height: Static[int], tile_width: Static[int], tile_depth: Static[int], M: int, i: int
    ) -> int:
        return i // tile_height * tile_width + i % tile_depth * M

    units = [*emitted(language), generate(many, language, sizes={"tile_depth": 3})]
    for unit in units:
        path = tmp_path / f"text.{'h' if language == 'c' else 'hpp'}"
        path.write_text(unit.source)
        command = [formatter, "--style=file", path.name]
        found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert found.stdout == unit.source


@pytest.mark.slow
def test_clippy_and_rustfmt(tmp_path):
    for program in ("clippy-driver", "rustfmt"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is missing")
    for k, unit in enumerate(emitted("rust")):
        path = tmp_path / f"unit_{k}.rs"
        path.write_text(unit.source)
        lints = ["-D", "warnings", "-W", "clippy::pedantic"]
        command = ["clippy-driver", "--edition", "2021", "--crate-type=lib", "--emit=metadata"]
        for run in ([*command, *lints, path.name], ["rustfmt", "--check", path.name]):
            found = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
            assert found.returncode == 0, found.stdout + found.stderr + unit.source


def test_another_number_by_a_macro(tmp_path, toolchain_of):
    """Whoever includes the file has the last word, and one that says nothing is told to."""
    path = toolchain_of("c").path()
    (tmp_path / "tile.h").write_text(generate(tile, "c", ranges=INSIDE, sizes={"BN": 3}).source)
    (tmp_path / "main.c").write_text(
        '#include "tile.h"\nint main(void) { return (int)tile(8, 9, 7, 8) != EXPECTED; }\n'
    )

    def built(*defined):
        command = [path, *toolchain_of("c").flags, *defined, "main.c", "-o", "main"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    wanted = plain(2, 5, 8, 9, 7, 8)
    found = built("-DBM=2", "-DBN=5", f"-DEXPECTED={wanted}")
    assert found.returncode == 0, found.stderr
    assert subprocess.run(["./main"], cwd=tmp_path, check=False).returncode == 0
    found = built("-DEXPECTED=0")
    assert found.returncode and "define it before this file, as with -DBM=32" in found.stderr


def test_several_instances(tmp_path, toolchain_of):
    path = toolchain_of("cpp").path()
    (tmp_path / "tile.hpp").write_text(generate(tile, "cpp", ranges=INSIDE, sizes=SIZES).source)
    text = '#include "tile.hpp"\n'
    for BM, BN in ((2, 3), (8, 1)):
        call = f"lego::tile<{BM}, {BN}>(8, 9, 7, 8)"
        text += f"static_assert({call} == {plain(BM, BN, 8, 9, 7, 8)});\n"
    text += f"static_assert(lego::tile(8, 9, 7, 8) == {plain(4, 3, 8, 9, 7, 8)});\n"
    (tmp_path / "main.cpp").write_text(text)
    command = [path, *toolchain_of("cpp").flags, "-c", "main.cpp"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("language", ["cuda", "hip"])
@pytest.mark.slow
def test_device_code(language, tmp_path, toolchain_of):
    toolchain = toolchain_of(language)
    units = emitted(language)
    made = toolchain.assembly(units, tmp_path) if language == "hip" else None
    if language == "cuda":
        if shutil.which("nvcc") is None:
            pytest.skip("nvcc is missing")
        made = toolchain.cubin(units, tmp_path)
    assert made and all(path.exists() for path in made)


@pytest.mark.slow
def test_on_a_gpu(monkeypatch, need):
    """Called and verified by kernels, which the stand-in of a GPU runs."""
    need("g++", "apt-get install g++")
    fake_cuda.install(monkeypatch)
    unit = generate(tile, "cuda", ranges=INSIDE, sizes=SIZES)
    run, (i, j) = unit.compile("gpu")["tile"], table(8, 9)
    assert (run(4, 3, 8, 9, i, j) == plain(4, 3, 8, 9, i, j)).all()
    with pytest.raises(LegoError, match="compiled for BM = 4, and cannot be called with 2"):
        run(2, 3, 8, 9, i, j)
    assert unit.verify("gpu", sizes={"M": 8, "N": 9}, claim="bijective")
    assert generate(bricks, "cuda", sizes=SIZES).verify("gpu", sizes={"M": 8, "N": 9})
    with pytest.raises(LegoError, match="give generate"):
        generate(tile, "cuda", ranges=INSIDE).compile("gpu")


@pytest.mark.parametrize("language", rest_slow(["cpp", "c", "python", "fortran"]))
def test_a_golden_case(language, toolchain_of, tmp_path, monkeypatch):
    """The table has the numbers, and each text, of whatever language, takes them."""
    toolchain_of(language)
    folder = tmp_path / "static_bricks"
    folder.mkdir()
    (folder / "layout.py").write_text(
        "from lego_emit import GroupBy, OrderBy, Row\n"
        "from lego_emit.types import Static\n"
        'sizes, fixed = {"M": 8, "N": 9}, {"BM": 4, "BN": 3}\n'
        "def kernel(BM: Static[int], BN: Static[int], M: int, N: int):\n"
        "    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))\n"
    )
    monkeypatch.delenv("CI", raising=False)  # there golden files are not written
    golden.update(tmp_path, [language])
    assert not golden.check(tmp_path, [language])
    for numbers in (False, True):
        found = golden.verify([golden.load(folder)], language, numbers=numbers)
        assert found.comparisons == 144 and not found.mismatches


# -- refusals ------------------------------------------------------------------------------------


def of_a_struct(at: Static[Coord]):  # pyright: ignore
    return at.x


def of_a_bool(flag: Static[Bool]):
    return flag


def gives_one(i: int) -> Static[int]:
    return i


class Held(NamedTuple):
    BM: Static[int]


def of_a_member(at: Held, i: int):
    return i // at.BM


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        (
            of_a_struct,
            r"of_a_struct: the annotation of at is Static\[Coord\]; .* write Static\[int\]",
        ),
        (of_a_bool, r"the annotation of flag is Static\[Bool\]; a static size is one integer"),
        (gives_one, "gives_one: its result's is Static; a result is no size: write int"),
        (of_a_member, "Held, whose field BM is Static; a static size is a parameter of its own"),
        (
            swept,
            r"in C\+\+ there is no array form of a function with static sizes \(BM, BN\); write a parameter",
        ),
    ],
)
def test_what_is_no_static_size(subject, message):
    with pytest.raises(LegoError, match=message):
        generate(subject, "cpp")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": {"BM": 0}}, "tile assumes 1 <= BM, which is false for BM = 0 of sizes="),
        (
            {"sizes": {"BM": 9}, "ranges": {"BM": (1, 8)}},
            "assumes BM < 8, which is false for BM = 9",
        ),
        ({"sizes": SIZES, "assume": ["BM % BN == 0"]}, "is false for BM = 4, BN = 3"),
        (
            {"sizes": {"BM": 2**40}, "index_type": "int32"},
            "BM = 1099511627776 of sizes= does not fit its type",
        ),
        ({"group": {"size": ("BM", "M")}}, "group: size has BM, a static size"),
    ],
)
def test_numbers_that_are_refused(options, message):
    options = {**options, "ranges": INSIDE | options.get("ranges", {})}
    with pytest.raises(LegoError, match=message):
        generate(tile, "cpp", **options)


def test_numbers_that_are_missing(toolchain_of):
    for language in ("fortran", "glsl", "wgsl"):
        with pytest.raises(
            LegoError, match=r"a static size is a constant in .* give sizes=\{'BM': 32\}"
        ):
            generate(tile, language, ranges=INSIDE, sizes={"BN": 3})
    for language in ("c", "cpp"):
        toolchain_of(language)
        unit = generate(tile, language, ranges=INSIDE, sizes={"BN": 3})
        with pytest.raises(
            LegoError, match=r"its static sizes: give generate\(\) sizes=\{'BM': 32\}"
        ):
            unit.compile()


def test_views_are_refused():
    with pytest.raises(
        LegoError, match=r"no view of a function with static sizes \(BM, BN\); write no view=True"
    ):
        generate(bricks, "cpp", view=True)


def test_array_forms_where_sizes_are_ordinary(toolchain_of):
    run = toolchain_of("python").compile([generate(swept, "python")])[0]
    assert (run.array("swept")(2, 3, 5) == np.arange(6).reshape(2, 3) * 5).all()


def test_ranges_below_one():
    def shifted(k: Static[int], i: int) -> int:
        return i + k

    text = generate(shifted, "cpp", ranges={"k": (-4, 5), "i": (0, 9)}, sizes={"k": -3}).source
    assert "template <std::int32_t k = -3>\n" in text
    text = generate(shifted, "c", ranges={"k": (-4, 5), "i": (0, 9)}, sizes={"k": -3}).source
    assert "#define k (-3)\n" in text


def test_other_reports(toolchain_of):
    unit = generate(tile, "cpp", ranges=INSIDE, sizes=SIZES)
    assert "BM >= 1; BN >= 1; M >= 1" in str(unit.explain())
    assert "tile at BM=4, BN=3, M=8, N=9" in str(unit.show(sizes={"M": 8, "N": 9}))
    assert unit.self_check.points["tile"] > 0

"""Methods of a type that holds the sizes: emitted, compiled in every language, and compared with the plain form."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import fake_cuda
import numpy as np
import pytest
from click.testing import CliRunner
from marks import rest_deep
from test_javascript import STRICT, checked

from lego_emit import Col, GroupBy, Lookup, OrderBy, Row, generate, golden, isqrt, symbols
from lego_emit.cli import main
from lego_emit.emit import registry
from lego_emit.errors import OptionError, TargetError, VerifyError
from lego_emit.options import Options
from lego_emit.surfaces import keys
from lego_emit.types import I16, I64, Array, NativeType, Static

LANGUAGES = ("cpp", "rust", "python", "javascript", "julia", "fortran", "cuda", "hip", "metal")
WITHOUT = ("c", "opencl", "glsl", "wgsl", "triton", "numpy", "mlir")
ROOT = Path(__file__).parent.parent
M, N = symbols("M N")
VOLUME = GroupBy([M, N]).OrderBy(Col(M, N))


class Coord(NamedTuple):
    x: int
    y: int


class Size(NamedTuple):
    rows: int
    columns: int


def tile(M: int, N: int, i: int, j: int) -> int:
    """Where an element lies.

    Args:
        M: how many rows there are.
    """
    return i // 4 * 4 * N + j // 4 * 16 + i % 4 * 4 + j % 4


def voxel(size: Coord, X: Array[3], at: Coord, k: I16, w: I64) -> I64:
    return (at.y * size.x + at.x) * X[0] + X[1] + k * 3 + w + X[2] // 7


def parts(count: int, i: int):
    return {"rest": i % count, "part": i // count}


def bricks(BM: Static[int], BN: Static[int], M: int, N: int):
    return GroupBy([M // BM, N // BN, BM, BN]).OrderBy(OrderBy(Row(M // BM, N // BN, BM, BN)))


def fixed(BM: Static[int], BN: Static[int]):
    return GroupBy([BM, BN]).OrderBy(Col(BM, BN))


def shifted(BM: Static[int], k: int) -> int:
    return k + BM


def inv(fits: int, apply: int, sizes: int, self: int, this: int) -> int:
    """Names that methods and languages have."""
    return (fits * sizes + apply) * self + this


def idle(M: int, i: int, j: int) -> int:
    return i * 3 + j


INSIDE = {"i": (0, "M"), "j": (0, "N")}
STATIC = {"BM": 4, "BN": 3}
SUBJECTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "volume": (VOLUME, {"methods": True}),
    "from_one": (VOLUME, {"methods": True, "base": 1}),
    "one_size": (VOLUME, {"methods": "M"}),
    "grouped": (VOLUME, {"methods": True, "index": Size, "group": {"size": Size(M, N)}}),
    "tile": (tile, {"methods": "M, N", "ranges": INSIDE}),
    "voxel": (voxel, {"methods": ["size", "X", "w"]}),
    "parts": (parts, {"methods": "count", "ranges": {"i": (-500, 500), "count": (1, 99)}}),
    "bricks": (bricks, {"methods": True, "sizes": STATIC, "index_type": "int32"}),
    "fixed": (fixed, {"methods": True, "sizes": STATIC}),
    "inv": (inv, {"methods": "fits, apply"}),
    "idle": (idle, {"methods": "M", "index_type": "int32"}),
}
SEVERAL: dict[str, Any] = {"tile": tile, "volume": VOLUME, "idle": idle, "shifted": shifted}


def emitted(language, **more):
    """A unit of each subject, and one of several, some of which hold nothing."""
    found = [
        generate(subject, language, name=name, **(options | more))
        for name, (subject, options) in SUBJECTS.items()
    ]
    more |= {"ranges": {"i": (0, "M")}, "sizes": {"BM": 4}}
    return [*found, generate(SEVERAL, language, name="several", methods="N", **more)]


@pytest.fixture(scope="module", params=rest_deep(LANGUAGES))
def compiled(request, toolchain_of):
    """The subjects of a language, compiled, by name."""
    printer = registry.printer(request.param)
    more = {"checks": True} if printer.has_checks else {}
    more |= {"hints": True} if printer.has_hints else {}
    units = emitted(request.param, **more)
    runs = toolchain_of(request.param).compile(units)
    return dict(zip([*SUBJECTS, "several"], runs, strict=True))


def table(*sizes) -> list[Any]:
    """All indices below the sizes, a column each."""
    return [column.ravel() for column in np.indices(sizes)]


def test_layouts(compiled):
    i, j = table(6, 8)
    flat = compiled["volume"]["volume_apply"](6, 8, i, j)
    assert (flat == j * 6 + i).all()
    back = compiled["volume"]["volume_inv"](6, 8, flat)
    assert (back[0] == i).all() and (back[1] == j).all()
    from_one = compiled["from_one"]["from_one_apply"](6, 8, i + 1, j + 1)
    assert (from_one == flat + 1).all()
    back = compiled["from_one"]["from_one_inv"](6, 8, from_one)
    assert (back[0] == i + 1).all() and (back[1] == j + 1).all()
    assert (compiled["one_size"]["one_size_apply"](6, 8, i, j) == flat).all()
    if compiled["volume"].unit.program.fits:
        fits = compiled["volume"]["volume_fits"]
        assert [fits(6, 8), fits(0, 8), fits(2**52, 2**52)] == [True, False, False]


def test_structs_as_index_and_as_sizes(compiled):
    run = compiled["grouped"]
    for i, j in ((0, 0), (5, 7), (3, 2)):
        assert run["grouped_apply"](Size(6, 8), Size(i, j)) == j * 6 + i
        assert run["grouped_inv"](Size(6, 8), j * 6 + i) == Size(i, j)


def test_functions(compiled):
    i, j = table(8, 12)
    assert (compiled["tile"]["tile"](8, 12, i, j) == tile(8, 12, i, j)).all()
    for k, w in ((-8, 5), (7, -(2**40)), (32767, 2**50)):
        given = (Coord(3, -4), (5, -6, -7), Coord(-1, 2), k, w)
        assert compiled["voxel"]["voxel"](*given) == voxel(*given)
    given = np.arange(-500, 500)
    for count in (1, 7, 98):
        rest, part = compiled["parts"]["parts"](count, given)
        assert (rest == given % count).all() and (part == given // count).all()
    assert compiled["inv"]["inv"](3, -5, 7, 11, 2) == inv(3, -5, 7, 11, 2)
    assert compiled["idle"]["idle"](9, 5, 1) == 16


def test_static_sizes(compiled):
    run, index = compiled["bricks"], table(2, 3, 4, 3)
    flat = run["bricks_apply"](4, 3, 8, 9, *index)
    assert (flat == np.arange(72)).all()
    for column, wanted in zip(run["bricks_inv"](4, 3, 8, 9, flat), index, strict=True):
        assert (column == wanted).all()
    i, j = table(4, 3)
    flat = compiled["fixed"]["fixed_apply"](4, 3, i, j)
    assert (flat == j * 4 + i).all()
    assert (compiled["fixed"]["fixed_inv"](4, 3, flat)[1] == j).all()
    if run.unit.program.fits:
        assert [run["bricks_fits"](4, 3, m, 9) for m in (7, 8)] == [False, True]


def test_several_subjects(compiled):
    """Each has a type of its own; what holds nothing is a function."""
    run, (i, j) = compiled["several"], table(8, 12)
    assert (run["tile"](8, 12, i, j) == tile(8, 12, i, j)).all()
    assert (run["volume_apply"](8, 12, i, j) == j * 8 + i).all()
    assert (run["idle"](8, i, j) == i * 3 + j).all()
    assert run["shifted"](4, 5) == 9
    holders = {f.name: f.receiver is not None for f in run.unit.functions}
    assert holders == {
        "tile": True, "volume_apply": True, "volume_inv": True, "idle": False, "shifted": False,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_the_form_is_that_of_the_plain_function(language):
    """What the plain form computes stands in the method: the same operations in the same types."""
    for name, (subject, options) in SUBJECTS.items():
        more = {k: v for k, v in options.items() if k != "methods"}
        if name in ("bricks", "fixed") and registry.printer(language).static in ("", "argument"):
            continue  # a static size is a member there
        plain = generate(subject, language, name=name, **more)
        unit = generate(subject, language, name=name, **options)
        pairs = zip(plain.functions, unit.functions, strict=True)
        for f, own in pairs:
            assert (f.name, f.op_count, f.index_type) == (own.name, own.op_count, own.index_type)


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_verify(language, toolchain_of):
    toolchain_of(language)
    unit = generate(VOLUME, language, name="volume", methods=True)
    assert unit.verify(sizes={"M": 6, "N": 8})
    for one, wrong in ((Row(M, N), False), (Col(M, N), True)):
        reference = GroupBy([M, N]).OrderBy(one)
        assert bool(unit.verify(sizes={"M": 6, "N": 8}, reference=reference)) is wrong
    assert generate(tile, language, methods="M, N", ranges=INSIDE).verify(sizes={"M": 8, "N": 12})


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_a_golden_case(language, toolchain_of, tmp_path, monkeypatch):
    """Golden tables are compared with the methods."""
    toolchain_of(language)
    folder = tmp_path / "methods_tile"
    folder.mkdir()
    (folder / "layout.py").write_text(
        "from lego_emit import OrderBy, Row\n"
        'sizes, methods = {"M": 8, "N": 9}, True\n'
        "def kernel(M: int, N: int):\n"
        "    return OrderBy(Row(M, N)).TileBy((M // 4, N // 3), (4, 3))\n"
    )
    monkeypatch.delenv("CI", raising=False)  # there golden files are not written
    golden.update(tmp_path, [language, "c"])
    assert not golden.check(tmp_path, [language, "c"])
    assert golden.load(folder).emit(language).functions[0].receiver
    for numbers in (False, True):
        found = golden.verify([golden.load(folder)], language, numbers=numbers)
        assert found.comparisons == 144 and not found.mismatches


@pytest.mark.parametrize("language", ["cpp", "rust", "julia", "fortran", "javascript"])
@pytest.mark.deep
def test_time(language, toolchain_of):
    toolchain_of(language)
    unit = generate(VOLUME, language, name="volume", methods=True)
    found = unit.time(sizes={"M": 64, "N": 64}, repeat=2)
    assert None not in (found.cost("apply", "ours"), found.cost("inv", "ours"))


def pair(M: int, i: int) -> tuple[int, int]:
    return i // 3 + M, i % 3


def scaled(M: int, i: int) -> int:
    return M * i


def coord(size: Coord, i: int) -> int:
    return size.x * i + size.y


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_names_that_the_file_has(language, toolchain_of):
    """Types, results, methods and objects that would be called alike."""
    names = ("pair_result", "PairResult", "inv", "self", "sizes", "this", "fits", "M", "index")
    several = {"pair": pair, **dict.fromkeys(names, scaled)}
    (run,) = toolchain_of(language).compile([generate(several, language, methods="M")])
    emitted_names = [f.name for f in run.unit.functions]
    assert run[emitted_names[0]](7, 50) == (23, 2)
    assert [run[name](7, 5) for name in emitted_names[1:]] == [35] * len(names)
    one = generate(coord, language, name="Coord", methods="size")
    (run,) = toolchain_of(language).compile([one])
    assert run[one.functions[0].name]((3, 4), 5) == 19


def turned(X: Array[3], i: Array[3], n: int) -> Array[3]:
    return i[1] * X[0] + n, i[2] * X[1], i[0] + X[2]


def next_to(size: Coord, at: Coord) -> Coord:
    return Coord((at.x + 1) % size.x, at.y + at.x // size.x)


def hashed(x: int, y: int, size: int) -> int:
    return (x ^ (y * 2654435761)) % size


def looked_up(M: int, i: int, j: int) -> int:
    return GroupBy([4]).OrderBy(Lookup([4], [2, 0, 3, 1]))[j] * M + isqrt(i)


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_other_options(language, toolchain_of):
    """Forms of arrays and results, arithmetic that wraps, tables, helpers and two index types."""
    printer = registry.printer(language)
    units = [
        generate(looked_up, language, methods="M", ranges={"i": (0, 10**6)}),
        generate(VOLUME, language, name="volume", methods=True, index_type=["auto", "int32"]),
    ]
    if "uint32" in printer.wrapping:
        options: dict[str, Any] = {"methods": "size", "index_type": "uint32", "wrapping": True}
        units.append(generate(hashed, language, **options))
    forms = [(a, r) for a in ("", *printer.array_forms) for r in ("", *printer.result_forms)]
    for arrays, results in dict.fromkeys(forms):
        own: dict[str, Any] = {"arrays": arrays or None, "results": results or None}
        units.append(generate(turned, language, methods="X", **own))
        units.append(generate(next_to, language, methods="size", **own))
    given = ((2, 3, 4), (5, 6, 7), 9)
    for run in toolchain_of(language).compile(units):
        if "turned" in run:
            assert run["turned"](*given) in (turned(*given), [*turned(*given)])
        if "next_to" in run:
            assert run["next_to"](Coord(5, 7), Coord(4, 2)) == Coord(0, 2)
        if "hashed" in run:
            assert run["hashed"](3, 5, 100) == (3 ^ 5 * 2654435761 % 2**32) % 100
        if "looked_up" in run:
            assert run["looked_up"](10, 100, 2) == 40
        if "volume_i32_apply" in run:
            assert run["volume_apply"](6, 8, 5, 7) == run["volume_i32_apply"](6, 8, 5, 7) == 47


# -- the texts -----------------------------------------------------------------------------------


def test_cpp():
    unit = generate(VOLUME, "cpp", name="volume", index_type="int32", methods=True)
    assert (
        """struct volume {
  /// M >= 1
  std::int32_t M;
  /// N >= 1
  std::int32_t N;

  /// Physical position of the logical index (i, j).
  /// @param i 0 <= i < M
  /// @param j 0 <= j < N
  /// @return 0 <= the result < M*N
  /// @pre M*N <= INT32_MAX
  [[nodiscard]] constexpr std::int32_t operator()(std::int32_t i, std::int32_t j) const noexcept {
    return M * j + i;
  }

  /// Logical index (i, j) of a physical position.
  /// @param flat 0 <= flat < M*N
  /// @return 0 <= i < M, 0 <= j < N
  [[nodiscard]] constexpr volume_inv_result inv(std::int32_t flat) const noexcept {
    return {flat % M, flat / M};
  }

  /// Whether all preconditions on the sizes hold.
  [[nodiscard]] static constexpr bool fits(std::int64_t M, std::int64_t N) noexcept {
    return M >= 1 && N >= 1 && M <= INT32_MAX / N;
  }
};
"""
        in unit.source
    )
    text = generate(bricks, "cpp", methods=True, sizes=STATIC, index_type="int32").source
    assert "template <std::int32_t BM = 4, std::int32_t BN = 3>\nstruct bricks {\n" in text
    text = generate(VOLUME, "metal", name="volume", index_type="int32", methods=True).source
    assert "  int operator()(int i, int j) const {\n    return M * j + i;\n  }\n" in text


def test_rust():
    unit = generate(VOLUME, "rust", name="volume", index_type="int32", methods=True)
    assert "pub struct Volume {\n    /// `M >= 1`\n    pub M: i32,\n" in unit.source
    assert (
        """    pub const fn inv(self, flat: i32) -> (i32, i32) {
        (flat % self.M, flat / self.M)
    }
"""
        in unit.source
    )


def test_other_languages():
    """Each in its own way."""
    text = generate(VOLUME, "julia", name="volume", index_type="int32", methods=True).source
    assert "struct VolumeSizes{Ti<:Union{Int32, Int64}}\n    M::Ti\n    N::Ti\nend\n" in text
    assert "@inline function (sizes::VolumeSizes{Ti})(i::Ti, j::Ti)::Ti where" in text
    assert "@inline function Base.inv(sizes::VolumeSizes{Ti}," in text
    text = generate(VOLUME, "fortran", name="volume", index_type="int32", methods=True).source
    assert "    procedure :: inv => volume_inv\n  end type volume_sizes\n" in text
    assert "  elemental integer(int32) function volume_apply(self, i, j)\n" in text
    assert "    class(volume_sizes), intent(in) :: self\n" in text
    text = generate(bricks, "fortran", methods=True, sizes=STATIC).source
    assert "BM_2" not in text
    text = generate(VOLUME, "python", name="volume", methods=True).source
    assert "class Volume(NamedTuple):\n" in text
    assert "    def __call__(self, i: int, j: int) -> int:\n" in text
    assert "        return flat % self.M, flat // self.M\n" in text
    unit = generate(VOLUME, "javascript", name="volume", index_type="int32", methods=True)
    assert "  inv(flat) {\n    return [flat % this.M, (flat / this.M) | 0];\n" in unit.source
    declared = unit.printer.declarations(unit.program)
    assert (
        "  readonly M: number;\n" in declared
        and "  apply(i: number, j: number): number;\n" in declared
    )


CPP = """
#include "volume.hpp"
#include "bricks.hpp"
constexpr acme::volume layout{6, 8};
static_assert(layout(5, 7) == 47 && layout.inv(47).j == 7 && acme::volume{3, 2}(1, 1) == 4);
static_assert(acme::volume::fits(6, 8) && !acme::volume::fits(0, 8));
static_assert(acme::bricks<2, 3>{4, 9}(1, 2, 1, 2) == 35 && acme::bricks<>{8, 9}(1, 2, 3, 2) == 71);
template <class Layout>
constexpr long sum(Layout of, int rows, int columns) {
  long found = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) found += of(i, j);
  return found;
}
static_assert(sum(layout, 6, 8) == 47 * 24);
int main() {}
"""


@pytest.mark.parametrize(
    ("compiler", "standard"), rest_deep([("g++", "17"), ("g++", "20"), ("clang++", "17")])
)
def test_a_program_in_cpp(compiler, standard, need, tmp_path):
    need(compiler, "apt-get install g++ clang")
    options: dict[str, Any] = {"methods": True, "index_type": "int32", "namespace": "acme"}
    generate(VOLUME, "cpp", name="volume", **options).save(tmp_path / "volume.hpp")
    generate(bricks, "cpp", sizes=STATIC, **options).save(tmp_path / "bricks.hpp")
    (tmp_path / "main.cpp").write_text(CPP)
    command = [compiler, f"-std=c++{standard}", "-Wall", "-Wextra", "-Wconversion", "-Wshadow"]
    found = subprocess.run(
        [*command, "-Werror", "-fsyntax-only", "main.cpp"], cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("language", ["cuda", "hip"])
@pytest.mark.deep
def test_device_code(language, tmp_path, toolchain_of):
    toolchain = toolchain_of(language)
    units = emitted(language)
    made = toolchain.assembly(units, tmp_path) if language == "hip" else None
    if language == "cuda":
        if shutil.which("nvcc") is None:
            pytest.skip("nvcc is missing")
        made = toolchain.cubin(units, tmp_path)
    assert made and all(path.exists() for path in made)


@pytest.mark.deep
def test_on_a_gpu(monkeypatch, need):
    """Called and verified by kernels, which the stand-in of a GPU runs."""
    need("g++", "apt-get install g++")
    fake_cuda.install(monkeypatch)
    unit = generate(VOLUME, "cuda", name="volume", methods=True)
    i, j = table(6, 8)
    assert (unit.compile("gpu")["volume_apply"](6, 8, i, j) == j * 6 + i).all()
    assert unit.verify("gpu", sizes={"M": 6, "N": 8}, claim="bijective")


@pytest.mark.deep
def test_clang_format_changes_nothing(need, tmp_path):
    formatter = need("clang-format", "apt-get install clang-format")
    (tmp_path / ".clang-format").write_text((ROOT / ".clang-format").read_text())
    for language in ("cpp", "cuda"):
        for unit in emitted(language):
            (tmp_path / "text.hpp").write_text(unit.source)
            command = [formatter, "--style=file", "text.hpp"]
            found = subprocess.run(
                command, capture_output=True, text=True, check=True, cwd=tmp_path
            )
            assert found.stdout == unit.source


@pytest.mark.deep
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


@pytest.mark.deep
def test_typescript(tmp_path):
    tsc = shutil.which("tsc") or ROOT / "build" / "node_modules" / ".bin" / "tsc"
    if not Path(tsc).exists():
        pytest.skip("TypeScript is missing; npm install --prefix build typescript")
    units = [*emitted("javascript"), *emitted("javascript", names="camelCase")]
    assert not checked(str(tsc), units, tmp_path)
    text = generate(VOLUME, "javascript", name="volume", methods=True)
    text.save(tmp_path / "volume.mjs")
    for call, right in (("apply(5, 7)", True), ("apply(5)", False), ("M = 3", False)):
        use = f'import {{ Volume }} from "./volume.mjs";\nconst v = new Volume(6, 8);\nv.{call};\n'
        (tmp_path / "use.mts").write_text(use)
        found = subprocess.run([tsc, *STRICT, "use.mts"], cwd=tmp_path, check=False)
        assert (found.returncode == 0) is right


RUFF = ["--isolated", "--line-length=100"]


@pytest.mark.deep
@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", *RUFF, "--select=E,F,W,I,UP,B", "--ignore=E741", "."],
        ["ruff", "format", *RUFF, "--check", "."],
        ["pyright", "-p", "."],
    ],
)
def test_linters_of_python(command, tmp_path):
    program = Path(sys.executable).with_name(command[0])
    if not program.exists():
        pytest.skip(f"needs {command[0]}: pip install {command[0]}")
    for unit in emitted("python"):
        unit.save(tmp_path / f"{unit.program.name}.py")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    command = [program, *command[1:]]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


# -- methods of a class of the code base ------------------------------------------------------------


def index(x: I16, y: I16, z: I16, ymax: int, xmax: int) -> int:
    """The index of a node."""
    return (z * ymax + y) * xmax + x


AREA = """#pragma once
#include <cstdint>
class VoxelArea {
 public:
  VoxelArea(long long y, long long x) : m_ymax(y), m_xmax(x) {}
  {I64} index(std::int16_t x, std::int16_t y, std::int16_t z) const;
  long long ymax() const { return m_ymax; }

 private:
  long long m_ymax, m_xmax;
};
struct Place {
  {I64} row, column;
};
struct Tiles {
  long long M;
  long long N;
  {I64} operator()(Place at) const;
  Place inv({I64} flat) const;
};
"""
RUST_AREA = " ".join(
    f"#[allow(dead_code, non_snake_case)] {item}"
    for item in (
        "pub struct VoxelArea { m_ymax: i64, m_xmax: i64 }",
        "impl VoxelArea { pub fn ymax(&self) -> i64 { self.m_ymax } }",
        "pub struct Tiles { M: i64, N: i64 }",
        "pub struct Place { row: i64, column: i64 }",
    )
)


class Place(NamedTuple):
    row: int
    column: int


@pytest.mark.parametrize("language", rest_deep(["cpp", "cuda", "rust"]))
def test_a_class_of_the_code_base(language, tmp_path, toolchain_of):
    rust = language == "rust"
    (tmp_path / "area.h").write_text(
        AREA.replace("{I64}", "std::int64_t" if language == "cpp" else "long long")
    )
    include = RUST_AREA if rust else str(tmp_path / "area.h")
    make = "VoxelArea {{ m_ymax: {ymax}, m_xmax: {xmax} }}" if rust else "{type}({ymax}, {xmax})"
    area = NativeType("VoxelArea", members="m_{}", make=make, include=include)
    calls = NativeType("VoxelArea", ["ymax()", "m_xmax"], make=make, include=include)
    tiles = NativeType("Tiles", include=include)
    options: dict[str, Any] = {"index_type": "int64", "namespace": None}
    units = [
        generate(index, language, methods="ymax, xmax", types={"index": own}, **options)
        for own in (area, calls)
    ]
    place = NativeType("Place", make="Place {{ row: {row}, column: {column} }}" if rust else "")
    types = {"tiles": tiles, "Place": place}
    more: dict[str, Any] = {"name": "tiles", "methods": True, "types": types}
    units.append(generate(VOLUME, language, index=Place, **more, **options))
    for unit in units[:2]:
        run, (x, y, z) = toolchain_of(language).compile([unit])[0]["index"], table(5, 4, 3)
        assert (run(x, y - 2, z - 1, 6, 7) == index(x, y - 2, z - 1, 6, 7)).all()
    run = toolchain_of(language).compile(units[2:])[0]
    i, j = table(6, 8)
    sizes = (np.full(48, 6), np.full(48, 8))
    (flat,) = run.columns("tiles_apply", (*sizes, i, j))
    assert (flat == j * 6 + i).all()
    row, column = run.columns("tiles_inv", (*sizes, flat))
    assert (row == i).all() and (column == j).all()


def test_the_text_of_a_method():
    area = NativeType("VoxelArea", members="m_{}", include="voxel.h")
    unit = generate(
        index, "cpp", methods="ymax, xmax", types={"index": area}, index_type="int32", terse=True
    )
    assert (
        """inline std::int32_t VoxelArea::index(std::int16_t x, std::int16_t y, std::int16_t z) const {
  return x + m_xmax * (y + m_ymax * z);
}
"""
        in unit.source
    )
    assert "namespace" not in unit.source
    options: dict[str, Any] = {"methods": "ymax, xmax", "index_type": "int32"}
    for members, text in (
        (".{}", "xmax * ("),
        ("->{}", "xmax * ("),
        ("[{k}]", "(*this)[1] * ("),
        ("GET_{}({name})", "GET_xmax((*this)) * ("),
    ):
        own = {"index": NativeType("geo::Area", members=members)}
        made = generate(index, "cpp", types=own, namespace="geo", **options)
        assert f"x + {text}" in made.source and "namespace geo {" in made.source
    own = {"index": NativeType("Area", members="size.{}")}
    made = generate(index, "rust", types=own, **options)
    assert "impl Area {\n" in made.source
    assert "pub const fn index(&self, x: i16, y: i16, z: i16) -> i32 {" in made.source
    assert "self.size.xmax * (" in made.source
    own = {"index": NativeType("Area", members="{}()")}
    made = generate(index, "rust", types=own, **options)
    assert "pub fn index(&self, x: i16, y: i16, z: i16) -> i32 {" in made.source


@pytest.mark.parametrize(
    ("language", "native", "options", "said"),
    [
        ("cpp", NativeType("A", member_type="int64"), {}, "param_types={'ymax': 'int64'}"),
        ("cpp", NativeType("A", passing="{type} &{name}"), {}, "leave passing out"),
        ("cpp", NativeType("A"), {"types": {"indx": "A"}}, "types names indx, which is no struct"),
        ("julia", NativeType("A"), {}, "Julia has no definition of its methods.*C.., CUDA C"),
        ("fortran", NativeType("A"), {}, "leave index out of types="),
        ("python", NativeType("A"), {}, "types: Python defines the structs of a file itself"),
    ],
)
def test_types_that_are_refused(language, native, options, said):
    given: dict[str, Any] = {"methods": "ymax, xmax", "types": {"index": native}, **options}
    with pytest.raises(TargetError, match=said):
        generate(index, language, **given)


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", WITHOUT)
def test_languages_without_methods(language):
    title = registry.printer(language).title
    with pytest.raises(TargetError, match=rf"methods: {title} has no .* Leave methods= out"):
        generate(VOLUME, language, methods=True)


def swept(M: int, k: int):
    return GroupBy([M, 4])[:, :] * k


@pytest.mark.parametrize(
    ("subject", "options", "said"),
    [
        (VOLUME, {"methods": True, "view": True}, "methods and view are both"),
        (VOLUME, {"methods": "M, K"}, r"methods names K, which is no parameter; there are M, N"),
        (VOLUME, {"methods": "M, i"}, "methods names i, which is an index"),
        (tile, {"methods": True}, r"tile is no layout.*name the parameters.*methods='M, N'"),
        (GroupBy([6, 8]), {"methods": True}, "has no sizes left"),
        (VOLUME, {"methods": True, "sizes": {"M": 6, "N": 8}}, "has no sizes left"),
        (swept, {"methods": "M"}, "swept has an array form"),
        (
            next_to,
            {"methods": "size", "types": {"Coord": "Vector2i"}},
            "would hold size, which is a Vector2i of your own",
        ),
        (tile, {"methods": "M", "bind": {"M": "rows()"}}, r"names M, which is bound to rows\(\)"),
    ],
)
def test_what_is_refused(subject, options, said):
    with pytest.raises(TargetError, match=said):
        generate(subject, "cpp", **options)


@pytest.mark.parametrize("value", [3, ["M", 3], {"M": 1}, [""], "", ()])
def test_what_is_no_name(value):
    with pytest.raises(OptionError, match=r"methods is .*; give True, or the names"):
        generate(VOLUME, "cpp", methods=value)


def test_outside_of_python(tmp_path, monkeypatch):
    """The command line and lego-emit.toml."""
    monkeypatch.chdir(tmp_path)
    Path("kernels.py").write_text(
        "from lego_emit import GroupBy, Row\n"
        "def volume(M, N): return GroupBy([M, N]).OrderBy(Row(M, N))\n"
        "def tile(M, N, i, j): return i * N + j\n"
    )
    for subject, methods, text in (
        ("volume", "true", "struct volume {"),
        ("tile", "M,N", "struct tile {"),
    ):
        command = ["generate", f"kernels.py:{subject}", "-t", "cpp", "--methods", methods]
        found = CliRunner().invoke(main, command)
        assert found.exit_code == 0 and text in found.output, found.output
    kind = keys(Options)["methods"]
    assert kind.of_toml(True) is True and kind.of_toml("M, N") == "M, N"
    with pytest.raises(ValueError, match="give text"):
        kind.of_toml(3)


def test_a_certificate_is_refused():
    unit = generate(VOLUME, "cpp", methods=True)
    with pytest.raises(VerifyError, match="has methods, and a certificate is of functions"):
        unit.certificate()
    assert "lego_emit" not in str(unit.explain())

"""Structs and arrays in signatures: read from annotations, emitted, run and compared."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, Tuple  # noqa: UP035

import numpy as np
import pytest
from click.testing import CliRunner
from marks import marked, rest_slow
from typed import Box, Coord, clipped, elements, offset, turned, unravel, voxel

from lego_emit import Col, GroupBy, LegoError, Row, generate, golden, symbols
from lego_emit.cli import main
from lego_emit.emit import registry
from lego_emit.errors import ToolchainError, TraceError
from lego_emit.proofcheck.check import check
from lego_emit.types import Array

LANGUAGES = "c cpp cuda hip opencl metal rust fortran julia javascript glsl wgsl python numpy triton mlir".split()
C_FAMILY = "c cpp cuda hip metal opencl".split()
DAILY = "cpp rust fortran javascript wgsl python".split()
RARER = [marked(t, pytest.mark.slow if t in DAILY else pytest.mark.deep) for t in LANGUAGES]


class Odd(NamedTuple):
    end: int
    type: int
    lambda_: int


class One(NamedTuple):
    n: int


class odd_name(NamedTuple):
    BM: int
    bN: int


class Empty(NamedTuple):
    pass


class Weighted(NamedTuple):
    x: int
    weight: float


def reserved(at: Odd, i: int) -> Odd:
    """Where it lies.

    Args:
        at: where it begins.
        i: how far.
    """
    return Odd(at.type * 3 + i, at.end - i, at.lambda_)


def single(a: One, b: Array[1]) -> One:
    return One(a.n + b[0])


def doubled(b: Array[1]) -> Array[1]:
    return (b[0] * 2,)


def few(size: Coord, at: Coord, X: Array[2], n: int) -> int:
    return at.x + n


def swept(size: Coord, X: Array[2], k: int) -> int:
    return GroupBy([size.x, size.y])[:, :] * X[0] + k


def swept_coord(size: Coord, k: int) -> Coord:
    flat = GroupBy([size.x, size.y])[:, :]
    return Coord(flat, flat + k, k)


def swept_pair(X: Array[2]) -> Array[2]:
    flat = GroupBy([X[0], X[1]])[:, :]
    return flat, flat * 2


def styled(theSize: odd_name, anIndex: int) -> odd_name:
    return odd_name(anIndex % theSize.BM, anIndex // theSize.BM + theSize.bN)


def many(a: Array[9], b: Array[9]) -> Array[9]:
    return tuple(max(p * q - 123456, q // 7 if q > 3 else p) for p, q in zip(a, b, strict=True))


SMALL = {"at.end": (0, 99), "at.type": (1, 8), "at.lambda_": (0, 5), "i": (0, 9)}
FLAT = {"size.x": (1, 9), "size.y": (1, 9)}
# name -> (function, options); the functions of no ':' axes are compared with Python's.
SPECIAL = {
    "reserved": (reserved, {"ranges": SMALL}),
    "single": (single, {}),
    "doubled": (doubled, {}),
    "few": (few, {}),
    "acme_styled": (
        styled,
        {"names": "snake_case", "prefix": "acme_", "ranges": {"theSize.BM": (1, 9)}},
    ),
    "acmeStyled": (
        styled,
        {"names": "camelCase", "prefix": "acme_", "ranges": {"theSize.BM": (1, 9)}},
    ),
    "fixed": (
        voxel,
        {
            "name": "fixed",
            "sizes": {"size.y": 5},
            "ranges": {"at.x": (0, "size.x"), "at.y": (0, 5)},
        },
    ),
    "swept": (swept, {"ranges": FLAT}),
    "swept_coord": (swept_coord, {"ranges": FLAT}),
    "swept_pair": (swept_pair, {"ranges": {"X[0]": (1, 9), "X[1]": (1, 9)}}),
    "many": (many, {}),
}
POINTS = {
    "reserved": [(Odd(7, 3, 2), 5), (Odd(98, 7, 4), 8)],
    "single": [(One(3), (4,)), (One(0), [0])],
    "doubled": [((21,),)],
    "few": [(Coord(1, 2, 3), Coord(4, 5, 6), (7, 8), 9)],
    "acme_styled": [(odd_name(4, 2), 11), (odd_name(8, 0), -3)],
    "acmeStyled": [(odd_name(4, 2), 11), (odd_name(8, 0), -3)],
    "fixed": [(Coord(4, 5, 6), Coord(3, 2, 1)), (Coord(9, 5, 1), Coord(8, 4, 0))],
    "many": [(range(9), range(9)), (range(-4, 5), range(1000, 9001, 1000))],
}
RANGES = {f"at.{c}": (0, f"size.{c}") for c in "xyz"}
ELEMENTS = {f"i[{k}]": (0, f"X[{k}]") for k in range(4)}


@pytest.fixture(scope="module", params=rest_slow(LANGUAGES, 0))
def compiled(request, toolchain_of):
    """The functions of a language, by name."""
    toolchain = toolchain_of(request.param)
    units = [
        generate(voxel, request.param, ranges=RANGES),
        generate(unravel, request.param, ranges={"n": (0, "size.x*size.y*size.z")}),
        generate(offset, request.param, ranges=ELEMENTS),
        generate(turned, request.param),
        generate(clipped, request.param),
        generate(elements, request.param),
    ]
    runs = toolchain.compile(units)
    return {
        unit.program.name.removesuffix(f"_{request.param}"): run
        for unit, run in zip(units, runs, strict=True)
    }


def rarer(language, checks=True):
    """A unit of each of SPECIAL, with assertions where the language has them, and one of several
    functions of a struct."""
    more = {"checks": True} if checks and registry.printer(language).has_checks else {}
    for function, options in SPECIAL.values():
        yield generate(function, language, **options, **more)
    assumed = ["size.x >= 1", "size.y >= 1"]
    together = [voxel, few, unravel]
    yield generate(together, language, name="all", prefix="all_", assume=assumed)


@pytest.fixture(scope="module", params=RARER)
def special(request, toolchain_of):
    """The same by name, compiled."""
    runs = toolchain_of(request.param).compile([*rarer(request.param)])
    return dict(zip([*SPECIAL, "together"], runs, strict=True))


def test_rarer_signatures(special):
    for name, points in POINTS.items():
        for point in points:
            assert run(special, name)(*point) == SPECIAL[name][0](*map(given, point))


def given(value):
    """A range as an array's elements."""
    return tuple(value) if isinstance(value, range | list) else value


class Told(NamedTuple):
    """A cell of the grid, as in at[0] */ here.

    Further words are not for a file.
    """

    x: int
    y: int


@dataclass
class Untold:
    x: int
    y: int


def told(at: Told, by: Untold, n: int) -> Told:
    """Where it goes."""
    return Told(at.x + by.x, at.y + by.y + n)


@pytest.mark.skipif(not shutil.which("rustc"), reason="no rustc")
def test_rust_documents_each_struct(tmp_path):
    text = generate(told, "rust", index_type="int32").source
    assert "/// A cell of the grid, as in `at[0] * / here`.\n#[allow" in text
    assert "/// The integers `x`, `y` in one.\n#[allow" in text and "Further" not in text
    path = tmp_path / "told.rs"
    path.write_text(f"//! A crate.\n#![deny(missing_docs)]\n{text}")
    command = ["rustc", "--edition=2021", "--crate-type=lib", "-o", tmp_path / "told.rlib", path]
    assert not subprocess.run(command, check=True, capture_output=True).stderr


def test_fortran_says_how_its_comments_count():
    text = generate(swept_pair, "fortran", ranges={"X[0]": (1, 9), "X[1]": (1, 9)}).source
    note = "!> @note Here X[0] is the first element of X, as in Python\n"
    assert text.count(note) == 1 and "X(1)" in text
    assert "@note" not in generate(voxel, "fortran", ranges=RANGES).source


def ends(at: One, X: Array[2]) -> int:
    """What comments must not end with.

    Args:
        at: ends */ here \\
        X: turns \u202e round
    """
    return at.n + X[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_of_a_struct_is_safe_in_a_comment(language):
    text = generate(ends, language).source
    assert "ends */ here" not in text and "\\\n" not in text and "\u202e" not in text
    if language not in ("numpy", "triton", "mlir"):  # which have the members by themselves
        text = text.replace("`", "")  # Rust's marks
        assert "ends * / here U+005C" in text and "turns U+202E round" in text


def test_several_functions_of_one_struct(special):
    voxel_of, _, unravel_of = special["together"].values()
    size = Coord(4, 5, 6)
    assert [voxel_of(size, unravel_of(size, n)) for n in range(0, 120, 7)] == [*range(0, 120, 7)]


def test_groups_beside_axes(special):
    i, j = np.mgrid[0:4, 0:8]
    flat = i * 8 + j
    assert (run(special, "swept")(4, 8, 6, 3, 4, 2, i, j) == flat * 3 + 2).all()
    assert run(special, "swept")(Coord(4, 8, 6), (3, 4), 2, 3, 1) == 25 * 3 + 2
    assert run(special, "swept_coord")(Coord(4, 8, 6), 2, 3, 1) == Coord(25, 27, 2)
    assert run(special, "swept_pair")((4, 8), 3, 1) == (25, 50)
    for name, sizes, wanted in (
        ("swept", (4, 8, 6, 3, 4, 2), [flat * 3 + 2]),
        ("swept_coord", (4, 8, 6, 2), [flat, flat + 2, flat * 0 + 2]),
        ("swept_pair", (4, 8), [flat, flat * 2]),
    ):
        found = special[name].array(next(iter(special[name])))(*sizes)
        found = found if len(wanted) > 1 else [found]
        assert all((a == b).all() for a, b in zip(found, wanted, strict=True))


def run(compiled, name):
    """The function of a unit."""
    unit = compiled[name]
    return unit[next(iter(unit))]


def test_structs(compiled):
    size = Coord(4, 5, 6)
    for n in range(120):
        at = unravel(size, n)
        assert run(compiled, "voxel")(size, at) == n
        assert run(compiled, "voxel")((4, 5, 6), [*at]) == n
        found = run(compiled, "unravel")(size, n)
        assert found == at and type(found) is Coord
    assert run(compiled, "clipped")(Box(3, 9), 12) == Box(3, 12)


def test_arrays(compiled):
    X = (2, 3, 4, 5)
    for n, i in enumerate(np.ndindex(*X)):
        assert run(compiled, "offset")(X, i) == n
    assert run(compiled, "turned")((7, 8, 9)) == (8, 9, 7)
    assert run(compiled, "elements")((7, 8, 9, 1)) == 7 * 4 + 18


@pytest.mark.deep
@pytest.mark.parametrize("language", ["rust", "julia", "javascript"])
def test_certificates(language):
    """Members, elements and what is made of them are read again, and every statement is proved."""
    M, N = symbols("M N")
    layout = GroupBy([M, N]).OrderBy(Col(M, N))
    sized = [f"size.{c} >= 1" for c in "xyz"]
    bounded = {"n": (0, "size.x*size.y*size.z")}
    for subject, options in (
        (voxel, {"ranges": RANGES}),
        (voxel, {"ranges": RANGES | {f"size.{c}": (1, 1000) for c in "xyz"}}),
        (voxel, {"ranges": {"at.x": (0, "size.x"), "at.y": (0, 5)}, "sizes": {"size.y": 5}}),
        (unravel, {"assume": sized, "ranges": bounded}),
        (offset, {"ranges": ELEMENTS}),
        *((function, {}) for function in (turned, clipped, elements, single, doubled, few)),
        (reserved, {"ranges": SMALL}),
        (swept_pair, {"ranges": {"X[0]": (1, 9), "X[1]": (1, 9)}}),
        (layout, {"name": "tiles"}),
    ):
        unit = generate(subject, language, **options)
        report = check(json.loads(unit.certificate().json), unit.source, subject)
        assert report, f"{report}\n{unit.source}"


@pytest.mark.slow
def test_a_certificate_of_usize():
    small = {f"size.{c}": (1, 100) for c in "xyz"}
    unit = generate(voxel, "rust", index_type="usize", ranges=RANGES | small)
    report = check(json.loads(unit.certificate().json), unit.source, voxel)
    assert report, f"{report}\n{unit.source}"


@pytest.mark.parametrize(
    ("language", "right", "wrong"),
    rest_slow(
        [
            ("rust", "at.x\n", "at.y\n"),
            ("rust", "pub y: i64,\n    pub z: i64", "pub z: i64,\n    pub y: i64"),
            ("rust", "size: Coord, at", "at: Coord, size"),
            ("julia", "at.x\n", "at.y\n"),
            ("julia", "    y::Int64\n    z::Int64\n", "    z::Int64\n    y::Int64\n"),
            ("javascript", "at.x;\n", "at.y;\n"),
            ("javascript", "@property {number} x", "@property {number} u"),
        ],
        2,
    ),
)
def test_a_text_that_was_changed(language, right, wrong):
    """No certificate is proved of a text with another member, field or order."""
    unit = generate(voxel, language, ranges=RANGES)
    assert right in unit.source
    text = unit.source.replace(right, wrong)
    certificate = json.loads(unit.certificate().json)
    certificate["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    assert not check(certificate, text, voxel)


def test_elements_that_were_changed():
    for language, right, wrong in (
        ("rust", "X[3]", "X[2]"),
        ("julia", "X[4]", "X[5]"),
        ("javascript", "4 elements", "3 elements"),
    ):
        unit = generate(offset, language, ranges=ELEMENTS)
        assert right in unit.source
        text = unit.source.replace(right, wrong)
        certificate = json.loads(unit.certificate().json)
        certificate["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        assert not check(certificate, text, offset)


def test_members_by_columns(compiled):
    n = np.arange(120)
    found = run(compiled, "unravel")(4, 5, 6, n)
    assert (run(compiled, "voxel")(4, 5, 6, *found) == n).all()
    whole = run(compiled, "unravel")(Coord(4, 5, 6), n)
    assert type(whole) is Coord and (whole.z == n // 20).all()


def test_verify(toolchain_of):
    toolchain_of("cpp")
    unit = generate(unravel, "cpp", ranges={"n": (0, "size.x*size.y*size.z")})
    found = unit.verify(sizes={"size": Coord(4, 5, 6)})
    assert found and "equal (120 indices" in str(found)


# -- texts ---------------------------------------------------------------------------------------


def test_cpp():
    text = generate(voxel, "cpp", ranges=RANGES).source
    assert "constexpr std::int64_t voxel(Coord size, Coord at) noexcept {" in text
    assert "return size.x * (size.y * at.z + at.y) + at.x;" in text
    assert "/// @param at 0 <= at.x < size.x, 0 <= at.y < size.y, 0 <= at.z < size.z\n" in text
    assert "// voxel(size: Coord, at: Coord) -> int\n" in text
    text = generate(offset, "cpp", ranges=ELEMENTS).source
    assert "offset(\n    const std::int64_t (&X)[4], const std::int64_t (&i)[4]) noexcept {" in text
    assert (
        "std::array<std::int32_t, 3> turned(" in generate(turned, "cpp", index_type="int32").source
    )


def test_rust():
    text = generate(voxel, "rust", ranges=RANGES).source
    struct = "pub struct Coord {\n    pub x: i64,\n    pub y: i64,\n    pub z: i64,\n}\n"
    assert text.count(struct) == 1
    assert "pub const fn voxel(size: Coord, at: Coord) -> i64 {" in text
    assert "/// - `0 <= at.x < size.x, 0 <= at.y < size.y, 0 <= at.z < size.z`\n" in text
    assert "Renamed" not in text
    text = generate(unravel, "rust", index_type="int32").source
    assert "pub const fn unravel(size: Coord, n: i32) -> Coord {" in text
    assert "    Coord {\n        x: " in text
    text = generate(turned, "rust").source
    assert "pub const fn turned(i: &[i64; 3]) -> [i64; 3] {\n    [i[1], i[2], i[0]]\n}\n" in text
    text = generate(reserved, "rust", ranges=SMALL).source
    assert "pub type_v: i32," in text and "- `at`: where it begins; `0 <= at.end < 99" in text
    text = generate(few, "rust").source
    assert "    let _ = (size, X);\n    at.x + n\n" in text
    text = generate(swept_pair, "rust", ranges={"X[0]": (1, 9), "X[1]": (1, 9)}).source
    assert (
        "swept_pair_positions(\n    X: &[i32; 2],\n) -> impl ExactSizeIterator<Item = [i32; 2]> "
        in text
    )
    assert "    let X = *X;\n" in text and "swept_pair(&X, " in text
    text = generate(styled, "rust", assume=["theSize.BM >= 1"]).source
    assert "#[allow(non_camel_case_types)]\n" in text and "pub struct odd_name {" in text


def test_julia():
    text = generate(voxel, "julia", ranges=RANGES).source
    assert "export Coord, voxel, voxel_fits\n" in text
    assert "\nstruct Coord\n    x::Int64\n    y::Int64\n    z::Int64\nend\n" in text
    assert "@inline function voxel(size::Coord, at::Coord)::Int64\n" in text
    assert text.count("voxel(size::") == 1  # there is nothing to convert
    text = generate(unravel, "julia", index_type="int32").source
    assert "struct Coord{Ti<:Union{Int32, Int64}}\n    x::Ti\n" in text
    assert "Coord(x::Integer, y::Integer, z::Integer) = Coord{Int64}(x, y, z)\n" in text
    assert "    unravel(size, n) -> Coord(x, y, z)\n" in text
    head = "unravel(size::Coord{Ti}, n::Ti)::Coord{Ti} where {Ti<:Union{Int32, Int64}}\n"
    assert f"@inline function {head}" in text
    text = generate(offset, "julia", ranges=ELEMENTS).source
    assert "offset(X::NTuple{4, Int64}, i::NTuple{4, Int64})::Int64\n" in text
    assert "return X[4] * (X[3] * (X[2] * i[1] + i[2]) + i[3]) + i[4]\n" in text
    assert "- `0 <= i[0] < X[0]`\n" in text
    assert "- Here `X[0]` is the first element of `X`, as in Python\n" in text
    text = generate(turned, "julia").source
    assert "turned(i::NTuple{3, Int64})::NTuple{3, Int64}\n" in text
    assert "    return (i[2], i[3], i[1])\n" in text
    text = generate(doubled, "julia").source
    assert "::NTuple{1, Int64}\n    return (2 * b[1],)\n" in text
    text = generate(reserved, "julia", ranges=SMALL).source
    assert "    end_v::Ti\n" in text and "- `0 <= at.end_v < 99`\n" in text


def test_javascript():
    unit = generate(voxel, "javascript", ranges=RANGES)
    assert "@typedef {object} Coord\n * @property {number} x\n" in unit.source
    assert " * @param {Coord} size size.x >= 1, size.y >= 1, size.z >= 1\n" in unit.source
    assert "export function voxel(size, at) {\n" in unit.source
    declared = unit.printer.declarations(unit.program)
    assert "export interface Coord {\n  readonly x: number;\n" in declared
    assert "export function voxel(size: Coord, at: Coord): number;\n" in declared
    unit = generate(unravel, "javascript", index_type="int64")
    assert "readonly x: bigint;\n" in unit.printer.declarations(unit.program)
    assert "unravel(size: Coord, n: bigint): Coord;" in unit.printer.declarations(unit.program)
    assert "{bigint} y\n" in unit.source and "return {\n    x: " in unit.source
    unit = generate(turned, "javascript")
    assert "  return [i[1], i[2], i[0]];\n" in unit.source
    declared = unit.printer.declarations(unit.program)
    assert "turned(i: ArrayLike<number>): [number, number, number];\n" in declared
    text = generate(swept_coord, "javascript", ranges=FLAT).source
    assert " * @returns {{ x: Int32Array; y: Float64Array; z: Float64Array }}\n" in text


def test_a_struct_in_two_files(tmp_path, toolchain_of):
    """Of one content it is one type; of another the compiler says which."""
    path = toolchain_of("cpp").path()
    (tmp_path / "a.hpp").write_text(generate(voxel, "cpp", ranges=RANGES).source)
    (tmp_path / "b.hpp").write_text(
        generate(unravel, "cpp", assume=["size.x >= 1", "size.y >= 1"]).source
    )
    narrow = generate(unravel, "cpp", index_type="int32", name="other").source
    (tmp_path / "c.hpp").write_text(narrow)

    def built(*files):
        text = "".join(f'#include "{f}"\n' for f in files)
        text += "int main() { return int(lego::voxel({4, 5, 6}, lego::unravel({4, 5, 6}, 31)) - 31); }\n"
        (tmp_path / "main.cpp").write_text(text)
        return subprocess.run(
            [path, "-std=c++17", "-Wall", "-Werror", "main.cpp"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    assert built("a.hpp", "b.hpp").returncode == 0
    assert subprocess.run([tmp_path / "a.out"], check=False).returncode == 0
    assert "two different structs are named Coord" in built("a.hpp", "b.hpp", "c.hpp").stderr


def test_sizes_that_are_numbers(toolchain_of):
    toolchain_of("cpp")
    for sizes in ({"size": Coord(4, 5, 6)}, {"size.x": 4, "size.y": 5, "size.z": 6}):
        unit = generate(voxel, "cpp", sizes=sizes)
        assert [p.name for p in unit.functions[0].params] == ["at.x", "at.y", "at.z"]
    unit = generate(
        voxel, "cpp", sizes={"size.x": 4}, ranges={"at.x": (0, 4), "at.y": (0, "size.y")}
    )
    assert "voxel(Coord size, Coord at)" in unit.source
    assert unit.compile()["voxel"](Coord(4, 5, 6), Coord(3, 2, 1)) == 31
    unit = generate(offset, "cpp", sizes={"X": (2, 3, 4, 5)})
    assert unit.compile()["offset"]((1, 2, 3, 4)) == 119


def test_annotations_that_say_nothing():
    def plain(M: int, i: "an index", j: list[int] = 3) -> "the position":  # noqa: F722
        return M * i + j

    unit = generate(plain, "cpp")
    assert "plain(std::int64_t M, std::int64_t i)" in unit.source


FORMS = [
    ("c", "pointer", None, "int64_t offset(const int64_t *X, const int64_t *i) {"),
    ("c", None, "out", "void turned(const int64_t i[3], int64_t result[3]) {"),
    ("c", "pointer", "out", "void clipped(Box box, int64_t n, Box *result) {"),
    (
        "cpp",
        "pointer",
        "struct",
        "constexpr turned_result turned(const std::int64_t *i) noexcept {",
    ),
    (
        "cpp",
        "reference",
        "out",
        "constexpr void clipped(Box box, std::int64_t n, Box &result) noexcept {",
    ),
    ("cpp", "std::array", None, "turned(\n    const std::array<std::int64_t, 3> &i) noexcept {"),
    (
        "cuda",
        "pointer",
        "out",
        "void turned(const int *i, int (&result)[3]) noexcept {",
    ),
    (
        "hip",
        "reference",
        "out",
        "turned(const int (&i)[3], int (&result)[3]) noexcept {",
    ),
    ("opencl", "pointer", "out", "void clipped(Box box, int n, Box *result) {"),
    ("metal", "pointer", "out", "void turned(thread const int *i, thread int (&result)[3]) {"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("language", "arrays", "results", "text"), FORMS)
def test_forms(toolchain_of, language, arrays, results, text):
    def two(i: int, n: int):
        return i // n, i % n

    functions = [turned, clipped, offset, two]
    unit = generate(functions, language, arrays=arrays, results=results, assume=["n >= 1"])
    assert text in unit.source
    run = toolchain_of(language).compile([unit])[0]
    assert run["turned"]((7, 8, 9)) == (8, 9, 7)
    assert run["clipped"](Box(3, 9), 12) == Box(3, 12)
    assert run["offset"]((2, 3, 4, 5), (1, 2, 3, 4)) == 119
    assert run["two"](17, 5) == (3, 2)


def test_an_array_may_be_read_and_written(tmp_path, toolchain_of):
    (tmp_path / "turned.h").write_text(generate(turned, "c", results="out").source)
    text = '#include "turned.h"\nint main(void) { int64_t i[3] = {7, 8, 9}; turned(i, i);\n'
    (tmp_path / "main.c").write_text(f"{text}  return !(i[0] == 8 && i[1] == 9 && i[2] == 7); }}\n")
    subprocess.run([toolchain_of("c").path(), "main.c"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "a.out"], check=False).returncode == 0


def test_forms_that_a_language_has_not():
    with pytest.raises(LegoError, match="arrays is 'std::array'; C has pointer"):
        generate(turned, "c", arrays="std::array")
    with pytest.raises(LegoError, match="results is 'out'; Python has none to choose from"):
        generate(turned, "python", results="out")

    def rows(i):
        layout = GroupBy([4, 6])
        return layout[i, :], layout[:, i]

    with pytest.raises(LegoError, match="rows: results is 'out', and it has an array form"):
        generate(rows, "cpp", results="out")


# -- what a caller gives and gets -----------------------------------------------------------------


class Held(NamedTuple):
    """Of fields that C++ reserves."""

    this: int
    int: int


@dataclass(kw_only=True)
class Lone:
    n: int

    def __post_init__(self):
        if self.n is None:
            raise ValueError("no number")


def square(n: int) -> Held:
    return Held(n, n * n)


def turned_held(h: Held) -> Held:
    return h._replace(this=h.int, int=h.this)


def pair(n: int) -> tuple[int, int]:
    return n, n + 1


def next_one(a: Lone, i: int) -> Lone:
    return Lone(n=a.n + i)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["cpp", "c"])
def test_types_are_taken_and_given(language, toolchain_of):
    toolchain_of(language)
    run = generate([square, turned_held, pair, next_one], language, index_type="int32").compile()
    assert run["square"](7) == Held(7, 49) and type(run["square"](7)) is Held
    assert run["turned_held"](Held(1, 2)) == run["turned_held"]([1, 2]) == Held(2, 1)
    assert run["pair"](3) == (3, 4)
    assert run["next_one"](Lone(n=3), 4) == run["next_one"]((3,), 4) == Lone(n=7)
    assert run["next_one"](3, 4) == 7
    (found,) = run.columns("next_one", [np.arange(3), 4])
    assert found.tolist() == [4, 5, 6]


class Grown(Coord):
    def __new__(cls, x, y, z):
        return super().__new__(cls, x + 1, y, z)


@dataclass
class Counted:
    n: int

    def __post_init__(self):
        self.n += 1


def test_a_class_that_changes_its_fields(toolchain_of):
    """What a caller gives would not be what the function sees."""
    toolchain_of("cpp")

    def function(p):
        return p[0] if isinstance(p, tuple) else p.n

    for kind, field in ((Grown, "x"), (Counted, "n")):
        function.__annotations__ = {"p": kind}
        with pytest.raises(LegoError, match=f"{kind.__name__} changes its field {field} as it is"):
            generate(function, "cpp")

    def counted(i: int) -> Counted:
        return Counted(i)

    run = generate(counted, "cpp").compile()
    assert [int(n) for n in run.columns("counted", [3])] == [4]
    with pytest.raises(TypeError, match="Counted changes its field n"):
        run["counted"](3)


def test_axes_beside_a_struct(toolchain_of):
    toolchain_of("cpp")

    def cells(size: Coord, k: int) -> int:
        return GroupBy([size.x, size.y, size.z])[k, :, 0]

    run = generate(cells, "cpp").compile()
    assert run.array("cells")(Coord(2, 3, 4), 1).tolist() == [12, 16, 20]
    assert run.array("cells")(2, 3, 4, 1).tolist() == [12, 16, 20]
    with pytest.raises(TypeError, match=r"size is Coord of 3, not \(2, 3\)"):
        run.array("cells")((2, 3), 1)
    with pytest.raises(TypeError, match="size is Coord of 3, not None"):
        run["cells"](None, 1, 2)


def test_a_decorator_of_another_module(tmp_path, monkeypatch, toolchain_of):
    toolchain_of("cpp")
    (tmp_path / "decorating.py").write_text(
        "import functools\ndef same(f):\n    @functools.wraps(f)\n"
        "    def g(*args, **given):\n        return f(*args, **given)\n    return g\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from decorating import same  # pyright: ignore[reportMissingImports]

    assert generate(same(turned_held), "cpp").compile()["turned_held"](Held(1, 2)) == Held(2, 1)


def test_annotated_and_typing_s_tuple(toolchain_of):
    toolchain_of("cpp")

    def moved(at, by):
        return tuple(a + b for a, b in zip(at, by, strict=True))

    moved.__annotations__ = {
        "at": Annotated[Coord, "in cells"],
        "by": Tuple[int, int, int],  # noqa: UP006
        "return": Tuple[int, int, int],  # noqa: UP006
    }
    assert generate(moved, "cpp").compile()["moved"](Coord(1, 2, 3), (4, 5, 6)) == (5, 7, 9)


def test_time(toolchain_of):
    toolchain_of("cpp")
    unit = generate(voxel, "cpp", ranges=RANGES)
    assert "ours" in str(unit.time(sizes={"size": Coord(4, 5, 6)}))
    unit = generate(offset, "cpp", ranges=ELEMENTS)
    assert "ours" in str(unit.time(sizes={"X": (2, 3, 4, 5)}))


def test_formulas_of_members(toolchain_of):
    """What SymPy is given of a function has its members as symbols, which become parameters."""
    toolchain_of("cpp")
    formulas = generate(voxel, "cpp", ranges=RANGES).sympy["voxel"]
    unit = generate(formulas, "cpp", name="again")
    assert "size_x" in unit.source
    names = [p.name for p in unit.functions[0].params]
    values = {"size_x": 4, "size_y": 5, "size_z": 6, "at_x": 3, "at_y": 2, "at_z": 1}
    assert unit.compile()["again"](*(values[n] for n in names)) == 31


def test_the_way_to_give_a_member(toolchain_of):
    toolchain_of("cpp")
    with pytest.raises(
        LegoError, match=r'sizes=\{"size.x": \.\.\}, on the command line --size size.x='
    ):
        generate(voxel, "cpp", ranges=RANGES).verify()


class result(NamedTuple):
    result: int


class size_t(NamedTuple):
    x: int


class int64_t(NamedTuple):
    size: int


class h(NamedTuple):
    h: int
    h_result: int


@pytest.mark.slow
@pytest.mark.parametrize("struct", [result, size_t, int64_t, h])
@pytest.mark.parametrize("language", ["c", "cpp", "cuda"])
def test_names_that_the_text_has(language, struct, toolchain_of):
    toolchain_of(language)

    def h(p, q):
        return struct(*(a + b for a, b in zip(p, q, strict=True)))

    h.__annotations__ = {"p": struct, "q": struct, "return": struct}
    for names in (None, "camelCase"):
        run = generate(h, language, names=names).compile()["h"]
        count = len(struct._fields)
        assert run((3,) * count, (4,) * count) == struct(*[7] * count)


# -- golden cases, commands, layouts ---------------------------------------------------------------

GOLDEN = """
from dataclasses import dataclass, field

from lego_emit.types import Array


@dataclass
class Grid:
    rows: int
    columns: int
    count: int = field(init=False)

    def __post_init__(self):
        self.count = self.rows * self.columns


def cell(size: Grid, at: Array[2]) -> Grid:
    return Grid(at[1] * size.rows + at[0], size.count)


kernel = cell
sizes = {"size": Grid(3, 4)}
domain = {"at": (3, 4)}
assume = ["0 <= at[0] < size.rows", "0 <= at[1] < size.columns"]
"""


def test_a_golden_case(tmp_path, monkeypatch, toolchain_of):
    toolchain_of("cpp")
    monkeypatch.delenv("CI", raising=False)  # under which no golden file is written
    (tmp_path / "cell").mkdir()
    (tmp_path / "cell" / "layout.py").write_text(GOLDEN)
    assert golden.update(tmp_path)
    table = (tmp_path / "cell" / "table.txt").read_text()
    assert "size.rows=3 size.columns=4" in table and "at[0]=3 at[1]=4" in table
    done = golden.verify(golden.cases(tmp_path), "cpp")
    assert not done.mismatches and done.comparisons == 12
    assert not golden.verify(golden.cases(tmp_path), "c", numbers=True).mismatches


def test_a_layout_of_a_struct(tmp_path, monkeypatch, toolchain_of):
    toolchain_of("cpp")
    monkeypatch.chdir(tmp_path)
    Path("layouts.py").write_text(
        "from typing import NamedTuple\nfrom lego_emit import Col, GroupBy\n"
        "class Size(NamedTuple):\n    m: int\n    n: int\n"
        "def grid(size: Size):\n    return GroupBy([size.m, size.n]).OrderBy(Col(size.m, size.n))\n"
    )
    given = ["layouts.py:grid", "--size", "size.m=2", "--size", "size.n=3"]
    shown = CliRunner().invoke(main, ["show", *given])
    assert shown.exit_code == 0 and "0  0  2  4" in shown.output, shown.output
    left = CliRunner().invoke(main, ["show", *given[:-2]])
    assert "layouts.py:grid takes size.n; give numbers: --size size.n=.." in left.output
    verified = CliRunner().invoke(main, ["verify", *given, "-t", "cpp"])
    assert verified.exit_code == 0 and "every index comes back (6 indices" in verified.output
    emitted = CliRunner().invoke(main, ["generate", *given[:3], "-t", "cpp"])
    assert "grid_apply(\n    [[maybe_unused]] Size size" in emitted.output, emitted.output


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["cpp", "python"])
@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        ({"p": Empty}, "the annotation of p is Empty, a struct without fields; give it integers"),
        (
            {"p": Weighted},
            "whose field weight is float; a struct holds integers: write weight: int",
        ),
        ({"p": "Coords"}, "the annotation of p is 'Coords', and nobody defined Coords; import it"),
        ({"p": Array}, "the annotation of p is Array; say how many elements it has, as Array[4]"),
        ({"return": Empty}, "its result's is Empty, a struct without fields"),
    ],
)
def test_annotations_that_are_wrong(language, annotations, said):
    def function(p, i):
        return i

    function.__annotations__ = annotations
    with pytest.raises(LegoError) as error:
        generate(function, language)
    assert said in str(error.value) and str(error.value).startswith("function: ")


@pytest.mark.parametrize("count", [0, -1, True, "4", 2.0, 10**6])
def test_arrays_of_no_number(count):
    with pytest.raises(LegoError, match="an array has a number of elements, 1 to 4096"):
        Array[count]

    def function(X, i):
        return i

    function.__annotations__ = {"X": f"Array[{count!r}]"}
    with pytest.raises(
        LegoError, match=r"^function: .* X is .*: an array has a number of elements"
    ):
        generate(function, "cpp")


def test_elements_that_are_not_there():
    def beyond(X: Array[4], i: int) -> int:
        return X[4] * i

    def variable(X: Array[4], i: int) -> int:
        return X[i]

    with pytest.raises(LegoError, match=r"X\[4\]: the array has 4 elements, 0 to 3"):
        generate(beyond, "cpp")
    with pytest.raises(LegoError, match=r"NumPy takes the elements of an Array\[4\] one by one"):
        generate(variable, "numpy")


def test_results_of_another_form():
    def short(i: int) -> Coord:
        return i, i

    with pytest.raises(LegoError, match=r"short returns .*, and its annotation says Coord"):
        generate(short, "cpp")


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_two_structs_that_differ_in_case(language, toolchain_of):
    toolchain_of(language)

    class coord(NamedTuple):
        a: int

    def function(p, q):
        return p.x + q.a

    function.__annotations__ = {"p": Coord, "q": coord}
    run = generate(function, language).compile()
    assert run["function"](Coord(1, 2, 3), coord(5)) == 6


def test_two_structs_of_one_name():
    class Other(NamedTuple):
        a: int

    Other.__name__ = "Coord"

    def first(p: Coord) -> int:
        return p.x

    def second(p: Coord) -> int:
        return p.a

    second.__annotations__ = {"p": Other}
    with pytest.raises(LegoError, match="two structs are named Coord: one of x, y, z, one of a"):
        generate([first, second], "cpp")


# -- layouts --------------------------------------------------------------------------------------


class Size(NamedTuple):
    m: int
    n: int


class Place(NamedTuple):
    x: int
    y: int


def tiles(size: Size):
    return GroupBy([size.m, size.n]).OrderBy(Col(size.m, size.n))


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "cpp", "rust", "python"])
def test_layouts(toolchain_of, language):
    """Sizes by annotations or group=, the index by index=."""
    toolchain_of(language)
    M, N = symbols("M N")
    layout = GroupBy([M, N]).OrderBy(Col(M, N))
    units = [
        generate(tiles, language, index=Place),
        generate(layout, language, index=Place, group={"size": Size(M, N)}, name="tiles"),
        generate(layout, language, index=Array[2], group={"size": ("M", "N")}, name="tiles"),
    ]
    for unit, run in zip(units, toolchain_of(language).compile(units), strict=True):
        for n in range(24):
            at = run["tiles_inv"]((4, 6), n)
            assert tuple(at) == (n % 4, n // 4)
            assert run["tiles_apply"]((4, 6), at) == n
        names = (
            {"size": Size(4, 6)}
            if "size.m" in unit.lowered.functions[0].ranges
            else {"M": 4, "N": 6}
        )
        assert unit.verify(sizes=names)
    assert type(toolchain_of(language).compile(units[:1])[0]["tiles_inv"]((4, 6), 5)) is Place


def test_the_text_of_a_layout():
    text = generate(tiles, "cpp", index=Place).source
    assert "tiles_apply(Size size, Place index)" in text
    assert "constexpr Place tiles_inv(Size size, std::int64_t flat)" in text
    assert "/// Physical position of the logical index.\n" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"index": int}, "index is <class 'int'>; give a NamedTuple's class or Array[n]"),
        (
            {"index": Coord},
            "index is a struct or an array of 3 (Coord), and the index of tiles_apply",
        ),
        ({"group": {"size": Size("M", "N")}}, "group: size has M, which is not a parameter"),
        (
            {"group": {"p": 3}},
            "group: p is 3; give a struct of symbols, such as Coord(M, N), or a tuple",
        ),
        (
            {"group": {"p": (1, 2)}},
            "group: p has 1; its members are symbols, or names of parameters",
        ),
        ({"group": 3}, "group is 3; give a dict such as {'size': Coord(M, N)}"),
        (
            {"group": {"j": ("i",)}},
            "tiles_apply has a parameter j beside the struct or array of that",
        ),
    ],
)
def test_groups_that_do_not_fit(options, said):
    with pytest.raises(LegoError) as error:
        generate(tiles, "cpp", **options)
    assert said in str(error.value)


def test_index_is_for_layouts():
    with pytest.raises(LegoError, match="index= is for layouts; annotate the parameters"):
        generate(voxel, "cpp", index=Coord)


# -- more languages ------------------------------------------------------------------------------


class Words(NamedTuple):
    end: int
    type: int
    out: int
    count: int  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]


class Five(NamedTuple):
    a: int
    b: int
    c: int
    d: int
    e: int


def words(words: Words, end: int) -> Words:
    return Words(words.type + end, words.end, words.count, words.out)


def five(five: Five, X: Array[2], coord: Coord, n: int) -> Five:
    """Five of them."""
    return Five(n, five.e, five.d, coord.y + five.c, five.a)


def pages(size: Coord, X: Array[1], k: int) -> Array[2]:
    return Row(size.x, size.y, size.z)[k, :, 0], X[0] + k


def units(language):
    """Signatures of many kinds; two units have functions of one name and a struct."""
    bounded = {"n": (0, "size.x*size.y*size.z")}
    fixed = {
        "at.x": (0, "size.x"),
        "at.y": (0, 5),
        "at.z": (0, "size.z"),
        "n": (0, "size.x*5*size.z"),
    }
    return [
        generate(voxel, language, ranges=RANGES),
        generate(offset, language, ranges=ELEMENTS),
        generate(turned, language),
        generate(words, language, index_type="int32"),
        generate(five, language, names="camelCase", prefix="acme_"),
        generate(pages, language, assume=["size.x >= 1", "size.y >= 1", "size.z >= 1"]),
        generate([voxel, unravel], language, name="both", sizes={"size.y": 5}, ranges=fixed),
        generate(unravel, language, ranges=bounded, name="narrow", index_type="int32"),
        generate(offset, language, sizes={"X[1]": 3}, name="part"),
    ]


@pytest.fixture(scope="module", params=RARER)
def more(request, toolchain_of):
    """Those that only these tests have, run together."""
    made = units(request.param)
    return toolchain_of(request.param).compile([made[0], *made[3:]])


def test_names_that_a_language_has(more):
    """A struct, a parameter and a function that differ in capitals, or not at all."""
    _, of_words, of_five, *_ = more
    assert of_words["words"](Words(1, 2, 3, 4), 10) == Words(12, 1, 4, 3)
    found = of_five[next(iter(of_five))](Five(1, 2, 3, 4, 5), (8, 9), Coord(6, 7, 8), 10)
    assert found == Five(10, 5, 4, 10, 1)


def test_a_struct_of_several_units(more):
    size = Coord(4, 5, 6)
    one, _, _, _, both, narrow, _ = more
    for n in range(120):
        at = unravel(size, n)
        assert both["unravel"](size, n) == narrow["narrow"](size, n) == at
        assert both["voxel"](size, at) == one["voxel"](size, at) == n


def test_an_element_that_is_a_number(more):
    assert more[-1]["part"]((2, 3, 4, 5), (1, 2, 3, 4)) == 119


def test_an_array_over_an_axis(more):
    unit, columns = more[3], np.arange(4)
    for k in range(3):
        first, second = unit.array("pages")(3, 4, 2, 9, k)
        assert [*first] == [*(8 * k + 2 * columns)] and [*second] == [9 + k] * 4
        assert unit["pages"](Coord(3, 4, 2), (9,), k, 3) == (8 * k + 6, 9 + k)


def test_python():
    text = generate(unravel, "python", ranges={"n": (0, "size.x*size.y*size.z")}).source
    assert (
        "\n\n\nclass Coord(NamedTuple):\n" in text
        and "    x: int\n    y: int\n    z: int\n" in text
    )
    assert "def unravel(size: Coord, n: int) -> Coord:" in text
    assert "return Coord(n % size.x, n // size.x % size.y, n // (size.x * size.y))" in text
    assert "        n: 0 <= n < size.x*size.y*size.z\n" in text
    text = generate(turned, "python").source
    assert "def turned(i: tuple[int, int, int]) -> tuple[int, int, int]:" in text
    assert "return i[1], i[2], i[0]" in text and "NamedTuple" not in text
    text = generate(five, "python").source
    assert text.count("class Five") == text.count("class Coord") == 1 and "any integers" in text
    text = generate(pages, "python").source
    assert "pages_positions(size: Coord, X: tuple[int], k: int) -> list[tuple[int, int]]:" in text


def test_fortran():
    text = generate(voxel, "fortran", ranges=RANGES).source
    assert "  type, public :: Coord\n    integer(int64) :: x, y, z\n  end type Coord\n" in text
    assert "elemental integer(int64) function voxel(size_v, at)\n" in text
    assert "    type(Coord), intent(in) :: size_v, at\n" in text
    assert "voxel = size_v%x * (size_v%y * at%z + at%y) + at%x\n" in text
    assert "!> @param at 0 <= at.x < size_v.x, 0 <= at.y < size_v.y," in text
    text = generate(turned, "fortran").source
    assert "  pure function turned(i)\n    integer(int64), dimension(3), intent(in) :: i\n" in text
    assert "turned = [i(2), i(3), i(1)]\n" in text
    text = generate(unravel, "fortran", ranges={"n": (0, "size.x*size.y*size.z")}).source
    assert "elemental type(Coord) function unravel(size_v, n)\n" in text
    assert "unravel = Coord(modulo(n, size_v%x), " in text
    text = generate(words, "fortran").source  # capitals don't count
    assert "elemental type(Words_2) function words(words_3, end_v)" in text
    text = generate(offset, "fortran", ranges=ELEMENTS, checks=True).source
    assert "if (.not. (X(1) >= 1" in text
    text = generate(pages, "fortran").source
    assert "integer(int64), dimension(2, 0:size_v%y - 1) :: values" in text
    text = generate(tiles, "fortran", index=Place).source
    assert "!> @note Renamed: i is index_v.x here" in text


def test_glsl():
    text = generate(voxel, "glsl", ranges=RANGES).source
    assert "int voxel(ivec3 size, ivec3 at) {" in text and "struct" not in text
    assert "return size.x * (size.y * at.z + at.y) + at.x;" in text
    text = generate(turned, "glsl").source
    assert "int[3] turned(int i[3]) {\n  return int[3](i[1], i[2], i[0]);\n}\n" in text
    text = generate(tiles, "glsl", index=Place, index_type="uint32").source
    assert "// size: m is x, n is y\nuint tilesApply(uvec2 size, uvec2 index) {" in text
    assert "uvec2 tilesInv(uvec2 size, uint flat_v) {\n  return uvec2(flat_v % size.x" in text
    text = generate(words, "glsl").source
    assert "// The result: end is x, type is y, out is z, count is w\n" in text
    text = generate(five, "glsl").source
    struct = "struct Five {\n  int a;\n  int b;\n  int c;\n  int d;\n  int e;\n};\n"
    guard = r"#ifndef LEGO_STRUCT_Five\n#define LEGO_STRUCT_Five 0x[0-7][0-9a-f]{7}\n"
    assert re.search(guard + re.escape(struct), text)
    assert "Five five(Five five_2, int X[2], ivec3 coord, int n) {" in text
    assert "return Five(n, five_2.e, five_2.d, coord.y + five_2.c, five_2.a);" in text
    text = generate(pages, "glsl").source
    assert "int[2] pagesPositions(ivec3 size, int X[1], int k, int n) {" in text
    # Indices by themselves are gathered as before.
    text = generate(Row(*symbols("M N")), "glsl").source
    assert "int layoutApply(int M, int N, ivec2 index) {" in text


def test_wgsl():
    text = generate(unravel, "wgsl", assume=["size.x >= 1", "size.y >= 1"]).source
    assert "fn unravel(size: vec3<i32>, n: i32) -> vec3<i32> {" in text and "struct" not in text
    assert "return vec3<i32>(" in text
    text = generate(turned, "wgsl", index_type="uint32").source
    assert "fn turned(i: array<u32, 3>) -> array<u32, 3> {" in text
    assert "  return array<u32, 3>(i[1], i[2], i[0]);\n" in text
    text = generate(five, "wgsl").source
    assert "struct Five {\n  a: i32,\n  b: i32,\n  c: i32,\n  d: i32,\n  e: i32,\n}\n" in text
    text = generate(clipped, "wgsl").source
    assert "/// box: low is x, high is y\n/// The result: low is x, high is y\n" in text


@pytest.mark.parametrize("language", ["glsl", "wgsl"])
def test_vectors_of_64_bits(toolchain_of, language):
    whole = generate(tiles, language, index=Place, index_type="uint64")
    part = generate(five, language, index_type="int64", sizes={"five.a": 7})
    whole, part = toolchain_of(language).compile([whole, part])
    n = 5 * 2**33 + 3
    assert whole["tiles_inv"]((2**33, 6), n) == Place(3, 5)
    assert whole["tiles_apply"]((2**33, 6), Place(3, 5)) == n
    given = Five(7, 2, 3, 4, 2**40), (0, 0), Coord(1, 2, 3), -(2**35)
    assert part["five"](*given) == Five(-(2**35), 2**40, 4, 5, 7)


def test_what_is_asserted(toolchain_of):
    """Members are asserted to lie in their ranges."""
    toolchain_of("python")
    compiled = generate(voxel, "python", ranges=RANGES, checks=True).compile()["voxel"]
    assert compiled(Coord(4, 5, 6), Coord(3, 2, 1)) == 31
    with pytest.raises(ToolchainError, match="AssertionError"):
        compiled(Coord(4, 5, 6), Coord(4, 2, 1))


@pytest.mark.parametrize("language", ["cpp", "cuda", "rust", "julia"])
def test_a_view_takes_integers(language):
    """A view of a layout whose sizes are a struct is refused in C++, and one whose index is everywhere."""
    with pytest.raises(LegoError, match="a view takes integers, so leave index= out"):
        generate(tiles, language, index=Place, view=True)
    if language in C_FAMILY:
        with pytest.raises(LegoError, match=r"which no view holds in C.*take them one by one"):
            generate(tiles, language, view=True)
    else:
        assert "size" in generate(tiles, language, view=True).source


def test_a_list_is_no_array():
    def at(x: list[int]):
        return x[0]

    with pytest.raises(
        TraceError, match=r"annotate a parameter that is an array of n integers as Array\[n\]"
    ):
        generate(at, "cpp")


class Pair(NamedTuple):
    m: int
    n: int


@pytest.mark.parametrize("language", ["cpp", "fortran"])
def test_members_of_a_group_that_the_language_calls_otherwise(toolchain_of, language):
    """size is a function of Fortran, where the parameter is size_v."""
    toolchain_of(language)
    M, N = symbols("M N")
    unit = generate(GroupBy([M, N]).OrderBy(Col(M, N)), language, group={"size": Pair(M, N)})
    assert unit.verify(sizes={"size": Pair(4, 5)}) and unit.verify(sizes={"size.m": 4, "size.n": 5})


def test_a_function_that_is_called_as_a_variable_of_loops(toolchain_of):
    def i(k):
        return k + 1

    for language in ("c", "cpp"):
        assert toolchain_of(language).compile([generate(i, language)])[0]["i"](5) == 6

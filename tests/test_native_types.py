"""Types of a code base in signatures: emitted, compiled beside them, compared with the plain form."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest
from marks import rest_slow
from typed import Coord, turned, unravel, voxel

from lego_emit import Col, GroupBy, generate, symbols
from lego_emit.emit.natives import is_atom
from lego_emit.errors import OptionError, TargetError, ToolchainError
from lego_emit.proofcheck.check import check
from lego_emit.types import I16, NativeType

SIZE = (4, 5, 6)
RANGES = {f"at.{c}": (0, f"size.{c}") for c in "xyz"} | {f"size.{c}": (1, 100) for c in "xyz"}
FLAT = {"n": (0, "size.x*size.y*size.z")} | {f"size.{c}": (1, 100) for c in "xyz"}


class Cube(NamedTuple):
    i: int
    j: int
    k: int


def down(ijk: Cube) -> Cube:
    """The cell below, as in a hexagonal grid of aperture 7."""
    i, j, k = 3 * ijk.i + ijk.j, 3 * ijk.j + ijk.k, 3 * ijk.k + ijk.i
    least = min(i, j, k)
    return Cube(i - least, j - least, k - least)


CELLS = {f"ijk.{c}": (0, 12) for c in "ijk"}

C_TYPES = """#pragma once
#include <stdint.h>
typedef struct { int64_t w, z, y, x; } Vector3i;
typedef struct { int16_t x, y, z; } Short3;
typedef struct { int64_t v[3]; } Array3;
struct cube { int i, j, k; };
typedef struct { int32_t a, b, c; } Mixed;
#define GET_A(p) ((p).a)
static inline Mixed mixed(int32_t a, int32_t b, int32_t c) {
  Mixed made = {a, b, c};
  return made;
}
static inline Array3 array3(int64_t a, int64_t b, int64_t c) {
  Array3 made = {{a, b, c}};
  return made;
}
"""

CXX_TYPES = """#pragma once
#include <cstdint>
namespace glm {
struct ivec3 {
  int x, y, z;
  ivec3() : x(0), y(0), z(0) {}
  ivec3(int a, int b, int c) : x(a), y(b), z(c) {}
};
}
struct Vector3i { std::int64_t w = 0, z = 0, y = 0, x = 0; };
class Held {
 public:
  Held(std::int64_t a, std::int64_t b, std::int64_t c) : v_{a, b, c} {}
  std::int64_t x() const { return v_[0]; }
  std::int64_t y() const { return v_[1]; }
  std::int64_t z() const { return v_[2]; }

 private:
  std::int64_t v_[3];
};
class Indexed {
 public:
  long long &operator[](int k) { return v_[k]; }
  const long long &operator[](int k) const { return v_[k]; }

 private:
  long long v_[3] = {};
};
struct cube { int i, j, k; };
"""

RUST_TYPES = """#[allow(dead_code)]
pub mod geometry {
    #[derive(Clone, Copy)]
    pub struct Coord {
        pub x: i64,
        pub y: i64,
        pub z: i64,
    }

    #[derive(Clone, Copy)]
    pub struct Vec3 {
        v: [i32; 3],
    }

    impl Vec3 {
        pub fn new(x: i32, y: i32, z: i32) -> Self {
            Vec3 { v: [x, y, z] }
        }
        pub fn x(&self) -> i32 {
            self.v[0]
        }
        pub fn y(&self) -> i32 {
            self.v[1]
        }
        pub fn z(&self) -> i32 {
            self.v[2]
        }
    }
}
"""

FORTRAN_TYPES = """module geometry
  use, intrinsic :: iso_fortran_env, only: int64, int16
  implicit none
  type :: coord
    integer(int64) :: x, y, z
  end type coord
  type :: short3
    integer(int16) :: v(3)
  end type short3
end module geometry
"""

JULIA_TYPES = """module Geometry
struct Coord
    x::Int64
    y::Int64
    z::Int64
end
struct Short3
    v::NTuple{3, Int16}
end
end
"""


@dataclass
class Case:
    """A type, what stands in its text for voxel and for unravel, and options beside it."""

    native: Any
    said: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)


C_CASES = {
    "more fields": Case(
        "Vector3i",
        ("voxel(Vector3i size, Vector3i at) {", "unravel(Vector3i size, int64_t n, Vector3i *result)"),
        {"results": "out", "index_type": "int64"},
    ),
    "narrow": Case(
        NativeType("Short3", member_type="int16"),
        ("voxel(Short3 size, Short3 at) {", "(int16_t)"),
    ),
    "pointer": Case(
        NativeType("Array3", "->v[{k}]", make="array3({})", passing="const {type} *{name}"),
        ("voxel(const Array3 *size, const Array3 *at) {", "size->v[0]", "return array3("),
        {"index_type": "int64"},
    ),
    "macros": Case(
        NativeType(
            "Mixed", ["GET_A({name})", ".b", "*&{name}.c"], make="mixed({x}, {y}, {z})", member_type="int32"
        ),
        ("GET_A(size)", "(*&at.c)", "return mixed("),
    ),
}  # fmt: skip
CXX_CASES = {
    "constructor": Case(
        NativeType("glm::ivec3", make="{type}({})", member_type="int32"),
        ("voxel(glm::ivec3 size, glm::ivec3 at) {", "return glm::ivec3("),
    ),
    "more fields": Case("Vector3i", ("Vector3i &result) {",), {"results": "out", "index_type": "int64"}),
    "accessors": Case(
        NativeType("Held", ".{}()", make="{type}{{{}}}", passing="const {type} &{name}"),
        ("voxel(const Held &size, const Held &at) {", "size.x()", "return Held{"),
        {"index_type": "int64"},
    ),
    "accessors, out": Case(
        NativeType("Held", ".{}()", make="{type}({})"),
        ("void unravel(Held &size, int64_t n) {", "size = Held("),
        {"index_type": "int64", "results": "inout"},
    ),
    "elements": Case(
        NativeType("Indexed", "[{k}]", passing="const {type} &{name}"),
        ("size[0]", "unravel(const Indexed &size, ", "Indexed &result) {", "result[2] = "),
        {"index_type": "int64", "results": "out"},
    ),
}  # fmt: skip
CASES = {
    "c": (C_TYPES, C_CASES),
    "cpp": (CXX_TYPES, CXX_CASES),
    "cuda": (CXX_TYPES, CXX_CASES),
    "rust": (
        RUST_TYPES,
        {
            "path": Case(
                "crate::geometry::Coord", ("voxel(size: crate::geometry::Coord, ",), {"index_type": "int64"}
            ),
            "accessors": Case(
                NativeType(
                    "Vec3", ".{}()", make="{type}::new({})", include="use crate::geometry::Vec3;",
                    member_type="int32", passing="{name}: &{type}",
                ),
                ("pub fn voxel(size: &Vec3, at: &Vec3) -> i32 {", "Vec3::new("),
            ),
            "places": Case(
                NativeType(
                    "geometry::Coord", include="use crate::geometry;", make="{type} {{ z: {z}, y: {y}, x: {x} }}"
                ),
                ("geometry::Coord { z: ",),
                {"index_type": "int64"},
            ),
        },
    ),
    "fortran": (
        FORTRAN_TYPES,
        {
            "module": Case(
                NativeType("geometry::coord", member_type="int64"),
                ("use geometry, only: coord", "type(coord), intent(in) :: size_v, at", "= size_v%x"),
                {"index_type": "int64"},
            ),
            "unknown": Case("geometry::coord", ("int(size_v%x, int64)",), {"index_type": "int64"}),
            "elements": Case(
                NativeType(
                    "short3", "%v({k})", "{type}([{}])", "use geometry, only: short3", "int16",
                    "class({type}), intent(in) :: {name}",
                ),
                ("class(short3), intent(in) :: at", "size_v%v(1)", "short3([int("),
            ),
        },
    ),
    "julia": (
        JULIA_TYPES,
        {
            "imported": Case(
                NativeType("Coord", include="using ..Geometry: Coord", member_type="int64"),
                ("voxel(size::Coord, at::Coord)::Int64", "size.x *"),
            ),
            "elements": Case(
                NativeType(
                    "Geometry.Short3", ".v[{k}]", make="{type}(({}))", include="using ..Geometry: Geometry"
                ),
                ("Int64(size.v[1])", "Geometry.Short3(("),
            ),
        },
    ),
}  # fmt: skip
LISTED = [(language, name) for language, (_, cases) in CASES.items() for name in cases]


def beside(toolchain, language, folder):
    """A toolchain for units that use the types of a language, and what includes them."""
    types, _ = CASES[language]
    if language in ("c", "cpp", "cuda"):
        header = folder / "geometry.h"
        header.write_text(types)
        return toolchain, f'"{header}"'
    return type("Beside", (type(toolchain),), {"prelude": types})(), ""


def with_include(native, include):
    """The type, with what the file includes."""
    native = NativeType(native) if isinstance(native, str) else native
    if not include:
        return native
    return NativeType(
        native.name, native.members, native.make, include, native.member_type, native.passing
    )


@pytest.mark.parametrize(("language", "name"), rest_slow(LISTED, 4))
def test_types_of_a_code_base(language, name, toolchain_of, tmp_path):
    """Over the whole of a small grid the same as with structs of our own."""
    toolchain, include = beside(toolchain_of(language), language, tmp_path)
    case = CASES[language][1][name]
    types = {"Coord": with_include(case.native, include)}
    units = [
        generate(f, language, ranges=r, **more)
        for f, r in ((voxel, RANGES), (unravel, FLAT))
        for more in ({"types": types, **case.options}, {})
    ]
    text = units[0].source + units[2].source
    for said in case.said:
        assert said in text.replace("std::", "").replace("long long", "int64_t"), text
    assert "LEGO_STRUCT" not in text and "struct Coord" not in text and "type :: coord" not in text
    own, plain, own_inverse, plain_inverse = toolchain.compile(units)
    at = np.indices(SIZE).reshape(3, -1)
    found = own.columns("voxel", [*SIZE, *at])
    assert np.array_equal(found, plain.columns("voxel", [*SIZE, *at]))
    n = np.arange(np.prod(SIZE))
    assert np.array_equal(np.sort(found[0]), n)
    found = own_inverse.columns("unravel", [*SIZE, n])
    assert np.array_equal(found, plain_inverse.columns("unravel", [*SIZE, n]))
    back = own.columns("voxel", [*SIZE, *found])
    assert np.array_equal(back[0], n)
    assert own_inverse["unravel"](Coord(*SIZE), 31) == Coord(3, 2, 1)
    assert own["voxel"](SIZE, (3, 2, 1)) == 31


@pytest.mark.parametrize("results", ["out", "inout"])
@pytest.mark.parametrize("language", rest_slow(["opencl", "metal", "hip"], 0))
def test_the_other_languages_of_c(language, results, toolchain_of, tmp_path):
    header = tmp_path / "geometry.h"
    header.write_text(
        "#ifndef GEOMETRY\n#define GEOMETRY\nstruct Vector3i { short w, z, y, x; };\n"
        "typedef struct Vector3i Vector3i;\n#endif\n"
    )
    by = {"metal": "thread const {type} &{name}", "hip": "const {type} &{name}"}.get(language, "")
    native = NativeType("Vector3i", include=str(header), member_type="int16", passing=by)
    more = {"results": results, "types": {"Coord": native}, "index_type": "int32"}
    units = [generate(f, language, ranges=r, **more) for f, r in ((voxel, RANGES), (unravel, FLAT))]
    own, inverse = toolchain_of(language).compile(units)
    n = np.arange(np.prod(SIZE))
    found = inverse.columns("unravel", [*SIZE, n])
    assert np.array_equal(found, np.unravel_index(n, SIZE[::-1])[::-1])
    assert np.array_equal(own.columns("voxel", [*SIZE, *found])[0], n)


@pytest.mark.parametrize("language", rest_slow(["c", "cpp", "cuda"], 0))
@pytest.mark.parametrize("native", [None, "cube", "cube by pointer"])
def test_in_out(language, native, toolchain_of, tmp_path):
    """A result that is written to the parameter that is read."""
    toolchain, include = beside(toolchain_of(language), language, tmp_path)
    given = {"ranges": CELLS, "index_type": "int32"}
    if native is not None:
        by = ("->{}", "{type} *{name}") if "pointer" in native else ("", "")
        name = "struct cube" if language == "c" else "cube"
        given["types"] = {"Cube": NativeType(name, by[0], "", include, "int32", by[1])}
    unit = generate(down, language, results="inout", **given)
    assert "void down(" in unit.source and "result" not in unit.source.split("void down(")[1]
    assert "/// @param[in,out] ijk 0 <= ijk.i < 12, 0 <= ijk.j < 12, 0 <= ijk.k < 12" in unit.source
    own, plain = toolchain.compile([unit, generate(down, language, ranges=CELLS)])
    cells = np.indices((12, 12, 12)).reshape(3, -1)
    assert np.array_equal(own.columns("down", cells), plain.columns("down", cells))
    assert own["down"](Cube(1, 2, 4)) == down(Cube(1, 2, 4))


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_in_out_of_an_array(language, toolchain_of):
    unit = generate(turned, language, results="inout", index_type="int32")
    assert unit.source.count("[3]") == 1 and "result" not in unit.source
    assert toolchain_of(language).compile([unit])[0]["turned"]((7, 8, 9)) == (8, 9, 7)


def test_what_the_results_are_written_to_may_be_what_is_read(tmp_path, need):
    """By reference, the parameter and the result may be one object of the caller's."""
    (tmp_path / "geometry.h").write_text(CXX_TYPES)
    native = NativeType("cube", passing="const {type} &{name}", include='"geometry.h"')
    options = {"types": {"Cube": native}, "ranges": CELLS, "index_type": "int32"}
    generate(down, "cpp", results="out", **options).save(tmp_path / "down.hpp")
    (tmp_path / "main.cpp").write_text(
        '#include "down.hpp"\nint main() {\n  cube c{1, 2, 4};\n  lego::down(c, c);\n'
        f"  const cube want{{{', '.join(map(str, down(Cube(1, 2, 4))))}}};\n"
        "  return c.i != want.i || c.j != want.j || c.k != want.k;\n}\n"
    )
    compiler = need("g++", "apt-get install g++")
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "main.cpp"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "a.out"], check=True)


def test_two_files_share_a_type(tmp_path, need):
    (tmp_path / "geometry.h").write_text(CXX_TYPES)
    types = {"Coord": NativeType("Vector3i", include="geometry.h")}
    for function, ranges in ((voxel, RANGES), (unravel, FLAT)):
        more = {"results": "out", "types": types, "index_type": "int64"}
        generate(function, "cpp", ranges=ranges, **more).save(tmp_path / f"{function.__name__}.hpp")
    (tmp_path / "main.cpp").write_text(
        '#include "unravel.hpp"\n#include "voxel.hpp"\nint main() {\n'
        "  Vector3i size{0, 6, 5, 4}, at;\n  lego::unravel(size, 31, at);\n"
        "  return lego::voxel(size, at) != 31;\n}\n"
    )
    compiler = need("g++", "apt-get install g++")
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "main.cpp"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "a.out"], check=True)


def test_members_that_are_narrower_do_not_compile(tmp_path, toolchain_of):
    """A product of ints overflows before it meets an index of 64 bits."""
    for language, said in (
        ("c", "size of"),
        ("cpp", "say so by member_type"),
        ("cuda", "say so by"),
    ):
        toolchain, include = beside(toolchain_of(language), language, tmp_path)
        native = NativeType("struct cube", {"x": ".i", "y": ".j", "z": ".k"}, include=include)
        unit = generate(voxel, language, types={"Coord": native}, index_type="int64", ranges=RANGES)
        with pytest.raises(ToolchainError, match=said):
            toolchain.compile([unit])


def test_annotations_say_what_members_are():
    class Short(NamedTuple):
        x: I16
        y: I16

    def row(at: Short) -> int:
        return at.y * 100 + at.x

    row.__annotations__ = {"at": Short, "return": int}
    text = generate(row, "fortran", types={"Short": "geometry::short"}).source
    assert "int(at%y, int32)" in text
    text = generate(row, "c", types={"Short": "Short2"}).source
    assert "return 100 * at.y + at.x;" in text


def test_a_size_that_is_a_number(toolchain_of, tmp_path):
    """A member that is a number is not read, and a caller gives it all the same."""
    toolchain, include = beside(toolchain_of("cpp"), "cpp", tmp_path)
    types = {"Coord": NativeType("Vector3i", include=include)}
    given = {"types": types, "ranges": {"at.x": (0, "size.x"), "at.y": (0, 5)}}
    unit = generate(voxel, "cpp", sizes={"size.y": 5}, index_type="int64", checks=True, **given)
    assert "size.y" not in unit.source.split("voxel(")[2]
    assert toolchain.compile([unit])[0]["voxel"](Coord(4, 5, 6), Coord(3, 2, 1)) == 31
    assert unit.verify(sizes={"size": Coord(4, 5, 6)}, domain={"at.z": 6})


def test_sizes_that_are_all_numbers(toolchain_of, tmp_path):
    toolchain, include = beside(toolchain_of("cpp"), "cpp", tmp_path)
    types = {
        "Coord": NativeType("glm::ivec3", make="{type}({})", include=include, member_type="int32")
    }
    unit = generate(
        unravel, "cpp", sizes={"size": Coord(4, 5, 6)}, ranges={"n": (0, 120)}, types=types
    )
    assert "inline glm::ivec3 unravel(std::int32_t n) {" in unit.source
    assert toolchain.compile([unit])[0]["unravel"](31) == Coord(3, 2, 1)


def test_names_of_ours_are_none_of_the_user_s():
    def ivec3(Vector3i: Coord, GET: int) -> int:
        return Vector3i.x + GET

    ivec3.__annotations__ = {"Vector3i": Coord, "GET": int, "return": int}
    native = NativeType("ivec3", ["GET({name})", ".y", ".z"])
    text = generate(ivec3, "cpp", types={"Coord": native}, index_type="int32").source
    assert "ivec3_2(ivec3 Vector3i, std::int32_t GET_2)" in text
    assert "return GET_2 + GET(Vector3i);" in text


def test_beside_a_text_in_the_place_of_a_parameter():
    """A parameter that is a text of the user's has members of the type as well, and is none to write to."""
    types = {"Coord": NativeType("Held", ".{}()", "{type}({})")}
    given = {"types": types, "ranges": RANGES, "index_type": "int32"}
    text = generate(voxel, "cpp", bind={"size": "params.size"}, **given).source
    assert "voxel(Held at) {" in text and "params.size.x() * " in text

    def moved(by: Coord, at: Coord) -> Coord:
        return Coord(at.x + by.x, at.y + by.y, at.z + by.z)

    moved.__annotations__ = {"by": Coord, "at": Coord, "return": Coord}
    given = {"types": types, "index_type": "int32", "results": "inout"}
    text = generate(moved, "cpp", bind={"by": "params.by"}, **given).source
    assert "inline void moved(Held &at) {" in text


class Reserved(NamedTuple):
    end: int
    type: int


def reserved(at: Reserved) -> int:
    return at.end * 8 + at.type


def test_fields_are_called_as_the_code_base_calls_them():
    """Words of the language are theirs, and no style and no prefix changes them."""
    more: dict[str, Any] = {"names": "camelCase", "prefix": "acme_", "index_type": "int32"}
    text = generate(reserved, "rust", types={"Reserved": "Their_type"}, **more).source
    assert "pub fn acmeReserved(at: Their_type) -> i32 {" in text
    assert "at.end + at.type" in text.replace("8 * ", "")


def test_a_layout_s_index():
    M, N = symbols("M N")

    class Place(NamedTuple):
        row: int
        column: int

    layout = GroupBy([M, N]).OrderBy(Col(M, N))
    unit = generate(layout, "cpp", name="tiles", index=Place, types={"Place": "vec2"})
    text = unit.source
    assert "std::int64_t M, [[maybe_unused]] std::int64_t N, vec2 index) {" in text
    assert "vec2 tiles_inv(" in text
    with pytest.raises(
        TargetError, match="types: Place has members of int16, and is given to tiles_app"
    ):
        types = {"Place": NativeType("vec2", member_type="int16")}
        generate(layout, "cpp", name="tiles", index=Place, types=types)


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("at.x", True), ("at->x", True), ("at[0]", True), ("at.x()", True), ("GET(at, 1).x", True),
        ("(at)", True), ("a::b(at)", True), ("at.v[f(1)].x", True), ("r#type", True), ("*at.x", False),
        ("(int)at.x", False), ("at & 255", False), ("at % 4", False), ("a%b", False), ("-at", False),
        ("f(at) >> 16", False), ("at.x + at.y", False),
    ],
)  # fmt: skip
def test_what_stands_alone_among_operators(text, alone):
    assert is_atom(text) == alone


def test_a_summary_names_what_stands_in_the_text():
    layout = GroupBy([4, 8])
    for names in (None, "camelCase"):
        unit = generate(layout, "cuda", bind={"i": "blockIdx.x", "j": "threadIdx.x"}, names=names)
        assert "logical index (blockIdx.x, threadIdx.x).\n" in unit.source


def test_texts_that_bind_less_are_bracketed(toolchain_of, tmp_path):
    """Two members that are packed into one integer, and a result packed in the same way."""
    toolchain, _ = beside(toolchain_of("c"), "c", tmp_path)

    class Pair(NamedTuple):
        low: int
        high: int

    def swapped(p: Pair, n: int) -> Pair:
        return Pair(p.high * 2 + n, p.low + 1)

    swapped.__annotations__ = {"p": Pair, "n": int, "return": Pair}
    native = NativeType("uint32_t", ["{name} & 0xffff", "{name} >> 16"], "{low} | {high} << 16")
    ranges = {"p.low": (0, 100), "p.high": (0, 100), "n": (0, 5)}
    unit = generate(swapped, "c", types={"Pair": native}, ranges=ranges, index_type="uint32")
    assert "(p >> 16)" in unit.source and ") | (" in unit.source
    assert toolchain.compile([unit])[0]["swapped"](Pair(7, 9), 3) == Pair(21, 8)


def test_without_a_way_to_make_one_the_text_is_emitted_and_not_run(tmp_path, toolchain_of):
    for language in ("cpp", "rust", "fortran", "julia"):
        toolchain = toolchain_of(language)
        native = NativeType("Held", {"x": ".a()", "y": ".b()", "z": ".c()"})
        unit = generate(voxel, language, types={"Coord": native}, ranges=RANGES)
        assert "Held" in unit.source and ".a()" in unit.source
        with pytest.raises(
            TargetError, match="types: to call a function that takes a Held one has to be"
        ):
            toolchain.compile([unit])


# -- errors ----------------------------------------------------------------------------------------


def refused(
    match: str,
    function: Any = voxel,
    language: str = "cpp",
    error: type[Exception] = TargetError,
    **given: Any,
):
    with pytest.raises(error, match=match):
        generate(function, language, **given)


def test_a_language_without_such_types():
    said = "has no structs as parameters: members stand by themselves; leave types= out"
    for language in ("triton", "numpy", "mlir"):
        refused(said, language=language, types={"Coord": "V"})
    for language in ("python", "javascript", "glsl", "wgsl"):
        said = "types: .* defines the structs of a file itself; leave types= out"
        refused(said, language=language, types={"Coord": "V"})


def test_a_name_that_no_struct_has():
    refused("types names Cord, which is no struct of a function; there are Coord. Did you mean 'Coord'",
            types={"Cord": "V"})  # fmt: skip
    refused("there are |annotate a parameter or the result", turned, types={"Coord": "V"})


def test_members_that_do_not_fit():
    def of(members: Any, make: str = "") -> dict[str, Any]:
        return {"types": {"Coord": NativeType("V", members, make)}}

    refused("types: members of Coord are 2 texts, and its fields are x, y, z", **of([".a", ".b"]))
    refused("members of Coord says nothing of z; its", **of({"x": ".x", "y": ".y"}))
    refused("members of Coord names w; its", **of({c: f".{c}" for c in "xyzw"}))
    refused("types: Coord reads x and y by the same text; write {} or {k}", **of(".x"))
    refused("make of Coord has {w}; the fields are x, y, z", **of("", "V({x}, {y}, {w})"))
    refused("make of Coord leaves out z; write {} for all members", **of("", "V({x}, {y})"))


def test_a_result_that_nothing_says_how_to_make():
    types = {"Coord": NativeType("V", ".{}()")}
    refused("types: unravel gives a V, and nothing says how one is made of its members; give NativeType "
            "make", unravel, types=types)  # fmt: skip
    refused("types: unravel gives a V, whose members are no places to write to", unravel, types=types,
            results="out")  # fmt: skip


def test_two_structs_of_one_name():
    def other() -> Any:
        class Coord(NamedTuple):
            row: int
            column: int

        def function(at: Any) -> int:
            return at.row * 8 + at.column

        function.__annotations__ = {"at": Coord, "return": int}
        return function

    refused("two structs are named Coord: one of x, y, z, one of row, column", [voxel, other()],
            types={"Coord": "V"}, name="all")  # fmt: skip


def test_in_out_without_such_a_parameter():
    def made(n: int) -> Cube:
        return Cube(n, n, n)

    def several(n: int):
        return n, n + 1

    made.__annotations__ = {"n": int, "return": Cube}
    refused("made: results is 'inout', and no parameter has the type of its result, Cube; add one, or "
            "write results='out'", made, results="inout")  # fmt: skip
    refused("several: results is 'inout', and it gives several integers, no struct and", several,
            results="inout")  # fmt: skip


def test_array_forms_and_views():
    def cells(size: Coord, k: int) -> int:
        return GroupBy([size.x, size.y, size.z])[k, :, 0]

    cells.__annotations__ = {"size": Coord, "k": int, "return": int}
    refused("Coord is a type of your own, and cells has an array form; write a parameter for ':'", cells,
            types={"Coord": "V"})  # fmt: skip


def test_julia_s_narrow_integers():
    refused("beside which Julia has no int32 here; it has int64, uint64: leave index_type= out",
            language="julia", types={"Coord": "V"}, index_type="int32")  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "NativeType: name is ''; give the name of a type"),
        ({"name": "a\nb"}, "give a text of one line"),
        ({"members": 3}, "members is 3; give a text, a list or a dict"),
        ({"members": [".x", ""]}, "members is ''; give a text such as"),
        ({"members": ".{x}"}, r"it has no place \{x\}; there are \{\}, \{k\}, \{name\}"),
        ({"members": ".{"}, "double a brace that is no place"),
        ({"members": ".{:d}"}, "a place has no form"),
        ({"make": "V{0}"}, r"make is 'V\{0\}'; it has no place \{0\}"),
        ({"make": "V{"}, "double a brace that is no place"),
        ({"member_type": "int12"}, "member_type is 'int12'; there are int8, .*Did you mean"),
        ({"passing": "{type} &x"}, r"write \{type\} and \{name\} in it"),
        ({"passing": "{T} {name}"}, r"it has no place \{T\}; there are \{type\}, \{name\}"),
    ],
)
def test_forms_of_a_native_type(given, said):
    with pytest.raises(OptionError, match=said):
        NativeType(**{"name": "V", **given})


def test_values_of_the_option():
    for value in (3, ["Coord"], {3: "V"}):
        refused(
            "types is .*; give a dict such as {'Coord': 'Vector3i'}", types=value, error=OptionError
        )
    with pytest.raises(OptionError, match="; is in no name of a type"):
        generate(voxel, "cpp", types={"Coord": "X; int y"})
    refused("types: Coord is 3; give the name of a type, or a NativeType", types={"Coord": 3},
            error=OptionError)  # fmt: skip


@pytest.mark.parametrize("language", ["c", "cpp", "rust", "fortran", "julia"])
def test_no_text_with_such_a_type_is_proved(language):
    """What the members of a type are, the checker cannot know."""
    for native in ("V", NativeType("V", ".{}()", "V({})")):
        unit = generate(unravel, language, types={"Coord": native}, ranges=FLAT)
        assert not check(json.loads(unit.certificate().json), unit.source, unravel)


def test_no_text_that_writes_to_what_it_reads_is_proved():
    for language in ("c", "cpp"):
        unit = generate(down, language, results="inout", ranges=CELLS)
        assert not check(json.loads(unit.certificate().json), unit.source, down)

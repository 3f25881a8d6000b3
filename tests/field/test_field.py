"""Real signatures: the emitted statements in the place of a function's body, nothing else changed.

The types around are stubs; each function is compared with a port of its own, written from what the
function is said to do.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import pytest

from lego_emit import generate
from lego_emit.types import I16, I32, I64, U32, Array, Bool, NativeType, Size, SSize

STRICT = "-Wall -Wextra -Wconversion -Wshadow -Werror".split()


def body(source: str, name: str) -> str:
    """The statements of the function of a name, in languages with braces."""
    start = source.index("{\n", source.rindex(f"{name}(")) + 2
    depth, at = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    return source[start : at - 1].strip("\n")


def fortran_body(source: str, name: str) -> str:
    """The statements of a procedure, and the declarations of what is its own."""
    lines = source[
        source.index(f"function {name}(")
        if f"function {name}(" in source
        else source.index(f"subroutine {name}(") :
    ].splitlines()
    end = next(k for k, line in enumerate(lines) if line.strip().startswith("end "))
    return "\n".join(line for line in lines[1:end] if "intent(" not in line)


def run(command: list[str], cwd: Any) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split()]


@dataclass
class Case:
    """fn: what is emitted; text: the file with BODY where its body goes, and a main that prints the
    results at all points; port: the results at a point, by integers; points: in the order of main."""

    fn: Callable[..., Any]
    text: str
    port: Callable[..., Any]
    points: Iterable[tuple[int, ...]]
    target: str = "cpp"
    options: dict[str, Any] = field(default_factory=dict)
    name: str = ""


def each(*axes: range) -> str:
    """The heads of C++ loops over axes a, b, c .."""
    return "".join(
        f"for (int {name} = {axis.start}; {name} < {axis.stop}; {name} += {axis.step}) "
        for name, axis in zip("abcdef", axes, strict=False)
    )


# -- C++ -------------------------------------------------------------------------------------------


class TensorCoord(NamedTuple):
    contiguous: I32
    strided: I32


def crosswise(coord: TensorCoord, stride: I32) -> I64:
    """CUTLASS, TensorOpMultiplicandCrosswise of 16-bit elements, 32 of them crosswise."""
    access, factor, tile = 8, 2, (8, 4)
    vector, line = coord.contiguous // access, coord.strided // factor
    wide = tile[0] // factor
    outer, inner = vector // wide, vector % wide + coord.strided % factor * wide
    row = line % tile[1]
    swizzled = (inner // 4 ^ row // 4 % 2) * 4 + (inner % 4 ^ row % 4)
    return (
        (outer * tile[0] + swizzled) * access + coord.contiguous % access + line * stride * factor
    )


def crosswise_port(c, s, stride):
    """128-byte lines hold two rows of 32 elements; vectors of 8 are permuted by exclusive or."""
    line, second = divmod(s, 2)
    block, vector = divmod(c // 8, 4)
    slot = second * 4 + vector
    partition, place = slot // 4 ^ (line % 4) // 4 % 2, slot % 4 ^ line % 4 % 4
    return line * 2 * stride + (block * 8 + partition * 4 + place) * 8 + c % 8


CROSSWISE = """
#include <cstdint>
#include <cstdio>
struct TensorCoord {
  int at[2];
  int contiguous() const { return at[0]; }
  int strided() const { return at[1]; }
};
class Layout {
 public:
  using LongIndex = std::int64_t;
  explicit Layout(int stride) : stride_{stride} {}
  LongIndex operator()(TensorCoord const &coord) const {
BODY
  }
 private:
  int stride_[1];
};
int main() {
  LOOPS std::printf("%lld\\n", static_cast<long long>(Layout(c)(TensorCoord{{a, b}})));
}
"""


class MatrixCoord(NamedTuple):
    row: I32
    column: I32


def interleaved(coord: MatrixCoord, kInterleave: I32, stride: I64) -> I64:
    """CUTLASS, ColumnMajorInterleaved<k>."""
    major, minor = coord.column // kInterleave, coord.column % kInterleave
    return major * stride + coord.row * kInterleave + minor


INTERLEAVED = """
#include <cstdint>
#include <cstdio>
struct MatrixCoord {
  int at[2];
  int row() const { return at[0]; }
  int column() const { return at[1]; }
};
template <int Interleave>
struct ColumnMajorInterleaved {
  static int const kInterleave = Interleave;
  using LongIndex = std::int64_t;
  std::int64_t stride_[1];
  LongIndex operator()(MatrixCoord const &coord) const {
BODY
  }
};
int main() {
  LOOPS std::printf("%lld\\n", static_cast<long long>(ColumnMajorInterleaved<32>{{c}}({{a, b}})));
}
"""


class Vector3i(NamedTuple):
    x: I32
    y: I32
    z: I32


def volume(p: Vector3i, size: Vector3i) -> I32:
    """A voxel tool's volume with an Eigen-like vector."""
    return (p.z * size.y + p.y) * size.x + p.x


VOLUME = """
#include <cstdint>
#include <cstdio>
struct Vector3i { int x, y, z; };
struct Volume {
  Vector3i size_;
  int index(Vector3i const &p) const {
BODY
  }
};
int main() {
  Volume const volume{{5, 4, 3}};
  LOOPS std::printf("%d\\n", volume.index({a, b, c}));
}
"""


class v3s16(NamedTuple):
    X: I16
    Y: I16
    Z: I16


class Extent(NamedTuple):
    X: I32
    Y: I32
    Z: I32


def voxel_area(MinEdge: v3s16, extent: Extent, x: I16, y: I16, z: I16) -> I32:
    """Luanti (Minetest), VoxelArea::index of 16-bit coordinates."""
    return (z - MinEdge.Z) * extent.Y * extent.X + (y - MinEdge.Y) * extent.X + (x - MinEdge.X)


VOXEL_AREA = """
#include <cstdint>
#include <cstdio>
typedef std::int16_t s16;
typedef std::int32_t s32;
struct v3s16 { s16 X, Y, Z; };
struct v3s32 { s32 X, Y, Z; };
class VoxelArea {
 public:
  VoxelArea(v3s16 low, v3s32 extent) : MinEdge(low), m_cache_extent(extent) {}
  s32 index(s16 x, s16 y, s16 z) const {
BODY
  }
  v3s16 MinEdge;
 private:
  v3s32 m_cache_extent;
};
int main() {
  VoxelArea const area({-2, -3, -1}, {6, 5, 4});
  LOOPS std::printf("%d\\n", area.index(static_cast<s16>(a), static_cast<s16>(b), static_cast<s16>(c)));
}
"""


# -- C ---------------------------------------------------------------------------------------------


class Subvector(NamedTuple):
    ix: I32
    iy: I32
    iz: I32
    nx: I32
    ny: I32


def eltindex(sub: Subvector, x: I32, y: I32, z: I32) -> I32:
    """ParFlow, SubvectorEltIndex: members by macros."""
    return (x - sub.ix) + ((y - sub.iy) + (z - sub.iz) * sub.ny) * sub.nx


ELTINDEX = """
#include <stdint.h>
#include <stdio.h>
typedef struct { double *data; int ix, iy, iz, nx, ny, nz; } Subvector;
#define SubvectorIX(subvector) ((subvector)->ix)
#define SubvectorIY(subvector) ((subvector)->iy)
#define SubvectorIZ(subvector) ((subvector)->iz)
#define SubvectorNX(subvector) ((subvector)->nx)
#define SubvectorNY(subvector) ((subvector)->ny)
static int SubvectorEltIndex(const Subvector *sub, int x, int y, int z) {
BODY
}
int main(void) {
  const Subvector sub = {0, 1, 2, 3, 6, 5, 4};
  LOOPS printf("%d\\n", SubvectorEltIndex(&sub, a, b, c));
  return 0;
}
"""


class Layer(NamedTuple):
    w: I32
    h: I32
    classes: I32
    outputs: I32


def entry_index(l: Layer, batch: I32, location: I32, entry: I32) -> I32:  # noqa: E741
    """darknet, entry_index of a YOLO layer."""
    n, place = location // (l.w * l.h), location % (l.w * l.h)
    return batch * l.outputs + n * l.w * l.h * (4 + l.classes + 1) + entry * l.w * l.h + place


ENTRY_INDEX = """
#include <stdint.h>
#include <stdio.h>
typedef struct layer { int batch, w, h, n, classes, outputs; float *output; } layer;
static int entry_index(layer l, int batch, int location, int entry) {
BODY
}
int main(void) {
  const layer l = {1, 3, 2, 2, 4, 108, 0};
  LOOPS printf("%d\\n", entry_index(l, a, b, c));
  return 0;
}
"""


class CoordIJK(NamedTuple):
    i: I32
    j: I32
    k: I32


def down(ijk: CoordIJK) -> CoordIJK:
    """H3, _downAp7: a cell in the next finer grid of aperture 7, normalized."""
    i, j, k = 3 * ijk.i + ijk.j, 3 * ijk.j + ijk.k, ijk.i + 3 * ijk.k
    least = min(i, min(j, k))
    return CoordIJK(i - least, j - least, k - least)


DOWN = """
#include <stdint.h>
#include <stdio.h>
typedef struct { int i, j, k; } CoordIJK;
HELPERS
static void _downAp7(CoordIJK *ijk) {
BODY
}
int main(void) {
  LOOPS {
    CoordIJK ijk = {a, b, c};
    _downAp7(&ijk);
    printf("%d %d %d\\n", ijk.i, ijk.j, ijk.k);
  }
  return 0;
}
"""


def down_port(i, j, k):
    """The three axes of a cell, each in the finer grid: (3,0,1), (1,3,0), (0,1,3)."""
    axes = ((3, 0, 1), (1, 3, 0), (0, 1, 3))
    sums = [sum(n * axis[at] for n, axis in zip((i, j, k), axes, strict=True)) for at in range(3)]
    return [n - min(sums) for n in sums]


Four = tuple[I32, I32, I32, I32]


def getCoordsCB(cb_index: I32, X: Four, X0h: I32, parity: I32) -> tuple[Four, I32]:
    """QUDA: the site of a checkerboard's index, and its number among the sites of both colors."""
    row, half = cb_index // X0h, cb_index % X0h
    plane, y = row // X[1], row % X[1]
    t, z = plane // X[2], plane % X[2]
    odd = (y + z + t + parity) % 2
    return (2 * half + odd, y, z, t), 2 * cb_index + odd


COORDS = """
#include <cstdint>
#include <cstdio>
template <typename I, typename J>
static inline int getCoordsCB(int x[], int cb_index, const I X[], J X0h, int parity) {
BODY
}
int main() {
  const int X[4] = {6, 2, 5, 3};
  LOOPS {
    int x[4];
    const int full = getCoordsCB(x, a, X, 3, b);
    std::printf("%d %d %d %d %d\\n", x[0], x[1], x[2], x[3], full);
  }
  return 0;
}
"""


def coords_port(index, parity):
    """Sites of the color in lexicographic order, the first axis fastest."""
    sites = [
        [x, y, z, t, x + 6 * (y + 2 * (z + 5 * t))]
        for t, z, y, x in product(range(3), range(5), range(2), range(6))
        if (x + y + z + t) % 2 == parity
    ]
    return sites[index]


# -- Rust ------------------------------------------------------------------------------------------


def stride_offset(index: tuple[Size, Size, Size], strides: tuple[SSize, SSize, SSize]) -> SSize:
    """ndarray, Dimension::stride_offset."""
    return index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2]


STRIDE_OFFSET = """
fn stride_offset(index: &[usize; 3], strides: &[isize; 3]) -> isize {
BODY
}
fn main() {
    for a in 0..4usize { for b in 0..3usize { for c in 0..5usize {
        println!("{}", stride_offset(&[a, b, c], &[-15, 5, 1]));
    } } }
}
"""


class UVec3(NamedTuple):
    x: U32
    y: U32
    z: U32


def cluster(at: UVec3, dims: UVec3) -> U32:
    """Bevy, the index of a cluster of lights, from uniforms."""
    return (at.y * dims.x + at.x) * dims.z + at.z


CLUSTER_RUST = """
#[derive(Clone, Copy)]
struct UVec3 { x: u32, y: u32, z: u32 }
struct Clusters { dimensions: UVec3 }
impl Clusters {
    fn index(&self, at: UVec3) -> u32 {
BODY
    }
}
fn main() {
    let clusters = Clusters { dimensions: UVec3 { x: 4, y: 3, z: 5 } };
    for a in 0..4u32 { for b in 0..3u32 { for c in 0..5u32 {
        println!("{}", clusters.index(UVec3 { x: a, y: b, z: c }));
    } } }
}
"""

GRID = (range(0, 70, 7), range(0, 9), range(64, 200, 64))
SMALL = (range(0, 4), range(0, 3), range(0, 5))
RANGES = {f"p.{c}": (0, f"size.{c}") for c in "xyz"}
AT = {f"at.{c}": (0, f"dims.{c}") for c in "xyz"}

CASES = {
    "cutlass_crosswise": Case(
        crosswise, CROSSWISE, crosswise_port, product(*GRID), name="operator()",
        options={
            "types": {"TensorCoord": NativeType("TensorCoord", ".{}()", passing="const {type} &{name}")},
            "bind": {"stride": "stride_[0]"},
            "ranges": {"coord.contiguous": (0, 2**20), "coord.strided": (0, 2**20), "stride": (0, 2**20)},
        },
    ),
    "cutlass_interleaved": Case(
        interleaved, INTERLEAVED,
        lambda row, column, stride: column // 32 * stride + row * 32 + column % 32,
        product(*GRID), name="operator()",
        options={
            "types": {"MatrixCoord": NativeType("MatrixCoord", ".{}()", passing="const {type} &{name}")},
            "bind": {"stride": "stride_[0]", "kInterleave": "kInterleave"},
            "ranges": {"coord.column": (0, 2**20), "kInterleave": (1, 256)},
        },
    ),
    "vector3i_volume": Case(
        volume, VOLUME, lambda x, y, z: x + 5 * (y + 4 * z),
        product(range(5), range(4), range(3)),
        options={"types": {"Vector3i": "Vector3i"}, "bind": {"size": "size_"}, "ranges": RANGES},
    ),
    "minetest_voxel_area": Case(
        voxel_area, VOXEL_AREA,
        lambda x, y, z: (x + 2) + 6 * (y + 3) + 30 * (z + 1),
        product(range(-2, 4), range(-3, 2), range(-1, 3)),
        options={
            "types": {"v3s16": "v3s16", "Extent": "v3s32"},
            "bind": {"MinEdge": "MinEdge", "extent": "m_cache_extent"},
        },
    ),
    "parflow_subvector": Case(
        eltindex, ELTINDEX,
        lambda x, y, z: (x - 1) + 6 * ((y - 2) + 5 * (z - 3)),
        product(range(1, 7), range(2, 7), range(3, 7)), target="c",
        options={
            "types": {
                "Subvector": NativeType(
                    "Subvector",
                    {n.lower(): f"Subvector{n}({{name}})" for n in ("IX", "IY", "IZ", "NX", "NY")},
                    passing="const {type} *{name}",
                )
            }
        },
    ),
    "darknet_entry_index": Case(
        entry_index, ENTRY_INDEX,
        lambda batch, location, entry: (
            batch * 108 + location // 6 * 6 * 9 + entry * 6 + location % 6
        ),
        product(range(2), range(12), range(9)), target="c",
        options={
            "types": {"Layer": NativeType("layer", ".{}")},
            "ranges": {"location": (0, None), "l.w": (1, None), "l.h": (1, None)},
        },
    ),
    "h3_down_aperture_7": Case(
        down, DOWN, down_port, product(range(4), range(4), range(4)), target="c",
        options={
            "types": {"CoordIJK": NativeType("CoordIJK", "->{}", passing="{type} *{name}")},
            "results": "inout",
            "ranges": {f"ijk.{c}": (0, 2**20) for c in "ijk"},
        },
    ),
    "quda_coords": Case(
        getCoordsCB, COORDS, coords_port, product(range(90), range(2)),
        options={
            "results": "out", "arrays": "pointer", "outputs": "x, full",
            "ranges": {"cb_index": (0, "X0h*X[1]*X[2]*X[3]"), "parity": (0, 2), "X0h": (1, 64)}
            | {f"X[{k}]": (1, 64) for k in range(4)},
        },
    ),
    "ndarray_stride_offset": Case(
        stride_offset, STRIDE_OFFSET, lambda a, b, c: -15 * a + 5 * b + c, product(*SMALL),
        target="rust",
    ),
    "bevy_cluster_rust": Case(
        cluster, CLUSTER_RUST, lambda x, y, z: (y * 4 + x) * 5 + z, product(*SMALL), target="rust",
        options={"bind": {"dims": "self.dimensions"}, "ranges": AT, "types": {"UVec3": "UVec3"}},
    ),
}  # fmt: skip
LOOPS = {
    "cutlass_crosswise": GRID,
    "cutlass_interleaved": GRID,
    "vector3i_volume": (range(5), range(4), range(3)),
    "minetest_voxel_area": (range(-2, 4), range(-3, 2), range(-1, 3)),
    "quda_coords": (range(90), range(2)),
    "parflow_subvector": (range(1, 7), range(2, 7), range(3, 7)),
    "darknet_entry_index": (range(2), range(12), range(9)),
    "h3_down_aperture_7": (range(4), range(4), range(4)),
}
COMPILERS = {
    "cpp": ["g++", "-std=c++17", *STRICT, "main.cpp", "-o", "main"],
    "c": ["gcc", "-std=c99", *STRICT, "main.c", "-o", "main"],
    "rust": ["rustc", "--edition", "2021", "-D", "warnings", "-A", "dead_code", "main.rs"],
}
PACKAGES = {"cpp": "g++", "c": "gcc", "rust": "rustc"}
SUFFIX = {"cpp": "cpp", "c": "c", "rust": "rs"}


@pytest.mark.parametrize("name", CASES)
def test_the_body_of_a_real_function_is_the_emitted_text(name, tmp_path, need):
    case = CASES[name]
    command = COMPILERS[case.target]
    need(command[0], f"apt-get install {PACKAGES[case.target]}")
    unit = generate(case.fn, case.target, **case.options)
    text = case.text.replace("BODY", body(unit.source, case.fn.__name__))
    helpers = re.findall(
        rf"^static inline \S+ {case.fn.__name__}_\w+\(.*?^}}\n", unit.source, re.M | re.S
    )
    text = text.replace("HELPERS", "".join(helpers))
    text = text.replace("LOOPS", each(*LOOPS.get(name, ())))
    (tmp_path / f"main.{SUFFIX[case.target]}").write_text(text)
    run(command, tmp_path)
    found = numbers(run([str(tmp_path / "main")], tmp_path))
    expected: list[int] = []
    for point in case.points:
        value = case.port(*point)
        expected += value if isinstance(value, list) else [value]
    assert found == expected and len(found) > 50, text


# -- Fortran ---------------------------------------------------------------------------------------


class Dfft(NamedTuple):
    nr1: I32
    nr2: I32
    nr3: I32
    nr1x: I32
    my_nr2p: I32
    my_i0r2p: I32
    my_i0r3p: I32


def fft_index_to_3d(ir: I32, dfft: Dfft):
    """Quantum ESPRESSO: a position of the grid in real space, and whether it is padding."""
    i = (ir - 1) % dfft.nr1x
    j = (ir - 1) // dfft.nr1x % dfft.my_nr2p + dfft.my_i0r2p
    k = (ir - 1) // (dfft.nr1x * dfft.my_nr2p) + dfft.my_i0r3p
    return {"i": i, "j": j, "k": k}


def offrange(i: I32, j: I32, k: I32, dfft: Dfft) -> Bool:
    """Whether a place is padding."""
    return i >= dfft.nr1 or j >= dfft.nr2 or k >= dfft.nr3


FFT = """
module fft_types
  implicit none
  type fft_type_descriptor
    logical :: lpara = .false.
    integer :: nr1, nr2, nr3, nr1x, nr2x, nr3x, my_nr2p, my_i0r2p, my_i0r3p
  end type fft_type_descriptor
contains
  subroutine fft_index_to_3d(ir, dfft, i, j, k, off)
    integer, intent(in) :: ir
    type(fft_type_descriptor), intent(in) :: dfft
    integer, intent(out) :: i, j, k
    logical, intent(out) :: off
INDEX
    off = offrange(i, j, k, dfft)
  end subroutine fft_index_to_3d
  logical function offrange(i, j, k, dfft)
    integer, intent(in) :: i, j, k
    type(fft_type_descriptor), intent(in) :: dfft
OFF
  end function offrange
end module fft_types
program main
  use fft_types
  implicit none
  type(fft_type_descriptor) :: dfft
  integer :: ir, i, j, k
  logical :: off
  dfft%nr1 = 5; dfft%nr2 = 4; dfft%nr3 = 3; dfft%nr1x = 6; dfft%nr2x = 4; dfft%nr3x = 3
  dfft%my_nr2p = 2; dfft%my_i0r2p = 1; dfft%my_i0r3p = 1
  do ir = 1, 36
    call fft_index_to_3d(ir, dfft, i, j, k, off)
    print '(4i6)', i, j, k, merge(1, 0, off)
  end do
end program main
"""


def test_a_derived_type_and_a_logical_of_quantum_espresso(tmp_path, need):
    need("gfortran", "apt-get install gfortran")
    given = {
        "types": {"Dfft": NativeType("fft_type_descriptor")},
        "ranges": {"ir": (1, None), "dfft.nr1x": (1, None), "dfft.my_nr2p": (1, None)},
        "index_type": "integer",
    }
    index = generate(fft_index_to_3d, "fortran", **given).source
    given["ranges"] = None
    off = generate(offrange, "fortran", **given).source
    text = FFT.replace("INDEX", fortran_body(index, "fft_index_to_3d"))
    text = text.replace("OFF", fortran_body(off, "offrange"))
    (tmp_path / "main.f90").write_text(text)
    run(
        ["gfortran", "-std=f2018", "-Wall", "-Wextra", "-Werror", "main.f90", "-o", "main"],
        tmp_path,
    )
    found, expected = numbers(run([str(tmp_path / "main")], tmp_path)), []
    for place in range(36):
        i, j, k = place % 6, place // 6 % 2 + 1, place // 12 + 1
        expected += [i, j, k, int(i >= 5 or j >= 4 or k >= 3)]
    assert found == expected


# -- shaders ---------------------------------------------------------------------------------------

SHADER = """#version 450
layout(local_size_x = 1) in;
layout(push_constant) uniform Params { uvec2 size; uint pad; } params;
layout(set = 0, binding = 0) buffer Out { uint data[]; } result;
uint pixel(uvec2 at) {
BODY
}
void main() { result.data[0] = pixel(gl_GlobalInvocationID.xy); }
"""


class Pixel(NamedTuple):
    x: U32
    y: U32


def pixel(size: Pixel, at: Pixel) -> U32:
    """Godot: the place of a pixel, from push constants."""
    return at.y * size.x + at.x


def test_push_constants_of_godot(tmp_path, need):
    need("glslangValidator", "apt-get install glslang-tools")
    inside = {"at.x": (0, "size.x"), "at.y": (0, "size.y")}
    unit = generate(pixel, "glsl", ranges=inside, bind={"size": "params.size"})
    statements = body(unit.source, "pixel")
    assert statements == "  return params.size.x * at.y + at.x;"
    (tmp_path / "pixel.comp").write_text(SHADER.replace("BODY", statements))
    run(["glslangValidator", "-V", "pixel.comp", "-o", "pixel.spv"], tmp_path)
    bare = generate(pixel, "glsl", ranges=inside)
    assert (
        bare.source.count("return size.x * at.y + at.x;") == 1
    )  # whose values are compared elsewhere


def test_uniforms_of_bevy_in_wgsl(toolchain_of):
    unit = generate(cluster, "wgsl", ranges=AT, bind={"dims": "lights.cluster_dimensions"})
    statements = body(unit.source, "cluster")
    assert statements == (
        "  return lights.cluster_dimensions.z * (lights.cluster_dimensions.x * at.y + at.x) + at.z;"
    )
    toolchain_of("wgsl")
    import wgpu

    text = f"""
struct Lights {{ cluster_dimensions: vec4<u32>, }}
@group(0) @binding(0) var<uniform> lights: Lights;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
fn cluster(at: vec3<u32>) -> u32 {{
{statements}
}}
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  result[0] = cluster(id);
}}
"""
    device = wgpu.gpu.request_adapter_sync().request_device_sync()
    device.create_shader_module(code=text)


@pytest.mark.slow
def test_sizes_and_flags_of_sixteen_bits():
    def held(i: I16, n: Size) -> Bool:
        return i < n

    assert "bool held(std::int16_t i, std::size_t n)" in generate(held, "cpp").source


# -- divisors that are known at launch -------------------------------------------------------------


def candle_strided(idx: U32, dims: Array[4], strides: Array[4]) -> U32:
    """candle: where the element at a place in row-major order lies in memory."""
    found = 0
    for k in (3, 2, 1, 0):
        found = found + idx % dims[k] * strides[k]
        idx = idx // dims[k]
    return found


LAUNCH = """
#include "candle_strided.hpp"
#include <cstdio>
// A kernel's parameters, which the host makes once for a launch.
struct Launch {
  lego::candle_strided_sizes sizes;
  std::uint32_t strides[4];
};
std::uint32_t kernel(const Launch &launch, std::uint32_t thread) {
  return lego::candle_strided(launch.sizes, thread, launch.strides);
}
int main() {
  const std::uint32_t shapes[3][4] = {{2, 3, 4, 5}, {1, 16, 1, 9}, {7, 1, 65535, 3}};
  for (const auto &dims : shapes) {
    const Launch launch{lego::candle_strided_prepare(dims), {1, 2000, 30, 400000}};
    for (std::uint32_t thread = 0; thread < 120; ++thread)
      std::printf("%u\\n", kernel(launch, thread * 9973));
  }
}
"""


def test_a_strided_index_of_candle_is_prepared(tmp_path, need):
    compiler = need("g++", "apt-get install g++")
    sizes = [f"dims[{k}] >= 1" for k in range(4)]
    generate(
        candle_strided, "cpp", index_type="uint32", prepare=["dims"], assume=sizes
    ).save(tmp_path / "candle_strided.hpp")  # fmt: skip
    (tmp_path / "main.cpp").write_text(LAUNCH)
    run([compiler, "-std=c++17", "-O1", *STRICT, "main.cpp", "-o", "main"], tmp_path)
    expected = []
    for dims in ((2, 3, 4, 5), (1, 16, 1, 9), (7, 1, 65535, 3)):
        for place in range(0, 120 * 9973, 9973):
            rest, value = place, 0
            for extent, stride in zip(dims[::-1], (400000, 30, 2000, 1), strict=True):
                rest, at = divmod(rest, extent)
                value += at * stride
            expected.append(value % 2**32)
    assert numbers(run(["./main"], tmp_path)) == expected


def diagonal(bx, by, gx, gy):
    """The CUDA SDK's transpose: blocks along diagonals, so that no two go to one part of memory."""
    block = bx + gx * by
    y = block % gy
    return {"x": (block // gy + y) % gx, "y": y}


DIAGONAL = """
#include "diagonal.cuh"
__global__ void transpose(diagonal_sizes sizes, float *out, const float *in) {
  const auto block = diagonal(sizes);
  out[block.y * 32 + block.x] = in[block.x * 32 + block.y];
}
"""


def test_the_diagonal_blocks_of_the_sdk_are_prepared(tmp_path, toolchain_of):
    options: dict[str, Any] = {
        "index_type": "int32", "prepare": True, "assume": ["gx*gy < 2**31"],
        "ranges": {"bx": (0, "gx"), "by": (0, "gy")},
    }  # fmt: skip
    toolchain_of("cuda")
    unit = generate(diagonal, "cuda", **options)
    assert unit.verify(sizes={"gx": 12, "gy": 7}, claim="bijective")
    bound = generate(diagonal, "cuda", bind={"bx": "blockIdx.x", "by": "blockIdx.y"}, **options)
    assert "diagonal(diagonal_sizes sizes)" in bound.source
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is missing")
    bound.save(tmp_path / "diagonal.cuh")
    (tmp_path / "transpose.cu").write_text(DIAGONAL)
    run(["nvcc", "-arch=sm_90", "-cubin", "-o", "transpose.cubin", "transpose.cu"], tmp_path)


def fastdiv(n: U32, d: U32) -> U32:
    """ggml: a quotient by a number that the host prepares as a uint3."""
    return n // d


GGML = """
#include <cstdint>
#include <cstdio>
#include <initializer_list>
struct uint3 { unsigned x, y, z; };
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
#include "fastdiv.cuh"
int main() {
  for (unsigned d = 1; d < 4000000000u; d += d / 3 + 1) {
    const uint3 fd = fastdiv_prepare(d);
    for (unsigned n : {0u, d - 1, d, 4294967295u / d * d, 4294967295u})
      std::printf("%u %u %u\\n", n, d, fastdiv(fd, n));
  }
}
"""


def test_a_fast_division_of_ggml_has_its_uint3(tmp_path, need):
    compiler = need("g++", "apt-get install g++")
    values = NativeType("uint3", members=[".x", ".y", ".z"], make="make_uint3({})")
    unit = generate(
        fastdiv, "cuda", prepare=["d"], assume=["d >= 1"], types={"fastdiv_sizes": values}
    )
    assert "unsigned fastdiv(uint3 sizes, unsigned n)" in unit.source
    unit.save(tmp_path / "fastdiv.cuh")
    (tmp_path / "main.cpp").write_text(GGML)
    run([compiler, "-std=c++17", "-O1", *STRICT, "main.cpp", "-o", "main"], tmp_path)
    found = numbers(run(["./main"], tmp_path))
    rows = [*zip(found[::3], found[1::3], found[2::3], strict=True)]
    assert len(rows) > 300 and all(n // d == quotient for n, d, quotient in rows)

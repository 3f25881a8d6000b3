"""Copies for GPUs: what threads do, evaluated with barriers and races, compiled, and run on the host or a driver."""

import ctypes
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from marks import rest_deep, rest_slow
from net.copies import bits_of, cut_of, pair_of, rare_of
from test_copies import MEMORIES, SIZES, changed
from test_copy_languages import COPIES, made

from lego_emit import Col, GroupBy, RegP, Row, Strided, TileBy, catalogue, copy, symbols
from lego_emit.algebra.masked import Padded
from lego_emit.copies.checks import check
from lego_emit.copies.digits import index_space
from lego_emit.copies.joined import joined
from lego_emit.copies.launch import grid_of
from lego_emit.copies.plan import PAD, plan_of
from lego_emit.copies.values import value_of
from lego_emit.errors import InternalError, LegoError
from lego_emit.ir.grids import (
    TILE,
    Barrier,
    Items,
    Load,
    Mix,
    Pieces,
    Spread,
    Store,
    Wrong,
    run,
)
from lego_emit.ir.nests import Let, Ref, walk
from lego_emit.ir.nodes import const, evaluated
from lego_emit.ir.nodes import made as node

M, N, C, H, W = symbols("M N C H W")
LANGUAGES = ("cuda", "opencl", "wgsl", "glsl", "hip", "metal")
SHADERS = ("glsl", "wgsl")
TYPES = {1: "unsigned char", 2: "unsigned short", 4: "float", 8: "double", 16: "uint4"}
TIMED = {
    "transposed": (Row(M, N), Col(M, N)),
    "channels_last": (Row(N, C, H, W), RegP([N, C, H, W], [0, 2, 3, 1])),
    "blocked": (Row(N, C, H, W), catalogue["onednn.nChw16c"](N, C, H, W)),
}


def copied(pair, target, **options):
    """The copy from one layout to another."""
    A, B = pair
    return copy(A, B, target, **options)


def threads(pair, size):
    """A plan, what threads do for it, and how many blocks of them there are."""
    A, B = pair
    plan = plan_of(index_space(A, B), size)
    body, _, blocks = grid_of(plan)
    return plan, body, blocks


@pytest.mark.parametrize(("target", "size"), [("wgsl", 1), ("glsl", 2), ("cuda", 12)])
def test_sizes_are_in_the_users_symbols(target, size):
    """Known multiples are products of other ones inside."""
    rows = RegP([M // 2, 2, 4, 16], [0, 1, 3, 2])
    pair = Strided((M, 64), (0, 1)), GroupBy([M, 64]).OrderBy(rows)
    assert copied(pair, target, element=size, assume=["M % 2 == 0"]).checks


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", ["cuda", "wgsl"])
@pytest.mark.parametrize("name", rest_deep(MEMORIES, 2))
@pytest.mark.quick(8)
def test_the_catalogue_to_and_from_rows(name, target, size):
    entry = catalogue[name]
    layout = entry(**entry.example)
    for pair in ((Row(*layout.dims), layout), (layout, Row(*layout.dims))):
        try:
            assert copied(pair, target, element=size, name="moved").checks
        except LegoError as error:  # which words two threads share is not known
            assert target == "wgsl" and size < 4 and "share words" in str(error)


@pytest.mark.slow
def test_words_of_four_bytes_and_more():
    for size, said in (
        (1, "4 elements a word"),
        (2, "2 elements a word"),
        (4, "64 x 64"),
        (8, "64 x 32"),
    ):
        assert said in str(copy(Row(M, N), Col(M, N), "cuda", element=size, name="moved").plan)
    tiles = copy(
        Row(32, 32, 8, 32), RegP([32, 32, 8, 32], [0, 2, 1, 3]), "cuda", element=2, name="cut"
    )
    assert "words of 16 bytes" in str(tiles.plan)


@pytest.mark.slow
def test_many_bits_are_checked_in_little_memory():
    """All of 2^32 places were listed."""
    assert copy(Row(2**16, 2**16), catalogue["morton.2D"](2**16, 2**16), "cuda", element=1).checks


@pytest.mark.parametrize("target", SHADERS)
@pytest.mark.parametrize("size", [1, 2])
def test_words_of_destinations_that_fall(target, size):
    """Places say which elements they have where strides rise: the others were refused, or taken apart below 0."""
    for strides, offset in (((-N, 1), N * (M - 1)), ((N, -1), N - 1), ((-1, M), M - 1)):
        falling = Strided((M, N), strides, offset=offset)
        assert copied((Row(M, N), falling), target, element=size, name="moved").checks


def test_shaders_move_whole_words():
    for size in (1, 2):
        text = str(copy(Row(64, 32), Col(64, 32), "wgsl", element=size, name="moved"))
        assert "Gather" not in text and "& ~" not in text and "array<u32>" in text
        text = str(copy(Row(63, 31), Col(63, 31), "wgsl", element=size, name="moved"))
        assert "workgroupBarrier" not in text and "word & ~" in text
    for unit in (copy(Row(M, N), Col(M, N), t, element=8, name="moved") for t in SHADERS):
        size = int(re.findall(r"movedTile(?:\[|: array<vec2<u32>, )(\d+)", str(unit))[0])
        assert 8 * size <= 16384  # of a group of invocations in WebGPU


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("target", ["cuda", "opencl", "wgsl", "glsl"])
def test_interleaved_bits_are_taken_by_masks(target, size):
    """A digit of two had two lines, and a place in a tile that holds no second row a quotient of 0."""
    pair = Row(128, 128), catalogue["morton.2D"](128, 128)
    for A, B in (pair, pair[::-1]):
        text = str(copy(A, B, target, element=size, name="moved"))
        assert "_rest0" not in text and not re.search(r"\b(i[_\d]+|item|id|piece) % 2\b", text)
        assert text.count("\n") < 140


@pytest.mark.parametrize("target", SHADERS)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_shaders_name_what_they_read(target, size):
    """Words of single elements, which whole words take the place of, named their sizes first."""
    brick = Row(M // 4, N // 8, 4, 8), TileBy([M // 4, N // 8], [4, 8])
    for A, B in (*TIMED.values(), brick, brick[::-1], (Row(64, 32), Col(64, 32))):
        text = str(copy(A, B, target, element=size, name="moved")).split("void moved(")[-1]
        for name in re.findall(r"(?:let|int|uint|bool) (\w+) =", text):
            assert len(re.findall(rf"\b{name}\b", text)) > 1, name


def test_comments_say_what_is_there():
    """Sizes only where a copy has them, the words of both ways, and how many elements share a word."""
    text = str(copy(Row(64, 32), Col(64, 32), "wgsl", element=2, name="turned"))
    assert "turnedSrc: 2048 elements, 2 in a word" in text and "he sizes" not in text
    pair = Row(M // 4, N // 8, 4, 8), TileBy([M // 4, N // 8], [4, 8])
    text = str(copy(*pair, "wgsl", element=8, name="moved"))
    assert "struct MovedParameters {" in text and "The sizes are a uniform buffer" in text
    notes = copy(*pair, "cuda", element=1, name="moved").plan.notes
    assert notes[-2:] == (
        "tiles of 4 x 512 words of 8 bytes through shared memory",
        "else words of 1 byte",
    )


@pytest.mark.slow
def test_texts_are_short_and_the_same():
    for name, pair in TIMED.items():
        for size in (1, 4):
            unit = copied(pair, "cuda", element=size, name=name)
            assert str(unit) == str(copied(pair, "cuda", element=size, name=name))
            kernel = str(unit).split("__global__")[1].split("\n}\n")[0]
            assert kernel.count("\n") <= 150
            assert str(unit).count("__syncthreads") <= 4


@pytest.mark.parametrize(
    ("language", "most"),
    [("cuda", 48), ("hip", 48), ("opencl", 32), ("metal", 32), ("glsl", 16), ("wgsl", 16)],
)
def test_a_tile_fits_into_what_a_block_has(language, most):
    """KiB of shared memory that CUDA has, and that OpenCL, Metal, Vulkan and WebGPU guarantee."""
    for size in (1, 2, 4, 8, 16):
        text = str(copy(Row(M, N), Col(M, N), language, element=size))
        bytes_of = {"cuda": 1, "hip": 1, "opencl": 16, "metal": 16}.get(language, 4)
        bytes_of *= 1 + (language in SHADERS and size > 4) * (size // 4 - 1)
        found = re.findall(r"(?i)tile\w*(?:\[|: array<[\w<>]+, )(\d+)", text)
        if found:
            assert max(map(int, found)) * bytes_of <= most * 1024
        assert found or language in SHADERS


# -- banks -------------------------------------------------------------------------------------------


def conflicts(body):
    """The most words of one bank that a warp's access to the tile asks for, by the kind of access."""
    found = {}
    for items in (s for s in walk(body) if isinstance(s, Items)):
        env = {items.name: np.arange(32)}
        for s in items.body:
            if isinstance(s, Let):
                try:
                    env[s.name] = evaluated(s.value, env, {})
                except KeyError:
                    continue
            if isinstance(s, Let) or not isinstance(s, Load | Store):
                continue
            ref = s.to if isinstance(s, Store) else s.of
            if ref.array != TILE or s.bytes < 4:
                continue
            wide = s.bytes // 4  # a phase of an access has 128 bytes
            at = np.broadcast_to(evaluated(ref.offset, env, {}), 32)
            for part in np.split(at, wide):
                banks = np.unique(part) % (32 // wide)
                most = np.unique(banks, return_counts=True)[1].max()
                found[type(s)] = max(found.get(type(s), 0), most)
    return found


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("name", TIMED)
def test_no_two_threads_meet_in_a_bank(name, size):
    body = threads(TIMED[name], size)[1]
    assert conflicts(body) == {Load: 1, Store: 1}


# -- planted faults ----------------------------------------------------------------------------------


def without(kind, which):
    """A change that leaves out the statement of a kind with this number."""

    def change(body):
        seen = [0]

        def kept(statements):
            for s in statements:
                if isinstance(s, kind):
                    seen[0] += 1
                    if seen[0] - 1 == which:
                        continue
                parts = {
                    n: tuple(kept(v))
                    for n, v in vars(s).items()
                    if n in ("body", "then", "otherwise")
                }
                yield replace(s, **parts) if parts else s

        return tuple(kept(body))

    return change


def first_changed(kind, change, holds=lambda s: True):
    return lambda body: changed(body, kind, lambda s: change(s) if holds(s) else s)


FAULTS = {
    "first barrier": without(Barrier, 0),
    "second barrier": without(Barrier, 1),
    "a lane": first_changed(Mix, lambda s: replace(s, lanes=(*s.lanes[2:], *s.lanes[:2]))),
    "words exchanged": first_changed(Mix, lambda s: replace(s, x=s.y, y=s.x)),
    "no guard": first_changed(Store, lambda s: replace(s, condition=None), lambda s: s.condition),
    "a piece too few": first_changed(Pieces, lambda s: replace(s, count=node("sub", s.count, 1))),
    "items too few": first_changed(Items, lambda s: replace(s, count=s.count - 1)),
    "a place": first_changed(
        Store,
        lambda s: replace(s, to=Ref(s.to.array, node("add", s.to.offset, 1))),
        lambda s: s.to.array == TILE,
    ),
    "aliased": first_changed(
        Store, lambda s: replace(s, to=Ref(s.to.array, const(0))), lambda s: s.to.array == TILE
    ),
}


@pytest.mark.parametrize("fault", rest_slow(FAULTS, 4))
@pytest.mark.parametrize("layouts", [(Row(M, N), Col(M, N)), (Row(520, 132), Col(520, 132))])
@pytest.mark.quick(4)
def test_planted_faults_are_found(fault, layouts):
    plan, body, _ = threads(layouts, 2)
    wrong = FAULTS[fault](body)
    assert wrong != body
    sizes = {"M": 520, "N": 132} if plan.space.sizes else {}
    right = run(body, sizes, (520 * 132, 520 * 132), 2)
    try:
        found = run(wrong, sizes, (520 * 132, 520 * 132), 2)
    except Wrong:
        return
    assert not all(np.array_equal(*pair) for pair in zip(found, right, strict=True))


def test_a_wrong_kernel_is_not_given_out():
    plan, body, blocks = threads((Row(M, N), Col(M, N)), 4)
    check(plan, body, blocks)
    with pytest.raises(InternalError, match="barrier has passed"):
        check(plan, without(Barrier, 0)(body), blocks)
    plan, body, blocks = threads((Row(33), Row(33)), 4)
    twice = first_changed(Spread, lambda s: replace(s, count=node("mul", s.count, 2)))
    with pytest.raises(InternalError, match=r"outside|twice"):
        check(plan, twice(body), blocks)


# -- compiled and run --------------------------------------------------------------------------------


# What shaders have no copies of: a keyword as a name, halves whose positions are no sums of words.
REFUSED = {
    "shared": "no name for a function",
    "swizzled": "elements of 2 bytes share",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_deep(COPIES, 2))
@pytest.mark.parametrize("target", rest_deep(LANGUAGES, 3))
def test_kernels_are_verified(name, target):
    if target in SHADERS and name in REFUSED:
        with pytest.raises(LegoError, match=REFUSED[name]):
            made(name, target)
        return
    found = made(name, target).verify()
    assert found, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("target", rest_deep(LANGUAGES))
def test_kernels_do_what_numpy_does(target):
    unit = copy(Row(M, N), Col(M, N), target, element="uint8", name="transposed")
    for m, n in ((128, 136), (131, 33)):
        given = np.arange(m * n).astype(np.uint8)
        assert np.array_equal(unit.run(given, M=m, N=n), given.reshape(m, n).T.reshape(-1))


@pytest.mark.slow
@pytest.mark.parametrize("target", rest_deep(LANGUAGES))
def test_a_faulty_text_is_not_verified(target):
    unit = made("transposed", target)
    for wrong in (("i0 + N * i1]", "i0]"), ("65 * i0 + i1]", "i0 + i1]")):  # within the memory
        if target in SHADERS:
            wrong = tuple(text.replace("65", "33") for text in wrong)
        text = unit.source.replace(*wrong)
        assert text != unit.source
        assert not replace(unit, source=text).verify()


@pytest.mark.slow
@pytest.mark.parametrize("size", rest_deep([1, 2, 4, 8], 1))
@pytest.mark.parametrize("name", rest_deep(TIMED, 1))
def test_nvcc_takes_it_without_local_memory(name, size, tmp_path, need):
    nvcc = need("nvcc", "the CUDA toolkit")
    unit = copied(TIMED[name], "cuda", element=size, name=name)
    T = TYPES[size]
    given = ", ".join([*["long long"] * len(unit.plan.space.sizes), f"const {T}*", f"{T}*"])
    (tmp_path / "unit.cuh").write_text(str(unit))
    (tmp_path / "unit.cu").write_text(
        f'#include "unit.cuh"\ntemplate __global__ void {name}<{T}>({given});\n'
        f"template cudaError_t {name}_launch<{T}>({given}, cudaStream_t);\n"
    )
    command = [
        nvcc,
        "-std=c++17",
        "-O3",
        "-arch=sm_90",
        "-Werror",
        "all-warnings",
        "-Xptxas",
        "-v",
        "-cubin",
    ]
    done = subprocess.run([*command, "unit.cu"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in done.stderr
    (used,) = re.findall(r"Used (\d+) registers", done.stderr)
    assert int(used) <= 64


HIP = """
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
struct lego_index { unsigned x; };
#define threadIdx lego_index{__builtin_amdgcn_workitem_id_x()}
#define blockIdx lego_index{__builtin_amdgcn_workgroup_id_x()}
#define gridDim lego_index{4}
struct __align__(16) uint4 { unsigned x, y, z, w; };
__device__ inline void __syncthreads() { __builtin_amdgcn_s_barrier(); }
__device__ inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) { return __builtin_amdgcn_perm(y, x, s); }
"""


@pytest.mark.slow
def test_clang_takes_hip_for_a_device(tmp_path, need):
    clang = need("clang++", "apt-get install clang")
    unit = copied(TIMED["transposed"], "hip", element=1, name="transposed")
    (tmp_path / "unit.hip").write_text(
        f"{HIP}{unit}\ntemplate __global__ void transposed<char>(long long, long long, const char*, char*);\n"
    )
    flags = [
        "-x",
        "hip",
        "-nogpuinc",
        "-nogpulib",
        "--cuda-device-only",
        "--offload-arch=gfx90a",
        "-S",
        "-O2",
    ]
    quiet = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-pass-failed"]
    subprocess.run([clang, *flags, *quiet, "unit.hip", "-o", "unit.s"], cwd=tmp_path, check=True)
    assert "s_barrier" in (tmp_path / "unit.s").read_text()


@pytest.mark.parametrize(
    ("target", "other", "said"),
    [
        ("glsl", "moved_tile", "movedTile twice, of moved and moved_tile"),
        ("wgsl", "movedSizes", "movedSizes twice, of moved and movedSizes"),
        ("wgsl", "moved_", "movedSourceBytes twice"),
        ("javascript", "Moved", "movedSourceBytes twice"),
        ("fortran", "Moved", "Moved_source_bytes twice"),
        ("cuda", "moved_launch", "moved_launch twice, of moved and moved_launch"),
        ("cuda", "moved", "two functions moved_source_bytes"),
        ("cuda", "moved_tile", ""),
        ("c", "Moved", ""),
    ],
)
def test_a_file_has_each_name_once(target, other, said):
    """Names of variables, and names that a language spells alike."""
    units = [copied((Row(M, 8), Col(M, 8)), target, name=name) for name in ("moved", other)]
    if not said:
        assert joined("all", units, target)
        return
    with pytest.raises(LegoError, match=said):
        joined("all", units, target)


def triangle(name, target):
    """Packed rows of a triangle with a size of that name, in elements of several words."""
    n = symbols(name)
    return copy(catalogue["lapack.TP"](n, "U"), Row(n, n), target, element=12)


@pytest.mark.parametrize("target", rest_deep(LANGUAGES, 2))
@pytest.mark.parametrize("name", ["x0", "i0_3"])
def test_names_of_sizes_are_no_others(name, target):
    """A word that had a stride's name read itself where its place was computed."""
    n = symbols(name)
    bits = Strided((n, (2,) * 6), (64, (4, 1, 8, 2, 16, 32)))
    for pair in ((Row(n, N), Col(n, N)), (Row(n, 64), bits), (bits, Row(n, 64))):
        for size in (1, 4):
            text = copied(pair, target, element=size, name="moved").source
            assert not re.search(
                rf"(?:unsigned|uint|char|u?long|short|let|var|int) {name} =(?! movedS)", text
            )


# Runs a launcher on memories of a GPU that begin `shift` bytes late; what is around the destination comes back, too.
ON_A_GPU = """
#include <vector>
template <int N> struct Record { unsigned char bytes[N]; };
template <class F>
int launched(const char* src, long long n, char* dst, long long m, long long shift, F launch) {
  char *from, *to;
  if (cudaMalloc(&from, n + shift + 1) || cudaMalloc(&to, m)) return -1;
  cudaMemcpy(from + shift, src, n, cudaMemcpyHostToDevice);
  cudaMemcpy(to, dst, m, cudaMemcpyHostToDevice);
  int error = launch(from + shift, to + shift);
  cudaMemcpy(dst, to, m, cudaMemcpyDeviceToHost);
  error = error ? error : cudaGetLastError();
  cudaFree(from), cudaFree(to);
  return error;
}
"""
AROUND = 64  # bytes


@pytest.mark.gpu
@pytest.mark.parametrize("case", [pair_of, rare_of, cut_of, bits_of])
def test_random_copies_on_a_gpu(case, need, tmp_path):
    """Guard bytes, memories that begin at a line and one element behind it, against the net's model."""
    nvcc = need("nvcc", "apt-get install nvidia-cuda-toolkit")
    pairs, text = {}, ON_A_GPU
    for number in range(60):
        try:
            unit = case(41, number).emit("cuda")
        except LegoError:  # no parts on a GPU, nor sizes that are called as something of a kernel
            continue
        pairs[number] = case(41, number), unit
        T = TYPES.get(unit.plan.element_bytes, f"Record<{unit.plan.element_bytes}>")
        given = [f"sizes[{k}]" for k in range(len(unit.plan.space.sizes))]
        call = ", ".join([*given, f"(const {T}*)src", f"({T}*)dst"])
        text += f"""{unit}
extern "C" int run_{number}(
    const char* src, long long n, char* dst, long long m, long long shift, const long long* sizes) {{
  return launched(src, n, dst, m, shift, [=](const char* src, char* dst) {{ return {unit.name}_launch({call}); }});
}}
"""
    (tmp_path / "copies.cu").write_text(text)
    build = [
        nvcc,
        "-std=c++17",
        "-arch=native",
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "-o",
        "lib.so",
        "copies.cu",
    ]
    subprocess.run(build, cwd=tmp_path, check=True)
    library, count = ctypes.CDLL(tmp_path / "lib.so"), 0
    for number, (pair, unit) in pairs.items():
        size = unit.plan.element_bytes
        for sizes in pair.sizes(2):
            named = {axis.name: n for axis, n in zip(pair.axes, sizes, strict=True)}
            ends = [value_of(n, named) for n in (unit.plan.source_size, unit.plan.destination_size)]
            given = np.random.default_rng(number).integers(0, 256, (ends[0], size), np.uint8)
            places = pair.places(sizes)
            for shift in (0, size):
                found = np.full(ends[1] * size + shift + AROUND, 0xA5, np.uint8)
                due = found.copy()
                inside = due[shift : shift + ends[1] * size].reshape(-1, size)
                inside[places >= 0] = given[places[places >= 0]]
                inside[places == PAD] = 0
                numbers = np.array([named[name] for name in unit.plan.space.sizes], np.int64)
                run = [
                    given.ctypes,
                    given.nbytes,
                    found.ctypes,
                    found.nbytes,
                    shift,
                    numbers.ctypes,
                ]
                run = [
                    ctypes.c_longlong(a) if isinstance(a, int) else a.data_as(ctypes.c_void_p)
                    for a in run
                ]
                assert library[f"run_{number}"](*run) == 0
                assert np.array_equal(found, due), (number, named, shift)
                count += 1
    assert count > 60


WRONG = {
    "MLIR has no copies": lambda: copy(Row(4), Row(4), "mlir"),
    "Triton has no copies": lambda: copy(Row(4), Row(4), "triton"),
    "Python has no copies": lambda: copy(Row(4), Row(4), "python"),
    "lie among each other": lambda: copy(Row(3, 2), Strided((3, 2), (2, 3)), "wgsl", element=2),
    "share words of 4": lambda: copy(Row(8, 8), catalogue["hilbert.2D"](8, 8), "wgsl", element=2),
    "zero=False": lambda: copy(Row(5, 6), Padded([5, 6], catalogue["hilbert.2D"](8, 8)), "cuda"),
    r"does not fit int32 .*; a copy's numbers have the type": lambda: copy(
        Row(4, 6), Strided((4, 6), (2**33, 1)), "wgsl"
    ),
    "is called tile": lambda: copy(Row(symbols("tile")), Row(symbols("tile")), "cuda"),
    "is called part": lambda: triangle("part", "opencl"),
    "is called place": lambda: copy(
        Row(symbols("place"), 5), Col(symbols("place"), 5), "wgsl", element=1
    ),
    "is called source_place": lambda: triangle("source_place", "glsl"),
    "nothing of a GPU": lambda: copy(Row(4), Row(4), "cuda").time(),
}


@pytest.mark.parametrize("said", WRONG)
def test_wrong_input_is_one_message(said):
    with pytest.raises(LegoError, match=said):
        WRONG[said]()


def test_a_launch_has_no_more_blocks_than_there_may_be():
    _, _, blocks = threads((Row(M, N), Col(M, N)), 1)
    assert evaluated(blocks, {"M": 1, "N": 1}, {}) == 1
    assert evaluated(blocks, {"M": 2**20, "N": 2**20}, {}) == 2**28
    assert evaluated(blocks, {"M": 2**30, "N": 2**30}, {}) == 2**31 - 1

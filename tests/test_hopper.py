"""What wgmma and TMA take of layouts: operands, tensor maps, the texts of templates, and the example that
multiplies by them, against an emulation from the PTX ISA."""

import importlib
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from marks import rest_deep

from lego_emit import Col, Row, Strided, TileBy, cute, render, symbols
from lego_emit.errors import LayoutError, OptionError, TemplateError

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "kernels" / "hopper_matmul"
M, N, K = symbols("M N K")


@pytest.fixture
def example(monkeypatch):
    """check.py of the example, beside which are emulated.py and the harness."""
    folders = EXAMPLE, EXAMPLE.parent, ROOT / "benchmarks" / "gpu"
    names = ("check", "emulated", "harness", "gemm", "ways")
    for folder in folders:
        monkeypatch.syspath_prepend(str(folder))
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("check")
    for name in names:
        sys.modules.pop(name, None)


def tile(kind, shape, order=None, bits=16):
    return cute.tile_to_shape(cute.make_smem_layout_atom(kind, bits), shape, order)


# -- operands of wgmma -----------------------------------------------------------------------------

KINDS = [f"{major}_{span}" for major in ("K", "MN") for span in ("SW128", "SW64", "SW32", "INTER")]


@pytest.mark.parametrize("rows", [64, 128])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.quick(4)
def test_the_instruction_reads_what_the_layout_holds(kind, rows, example):
    shared = tile(kind, (128, 64, 2), (1, 0, 2))
    numbers = np.random.default_rng(1).permutation(shared.size).reshape(shared.dims)
    memory = np.zeros(2 * shared.physical_size, np.uint8)
    values = numbers.astype(np.uint16).view(np.float16)
    example.emulated.halves(memory)[shared.apply(*np.indices(shared.dims))] = values
    made = cute.make_gmma_operand(shared, rows, 16)
    assert made.major == kind.partition("_")[0]
    for w in range(0, 128, rows):
        for k in range(0, 64, 16):
            for slot in range(2):
                start = 2 * made.plain.apply(w, k, slot)
                got = example.emulated.operand(
                    memory, made.descriptor.encoded(start), rows, made.major
                )
                assert np.array_equal(
                    got, values[w : w + rows, k : k + 16, slot].astype(np.float64), equal_nan=True
                )


# -- tensor maps -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["K_SW128", "K_SW64", "K_SW32", "MN_SW128", "MN_SW64"])
def test_boxes_fill_the_tile_that_the_layout_says(kind, example):
    shared = tile(kind, (64, 128, 2), (1, 0, 2) if kind[0] == "M" else None)
    order = Row if kind[0] == "K" else Col
    tensor = TileBy([3, 2], [64, 128]).OrderBy(order(192, 256))
    made = cute.make_tensor_map(tensor, shared, 16)
    assert made.dims == ((256, 192) if order is Row else (192, 256))
    given = np.arange(tensor.size, dtype=np.uint16).view(np.float16)
    for p, q, slot in [(0, 0, 0), (2, 1, 1)]:
        memory = np.zeros(2 * shared.physical_size, np.uint8)
        for i, j in made.boxes:
            to = 2 * shared.apply(i, j, slot)
            example.emulated.load_box(memory, given, made, to, made.coordinates(p, q, i, j))
        i, j = np.indices((64, 128))
        held = memory.view(np.uint16)[shared.apply(i, j, slot)]
        assert np.array_equal(held, tensor.apply(p, q, i, j))


def test_axes_that_continue_one_another_are_one_dim():
    shared = tile("K_SW128", (128, 64))
    batched = Strided((5, 4, 8, 128, 64), (1 << 18, 1 << 16, 64, 512, 1))
    made = cute.make_tensor_map(batched, shared, 16)
    assert made.dims == (512, 2560) and made.coordinates(1, 2, 3, 0, 0) == (192, 768)
    apart = Strided((5, 4, 8, 128, 64), (1 << 20, 1 << 16, 64, 512, 1))
    made = cute.make_tensor_map(apart, shared, 16)
    assert (
        made.dims == (512, 512, 5) and made.strides == (1024, 1 << 21) and made.box == (64, 128, 1)
    )
    assert made.coordinates(1, 2, 3, 0, 0) == (192, 256, 1) and made.box_bytes == 16384
    one = TileBy([1, 8], [128, 64]).OrderBy(Row(128, 512))
    assert cute.make_tensor_map(one, shared, 16).coordinates(0, 3, 0, 0) == (192, 0)


A = TileBy([4, 8], [128, 64]).OrderBy(Row(512, 512))
GOOD = tile("K_SW128", (128, 64))
PLAIN = Strided((128, 64), (64, 1))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: cute.make_gmma_operand(GOOD, 96, 16), "do not divide a tile of 128 x 64"),
        (lambda: cute.make_gmma_operand(GOOD, 0, 16), "0 is not a number of rows"),
        (lambda: cute.make_gmma_operand("64:1", 64, 16), "give modes"),
        (lambda: cute.make_gmma_operand(PLAIN, 64, 16), "no canonical layout"),
        (lambda: cute.make_tensor_map(A, tile("K_SW128", (64, 64)), 16), "of 128 x 64, and the one in shared memory is 64 x 64"),
        (lambda: cute.make_tensor_map(A, tile("MN_SW128", (128, 64), (1, 0)), 16), "take a tile of the other major"),
        (lambda: cute.make_tensor_map(A, Strided((128, 64), (72, 1)), 16), "lie 72 apart"),
        (lambda: cute.make_tensor_map(A, "S<3,4,3> o 0 o (128,64):(64,1)", 16), "no descriptor has"),
        (lambda: cute.make_tensor_map(A, GOOD, 4), "elements of 8, 16, 32 and 64 bits"),
        (lambda: cute.make_tensor_map(TileBy([4, 8], [128, 64]).OrderBy(Row(512, 512)), "128:1", 16), "give a tensor"),
        (lambda: cute.make_tensor_map(Strided((512, 64), (64, 1)), Strided((512, 64), (64, 1)), 16), "a box of 64 x 512"),
        (lambda: cute.make_tensor_map(Strided((8, 512), (512, 1)), Strided((8, 512), (512, 1)), 16), "has 1024 bytes"),
        (lambda: cute.make_tensor_map(Strided((8, 4), (512, 1)), Strided((8, 4), (4, 1)), 16), "has 8 bytes"),
        (lambda: cute.make_tensor_map(Strided((128, 64), (65, 1)), GOOD, 16), "rows 130 bytes apart"),
        (lambda: cute.make_tensor_map(Strided((128, 64), (640, 2)), GOOD, 16), "no axis of a tile is contiguous"),
        (lambda: cute.make_tensor_map(Strided((2, 3, 4, 5, 128, 64), (7 << 20, 5 << 20, 3 << 20, 1 << 20, 64, 1)), GOOD, 16), "6 dims"),
        (lambda: cute.make_tensor_map(Strided((128, 64), (64, 1)), "S<3,3,3> o 64 o (128,64):(64,1)", 16), "begins at byte 128"),
        (lambda: cute.make_tensor_map(A, GOOD, 16).coordinates(1, 2), "takes 4 indices, 2 given"),
    ],
)  # fmt: skip
def test_what_the_instructions_do_not_take_is_refused(make, said):
    with pytest.raises(LayoutError, match=re.escape(said)):
        make()


# -- in templates ----------------------------------------------------------------------------------

TEMPLATE = """{% names p, q, w, k, slot, start: uint32 %}
{% set map = A.tensor_map(S) %}
{{ S.gmma_desc(start, 64 * w, 16 * k, slot, rows=64) }}; {{ S.gmma_major(64) }}
{% for i, j in map.boxes %}
load({{ map.bytes }}, {{ S[i, j, slot] }}, {{ map.coordinates(p, q, i, j) }});
{% endfor %}
"""


@pytest.mark.slow
def test_a_template_prints_descriptors_and_coordinates():
    tiled = TileBy([M // 128, K // 64], [128, 64]).OrderBy(Row(M, K))
    made = render(TEMPLATE, "cuda", arch="sm_90a", A=tiled, S=tile("K_SW128", (128, 64, 4)))
    assert made == (
        "(0x4000004000010000ull + ((start + (16384 * slot + 8192 * w + 32 * k)) >> 4)); K\n"
        "load(16384, 8192 * slot, 64 * q, 128 * p);\n"
    )
    other = TileBy([M // 128, K // 64], [128, 64]).OrderBy(Col(M, K))
    made = render(TEMPLATE, "cuda", A=other, S=tile("MN_SW128", (128, 64, 4), (1, 0, 2)))
    assert made.endswith(
        "; MN\nload(8192, 8192 * slot, 128 * p, 64 * q);\nload(8192, 8192 * slot + 4096, 128 * p + 64, 64 * q);\n"
    )


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("{{ S.gmma_desc('x', 64, 0, rows=64) }}", {"target": "hip"}, "HIP has no wgmma"),
        ("{{ A.tensor_map(S).box }}", {"target": "c"}, "C has no TMA"),
        ("{{ S.gmma_desc('x', 64, 0, rows=64) }}", {"arch": "sm_90"}, "sm_90 has no wgmma; it takes arch=sm_90a"),
        ("{{ S.gmma_major(64) }}", {"arch": "sm_100a"}, "sm_100a has no wgmma"),
        ("{{ A.tensor_map(S).box }}", {"arch": "sm_80"}, "sm_80 has no TMA; it takes arch=sm_90 or newer"),
        ("{% names i %}{{ S.gmma_desc('x', i, 0, rows=64) }}", {}, "i is not proven to be a multiple of 64"),
        ("{{ S.gmma_desc('x', 64, 8, rows=64) }}", {}, "8 is not proven to be a multiple of 16"),
        ("{{ S.gmma_desc('x', 64, rows=64) }}", {}, "S.gmma_desc takes 2 indices, 1 given"),
        ("{{ S.gmma_desc('x', 0, 0, rows=48) }}", {}, "do not divide a tile of 128 x 64"),
        ("{{ A.gmma_major(64) }}", {}, "do not divide a tile of 4 x 8"),
        ("{{ A.tensor_map(3) }}", {}, "takes a layout of shared memory, and 3 is none"),
        ("{{ A.tensor_map(A).box }}", {}, "make_tensor_map"),
        ("{{ A.tensor_map(S).coordinates(1) }}", {}, "takes 4 indices, 1 given"),
    ],
)  # fmt: skip
@pytest.mark.quick(4)
def test_a_template_is_told_what_is_wrong(text, options, said):
    with pytest.raises(TemplateError, match=re.escape(said)):
        render(text, **{"target": "cuda", **options}, A=A, S=GOOD)


@pytest.mark.slow
def test_maps_of_one_layout_have_strides_of_their_own():
    tiled = TileBy([M // 128, K // 64], [128, 64]).OrderBy(Row(M, K))
    text = "{{ A.tensor_map(S).strides[0] }} {{ A.tensor_map(T, 8).strides[0] }}"
    made = render(text, "cuda", A=tiled, S=GOOD, T=tile("K_SW64", (128, 64), bits=8))
    assert made == "(2 * K) K"


@pytest.mark.parametrize("arch", ["90a", "sm_", "sm_90x", 90])
def test_an_architecture_has_a_name(arch):
    with pytest.raises(OptionError, match="write a GPU architecture such as"):
        render("", "cuda", arch=arch)


HOST = """{{ A.tensor_map(S).encode("encode_a") }}"""


@pytest.mark.slow
def test_the_host_function_of_a_map():
    tiled = TileBy([M // 128, K // 64], [128, 64]).OrderBy(Row(M, K))
    made = render(HOST, "cuda", A=tiled, S=GOOD)
    for line in [
        "inline CUresult encode_a(CUtensorMap* map, void* memory, cuuint64_t K, cuuint64_t M) {",
        "  const cuuint64_t dims[] = {K, M};",
        "  const cuuint64_t strides[] = {2 * K};",
        "  const cuuint32_t box[] = {64, 128};",
    ]:
        assert line in made.splitlines()
    assert "UINT16, 2, memory" in made and "CU_TENSOR_MAP_SWIZZLE_128B" in made


@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
@pytest.mark.deep
def test_nvcc_takes_the_host_function(tmp_path):
    tiled = TileBy([M // 128, K // 64], [128, 64]).OrderBy(Row(M, K))
    text = render(f"#include <cuda.h>\n{HOST}\n", "cuda", A=tiled, S=GOOD)
    (tmp_path / "host.cu").write_text(text)
    flags = ["-std=c++17", "-Werror", "all-warnings", "-c", "host.cu", "-o", "host.o"]
    subprocess.run(["nvcc", *flags], cwd=tmp_path, check=True)


# -- the example -----------------------------------------------------------------------------------

SETTINGS = [
    ((256, 512, 128), ((128, 256, 64), 4, 8, "KK")),
    ((256, 512, 128), ((128, 256, 64), 4, 8, "MM")),
    ((256, 512, 128), ((128, 256, 64), 4, 8, "KM")),
    ((256, 512, 128), ((128, 256, 64), 4, 8, "MK")),
    ((384, 128, 128), ((192, 128, 64), 3, 2, "KK")),
    ((256, 512, 256), ((128, 256, 128), 2, 1, "MK")),
]


@pytest.mark.quick(1)
@pytest.mark.parametrize(("sizes", "settings"), rest_deep(SETTINGS, 2))
def test_the_layouts_multiply(sizes, settings, example):
    a, b = example.matrices(sizes, settings[3])
    wanted = example.product(a, b, settings[3])
    got = example.emulate(example.loaded(sizes, *settings), a, b)
    assert np.abs(got - wanted).max() <= example.EPSILON * np.abs(wanted).max()


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["K_SW64", "K_SW32"])
def test_another_swizzle_changes_layouts_alone(kind, example):
    sizes = (256, 256, 128)
    given = example.loaded(sizes)
    given |= {f"shared_{x}": tile(kind, (n, 64, 4)) for x, n in [("a", 128), ("b", 256)]}
    a, b = example.matrices(sizes)
    wanted = example.product(a, b)
    got = example.emulate(given, a, b)
    assert np.abs(got - wanted).max() <= example.EPSILON * np.abs(wanted).max()
    symbolic = {**example.loaded(symbols("M N K")), "shared_a": given["shared_a"]}
    text = render(EXAMPLE / "kernel.cu.j2", "cuda", arch="sm_90a", **symbolic)
    assert text.count("load_box(tile_a + ") == 64 // int(kind[4:]) * 2


def test_the_emulation_finds_other_registers(example):
    sizes = (128, 256, 64)
    given, (a, b) = example.loaded(sizes), example.matrices(sizes)
    given["held"] = Col(*given["held"].dims)
    wrong = np.abs(example.emulate(given, a, b) - example.product(a, b)).max()
    assert wrong > 1


def test_each_sum_is_stored_once(example):
    given = example.loaded((256, 512, 128))
    register, lane, warp = np.ix_(np.arange(given["held"].dims[1]), np.arange(32), np.arange(4))
    i, j = given["sums"].apply(register, lane, warp)
    places = given["shared_c"].apply(i, j, 0)
    assert sorted(places.reshape(-1)) == list(range(64 * 128))
    pairs = places[0::2], places[1::2]
    assert np.array_equal(pairs[0] + 1, pairs[1]) and not (pairs[0] % 2).any()


@pytest.mark.parametrize(
    "name",
    [
        "hopper_matmul/kernel",
        "int4_matmul/kernel",
        "int4_matmul/pack",
        "pieces",
        "tensor_core_matmul/kernel",
    ],
)
def test_no_index_is_written_by_hand(name):
    path = EXAMPLE.parent / f"{name}.cu.j2"
    text = re.sub(r"{#.*?#}|{{.*?}}|{%.*?%}", "", path.read_text(), flags=re.S)
    plain = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    assert re.findall(r"\w\[[^\]]*\d[^\]]*\]", plain) == []
    assert re.findall(r"(?:tile_\w|memory|packed|partial|arrivals) \+ (?!\s*[,;)])\w+", plain) == []
    assert re.findall(r"(?:<<|>>) *\(?[\d\w]+ *\*", plain) == [], "nor a place in a word"


@pytest.mark.slow
@pytest.mark.parametrize("rows", rest_deep([256, 64, 128, 192]))
def test_a_block_has_the_registers_that_its_groups_ask_for(rows, example):
    given = example.loaded(symbols("M N K"), (rows, 128, 64), 2)
    text = render(EXAMPLE / "kernel.cu.j2", "cuda", arch="sm_90a", **given)
    less, more = (int(re.search(rf"setmaxnreg.{way}\S+ (\d+)", text)[1]) for way in ("dec", "inc"))
    threads = int(re.search(r"__launch_bounds__\((\d+), 1\)", text)[1])
    at_first = min(240, 65536 // threads // 8 * 8)
    assert threads == 2 * rows + 128 and less <= at_first <= more <= 240
    assert 128 * less + 2 * rows * more <= 65536 // threads // 8 * 8 * threads


@pytest.mark.deep
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
@pytest.mark.parametrize(("stages", "is_taken"), [(4, True), (5, False)])
def test_stages_beyond_a_block_s_shared_memory_are_refused(stages, is_taken, example, tmp_path):
    given = example.loaded(symbols("M N K"), (128, 256, 64), stages)
    text = render(EXAMPLE / "kernel.cu.j2", "cuda", arch="sm_90a", **given)
    (tmp_path / "kernel.cu").write_text(text)
    command = ["nvcc", "-arch=sm_90a", "-cubin", "kernel.cu", "-o", "kernel.cubin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode == 0) == is_taken
    assert ("need more shared memory than a block has" in done.stderr) != is_taken


@pytest.mark.deep
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
def test_kernels_neither_spill_nor_wait_for_each_other(example, tmp_path):
    gemm, ways = (importlib.import_module(name) for name in ("gemm", "ways"))
    sources = [gemm.source(*case) for case in gemm.CASES]
    sources += [
        gemm.source("f16", "KK", (128, 128, 64), 6),
        gemm.source("f16", "KK", (192, 128, 64), 4),
        gemm.source("f16", "KK", (256, 128, 64), 3),
        replace(gemm.OLDER, arch="80"),
    ]
    for built in ways.build_all(sources, tmp_path, 2):
        assert built.kernels["matmul"][1] == 0


def test_serialized_products_are_refused(example):
    serialized = importlib.import_module("ways").SERIALIZED
    said = "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized"
    assert serialized.search(said) and not serialized.search("(C7508) setmaxnreg ignored")

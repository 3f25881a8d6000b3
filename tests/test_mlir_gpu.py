"""Kernels in MLIR: the examples as LLVM 16 and the newest read them, as PTX that ptxas assembles and as
SPIR-V on Vulkan's first device, under several layouts; and what PTX and SPIR-V refuse."""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lego_emit import GenP, GroupBy, Row, Strided, render
from lego_emit.errors import ToolchainError
from lego_emit.project.loading import subject, subjects, user_file
from lego_emit.targets import mlir

KERNELS = Path(__file__).parent.parent / "examples" / "kernels"
CHECKS = {"transpose": "check_mlir", "mlir_layernorm": "check"}
TILE = 32
SCALE = """gpu.module @m {
  gpu.func @scale(%a: memref<?xf32>, %n: index) kernel ATTRIBUTES {
    %c64 = arith.constant 64 : index
    %p = gpu.block_id x
    %t = gpu.thread_id x
    %s = arith.muli %p, %c64 : index
    %i = arith.addi %s, %t : index
    %m = arith.floordivsi %i, %c64 : index
    %j = arith.subi %n, %m : index
    %inside = arith.cmpi slt, %i, %n : index
    scf.if %inside {
      %x = memref.load %a[%i] : memref<?xf32>
      %r = math.sqrt %x : f32
      %k = arith.index_cast %j : index to i32
      %f = arith.sitofp %k : i32 to f32
      %y = arith.addf %r, %f : f32
      memref.store %y, %a[%i] : memref<?xf32>
    }
    gpu.return
  }
}
"""
BLOCK = "attributes {known_block_size = array<i32: 64, 1, 1>}"


@pytest.fixture
def harness(monkeypatch):
    monkeypatch.syspath_prepend(str(KERNELS))
    for name in ("harness", "mlir_harness"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("mlir_harness")


def check_of(name, monkeypatch):
    path = KERNELS / name / f"{CHECKS[name]}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.check


def text_of(name, **others):
    """An example's text, some of its layouts replaced."""
    file = str(KERNELS / name / "layouts.py")
    with user_file(file) as defined:
        given = {one: subject(defined, one, file) for one in subjects(defined)}
        return str(render(KERNELS / name / "kernel.mlir.j2", "mlir", **{**given, **others}))


@pytest.fixture
def ends(toolchain_of):
    """The newest LLVM and 16, which CI has."""
    toolchain_of("mlir")
    found = [*mlir.installed()]
    if os.environ.get("CI"):
        assert found[0].forms.kernels and found[-1].number == 16
    return found[:: max(1, len(found) - 1)]


@pytest.fixture
def vulkan(ends, toolchain_of):
    """Skips where no SPIR-V can be made or run."""
    toolchain_of("wgsl")
    if not ends[0].forms.kernels:
        pytest.skip("LLVM is older than 19")


# -- the examples --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHECKS)
def test_each_version_takes_the_text_as_it_stands(name, ends):
    text = text_of(name)
    assert "call" not in text
    for llvm in ends:
        done = subprocess.run(
            [llvm.opt, "-"], input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("gpu.func") == text.count("gpu.func")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas")
@pytest.mark.parametrize("name", CHECKS)
def test_ptxas_assembles_them_without_spills(name, ends, tmp_path, monkeypatch):
    text = text_of(name)
    for llvm in ends:
        monkeypatch.setattr(mlir, "VERSIONS", (f"-{llvm.number}",))
        (tmp_path / "k.ptx").write_text(mlir.ptx(text, "sm_90"))
        command = ["ptxas", "-v", "-arch=sm_90", "k.ptx", "-o", "k.cubin"]
        said = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stderr
        assert said.count("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads") == (
            text.count("gpu.func")
        )
        shared = [int(n) for n in re.findall(r"(\d+) bytes smem", said)]
        assert shared == [4 * TILE * TILE if name == "transpose" else 4 * 256]


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_a_device_of_vulkan_computes_what_numpy_does(name, vulkan, harness, monkeypatch):
    results = [
        one for one, _ in harness.checked(KERNELS / name, check_of(name, monkeypatch), False)
    ]
    assert len(results) >= 3 and [one for one in results if not one.is_right] == []


@pytest.mark.gpu
@pytest.mark.parametrize("name", CHECKS)
def test_a_gpu_computes_what_numpy_does(name, ends, harness, monkeypatch):
    results = [one for one, _ in harness.checked(KERNELS / name, check_of(name, monkeypatch), True)]
    assert results and [one for one in results if not one.is_right] == []


def test_a_gpu_is_given_what_the_ptx_takes(ends, harness, monkeypatch, tmp_path):
    """Five parameters of 64 bits for a memref, one for an index; without a GPU."""
    given, copied = [], []

    def launched(*arguments, grid, block):
        given.append((arguments, grid, block))

    driver = SimpleNamespace(
        to_device=lambda array: 77,
        memcpy_dtoh=lambda array, memory: copied.append(memory),
        module_from_file=lambda path: SimpleNamespace(get_function=lambda name: launched),
    )
    device = SimpleNamespace(name="none", arch="sm_90", active=nullcontext, driver=driver)
    monkeypatch.setattr(harness.gpu, "device", lambda name: device)
    machine = harness.Gpu(SCALE.replace("ATTRIBUTES", BLOCK), tmp_path)
    machine.launch("scale", (2,), (64,), np.ones(100, np.float32), 100)
    ((arguments, *sizes),) = given
    assert (
        [*arguments] == [77, 77, 0, 100, 1, 100] and copied == [77] and sizes == [(2,), (64, 1, 1)]
    )
    taken = re.findall(r"\.param \.(\w+)", (tmp_path / "kernel.ptx").read_text())
    assert taken == ["u64"] * len(arguments)


def morton(i, j):
    """Five bits of each, in turn."""
    return sum((i >> k & 1) << 2 * k + 1 | (j >> k & 1) << 2 * k for k in range(5))


TILES = {
    "rows": Row(TILE, TILE),
    "pitch": GroupBy([TILE, TILE]).OrderBy(Strided([TILE, TILE], [TILE + 1, 1])),
    "morton": GroupBy([TILE, TILE]).OrderBy(GenP([TILE, TILE], morton)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", TILES)
def test_another_tile_changes_the_layout_alone(kind, vulkan, harness, monkeypatch, tmp_path):
    text = text_of("transpose", small_tile=TILES[kind])
    size = TILES[kind].physical_size
    assert f"workgroup(%tile: memref<{size}xf32" in text and "call" not in text
    results = [*check_of("transpose", monkeypatch)(harness.Shaders(text, tmp_path))]
    assert len(results) == 6 and [one for one in results if not one.is_right] == []


@pytest.mark.slow
def test_other_sums_change_the_layout_alone(vulkan, harness, monkeypatch, tmp_path):
    spread = GroupBy([256]).OrderBy(Strided([256], [3]))
    text = text_of("mlir_layernorm", sums=spread)
    assert "workgroup(%tile: memref<766xf32" in text
    results = [*check_of("mlir_layernorm", monkeypatch)(harness.Shaders(text, tmp_path))]
    assert len(results) == 3 and [one for one in results if not one.is_right] == []


BARRIER = "    gpu.barrier\n"
# Of each size, whether the result is right: None where it depends on what the shared memory held before. The
# threads from 128 on have no element of 21: without the barrier their sums are read unwritten, and are zero
# where the memory is new.
PLANTED = [
    ("transpose", "%at = arith.xori %at_2_2", "%at = arith.addi %at_2_2", [True, False] * 3),
    ("transpose", BARRIER, "", [True, False] * 3),
    (
        "mlir_layernorm",
        "%rest = arith.subf %element, %before",
        "%rest = arith.subf %before, %none",
        [False] * 3,
    ),
    ("mlir_layernorm", f"  {BARRIER}      scf.for", "      scf.for", [None, False, False]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "there", "instead", "right"), PLANTED)
def test_a_planted_error_is_found(
    name, there, instead, right, vulkan, harness, monkeypatch, tmp_path
):
    text = text_of(name)
    assert there in text
    machine = harness.Shaders(text.replace(there, instead), tmp_path)
    results = [*check_of(name, monkeypatch)(machine)]
    found = [one.is_right for one in results]
    assert [
        None if wanted is None else one for one, wanted in zip(found, right, strict=True)
    ] == right


# -- PTX and SPIR-V ------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_made_of_a_plain_kernel(vulkan, ends, harness, monkeypatch, tmp_path):
    """Rounded division, a root and a condition, as instructions; other functions stay away."""
    text = SCALE.replace("ATTRIBUTES", BLOCK)
    a = np.arange(100, dtype=np.float32)
    wanted = np.sqrt(a) + (100 - np.arange(100) // 64)
    harness.Shaders(text, tmp_path).launch("scale", (2,), (64,), a, 100)
    assert np.allclose(a, wanted, rtol=1e-6)
    for llvm in ends:
        monkeypatch.setattr(mlir, "VERSIONS", (f"-{llvm.number}",))
        made = mlir.ptx(f"func.func private @host()\n{text}", "sm_80")
        assert (
            made.startswith("//\n// Generated by LLVM")
            and made.endswith("}\n")
            and "\0" not in made
        )
        assert "sqrt" in made and "call" not in made and ".target sm_80" in made


# Of a negative or positive %v and 3 or -7: what is stored, and what NumPy computes.
SIGNS = {
    "divsi %v, %c3 : T": lambda v: np.trunc(v / 3),
    "remsi %v, %c3 : T": lambda v: np.fmod(v, 3),
    "floordivsi %v, %c3 : T": lambda v: v // 3,
    "divsi %v, %cm7 : T": lambda v: np.trunc(v / -7),
    "remsi %v, %cm7 : T": lambda v: np.fmod(v, -7),
    "floordivsi %v, %cm7 : T": lambda v: v // -7,
    "shrsi %v, %c3 : T": lambda v: v >> 3,
    "minsi %v, %c3 : T": lambda v: np.minimum(v, 3),
    "maxsi %v, %c3 : T": lambda v: np.maximum(v, 3),
    "shrui %v, %c3 : T": lambda v: (v.astype(np.uint32) >> 3).astype(np.int64),
    "xori %v, %c3 : T": lambda v: v ^ 3,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["i32", "index"])
def test_signs_are_kept_on_vulkan(kind, vulkan, harness, tmp_path):
    """MLIR's integers have no sign in SPIR-V, where wgpu goes by the type."""
    lines = ["%v = arith.subi %t, %c32 : index"]
    if kind == "i32":
        lines = ["%w = arith.subi %t, %c32 : index", "%v = arith.index_cast %w : index to i32"]
    for k, text in enumerate([*SIGNS, "cmpi slt, %v, %c3 : T", "sitofp"]):
        now = f"%r{k} = arith.{text}".replace(": T", f": {kind}")
        cast = f"arith.index_cast %r{k} : index to i32"
        if text.startswith("cmpi"):
            now = now.replace(f"%r{k}", f"%b{k}")
            widen = "index_castui" if kind == "index" else "extui"
            now += f"\n%r{k} = arith.{widen} %b{k} : i1 to {kind}"
        if text == "sitofp":  # to a float, halved, and back
            cast, value = f"arith.fptosi %h{k} : f32 to i32", "%v"
            if kind == "index":
                lines.append(f"%i{k} = arith.index_cast %v : index to i32")
                value = f"%i{k}"
            now = (
                f"%f{k} = arith.sitofp {value} : i32 to f32\n%h{k} = arith.mulf %f{k}, %half : f32"
            )
        elif kind == "i32":
            cast = f"arith.extsi %r{k} : i32 to i64\n%s{k} = arith.trunci %l{k} : i64 to i32"
        lines += [now, f"%{'l' if 'extsi' in cast else 's'}{k} = {cast}"]
        lines += [
            f"%o{k} = arith.constant {64 * k} : index",
            f"%p{k} = arith.addi %o{k}, %t : index",
        ]
        lines.append(f"memref.store %s{k}, %a[%p{k}] : memref<?xi32>")
    body = "\n".join(lines)
    text = f"""gpu.module @m {{
gpu.func @signs(%a: memref<?xi32>) kernel {BLOCK} {{
%t = gpu.thread_id x
%c32 = arith.constant 32 : index
%c3 = arith.constant 3 : {kind}
%cm7 = arith.constant -7 : {kind}
%half = arith.constant 0.5 : f32
{body}
gpu.return
}}
}}"""
    found = np.full((len(SIGNS) + 2, 64), 12345, np.int32)
    harness.Shaders(text, tmp_path).launch("signs", (1,), (64,), found)
    v = np.arange(-32, 32)
    wanted = [f(v) for f in SIGNS.values()] + [v < 3, np.trunc(v / 2)]
    for row, want, said in zip(found, wanted, [*SIGNS, "slt", "sitofp"], strict=True):
        assert np.array_equal(row, want), said


def test_refusals(ends, monkeypatch):
    text = SCALE.replace("ATTRIBUTES", BLOCK)
    for bad, chip, said in [
        (text, "hopper", "'hopper' is no chip; name one as in 'sm_90'"),
        (text, "sm_999", "does not know sm_999"),
        ("func.func private @f()", "sm_90", "has none: put gpu.func into one"),
        (f"module {{ module {{ {text} }} }}", "sm_90", "which no other module is around"),
        (text.replace("@scale", '@"my k"'), "sm_90", '@"my k" is no name for a kernel'),
        (text, 90, "90 is no chip"),
        (text.encode(), "sm_90", "kernels are a str of MLIR: .*bytes"),
        (f"{text}// \ud800", "sm_90", "kernels are a str of MLIR: .*surrogates"),
        (f"{text}{text.replace('@m', '@n')}", "sm_90", "has 2: write one text for each"),
        (text.replace("math.sqrt", "math.exp"), "sm_90", "call __nv_expf of libdevice"),
        ("gpu.modul", "sm_90", "failed with exit code 1"),
        ("gpu.module @m {}", "sm_90", "has no kernel: write kernel behind"),
    ]:
        with pytest.raises(ToolchainError, match=said):
            mlir.ptx(bad, chip)
    if ends[0].forms.kernels:
        with pytest.raises(ToolchainError, match=r"gpu.func @scale states no block's size"):
            mlir.spirv(SCALE.replace("ATTRIBUTES", ""))
        own = text.replace(
            ") kernel", ") private(%own: memref<4xf32, #gpu.address_space<private>>) kernel"
        )
        assert own != text
        with pytest.raises(ToolchainError, match=r"gpu.func @scale has memory of its own, private"):
            mlir.spirv(own)
        for kind in ("f16", "bf16", "f64"):
            with pytest.raises(ToolchainError, match=f"SPIR-V takes no {kind}: compute in f32"):
                mlir.spirv(text.replace("f32", kind))
        with pytest.raises(ToolchainError, match=r"SPIR-V takes no memref<\?xi1>: keep i8"):
            mlir.spirv(NARROW.format(T="i1"))
        with pytest.raises(ToolchainError, match=r"no arith\.index_cast of i16: extend that"):
            mlir.spirv(
                text.replace("index to i32", "index to i16").replace("i32 to f32", "i16 to f32")
            )
    monkeypatch.setattr(mlir, "VERSIONS", ("-16",))
    if ends[-1].number == 16:
        with pytest.raises(
            ToolchainError, match=r"LLVM 19 or newer, and .*16.* mlir-19-tools llvm-19"
        ):
            mlir.spirv(text)


NARROW = f"""gpu.module @m {{{{
  gpu.func @third(%a: memref<?x{{T}}>) kernel {BLOCK.replace("{", "{{").replace("}", "}}")} {{{{
    %t = gpu.thread_id x
    %c3 = arith.constant 3 : i32
    %v = memref.load %a[%t] : memref<?x{{T}}>
    %w = arith.extsi %v : {{T}} to i32
    %q = arith.divsi %w, %c3 : i32
    %n = arith.trunci %q : i32 to {{T}}
    memref.store %n, %a[%t] : memref<?x{{T}}>
    gpu.return
  }}}}
}}}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("bits", [8, 16])
def test_narrow_integers_are_in_memory_on_vulkan(bits, vulkan, harness, tmp_path):
    a = np.random.default_rng(bits).integers(-128, 128, 64).astype(f"int{bits}")
    wanted = np.trunc(a / 3)
    harness.Shaders(NARROW.format(T=f"i{bits}"), tmp_path).launch("third", (1,), (64,), a)
    assert np.array_equal(a, wanted)


def test_a_program_that_makes_nothing_is_told(monkeypatch, tmp_path):
    for name, said in [("mlir-opt", "LLVM version 22\\377"), ("mlir-translate", ""), ("llc", "")]:
        (tmp_path / name).write_text(f"#!/bin/sh\nprintf '{said}\\n'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"mlir-opt makes nothing: LLVM version 22\\xff"):
        mlir.ptx("", "sm_90")


def test_without_llvm_the_text_is_there_and_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    text = text_of("transpose")
    for make in (lambda: mlir.ptx(text, "sm_90"), lambda: mlir.spirv(text)):
        with pytest.raises(ToolchainError, match="on PATH: apt-get install mlir-16-tools llvm-16"):
            make()

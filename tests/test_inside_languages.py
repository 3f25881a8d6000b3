"""lego_emit.jit over Triton's, Numba's and cuTile's decorators, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "inside"

# What Triton's compiler makes of a kernel for an H100, without a GPU: counts of wide copies and narrow loads, the
# files and the lines that it names.
COMPILE = """
import re, sys
sys.path.insert(0, {here!r})
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
import triton_kernels as kernels

def ptx(kernel, constants, pointers=(), divides=True):
    names = [p.name for p in kernel.params]
    kinds = {{n: "constexpr" if n in constants else pointers.get(n, "i32") for n in names}}
    known = {{(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if divides and n not in constants}}
    source = ASTSource(kernel, kinds, constexprs=constants, attrs=known)
    return compile(source, target=GPUTarget("cuda", 90, 32), options=dict(num_warps=8)).asm["ptx"]

def told(name, text):
    files = set(re.findall(r'[.]file.*"(.*)"', text))
    lines = {{int(n) for n in re.findall(r"[.]loc\\s+1 (\\d+)", text)}} - {{0}}
    print(name, text.count("cp.async.cg"), text.count("ld.global.b16"), min(lines), max(lines), *files)

sizes = dict(BM=128, BN=256, BK=64, GROUP=8)
halves = dict.fromkeys("abc", "*fp16")
told("matmul", ptx(kernels.matmul, dict(sizes, TA=False, TB=False), halves))
told("matmul_ragged", ptx(kernels.matmul_ragged, sizes, halves))
"""

# What Numba keeps of a function whose layout is another module's.
CACHED = """
import numba, numpy, shapes
import lego_emit

@lego_emit.jit
@numba.njit(cache=True)
def first_column(x):
    return x[shapes.A[1, 0]]

print(first_column(numpy.arange(24)), sum(first_column.stats.cache_hits.values()))
"""


def run(*command, **environment):
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_triton_s_kernels_are_right(triton):
    found = run(HERE / "check_triton.py")
    assert len(found) == 8
    assert all(line.endswith(" right") for line in found), found


@pytest.mark.slow
@pytest.mark.deep
def test_triton_compiles_wide_loads_and_names_the_user_s_lines(triton, tmp_path):
    (tmp_path / "compile.py").write_text(COMPILE.format(here=str(HERE)))
    found = run(tmp_path / "compile.py", TRITON_CACHE_DIR=str(tmp_path / "cache"))
    assert len(found) == 2
    lines = (HERE / "triton_kernels.py").read_text().splitlines()
    for name, wide, narrow, first, last, *files in map(str.split, found):
        assert int(wide) >= 36 and int(narrow) == 0, found
        assert str(HERE / "triton_kernels.py") in files
        begin = next(k for k, line in enumerate(lines, 1) if line.startswith(f"def {name}("))
        assert begin <= int(first) <= int(last) < begin + 40


@pytest.mark.slow
def test_a_position_is_masked_once(triton):
    assert run(HERE / "triton_masks.py") == [
        *(f"{name} True 0" for name in ("named", "chosen", "in_padding")),
        *("moved True 2", "in_a_branch True 3", "of_another True 3", "a_value True 1"),
    ]


@pytest.mark.slow
def test_positions_are_masked_once_under_what_is_assumed_of_sizes(triton):
    """K % 16 == 0 makes K a multiple of another name, of which the mask's conditions speak then."""
    *sizes, last = run(HERE / "triton_sample.py")
    assert sizes == [
        *(f"{size} right" for size in ("100 x 70 x 48", "64 x 64 x 64", "17 x 100 x 16")),
        "100 x 32 x 50 right matmul assumes K % 16 == 0, and K = 50",
    ]
    assert last == "masks, choices, multiples: 3 0 2"


@pytest.mark.slow
def test_numba_s_kernels_are_right():
    found = run(HERE / "numba_kernels.py")
    names = "by_columns in_parallel add transpose matmul along along_on_cuda calls raises device warns at_once each line stale"
    assert found == [f"{name} True" for name in names.split()]


@pytest.mark.slow
def test_cutile_s_kernels_become_bytecode():
    pytest.importorskip("cuda.tile")
    found = run(HERE / "cutile_kernels.py")
    assert found == [
        f"{name} True" for name in ("add", "from_morton", "ragged", "options", "Morton", "tiles")
    ]


@pytest.mark.slow
def test_the_text_of_a_kernel_is_the_docs(triton):
    text = "import triton_kernels; print(triton_kernels.matmul.lego.source)"
    found = run(
        "-c", text, PYTHONPATH=os.pathsep.join([str(HERE), *sys.path]), TRITON_INTERPRET="1"
    )
    assert found[-2] == (HERE / "triton_matmul.txt").read_text().rstrip("\n")


@pytest.mark.slow
def test_triton_s_autotune_and_lines(triton):
    found = run(HERE / "triton_cases.py")
    assert found == [
        "tuned_below [True, True]", "autotuner True True", "tuned_above [True, True]", "autotuner True True",
        "asked True n % double == 0, and n = 36, double = 8", "along True", "narrow True", "line True",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.deep
def test_triton_s_compiler_takes_other_names_and_places_errors(triton, tmp_path):
    found = run(HERE / "triton_names.py", TRITON_CACHE_DIR=str(tmp_path))
    assert found == ["other_name 2 True", "own_name 2 True", "line True True"]


@pytest.mark.slow
def test_a_cell_of_ipython():
    pytest.importorskip("IPython")
    assert run(HERE / "ipython_cell.py") == ["15 0", "8 raise ValueError(N * i + j)"]


@pytest.mark.slow
@pytest.mark.deep
def test_numba_keeps_no_code_of_another_layout(tmp_path):
    pytest.importorskip("numba")
    kernel = tmp_path / "kernel.py"
    kernel.write_text(CACHED)
    shapes = tmp_path / "shapes.py"
    for layout, wanted in (("Row", "6 0"), ("Row", "6 1"), ("Col", "1 0"), ("Row", "6 1")):
        shapes.write_text(f"from lego_emit import {layout}\nA = {layout}(4, 6)\n")
        found = run("-B", kernel, LEGO_EMIT_CACHE=str(tmp_path / "cache"))
        assert found == [wanted], layout

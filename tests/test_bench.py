"""Timing: what is measured, how it is counted, what is shown. Speed is asserted nowhere."""

import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree
from itertools import product
from pathlib import Path

import fake_cuda
import pytest
from click.testing import CliRunner
from typed import voxel

from lego_emit import ExpandBy, GenP, GroupBy, OrderBy, RegP, Row, TileBy, generate
from lego_emit.algebra.masked import Padded
from lego_emit.cli import main
from lego_emit.errors import DeviceError, ToolchainError, VerifyError
from lego_emit.measure.nest import body, naive
from lego_emit.measure.timing import (
    BY_HAND,
    LOOP,
    NAIVE,
    OURS,
    TABLE,
    IndexCost,
    Quartiles,
    Rivals,
    Timing,
    Way,
)
from lego_emit.run import registry
from lego_emit.run.space import spaces_of
from lego_emit.targets import cpu_timing, gpu, gpu_timing
from lego_emit.targets.timing_cpp import C

pytestmark = pytest.mark.slow

GPU_BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks" / "gpu"

LAYOUT = OrderBy(Row(64, 64)).TileBy((8, 8), (8, 8))
BY_HAND_PAIR = (
    lambda i, j, k, l: i << 9 | k << 6 | j << 3 | l,  # noqa: E741
    lambda p: (p >> 9, p >> 3 & 7, p >> 6 & 7, p & 7),
)


@pytest.fixture
def benchmarks(monkeypatch):
    """The modules of benchmarks/gpu."""
    monkeypatch.syspath_prepend(str(GPU_BENCHMARKS))
    for name in ("layouts", "plot", "shared"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import layouts
    import plot

    yield layouts, plot
    for name in ("layouts", "plot", "shared"):
        sys.modules.pop(name, None)


@pytest.fixture(params=["stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    if request.param == "stand-in":
        if shutil.which("g++") is None:
            pytest.skip("needs g++")
        fake_cuda.install(monkeypatch)
    monkeypatch.setattr(gpu_timing, "ROUNDS", 8)
    monkeypatch.setattr(gpu_timing, "BLOCKS", 1)
    return "gpu"


def test_all_ways_are_timed(device):
    steps = []
    found = generate(LAYOUT, "cuda").time(
        device,
        layout=LAYOUT,
        by_hand=BY_HAND_PAIR,
        bytes=2**16,
        repeat=3,
        progress=lambda done, total: steps.append((done, total)),
    )
    ways = [OURS, BY_HAND, NAIVE, TABLE]
    assert [(c.function, c.way) for c in found.costs] == [
        (f, w) for f in ("apply", "inv") for w in ways
    ]
    assert [(t.kind, t.way) for t in found.traffic] == [
        (k, w) for k in ("gather", "scatter") for w in ways
    ]
    assert found.elements == 2**14 and found.not_slower("apply") in (True, False)
    assert steps[-1][0] == steps[-1][1]
    shown = str(found)
    assert "against by hand" in shown and "16,384 float32" in shown
    json.dumps(found.as_dict())


def test_symbolic_sizes_and_wide_indices(device):
    def tiled(M, N, BM, BN):
        return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))

    sizes = {"M": 64, "N": 64, "BM": 8, "BN": 8}
    unit = generate(tiled, "cuda", index_type="auto")
    assert unit.functions[0].index_type == "int64"
    found = unit.time(device, sizes=sizes, layout=tiled(**sizes), bytes=2**14, repeat=2)
    assert {c.way for c in found.costs} == {OURS, NAIVE, TABLE}


def test_an_index_function(device):
    def index_kernel(M, N, BM, BN):
        return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))[pid_m, pid_n, :, :]  # noqa: F821

    sizes = {"M": 64, "N": 64, "BM": 8, "BN": 8}
    found = generate(index_kernel, "cuda", sizes=sizes).time(device, repeat=2)
    assert [c.way for c in found.costs] == [OURS, TABLE] and not found.traffic


def test_results_that_need_64_bits(device):
    ranges = ["-5 <= i", "i < 3", "0 <= j", "j < 8"]
    unit = generate(lambda i, j: (i * 8 + j) * 2**33, "cuda", name="f", assume=ranges)
    assert unit.functions[0].index_type == "int64"
    found = unit.time(device, by_hand=(lambda i, j: (i * 8 + j) * 2**33, None), repeat=2)
    assert [c.way for c in found.costs] == [OURS, BY_HAND, TABLE]


def test_a_wrong_rival_is_refused(device):
    wrong = (lambda i, j, k, l: i << 9 | k << 6 | j << 3, BY_HAND_PAIR[1])  # noqa: E741
    with pytest.raises(DeviceError, match="by the way 'by hand' gives other indices than ours"):
        generate(LAYOUT, "cuda").time(device, by_hand=wrong, bytes=2**14, repeat=1)


def test_a_wrong_gather_is_refused(device):
    # Agrees with ours in the loop, which wraps at 32 bits; the judge of the arrays finds it.
    unit = generate(LAYOUT, "cuda")
    timer = gpu_timing.GpuTimer(
        unit, device, Rivals(spaces_of(unit, {}, {})[0], (Way(BY_HAND, *BY_HAND_PAIR),), 2**14, 1)
    )
    timer.module = type(timer.module)(
        timer.device, timer.text.replace("= from[lego_at_ours(m", "= from[63 ^ lego_at_ours(m"), "x"
    )
    with pytest.raises(DeviceError, match=r"the gather by the way 'ours' puts .* elements wrong"):
        timer.run(lambda done, total: None)


def test_arrays_that_do_not_fit(monkeypatch):
    fake_cuda.install(monkeypatch, free=2**20)
    monkeypatch.setattr(gpu_timing, "ROUNDS", 1)
    with pytest.raises(DeviceError, match="two arrays of 1,073,741,824 float32 takes 8 GiB"):
        generate(LAYOUT, "cuda").time("gpu", repeat=1)


def test_bad_input():
    unit = generate(LAYOUT, "cuda")
    with pytest.raises(VerifyError, match="repeat is 0"):
        unit.time("gpu", repeat=0)


@pytest.mark.deep
def test_nvcc_takes_the_kernels_of_every_benchmark(need, benchmarks, tmp_path):
    nvcc = need("nvcc", "apt-get install nvidia-cuda-toolkit")
    layouts, _ = benchmarks
    for name in layouts.LAYOUTS.values():
        layout = getattr(layouts, name)
        unit = generate(layout, "cuda", name=name)
        ways = (Way(BY_HAND, *getattr(layouts, f"{name}_by_hand")), Way(NAIVE, *naive(layout)))
        text = gpu_timing.timing_text(unit, Rivals(spaces_of(unit, {}, {})[0], ways))
        (tmp_path / "k.cu").write_text(text)
        done = subprocess.run(
            [nvcc, *gpu.OPTIONS, "-arch=sm_90", "-cubin", "-Werror", "all-warnings", "k.cu"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{name}: {done.stderr}"


def test_by_hand_is_the_layout(benchmarks):
    layouts, _ = benchmarks
    for name in layouts.LAYOUTS.values():
        layout = getattr(layouts, name)
        apply, inv = getattr(layouts, f"{name}_by_hand")
        for position in range(0, layout.size, layout.size // 97 + 1):
            index = tuple(map(int, layout.inv(position)))
            back = inv(position)
            assert (back if isinstance(back, tuple) else (back,)) == index
            assert apply(*index) == position


def test_the_report(device, benchmarks, tmp_path, monkeypatch):
    layouts, _ = benchmarks
    monkeypatch.setattr(layouts, "LAYOUTS", {"Fig. 6": "fig6", "XOR swizzle": "xor_swizzle"})
    monkeypatch.setattr(sys, "argv", ["run", str(tmp_path / "out"), "2", str(2**14)])
    import runpy

    runpy.run_path(str(GPU_BENCHMARKS / "run"), run_name="__main__")
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert list(found["timed"]) == ["Fig. 6", "XOR swizzle"] and not found["failed"]
    text = (tmp_path / "out" / "README.md").read_text()
    assert text.count("| Fig. 6 |") == 5 and "| yes |" in text
    for picture in ("index.svg", "memory.svg"):
        tree.parse(tmp_path / "out" / picture)


# -- the parts -----------------------------------------------------------------------------------


def test_quartiles():
    assert Quartiles.of([4, 1, 3, 2, 5]) == Quartiles(3, 2, 4)
    assert Quartiles.of([7.0]) == Quartiles(7.0, 7.0, 7.0)
    assert Quartiles(3, 2, 4).less(1).spread == 2
    assert Quartiles(2, 1, 4).times(-1) == Quartiles(-2, -4, -1)


def timing(ours, hand):
    costs = (IndexCost("apply", OURS, ours), IndexCost("apply", BY_HAND, hand))
    return Timing("u", "cuda", "gpu", "device", 1, 30, costs, loop_ns={"apply": 1.0})


def test_slower_means_by_more_than_the_spread():
    hand = Quartiles(1.0, 0.9, 1.1)
    assert timing(Quartiles(1.15, 1.1, 1.2), hand).not_slower("apply") is True
    assert timing(Quartiles(1.5, 1.4, 1.6), hand).not_slower("apply") is False
    assert "SLOWER" in str(timing(Quartiles(1.5, 1.4, 1.6), hand))
    assert timing(hand, hand).not_slower("inv") is None


LISTING = """
\t\tFunction : lego_one_apply_ours
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                        /* 0x00000a00ff017b82 */
                                                                                 /* 0x000fe20000000800 */
        /*0010*/               @P0 IMAD.WIDE R2, R2, 0x4, R4 ;                   /* 0x0000000402027825 */
        /*0020*/              @!PT EXIT ;                                        /* 0x000000000000794d */
        /*0030*/                   BRA 0x30;                                     /* 0xfffffffc00fc7947 */
        /*0040*/                   NOP;                                          /* 0x0000000000007918 */
\t\tFunction : other
        /*0000*/                   EXIT ;                                        /* 0x000000000000794d */
"""


def test_what_the_loop_hides_is_not_told_as_a_time():
    little, none = Quartiles(-0.024e-3, -0.03e-3, 0.01e-3), Quartiles(0.005, 0.0049, 0.0051)
    for cost in (little, none):
        found = timing(cost, Quartiles(0.2, 0.19, 0.21))
        assert found.rows()[1][2:4] == ("below what can be measured", "")
        assert found.rows()[2][2] == "0.200 ns"
        assert "below what can be measured" in repr(found) and "-0.0" not in str(found)
        assert [c["measurable"] for c in found.as_dict()["costs"]] == [False, True]


def test_instructions_are_counted():
    assert gpu_timing.count_instructions(LISTING) == {"lego_one_apply_ours": 3, "other": 1}


def test_a_function_is_spelled_as_it_stands():
    assert body(lambda i, j: (i << 3) + (j & 7) * 1 + 0, ["i", "j"], C, "int") == [
        "  [[maybe_unused]] const int t1 = i << 3;",
        "  [[maybe_unused]] const int t2 = j & 7;",
        "  [[maybe_unused]] const int t3 = t1 + t2;",
        "  return {t3};",
    ]


def test_both_ways_of_a_branch_are_spelled():
    lines = body(lambda i: i + 1 if i < 3 else i - 1, ["i"], C, "int")
    assert [line.strip() for line in lines] == [
        "if (i < 3) {",
        "[[maybe_unused]] const int t1 = i + 1;",
        "return {t1};",
        "} else {",
        "[[maybe_unused]] const int t1 = i - 1;",
        "return {t1};",
        "}",
    ]


def test_a_comparison_counts_as_a_number():
    lines = body(lambda i: i + (i >= 3), ["i"], C, "int")
    assert lines[0].endswith("t1 = i >= 3 ? 1 : 0;")


def test_the_naive_nest_is_the_layout():
    apply, inv = naive(LAYOUT)
    for position in range(0, 4096, 37):
        index = inv(position)
        assert tuple(LAYOUT.inv(position)) == index and apply(*index) == position
    assert naive(GroupBy([4]).OrderBy(GenP([4], lambda i: 3 - i)))[1] is None


# -- the command ---------------------------------------------------------------------------------


def test_command(device, tmp_path):
    (tmp_path / "layouts.py").write_text(
        "from lego_emit import OrderBy, Row\n"
        "tiled = OrderBy(Row(64, 64)).TileBy((8, 8), (8, 8))\n"
        "tiled_by_hand = (lambda i, j, k, l: i << 9 | k << 6 | j << 3 | l,\n"
        "                 lambda p: (p >> 9, p >> 3 & 7, p >> 6 & 7, p & 7))\n"
        "bad = tiled\n"
        "bad_by_hand = 3\n"
    )
    options = ["--on", device, "--repeat", "2", "--bytes", "16384"]
    done = CliRunner().invoke(main, ["bench", f"{tmp_path}/layouts.py:tiled", *options])
    assert done.exit_code == 0 and "by hand" in done.output, done.output
    done = CliRunner().invoke(main, ["bench", f"{tmp_path}/layouts.py:tiled", *options, "--json"])
    assert json.loads(done.stdout)["elements"] == 4096
    done = CliRunner().invoke(main, ["bench", f"{tmp_path}/layouts.py:bad", *options])
    assert done.exit_code == 2 and "give a pair of functions" in done.output


# -- the CPU -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["cpp", "cuda", "rust", "fortran", "julia", "javascript"])
def test_all_ways_are_timed_on_the_cpu(target, need, monkeypatch):
    toolchain = registry.toolchain(target)
    need(toolchain.program, toolchain.install)
    monkeypatch.setattr(cpu_timing, "ROUNDS", 500)
    found = generate(LAYOUT, target, name="tiled").time(
        layout=LAYOUT, by_hand=BY_HAND_PAIR, repeat=3
    )
    ways = [LOOP, OURS, BY_HAND, NAIVE, TABLE]
    assert [(c.function, c.way) for c in found.costs] == [
        (f, w) for f in ("apply", "inv") for w in ways
    ]
    assert "against by hand" in str(found)


@pytest.mark.parametrize("given", (BY_HAND_PAIR[0], (BY_HAND_PAIR[0],), 3, (None, None)))
@pytest.mark.parametrize("on", ("cpu", "gpu"))
def test_what_is_no_pair_by_hand_is_refused_with_the_way_out(given, on):
    with pytest.raises(
        VerifyError, match=r"by_hand is .*by_hand=\(apply, inv\), or \(apply, None\)"
    ):
        generate(LAYOUT, "cuda").time(on, by_hand=given)


def test_a_wrong_rival_is_refused_on_the_cpu(need):
    need("g++", "apt-get install g++")
    wrong = (lambda i, j, k, l: i << 9 | k << 6 | j << 3, BY_HAND_PAIR[1])  # noqa: E741
    with pytest.raises(ToolchainError, match="the ways give different indices"):
        generate(LAYOUT, "cpp").time(by_hand=wrong, repeat=1)


@pytest.mark.parametrize("target", ["cpp", "rust", "fortran", "julia", "javascript"])
def test_an_index_that_starts_below_zero_is_timed_on_the_cpu(target, need, monkeypatch):
    toolchain = registry.toolchain(target)
    need(toolchain.program, toolchain.install)
    monkeypatch.setattr(cpu_timing, "ROUNDS", 500)
    index_type = "int53" if target == "javascript" else "int64"
    ranges = ["-5 <= i", "i < 3", "0 <= j", "j < 8"]
    unit = generate(lambda i, j: i * 8 + j, target, name="f", assume=ranges, index_type=index_type)
    found = unit.time(by_hand=(lambda i, j: i * 8 + j, None), repeat=2)
    assert [c.way for c in found.costs] == [LOOP, OURS, BY_HAND, TABLE]


@pytest.mark.parametrize("target", ["rust", "julia", "javascript"])
def test_a_function_of_structs_is_timed_on_the_cpu(target, need, monkeypatch):
    toolchain = registry.toolchain(target)
    need(toolchain.program, toolchain.install)
    monkeypatch.setattr(cpu_timing, "ROUNDS", 500)
    unit = generate(voxel, target, ranges={f"at.{c}": (0, f"size.{c}") for c in "xyz"})
    found = unit.time(sizes={"size.x": 4, "size.y": 5, "size.z": 6}, repeat=2)
    assert [c.way for c in found.costs] == [LOOP, OURS, TABLE]


def test_what_is_not_timed_on_the_cpu(need):
    need("node", "apt-get install nodejs")
    with pytest.raises(VerifyError, match="JavaScript is not timed with int64; it is with int32"):
        generate(LAYOUT, "javascript", index_type="int64").time(repeat=1)
    fixed = generate(lambda M: GroupBy([M])[0], "javascript", name="fixed")
    with pytest.raises(VerifyError, match="fixed has no index that runs"):
        fixed.time(sizes={"M": 3}, repeat=1)


def test_glsl_is_not_timed(need):
    need("glslangValidator", "apt-get install glslang-tools")
    with pytest.raises(VerifyError, match="glsl is not timed on the CPU"):
        generate(LAYOUT, "glsl").time()


def test_what_masks_has_a_nest():
    for layout in (
        Padded([5, 7], GroupBy([5, 8]).OrderBy(RegP([5, 2, 4], [1, 0, 2]))),
        ExpandBy([3, 4], [4, 6], TileBy([2, 2], [2, 3])),
    ):
        apply, inv = naive(layout)
        assert inv is not None
        for index in product(*map(range, layout.dims)):
            assert apply(*index) == layout.apply(*index)
        for flat in range(layout.physical_size):
            assert inv(flat) == layout.inv(flat)

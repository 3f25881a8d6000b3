"""benchmarks/gpu/kernels: programs that are right in host form, rows that say what was measured, and what
may not stand in a kernel of ours."""

import dataclasses
import importlib.machinery
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
GPU = ROOT / "benchmarks" / "gpu"
EXAMPLES = ROOT / "examples" / "kernels"
RESULTS = ROOT / "benchmarks" / "results"
MODULES = (
    "driver",
    "ways",
    "measured",
    "transposition",
    "alignment",
    "factorization",
    "stencils",
    "copies",
    "gemm",
    "table_v",
    "int4",
)

# Small sizes of each part, and the options that they need.
SMALL = {
    "transposition": ("transposition", (128,), {}),
    "needleman_wunsch": ("alignment", (64, 192), {}),
    "lud": ("factorization", (128,), {}),
    "stencils": ("stencils", (40,), {}),
    "table_v": ("table_v", (64,), {}),
}


@pytest.fixture
def parts(monkeypatch):
    """The modules of benchmarks/gpu by name, and the harness of the examples."""
    for folder in (GPU, EXAMPLES):
        monkeypatch.syspath_prepend(str(folder))
    names = (*MODULES, "harness")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield {name: importlib.import_module(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def fake(need, tmp_path):
    """A driver whose kernels are host code."""
    need("g++", "apt-get install g++")
    path = tmp_path / "fake_driver.so"
    command = ["g++", "-std=c++17", "-shared", "-fPIC", ROOT / "tests" / "fake_driver.cpp"]
    subprocess.run([*command, "-o", path, "-ldl"], check=True)
    return str(path)


def machine_of(parts, fake, found, folder):
    """A GPU of host code, for these experiments."""
    kernels = {}
    for one in found:
        for source, names in one.kernels().items():
            kernels.setdefault(source, {}).update(dict.fromkeys(names))
    cubins = {}
    for source, names in kernels.items():
        place = folder / source.name
        place.mkdir()
        parts["harness"].Host(source.text(), source.path.parent, place, [*names])
        cubins[source] = place / "cubin"
        cubins[source].write_bytes(str(place / "host.so").encode() + b"\0")
    machine = parts["measured"].GpuMachine(parts["driver"].Gpu(fake, fake), cubins)
    machine.blocks = 2
    return machine


def as_host_code(experiment):
    """Without the ways in MLIR, which tests/test_mlir_gpu.py runs."""
    ways = tuple(way for way in experiment.ways if not way.name.startswith("mlir"))
    return dataclasses.replace(experiment, ways=ways)


@pytest.mark.deep
@pytest.mark.parametrize("part", SMALL)
def test_every_way_is_right_and_has_a_row(part, parts, fake, tmp_path):
    module, sizes, told = SMALL[part]
    found = [as_host_code(one) for one in parts[module].experiments(sizes, **told)]
    machine = machine_of(parts, fake, found, tmp_path)
    for one in found:
        rows = parts["measured"].rows_of(machine, one, 1e9, 2, True)
        assert [row["way"] for row in rows] == [way.name for way in one.ways]
        for row in rows:
            assert row["max_error"] <= one.allowed, row
            assert (
                row["ms"] == [0.25, 0.25]
                and row["mhz"] == [1980] * 2
                and row["watt"] == [700.0] * 2
            )
            assert row["local_bytes"] == 0 and (row["registers"] == 32) == (row["way"] != "copy")


@pytest.mark.slow
def test_copies_and_what_they_are_compared_with(parts):
    """The strides of the reference are those of the layouts that are copied."""
    for one in parts["copies"].cases(240):
        given = np.arange(np.prod(one.dims))
        wanted = np.empty_like(given)
        wanted[
            sum(i * s for i, s in zip(np.indices(one.dims), one.to, strict=True)).reshape(-1)
        ] = given
        unit = one.unit(2)
        sizes = dict(zip(unit.plan.space.sizes, one.sizes, strict=True))
        assert np.array_equal(unit.plan.run(given, sizes), wanted)
        assert parts["copies"].blocks_of(one, 2) > 1
        assert len(parts["copies"].experiment(one, 240, 2, "uint16").ways) == 2


@pytest.mark.slow
def test_products_fit_a_multiprocessor(parts):
    (first, *_) = parts["gemm"].experiments((2048,), torch=False)
    ours, older = (way.steps[0] for way in first.ways)
    assert ours.grid == (0,) and ours.block == (384,) and ours.shared == 229_376 <= 227 << 10
    assert [one.buffer for one in ours.arguments[:3]] == ["a", "b", "c"]
    assert [one.made.dims for one in ours.arguments[:3]] == [(2048, 2048)] * 3
    assert older.grid == (16, 16) and older.shared == 0


@pytest.mark.deep
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
def test_kernels_of_copies_have_the_names_that_are_launched(parts, tmp_path):
    found = list(parts["copies"].experiments((64,)))
    sources = list(dict.fromkeys(source for one in found for source in one.kernels()))
    for built in parts["ways"].build_all(sources, tmp_path, 2):
        if built.source.name != "support":
            assert built.source.kernel in built.kernels


def test_what_is_wrong_gets_no_row(parts, fake, tmp_path):
    (one, *_) = parts["transposition"].experiments((64,))
    way = dataclasses.replace(one.ways[-1], kind="")  # a copy, compared with the transpose
    one = dataclasses.replace(one, ways=(way,))
    machine = machine_of(parts, fake, [one], tmp_path)
    with pytest.raises(SystemExit, match="transposition_naive 64, copy: wrong by"):
        parts["measured"].rows_of(machine, one, 1.0, 1, True)
    short = dataclasses.replace(way, steps=(parts["ways"].Copy("b", "a", 4 * 64 * 63),), kind="a")
    one = dataclasses.replace(one, ways=(short,))
    with pytest.raises(SystemExit, match="wrong by inf"):  # the poison that was left
        parts["measured"].rows_of(machine, one, 1.0, 1, True)


def test_ours_with_local_memory_is_refused(parts, fake, tmp_path, monkeypatch):
    (one, *_) = parts["transposition"].experiments((64,))
    machine = machine_of(parts, fake, [one], tmp_path)
    monkeypatch.setenv("FAKE_LOCAL_BYTES", "8")
    with pytest.raises(parts["ways"].LocalMemoryError, match="ours: 8 bytes"):
        parts["measured"].rows_of(machine, one, 1.0, 1, True)
    with pytest.raises(parts["driver"].CudaError, match="cuMemAlloc_v2: a fake error"):
        machine.gpu.allocate(1 << 40)


def test_what_ptxas_says(parts):
    said = """\
ptxas info    : Compiling entry function 'inner' for 'sm_90'
ptxas info    : Function properties for inner
    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 48 registers, used 1 barriers, 34784 bytes smem
ptxas info    : Compiling entry function 'factor' for 'sm_90'
ptxas info    : Function properties for factor
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers
"""
    assert parts["ways"].resources(said) == {"inner": (48, 16), "factor": (128, 0)}


# -- what may not stand in a kernel --------------------------------------------------------------


def template(name):
    return (EXAMPLES / name / "kernel.cu.j2").read_text()


@pytest.mark.parametrize("name", ["transpose", "needleman_wunsch", "lud", "bricks"])
def test_shared_memory_has_no_index_by_hand(name):
    text = template(name)
    assert by_hand(text) == []
    assert by_hand("__shared__ int s[9];\ns[{{ A[i] }} + 1] = t[i]; u[s[i]] = s[{{ A[i] }}];") == [
        "s[@ + 1]",
        "s[i]",
    ]


def by_hand(text):
    """The subscripts of arrays in shared memory that no layout makes."""
    arrays = re.findall(r"__shared__ (?:__align__\(16\) )?\w+ (\w+)\[", text)
    named = re.findall(r"{% index ([\w, ]+) =", text)
    made = {"@", *(name.strip() for names in named for name in names.split(","))}
    plain = re.sub(r"{{.*?}}", "@", re.sub(r"{%.*?%}", "", text))
    plain = re.sub(r"__shared__.*", "", plain)
    found = [(one, i) for one in arrays for i in re.findall(rf"\b{one}\[([^\]]*)\]", plain)]
    return [f"{one}[{i}]" for one, i in found if i not in made]


@pytest.mark.slow
def test_the_transposition_has_no_loop_to_a_run_time_bound(parts):
    text = parts["ways"].of_example("transpose").text()
    assert "blockDim" not in text and "gridDim" not in text
    assert set(re.findall(r"for \(int k = 0; k < (\w+); \+\+k\)", text)) == {"2", "8"}
    assert text.count("for (") == 3


@pytest.mark.slow
def test_nvcc_and_mlir_compile_the_same_transposes(parts, toolchain_of, tmp_path):
    """Under the same layouts, and PTX that is there is taken as it is."""
    toolchain_of("mlir")
    (one,) = parts["table_v"].experiments((64,), ptx=tmp_path / "ptx")
    steps = {way.name: way.steps[0] for way in one.ways if way.name[:4] in ("nvcc", "mlir")}
    assert len(steps) == 8
    for kind in ("naive", "coalesced", "padded", "swizzled"):
        ours, theirs = steps[f"mlir_{kind}"], steps[f"nvcc_{kind}"]
        assert (ours.grid, ours.block, ours.kernel) == (theirs.grid, theirs.block, theirs.kernel)
        assert len(ours.arguments) == 12
        if kind != "padded":
            continue
        assert "__shared__ float tile[1055];" in theirs.source.text()
        made = ours.source.text()
        assert "[4220];" in made and made.count(".visible .entry") == 2
        (kept,) = (tmp_path / "ptx").glob(f"{ours.source.name}.ptx")
        kept.write_text("as it is")
        assert ours.source.text() == "as it is"
        kept.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("settings", [(), (384,), (512,), (384, 2)])
def test_bricks_have_no_index_of_64_bits(settings, parts):
    names = parts["stencils"].NAMES if settings else ()
    text = parts["ways"].of_example("bricks", *settings, names=names).text()
    assert not re.search(r"int64|long|size_t|\d+LL?\b", text)


@pytest.mark.slow
def test_shared_memory_has_no_index_of_64_bits(parts):
    text = parts["ways"].of_example("lud").text()
    found = re.findall(r"\b(?:lu|own|row|column)\[(.*?)\]", text)
    assert len(found) > 9 and not any("long" in index for index in found)


@pytest.mark.deep
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
@pytest.mark.parametrize("part", SMALL)
def test_cubins_have_no_local_memory(part, parts, tmp_path):
    module = parts[SMALL[part][0]]
    found = list(module.experiments(module.SIZES[:1]))
    sources = list(dict.fromkeys(source for one in found for source in one.kernels()))
    for built in parts["ways"].build_all(sources, tmp_path, 2):
        assert built.kernels and all(0 < r <= 255 for r, _ in built.kernels.values())


# -- results -------------------------------------------------------------------------------------

KEYS = "experiment size type way ms registers local_bytes mhz watt max_error device commit date"


TIMED = sorted(RESULTS.glob("*/kernels/*.json"))
MOVED = (
    "title shape bytes axis warps way kind plan price registers local_bytes blocks error wrong ns"
)
MOVEMENTS = "convert", "gather"  # whose tables say the device


@pytest.mark.parametrize("path", [p for p in TIMED if p.stem in MOVEMENTS], ids=lambda p: p.stem)
def test_results_of_movements_have_rows_of_one_form(path):
    rows = json.loads(path.read_text())
    assert rows
    for row in rows:
        assert " ".join(row) == MOVED
        assert (row["wrong"], row["error"], row["local_bytes"]) == (0, "no error", 0)
        assert len(row["ns"]) >= 5 and all(ns > 0 for samples in row["ns"] for ns in samples)


@pytest.mark.parametrize(
    "path", [p for p in TIMED if p.stem not in MOVEMENTS], ids=lambda p: p.stem
)
def test_results_have_rows_of_one_form(path):
    rows = json.loads(path.read_text())
    assert rows
    for row in rows:
        chosen = "config", "launches"  # where a way has several configurations
        assert " ".join(key for key in row if key not in chosen) == KEYS
        assert path.parent.parent.name in row["device"].lower()
        assert len(row["ms"]) >= 5 and all(ms > 0 for samples in row["ms"] for ms in samples)
        assert row["local_bytes"] == 0 or "original" in row["way"]
        assert np.isfinite(row["max_error"])


COUNTED = "experiment size type way kernel counter counted predicted device commit date"


COUNTERS = [p for p in sorted(RESULTS.glob("*/counters/*.json")) if p.stem != "movement"]


@pytest.mark.parametrize("path", COUNTERS, ids=lambda p: p.stem)
def test_counters_are_what_layouts_predict(path):
    rows = json.loads(path.read_text())
    assert {" ".join(row) for row in rows} == {COUNTED}
    said = [row for row in rows if row["predicted"] is not None]
    assert [row["counted"] for row in said] == [row["predicted"] for row in said]
    assert (len(said) > 0) == (path.stem != "stencils")


@pytest.mark.slow
def test_predictions_are_of_the_layouts_as_they_stand(parts, monkeypatch):
    import predicted

    rows = json.loads((RESULTS / "h100" / "counters" / "needleman_wunsch.json").read_text())
    (one,) = parts["alignment"].experiments((2048,), blocks=(16,))
    for way in one.ways[:4]:
        said = {r["counter"]: r["predicted"] for r in rows if r["way"] == way.name}
        found = dict(predicted.predictions("needleman_wunsch", one.size, way))
        assert found == {name: n for name, n in said.items() if n is not None}, way.name


@pytest.mark.deep
def test_predictions_of_products(parts):
    import predicted

    rows = json.loads((RESULTS / "h100" / "counters" / "gemm.json").read_text())
    said = {r["counter"]: r for r in rows if r["way"] == "ours_mma_sync"}
    (one,) = parts["gemm"].experiments((2048,), torch=False)
    found = dict(predicted.predictions("gemm", 2048, one.ways[1]))
    told = {name: r for name, r in said.items() if r["predicted"] is not None}
    assert found == {name: r["predicted"] for name, r in told.items()}
    assert found == {name: r["counted"] for name, r in told.items()}
    loads = found["shared_loads"] + found["shared_matrices"]
    assert 1 <= said["pipe_shared_loads"]["counted"] / loads < 1.0001
    counted = json.loads((RESULTS / "h100" / "counters" / "int4.json").read_text())
    for one in parts["int4"].experiments((1, 16), torch=False):
        found = dict(predicted.predictions("int4", one.size, one.ways[0]))
        same = [r for r in counted if (r["experiment"], r["size"]) == (one.name, one.size)]
        assert found == {r["counter"]: r["predicted"] for r in same if r["predicted"] is not None}
        assert found == {r["counter"]: r["counted"] for r in same if r["predicted"] is not None}
        blocks, multiplying = one.ways[0].steps[0].grid[0], one.ways[0].steps[0].block[0] // 32 - 1
        groups = 64 if one.name == "int4_28672_8192" else 14
        matrices = 8 * min(4, one.size // 4 + 2)  # no two lanes meet in a bank
        assert found["shared_matrices"] == blocks * groups * multiplying * matrices


def test_rows_of_all_processes_become_one(parts, monkeypatch):
    path = str(GPU / "kernels")
    spec = importlib.util.spec_from_loader(
        "timed", importlib.machinery.SourceFileLoader("timed", path)
    )
    timed = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec.loader.exec_module(timed)
    row = {"experiment": "lud", "size": 64, "type": "float32", "way": "ours", "ms": [2.0, 1.0]}
    row |= {
        "registers": 9,
        "local_bytes": 0,
        "mhz": [1000, 1980],
        "watt": [99.5],
        "max_error": 1e-7,
    }
    row["device"] = "NVIDIA H100 80GB HBM3"
    other = row | {"ms": [3.0], "mhz": [1980], "max_error": None}
    (made,) = timed.merged([[row], [other]], "c0ffee", "2026-11-26")
    assert " ".join(made) == KEYS
    assert made["ms"] == [[2.0, 1.0], [3.0]] and made["mhz"] == 1653 and made["max_error"] == 1e-7
    assert timed.card(made["device"]) == "h100" and timed.card("NVIDIA H200") == "h200"
    assert json.loads(timed.written([made])) == [made]
    assert "lud" in timed.table([made]) and "2.0000" in timed.table([made])

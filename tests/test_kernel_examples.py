"""examples/kernels: rendered, compiled, and compared with a reference on the host and on a GPU."""

import importlib.util
import re
import shutil
import subprocess
import sys
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from marks import rest_deep

from lego_emit import GenP, GroupBy, LegoWarning, Strided, bank_conflicts, render
from lego_emit.project.loading import subject, subjects, user_file

ROOT = Path(__file__).parent.parent
KERNELS = ROOT / "examples" / "kernels"
EXAMPLES = sorted(path.parent.name for path in KERNELS.glob("*/kernel.cu.j2"))
# No host has wgmma and TMA: tests/test_hopper.py and tests/test_int4.py emulate them.
ON_HOST = [name for name in EXAMPLES if name not in ("hopper_matmul", "int4_matmul")]


def loaded(path, monkeypatch, *folders):
    """A module of a file that no package has."""
    for folder in (path.parent, *folders):
        monkeypatch.syspath_prepend(str(folder))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def harness(monkeypatch):
    return loaded(KERNELS / "harness.py", monkeypatch)


def found(name, harness, monkeypatch, on_gpu):
    """What check.py finds, by its own way where it has one: of kernels that no host has."""
    own = loaded(KERNELS / name / "check.py", monkeypatch)
    checked = getattr(own, "checked", harness.checked)
    return [one for one, _ in checked(KERNELS / name, own.check, on_gpu)]


def test_operations_before_a_placeholder(operations, tmp_path):
    template = tmp_path / "kernel.py.j2"
    template.write_text(
        "def kernel(x, t):\n    t += 4\n    {% index p = A.inv(t) %}\n    tl.load(x + {{ A['p, :'] }})\n"
    )
    assert operations.in_template(template) == 1


@pytest.mark.deep
@pytest.mark.parametrize("name", ON_HOST)
def test_the_host_computes_what_the_reference_does(name, harness, need, monkeypatch):
    need("g++", "apt-get install g++")
    results = found(name, harness, monkeypatch, on_gpu=False)
    assert results and [one for one in results if not one.is_right] == []


# -- under other layouts -------------------------------------------------------------------------

# What lies in storage of its own: by example the layouts, and how many elements an instruction takes.
STORED = {
    "bricks": (["bricks"], 1),
    "lud": (["tile"], 1),
    "needleman_wunsch": (["buffer"], 1),
    "tensor_core_matmul": (["shared_a", "shared_b", "shared_c"], 8),
    "transpose": (["tile"], 1),
}


def padded(dims, together, random):
    """Rows with a random pitch."""
    strides = [dims[-1] + together * random.randint(1, 9), 1]
    for n in dims[-2:0:-1]:
        strides.insert(0, strides[0] * n)
    return GroupBy(dims).OrderBy(Strided(dims, strides))


def swizzled(dims, together, random):
    """Columns exchanged by row: XORed, or rotated where they are no multiple of 8."""
    *rows, columns = dims
    factor, rotated = random.randrange(1, 16), isinstance(columns, int) and columns % 8 != 0

    def place(*index):
        *row, column = index
        at = 0
        for n, i in zip(rows, row, strict=True):
            at = at * n + i
        chunks = min(8, columns // together) if isinstance(columns, int) else 8
        moved = factor * row[-1] % chunks * together
        return at * columns + ((column + moved) % columns if rotated else column ^ moved)

    return GroupBy(dims).OrderBy(GenP(dims, place))


def under_others(name, kind, seed):
    """(the text of an example under layouts of a kind in place of those of its storage, these)."""
    random, file = Random(seed), str(KERNELS / name / "layouts.py")
    with user_file(file) as defined:
        given = {one: subject(defined, one, file) for one in subjects(defined)}
        stored, together = STORED[name]
        others = {one: kind(list(given[one].dims), together, random) for one in stored}
        with warnings.catch_warnings():
            warnings.simplefilter("error", LegoWarning)
            text = render(KERNELS / name / "kernel.cu.j2", **{**given, **others})
        return str(text), others


@pytest.mark.slow
@pytest.mark.parametrize("seed", rest_deep(range(4)))
@pytest.mark.parametrize("kind", rest_deep([swizzled, padded]))
@pytest.mark.parametrize("name", rest_deep(ON_HOST, 2))
def test_storage_holds_any_layout(name, kind, seed):
    text, others = under_others(name, kind, seed)
    numbers = [x.physical_size for x in others.values() if isinstance(x.physical_size, int)]
    found = re.findall(r"__shared__ (?:__align__\(16\) )?\w+ (\w+)\[(\d+)\]", text)
    found = [int(n) for array, n in found if (name, array) != ("needleman_wunsch", "pairs")]
    assert bool(found) == bool(numbers)
    if name == "tensor_core_matmul":  # C's tile lies where A's and B's were
        a, b, c = numbers
        places = {*map(int, re.findall(r"tile_b = tile_a \+ (\d+);", text))}
        stages = {*re.findall(r"memory \+ \((\d+) \* \(\w+ % (\d+)\)\);", text)}
        ((second,), ((stage, count),)) = places, [tuple(map(int, one)) for one in stages]
        assert second >= a and stage >= second + b and second % 8 == stage % 8 == 0
        numbers = [max(count * stage, c)]
    assert all(n == numbers[0] for n in found)


@pytest.mark.deep
@pytest.mark.parametrize("kind", [padded, swizzled])
@pytest.mark.parametrize("name", ON_HOST)
def test_the_host_computes_the_same_under_other_layouts(
    name, kind, harness, need, monkeypatch, tmp_path
):
    need("g++", "apt-get install g++")
    text, _ = under_others(name, kind, 0)
    loaded(KERNELS / name / "check.py", monkeypatch)
    check = sys.modules["check"]
    if name == "bricks":  # in memory that the host fills
        layout = kind([4 * check.B] * 3, 1, Random(0))
        at = layout.apply(*np.indices(layout.dims))

        def there(cells):
            held = np.full(layout.physical_size, np.nan, cells.dtype)
            held[at] = cells
            return held

        monkeypatch.setattr(check, "in_bricks", there)
        monkeypatch.setattr(check, "from_bricks", lambda held: held[at])
    results = list(check.check(harness.Host(text, KERNELS / name, tmp_path)))
    assert results and [one for one in results if not one.is_right] == []


@pytest.mark.deep
@pytest.mark.parametrize(
    "name, first",  # Needleman-Wunsch's first step reads what its one thread has written
    [("lud", 0), ("needleman_wunsch", 1), ("transpose", 0)],
)
def test_the_host_finds_each_barrier_that_is_missing(
    name, first, harness, need, monkeypatch, tmp_path
):
    need("g++", "apt-get install g++")
    text = harness.kernel_text(KERNELS / name)
    check = loaded(KERNELS / name / "check.py", monkeypatch).check
    begins = [found.start() for found in re.finditer("__syncthreads", text)][first:]
    assert begins
    for begin in begins:
        folder = tmp_path / str(begin)
        folder.mkdir()
        without = text[:begin] + text[begin:].replace("__syncthreads()", "", 1)
        found = check(harness.Host(without, KERNELS / name, folder))
        assert not all(one.is_right for one in found), text[begin - 200 : begin + 99]


@pytest.mark.deep
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
@pytest.mark.parametrize("name", EXAMPLES)
def test_nvcc_takes_them_without_a_warning(name, harness, tmp_path):
    text = harness.kernel_text(KERNELS / name)
    arch = "sm_90" if name in ON_HOST else "sm_90a"
    assert harness.compiled(text, KERNELS / name, tmp_path, arch).stat().st_size > 1000


@pytest.mark.gpu
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_gpu_computes_what_the_reference_does(name, harness, monkeypatch):
    results = found(name, harness, monkeypatch, on_gpu=True)
    assert results and [one for one in results if not one.is_right] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_has_ten_lines_and_the_commands(name):
    text = (KERNELS / name / "README.md").read_text()
    assert len(text.splitlines()) <= 10
    (commands,) = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    render = "lego-emit render kernel.cu.j2 --layouts layouts.py -o kernel.cu"
    assert commands.splitlines() == [render, "python3 check.py"]


def test_what_differs_is_not_right(harness):
    wanted = np.arange(1.0, 5.0)
    assert harness.Found.of("k", "4", wanted, wanted).is_right
    assert not harness.Found.of("k", "4", wanted + 1e-3 * (wanted > 3), wanted, 1e-4).is_right
    assert harness.Found.of("k", "4", wanted + 1e-4 * (wanted > 3), wanted, 1e-4).is_right
    assert not harness.Found.of("k", "4", wanted * np.nan, wanted, 1e-4).is_right


def one_instruction(places, lane, register):
    return places.apply(lane, register % places.dims[1], *[0] * (len(places.dims) - 2))


def test_shared_memory_has_no_bank_conflicts():
    with user_file(str(KERNELS / "transpose" / "layouts.py")) as names:
        tile = names["tile"]
        for one, side in product(range(64), range(2)):
            for access in (
                partial(lambda k, s, lane: (k, 2 * lane + s), one, side),
                partial(lambda k, s, lane: (2 * lane + s, k), one, side),
            ):
                assert bank_conflicts(tile, access).wavefronts == 1
    with user_file(str(KERNELS / "tensor_core_matmul" / "layouts.py")) as names:
        for tile, parts in [
            ("shared_a", ("given_a", "read_a")),
            ("shared_b", ("given_b", "read_b")),
            ("shared_c", ("made_c", "taken_c")),
        ]:
            for part in parts:
                places = names[part]
                at = partial(one_instruction, places)
                cost = bank_conflicts(names[tile], at, 2, write=part[0] in "gm")
                assert cost.is_free and cost.widths == (2 * places.dims[1],), (tile, part)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tile", "stages", "group"),
    rest_deep([((64, 128, 32), 4, 1), ((32, 128, 64), 2, 3), ((64, 256, 32), 3, 8)]),
)
def test_a_tile_of_another_size_changes_layouts_alone(tile, stages, group, harness, need, tmp_path):
    need("g++", "apt-get install g++")
    folder = KERNELS / "tensor_core_matmul"
    text = (folder / "layouts.py").read_text()
    for before, after in [
        ("BM, BN, BK = 128, 128, 32", f"BM, BN, BK = {', '.join(map(str, tile))}"),
        ("STAGES, GROUP = 3, 8", f"STAGES, GROUP = {stages}, {group}"),
    ]:
        assert before in text
        text = text.replace(before, after)
    (tmp_path / "layouts.py").write_text(text)
    with user_file(str(file := tmp_path / "layouts.py")) as defined:
        given = {one: subject(defined, one, str(file)) for one in subjects(defined)}
        made = str(render(folder / "kernel.cu.j2", **given))
    M, N, K = 2 * tile[0], 3 * tile[1], 3 * tile[2]
    random = np.random.default_rng(3)
    a, b = (random.standard_normal((n, K)).astype(np.float16) for n in (M, N))
    c = np.full((M, N), np.nan, np.float16)
    host = harness.Host(made, folder, tmp_path)
    host.launch("matmul", (3, 2), (128,), a, b, c, np.int32(M), np.int32(N), np.int32(K))
    wanted = a.astype(np.float64) @ b.astype(np.float64).T
    eps = float(np.finfo(np.float16).eps)
    assert harness.Found.of("matmul", "", c, wanted, eps).is_right


# -- what a user writes --------------------------------------------------------------------------


@pytest.fixture
def operations(monkeypatch):
    return loaded(ROOT / "benchmarks" / "operations.py", monkeypatch)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("M // 32 * 2 - -1", 3),
        ("def f(i):\n    i += 1\n    return -i ^ ~i", 4),
        ("a < b and x == y", 0),
    ],
)
def test_operations_of_layouts(text, count, operations):
    assert operations.in_layouts(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("sum += a[i] * b[4 * k + j] - c;", 2),
        ("float x = y * z + 1;", 0),
        ("const int i = blockIdx.x * 32 + threadIdx.x;", 2),
        ("const float* row = a + N * p;", 2),
        ("void f(const float* a, int N) { g(a + N * p, x * y); }", 2),
        ("for (int i = -R; i < 4 * n; i += step) ++x;", 3),
        ("// a[i * 2]\nint x = 3;", 0),
        ("s[33 * i ^ j] = t[p >> 3 & 7];", 4),
    ],
)
def test_operations_of_cuda_c(text, count, operations):
    assert operations.in_kernel(text, "kernel.cu") == count


def test_operations_of_python(operations):
    text = """
def kernel(x, n):
    at = tl.program_id(0) * 128 + tl.arange(0, 128)
    value = tl.load(x + at, mask=at < n - 1) * 2.0 + 1.0
    tl.store(x + at, value - 3)
"""
    assert operations.in_kernel(text, "kernel.py.j2") == 3, (
        "of addresses x + at the sums do not count"
    )


def test_operations_of_a_template(operations, tmp_path):
    template = tmp_path / "kernel.cu.j2"
    template.write_text('{% names i %}\nint j = i + 1;\na[{{ A[i + 1, "threadIdx.x % 2"] }} + j]')
    assert operations.in_template(template) == 4


@pytest.mark.slow
def test_the_table_of_operations():
    program = [sys.executable, "benchmarks/kernels", "--operations", "transpose"]
    run = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line for line in run.stdout.splitlines() if line.startswith("| transpose ")]
    assert [cell.strip() for cell in rows[0].split("|")][2:6] == ["4", "4", "8", "68"]

"""The example that multiplies by weights of 4 bits: packing, fragments, and the product, against an emulation
from the PTX ISA."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from marks import rest_deep

from lego_emit import Packed, Row, bank_conflicts, render
from lego_emit.errors import TemplateError

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "kernels" / "int4_matmul"
SIZES = (448, 256)  # N and K


@pytest.fixture
def example(monkeypatch):
    """check.py of the example."""
    for folder in (EXAMPLE, EXAMPLE.parent, ROOT / "benchmarks" / "gpu"):
        monkeypatch.syspath_prepend(str(folder))
    names = ("check", "emulated", "harness", "int4", "ways")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("check")
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("case", rest_deep(range(3)))
def test_the_layouts_multiply(case, example):
    (found,) = example.check([*example.CASES][case])
    assert found.is_right


def test_every_weight_has_one_place(example):
    made = example.given((1, *SIZES), (8, 224), 1, 3)
    assert made["packed"].is_bijection
    q, g, p, h, lane, x, place = np.indices([*made["words"].dims, 8]).reshape(7, -1)
    i, j = made["packed"].apply(place, lane, x, h)
    at = made["plain"].apply(q, g, p, 0, i, j)
    word, shift = made["fields"].position(q, g, p, h, lane, x, place)
    for places in (at, 8 * word + shift // 4):
        assert np.array_equal(np.sort(places), np.arange(SIZES[0] * SIZES[1]))
    assert np.array_equal(made["words"].apply(q, g, p, h, lane, x), word)
    assert np.array_equal(made["vectors"].apply(q, g, p, h, lane), word // 4)


@pytest.mark.parametrize("rows", [8, 16, 40, 256])
def test_every_sum_and_every_piece_has_one_holder(rows, example):
    made = example.given((2, 512, 256), (rows, 256), 2, 2)
    for name in ("piece", "sums", "held", "shared_w", "shared_s", "scales"):
        layout = made[name]
        places = layout.apply(*np.indices(layout.dims).reshape(len(layout.dims), -1))
        assert np.array_equal(np.sort(places), np.arange(layout.size)), name
    register, lane = np.indices((4, 32)).reshape(2, -1)
    i, j = made["stored"].apply(register, lane)
    assert len({*zip(i, j, strict=True)}) == 128


def test_other_packing_is_another_product(example):
    sizes, setting = next(iter(example.CASES.items()))
    made = example.given((1, *sizes[1:]), *setting)
    x, weights, scales = example.matrices(sizes)
    words, packed_scales = example.pack(made, weights, scales)
    swapped = words[:, ::-1], packed_scales
    got = example.emulate(made, sizes, swapped, x)
    assert np.abs(got - example.product(x, weights, scales)).max() > 1


@pytest.mark.slow
def test_a_tile_size_changes_layouts_alone(example):
    texts = [
        render(EXAMPLE / "kernel.cu.j2", "cuda", arch="sm_90a", **example.given("P N K", *setting))
        for setting in [((8, 224), 1, 11), ((40, 256), 2, 2)]
    ]
    assert "m16n8k16" in texts[0] and "wgmma" not in texts[0]
    assert "m64n40k16" in texts[1] and "ldmatrix" not in texts[1]


@pytest.mark.parametrize("setting", [((16, 224), 3, 4), ((64, 224), 1, 4), ((16, 100), 1, 4)])
def test_a_tile_that_its_warps_do_not_divide_is_refused(setting, example):
    with pytest.raises(TemplateError, match="the sizes do not multiply out"):
        render("{{ plain.size }}", "cuda", **example.given("P N K", *setting))


@pytest.mark.slow
@pytest.mark.parametrize("setting", [((64, 256), 1, 6), ((136, 128), 1, 5)])
def test_a_block_has_the_registers_that_its_warps_ask_for(setting, example):
    given = example.given("P N K", *setting)
    text = render(EXAMPLE / "kernel.cu.j2", "cuda", arch="sm_90a", **given)
    less, more = (int(re.search(rf"setmaxnreg.{way}\S+ (\d+)", text)[1]) for way in ("dec", "inc"))
    threads = int(re.search(r"__launch_bounds__\((\d+), 1\)", text)[1])
    there = 65536 // threads // 8 * 8 * threads
    assert 128 * less + (threads - 128) * more <= there


@pytest.mark.deep
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
@pytest.mark.parametrize(("stages", "is_taken"), [(11, True), (40, False)])
def test_stages_beyond_a_block_s_shared_memory_are_refused(stages, is_taken, example, tmp_path):
    given = example.given("P N K", (8, 224), 1, stages)
    text = render(EXAMPLE / "kernel.cu.j2", "cuda", arch="sm_90a", **given)
    (tmp_path / "kernel.cu").write_text(text)
    command = ["nvcc", "-arch=sm_90a", "-cubin", "kernel.cu", "-o", "kernel.cubin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode == 0) == is_taken
    assert ("need more shared memory than a block has" in done.stderr) != is_taken


@pytest.mark.deep
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
def test_kernels_neither_spill_nor_wait_for_each_other(example, tmp_path):
    int4, ways = (importlib.import_module(name) for name in ("int4", "ways"))
    cases = {int4.setting(m, n) for (n, _), rows in int4.SHAPES.items() for m in rows}
    sources = [int4.source(name, one) for one in cases for name in ("kernel", "pack")]
    for built in ways.build_all(sources, tmp_path, 2):
        assert not any(local for _, local in built.kernels.values())


def test_a_warp_reads_its_weights_without_conflicts(example):
    tile = Packed(Row(16, 2, 32, 32), 4)  # pieces, halves, lanes, weights of a vector
    found = bank_conflicts(tile, lambda lane, register: (5, 1, lane, register))
    assert found.is_free and found.widths == (16,)
    shared = example.given((1, *SIZES), (8, 224), 1, 3)["shared_w"]
    words = bank_conflicts(shared, lambda lane: (1, 5, 1, lane), 16)
    assert words.wavefronts == found.wavefronts == 4

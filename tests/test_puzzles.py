"""examples/puzzles: eight kernels on one file of layouts, right in five ways; each way in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from marks import rest_deep

FOLDER = Path(__file__).parents[1] / "examples" / "puzzles"
NAMES = "map_2d broadcast blocks_2d shared_tile pooling convolution axis_sum matmul".split()
TARGETS = {"cuda": "cpp", "opencl": "opencl", "wgsl": "wgsl", "triton": "triton"}


def solved(folder, way):
    """What check.py of a folder says."""
    command = [sys.executable, "-B", "check.py", way]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"{name} right" for name in NAMES], (
        done.stdout + done.stderr
    )


@pytest.fixture
def has(toolchain_of):
    def check(way):
        if way == "numba":
            pytest.importorskip("numba")
        else:
            toolchain_of(TARGETS[way])

    return check


@pytest.mark.slow
@pytest.mark.parametrize("way", rest_deep(["opencl", "numba", "cuda", "wgsl", "triton"], 2))
def test_the_puzzles_are_right(way, has):
    has(way)
    solved(FOLDER, way)


# Other layouts of what a puzzle itself fills and reads.
OTHERS = {
    'square = cute.Swizzled(cute.Swizzle(3, 0, 3), cute.layout("(8,8):(8,1)"))': "square = Col(T, T)",
    "Row(N // T, T)  # a vector": "TileBy([N // T], [T]).OrderBy(Row(N))",
}


@pytest.mark.deep
@pytest.mark.parametrize("way", ["cuda", "numba"])
def test_another_layout_changes_no_kernel(way, has, tmp_path):
    has(way)
    folder = tmp_path / "examples" / "puzzles"
    folder.mkdir(parents=True)
    (folder.parent / "kernels").symlink_to(FOLDER.parent / "kernels")
    for path in FOLDER.iterdir():
        if path.is_file():
            (folder / path.name).write_text(path.read_text())
    text = (FOLDER / "layouts.py").read_text()
    for old, new in OTHERS.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "layouts.py").write_text(text)
    solved(folder, way)


def test_all_have_the_same_kernels():
    for suffix, mark in (("cu", "__global__ void"), ("cl", "kernel void"), ("wgsl", "fn")):
        found = re.findall(rf"^{mark} (\w+)\(", (FOLDER / f"kernels.{suffix}.j2").read_text(), re.M)
        assert found == NAMES
    for way in ("numba", "triton"):
        text = (FOLDER / f"{way}_kernels.py").read_text()
        assert re.findall(r"^def (\w+)\(", text, re.M) == NAMES
        assert text.count("@lego_emit.jit\n") == len(NAMES)

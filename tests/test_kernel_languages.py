"""Kernel languages of other packages: what their attributes may be, and one beside a broken one."""

import os
import subprocess
import sys

import pytest

from lego_emit.emit.kernel_language import KernelLanguage
from lego_emit.emit.language_check import check_language
from lego_emit.errors import TargetError

GRID = '''
"""A kernel runs once for each program, on NumPy's arrays."""


class Kernel:
    def __init__(self, function):
        self.function = function

    def launch(self, programs, *given):
        global _program
        for _program in range(programs):
            self.function(*given)


def program_id():
    return _program
'''

LANGUAGE = """
import grid

from lego_emit.emit.kernel_language import KernelLanguage


class GridKernels(KernelLanguage):
    name, target, package = "grid", "numpy", "grid"
    natural = programs = pure = ("program_id",)

    def unwrap(self, given):
        return (given.function, grid.Kernel) if isinstance(given, grid.Kernel) else None

    def asking(self, kernel, ask):
        launch = kernel.launch

        def asked(programs, *given):
            ask(given, {}, 2)
            return launch(programs, *given)

        kernel.launch = asked
        return kernel
"""

# No np: the kernel's file names NumPy in its own way. A plain function is not launched.
KERNEL = """
import numpy

import grid
import lego_emit
from lego_emit import Col, Row


@lego_emit.jit
@grid.Kernel
def by_columns(x, y, M, N):
    p = grid.program_id()
    y[Col(M, N)[p, :]] = x[Row(M, N)[p, :]]


@lego_emit.jit(target="grid")
def place(i, j, N):
    return Row(4, N)[i, j]


y = numpy.zeros(12, int)
by_columns.launch(3, numpy.arange(12), y, 3, 4)
print(y.tolist() == numpy.arange(12).reshape(3, 4).ravel("F").tolist(), place(1, 2, 6))
"""


@pytest.mark.slow
def test_a_language_beside_a_broken_one(tmp_path):
    for name, text in (
        ("grid.py", GRID),
        ("lego_grid.py", LANGUAGE),
        ("kernel.py", KERNEL),
        (
            "lego_grid-1.0.dist-info/entry_points.txt",
            "[lego_emit.kernels]\ngrid = lego_grid:GridKernels",
        ),
        (
            "broken-1.0.dist-info/entry_points.txt",
            "[lego_emit.kernels]\na = not_there:AKernels",
        ),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, tmp_path / "kernel.py"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == "True 8\n", done.stderr


WRONG = {
    "name": ({"name": "grids"}, "name is 'grids', and its package's entry point 'grid'"),
    "a text": ({"natural": "program_id"}, "natural is 'program_id'; give a tuple of texts"),
    "no dict": ({"aliases": ("np",)}, r"aliases is \('np',\); give a dict"),
    "no text": ({"package": ("grid",)}, "package is .*; give a text"),
    "no method": ({"is_constant": True}, "is_constant is True; write a method"),
    "programs": ({"programs": ("bid",)}, "programs has 'bid', and natural has not"),
    "multiple": ({"multiple": "{nam} % {number}"}, "multiple is .*'nam'"),
    "narrow": ({"narrow": 5, "wide": "int64({})"}, r"narrow is 5; give .* as \(0, 127\)"),
    "wide": ({"narrow": (0, 127)}, "wide is ''; narrow needs a conversion"),
}  # fmt: skip


@pytest.mark.parametrize("attributes, words", WRONG.values(), ids=WRONG)
def test_what_no_attribute_can_be(attributes, words):
    own = {"name": "grid", "target": "numpy"}
    check_language(type("GridKernels", (KernelLanguage,), own)(), "grid")
    with pytest.raises(TargetError, match=f"GridKernels: {words}"):
        check_language(type("GridKernels", (KernelLanguage,), own | attributes)(), "grid")

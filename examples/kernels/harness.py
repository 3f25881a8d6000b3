"""Renders an example's kernel, runs it as host C++ or on a GPU, and compares it with a reference."""

from __future__ import annotations

import argparse
import ctypes
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from lego_emit.cli import main as lego_emit
from lego_emit.errors import LegoError
from lego_emit.targets import gpu

HERE = Path(__file__).parent
HOST_FLAGS = ["-std=c++20", "-O1", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Wconversion"]
HOST_FLAGS += ["-Wno-unknown-pragmas", "-Wno-unused-parameter", "-Werror"]
HOST_FLAGS += ["-fno-gnu-unique"]  # what is static in an inline function is each library's own
KERNEL = r"__global__ void\s+(?:__launch_bounds__\(\w+\)\s+)?(\w+)\("
NVCC_FLAGS = ["-std=c++17", "-O3", "-Werror", "all-warnings"]

Sizes = tuple[int, ...]
Check = Callable[[Any], Iterator["Found"]]  # of a machine


@dataclass(frozen=True)
class Found:
    """What a kernel computed, in comparison with the reference: the largest error, and the largest
    that its type allows; both relative to the largest value wanted."""

    kernel: str
    sizes: str
    error: float
    allowed: float

    @classmethod
    def of(cls, kernel: str, sizes: str, got: Any, wanted: Any, allowed: float = 0.0) -> Found:
        """Of arrays, compared in float64."""
        got, wanted = (np.asarray(x, np.float64) for x in (got, wanted))
        far = np.abs(got - wanted).max() / np.abs(wanted).max()
        return cls(kernel, sizes, float(far), allowed)

    @property
    def is_right(self) -> bool:
        """A NaN is not."""
        return self.error <= self.allowed


@cache
def kernel_text(folder: Path, template: str = "kernel.cu.j2", *options: str) -> str:
    """A folder's template with the layouts of its layouts.py, as the README's command makes it."""
    given = [folder / template, "--layouts", folder / "layouts.py"]
    with redirect_stdout(StringIO()) as made:
        lego_emit(["render", *map(str, given), *options], standalone_mode=False)
    return made.getvalue()


class Host:
    """The kernels of a text, compiled by g++. launch() works on NumPy's arrays in place."""

    title, is_gpu = "the host", False

    def __init__(self, text: str, example: Path, folder: Path, names: Sequence[str] = ()):
        """names: of the kernels, which a macro may make; all that the text has are found."""
        names = names or re.findall(KERNEL, text)
        lines = ['#include "host.hpp"', text, *(f"HOST_KERNEL({name})" for name in names)]
        (folder / "host.cpp").write_text("\n".join(lines) + "\n")
        command = ["g++", *HOST_FLAGS, "-shared", "-fPIC"]
        command += [f"-I{HERE}", f"-I{example / 'host'}", "host.cpp", "-o", "host.so"]
        subprocess.run(command, cwd=folder, check=True)
        self._library = ctypes.CDLL(str(folder / "host.so"))

    def launch(self, name: str, grid: Sizes, block: Sizes, *arguments: Any) -> None:
        """Arrays, and NumPy's numbers."""
        held = [np.asarray(a) for a in arguments]
        passed = [
            ctypes.c_void_p(a.ctypes.data) if a.ndim else a.ctypes.data_as(ctypes.c_void_p)
            for a in held
        ]
        places = [
            ctypes.cast(ctypes.pointer(p), ctypes.c_void_p) if a.ndim else p
            for a, p in zip(held, passed, strict=True)
        ]
        three = [(ctypes.c_uint * 3)(*sizes, *[1] * (3 - len(sizes))) for sizes in (grid, block)]
        self._library[f"host_{name}"](*three, (ctypes.c_void_p * len(places))(*places))


class Gpu:
    """The kernels of a text, compiled by nvcc and launched by PyCUDA."""

    is_gpu = True

    def __init__(self, text: str, example: Path, folder: Path):
        self._device = gpu.device("gpu")
        self.title = self._device.name
        path = compiled(text, example, folder, self._device.arch)
        with self._device.active():
            self._module = self._device.driver.module_from_file(str(path))

    def launch(self, name: str, grid: Sizes, block: Sizes, *arguments: Any) -> None:
        """Arrays, which are copied there and back, and NumPy's numbers."""
        with self._device.active():
            given = [self._device.driver.InOut(a) if a.ndim else a for a in arguments]
            block = (*block, *[1] * (3 - len(block)))
            self._module.get_function(name)(*given, grid=grid, block=block)


Machine = Host | Gpu


def compiled(text: str, example: Path, folder: Path, arch: str = "sm_90") -> Path:
    """A .cubin in folder, without a warning."""
    (folder / "kernel.cu").write_text(text)
    command = ["nvcc", *NVCC_FLAGS, f"-arch={arch}", f"-I{example}", "-cubin", "kernel.cu"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "kernel.cubin"


def checked(folder: Path, check: Check, on_gpu: bool) -> Iterator[tuple[Found, str]]:
    """What an example's check finds, and the device."""
    with tempfile.TemporaryDirectory() as name:
        machine = (Gpu if on_gpu else Host)(kernel_text(folder), folder, Path(name))
        for found in check(machine):
            yield found, machine.title


def row(*cells: Any) -> str:
    """A line of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def main(check: Check, file: str, checked: Callable[..., Any] = checked) -> None:
    """An example's check.py: a row for each kernel; exits with 1 where one is wrong.

    usage: check.py [--gpu]
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", action="store_true", help="on a GPU, not on the host")
    on_gpu, wrong = parser.parse_args().gpu, False
    try:
        for found, device in checked(Path(file).resolve().parent, check, on_gpu):
            sound = "" if found.is_right else f" (allowed: {found.allowed:.1e})"
            print(row(found.kernel, found.sizes, f"{found.error:.1e}{sound}", device), flush=True)
            wrong |= not found.is_right
    except LegoError as error:
        sys.exit(str(error))
    if wrong:
        sys.exit(1)

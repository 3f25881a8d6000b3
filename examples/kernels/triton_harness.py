"""Renders an example's Triton kernels, runs them in Triton's interpreter or with PyTorch on a GPU, and
compares what they compute with a reference."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from lego_emit.cli import main as lego_emit


@dataclass(frozen=True)
class Found:
    """What a kernel computed: its largest error beside the one that its type allows, both relative to
    the largest value wanted."""

    kernel: str
    sizes: str
    error: float
    allowed: float

    @classmethod
    def of(cls, kernel: str, sizes: str, got: Any, wanted: Any, allowed: float) -> Found:
        """Of arrays, compared in float64."""
        got, wanted = (np.asarray(x, np.float64) for x in (got, wanted))
        far = np.abs(got - wanted).max() / np.abs(wanted).max()
        return cls(kernel, sizes, float(far), allowed)

    @property
    def is_right(self) -> bool:
        """A NaN is not."""
        return self.error <= self.allowed


class Machine:
    """An example's kernels, where they run."""

    def __init__(self, module: ModuleType, on_gpu: bool):
        self._module, self.is_gpu, self.title = module, on_gpu, "Triton's interpreter"
        if on_gpu:
            import torch

            self._torch, self.title = torch, torch.cuda.get_device_name()

    def tensor(self, array: np.ndarray) -> Any:
        """An array where kernels can reach it."""
        from lego_emit.targets.triton import Tensor

        return self._torch.from_numpy(array).cuda() if self.is_gpu else Tensor(array)

    def array(self, tensor: Any) -> np.ndarray:
        """Back."""
        return tensor.cpu().numpy() if self.is_gpu else tensor.array

    def launch(self, name: str, grid: tuple[int, ...], *arguments: Any, **constants: Any) -> None:
        """A kernel with tensors and numbers."""
        getattr(self._module, name)[grid](*arguments, **constants)


def kernel_text(folder: Path) -> str:
    """kernel.py.j2 with the layouts of layouts.py, as the README's command makes it."""
    given = [folder / "kernel.py.j2", "--layouts", folder / "layouts.py"]
    options = ["-t", "triton", "--index-type", "int32"]
    with redirect_stdout(StringIO()) as made:
        lego_emit(["render", *map(str, given), *options], standalone_mode=False)
    return made.getvalue()


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(check: Callable[[Machine], Iterator[Found]], file: str) -> None:
    """An example's check.py: a row for each kernel; exits with 1 where one is wrong.

    usage: check.py [--gpu]
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", action="store_true", help="on a GPU, with PyTorch")
    on_gpu = parser.parse_args().gpu
    if not on_gpu:
        os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
    wrong = False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(kernel_text(Path(file).resolve().parent))
        machine = Machine(_loaded(path), on_gpu)
        for found in check(machine):
            sound = "" if found.is_right else f" (allowed: {found.allowed:.1e})"
            cells = found.kernel, found.sizes, f"{found.error:.1e}{sound}", machine.title
            print(f"| {' | '.join(cells)} |", flush=True)
            wrong |= not found.is_right
    if wrong:
        sys.exit(1)

"""harness.py for Triton's kernels: in its interpreter, or with PyTorch on a GPU."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import harness
import numpy as np
from harness import Check, Found


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


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checked(folder: Path, check: Check, on_gpu: bool) -> Iterator[tuple[Found, str]]:
    """What an example's check finds, and the device."""
    if not on_gpu:
        os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
    machine = Machine(_loaded(folder / "kernel.py"), on_gpu)
    for found in check(machine):
        yield found, machine.title


main = partial(harness.main, checked=checked)

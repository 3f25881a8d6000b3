"""harness.py for MLIR's kernels: as SPIR-V on Vulkan, where Mesa's software driver will do, or as PTX on a GPU."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import harness
import numpy as np
from harness import Check, Found, Sizes, kernel_text

from lego_emit.targets import gpu, mlir
from lego_emit.targets.shaders import Vulkan, opened


class Shaders:
    """The kernels of a text on the first device of Vulkan. A kernel's own text says its block's size."""

    is_gpu = False

    def __init__(self, text: str, folder: Path):
        self._path = folder / "kernel.spv"
        self._path.write_bytes(mlir.spirv(text))
        self._devices: dict[str, Vulkan] = {}

    @property
    def title(self) -> str:
        """The device."""
        return next(iter(self._devices.values())).name

    def launch(self, name: str, grid: Sizes, block: Sizes, *arguments: Any) -> None:
        """Arrays, which are copied there and back, and numbers."""
        if name not in self._devices:
            driver = "apt-get install mesa-vulkan-drivers"
            make = partial(Vulkan, "mlir", name, Path.read_bytes)
            device = opened("mlir", "wgpu", driver, make)
            assert isinstance(device, Vulkan)
            self._devices[name] = device
        device = self._devices[name]
        held = [a if isinstance(a, np.ndarray) else np.int32(a) for a in arguments]
        pipeline = device.pipeline(self._path)
        after = device.launched(pipeline, [a.tobytes() for a in held], grid)
        for array, made in zip(held, after, strict=True):
            if isinstance(array, np.ndarray):
                array[...] = np.frombuffer(made, array.dtype).reshape(array.shape)


class Gpu(harness.Gpu):
    """The kernels of a text as PTX, launched by PyCUDA. An array is five parameters, as a memref is."""

    def __init__(self, text: str, folder: Path):
        self._device = gpu.device("gpu")
        self.title = self._device.name
        (folder / "kernel.ptx").write_text(mlir.ptx(text, self._device.arch))
        with self._device.active():
            self._module = self._device.driver.module_from_file(str(folder / "kernel.ptx"))

    def launch(self, name: str, grid: Sizes, block: Sizes, *arguments: Any) -> None:
        """Arrays, which are copied there and back, and numbers, each an index."""
        with self._device.active():
            memory = {
                id(a): self._device.driver.to_device(a)
                for a in arguments
                if isinstance(a, np.ndarray)
            }
            given: list[Any] = []
            for a in arguments:
                if isinstance(a, np.ndarray):
                    given += [memory[id(a)]] * 2
                    given += map(np.int64, (0, a.size, 1))
                else:
                    given.append(np.int64(a))
            block = (*block, *[1] * (3 - len(block)))
            self._module.get_function(name)(*given, grid=grid, block=block)
            for a in arguments:
                if isinstance(a, np.ndarray):
                    self._device.driver.memcpy_dtoh(a, memory[id(a)])


Machine = Shaders | Gpu


def text_of(folder: Path) -> str:
    """A folder's template with the layouts of its layouts.py, as the README's command makes it."""
    return kernel_text(folder, "kernel.mlir.j2", "-t", "mlir")


def checked(folder: Path, check: Check, on_gpu: bool) -> Iterator[tuple[Found, str]]:
    """What an example's check finds, and the device."""
    with tempfile.TemporaryDirectory() as name:
        machine = (Gpu if on_gpu else Shaders)(text_of(folder), Path(name))
        for found in check(machine):
            yield found, machine.title


main = partial(harness.main, checked=checked)

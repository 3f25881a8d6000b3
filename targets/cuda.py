"""CUDA C: on the host through g++ and cffi, for the device through nvcc, on it through PyCUDA."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from lego_emit.emit.printer import Printer
from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Function
from lego_emit.run.target import Compiled, call_arguments, check_given, grouped, outputs_of
from lego_emit.targets.cpp import braced, called
from lego_emit.targets.cpp_host import HostTarget, element

if TYPE_CHECKING:
    from lego_emit.run.devices import Checker, Rivals, Timer
    from lego_emit.run.space import Space

NVCC_FLAGS = ("-std=c++17", "-Werror", "all-warnings")


def kernel(number: str, function: Function, printer: Printer, scope: str) -> str:
    """A __global__ function that calls one emitted function; scope: what stands before its name."""
    type_name = printer.types[function.index_type]
    inputs = [f"const {type_name} *in{k}" for k in range(len(function.passed))]
    outputs = [f"{type_name} *out{k}" for k in range(len(function.outputs))]
    values = [f"in{k}[i]" for k in range(len(function.passed))]
    stores = (f"out{k}[i] = {text};" for k, text in enumerate(outputs_of(function, "r")))
    body = " ".join([f"const auto r = {called(function, printer, values, scope)};", *stores])
    return (
        f'extern "C" __global__ void lego_kernel_{number}({", ".join([*inputs, *outputs])}) {{\n'
        f"  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n  {body}\n}}\n"
    )


def fill_kernel(number: str, function: Function, printer: Printer, scope: str) -> str:
    """A __global__ function in which a block fills an array by the array form of a function."""
    type_name = printer.types[function.index_type]
    scalars = range(len(function.passed) - len(function.axes))
    own = (f"static_cast<{type_name}>({x})" for x in ("threadIdx.x", "blockDim.x"))
    given = call_arguments(function, [f"s{k}" for k in scalars], braced)
    arguments = [*given, "out", *own]
    parameters = [f"{type_name} s{k}" for k in scalars]
    parameters.append(f"{element(printer, function, scope)} *out")
    return (
        f'extern "C" __global__ void lego_fill_{number}({", ".join(parameters)}) {{\n'
        f"  {scope}{printer.array_name(function.name)}({', '.join(arguments)});\n}}\n"
    )


def kernel_sources(units: Sequence[Unit], folder: Path, extension: str) -> list[Path]:
    """Write files of kernels that call every function and array form of the units, one for each set
    of units that share no name."""
    sources = []
    for unit in units:
        check_given(unit)
    for g, group in enumerate(grouped(units)):
        text = ""
        for u in group:
            printer = units[u].printer
            scope = f"::{printer.namespace}::" if printer.namespace else "::"
            header = f"unit_{u}{units[u].printer.extension}"
            (folder / header).write_text(units[u].source)
            text += f'#include "{header}"\n\n'
            for p, f in enumerate(units[u].program.functions):
                text += kernel(f"{u}_{p}", f, printer, scope)
                if f.axes:
                    text += fill_kernel(f"{u}_{p}", f, printer, scope)
        sources.append(folder / f"units_{g}.{extension}")
        sources[-1].write_text(text)
    return sources


class CudaTarget(HostTarget):
    """CUDA C: on the host through g++, on a GPU through PyCUDA."""

    name = "cuda"

    def copy_library(self, unit: Unit, folder: Path, flags: Sequence[str]) -> tuple[Path, str]:
        """The library of a copy, whose kernel the host runs, and its functions' declarations."""
        from lego_emit.targets.copies import DECLARATIONS
        from lego_emit.targets.copy_devices import build

        return build(self, unit, folder, [*HostTarget.flags, *flags]), DECLARATIONS

    # The GPU's side is imported when it is asked for: the host never needs it.

    def compile_for(self, device: str, units: Sequence[Unit]) -> list[Compiled]:
        """On "cpu" as everywhere, on "gpu" (or "gpu:1") through PyCUDA. Raises DeviceError where
        there is no GPU or something that it needs."""
        if device == "cpu":
            return self.compile(units)
        from lego_emit.targets.gpu import compile_units

        return compile_units(device, units)

    def checker(self, unit: Unit, device: str, spaces: Mapping[str, Space]) -> Checker:
        """What checks the unit by kernels on the device."""
        from lego_emit.targets.gpu_verify import GpuChecker

        return GpuChecker(unit, device, spaces)

    def timer(self, unit: Unit, device: str, rivals: Rivals) -> Timer:
        """On the CPU a C++ program, on a GPU kernels."""
        if device == "cpu":
            from lego_emit.targets.cpu_timing import CpuTimer
            from lego_emit.targets.timing_cpp import CppProgram

            return CpuTimer(self, unit, rivals, CppProgram(called))
        from lego_emit.targets.gpu_timing import GpuTimer

        return GpuTimer(unit, device, rivals)

    def stopwatch(
        self, text: str, names: Sequence[str], device: str
    ) -> Callable[[str, int], float]:
        """Kernels over the whole GPU, between two events."""
        from lego_emit.targets.gpu_timing import stopwatch

        return stopwatch(text, names, device)

    def devices(self) -> list[tuple[str, str]]:
        """The GPUs, or what is missing."""
        from lego_emit.targets.gpu import all_devices

        return all_devices()

    def cubin(self, units: Sequence[Unit], folder: Path, arch: str = "sm_90") -> list[Path]:
        """Compile every function of the units for a device; one .cubin in folder for each set of
        units that share no name. Raises ToolchainError where nvcc is missing or refuses the
        text."""
        nvcc = which("nvcc")
        if nvcc is None:
            raise ToolchainError(
                "target 'cuda': device code needs nvcc, which is not on PATH; install the CUDA "
                "toolkit, on Debian: apt-get install nvidia-cuda-toolkit (non-free)"
            )
        sources = [path.name for path in kernel_sources(units, folder, "cu")]
        self.execute([nvcc, f"-arch={arch}", "-cubin", *NVCC_FLAGS, *sources], cwd=folder)
        return [folder / f"{Path(source).stem}.cubin" for source in sources]

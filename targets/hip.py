"""HIP through clang: run as host code, and compiled for AMD's devices. No ROCm is needed."""

from collections.abc import Sequence
from pathlib import Path

from lego_emit.emit.unit import Unit
from lego_emit.targets.cpp_host import HostTarget
from lego_emit.targets.cuda import CudaTarget, kernel_sources

# What hipcc defines before it reads a file, and where a kernel stands in its grid.
RUNTIME = """#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#ifdef __HIP_DEVICE_COMPILE__
struct lego_place { unsigned x; };
#define threadIdx lego_place{__builtin_amdgcn_workitem_id_x()}
#define blockIdx lego_place{__builtin_amdgcn_workgroup_id_x()}
#define blockDim lego_place{64}
#endif
"""
HIP = ("-x", "hip", "-nogpuinc", "-nogpulib", "-include", "runtime.h")


class HipTarget(HostTarget):
    """HIP: the host's half as a shared library, by clang; device code is compiled, and not run."""

    name = "hip"
    program = "clang++"
    install = "apt-get install clang"
    flags = (*HIP, "--cuda-host-only", *HostTarget.flags)

    copy_library = CudaTarget.copy_library

    def link(self, units: Sequence[Unit], folder: Path, library: Path) -> None:
        """As C++, behind what hipcc defines."""
        (folder / "runtime.h").write_text(RUNTIME)
        super().link(units, folder, library)

    def assembly(self, units: Sequence[Unit], folder: Path, arch: str = "gfx90a") -> list[Path]:
        """Compile every function of the units for a device; one .s in folder for each set of units
        that share no name. Raises ToolchainError where clang is missing or refuses the text."""
        (folder / "runtime.h").write_text(RUNTIME)
        sources = kernel_sources(units, folder, "hip")
        device = ("--cuda-device-only", f"--offload-arch={arch}", "-S", "-O1")
        for source in sources:
            command = [*HIP, *device, *HostTarget.flags, source.name, "-o", f"{source.stem}.s"]
            self.execute([self.path(), *command], cwd=folder)
        return [source.with_suffix(".s") for source in sources]

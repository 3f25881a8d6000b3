"""HIP: CUDA C's header for hipcc, C++17 or newer.

Reference: https://rocm.docs.amd.com/projects/HIP (C++ language extensions). The file includes
nothing, so that hipRTC takes it too, and has no __forceinline__, which <hip/hip_runtime.h> defines.
"""

from lego_emit.emit.printer import Printer
from lego_emit.printers.c_names import STDINT, TYPES
from lego_emit.printers.cuda import CudaPrinter

OPENING = """#ifndef LEGO_HOST_DEVICE
#ifdef __HIP__
#define LEGO_HOST_DEVICE __host__ __device__ inline
#else
#define LEGO_HOST_DEVICE inline
#endif
#endif"""


# What <hip/hip_runtime.h> defines beside what CUDA's headers do, and includes.
SCALARS = "char short int long longlong float double".split()
VECTORS = {f"{u}{kind}{n}" for u in ("", "u") for kind in SCALARS for n in "1234"}
HIP_WORDS = "HW_ID MASK1 MASK2 M_E M_LN2 M_PI sched_priority".split()


class HipPrinter(CudaPrinter):
    """CUDA C's spellings under HIP's macros; roots of integers alone, on the device too."""

    name = "hip"
    aliases = ()
    related = ("rocm",)
    title = "HIP"
    extension = ".hip.h"
    copies = "lego_emit.printers.copy_cuda:CopiesInHip"
    hopper = ""
    macros = OPENING
    reserved = CudaPrinter.reserved.union(HIP_WORDS)
    reserved_functions = CudaPrinter.reserved_functions.union(
        VECTORS, STDINT, TYPES, ("texture", "uchar", "ullong")
    )
    builtins = CudaPrinter.builtins.union(
        "hipBlockDim_x hipBlockIdx_x hipGridDim_x hipThreadIdx_x __lane_id __lastbit_u32".split()
    )
    device_macro = "__HIP_DEVICE_COMPILE__"

    def fast_isqrt(self, index_type):
        """None: sqrt() is a function of the runtime's headers."""
        return ""

    def of_plan(self, plan):
        """None: what CUDA C's calls are CUDA's own intrinsics."""
        return Printer.of_plan(self, plan)

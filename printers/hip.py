"""HIP: CUDA C's header for hipcc, C++17 or newer.

Reference: https://rocm.docs.amd.com/projects/HIP (C++ language extensions). The file includes
nothing, so that hipRTC takes it too, and has no __forceinline__, which <hip/hip_runtime.h> defines.
"""

from lego_emit.printers.cuda import CudaPrinter

MACROS = """#ifndef LEGO_HOST_DEVICE
#ifdef __HIP__
#define LEGO_HOST_DEVICE __host__ __device__ inline
#else
#define LEGO_HOST_DEVICE inline
#endif
#endif"""


class HipPrinter(CudaPrinter):
    """CUDA C's spellings under HIP's macros; roots of integers alone, on the device too."""

    name = "hip"
    aliases = ()
    title = "HIP"
    extension = ".hip.h"
    macros = MACROS
    device_macro = "__HIP_DEVICE_COMPILE__"

    def fast_isqrt(self, index_type):
        """None: sqrt() is a function of the runtime's headers."""
        return ""

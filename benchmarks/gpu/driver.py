"""The CUDA driver and NVML through ctypes: what the timed kernels need, and no package."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

REGISTERS, LOCAL_BYTES, MOST_SHARED = 4, 3, 8  # CU_FUNC_ATTRIBUTE_..
MULTIPROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
MAP_BYTES, MAP_ALIGNMENT, PROMOTED = (
    128,
    64,
    3,
)  # of CUtensorMap; CU_TENSOR_MAP_L2_PROMOTION_L2_256B
MAP_TYPES = {8: 0, 16: 1, 32: 2, 64: 4}  # CU_TENSOR_MAP_DATA_TYPE_UINT..
NON_BLOCKING, RELAXED = 1, 2  # CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_RELAXED
SM_CLOCK = 1  # NVML_CLOCK_SM
SOLVER = "libcusolver.so"
DRIVERS = "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/x86_64-linux-gnu"
TOOLKIT = "/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib"
L2_BYTES = 256 << 20  # more than any L2 holds
Sizes = Sequence[int]


class CudaError(Exception):
    """What the driver refuses."""


def loaded(library: str) -> ctypes.CDLL:
    """A library of the driver or the toolkit, also where the loader's cache lacks it. Raises OSError."""
    try:
        return ctypes.CDLL(library)
    except OSError:
        found = [path for f in (*DRIVERS, *TOOLKIT) for path in sorted(Path(f).glob(f"{library}*"))]
        if not found:
            raise
        return ctypes.CDLL(str(found[0]))


class Gpu:
    """The first GPU, one stream of it, and its NVML."""

    def __init__(self, library: str = "libcuda.so.1", management: str = "libnvidia-ml.so.1"):
        self._cuda = loaded(library)
        self._do("cuInit", c_uint(0))
        device, context, self._stream = c_int(), c_void_p(), c_void_p()
        self._do("cuDeviceGet", byref(device), c_int(0))
        name = ctypes.create_string_buffer(100)
        self._do("cuDeviceGetName", name, c_int(100), device)
        self.name = name.value.decode()
        self._device = device
        self._do("cuDevicePrimaryCtxRetain", byref(context), device)
        self._do("cuCtxSetCurrent", context)
        self._do("cuStreamCreate", byref(self._stream), c_uint(NON_BLOCKING))
        self._flushed = self.allocate(L2_BYTES)
        self._solver: tuple[Any, c_void_p] | None = None
        self._workspaces: dict[int, tuple[int, int]] = {}
        self._nvml, self._handle = loaded(management), c_void_p()
        self._ask("nvmlInit_v2")
        self._ask("nvmlDeviceGetHandleByIndex_v2", c_uint(0), byref(self._handle))

    @cached_property
    def multiprocessors(self) -> int:
        """How many it has."""
        count = c_int()
        self._do("cuDeviceGetAttribute", byref(count), c_int(MULTIPROCESSORS), self._device)
        return count.value

    def _do(self, name: str, *arguments: Any) -> None:
        code = getattr(self._cuda, name)(*arguments)
        if code:
            text = c_char_p()
            self._cuda.cuGetErrorString(c_int(code), byref(text))
            raise CudaError(f"{name}: {(text.value or b'').decode() or code}")

    def _ask(self, name: str, *arguments: Any) -> None:
        code = getattr(self._nvml, name)(*arguments)
        if code:
            raise CudaError(f"{name}: NVML's error {code}")

    # -- memory

    def allocate(self, size: int) -> int:
        """Where so many bytes are."""
        at = c_uint64()
        self._do("cuMemAlloc_v2", byref(at), c_size_t(size))
        return at.value

    def free(self, at: int) -> None:
        """Memory that allocate() gave."""
        self.wait()
        self._do("cuMemFree_v2", c_uint64(at))

    def upload(self, at: int, array: np.ndarray) -> None:
        """An array to memory, in the stream: a copy outside it may still run when it returns."""
        whole = np.ascontiguousarray(array)
        place, size = c_void_p(whole.ctypes.data), c_size_t(whole.nbytes)
        self._do("cuMemcpyHtoDAsync_v2", c_uint64(at), place, size, self._stream)
        self.wait()

    def download(self, array: np.ndarray, at: int) -> None:
        """Memory to an array."""
        self.wait()
        self._do(
            "cuMemcpyDtoH_v2", c_void_p(array.ctypes.data), c_uint64(at), c_size_t(array.nbytes)
        )

    @property
    def stream(self) -> int:
        """The stream's handle."""
        return self._stream.value or 0

    def copy(self, to: int, at: int, size: int) -> None:
        """Bytes to other memory, in the stream."""
        self._do("cuMemcpyDtoDAsync_v2", c_uint64(to), c_uint64(at), c_size_t(size), self._stream)

    def flush(self) -> None:
        """Other data into the L2, in the stream."""
        words = c_size_t(L2_BYTES // 4)
        self._do("cuMemsetD32Async", c_uint64(self._flushed), c_uint(1), words, self._stream)

    # -- cuSOLVER

    def factor(self, at: int, n: int) -> None:
        """cusolverDnSgetrf without pivots, in the stream. Raises OSError where there is no cuSOLVER."""
        if self._solver is None:
            library, handle = loaded(SOLVER), c_void_p()
            self._solver = library, handle
            self._solve("Create", byref(handle))
            self._solve("SetStream", handle, self._stream)
        handle, size = self._solver[1], (c_int(n), c_int(n), c_uint64(at), c_int(n))
        if n not in self._workspaces:
            count = c_int()
            self._solve("Sgetrf_bufferSize", handle, *size, byref(count))
            self._workspaces[n] = self.allocate(4 * count.value), self.allocate(4)
        work, said = map(c_uint64, self._workspaces[n])
        self._solve("Sgetrf", handle, *size, work, None, said)

    def _solve(self, name: str, *arguments: Any) -> None:
        assert self._solver is not None
        code = getattr(self._solver[0], f"cusolverDn{name}")(*arguments)
        if code:
            raise CudaError(f"cusolverDn{name}: cuSOLVER's error {code}")

    # -- kernels

    def module(self, cubin: Path) -> c_void_p:
        """The kernels of a file."""
        made = c_void_p()
        self._do("cuModuleLoadData", byref(made), cubin.read_bytes())
        return made

    def function(self, module: c_void_p, name: str) -> c_void_p:
        """A kernel by name."""
        made = c_void_p()
        self._do("cuModuleGetFunction", byref(made), module, name.encode())
        return made

    def attribute(self, function: c_void_p, which: int) -> int:
        """REGISTERS or LOCAL_BYTES of a kernel."""
        found = c_int()
        self._do("cuFuncGetAttribute", byref(found), c_int(which), function)
        return found.value

    def tensor_map(self, at: int, made: Any) -> Any:
        """A CUtensorMap of memory. made: dims, strides, box and swizzle, as cute.TensorMap has them."""
        room = (ctypes.c_char * (MAP_BYTES + MAP_ALIGNMENT))()
        found = (ctypes.c_char * MAP_BYTES).from_buffer(
            room, -ctypes.addressof(room) % MAP_ALIGNMENT
        )
        rank = len(made.dims)
        dims, strides = (c_uint64 * rank)(*made.dims), (c_uint64 * rank)(*made.strides)
        box, steps = (c_uint * rank)(*made.box), (c_uint * rank)(*[1] * rank)
        kind, swizzle = c_int(MAP_TYPES[made.element_bits]), c_int(made.swizzle)
        given = byref(found), kind, c_uint(rank), c_uint64(at), dims, strides, box, steps
        self._do("cuTensorMapEncodeTiled", *given, c_int(0), swizzle, c_int(PROMOTED), c_int(0))
        return found

    def allow_shared(self, function: c_void_p, size: int) -> None:
        """So many bytes of dynamic shared memory."""
        self._do("cuFuncSetAttribute", function, c_int(MOST_SHARED), c_int(size))

    def launch(
        self,
        function: c_void_p,
        grid: Sizes,
        block: Sizes,
        arguments: Sequence[Any],
        shared: int = 0,
    ) -> None:
        """In the stream; arguments: ctypes' numbers; shared: bytes of dynamic shared memory."""
        sizes = [c_uint(n) for part in (grid, block) for n in (*part, *[1] * (3 - len(part)))]
        passed = (c_void_p * (len(arguments) + 1))(*(ctypes.addressof(a) for a in arguments))
        self._do("cuLaunchKernel", function, *sizes, c_uint(shared), self._stream, passed, None)

    def graph(self, run: Callable[[], None]) -> c_void_p:
        """What run() does in the stream, to be launched at once."""
        graph, made = c_void_p(), c_void_p()
        self._do("cuStreamBeginCapture_v2", self._stream, c_int(RELAXED))
        run()
        self._do("cuStreamEndCapture", self._stream, byref(graph))
        self._do("cuGraphInstantiateWithFlags", byref(made), graph, c_uint64(0))
        self._do("cuGraphDestroy", graph)
        self._do("cuGraphUpload", made, self._stream)
        return made

    def launch_graph(self, graph: c_void_p) -> None:
        """In the stream."""
        self._do("cuGraphLaunch", graph, self._stream)

    def free_graph(self, graph: c_void_p) -> None:
        """What graph() gave."""
        self.wait()
        self._do("cuGraphExecDestroy", graph)

    def profile(self, run: Callable[[], None]) -> None:
        """run() alone, under a profiler that does not profile from the start."""
        self.wait()
        self._do("cuProfilerStart")
        run()
        self.wait()
        self._do("cuProfilerStop")

    # -- time

    def wait(self) -> None:
        """Until the stream has done all."""
        self._do("cuStreamSynchronize", self._stream)

    def event(self) -> c_void_p:
        """To be recorded."""
        made = c_void_p()
        self._do("cuEventCreate", byref(made), c_uint(0))
        return made

    def record(self, event: c_void_p) -> None:
        """In the stream."""
        self._do("cuEventRecord", event, self._stream)

    def milliseconds(self, start: c_void_p, end: c_void_p) -> float:
        """Between two events; waits for the second."""
        found = c_float()
        self._do("cuEventSynchronize", end)
        self._do("cuEventElapsedTime", byref(found), start, end)
        return found.value

    def clock(self) -> int:
        """MHz of the multiprocessors now."""
        found = c_uint()
        self._ask("nvmlDeviceGetClockInfo", self._handle, c_int(SM_CLOCK), byref(found))
        return found.value

    def power(self) -> float:
        """Watts now."""
        found = c_uint()
        self._ask("nvmlDeviceGetPowerUsage", self._handle, byref(found))
        return found.value / 1000

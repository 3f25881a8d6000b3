"""A GPU for machines that have none: PyCUDA's interface, as far as we use it, over g++.

Kernels are compiled as C++ and run one thread after the other. That checks what the kernels compute
and how they are called; what nvcc takes is checked by nvcc, and speed by nothing here.
"""

import ctypes
import re
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy as np

PROCESSORS = 2

PRELUDE = """
#include <algorithm>
#include <cmath>
#include <cstdint>
#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
struct Three { unsigned x = 1, y = 1, z = 1; };
static Three threadIdx, blockIdx, blockDim, gridDim;
struct float4 { float x, y, z, w; };
template <class T> T atomicAdd(T *p, T v) { T old = *p; *p += v; return old; }
template <class T> T atomicMin(T *p, T v) { T old = *p; *p = std::min(old, v); return old; }
template <class T> T atomicMax(T *p, T v) { T old = *p; *p = std::max(old, v); return old; }
template <class T> T atomicOr(T *p, T v) { T old = *p; *p |= v; return old; }
static unsigned __umulhi(unsigned a, unsigned b) { return (std::uint64_t(a) * b) >> 32; }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (static_cast<unsigned __int128>(a) * b) >> 64;
}
static float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
static unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
static const void *lego_keep[] = {(void *)__umulhi, (void *)__umul64hi, (void *)__uint_as_float,
                                  (void *)__float_as_uint};
#line 1 "kernel.cu"
"""

C_TYPES = {
    "int": ctypes.c_int32,
    "unsigned": ctypes.c_uint32,
    "long long": ctypes.c_int64,
    "unsigned long long": ctypes.c_uint64,
    "float": ctypes.c_float,
}

KERNEL = re.compile(r'extern "C" __global__ void (\w+)\(([^)]*)\)')


class Error(Exception):
    pass


class CompileError(Error):
    def __init__(self, msg, stdout="", stderr=""):
        super().__init__(msg)
        self.stdout, self.stderr = stdout, stderr


class Allocation:
    def __init__(self, size):
        self.array = np.full(size, 0xA5, np.uint8)

    def __int__(self):
        return self.array.ctypes.data

    def free(self):
        self.array = None


class Context:
    stack = []

    def __init__(self, device):
        self.device = device

    def push(self):
        self.stack.append(self)

    @classmethod
    def pop(cls):
        cls.stack.pop()

    @classmethod
    def get_current(cls):
        return cls.stack[-1] if cls.stack else None

    @classmethod
    def get_device(cls):
        return cls.stack[-1].device

    @staticmethod
    def synchronize():
        pass


class Device:
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    __hash__ = None

    @staticmethod
    def count():
        return 1

    def name(self):
        return "no GPU, but g++"

    def compute_capability(self):
        return 9, 0

    def total_memory(self):
        return 2**30

    def get_attribute(self, kind):
        return {"MULTIPROCESSOR_COUNT": PROCESSORS}[kind]

    def retain_primary_context(self):
        return Context(self)


class Event:
    def record(self):
        import time

        self.at = time.perf_counter()
        return self

    def synchronize(self):
        return self

    def time_till(self, other):
        return (other.at - self.at) * 1e3

    def time_since(self, other):
        return other.time_till(self)


class Function:
    num_regs = 32

    def __init__(self, run):
        self.run = run

    def prepare(self, dtypes):
        for dtype, kind in zip(dtypes, self.run.argtypes[2:], strict=True):
            if dtype.itemsize != ctypes.sizeof(kind):
                raise Error(f"{dtype} for {kind}")

    def prepared_call(self, grid, block, *arguments):
        assert Context.get_current() is not None
        self.run(grid[0], block[0], *(a.item() for a in arguments))


class SourceModule:
    def __init__(self, source, options=(), arch=None, no_extern_c=False):
        assert Context.get_current() is not None and no_extern_c and "#include" not in source
        folder = tempfile.TemporaryDirectory()
        text, self.types = PRELUDE + source + "\n", {}
        for name, parameters in KERNEL.findall(source):
            pairs = [p.strip().rpartition(" ")[::2] for p in parameters.split(",")]
            self.types[name] = [
                ctypes.c_uint64 if "*" in f"{kind} {n}" else C_TYPES[kind.replace("const ", "")]
                for kind, n in pairs
            ]
            names = ", ".join(n.lstrip("*") for _, n in pairs)
            loops = "".join(
                f"for ({i}.x = 0; {i}.x < {n}; ++{i}.x) "
                for i, n in (("blockIdx", "grid"), ("threadIdx", "block"))
            )
            text += (
                f'extern "C" void launch_{name}(unsigned grid, unsigned block, {parameters}) {{\n'
                f"  gridDim.x = grid; blockDim.x = block;\n  {loops}{name}({names});\n}}\n"
            )
        path = Path(folder.name)
        (path / "kernel.cpp").write_text(text)
        command = ["g++", "-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-o", "kernel.so"]
        done = subprocess.run(
            [*command, "kernel.cpp"], cwd=path, capture_output=True, text=True, check=False
        )
        if done.returncode:
            # g++ says kernel.cu:12:3, nvcc kernel.cu(12).
            message = re.sub(r"kernel\.cu:(\d+):\d+:", r"kernel.cu(\1):", done.stderr)
            raise CompileError("nvcc compilation of kernel.cu failed", "", message)
        self.library, self.folder = ctypes.CDLL(str(path / "kernel.so")), folder

    def get_function(self, name):
        run = self.library[f"launch_{name}"]
        run.argtypes = [ctypes.c_uint, ctypes.c_uint, *self.types[name]]
        run.restype = None
        return Function(run)


class GPUArray:
    def __init__(self, array, dtype=None, gpudata=None, base=None):
        """Of an array; or as PyCUDA's, of a shape, a dtype and memory that base holds."""
        if gpudata is not None:
            dtype = np.dtype(dtype)
            array = _view(gpudata, int(np.prod(array)) * dtype.itemsize).view(dtype).reshape(array)
        self.array, self.base = array, base

    strides = property(lambda self: self.array.strides)
    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    size = property(lambda self: self.array.size)
    gpudata = property(lambda self: self.array.ctypes.data)

    @property
    def flags(self):
        return types.SimpleNamespace(c_contiguous=self.array.flags.c_contiguous)

    def get(self):
        return self.array.copy()

    def astype(self, dtype):
        return GPUArray(self.array.astype(dtype))


def _view(pointer, size):
    address = int(getattr(pointer, "gpudata", pointer))
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_uint8)), (size,))


def _memset_d32(pointer, value, count):
    _view(pointer, 4 * count).view(np.uint32)[:] = value


def _memcpy_dtod(to, source, size):
    _view(to, size)[:] = _view(source, size)


def install(monkeypatch, free=2**30):
    """Put the modules where PyCUDA's would be."""
    driver = types.ModuleType("pycuda.driver")
    compiler = types.ModuleType("pycuda.compiler")
    gpuarray = types.ModuleType("pycuda.gpuarray")
    package = types.ModuleType("pycuda")
    for kind in (Error, CompileError, Device, Context, Event):
        setattr(driver, kind.__name__, kind)
    driver.LogicError = driver.RuntimeError = driver.MemoryError = Error
    driver.device_attribute = types.SimpleNamespace(MULTIPROCESSOR_COUNT="MULTIPROCESSOR_COUNT")
    driver.init = lambda: None
    driver.get_driver_version = lambda: 13000
    driver.get_version = lambda: (13, 0, 0)
    driver.mem_get_info = lambda: (free, free)
    driver.mem_alloc = Allocation
    driver.memset_d32 = _memset_d32
    driver.memset_d8 = lambda pointer, value, count: _view(pointer, count).fill(value)
    driver.memcpy_dtod = _memcpy_dtod
    driver.memcpy_dtoh = lambda to, source: to.view(np.uint8).__setitem__(
        slice(None), _view(source, to.nbytes)
    )
    compiler.SourceModule = SourceModule
    compiler.compile = lambda source, **options: b""
    gpuarray.GPUArray = GPUArray
    gpuarray.to_gpu = lambda array: GPUArray(np.array(array))
    gpuarray.empty = lambda shape, dtype: GPUArray(np.empty(shape, dtype))
    package.driver, package.compiler, package.gpuarray = driver, compiler, gpuarray
    package.VERSION_TEXT = "0"
    for module in (package, driver, compiler, gpuarray):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    from lego_emit.targets import gpu

    monkeypatch.setattr(gpu, "_devices", {})
    monkeypatch.setattr(gpu, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(gpu.atexit, "register", lambda function: None)
    monkeypatch.setattr(Context, "stack", [])

"""The GPU side of CUDA C: PyCUDA finds the device, compiles a unit's text and runs it there.

PyCUDA is imported when a device is first asked for; emitting and the host never need it.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from shutil import which
from typing import Any

from lego_emit.emit.unit import Unit
from lego_emit.errors import DeviceError, LegoError, TargetError
from lego_emit.ir.program import Function
from lego_emit.packages import numpy as np
from lego_emit.run.target import Compiled, call_arguments, check_given, check_static, outputs_of
from lego_emit.targets import gpu_arrays
from lego_emit.targets.cpp import braced, called
from lego_emit.targets.cpp_host import element
from lego_emit.templates import environment, named

EXTRA = "pip install pycuda"
OPTIONS = ("-O3", "--std=c++17")
THREADS = 256  # of a block
BLOCKS = 8  # for each multiprocessor
POISON = np.iinfo(np.int64).min


# -- the device ----------------------------------------------------------------------------------


@dataclass
class Device:
    """A GPU: its number, PyCUDA's driver module and device, and its primary context."""

    number: int
    driver: Any
    handle: Any
    _context: Any = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The name of the GPU as its driver gives it."""
        return self.handle.name()

    @property
    def capability(self) -> tuple[int, int]:
        """Its compute capability, as (9, 0)."""
        return tuple(self.handle.compute_capability())

    @property
    def arch(self) -> str:
        """The architecture's name, as nvcc takes it."""
        return "sm_{}{}".format(*self.capability)

    @cached_property
    def processors(self) -> int:
        """How many multiprocessors it has."""
        kind = self.driver.device_attribute.MULTIPROCESSOR_COUNT
        return self.handle.get_attribute(kind)

    @property
    def grid(self) -> int:
        """Blocks enough to fill it, for kernels whose threads stride over their work."""
        return BLOCKS * self.processors

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make the device current. The first time its primary context, which other libraries of
        the process use too, is taken and stays current, so that arrays can be read afterwards."""
        current = self.driver.Context.get_current()
        if current is not None and self._is_ours(current):
            yield
            return
        first = self._context is None
        if first:
            with _named(self, "its context cannot be made"):
                self._context = self.handle.retain_primary_context()
            atexit.register(self._release)
        self._context.push()
        try:
            yield
        finally:
            if current is not None:
                self.driver.Context.pop()

    def _is_ours(self, context: Any) -> bool:
        return context.get_device() == self.handle

    def _release(self) -> None:
        with suppress(Exception):
            while self.driver.Context.get_current() is not None:
                self.driver.Context.pop()
        self._context = None

    def free_memory(self) -> int:
        """The free memory of the device in bytes."""
        return self.driver.mem_get_info()[0]

    def check_room(self, wanted: int, what: str) -> None:
        """Raise DeviceError where so many bytes are not free; what: what takes them."""
        free = self.free_memory()
        if wanted > free:
            raise DeviceError(
                f"{what} takes {_gib(wanted)} and {self.name} has {_gib(free)} free; choose "
                f"smaller sizes"
            )


_devices: dict[int, Device] = {}


def device(name: str = "gpu") -> Device:
    """The GPU of a name: "gpu" is number 0, "gpu:1" number 1.

    Raises DeviceError that says what is missing (PyCUDA, the driver, the device), TargetError for
    a name of another form.
    """
    matched = re.fullmatch(r"gpu(?::(\d{1,4}))?", name)
    if matched is None:
        raise TargetError(f"no device {name!r}; there are 'cpu', 'gpu' and 'gpu:1', 'gpu:2' ..")
    number = int(matched[1] or 0)
    if number in _devices:
        return _devices[number]
    driver = _driver()
    try:
        driver.init()
        count = driver.Device.count()
    except driver.Error as error:
        raise DeviceError(
            f"no GPU can be used: the NVIDIA driver says {str(error).strip()!r}; `nvidia-smi` "
            f"shows what it sees"
        ) from None
    if count == 0:
        raise DeviceError("no GPU can be used: the NVIDIA driver sees no device")
    if number >= count:
        last = f"gpu:{count - 1}" if count > 1 else "gpu"
        raise DeviceError(f"no device {name!r}: this machine has {count}; the last is {last!r}")
    _devices[number] = Device(number, driver, driver.Device(number))
    return _devices[number]


def ready(name: str = "gpu") -> Device:
    """device(), with the toolkit's compiler beside it. Raises as it does, and DeviceError where
    nvcc is missing."""
    found = device(name)
    if which("nvcc") is None:
        raise DeviceError(
            "compiling for the GPU needs nvcc of the CUDA toolkit, which is not on PATH; install "
            "the toolkit, on Debian: apt-get install nvidia-cuda-toolkit (non-free)"
        )
    return found


def describe(name: str = "gpu") -> str:
    """The device in a line. Raises as ready() does."""
    found = ready(name)
    driver = found.driver
    return (
        f"{found.name}, compute capability {'.'.join(map(str, found.capability))}, "
        f"{_gib(found.handle.total_memory())}, CUDA {_version(driver.get_driver_version())}"
    )


def all_devices() -> list[tuple[str, str]]:
    """(device, what it is) for each; one row with the reason where there is none."""
    try:
        count = ready().driver.Device.count()
        names = ["gpu", *(f"gpu:{k}" for k in range(1, count))]
        return [(name, describe(name)) for name in names]
    except LegoError as error:
        return [("gpu", f"missing: {error}")]


def _driver() -> Any:
    try:
        import pycuda  # pyright: ignore[reportMissingImports]  # noqa: F401
    except ImportError:
        raise DeviceError(f"running on a GPU needs PyCUDA: {EXTRA}") from None
    try:
        import pycuda.driver as driver  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        if "libcuda" in str(error):
            raise DeviceError(
                f"no GPU can be used: the NVIDIA driver is missing ({error}); install it, on "
                f"Debian: apt-get install nvidia-driver (non-free)"
            ) from None
        raise DeviceError(f"PyCUDA does not load ({error}); install it anew: {EXTRA}") from None
    return driver


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _gib(count: int) -> str:
    return f"{count / 2**30:.3g} GiB"


@contextmanager
def _named(device: Device, what: str) -> Iterator[None]:
    """PyCUDA's errors as DeviceError."""
    try:
        yield
    except device.driver.Error as error:
        raise DeviceError(f"{device.name}: {what}: {str(error).strip()}") from None


# -- compiling -----------------------------------------------------------------------------------


class Module:
    """Kernels on a device: a unit's text and ours behind it, through PyCUDA's SourceModule."""

    def __init__(self, device: Device, text: str, what: str):
        """Compile or take from PyCUDA's cache. Raises DeviceError with nvcc's message and the
        refused line; what: what the text is, for that message."""
        from pycuda.compiler import SourceModule  # pyright: ignore[reportMissingImports]

        self.device, self.text, self.what = device, text, what
        self._functions: dict[str, Any] = {}
        driver = device.driver
        try:
            with device.active():
                self._module = SourceModule(
                    text, options=list(OPTIONS), arch=device.arch, no_extern_c=True
                )
        except driver.CompileError as error:
            raise DeviceError(refused(what, text, _message(error))) from None
        except (driver.Error, OSError) as error:
            raise DeviceError(f"{what} does not load on {device.name}: {error}") from None

    def function(self, name: str) -> Any:
        """A kernel by name; asking for its registers loads it, so that no launch has to wait."""
        if name not in self._functions:
            found = self._functions[name] = self._module.get_function(name)
            _ = found.num_regs
        return self._functions[name]

    def launch(self, name: str, *arguments: Any, grid: int | None = None) -> float:
        """Run a kernel over the whole device and wait for it; its milliseconds.

        Raises DeviceError where it fails.
        """
        driver = self.device.driver
        with _named(self.device, f"{name} of {self.what} failed"):
            kernel = self.function(name)
            values = [a if isinstance(a, np.generic) else _pointer(a) for a in arguments]
            kernel.prepare([v.dtype for v in values])
            before, after = driver.Event(), driver.Event()
            before.record()
            kernel.prepared_call((grid or self.device.grid, 1), (THREADS, 1, 1), *values)
            after.record()
            after.synchronize()
            return before.time_till(after)


def _pointer(array: Any) -> np.generic:
    return np.uint64(int(getattr(array, "gpudata", array)))


def warm_cache(device: Device, texts: Sequence[str]) -> None:
    """Compile several texts at once into PyCUDA's cache; what is refused is said later."""
    from pycuda.compiler import compile  # pyright: ignore[reportMissingImports]

    def one(text: str) -> None:
        with suppress(Exception):
            compile(text, options=list(OPTIONS), arch=device.arch, no_extern_c=True)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(one, dict.fromkeys(texts)))  # one writer for each file of the cache


def _message(error: Any) -> str:
    parts = [getattr(error, "stdout", None), getattr(error, "stderr", None)]
    text = "\n".join(p.decode(errors="replace") if isinstance(p, bytes) else p for p in parts if p)
    return text or str(error)


def refused(what: str, text: str, message: str) -> str:
    """One message from nvcc's: its first error, with the line of the text that it is about.

    Temporary files' names are left out.
    """
    message = re.sub(r"\S*kernel\.cu(?=\()", "line", message)
    message = re.sub(r'"\S*kernel\.cu"', "it", message).strip()
    first = re.search(r"line\((\d+)\): (?:catastrophic )?error.*", message)
    if first is None:
        return f"{what}: nvcc refuses it:\n{message}"
    lines = text.splitlines()
    number = int(first[1])
    shown = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return f"{what}: nvcc refuses line {number}, `{shown}`:\n{message}"


# -- running -------------------------------------------------------------------------------------


class Kernels:
    """The kernels of a template file beside this module, each one a macro of it."""

    def __init__(self, template: str):
        self._template = template

    @cached_property
    def _macros(self) -> Any:
        return environment(type(self)).get_template(self._template).module

    def __call__(self, name: str, *arguments: Any) -> str:
        """The text of the kernel of this name."""
        with named(type(self), "CUDA C", self._template):
            return getattr(self._macros, name)(*arguments)


KERNELS = Kernels("gpu.jinja")


def in_the_open(unit: Unit) -> str:
    """A unit's text, its functions to be found at global scope. Raises as check_given() does."""
    check_given(unit)
    namespace = unit.printer.namespace
    return f"{unit.source}\nusing namespace {namespace};\n" if namespace else unit.source


def call_text(unit: Unit) -> str:
    """A unit with the kernels that run its functions over arrays."""
    printer = unit.printer
    types, text = printer.types, in_the_open(unit)
    for position, function in enumerate(unit.program.functions):
        T = types[function.index_type]
        count = len(function.passed)
        values = [f"static_cast<{T}>(in{k}[i * step{k}])" for k in range(count)]
        call = called(function, printer, values, "::")
        text += KERNELS("call", position, function, call, outputs_of(function, "r"))
        if function.axes:
            scalars = [f"s{k}" for k in range(count - len(function.axes))]
            given = call_arguments(function, scalars, braced)
            name, kind = printer.array_name(function.name), element(printer, function, "::")
            text += KERNELS("fill", position, function, T, name, given, kind)
    return text


def compile_units(name: str, units: Sequence[Unit]) -> list[Compiled]:
    """The units on a GPU; one module for each, several at a time. Raises as ready() and Module
    do."""
    found = ready(name)
    texts = [call_text(unit) for unit in units]
    if len(texts) > 1:
        warm_cache(found, texts)
    return [GpuCompiled(unit, found, text) for unit, text in zip(units, texts, strict=True)]


class GpuCompiled(Compiled):
    """A unit on a GPU: run["name"](*arguments) as on the host. Where an argument is a GPU array,
    anything with __cuda_array_interface__ or DLPack, the results are int64 arrays there, of PyTorch
    or CuPy where the first one is and else of PyCUDA, and nothing is copied to the host; those
    arguments have one shape, and the others broadcast to it."""

    def __init__(self, unit: Unit, device: Device, text: str):
        positions = {f.name: k for k, f in enumerate(unit.program.functions)}
        self.device = device
        module = Module(device, text, f"{unit.program.name}.cuh")
        self.library = GpuLibrary(module, positions, unit.printer.types)
        super().__init__(unit, self.library, 0, None)
        self._functions = {f.name: f for f in unit.program.functions}  # the host asks what fits

    def _run(self, function: Function, arguments: tuple) -> Any:
        if not any(map(gpu_arrays.is_there, arguments)):
            with self.device.active():
                return super()._run(function, arguments)
        self._check_count(function, arguments)
        with self.device.active():
            return self._run_there(function, arguments)

    def _run_there(self, function: Function, arguments: tuple) -> Any:
        from pycuda import gpuarray  # pyright: ignore[reportMissingImports]

        there = {
            k: gpu_arrays.taken(a, self.device.number, function.params[k].name)
            for k, a in enumerate(arguments)
            if gpu_arrays.is_there(a)
        }
        first = arguments[min(there)]
        if any(array is not arguments[k] for k, array in there.items()):
            self.device.driver.Context.synchronize()  # with streams of other libraries
        shapes = {a.shape for a in there.values()}
        if len(shapes) > 1:
            raise TypeError(
                f"{function.name}: GPU arrays of shapes {', '.join(map(str, sorted(shapes)))}; "
                f"give them one shape"
            )
        (shape,) = shapes
        pointers: list[tuple[Any, int]] = []
        for k, (param, value) in enumerate(zip(function.params, arguments, strict=True)):
            on_device = k in there
            array: Any = there[k] if on_device else np.asarray(value)
            if param.static:
                check_static(function, param, array.get() if on_device else array)
                continue
            if array.dtype.kind not in "iub":
                raise TypeError(
                    f"{function.name}: {param.name} must be integers, not {array.dtype}"
                )
            if on_device:
                array = array if array.dtype == np.int64 else array.astype(np.int64)
                pointers.append((array, 1))
            elif array.ndim == 0:
                pointers.append((gpuarray.to_gpu(array.astype(np.int64).reshape(1)), 0))
            else:
                spread = np.ascontiguousarray(np.broadcast_to(array, shape), np.int64)
                pointers.append((gpuarray.to_gpu(spread), 1))
        results = [gpu_arrays.given(shape, first) for _ in function.outputs]
        self.library.launch(function, prod(shape), pointers, [there for _, there in results])
        outputs = tuple(array for array, _ in results)
        return outputs[0] if len(outputs) == 1 else outputs

    def array(self, name: str) -> Any:
        """As Compiled.array; the GPU's threads share the work, the result is a NumPy array."""
        run = super().array(name)

        def on_device(*arguments: int) -> Any:
            with self.device.active():
                return run(*arguments)

        return on_device


@dataclass
class GpuLibrary:
    """Compiled kernels, in the form that Compiled calls."""

    module: Module
    positions: Mapping[str, int]
    types: Mapping[str, str] = field(default_factory=dict)

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """Run a function in a kernel; an argument that stands still travels once."""
        from pycuda import gpuarray  # pyright: ignore[reportMissingImports]

        device, n = self.module.device, len(inputs[0])
        given = inputs[: len(function.passed)]
        outputs = [np.full(n, POISON, np.int64) for _ in function.outputs]
        if n == 0:
            return outputs
        # An argument that stands still travels once.
        steps = [int(n > 1 and not _is_constant(a)) for a in given]
        count = sum(n if s else 1 for s in steps) + n * len(outputs)
        device.check_room(8 * count, f"{function.name} for {n:,} indices")
        pairs = [(gpuarray.to_gpu(a if s else a[:1]), s) for a, s in zip(given, steps, strict=True)]
        there = [gpuarray.to_gpu(a) for a in outputs]
        self.launch(function, n, pairs, there)
        return [a.get() for a in there]

    def launch(
        self, function: Function, n: int, inputs: Sequence[tuple[Any, int]], outputs: Sequence[Any]
    ) -> None:
        """Run over arrays of the device; (array, step) for each input."""
        if n == 0:
            return
        arguments: list[Any] = [np.int64(n)]
        for array, step in inputs:
            arguments += [array, np.int64(step)]
        arguments += outputs
        blocks = min(self.module.device.grid, -(-n // THREADS))
        self.module.launch(f"lego_call_{self.positions[function.name]}", *arguments, grid=blocks)

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        """Run an array form in a kernel, all threads sharing the work."""
        from pycuda import gpuarray  # pyright: ignore[reportMissingImports]

        dtype = np.dtype(function.index_type)
        width = len(function.outputs)
        if count == 0:
            return [np.empty(0, np.int64) for _ in range(width)]
        room = count * width
        self.module.device.check_room(room * dtype.itemsize, f"{function.name} over its ':' axes")
        there = gpuarray.empty((room,), dtype)
        blocks = min(self.module.device.grid, -(-count // THREADS))
        name = f"lego_fill_{self.positions[function.name]}"
        self.module.launch(name, *map(dtype.type, scalars), there, grid=blocks)
        found = there.get().reshape(count, width)
        return [found[:, k].astype(np.int64) for k in range(width)]


def _is_constant(array: np.ndarray) -> bool:
    return bool((array[:1] == array[-1:]).all() and (array == array[0]).all())

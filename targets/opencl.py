"""OpenCL C through PyOpenCL, on the first device that it finds; pocl makes one of any CPU."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lego_emit.emit.unit import Unit
from lego_emit.errors import TargetError, ToolchainError
from lego_emit.ir.program import Function, Group
from lego_emit.printers.opencl import OpenClPrinter
from lego_emit.run.target import Library, Target, Toolchain, call_arguments, grouped
from lego_emit.targets.c import called, literal, result

if TYPE_CHECKING:
    import numpy as np

GROUP, ITEMS = 64, 256  # work items in a group, and in all: each takes its share in a loop
OPTIONS = ("-cl-std=CL1.2", "-cl-opt-disable", "-Werror")  # many functions at once

# Names begin with lego_run_: the units' own functions are in the same scope.
KERNELS = """
kernel void lego_run_calls(
    int lego_run_which, long lego_run_n, global const long *lego_run_in, global long *lego_run_out) {{
  for (long lego_run_i = get_global_id(0); lego_run_i < lego_run_n;
       lego_run_i += get_global_size(0)) {{
    switch (lego_run_which) {{
{calls}
    }}
  }}
}}

kernel void lego_run_fills(
    int lego_run_which, global const long *lego_run_in, global void *lego_run_out) {{
  switch (lego_run_which) {{
{fills}
  }}
}}
"""

# One work item: fields are set in order.
FIELDS = """
kernel void lego_run_fields(
    int lego_run_which, int lego_run_set, long lego_run_n, global const long *lego_run_in,
    global void *lego_run_words, global long *lego_run_values) {{
  for (long lego_run_i = 0; lego_run_i < lego_run_n; ++lego_run_i) {{
    switch (lego_run_which) {{
{fields}
    }}
  }}
}}
"""


class Arrays:
    """Arrays of the index type T as arguments: variables, for a literal is in no address space. lines:
    their declarations."""

    def __init__(self, T: str):
        self._T, self.lines = T, list[str]()

    def literal(self, group: Group, values: list[str]) -> str:
        """The text of a struct or an array as an argument."""
        if group.struct:
            return literal(group, values, self._T)
        name = f"lego_run_array_{len(self.lines)}"
        self.lines.append(f"const {self._T} {name}[{len(values)}] = {{{', '.join(values)}}};")
        return name


def call(number: int, function: Function, printer: OpenClPrinter) -> str:
    """The branch that calls a function over columns of arguments."""
    T = printer.types[function.index_type]
    for one in function.groups:
        if one.open:
            raise TargetError(
                f"{function.name} is given {one.name} in global memory, and cannot be run here; verify the same in C"
            )
    columns = range(len(function.passed))
    values = [f"({T})lego_run_in[{k} * lego_run_n + lego_run_i]" for k in columns]
    lines, texts = called(function, printer, values)
    lines += [f"lego_run_out[{k} * lego_run_n + lego_run_i] = {t};" for k, t in enumerate(texts)]
    return f"      case {number}: {{ {' '.join(lines)} break; }}"


def fill(number: int, function: Function, T: str, kind: str, name: str) -> str:
    """The branch that calls an array form."""
    scalars = range(len(function.passed) - len(function.axes))
    arrays = Arrays(T)
    values = [f"({T})lego_run_in[{k}]" for k in scalars]
    arguments = call_arguments(function, values, arrays.literal)
    arguments += [f"(global {kind} *)lego_run_out", "get_global_id(0)", "get_global_size(0)"]
    body = f"{' '.join(arrays.lines)} {name}({', '.join(arguments)});"
    return f"    case {number}: {{ {body} break; }}"


def field(number: int, function: Function, printer: OpenClPrinter) -> str:
    """The branch that calls the functions that read and write fields."""
    p, T = function.packing, printer.types[function.index_type]
    columns = range(len(function.passed))
    arrays = Arrays(T)
    values = [f"({T})lego_run_in[{k} * lego_run_n + lego_run_i]" for k in columns]
    given = call_arguments(function, values, arrays.literal, printer.given)
    U = printer.spelled(f"uint{p.word}")
    S = printer.spelled(f"{'int' if p.signed else 'uint'}{p.word}")
    words = f"(global {U} *)lego_run_words"
    one = f"({words})[lego_run_i]"
    own = ", ".join([one if p.by_value else words, *given])
    put = f"{p.set}({own}, ({S})lego_run_values[lego_run_i])"
    put = f"{one} = {put}" if p.by_value else put
    get = f"lego_run_values[lego_run_i] = (long){p.get}({own})"
    body = f"{' '.join(arrays.lines)} if (lego_run_set) {put}; else {get};"
    return f"      case {number}: {{ {body} break; }}"


def program(units: Sequence[Unit], functions: Sequence[tuple[Unit, Function]]) -> str:
    """The source of a program that calls every function and array form of the units."""
    calls, fills, fields = [], [], []
    for k, (unit, f) in enumerate(functions):
        printer = cast(OpenClPrinter, unit.printer)
        own = k, f, printer.types[f.index_type], result(f, printer)
        calls.append(call(k, f, printer))
        if f.axes:
            fills.append(fill(*own, printer.array_name(f.name)))
        if f.packing is not None:
            fields.append(field(k, f, printer))
    kernels = KERNELS.format(calls="\n".join(calls), fills="\n".join(fills))
    kernels += FIELDS.format(fields="\n".join(fields)) if fields else ""
    return "\n".join([*(unit.source for unit in units), kernels])


class _Device:
    def __init__(self):
        self.cl: Any = importlib.import_module("pyopencl")
        devices = [d for platform in self.cl.get_platforms() for d in platform.get_devices()]
        self.context = self.cl.Context(devices[:1])
        self.queue = self.cl.CommandQueue(self.context)
        self.name = f"{devices[0].platform.name}, {devices[0].name}"

    def build(self, source: str) -> Any:
        """The program, or a ToolchainError with what the compiler says."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the compiler said something
            try:
                return self.cl.Program(self.context, source).build(list(OPTIONS))
            except self.cl.Error as error:
                raise ToolchainError(f"target 'opencl': a program was refused:\n{error}") from None

    def run(self, kernel: Any, numbers: Sequence[Any], given: np.ndarray, size: int) -> bytearray:
        """Run a kernel whose last arguments are a buffer that is given and one of size bytes; what
        it leaves in that."""
        flags, out = self.cl.mem_flags, bytearray(size)
        source = self.cl.Buffer(self.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=given)
        target = self.cl.Buffer(self.context, flags.WRITE_ONLY, size)
        kernel(self.queue, (ITEMS,), (GROUP,), *numbers, source, target)
        self.cl.enqueue_copy(self.queue, out, target)
        return out


@cache
def open_device() -> _Device:
    """The device, opened once in a process."""
    return _Device()


class _Programs(Library):
    """Programs, one for the units that share no name."""

    def __init__(self, units: Sequence[Unit], device: _Device):
        self._device, self._fields = device, dict[int, Any]()
        self._places: dict[tuple[int, str], tuple[Any, Any, int]] = {}
        for group in grouped(units):
            functions = [(u, f) for u in group for f in units[u].program.functions]
            source = program([units[u] for u in group], [(units[u], f) for u, f in functions])
            built = device.build(source)
            kernels = built.lego_run_calls, built.lego_run_fills
            if any(f.packing is not None for _, f in functions):
                self._fields.update(dict.fromkeys(group, built.lego_run_fields))
            for k, (u, f) in enumerate(functions):
                self._places[u, f.name] = (*kernels, k)

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        import numpy as np

        n, count = len(inputs[0]), len(function.outputs)
        if n == 0:
            return [np.zeros(0, np.int64) for _ in function.outputs]
        kernel, _, which = self._places[unit, function.name]
        numbers = np.int32(which), np.int64(n)
        out = self._device.run(kernel, numbers, np.concatenate(inputs), 8 * n * count)
        return list(np.frombuffer(out, np.int64).reshape(count, n))

    def fields(
        self,
        unit: int,
        function: Function,
        words: np.ndarray,
        inputs: list[np.ndarray],
        values: np.ndarray,
        sets: bool,
    ) -> None:
        import numpy as np

        device, n = self._device, len(values)
        if not n:
            return
        flags = device.cl.mem_flags
        kinds = flags.READ_WRITE | flags.COPY_HOST_PTR
        given = np.concatenate([*inputs, np.zeros(1, np.int64)])
        buffers = [
            device.cl.Buffer(device.context, kinds, hostbuf=a) for a in (given, words, values)
        ]
        which = np.int32(self._places[unit, function.name][2])
        kernel = self._fields[unit]
        kernel(device.queue, (1,), (1,), which, np.int32(sets), np.int64(n), *buffers)
        for array, buffer in zip((words, values), buffers[1:], strict=True):
            device.cl.enqueue_copy(device.queue, array, buffer)

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        import numpy as np

        _, kernel, which = self._places[unit, function.name]
        own, several = np.dtype(function.index_type), len(function.outputs)
        given = np.array([s % 2**64 for s in scalars] or [0], np.uint64)
        size = own.itemsize * count * several
        out = self._device.run(kernel, [np.int32(which)], given, max(size, 1))
        results = np.frombuffer(out[:size], own).reshape(count, several)
        return list(np.ascontiguousarray(results.T).astype(np.int64))


class OpenClTarget(Target):
    """OpenCL C, on any device with a driver; pocl is one for the CPU."""

    name = "opencl"
    install = "apt-get install pocl-opencl-icd"

    def find(self) -> Toolchain:
        """The platform and its device, through PyOpenCL."""
        if importlib.util.find_spec("pyopencl") is None:
            raise ToolchainError(
                "target 'opencl' runs kernels through pyopencl, which is not installed: "
                "pip install pyopencl"
            )
        try:
            return Toolchain("pyopencl", open_device().name)
        except Exception as error:  # the library and every driver have errors of their own
            raise ToolchainError(
                f"target 'opencl': no device to run kernels on ({error}); "
                f"on Debian, one of the CPU: {self.install}"
            ) from error

    def copy_runner(self, unit: Unit) -> Any:
        """What runs a copy on the device."""
        from lego_emit.targets.copy_devices import OpenClCopies

        self.find()
        return OpenClCopies(unit, open_device())

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """Programs that call every function."""
        self.find()
        return _Programs(units, open_device())

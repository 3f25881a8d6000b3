"""What the shader languages share: units packed into compute shaders, run over columns of numbers.

A shader calls the functions of some units, one for each branch of a switch. On Vulkan, wgpu runs it;
Mesa's software driver will do.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lego_emit.emit.printer import Printer
from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Function
from lego_emit.printers.c_array import array_function
from lego_emit.printers.shaders import ShaderPrinter
from lego_emit.run.target import Library

if TYPE_CHECKING:
    import numpy as np

GROUP = 64  # invocations in a work group
MOST_GROUPS = 65535  # what every implementation offers along x; beyond it the shader loops

CALLS = 16  # in one shader: every shader and every pipeline costs a start


def wide(function: Function) -> bool:
    """Whether the function's integers have 64 bits."""
    return any("64" in kind for kind in (function.index_type, *function.declared))


@dataclass
class Shader:
    """Units that share no name and the functions of them that a shader calls. A language writes
    text(); what it names begins with lego_run_, as the units' functions are in the same scope."""

    wide: bool
    path: Path
    names: set[str] = field(default_factory=set)
    units: list[Unit] = field(default_factory=list)
    calls: list[tuple[Function, Printer]] = field(default_factory=list)

    suffix = ""

    @property
    def sources(self) -> str:
        """The texts of all units, one after the other."""
        return "\n".join(unit.source for unit in self.units)

    def text(self) -> str:
        """The text of the compute shader that calls every function."""
        raise NotImplementedError


def array_form(unit: Unit, function: Function) -> Function:
    """The array form as a function over columns."""
    return array_function(function, cast(ShaderPrinter, unit.printer).array_name(function.name))


def field_form(function: Function) -> Function:
    """The functions that read and write its fields, as one that is called."""
    return replace(function, name=function.packing.get)


def is_field_form(function: Function) -> bool:
    """Whether it is those."""
    return function.packing is not None and function.name == function.packing.get


Places = Mapping[tuple[int, str], tuple[Path, int]]


def shaders(language: type[Shader], units: Sequence[Unit], folder: Path) -> Places:
    """Write compute shaders that call every function of the units, and every array form; where
    to find each by its unit's number and its name: the shader and the branch."""
    made: list[Shader] = []
    places = {}
    for u, unit in enumerate(units):
        printer = cast(ShaderPrinter, unit.printer)
        calls = [
            *unit.program.functions,
            *(array_form(unit, f) for f in unit.program.functions if printer.counts(f)),
            *(field_form(f) for f in unit.program.functions if f.packing is not None),
        ]
        names = {unit.program.name, *(f.name for f in calls)}
        names.update(*(unit.printer.companions(f.name) for f in unit.program.functions))
        names |= {s.struct for s, _ in unit.program.structs if not printer.is_vector(s)}
        extended = any(wide(f) for f in calls)
        shader = next(
            (
                x
                for x in made
                if x.wide == extended
                and not x.names & names
                and len(x.calls) < CALLS
                and not any(one.program.constants for one in (unit, *x.units))
            ),
            None,
        )
        if shader is None:
            path = folder / f"units_{len(made)}{language.suffix}"
            made.append(shader := language(extended, path))
        shader.names |= names
        shader.units.append(unit)
        for f in calls:
            places[u, f.name] = shader.path, len(shader.calls)
            shader.calls.append((f, unit.printer))
    for shader in made:
        shader.path.write_text(shader.text())
    return places


class Shaders(Library):
    """Shaders on disk, made into pipelines when they are first called."""

    def __init__(
        self,
        units: Sequence[Unit],
        device: Device,
        places: Places,
    ):
        self._units, self._device, self._places = units, device, places
        self._pipelines: dict[Path, Any] = {}

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        """Run an array form, an element each."""
        import numpy as np

        columns = [np.full(count, x, np.int64) for x in scalars]
        form = array_form(self._units[unit], function)
        return self.call(unit, form, [*columns, np.arange(count, dtype=np.int64)])

    def fields(
        self,
        unit: int,
        function: Function,
        words: np.ndarray,
        inputs: list[np.ndarray],
        values: np.ndarray,
        sets: bool,
    ) -> None:
        """Read or set fields in one invocation."""
        import numpy as np

        count, n = len(words), len(values)
        if not n:
            return
        path, which = self._places[unit, function.packing.get]
        extended = any(wide(f) for f in self._units[unit].functions)
        word: Any = np.int64 if extended else np.int32
        more = np.array([sets, count], np.int64)
        columns = [*inputs, values, more, words.view(np.int32)]
        data = np.array([n, which], np.int32).tobytes()
        data += b"".join(c.astype(word).tobytes() for c in columns)
        if path not in self._pipelines:
            self._pipelines[path] = self._device.pipeline(path)
        changed = words if sets else values
        size = len(changed) * np.dtype(word).itemsize
        out = np.frombuffer(self._device.run(self._pipelines[path], data, size, 1), word)
        changed[:] = out.astype(np.int32).view(np.uint32) if sets else out

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """Run a function over arrays of the values of its parameters, one array each."""
        import numpy as np

        path, which = self._places[unit, function.name]
        # A shader with any 64-bit function keeps all its columns in 64 bits.
        extended = any(wide(f) for f in self._units[unit].program.functions)
        word: Any = np.int64 if extended else np.int32
        n = len(inputs[0])
        if n == 0:
            return [np.zeros(0, np.int64) for _ in function.outputs]
        columns = [c.astype(word).tobytes() for c in inputs[: len(function.passed)]]
        data = np.array([n, which], np.int32).tobytes() + (b"".join(columns) or bytes(8))
        if path not in self._pipelines:
            self._pipelines[path] = self._device.pipeline(path)
        size = len(function.outputs) * n * np.dtype(word).itemsize
        groups = min(-(-n // GROUP), MOST_GROUPS)
        out = np.frombuffer(self._device.run(self._pipelines[path], data, size, groups), word)
        if function.index_type.least == 0:
            out = out.view(np.uint64 if extended else np.uint32)
        return list(out.reshape(-1, n).astype(np.int64))


class Device:
    """An opened device: it makes pipelines of shader files and runs them."""

    name = ""
    wide = True  # whether it has 64-bit integers

    def pipeline(self, path: Path) -> Any:
        """The pipeline of a shader's file. Raises ToolchainError where it is refused."""
        raise NotImplementedError

    def run(self, pipeline: Any, data: bytes, size: int, groups: int) -> bytes:
        """Run over the bytes of the first buffer; the second one's size bytes."""
        raise NotImplementedError


class Vulkan(Device):
    """A device of Vulkan, reached through wgpu."""

    def __init__(self, target: str, entry: str, code: Callable[[Path], str | bytes]):
        """code: WGSL or SPIR-V of a shader's file, entry its function."""
        # Mesa complains on stderr where nothing says in which folder a display's socket would lie.
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
        wgpu: Any = importlib.import_module("wgpu")
        adapters = wgpu.gpu.enumerate_adapters_sync()
        vulkan = [a for a in adapters if a.info["backend_type"] == "Vulkan"]
        if not vulkan:
            raise ToolchainError(f"target {target!r}: wgpu finds no Vulkan driver")
        features = {"shader-int64"} & set(vulkan[0].features)
        self._device = vulkan[0].request_device_sync(required_features=list(features))
        self._target, self._entry, self._code, self._error = target, entry, code, wgpu.GPUError
        self.wide = bool(features)
        self.name = "Vulkan, {device}, {description}".format(**vulkan[0].info)

    def module(self, path: Path) -> Any:
        """The module of a shader's file. Raises ToolchainError where it is refused."""
        with self._refused(path):
            return self._device.create_shader_module(code=self._code(path))

    def pipeline(self, path: Path) -> Any:
        """A module of WGSL or SPIR-V."""
        module = self.module(path)
        with self._refused(path):
            return self._device.create_compute_pipeline(
                layout="auto", compute={"module": module, "entry_point": self._entry}
            )

    @contextmanager
    def _refused(self, path: Path) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            raise ToolchainError(
                f"target {self._target!r}: {path.name} was refused:\n{error}"
            ) from None

    def run(self, pipeline: Any, data: bytes, size: int, groups: int) -> bytes:
        """Both buffers are bound to storage."""
        inputs = self._device.create_buffer_with_data(data=data, usage="STORAGE")
        outputs = self._device.create_buffer(size=size, usage="STORAGE|COPY_SRC")
        return self._ran(pipeline, (inputs, outputs), (groups,))[1]

    def _ran(
        self,
        pipeline: Any,
        buffers: Sequence[Any],
        groups: Sequence[int],
        read: Sequence[int] = (1,),
    ) -> dict[int, bytes]:
        """The buffers of these numbers after a run over all of them."""
        group = self._device.create_bind_group(
            layout=pipeline.get_bind_group_layout(0),
            entries=[
                {"binding": k, "resource": {"buffer": b, "offset": 0, "size": b.size}}
                for k, b in enumerate(buffers)
            ],
        )
        encoder = self._device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(*groups)
        work.end()
        self._device.queue.submit([encoder.finish()])
        return {k: bytes(self._device.queue.read_buffer(buffers[k])) for k in read}

    def copied(self, pipeline: Any, buffers: Sequence[bytes], groups: int) -> bytes:
        """Run over a source, a destination and, where there are sizes, a uniform buffer of these; the destination after
        it."""
        usages = "STORAGE", "STORAGE|COPY_SRC", "UNIFORM"
        made = [
            self._device.create_buffer_with_data(data=data, usage=usage)
            for data, usage in zip(buffers, usages, strict=False)
        ]
        return self._ran(pipeline, made, (groups,))[1]

    def launched(
        self, pipeline: Any, buffers: Sequence[bytes], groups: Sequence[int]
    ) -> list[bytes]:
        """Run over buffers in storage, of bindings 0, 1 ..; all of them after it."""
        made = [
            self._device.create_buffer_with_data(data=data, usage="STORAGE|COPY_SRC")
            for data in buffers
        ]
        return [*self._ran(pipeline, made, groups, range(len(made))).values()]


def opened(target: str, package: str, drivers: str, make: Callable[[], Device]) -> Device:
    """The device that a Python package opens. Raises ToolchainError that says how to get what is
    missing."""
    if importlib.util.find_spec(package) is None:
        raise ToolchainError(
            f"target {target!r} runs shaders through {package}, which is not installed: "
            f"pip install {package}"
        )
    try:
        return make()
    except Exception as error:  # every library and driver has errors of its own here
        raise ToolchainError(
            f"target {target!r}: no device to run shaders on ({error}); "
            f"on Debian, a software driver: {drivers}"
        ) from error

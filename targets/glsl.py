"""GLSL: checked by glslangValidator, run as compute shaders.

Through OpenGL (EGL, moderngl) or Vulkan (wgpu); Mesa's software drivers will do for both.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError, WidthError
from lego_emit.ir.program import INDEX_TYPES, Function
from lego_emit.printers.c_array import array_function
from lego_emit.printers.glsl import GlslPrinter
from lego_emit.run.target import Library, Target, Toolchain

if TYPE_CHECKING:
    import numpy as np

GROUP = 64  # invocations in a work group
MOST_GROUPS = 65535  # what every implementation offers along x; beyond it the shader loops

CALLS = 16  # in one shader: every shader and every pipeline costs a start

# Names begin with lego_run_: the units' own functions are in the same scope.
SHADER = """#version 450
{extension}layout(local_size_x = {group}) in;
layout(std430, binding = 0) readonly buffer lego_run_Inputs {{
  int lego_run_count;
  int lego_run_which;
  {word} lego_run_in[];
}};
layout(std430, binding = 1) buffer lego_run_Outputs {{ {word} lego_run_out[]; }};

{sources}
void main() {{
  int lego_run_stride = int(gl_NumWorkGroups.x) * {group};
  int lego_run_i = int(gl_GlobalInvocationID.x);
  for (; lego_run_i < lego_run_count; lego_run_i += lego_run_stride) {{
    switch (lego_run_which) {{
{cases}
    }}
  }}
}}
"""


def wide(function: Function) -> bool:
    """Whether the function's integers have 64 bits."""
    return function.index_type.endswith("64")


@dataclass
class _Shader:
    """Units that share no name and the functions of them that a shader calls."""

    wide: bool
    path: Path
    names: set[str] = field(default_factory=set)
    units: list[Unit] = field(default_factory=list)
    calls: list[tuple[Function, str]] = field(default_factory=list)  # (function, its type)

    def text(self) -> str:
        word = "int64_t" if self.wide else "int"
        extension = "#extension GL_ARB_gpu_shader_int64 : require\n" if self.wide else ""
        cases = [case(k, f, T, word) for k, (f, T) in enumerate(self.calls)]
        sources = "\n".join(unit.source for unit in self.units)
        return SHADER.format(
            extension=extension, group=GROUP, word=word, sources=sources, cases="\n".join(cases)
        )


def case(number: int, function: Function, T: str, word: str) -> str:
    """The branch of a shader that calls a function over columns of arguments."""
    columns, count = range(len(function.params)), len(function.outputs)
    arguments = [f"{T}(lego_run_in[{k} * lego_run_count + lego_run_i])" for k in columns]
    if count == 1:
        body = [f"lego_run_out[lego_run_i] = {word}({function.name}({', '.join(arguments)}));"]
    else:
        results = [f"lego_run_{k}" for k in range(count)]
        body = [f"{T} {', '.join(results)};"]
        body += [f"{function.name}({', '.join([*arguments, *results])});"]
        body += [
            f"lego_run_out[{k} * lego_run_count + lego_run_i] = {word}({r});"
            for k, r in enumerate(results)
        ]
    lines = [f"case {number}: {{", *(f"  {line}" for line in body), "  break;", "}"]
    return "\n".join(f"      {line}" for line in lines)


def array_form(unit: Unit, function: Function) -> Function:
    """The array form as a function over columns."""
    return array_function(function, cast(GlslPrinter, unit.printer).array_name(function.name))


def shaders(units: Sequence[Unit], folder: Path) -> dict[tuple[int, str], tuple[Path, int]]:
    """Write compute shaders that call every function of the units, and every array form; where
    to find each by its unit's number and its name: the shader and the branch."""
    made: list[_Shader] = []
    places = {}
    for u, unit in enumerate(units):
        calls = [*unit.functions, *(array_form(unit, f) for f in unit.functions if f.axes)]
        names = {unit.program.name, *(f.name for f in calls)}
        extended = any(wide(f) for f in calls)
        shader = next(
            (
                x
                for x in made
                if x.wide == extended and not x.names & names and len(x.calls) < CALLS
            ),
            None,
        )
        if shader is None:
            made.append(shader := _Shader(extended, folder / f"units_{len(made)}.comp"))
        shader.names |= names
        shader.units.append(unit)
        for f in calls:
            places[u, f.name] = shader.path, len(shader.calls)
            shader.calls.append((f, unit.printer.types[f.index_type]))
    for shader in made:
        shader.path.write_text(shader.text())
    return places


class _Shaders(Library):
    """Shaders on disk, made into pipelines when they are first called."""

    def __init__(
        self,
        units: Sequence[Unit],
        device: _Device,
        places: dict[tuple[int, str], tuple[Path, int]],
    ):
        self._units, self._device, self._places = units, device, places
        self._pipelines: dict[Path, Any] = {}

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        import numpy as np

        columns = [np.full(count, x, np.int64) for x in scalars]
        form = array_form(self._units[unit], function)
        return self.call(unit, form, [*columns, np.arange(count, dtype=np.int64)])

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        import numpy as np

        path, which = self._places[unit, function.name]
        # A shader with any 64-bit function keeps all its columns in 64 bits.
        extended = any(wide(f) for f in self._units[unit].functions)
        word: Any = np.int64 if extended else np.int32
        low, high = INDEX_TYPES[function.index_type]
        n = len(inputs[0])
        if n == 0:
            return [np.zeros(0, np.int64) for _ in function.outputs]
        for param, column in zip(function.params, inputs, strict=False):
            if high < 2**63 and (column.min() < low or column.max() > high):
                raise WidthError(
                    f"{function.name}: {param.name} reaches from {column.min()} to {column.max()}, "
                    f"which does not fit {function.index_type}; emit with a wider index_type"
                )
        columns = [c.astype(word).tobytes() for c in inputs[: len(function.params)]]
        data = np.array([n, which], np.int32).tobytes() + (b"".join(columns) or bytes(8))
        if path not in self._pipelines:
            self._pipelines[path] = self._device.pipeline(path)
        size = len(function.outputs) * n * np.dtype(word).itemsize
        groups = min(-(-n // GROUP), MOST_GROUPS)
        out = np.frombuffer(self._device.run(self._pipelines[path], data, size, groups), word)
        if low == 0:
            out = out.view(np.uint64 if extended else np.uint32)
        return list(out.reshape(-1, n).astype(np.int64))


class _Device:
    """An opened device: it makes pipelines of shader files and runs them."""

    name = ""

    def pipeline(self, path: Path) -> Any:
        raise NotImplementedError

    def run(self, pipeline: Any, data: bytes, size: int, groups: int) -> bytes:
        """Run over the bytes of the first buffer; the second one's size bytes."""
        raise NotImplementedError


class _OpenGL(_Device):
    """OpenGL on a surfaceless EGL display."""

    def __init__(self):
        moderngl: Any = importlib.import_module("moderngl")
        self._context = moderngl.create_context(standalone=True, require=430, backend="egl")
        self._error = moderngl.Error
        self.name = "OpenGL {GL_VERSION}, {GL_RENDERER}".format(**self._context.info)

    def pipeline(self, path: Path) -> Any:
        with self._context:  # others in this process may have made theirs the current one
            try:
                return self._context.compute_shader(path.read_text())
            except self._error as error:
                raise ToolchainError(f"target 'glsl': {path.name} was refused:\n{error}") from None

    def run(self, pipeline: Any, data: bytes, size: int, groups: int) -> bytes:
        with self._context:
            inputs = self._context.buffer(data)
            outputs = self._context.buffer(reserve=size)
            try:
                inputs.bind_to_storage_buffer(0)
                outputs.bind_to_storage_buffer(1)
                pipeline.run(groups)
                return outputs.read()
            finally:
                inputs.release()
                outputs.release()


class _Vulkan(_Device):
    """Vulkan through wgpu, which takes the SPIR-V that glslangValidator makes."""

    def __init__(self, validator: str):
        wgpu: Any = importlib.import_module("wgpu")
        adapters = wgpu.gpu.enumerate_adapters_sync()
        vulkan = [a for a in adapters if a.info["backend_type"] == "Vulkan"]
        if not vulkan:
            raise ToolchainError("target 'glsl': wgpu finds no Vulkan driver")
        features = {"shader-int64"} & set(vulkan[0].features)
        self._device = vulkan[0].request_device_sync(required_features=list(features))
        self._validator, self._error = validator, wgpu.GPUError
        self.name = "Vulkan, {device}, {description}".format(**vulkan[0].info)

    def pipeline(self, path: Path) -> Any:
        code = path.with_suffix(".spv")
        if not code.exists():
            command = [self._validator, "-V", path.name, "-o", code.name]
            Target().execute(command, path.parent)
        try:
            module = self._device.create_shader_module(code=code.read_bytes())
            return self._device.create_compute_pipeline(
                layout="auto", compute={"module": module, "entry_point": "main"}
            )
        except self._error as error:
            raise ToolchainError(f"target 'glsl': {path.name} was refused:\n{error}") from None

    def run(self, pipeline: Any, data: bytes, size: int, groups: int) -> bytes:
        inputs = self._device.create_buffer_with_data(data=data, usage="STORAGE")
        outputs = self._device.create_buffer(size=size, usage="STORAGE|COPY_SRC")
        group = self._device.create_bind_group(
            layout=pipeline.get_bind_group_layout(0),
            entries=[
                {"binding": k, "resource": {"buffer": b, "offset": 0, "size": b.size}}
                for k, b in enumerate((inputs, outputs))
            ],
        )
        encoder = self._device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(groups)
        work.end()
        self._device.queue.submit([encoder.finish()])
        return bytes(self._device.queue.read_buffer(outputs))


@cache
def open_device(kind: str, validator: str) -> _Device:
    """The device, opened once in a process."""
    return _Vulkan(validator) if kind == "vulkan" else _OpenGL()


class GlslTarget(Target):
    """GLSL through OpenGL 4.3 or newer, without a window. glslangValidator checks every
    shader first."""

    name = "glsl"
    program = "glslangValidator"
    install = "apt-get install glslang-tools"
    kind = "opengl"
    package = "moderngl"
    drivers = "apt-get install libegl1 libgl1-mesa-dri"

    def find(self) -> Toolchain:
        """The validator, with the device that runs the shaders."""
        found = super().find()
        return Toolchain(found.path, f"{found.version}; {self._device(found.path).name}")

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """Compute shaders that call every function. Raises WidthError for 64 bits where the device
        has none."""
        validator = super().find().path
        device = self._device(validator)
        places = shaders(units, folder)
        names = sorted({path.name for path, _ in places.values()})
        self.execute([validator, *names], folder)
        return _Shaders(units, device, places)

    def spirv(self, units: Sequence[Unit], folder: Path) -> list[Path]:
        """Compile the units for Vulkan; the .spv files in folder, one for some units each. Raises
        ToolchainError where glslangValidator is missing or refuses the text."""
        validator = super().find().path
        paths = dict.fromkeys(path for path, _ in shaders(units, folder).values())
        for path in paths:  # one by one: files given together would be linked
            spv = path.with_suffix(".spv")
            self.execute([validator, "-V", path.name, "-o", spv.name], folder)
        return [path.with_suffix(".spv") for path in paths]

    def _device(self, validator: str) -> _Device:
        if importlib.util.find_spec(self.package) is None:
            raise ToolchainError(
                f"target {self.name!r} runs shaders through {self.package}, which is not "
                f"installed: pip install {self.package}"
            )
        try:
            return open_device(self.kind, validator)
        except Exception as error:  # every library and driver has errors of its own here
            raise ToolchainError(
                f"target {self.name!r}: no device to run shaders on ({error}); "
                f"on Debian, a software driver: {self.drivers}"
            ) from error


class VulkanGlslTarget(GlslTarget):
    """The same through Vulkan."""

    kind = "vulkan"
    package = "wgpu"
    drivers = "apt-get install mesa-vulkan-drivers"

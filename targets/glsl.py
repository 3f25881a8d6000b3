"""GLSL: checked by glslangValidator, run as compute shaders.

Through OpenGL (EGL, moderngl) or Vulkan (wgpu); Mesa's software drivers will do for both.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lego_emit.emit.printer import Printer
from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Function, Group
from lego_emit.run.target import Library, Target, Toolchain, call_arguments, outputs_of
from lego_emit.targets.shaders import (
    GROUP,
    Device,
    Shader,
    Shaders,
    Vulkan,
    is_field_form,
    opened,
    shaders,
)

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


class GlslShader(Shader):
    """A shader in GLSL."""

    suffix = ".comp"

    def text(self):
        """The text of the compute shader that calls every function."""
        word = "int64_t" if self.wide else "int"
        extension = "#extension GL_ARB_gpu_shader_int64 : require\n" if self.wide else ""
        cases = [case(k, f, printer, word) for k, (f, printer) in enumerate(self.calls)]
        return SHADER.format(
            extension=extension,
            group=GROUP,
            word=word,
            sources=self.sources,
            cases="\n".join(cases),
        )


MOST_WORDS = (
    256  # of an array that fields are run over: a variable of the shader, as macros take one
)


def field_case(number: int, function: Function, printer: Printer, word: str) -> str:
    """The branch that reads or sets fields, in order, of an array of words."""
    p, T = function.packing, printer.types[function.index_type]
    count = len(function.passed)
    values = [f"{T}(lego_run_in[{k} * lego_run_count + k])" for k in range(count)]

    def made(group: Group, texts: list[str]) -> str:
        own = printer.member_types(group, function.index_type)
        members = ", ".join(f"{T}({x})" for T, x in zip(own, texts, strict=True))
        return f"{group.struct or f'{own[0]}[{len(texts)}]'}({members})"

    given = call_arguments(function, values, made, printer.given)
    own = ", ".join(["lego_run_words[k]" if p.by_value else "lego_run_words", *given])
    value = f"{'int' if p.signed else 'uint'}(lego_run_in[{count} * lego_run_count + k])"
    put = f"{p.set}({own}, {value})"
    put = f"lego_run_words[k] = {put}" if p.by_value else put
    body = [
        "if (lego_run_i > 0) break;",
        f"int lego_run_at = {count + 1} * lego_run_count;",
        f"int lego_run_size = min(int(lego_run_in[lego_run_at + 1]), {MOST_WORDS});",
        f"uint lego_run_words[{MOST_WORDS}];",
        "for (int k = 0; k < lego_run_size; ++k)",
        "  lego_run_words[k] = uint(lego_run_in[lego_run_at + 2 + k]);",
        "bool lego_run_sets = int(lego_run_in[lego_run_at]) != 0;",
        "for (int k = 0; k < lego_run_count; ++k) {",
        f"  if (lego_run_sets) {put};",
        f"  else lego_run_out[k] = {word}({p.get}({own}));",
        "}",
        "for (int k = 0; lego_run_sets && k < lego_run_size; ++k)",
        f"  lego_run_out[k] = {word}(lego_run_words[k]);",
    ]
    lines = [f"case {number}: {{", *(f"  {line}" for line in body), "  break;", "}"]
    return "\n".join(f"      {line}" for line in lines)


def case(number: int, function: Function, printer: Printer, word: str) -> str:
    """The branch of a shader that calls a function over columns of arguments."""
    if is_field_form(function):
        return field_case(number, function, printer, word)
    columns, count, given = range(len(function.passed)), len(function.outputs), printer.given
    types = [printer.type_of(kind, function.index_type) for kind in function.output_types]
    T = printer.types[function.index_type]
    values = [f"{T}(lego_run_in[{k} * lego_run_count + lego_run_i])" for k in columns]

    def made(group: Group, texts: list[str]) -> str:
        own = printer.member_types(group, function.index_type)
        # A member may be a plain number.
        members = ", ".join(f"{T}({x})" for T, x in zip(own, texts, strict=True))
        return f"{group.struct or f'{own[0]}[{len(texts)}]'}({members})"

    arguments = call_arguments(function, values, made, given)
    if count == 1 or function.aggregate is not None:
        whole = function.aggregate
        kind = types[0] if whole is None else whole.struct or f"{types[0]}[{count}]"
        body = [f"{kind} lego_run_r = {function.name}({', '.join(arguments)});"]
        results = outputs_of(function, "lego_run_r")
    else:
        results = [f"lego_run_{k}" for k in range(count)]
        body = [f"{T} {x};" for T, x in zip(types, results, strict=True)]
        body += [f"{function.name}({', '.join([*arguments, *results])});"]
    body += [
        f"lego_run_out[{k} * lego_run_count + lego_run_i] = {word}({r});"
        for k, r in enumerate(results)
    ]
    lines = [f"case {number}: {{", *(f"  {line}" for line in body), "  break;", "}"]
    return "\n".join(f"      {line}" for line in lines)


class GlslShaders(Shaders):
    """Shaders whose arrays of words are short."""

    def fields(self, unit, function, words, inputs, values, sets):
        """Read or set fields. Raises ToolchainError for too many words."""
        if len(words) > MOST_WORDS:
            raise ToolchainError(
                f"{function.packing.get}: {len(words):,} words; a shader is run over {MOST_WORDS}"
            )
        super().fields(unit, function, words, inputs, values, sets)


class _OpenGL(Device):
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


@cache
def open_device(kind: str, validator: str) -> Device:
    """The device, opened once in a process."""
    if kind == "opengl":
        return _OpenGL()

    def spirv(path: Path) -> bytes:
        code = path.with_suffix(".spv")
        if not code.exists():
            command = [validator, "-V", path.name, "-o", code.name]
            Target().execute(command, path.parent)
        return code.read_bytes()

    return Vulkan("glsl", "main", spirv)


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
        validator = self.path()
        device = self._device(validator)
        places = shaders(GlslShader, units, folder)
        names = sorted({path.name for path, _ in places.values()})
        self.execute([validator, *names], folder)
        return GlslShaders(units, device, places)

    def spirv(self, units: Sequence[Unit], folder: Path) -> list[Path]:
        """Compile the units for Vulkan; the .spv files in folder, one for some units each. Raises
        ToolchainError where glslangValidator is missing or refuses the text."""
        validator = self.path()
        paths = dict.fromkeys(path for path, _ in shaders(GlslShader, units, folder).values())
        for path in paths:  # one by one: files given together would be linked
            spv = path.with_suffix(".spv")
            self.execute([validator, "-V", path.name, "-o", spv.name], folder)
        return [path.with_suffix(".spv") for path in paths]

    def copy_runner(self, unit: Unit) -> Any:
        """What runs a copy, through Vulkan."""
        from lego_emit.targets.copy_devices import ShaderCopies

        validator = self.path()
        device = opened(
            self.name, "wgpu", VulkanGlslTarget.drivers, lambda: open_device("vulkan", validator)
        )
        routine: Any = unit.program.routines[0]
        text, given = f"#version 450\n{unit.source}\n", list[str]()
        if routine.sizes:
            given = [f"lego_run.size{k}" for k in range(len(routine.sizes))]
            members = " ".join(f"int size{k};" for k in range(len(routine.sizes)))
            text += (
                f"layout(std140, binding = 2) uniform lego_run_Sizes {{ {members} }} lego_run;\n"
            )
        text += f"void main() {{ {routine.name}({', '.join(given)}); }}\n"
        return ShaderCopies(unit, device, text, ".comp")

    def _device(self, validator: str) -> Device:
        return opened(
            self.name, self.package, self.drivers, lambda: open_device(self.kind, validator)
        )


class VulkanGlslTarget(GlslTarget):
    """The same through Vulkan."""

    kind = "vulkan"
    package = "wgpu"
    drivers = "apt-get install mesa-vulkan-drivers"

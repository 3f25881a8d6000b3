"""WGSL: run as compute shaders by wgpu, whose compiler of WGSL is Firefox's; Mesa's software driver
will do."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lego_emit.emit.printer import Printer
from lego_emit.emit.unit import Unit
from lego_emit.errors import WidthError
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
    wide,
)

SHADER = """struct lego_run_Inputs {{
  count: i32,
  which: i32,
  columns: array<{word}>,
}}

@group(0) @binding(0) var<storage, read> lego_run_in: lego_run_Inputs;
@group(0) @binding(1) var<storage, read_write> lego_run_out: array<{word}>;

{sources}
@compute @workgroup_size({group})
fn lego_run(
  @builtin(global_invocation_id) lego_run_id: vec3<u32>,
  @builtin(num_workgroups) lego_run_groups: vec3<u32>,
) {{
  let lego_run_count = lego_run_in.count;
  let lego_run_stride = i32(lego_run_groups.x) * {group};
  for (var lego_run_i = i32(lego_run_id.x); lego_run_i < lego_run_count; lego_run_i += lego_run_stride) {{
    switch (lego_run_in.which) {{
{cases}
      default: {{}}
    }}
  }}
}}
"""


class WgslShader(Shader):
    """A module of WGSL."""

    suffix = ".wgsl"

    def text(self):
        """The text of the compute shader that calls every function."""
        word = "i64" if self.wide else "i32"
        cases = [case(k, f, printer, word) for k, (f, printer) in enumerate(self.calls)]
        return SHADER.format(group=GROUP, word=word, sources=self.sources, cases="\n".join(cases))


def field_case(number: int, function: Function, printer: Printer, word: str) -> str:
    """The branch that reads or sets fields, in order, of an array of words."""
    p, T = function.packing, printer.types[function.index_type]
    count = len(function.passed)
    values = [f"{T}(lego_run_in.columns[{k} * lego_run_count + k])" for k in range(count)]

    def made(group: Group, texts: list[str]) -> str:
        own = printer.member_types(group, function.index_type)[0]
        return f"{group.struct or f'array<{own}, {len(texts)}>'}({', '.join(texts)})"

    given = ", ".join(call_arguments(function, values, made, printer.given))
    value = f"{'i32' if p.signed else 'u32'}(lego_run_in.columns[{count} * lego_run_count + k])"
    after = printer.naming.after
    places = ["let at = k;"]
    if not p.by_value:
        position = printer.naming.public(f"{p.name}_position")
        places = [f"let at = i32({position}({given}).word);"]
    if p.straddles:
        places.append(f"let next = i32({after(p.get, 'other')}({given}));")

    def word_at(place: str) -> str:
        return f"u32(lego_run_out[{place}])"

    sets = [f"let first = {p.set}({word_at('at')}, {given}, {value});"]
    if p.straddles:
        sets += [
            f"let second = {after(p.set, 'other')}({word_at('next')}, {given}, {value});",
            f"if (next != at) {{ lego_run_out[next] = {word}(second); }}",
        ]
    sets.append(f"lego_run_out[at] = {word}(first);")
    own = [f"u32(lego_run_in.columns[start + {x}])" for x in ("at", "next")[: 1 + p.straddles]]
    body = [
        "if (lego_run_i > 0) { break; }",
        f"let start = {count + 1} * lego_run_count + 2;",
        "let size = i32(lego_run_in.columns[start - 1]);",
        "let sets = i32(lego_run_in.columns[start - 2]) != 0;",
        "for (var k = 0; sets && k < size; k++) { lego_run_out[k] = lego_run_in.columns[start + k]; }",
        "for (var k = 0; k < lego_run_count; k++) {",
        *(f"  {line}" for line in places),
        "  if (sets) {",
        *(f"    {line}" for line in sets),
        f"  }} else {{ lego_run_out[k] = {word}({p.get}({', '.join([*own, given])})); }}",
        "}",
    ]
    lines = [f"case {number}: {{", *(f"  {line}" for line in body), "}"]
    return "\n".join(f"      {line}" for line in lines)


def case(number: int, function: Function, printer: Printer, word: str) -> str:
    """The branch of a shader that calls a function over columns of arguments."""
    if is_field_form(function):
        return field_case(number, function, printer, word)
    columns, T = range(len(function.passed)), printer.types[function.index_type]
    values = [f"{T}(lego_run_in.columns[{k} * lego_run_count + lego_run_i])" for k in columns]

    def made(group: Group, texts: list[str]) -> str:
        own = printer.member_types(group, function.index_type)[0]
        return f"{group.struct or f'array<{own}, {len(texts)}>'}({', '.join(texts)})"

    arguments = call_arguments(function, values, made, printer.given)
    body = [f"let lego_run_result = {function.name}({', '.join(arguments)});"]
    kinds = [printer.type_of(kind, function.index_type) for kind in function.output_types]
    texts = zip(kinds, outputs_of(function, "lego_run_result"), strict=True)
    wide = {("u32", "i64"): "i64(u64({}))"}  # wgpu's i64(u32) keeps a sign
    body += [
        f"lego_run_out[{k} * lego_run_count + lego_run_i] = {wide.get((T, word), f'{word}({{}})').format(text)};"
        for k, (T, text) in enumerate(texts)
    ]
    lines = [f"case {number}: {{", *(f"  {line}" for line in body), "}"]
    return "\n".join(f"      {line}" for line in lines)


@cache
def open_device() -> Vulkan:
    """The device, opened once in a process."""
    return Vulkan("wgsl", "lego_run", Path.read_text)


def open_copies(entry: str) -> Vulkan:
    """A device that runs an entry point of this name."""
    return Vulkan("wgsl", entry, Path.read_text)


class WgslTarget(Target):
    """WGSL through wgpu and Vulkan, without a window; Chrome's compiler checks each text, too."""

    name = "wgsl"
    drivers = "apt-get install mesa-vulkan-drivers"

    def find(self) -> Toolchain:
        """The wgpu that this interpreter imports, with the device that runs the shaders."""
        device = self._device()
        return Toolchain("wgpu", f"wgpu {importlib.metadata.version('wgpu')}; {device.name}")

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """Compute shaders that call every function. Raises WidthError for 64 bits where the device
        has none."""
        device = self._device()
        for unit in units:
            for f in unit.program.functions:
                if wide(f) and not device.wide:
                    raise WidthError(
                        f"{f.name}: {device.name} has no 64-bit integers; emit with "
                        "index_type='int32' or 'uint32'"
                    )
        return Shaders(units, device, shaders(WgslShader, units, folder))

    def copy_runner(self, unit: Unit) -> Any:
        """What runs a copy on the device."""
        from lego_emit.targets.copy_devices import ShaderCopies

        self._device()
        device = open_copies(unit.program.routines[0].name)
        return ShaderCopies(unit, device, unit.source, ".wgsl")

    def _device(self) -> Device:
        return opened(self.name, "wgpu", self.drivers, open_device)

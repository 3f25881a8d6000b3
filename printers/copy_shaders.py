"""How GLSL and WGSL spell copies between memory layouts: compute shaders over arrays of words.

A memory is an array of one type: of uint, or of vectors of two or four; elements of 1 and 2 bytes share the words of an
array of uint, the first one in the lowest bits, and each word is written by one invocation.

References: The OpenGL Shading Language 4.60, "Compute Shader Inputs" and "Shader Invocation Control Functions"; WebGPU
Shading Language, "Resource Interface" and "Uniformity".
"""

from __future__ import annotations

import re
from typing import Any

from lego_emit.emit.nests import CopyTexts, NestForms
from lego_emit.ir.grids import PLACE, THREADS, TILE, Gather, Load
from lego_emit.ir.index_types import INT32
from lego_emit.ir.nests import DESTINATION, SOURCE, Abilities, Each, Ref
from lego_emit.ir.nodes import made, var
from lego_emit.printers.copy_threads import COMMA, LinesInThreads, ThreadForms

GLSL = ThreadForms(
    words={4: "uint", 8: "uvec2", 16: "uvec4"},
    zeros={4: "0u", 8: "uvec2(0u)", 16: "uvec4(0u)"},
    pieces="for (int {name} = int(gl_WorkGroupID.x); {name} < {count};\v{name} += int(gl_NumWorkGroups.x)) {{",
    items="for (int {name} = int(gl_LocalInvocationIndex); {name} < {count}; {name} += {threads}) {{",
    rounds="for (int {first} = 0; {first} < {count}; {first} += {threads}) {{",
    item="int {name} = {first} + int(gl_LocalInvocationIndex);",
    spread=(
        "for (int {name} = int(gl_GlobalInvocationID.x); {name} < {count};\v"
        "{name} += int(gl_NumWorkGroups.x) * {threads}) {{"
    ),
    word="{W} {name} = {value};",
    wait="memoryBarrierShared();\vbarrier();",
    truth="bool {name} = {expr};",
)
WGSL = ThreadForms(
    words={4: "u32", 8: "vec2<u32>", 16: "vec4<u32>"},
    zeros={4: "0u", 8: "vec2<u32>()", 16: "vec4<u32>()"},
    pieces="for (var {name} = i32({group}.x); {name} < {count}; {name} += i32({groups}.x)) {{",
    items="for (var {name} = i32({thread}); {name} < {count}; {name} += {threads}) {{",
    rounds="for (var {first} = 0; {first} < {count}; {first} += {threads}) {{",
    item="let {name} = {first} + i32({thread});",
    spread=(
        "for (var {name} = i32({group}.x) * {threads} + i32({thread}); {name} < {count};\v"
        "{name} += i32({groups}.x) * {threads}) {{"
    ),
    word="let {name} = {value};",
    wait="workgroupBarrier();",
    truth="let {name} = {expr};",
    call="let at = {call};",
)


class LinesInGlsl(LinesInThreads):
    """A function that main() calls, with the memories that it has."""

    forms = NestForms(let="int {name} = {expr};")
    threads = GLSL
    index_type = INT32
    word_head, start_of_parts = (
        "uint word = {value};",
        "for (int part = 0; part < {count}; ++part) {{",
    )

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        self.word = max(4, self.word)
        self.parts = max(1, routine.element_bytes // self.word)

    def named(self, word: str) -> str:
        """A variable of the file, which comes with the routine."""
        return self.printer.naming.after(self.routine.name.rstrip("_"), word)

    def type_of(self, word: str) -> str:
        """A type or a block of the file, which comes with the routine."""
        return self.printer.naming.type_after(self.routine.name.rstrip("_"), word)

    def at(self, ref: Ref, size: int) -> str:
        """A word in a memory or in the tile."""
        return f"{self.named(ref.array)}[{self.text(ref.offset)}]"

    def barrier(self, s: Any, indent: int) -> list[str]:
        """All invocations of the group wait."""
        return [self.line(text, indent) for text in self.threads.wait.split("\v")]

    def gather(self, s: Gather, indent: int) -> list[str]:
        """The elements of a word, one after the other."""
        bits, word = 32 // s.elements, f"{self.named(DESTINATION)}[{s.name}]"
        mask = f"{(1 << bits) - 1:#x}u"
        place = made("add", made("mul", s.elements, var(s.name)), var("part"))
        head = self.threads.spread.format(
            name=s.name,
            count=self.text(s.count, self.printer.ops["lt"].needs[1]),
            threads=THREADS,
            **self.own,
        )
        found = [self.line(head, indent), self.line(self.word_head.format(value=word), indent + 2)]
        found.append(self.line(self.start_of_parts.format(count=s.elements), indent + 2))
        inner = indent + 4
        found.append(self.line(self.forms.let.format(name=PLACE, expr=self.text(place)), inner))
        for arm in s.arms:
            found += self.lines(arm.lets, inner)
            found.append(self.line(f"if ({self.condition(arm.condition)}) {{", inner))
            value = ""
            if arm.source is not None:
                found.append(
                    self.line(
                        self.forms.let.format(name="origin", expr=self.text(arm.source)), inner + 2
                    )
                )
                at = f"{self.named(SOURCE)}[{self.text(made('div', var('origin'), s.elements))}]"
                lane = self.unsigned(
                    self.text(made("mul", made("mod", var("origin"), s.elements), bits))
                )
                read = self.threads.word.format(
                    W=self.threads.words[4], name="value", value=f"({at} >> {lane}) & {mask}"
                )
                found.append(self.line(read, inner + 2))
                value = f"(value << {self.unsigned(f'part * {bits}')})"
            cleared = f"(word & ~({mask} << {self.unsigned(f'part * {bits}')}))"
            text = (
                f"word = {cleared} | {value};" if arm.source is not None else f"word = {cleared};"
            )
            found += [self.line(text, inner + 2), self.line("}", inner)]
        return [
            *found,
            self.line("}", indent + 2),
            self.line(f"{word} = word;", indent + 2),
            self.line("}", indent),
        ]

    def unsigned(self, text: str) -> str:
        """The number of bits of a shift."""
        return f"({text})"

    def each(self, s: Each, indent: int) -> list[str]:
        """Results are out arguments."""
        found = [self.line(f"int {self.member(array)};", indent) for array in (SOURCE, DESTINATION)]
        given = [
            *(self.names.get(n, n) for n in s.arguments),
            *map(self.member, (SOURCE, DESTINATION)),
        ]
        found.append(self.line(f"{self.routine.functions[-1]}({', '.join(given)});", indent))
        return [*found, *super().each(s, indent)[1:]]

    def member(self, array: str) -> str:
        """The place that a call gives."""
        return "source_place" if array == SOURCE else "destination_place"

    def place_of(self, array: str) -> str:
        """The word that a call gives the place of."""
        return super().place_of(array).replace(f"{array}{self.word}[", f"{self.named(array)}[", 1)

    @property
    def aligned_said(self) -> str:
        """Where memories begin: a buffer is an array of words."""
        return ""

    def _docs(self, more: str) -> list[str]:
        blocks = f"{self.routine.functions[2]}({', '.join(self.names.values())})"
        each = 4 // self.routine.element_bytes
        shared = f", {each} in a word" if each > 1 else ""
        said = self.docs(
            f"Dispatch any number of groups of {THREADS}: {blocks} is best. {more}".strip()
        )
        said = [
            re.sub(r"@param (\w+)(.*)", lambda m: f"{self.named(m[1])}:{m[2]}{shared}", text)
            for text in said
        ]
        return [
            f"{self.printer.doc} {line}" for text in said for line in self.printer.comment(text)
        ]

    def kernel(self) -> list[str]:
        """The memories, and the function."""
        W, found = self.threads.words[self.word], ["", f"layout(local_size_x = {THREADS}) in;"]
        for at, (array, block) in enumerate(((SOURCE, "source"), (DESTINATION, "destination"))):
            access = "buffer" if at else "readonly buffer"
            found.append(
                f"layout(std430, binding = {at}) {access} {self.type_of(block)} {{ {W} {self.named(array)}[]; }};"
            )
        if self.has_tile:
            found.append(f"shared {W} {self.named(TILE)}[{-(-self.tile_bytes // self.word)}];")
        sizes = COMMA.join(f"int {name}" for name in self.names.values())
        head = self.printer.line(f"void {self.routine.name}({sizes}) {{", 0)
        return [
            *found, "", *self._docs(f"main() calls it{' with the sizes' * bool(sizes)}."), *head.split("\n"),
            *self.lines(self.routine.body, 2), "}",
        ]  # fmt: skip


class LinesInWgsl(LinesInGlsl):
    """An entry point with the memories that it has."""

    forms = NestForms(let="let {name} = {expr};")
    threads = WGSL
    word_head, start_of_parts = (
        "var word = {value};",
        "for (var part = 0; part < {count}; part++) {{",
    )
    distance = "u"
    own_names = {"thread": "own", "group": "group", "groups": "groups"}

    def unsigned(self, text: str) -> str:
        """The number of bits of a shift."""
        return f"u32({text})"

    def load(self, s: Load, indent: int) -> list[str]:
        """A word, or zero: select() would read in any case."""
        if s.condition is None:
            return super().load(s, indent)
        return [
            self.line(f"var {s.name} = {self.threads.zeros[s.bytes]};", indent),
            self.line(f"if ({self.condition(s.condition)}) {{", indent),
            self.line(f"{s.name} = {self.at(s.of, s.bytes)};", indent + 2),
            self.line("}", indent),
        ]

    def each(self, s: Each, indent: int) -> list[str]:
        """A call, and an element of it."""
        return LinesInThreads.each(self, s, indent)

    def member(self, array: str) -> str:
        """The place that a call gives."""
        return LinesInThreads.member(self, array)

    def kernel(self) -> list[str]:
        """The memories, the sizes, and the entry point."""
        W, own, sizes = self.threads.words[self.word], self.own, self.named("sizes")
        found = [""]
        for at, (array, access) in enumerate(((SOURCE, "read"), (DESTINATION, "read_write"))):
            memory = f"var<storage, {access}> {self.named(array)}: array<{W}>;"
            found.append(f"@group(0) @binding({at}) {memory}")
        names = [*self.names.values()]
        if names:
            struct = self.type_of("parameters")
            found += [f"struct {struct} {{", *(f"  {name}: i32," for name in names), "}"]
            found.append(f"@group(0) @binding(2) var<uniform> {sizes}: {struct};")
        if self.has_tile:
            count = -(-self.tile_bytes // self.word)
            found.append(f"var<workgroup> {self.named(TILE)}: array<{W}, {count}>;")
        return [
            *found, "", *self._docs("The sizes are a uniform buffer of i32." if names else ""),
            f"@compute @workgroup_size({THREADS})",
            f"fn {self.routine.name}(",
            f"  @builtin(local_invocation_index) {own['thread']}: u32,",
            f"  @builtin(workgroup_id) {own['group']}: vec3<u32>,",
            f"  @builtin(num_workgroups) {own['groups']}: vec3<u32>,",
            ") {",
            *(f"  let {name} = {sizes}.{name};" for name in names),
            *self.lines(self.routine.body, 2), "}",
        ]  # fmt: skip


class CopiesInGlsl(CopyTexts):
    """What a file's template has of its copies."""

    lines_of: Any = LinesInGlsl
    index_type, places_type = INT32, "int32"
    abilities = Abilities(threads=True, packs=True, most_blocks=65535, shared=2**14)
    own = (PLACE, "source_place", "destination_place")

    @classmethod
    def file_names(cls, naming: Any, name: str) -> list[str]:
        """The function, and the variables and types that come with it."""
        own = name.rstrip("_")
        types = [naming.type_after(own, word) for word in ("source", "destination", "parameters")]
        return [
            name,
            *(naming.after(own, word) for word in (SOURCE, DESTINATION, TILE, "sizes")),
            *types,
        ]

    @property
    def lines(self) -> list[str]:
        """The shaders of the file, one after the other."""
        return [line for part in self.parts for line in part.kernel()]


class CopiesInWgsl(CopiesInGlsl):
    """What a file's template has of its copies."""

    lines_of = LinesInWgsl

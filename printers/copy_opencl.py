"""How OpenCL C and Metal spell copies between memory layouts: kernels of pointers to any elements of the size.

References: The OpenCL C Specification, "Work-Item Functions", "Synchronization Functions" and "Variables in the local
address space"; Metal Shading Language Specification, "Kernel Functions" and "Attributes for Kernel Function Input Arguments".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lego_emit.emit.nests import CopyTexts
from lego_emit.ir.grids import THREADS, TILE, VECTOR
from lego_emit.ir.nests import DESTINATION, SOURCE, Abilities
from lego_emit.printers.copy_threads import COMMA, LinesInThreads, ThreadForms

WORDS = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong", 16: "uint4"}
OPENCL = ThreadForms(
    words=WORDS,
    zeros={1: "(uchar)0", 2: "(ushort)0", 4: "0u", 8: "0ul", 16: "(uint4)(0)"},
    pieces="for ({I} {name} = (long)get_group_id(0); {name} < {count};\v{name} += (long)get_num_groups(0)) {{",
    items="for ({I} {name} = (long)get_local_id(0); {name} < {count}; {name} += {threads}) {{",
    rounds="for (uint {first} = 0; {first} < {count}; {first} += {threads}) {{",
    item="const {I} {name} = (long)({first} + get_local_id(0));",
    spread=(
        "for ({I} {name} = (long)get_global_id(0); {name} < {count};\v{name} += (long)get_global_size(0)) {{"
    ),
    unroll="#pragma unroll{rounds}",
    wait="barrier(CLK_LOCAL_MEM_FENCE);",
    aligned="((size_t)src | (size_t)dst) % {bytes} == 0",
)


class LinesInOpenCl(LinesInThreads):
    """A kernel of pointers to global memory."""

    threads = OPENCL
    memory, shared, near = "global ", f"local uint4 {TILE}[{{count}}];", "local "

    def cast(self, T: str, name: str) -> str:
        """A pointer to words."""
        return f"({T} *){name}"

    def views(self) -> list[str]:
        """The memories as words."""
        found: list[str] = []
        if self.has_tile:
            found.append(self.shared.format(count=-(-self.tile_bytes // VECTOR)))
        for size in self.sizes:
            W = self.threads.words[size]
            for array, T in (
                (SOURCE, f"{self.memory}const {W}"), (DESTINATION, f"{self.memory}{W}"), (TILE, f"{self.near}{W}"),
            ):  # fmt: skip
                if self.reads(array, size):
                    found.append(f"{T} *const {array}{size} = {self.cast(T, array)};")
        return [self.line(text, 2) for text in found]

    @property
    def launched(self) -> str:
        """What a launch has, in words."""
        blocks = f"{self.routine.functions[2]}({', '.join(self.names.values())})"
        return f"@note Launch groups of {THREADS} work items, any number of them: {blocks} is best."

    @property
    def parameters(self) -> list[str]:
        """The sizes and both memories."""
        sizes = [f"{self.integer} {name}" for name in self.names.values()]
        return [*sizes, "global const void *restrict src", "global void *restrict dst"]

    start = f"kernel __attribute__((reqd_work_group_size({THREADS}, 1, 1))) void"
    end = " {"

    def kernel(self) -> list[str]:
        """The kernel with its comment."""
        p = self.printer
        found = [
            "",
            *(
                f"/// {line}"
                for text in self.docs(self.launched)
                for line in p.comment(text, "///")
            ),
        ]
        found += p.head(
            f"{self.start} {self.routine.name}", COMMA.join(self.parameters), self.end
        ).split("\n")
        found += [f"  (void){name};" for name in self.unread()]
        return [*found, *self.views(), *self.lines(self.routine.body, 2), "}"]


METAL = replace(
    OPENCL,
    words={**WORDS, 16: "metal::uint4"},
    zeros={1: "uchar(0)", 2: "ushort(0)", 4: "0u", 8: "ulong(0)", 16: "metal::uint4(0)"},
    pieces="for ({I} {name} = {group}; {name} < {count}; {name} += {groups}) {{",
    items="for ({I} {name} = {thread}; {name} < {count}; {name} += {threads}) {{",
    item="const {I} {name} = {first} + {thread};",
    spread=(
        "for ({I} {name} = {group} * {I}({threads}) + {thread}; {name} < {count};\v"
        "{name} += {groups} * {I}({threads})) {{"
    ),
    wait="metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);",
    aligned="",
    call="const auto at = {call};",
)


class LinesInMetal(LinesInOpenCl):
    """The same in C++, with what a kernel is told of its thread among the parameters."""

    threads = METAL
    memory, shared, near = "device ", f"threadgroup metal::uint4 {TILE}[{{count}}];", "threadgroup "
    start, end = "kernel void", " {"
    own_names = {"thread": "own", "group": "group", "groups": "groups"}

    def cast(self, T: str, name: str) -> str:
        """A pointer to words, which a memory is anyway where its parameter has that type."""
        is_one = name != TILE and T.endswith(f" {self.threads.words[self.word]}")
        return name if is_one else f"reinterpret_cast<{T} *>({name})"

    @property
    def launched(self) -> str:
        """What a launch has, in words."""
        blocks = f"{self.routine.functions[2]}({', '.join(self.names.values())})"
        return (
            f"@note Launch threadgroups of {THREADS} threads, any number of them: {blocks} is best."
        )

    @property
    def aligned_said(self) -> str:
        """Where memories begin: no kernel asks."""
        return "@pre Both memories begin at a multiple of 16 bytes"

    @property
    def parameters(self) -> list[str]:
        """Both memories, the sizes behind them, and which thread it is."""
        W, own = WORDS[self.word] if self.word < VECTOR else "metal::uint4", self.own
        found = [f"device const {W} *src [[buffer(0)]]", f"device {W} *dst [[buffer(1)]]"]
        found += [
            f"constant {self.integer} &{name} [[buffer({k + 2})]]"
            for k, name in enumerate(self.names.values())
        ]
        return [
            *found,
            f"uint {own['thread']} [[thread_position_in_threadgroup]]",
            f"uint {own['group']} [[threadgroup_position_in_grid]]",
            f"uint {own['groups']} [[threadgroups_per_grid]]",
        ]


class CopiesInOpenCl(CopyTexts):
    """What a file's template has of its copies."""

    lines_of: Any = LinesInOpenCl
    abilities = Abilities(threads=True, shared=2**15)
    includes: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The kernels of the file, one after the other."""
        return [line for part in self.parts for line in part.kernel()]


class CopiesInMetal(CopiesInOpenCl):
    """What a file's template has of its copies."""

    lines_of = LinesInMetal

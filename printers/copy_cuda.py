"""How CUDA C and HIP spell copies between memory layouts: a kernel of any type of the element's size, and what launches
it.

Reference: CUDA C++ Programming Guide, "Execution Configuration", "Integer Intrinsics" (of __byte_perm) and "Device Memory
Accesses" (of alignment, and words of up to 16 bytes).
"""

from __future__ import annotations

from typing import Any

from lego_emit.emit.nests import CopyTexts
from lego_emit.ir.grids import THREADS, TILE, Mix
from lego_emit.ir.nests import DESTINATION, SOURCE, Abilities
from lego_emit.printers.copy_threads import COMMA, LinesInThreads, ThreadForms

WORDS = {
    1: "unsigned char",
    2: "unsigned short",
    4: "unsigned",
    8: "unsigned long long",
    16: "uint4",
}
RESIDENT = 4  # blocks of a multiprocessor, whose threads have 64 registers each then
CUDA = ThreadForms(
    words=WORDS,
    zeros={
        1: "static_cast<unsigned char>(0)",
        2: "static_cast<unsigned short>(0)",
        4: "0u",
        8: "0ull",
        16: "uint4{}",
    },
    pieces="for ({I} {name} = blockIdx.x; {name} < {count}; {name} += gridDim.x) {{",
    items="for ({I} {name} = threadIdx.x; {name} < {count}; {name} += {threads}) {{",
    rounds="for (unsigned {first} = 0; {first} < {count}; {first} += {threads}) {{",
    item="const {I} {name} = {first} + threadIdx.x;",
    spread=(
        "for ({I} {name} = blockIdx.x * {threads}LL + threadIdx.x; {name} < {count};\v{name} += gridDim.x * {threads}LL) {{"
    ),
    unroll="#pragma unroll{rounds}",
    wait="__syncthreads();",
    aligned=(
        "(reinterpret_cast<unsigned long long>(src)\v| reinterpret_cast<unsigned long long>(dst)) % {bytes} == 0"
    ),
    call="const auto at = {call};",
)


class LinesInCuda(LinesInThreads):
    """A kernel that is a template of the element's type, in shared memory of its own."""

    threads = CUDA
    guard, launches = "__CUDACC__", "!defined(__CUDACC_RTC__)"
    api = "cuda"

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        taken = {*names.values()}
        self.type = next(n for n in ("T", "Element", "ElementType") if n not in taken)

    def mixed(self, s: Mix) -> str:
        """One instruction for any four bytes of eight."""
        selector = sum(lane << 4 * k for k, lane in enumerate(s.lanes))
        return f"__byte_perm({s.x}, {s.y}, {selector:#06x})"

    def views(self) -> list[str]:
        """The memories as words."""
        found: list[str] = []
        if self.has_tile:
            found.append(f"__shared__ __align__(16) unsigned char {TILE}[{self.tile_bytes}];")
        for size in self.sizes:
            W = WORDS[size]
            if self.reads(SOURCE, size):
                found.append(f"const {W}* const src{size} = reinterpret_cast<const {W}*>(src);")
            found.append(f"{W}* const dst{size} = reinterpret_cast<{W}*>(dst);")
            if self.reads(TILE, size):
                own = TILE if size == 1 else f"reinterpret_cast<{W}*>({TILE})"
                found.append(f"{W}* const tile{size} = {own};")
        return [self.line(text, 2) for text in found]

    def kernel(self) -> list[str]:
        """The kernel, and what launches it."""
        r, T, p = self.routine, self.type, self.printer
        sizes = [f"{self.integer} {name}" for name in self.names.values()]
        memories = [f"const {T}* __restrict__ src", f"{T}* __restrict__ dst"]
        blocks = f"{r.functions[2]}({', '.join(self.names.values())})"
        said = self.docs(
            f"@note Launch blocks of {THREADS} threads, any number of them: {blocks} is best."
        )
        found = ["", f"#ifdef {self.guard}"]
        found += [f"/// {line}" for text in said for line in p.comment(text, "///")]
        found.append(f"template <class {T}>")
        head = f"__global__ void __launch_bounds__({THREADS}, {RESIDENT}) {r.name}"
        found += p.head(head, COMMA.join([*sizes, *memories]), " {").split("\n")
        plural = "s" * (r.element_bytes > 1)
        found.append(
            f'  static_assert(sizeof({T}) == {r.element_bytes}, "the elements must have {r.element_bytes} byte{plural}");'
        )
        found += [f"  (void){name};" for name in self.unread()]
        found += [*self.views(), *self.lines(r.body, 2), "}", ""]
        return [*found, *self.launch(sizes, blocks), "#endif"]

    def launch(self, sizes: list[str], blocks: str) -> list[str]:
        """The function for the host, with the runtime's types."""
        r, T, api = self.routine, self.type, self.api
        parameters = [*sizes, f"const {T}* src", f"{T}* dst", f"{api}Stream_t stream = nullptr"]
        given = COMMA.join([*self.names.values(), SOURCE, DESTINATION])
        call = f"{r.name}<<<static_cast<unsigned>({blocks}), {THREADS}, 0, stream>>>({given});"
        return [
            f"#if {self.launches}",
            f"/// Launches {r.name} on a stream, and returns {api}GetLastError().",
            f"template <class {T}>",
            *self.printer.head(
                f"inline {api}Error_t {r.name}_launch", COMMA.join(parameters), " {"
            ).split("\n"),
            self.line(call, 2),
            f"  return {api}GetLastError();",
            "}",
            "#endif",
        ]


class CopiesInCuda(CopyTexts):
    """What a file's template has of its copies."""

    lines_of: Any = LinesInCuda
    abilities = Abilities(threads=True)
    includes: tuple[str, ...] = ()

    @classmethod
    def file_names(cls, naming: Any, name: str) -> list[str]:
        """The kernel, and what launches it."""
        return [name, f"{name}_launch"]

    @property
    def lines(self) -> list[str]:
        """The kernels of the file, one after the other."""
        return [line for part in self.parts for line in part.kernel()]


class LinesInHip(LinesInCuda):
    """The same, launched by HIP's runtime."""

    guard = "__HIP__"
    launches = "defined(HIP_INCLUDE_HIP_HIP_RUNTIME_H) && !defined(__HIPCC_RTC__)"
    api = "hip"


class CopiesInHip(CopiesInCuda):
    """What a file's template has of its copies."""

    lines_of = LinesInHip

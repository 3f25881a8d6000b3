"""What runs a copy for GPUs where there is none: its kernel as C++ on the host, thread by thread.

Threads of a block are coroutines, which take turns at barriers; blocks run one after the other, fewer than there are
pieces. That checks what a kernel does, and not how fast.
"""

import tempfile
from collections.abc import Mapping, Sequence
from math import gcd
from pathlib import Path
from typing import Any

from lego_emit.emit.unit import Unit
from lego_emit.ir.grids import THREADS, VECTOR
from lego_emit.ir.nodes import evaluated
from lego_emit.packages import numpy as np
from lego_emit.run.target import Target
from lego_emit.targets.copies import apart

HOST = """
#include <ucontext.h>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace {
constexpr unsigned threads = %(threads)d, stack_bytes = 1 << 16;
ucontext_t scheduler, contexts[threads];
bool ended[threads];
std::unique_ptr<char[]> stacks{new char[std::size_t{threads} * stack_bytes]};
const std::function<void()>* running;
unsigned own_thread, own_block, all_blocks;
void run_thread() {
  (*running)();
  ended[own_thread] = true;
}
void wait_for_all() { swapcontext(&contexts[own_thread], &scheduler); }
void launch(unsigned blocks, const std::function<void()>& run) {
  running = &run;
  all_blocks = blocks;
  for (own_block = 0; own_block < blocks; ++own_block) {
    for (unsigned k = 0; k < threads; ++k) {
      getcontext(&contexts[k]);
      contexts[k].uc_stack.ss_sp = stacks.get() + std::size_t{k} * stack_bytes;
      contexts[k].uc_stack.ss_size = stack_bytes;
      contexts[k].uc_link = &scheduler;
      makecontext(&contexts[k], run_thread, 0);
      ended[k] = false;
    }
    for (bool left = true, back = false; left; back = !back) {
      left = false;
      for (unsigned k = 0; k < threads; ++k) {
        own_thread = back ? threads - 1 - k : k;
        if (ended[own_thread]) continue;
        swapcontext(&scheduler, &contexts[own_thread]);
        left = left || !ended[own_thread];
      }
    }
  }
}
}  // namespace
"""

CUDA = """
#define __CUDACC__
#define __CUDACC_RTC__
#define __HIP__
#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static

#define threadIdx (Index{own_thread})
#define blockIdx (Index{own_block})
#define gridDim (Index{all_blocks})
struct Index { unsigned x; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
[[maybe_unused]] static unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  const std::uint64_t both = (std::uint64_t{y} << 32) | x;
  unsigned found = 0;
  for (unsigned k = 0; k < 4; ++k) found |= unsigned(both >> (8 * (s >> (4 * k) & 7)) & 255) << (8 * k);
  return found;
}
[[maybe_unused]] static void __syncthreads() { wait_for_all(); }
"""

METAL = """
#define kernel
#define threadgroup
#include <metal_stdlib>
namespace metal {
struct alignas(16) uint4 {
  uint x, y, z, w;
  uint4() = default;
  explicit uint4(uint value) : x(value), y(value), z(value), w(value) {}
};
enum class mem_flags { mem_threadgroup };
inline void threadgroup_barrier(mem_flags) { wait_for_all(); }
}  // namespace metal
"""

# Of Metal memory begins where a buffer does.
METAL_CALL = """
  using T = {T};
  std::vector<metal::uint4> from(std::size_t({source}) / 16 + 1), to(std::size_t({destination}) / 16 + 1);
  std::memcpy(static_cast<void *>(from.data()), src, std::size_t({source}));
  std::memcpy(static_cast<void *>(to.data()), dst, std::size_t({destination}));
  const T *const own_source = reinterpret_cast<const T *>(from.data());
  T *const own_destination = reinterpret_cast<T *>(to.data());
  for (std::int64_t k = 0; k < rounds; ++k) {{
    launch({blocks}, [=] {{ {scope}{name}(own_source, own_destination, {sizes}own_thread, own_block, all_blocks); }});
  }}
  std::memcpy(dst, to.data(), std::size_t({destination}));
"""
CUDA_CALL = """
  using T = lego_element;
  for (std::int64_t k = 0; k < rounds; ++k) {{
    launch({blocks}, [=] {{ {scope}{name}({sizes}static_cast<const T *>(src), static_cast<T *>(dst)); }});
  }}
"""

BODY = """
#include "unit.h"
struct lego_element {{ unsigned char bytes[{size}]; }};

extern "C" int lego_copy(std::int64_t rounds, const std::int64_t *sizes, const void *src, void *dst) {{
  (void)sizes;
{call}
  return 0;
}}

extern "C" void lego_copy_bytes(const std::int64_t *sizes, std::int64_t *bytes) {{
  (void)sizes;
  bytes[0] = {source};
  bytes[1] = {destination};
}}

extern "C" void lego_memcpy(std::int64_t rounds, std::int64_t bytes, const void *src, void *dst) {{
  for (std::int64_t k = 0; k < rounds; ++k) memcpy(dst, src, static_cast<std::size_t>(bytes));
}}
"""
BLOCKS = 3


WORDS = {
    1: "unsigned char",
    2: "unsigned short",
    4: "unsigned",
    8: "unsigned long",
    16: "metal::uint4",
}


def build(target: Target, unit: Unit, folder: Path, flags: Sequence[str]) -> Path:
    """Compile the library of a kernel in CUDA C, HIP or Metal; flags: of the compiler beside those that make one."""
    routine: Any = unit.program.routines[0]
    is_metal = target.name == "metal"
    sizes = [f"sizes[{k}]" for k in range(len(routine.sizes))]
    scope = f"{unit.printer.namespace}::" if unit.printer.namespace else ""
    given = ", ".join(sizes)
    source, destination = (f"{scope}{name}({given})" for name in routine.functions[:2])
    call = (METAL_CALL if is_metal else CUDA_CALL).format(
        T=WORDS[gcd(routine.element_bytes, VECTOR)], source=source, destination=destination, blocks=BLOCKS,
        scope=scope, name=routine.name, sizes="".join(f"{s}, " for s in sizes),
    )  # fmt: skip
    # Threads of a block share what is static.
    (folder / "unit.h").write_text(
        unit.source.replace("threadgroup metal::uint4 tile[", "static metal::uint4 tile[")
    )
    text = HOST % {"threads": THREADS} + (METAL if is_metal else CUDA)
    text += BODY.format(
        size=routine.element_bytes, call=call, source=source, destination=destination
    )
    (folder / "copy.cpp").write_text(text)
    library = folder / "copy.so"
    quiet = ["-Wno-unknown-pragmas", *(["-Wno-unknown-attributes"] if is_metal else [])]
    flags = [*flags, *quiet, *apart(target)]
    command = [target.path(), *flags, "-fPIC", "-shared", "-o", str(library), "copy.cpp"]
    target.execute(command, cwd=folder)
    return library


OPENCL = """
kernel void lego_copy_bytes({sizes}global long *lego_bytes) {{
  lego_bytes[0] = {source_bytes}({given});
  lego_bytes[1] = {destination_bytes}({given});
}}
"""


class OpenClCopies:
    """A copy on a device of OpenCL. Buffers are the arrays themselves where the device can read these."""

    def __init__(self, unit: Any, device: Any):
        self.unit, self._device = unit, device
        routine = unit.program.routines[0]
        names = [f"lego_size{k}" for k in range(len(routine.sizes))]
        text = unit.source + OPENCL.format(
            sizes="".join(f"long {n}, " for n in names), given=", ".join(names),
            source_bytes=routine.functions[0], destination_bytes=routine.functions[1],
        )  # fmt: skip
        program = device.build(text)
        self._kernel, self._bytes = getattr(program, routine.name), program.lego_copy_bytes

    def _sizes(self, sizes: Mapping[str, int]) -> list[Any]:
        return [np.int64(sizes[n]) for n in self.unit.plan.space.sizes]

    def _buffer(self, array: Any, is_read: bool = False) -> Any:
        flags = self._device.cl.mem_flags
        if not array.nbytes:
            return self._device.cl.Buffer(self._device.context, flags.READ_WRITE, 16)
        kinds = (flags.READ_ONLY if is_read else flags.READ_WRITE) | flags.USE_HOST_PTR
        return self._device.cl.Buffer(self._device.context, kinds, hostbuf=array)

    def bytes(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """The bytes of both memories, by the emitted functions."""
        found = np.zeros(2, np.int64)
        buffer = self._buffer(found)
        self._bytes(self._device.queue, (1,), (1,), *self._sizes(sizes), buffer)
        self._device.cl.enqueue_copy(self._device.queue, found, buffer)
        return int(found[0]), int(found[1])

    def copy(
        self, sizes: Mapping[str, int], source: Any, destination: Any, rounds: int = 1
    ) -> None:
        """Run the kernel on two arrays."""
        arrays = [a.reshape(-1).view(np.uint8) for a in (source, destination)]
        of, to = self._buffer(arrays[0], True), self._buffer(arrays[1])
        given = [*self._sizes(sizes), of, to]
        for _ in range(rounds):
            self._kernel(self._device.queue, (BLOCKS * THREADS,), (THREADS,), *given)
        self._device.queue.finish()
        if arrays[1].nbytes:
            self._device.cl.enqueue_copy(self._device.queue, arrays[1], to)

    def memcpy(self, count: int, source: Any, destination: Any, rounds: int = 1) -> None:
        """Copy the memory as it is."""
        for _ in range(rounds):
            destination.reshape(-1).view(np.uint8)[:count] = source.reshape(-1).view(np.uint8)[
                :count
            ]


class ShaderCopies:
    """A copy as a compute shader, on a device of Vulkan: memories are whole words there."""

    def __init__(self, unit: Any, device: Any, text: str, suffix: str):
        self.unit, self._device = unit, device
        with tempfile.TemporaryDirectory(prefix="lego_emit_") as folder:
            path = Path(folder) / f"copy{suffix}"
            path.write_text(text)
            self._pipeline = device.pipeline(path)

    def _sizes(self, sizes: Mapping[str, int]) -> list[int]:
        return [int(sizes[n]) for n in self.unit.plan.space.sizes]

    def bytes(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """The bytes of both memories, by the program of the emitted functions."""
        program, routine = self.unit.program, self.unit.program.routines[0]
        found = []
        for name in routine.functions[:2]:
            function = next(f for f in program.functions if f.name == name)
            given = dict(zip((p.name for p in function.params), self._sizes(sizes), strict=True))
            found.append(int(evaluated(function.outputs[0][1], given, {})))
        return found[0], found[1]

    def copy(
        self, sizes: Mapping[str, int], source: Any, destination: Any, rounds: int = 1
    ) -> None:
        """Run the shader on two arrays."""
        whole = [_in_vectors(a) for a in (source, destination)]
        own = np.array([*self._sizes(sizes), 0, 0, 0, 0], np.int32)
        given = [*whole, own.tobytes()] if self._sizes(sizes) else whole
        for _ in range(rounds):
            found = self._device.copied(self._pipeline, given, BLOCKS)
            given[1] = found
        count = destination.nbytes
        destination.reshape(-1).view(np.uint8)[:] = np.frombuffer(given[1], np.uint8)[:count]

    def memcpy(self, count: int, source: Any, destination: Any, rounds: int = 1) -> None:
        """Copy the memory as it is."""
        for _ in range(rounds):
            destination.reshape(-1).view(np.uint8)[:count] = source.reshape(-1).view(np.uint8)[
                :count
            ]


def _in_vectors(array: Any) -> bytes:
    data = array.reshape(-1).view(np.uint8).tobytes()
    return data + bytes(16 - len(data) % 16)

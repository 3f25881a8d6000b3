"""Kernels of device functions of registers: compiled in a few files, checked, and timed."""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lego_emit import Linear

FILES = 16
BLOCKS, ITERATIONS, REPEAT = 132 * 4, 256, 9
MOST = 200 * 1024  # bytes of shared memory of a block
TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
ALONE = 4  # warps of a block where each has a tile of its own

PRELUDE = """
#include <cuda_runtime.h>
#include <cstddef>
#include <cstring>

template <typename V, typename T, typename... More>
__device__ __forceinline__ V packed(const T& first, const More&... more) {
  const T elements[] = {first, more...};
  V made;
  memcpy(&made, elements, sizeof(made));
  return made;
}

template <typename V, typename T, typename... More>
__device__ __forceinline__ void unpack(const V& value, T& first, More&... more) {
  T elements[1 + sizeof...(more)];
  memcpy(elements, &value, sizeof(value));
  const T* next = elements;
  first = *next;
  ((more = *++next), ...);
}
"""


KERNEL = """
__global__ void __launch_bounds__({bound}) run_{name}(const {T}* source, const int* given, {T}* out, int iterations) {{
  extern __shared__ __align__(16) unsigned char memory[];
  {T} from[{R}], to[{S}];
  const unsigned thread = threadIdx.x % {threads}u;
#pragma unroll
  for (int k = 0; k < {R}; ++k) from[k] = source[given[thread * {R} + k]];
  {index}
#pragma unroll 1
  for (int left = iterations; left > 0; --left) {{
    {name}({call});
    {again}
    if (left > 1) {{
#pragma unroll
      for (int k = 0; k < {R}; ++k) from[k] = to[k % {S}];
      {other}
    }}
  }}
  if (blockIdx.x == 0 || iterations < 0) {{
#pragma unroll
    for (int k = 0; k < {S}; ++k) out[threadIdx.x * {S} + k] = to[k];
  }}
}}
"""

LAUNCHER = """
typedef void (*Any)();
struct Kernel { Any run; };
static const Kernel kernels[] = {TABLE};

extern "C" const char* measure(int which, int blocks, int threads, int shared, int iterations,
                               int repeat, const void* source, size_t source_bytes,
                               const int* given, size_t given_bytes, void* out, size_t out_bytes,
                               float* ms) {
  const void* run = reinterpret_cast<const void*>(kernels[which].run);
  void *a = nullptr, *b = nullptr, *c = nullptr;
  cudaMalloc(&a, source_bytes);
  cudaMalloc(&b, given_bytes);
  cudaMalloc(&c, out_bytes);
  cudaMemcpy(a, source, source_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, given, given_bytes, cudaMemcpyHostToDevice);
  cudaMemset(c, 0xee, out_bytes);
  cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  cudaEvent_t start, end;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  int once = 1;
  void* given_once[] = {&a, &b, &c, &once};
  void* given_often[] = {&a, &b, &c, &iterations};
  cudaLaunchKernel(run, dim3(1), dim3(threads), given_once, shared, nullptr);
  cudaMemcpy(out, c, out_bytes, cudaMemcpyDeviceToHost);
  for (int k = 0; k < repeat; ++k) {
    cudaEventRecord(start);
    cudaLaunchKernel(run, dim3(blocks), dim3(threads), given_often, shared, nullptr);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(ms + k, start, end);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  const cudaError_t last = cudaGetLastError();
  return cudaGetErrorString(error != cudaSuccess ? error : last);
}
"""


@dataclass(frozen=True)
class Case:
    """What is done: a conversion, or along an axis a gather, of a tile."""

    title: str
    start: Linear
    end: Linear
    element_bytes: int
    axis: str = ""

    @property
    def warps(self) -> int:
        """That share a tile."""
        return max(x.in_dims.get("warp", 1) for x in (self.start, self.end))

    @property
    def tiles(self) -> int:
        """Of a block."""
        return ALONE if self.warps == 1 else 1


@dataclass(frozen=True)
class Kernel:
    """One way of one case. room: bytes of shared memory of a tile; plan: as text; price: what the
    planner thinks that it costs."""

    case: Case
    way: str
    name: str
    text: str
    room: int
    kind: str = ""
    plan: str = ""
    price: float = 0.0

    @property
    def threads(self) -> int:
        """Of a block."""
        return 32 * self.case.warps * self.case.tiles


def called(name: str, case: Case, room: int, block: bool) -> str:
    """A kernel that calls a function again and again."""
    before, after = (x.in_dims.get("register", 1) for x in (case.start, case.end))
    given = ["from", *["index"] * bool(case.axis), "to"]
    index = other = ""
    if case.axis:
        every = f"for (int k = 0; k < {before}; ++k)"
        threads, last = 32 * case.warps, case.start.out_dims[case.axis] - 1
        index = f"int index[{before}];\n  {every} index[k] = given[({threads} + thread) * {before} + k];"
        other = f"{every} index[k] = (index[k] + 1) & {last};"
    if room:
        given.append(f"memory + threadIdx.x / 32u * {room}u" if case.warps == 1 else "memory")
    again = ("__syncthreads();" if block else "__syncwarp();") if room else ""
    return KERNEL.format(
        name=name,
        T=TYPES[case.element_bytes],
        R=before,
        S=after,
        threads=32 * case.warps,
        bound=32 * case.warps * case.tiles,
        index=index,
        other=other,
        call=", ".join(given),
        again=again,
    )


def coordinates(layout: Linear, warps: int) -> tuple[np.ndarray, ...]:
    """Of what each register of each thread holds: arrays (threads, registers)."""
    registers = layout.in_dims.get("register", 1)
    warp, lane, register = np.indices((warps, 32, registers))
    given = {"register": register, "lane": lane, "warp": warp}
    found = layout.reference_apply(tuple(given[n] for n in layout.coordinates))
    results = found if isinstance(found, tuple) else (found,)
    wide = [np.broadcast_to(np.asarray(r), lane.shape) for r in results]
    return tuple(r.reshape(warps * 32, registers) for r in wide)


def tables(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The elements that threads hold (then their indices), and those that they shall get."""
    sizes = case.start.physical_dims
    start, end = (coordinates(x, case.warps) for x in (case.start, case.end))
    held = np.ravel_multi_index(start, sizes)
    if case.axis:
        k = case.start.results.index(case.axis)
        index = np.random.default_rng(5).integers(0, sizes[k], sizes)[start]
        held = np.concatenate([held, index])
        end = (*start[:k], index, *start[k + 1 :])
    return held.astype(np.int32), np.ravel_multi_index(end, sizes)


def measured(library: Any, which: int, one: Kernel) -> dict[str, Any]:
    """Whether it is right, and the nanoseconds of a tile, the device at work."""
    case = one.case
    given, wanted = tables(case)
    kind = np.dtype(f"u{case.element_bytes}")
    size = case.start.physical_size
    source = np.frombuffer(np.random.default_rng(7).bytes(size * kind.itemsize), kind)
    out = np.zeros((one.threads, wanted.shape[1]), kind)
    ms = np.zeros(REPEAT, np.float32)
    arrays: list[Any] = []
    for array in (source, given, out):
        arrays += [array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)]
    said = library.measure(
        which,
        BLOCKS,
        one.threads,
        one.room * case.tiles,
        ITERATIONS,
        REPEAT,
        *arrays,
        ms.ctypes.data_as(ctypes.c_void_p),
    )
    expected = np.tile(source[wanted], (one.threads // wanted.shape[0], 1))
    count = BLOCKS * case.tiles * ITERATIONS
    return {
        "title": case.title,
        "shape": [*case.start.physical_dims],
        "bytes": case.element_bytes,
        "axis": case.axis,
        "warps": case.warps,
        "way": one.way,
        "kind": one.kind,
        "plan": one.plan,
        "price": one.price,
        "error": said.decode(),
        "wrong": int((out != expected).sum()),
        "ns": float(np.median(ms)) * 1e6 / count,
        "least": float(ms.min()) * 1e6 / count,
    }


def options(about: str, folder: str) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("folder", nargs="?", default=folder, type=Path)
    parser.add_argument("--arch", default="native", help="of nvcc, as sm_90")
    parser.add_argument("--only-compile", action="store_true", help="no GPU: compile alone")
    parser.add_argument("--every", type=int, default=1, help="each so many cases alone")
    return parser.parse_args()


def compiled(folder: Path, groups: Sequence[Sequence[Kernel]], arch: str) -> None:
    """A library of each group of kernels. Exits where nvcc refuses one."""
    most = os.cpu_count() or 1
    running: list[tuple[Path, subprocess.Popen[bytes]]] = []
    for number, group in enumerate(groups):
        table = ", ".join(f"{{reinterpret_cast<Any>(run_{k.name})}}" for k in group)
        path = folder / f"group{number}.cu"
        text = [PRELUDE, *(k.text for k in group), LAUNCHER.replace("TABLE", table)]
        path.write_text("\n".join(text))
        if number >= most:
            running[number - most][1].wait()
        command = ["nvcc", "-O3", "-std=c++17", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC"]
        command += [path.name, "-o", f"group{number}.so"]
        log = path.with_suffix(".log").open("wb")
        running.append((path, subprocess.Popen(command, cwd=folder, stderr=log)))
    for path, job in running:
        if job.wait():
            sys.exit(f"nvcc: {path.with_suffix('.log').read_text()[:4000]}")


def results(
    cases: Sequence[Any], made: Callable[[Any], list[Kernel]], given: argparse.Namespace
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """A row for each kernel of each case, in order, and the facts they depend on."""
    begun = time.perf_counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = [k for group in pool.map(made, cases, chunksize=2) for k in group]
    seconds = time.perf_counter() - begun
    print(f"{len(cases)} cases, {len(found)} kernels: {seconds:.0f} s", flush=True)
    groups = [g for g in (found[k::FILES] for k in range(FILES)) if g]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        compiled(Path(name), groups, given.arch)
        print(f"compiled: {time.perf_counter() - begun:.0f} s", flush=True)
        for number, group in enumerate(groups if not given.only_compile else []):
            library = ctypes.CDLL(f"{name}/group{number}.so")
            library.measure.restype = ctypes.c_char_p
            rows += [(k.name, measured(library, n, k)) for n, k in enumerate(group)]
    if given.only_compile:
        sys.exit()
    order = {k.name: n for n, k in enumerate(found)}
    facts = {
        "device": first_line(
            "nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"
        ),
        "nvcc": first_line("nvcc", "--version"),
        "seconds": f"{time.perf_counter() - begun:.0f}",
    }
    return [row for _, row in sorted(rows, key=lambda pair: order[pair[0]])], facts


def first_line(*command: str) -> str:
    """Of what a program prints the last line."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout.strip().splitlines() or [""])[-1]


def by_case(rows: Sequence[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, dict[str, Any]]]:
    """The ways of each case."""
    groups: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        key = row["title"], " x ".join(map(str, row["shape"])), row["bytes"]
        groups.setdefault(key, {})[row["way"]] = row
    return groups


def are_right(rows: Any) -> bool:
    """Whether every element was."""
    return all(not row["wrong"] and row["error"] == "no error" for row in rows)


def summary(ratios: Sequence[float], other: str) -> str:
    """The line below a table: in the geometric mean how many times as fast as another way, and how many rows lose."""
    middle = float(np.exp(np.mean(np.log(ratios))))
    slower = sum(ratio < 1 for ratio in ratios)
    return f"- {len(ratios)} rows, in the geometric mean {middle:.2f} times as fast as {other}; {slower} are slower"

"""Kernels of device functions of registers: compiled in a few files, checked, and timed."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import reduce
from multiprocessing import get_context
from operator import xor
from pathlib import Path
from typing import Any

import numpy as np

from lego_emit import Linear

FILES = 16
ITERATIONS = 256
PROCESSES, REPEAT = 5, 9  # launches of each
LEAST = 0.12  # milliseconds of a launch
MOST = 200 * 1024  # bytes of shared memory of a block
TRITON = "Triton"
CLOSE = 0.95  # below which a row loses
SPILLED = re.compile(r"Function properties for (\w+)\n\s*[1-9]\d* bytes stack frame")
TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
NEVER = 1 << 30  # iterations
ALONE = 4  # warps of a block where each has a tile of its own

PRELUDE = """
#include <cuda_profiler_api.h>
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
__global__ void __launch_bounds__({bound}, 1) run_{name}(const {T}* source, const int* given, {T}* out, int iterations) {{
  extern __shared__ __align__(16) unsigned char memory[];
  {T} from[{R}], to[{S}];
  const unsigned thread = threadIdx.x % {threads}u;
#pragma unroll
  for (int k = 0; k < {R}; ++k) from[k] = source[given[thread * {R} + k]];
  {index}
  {name}({call});
#pragma unroll 1
  for (int left = iterations; left > 1; --left) {{
    {again}
    {kept}
#pragma unroll
    for (int k = 0; k < {R}; ++k) from[k] = to[k % {S}];
    {other}
    {name}({call});
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
struct Ready {
  const void* run;
  int threads, shared;
  void *source, *given, *out;
  cudaEvent_t start, end;
};

static void launch(const Ready& r, int blocks, int iterations) {
  const void *source = r.source, *given = r.given, *out = r.out;
  void* arguments[] = {&source, &given, &out, &iterations};
  cudaLaunchKernel(r.run, dim3(blocks), dim3(r.threads), arguments, r.shared, nullptr);
}

// The memory of a kernel, and what one block of it gives; facts: registers, bytes of local memory, the
// blocks that fill the device at once.
extern "C" Ready* prepare(int which, int threads, int shared, const void* source, size_t source_bytes,
                          const int* given, size_t given_bytes, void* out, size_t out_bytes, int* facts) {
  Ready* r = new Ready{reinterpret_cast<const void*>(kernels[which].run), threads, shared};
  cudaFuncAttributes found;
  cudaFuncGetAttributes(&found, r->run);
  facts[0] = found.numRegs;
  facts[1] = static_cast<int>(found.localSizeBytes);
  cudaMalloc(&r->source, source_bytes);
  cudaMalloc(&r->given, given_bytes);
  cudaMalloc(&r->out, out_bytes);
  cudaMemcpy(r->source, source, source_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(r->given, given, given_bytes, cudaMemcpyHostToDevice);
  cudaMemset(r->out, 0xee, out_bytes);
  cudaFuncSetAttribute(r->run, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  int blocks = 0, multiprocessors = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, r->run, threads, shared);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  facts[2] = blocks * multiprocessors;
  cudaEventCreate(&r->start);
  cudaEventCreate(&r->end);
  launch(*r, 1, 1);
  cudaMemcpy(out, r->out, out_bytes, cudaMemcpyDeviceToHost);
  return r;
}

// The milliseconds of a launch.
extern "C" float timed(const Ready* r, int blocks, int iterations) {
  float ms = 0;
  cudaEventRecord(r->start);
  launch(*r, blocks, iterations);
  cudaEventRecord(r->end);
  cudaEventSynchronize(r->end);
  cudaEventElapsedTime(&ms, r->start, r->end);
  return ms;
}

// One launch that a profiler sees.
extern "C" void profiled(const Ready* r, int blocks, int iterations) {
  cudaProfilerStart();
  launch(*r, blocks, iterations);
  cudaDeviceSynchronize();
  cudaProfilerStop();
}

extern "C" const char* finish(Ready* r) {
  const cudaError_t error = cudaDeviceSynchronize();
  cudaEventDestroy(r->start);
  cudaEventDestroy(r->end);
  cudaFree(r->source);
  cudaFree(r->given);
  cudaFree(r->out);
  delete r;
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
        other = f"{every} index[k] ^= left & {last};"
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
        kept=kept(case),
        call=", ".join(given),
        again=again,
    )


def kept(case: Case) -> str:
    """A branch, never taken, that uses what the next round does not, or ptxas would leave its loads out of the loop."""
    start, end = (registers(x) for x in (case.start, case.end))
    used = {end[first % len(end)] for first in {*start}}
    stores = " ".join(
        f"out[threadIdx.x * {len(end)} + {k}] = to[{k}];" for k in sorted({*end} - used)
    )
    return f"if (left == {NEVER}) {{ {stores} }}" if stores else ""


def registers(layout: Linear) -> list[int]:
    """For each register the first that holds the same."""
    images = layout.bases.get("register", [])
    first: dict[tuple[int, ...], int] = {}
    found = []
    for k in range(1 << len(images)):
        held = [image for bit, image in enumerate(images) if k >> bit & 1]
        at = tuple(reduce(xor, parts, 0) for parts in zip(*held, strict=True))
        found.append(first.setdefault(at or (0,) * len(layout.results), k))
    return found


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


class Timed:
    """What is ready to be timed. wrong: elements, of a first launch; blocks: as many as fill the device."""

    wrong: int
    registers: int
    local_bytes: int
    blocks: int
    _tiles: int
    _iterations = ITERATIONS

    def _ms(self) -> float:
        """Of a launch."""
        raise NotImplementedError

    def finish(self) -> str:
        """CUDA's last word."""
        raise NotImplementedError

    def settle(self) -> None:
        """Find how many iterations take long enough."""
        for _ in range(2):
            spent = self._ms()
        self._iterations = max(ITERATIONS, int(ITERATIONS * LEAST / spent) + 1)

    def nanoseconds(self) -> float:
        """Of a tile, the device at work."""
        return self._ms() * 1e6 / (self._tiles * self._iterations)


class Running(Timed):
    """A kernel of a library."""

    def __init__(self, library: Any, which: int, one: Kernel):
        given, wanted = tables(one.case)
        kind = np.dtype(f"u{one.case.element_bytes}")
        size = one.case.start.physical_size
        source = np.frombuffer(np.random.default_rng(7).bytes(size * kind.itemsize), kind)
        out = np.zeros((one.threads, wanted.shape[1]), kind)
        facts = (ctypes.c_int * 3)()
        arrays: list[Any] = []
        for array in (source, given, out):
            arrays += [array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)]
        room = one.room * one.case.tiles
        self._library = library
        self._ready = ctypes.c_void_p(library.prepare(which, one.threads, room, *arrays, facts))
        expected = np.tile(source[wanted], (one.threads // wanted.shape[0], 1))
        self.wrong = int((out != expected).sum())
        self.registers, self.local_bytes, self.blocks = facts
        self._tiles = self.blocks * one.case.tiles
        self.settle()

    def _ms(self) -> float:
        return self._library.timed(self._ready, self.blocks, self._iterations)

    def profile(self) -> int:
        """One launch that a profiler sees; the tiles it moves."""
        self._library.profiled(self._ready, self.blocks, ITERATIONS)
        return self._tiles * ITERATIONS

    def finish(self) -> str:
        return self._library.finish(self._ready).decode()


Sample = dict[str, Any]


def loaded(path: Path) -> Any:
    """A library of kernels."""
    library = ctypes.CDLL(str(path))
    library.prepare.restype = ctypes.c_void_p
    library.timed.restype = ctypes.c_float
    library.finish.restype = ctypes.c_char_p
    return library


def samples(folder: Path, groups: Sequence[Sequence[Sequence[Kernel]]]) -> dict[str, Sample]:
    """What a process of its own finds out of each kernel: those of a case are launched in turn."""
    found: dict[str, Sample] = {}
    for number, group in enumerate(groups):
        library, which = loaded(folder / f"group{number}.so"), 0
        for case in group:
            running: list[Timed] = []
            for one in case:
                running.append(
                    Running(library, which, one) if one.text else in_gluon().InGluon(one)
                )
                which += bool(one.text)
            rounds = [[r.nanoseconds() for r in running] for _ in range(REPEAT)]
            for k, (one, r) in enumerate(zip(case, running, strict=True)):
                sample: Sample = {"ns": [round(each[k], 5) for each in rounds], "wrong": r.wrong}
                sample |= {
                    "registers": r.registers,
                    "local_bytes": r.local_bytes,
                    "blocks": r.blocks,
                }
                found[one.name] = sample | {"error": r.finish()}
    return found


def in_gluon() -> Any:
    """The module of Triton's kernels; it needs Triton and PyTorch."""
    import in_gluon

    return in_gluon


def with_triton(cases: Sequence[list[Kernel]]) -> list[list[Kernel]]:
    """The kernels of each case, and Triton's own where Gluon can express the layouts, compiled at once."""
    try:
        gluon = in_gluon()
    except ImportError as error:
        print(f"without Triton: {error}", file=sys.stderr)
        return [*cases]
    asked = {
        number: Kernel(case[0].case, TRITON, f"t{number}", "", 0, plan=gluon.VERSION)
        for number, case in enumerate(cases)
        if gluon.expresses(case[0].case)
    }
    with ProcessPoolExecutor(min(8, os.cpu_count() or 1), get_context("spawn")) as pool:
        said = [*pool.map(gluon.prepared, asked.values(), chunksize=4)]
    for (number, one), error in zip([*asked.items()], said, strict=True):
        if error:
            print(f"Triton: {one.case.title} of {one.case.element_bytes}: {error}", file=sys.stderr)
            del asked[number]
    return [[*case, *([asked[k]] if k in asked else [])] for k, case in enumerate(cases)]


def row(one: Kernel, found: Sequence[Sample]) -> dict[str, Any]:
    """Of a kernel, from all processes."""
    errors = {s["error"] for s in found} - {"no error"}
    return {
        "title": one.case.title,
        "shape": [*one.case.start.physical_dims],
        "bytes": one.case.element_bytes,
        "axis": one.case.axis,
        "warps": one.case.warps,
        "way": one.way,
        "kind": one.kind,
        "plan": one.plan,
        "price": one.price,
        "registers": found[0]["registers"],
        "local_bytes": found[0]["local_bytes"],
        "blocks": found[0]["blocks"],
        "error": errors.pop() if errors else "no error",
        "wrong": max(s["wrong"] for s in found),
        "ns": [s["ns"] for s in found],
    }


def options(about: str) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("folder", nargs="?", default=Path("benchmarks/results"), type=Path)
    parser.add_argument("--arch", default="native", help="of nvcc, as sm_90")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--only-compile", action="store_true", help="no GPU: compile alone")
    parser.add_argument("--every", type=int, default=1, help="each so many cases alone")
    return parser.parse_args()


def compiled(folder: Path, groups: Sequence[Sequence[Sequence[Kernel]]], arch: str) -> None:
    """A library of each group of kernels. Exits where nvcc refuses one."""
    most = os.cpu_count() or 1
    running: list[tuple[Path, subprocess.Popen[bytes]]] = []
    for number, group in enumerate(groups):
        kernels = [k for case in group for k in case if k.text]
        table = ", ".join(f"{{reinterpret_cast<Any>(run_{k.name})}}" for k in kernels)
        path = folder / f"group{number}.cu"
        text = [PRELUDE, *(k.text for k in kernels), LAUNCHER.replace("TABLE", table)]
        path.write_text("\n".join(text))
        if number >= most:
            running[number - most][1].wait()
        command = ["nvcc", "-O3", "-std=c++17", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC"]
        command += ["-Xptxas", "-v", path.name, "-o", f"group{number}.so"]
        log = path.with_suffix(".log").open("wb")
        running.append((path, subprocess.Popen(command, cwd=folder, stderr=log)))
    for path, job in running:
        said = path.with_suffix(".log")
        if job.wait():
            sys.exit(f"nvcc: {said.read_text()[:4000]}")
        for name in SPILLED.findall(said.read_text()):
            print(f"local memory: {name}", file=sys.stderr)


def results(
    cases: Sequence[Any], made: Callable[[Any], list[Kernel]], given: argparse.Namespace
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """A row for each kernel of each case, in order, and the facts they depend on."""
    begun = time.perf_counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = [*pool.map(made, cases, chunksize=2)]
    if given.only_compile is False:
        found = with_triton(found)
    kernels = [k for case in found for k in case]
    seconds = time.perf_counter() - begun
    print(f"{len(cases)} cases, {len(kernels)} kernels: {seconds:.0f} s", flush=True)
    groups = [g for g in (found[k::FILES] for k in range(FILES)) if g]
    every = []
    with tempfile.TemporaryDirectory() as name:
        compiled(Path(name), groups, given.arch)
        print(f"compiled: {time.perf_counter() - begun:.0f} s", flush=True)
        if given.only_compile:
            sys.exit()
        for _ in range(given.processes):
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                every.append(pool.submit(samples, Path(name), groups).result())
    facts = {
        "device": first_line(
            "nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"
        ),
        "nvcc": first_line("nvcc", "--version"),
        "seconds": f"{time.perf_counter() - begun:.0f}",
    }
    return [row(k, [one[k.name] for one in every]) for k in kernels], facts


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


def lines_of(rows: Sequence[dict[str, Any]]) -> str:
    """As JSON, a line for each."""
    return "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n"


def are_right(rows: Any) -> bool:
    """Whether every element was, and no kernel had local memory; what Triton's has is Triton's."""
    return all(
        not row["wrong"]
        and row["error"] == "no error"
        and (row["way"] == TRITON or not row["local_bytes"])
        for row in rows
    )


def middle(one: dict[str, Any]) -> float:
    """The median of the processes' medians, in nanoseconds."""
    return float(np.median(np.median(one["ns"], axis=1)))


def over(one: dict[str, Any], other: dict[str, Any]) -> tuple[float, float, float]:
    """How many times as fast as another way, in the quartiles of all rounds."""
    ratios = np.array(other["ns"]) / np.array(one["ns"])
    low, half, high = np.percentile(ratios, [25, 50, 75])
    return float(low), float(half), float(high)


def beside_triton(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The line below a table of those that Triton was timed beside."""
    both = [ways for ways in by_case(rows).values() if TRITON in ways]
    return (
        [
            f"{line} (Triton {both[0][TRITON]['plan']})"
            for line in summary([over(w["ours"], w[TRITON]) for w in both], "Triton's own")
        ]
        if both
        else []
    )


def summary(ratios: Sequence[tuple[float, float, float]], other: str) -> list[str]:
    """The lines below a table: in the geometric mean how many times as fast as another way, and how many rows lose."""
    mean = float(np.exp(np.mean(np.log([half for _, half, _ in ratios]))))
    slower = sum(half < 1 for _, half, _ in ratios)
    wholly = sum(high < CLOSE for *_, high in ratios)
    return [
        f"- {len(ratios)} rows, in the geometric mean {mean:.2f} times as fast as {other}; {slower} are "
        f"slower, {wholly} with all quartiles below {CLOSE}"
    ]

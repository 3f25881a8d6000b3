"""Programs on a GPU: every element compared, then timed launch by launch, the ways in turn."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from ctypes import c_float, c_int, c_int64, c_uint, c_uint64
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from driver import LOCAL_BYTES, REGISTERS, Gpu
from ways import (
    Copy,
    Experiment,
    Launch,
    LocalMemoryError,
    Mapped,
    Solver,
    Source,
    Step,
    TorchCopy,
    TorchInt4,
    TorchProduct,
    Way,
    error_of,
    prepared,
)

PASSED = {
    np.int32: c_int,
    np.int64: c_int64,
    np.uint32: c_uint,
    np.uint64: c_uint64,
    np.float32: c_float,
}


class GpuMachine:
    """A ways.Machine of a GPU. cubins: the file of each source."""

    def __init__(self, gpu: Gpu, cubins: Mapping[Source, Path]):
        self.gpu, self.name, self.blocks = gpu, gpu.name, 1056
        self._cubins = cubins
        self._modules: dict[Source, Any] = {}
        self._functions: dict[tuple[Source, str], Any] = {}
        self._buffers: dict[str, int] = {}
        self._kinds: Mapping[str, tuple[int, Any]] = {}
        self._views: dict[Any, Any] = {}
        self._maps: dict[Any, Any] = {}
        self._allowed: set[Any] = set()

    def hold(self, buffers: Mapping[str, tuple[int, Any]]) -> None:
        """As Machine says."""
        for at in self._buffers.values():
            self.gpu.free(at)
        self._kinds = buffers
        self._buffers = {
            name: self.gpu.allocate(size * np.dtype(kind).itemsize)
            for name, (size, kind) in buffers.items()
        }

    def upload(self, name: str, array: np.ndarray) -> None:
        """As Machine says."""
        self.gpu.upload(self._buffers[name], array.astype(self._kinds[name][1]))

    def download(self, name: str) -> np.ndarray:
        """As Machine says."""
        size, kind = self._kinds[name]
        found = np.empty(size, kind)
        self.gpu.download(found, self._buffers[name])
        return found

    def do(self, steps: Sequence[Step]) -> None:
        """As Machine says; it does not wait."""
        for step in steps:
            if isinstance(step, Copy):
                self.gpu.copy(self._buffers[step.to], self._buffers[step.start], step.size)
                continue
            if isinstance(step, Solver):
                self.gpu.factor(self._buffers[step.matrix], step.n)
                continue
            if isinstance(step, TorchCopy):
                self._copy_by_torch(step)
                continue
            if isinstance(step, TorchProduct):
                self._multiply_by_torch(step)
                continue
            if isinstance(step, TorchInt4):
                self._multiply_int4_by_torch(step)
                continue
            given = [self._passed(a) for a in step.arguments]
            kernel = self._function(step.source, step.kernel)
            if step.shared and (step.source, step.kernel) not in self._allowed:
                self.gpu.allow_shared(kernel, step.shared)
                self._allowed.add((step.source, step.kernel))
            grid = step.grid or (self.blocks,)
            grid = tuple(n or self.gpu.multiprocessors for n in grid)
            self.gpu.launch(kernel, grid, step.block, given, step.shared)

    def _passed(self, argument: Any) -> Any:
        """An argument of a launch as ctypes has it."""
        if isinstance(argument, str):
            return c_uint64(self._buffers[argument])
        if not isinstance(argument, Mapped):
            return PASSED[type(argument)](argument.item())
        key = argument, self._buffers[argument.buffer]
        if key not in self._maps:
            self._maps[key] = self.gpu.tensor_map(key[1], argument.made)
        return self._maps[key]

    def _multiply_by_torch(self, step: TorchProduct) -> None:
        """In the stream. Raises ImportError where PyTorch is missing."""
        import torch

        places = tuple(self._buffers[name] for name in (step.to, step.a, step.b))
        if (step, places) not in self._views:
            kind = torch.float16 if step.kind == "f16" else torch.bfloat16
            m, n, k = step.sizes
            shapes = (
                (m, n),
                (m, k)[:: 1 if step.majors[0] == "K" else -1],
                (n, k)[:: 1 if step.majors[1] == "K" else -1],
            )
            to, a, b = (
                matrix(at, *shape).view(kind) for at, shape in zip(places, shapes, strict=True)
            )
            a = a if step.majors[0] == "K" else a.t()
            self._views = {(step, places): (to, a, b.t() if step.majors[1] == "K" else b)}
        to, a, b = self._views[step, places]
        with torch.cuda.stream(torch.cuda.ExternalStream(self.gpu.stream)):
            torch.mm(a, b, out=to)

    def _multiply_int4_by_torch(self, step: TorchInt4) -> None:
        """In the stream. Raises ImportError where PyTorch is missing."""
        import torch

        names, (m, n, k) = (step.to, step.x, step.weights, step.scales), step.sizes
        places = tuple(self._buffers[name] for name in names)
        with torch.cuda.stream(torch.cuda.ExternalStream(self.gpu.stream)):
            if (step, places) not in self._views:
                to, x, scales = (
                    matrix(places[j], *shape)
                    for j, shape in [(0, (m, n)), (1, (m, k)), (3, (n, k // step.group))]
                )
                bytes_of = TorchCopy("", "", 1, (n, k), (k, 1))
                nibbles = viewed(places[2], (k, 1), bytes_of).view(torch.uint8)
                both = (nibbles[:, ::2] << 4 | nibbles[:, 1::2]).contiguous()
                packed = torch._convert_weight_to_int4pack(both, 8)
                wide = scales.view(torch.float16).to(torch.bfloat16).t()
                pairs = torch.stack([wide, torch.zeros_like(wide)], 2).contiguous()
                taken = x.view(torch.float16).to(torch.bfloat16), packed, step.group, pairs
                self._views = {(step, places): (to.view(torch.bfloat16), taken)}
            to, taken = self._views[step, places]
            found = torch._weight_int4pack_mm(*taken)
            if not torch.cuda.is_current_stream_capturing():
                to.copy_(found)

    def _copy_by_torch(self, step: TorchCopy) -> None:
        """In the stream. Raises ImportError where PyTorch is missing."""
        import torch

        places = self._buffers[step.to], self._buffers[step.start]
        if (step, places) not in self._views:
            strides = step.strides, [prod(step.dims[k + 1 :]) for k in range(len(step.dims))]
            pair = [viewed(*one, step) for one in zip(places, strides, strict=True)]
            self._views = {(step, places): pair}
        to, start = self._views[step, places]
        with torch.cuda.stream(torch.cuda.ExternalStream(self.gpu.stream)):
            to.copy_(start)

    def _function(self, source: Source, kernel: str) -> Any:
        if source not in self._modules:
            self._modules[source] = self.gpu.module(self._cubins[source])
        if (source, kernel) not in self._functions:
            made = self.gpu.function(self._modules[source], kernel)
            self._functions[source, kernel] = made
        return self._functions[source, kernel]

    def resources(self, way: Way) -> tuple[int | None, int]:
        """The registers and the bytes of local memory of its kernels, the most. Raises LocalMemoryError
        where a kernel of ours has local memory."""
        kernels = {(s.source, s.kernel) for s in way.steps if isinstance(s, Launch)}
        if not kernels:
            return None, 0
        functions = [self._function(*one) for one in kernels]
        local = max(self.gpu.attribute(f, LOCAL_BYTES) for f in functions)
        if local and way.is_ours:
            raise LocalMemoryError(f"{way.name}: {local} bytes of local memory")
        return max(self.gpu.attribute(f, REGISTERS) for f in functions), local


def matrix(at: int, rows: int, columns: int) -> Any:
    """Memory as a tensor of 16 bits."""
    return viewed(at, (columns, 1), TorchCopy("", "", 2, (rows, columns), (columns, 1)))


def viewed(at: int, strides: Sequence[int], step: TorchCopy) -> Any:
    """Memory as a tensor. strides: in elements."""
    import torch

    class Held:
        __cuda_array_interface__ = {
            "version": 3, "shape": step.dims, "typestr": f"<i{step.element}", "data": (at, False),
            "strides": tuple(step.element * s for s in strides),
        }  # fmt: skip

    return torch.as_tensor(Held(), device="cuda")


def rows_of(
    machine: GpuMachine, experiment: Experiment, seconds: float, most: int, compared: bool
) -> list[dict[str, Any]]:
    """A row for each way, its samples in "ms"; as many rounds as the seconds allow, most of them.

    compared: whether every element is. In a round each way runs once, in an order that rotates.
    """
    gpu = machine.gpu
    prepared(machine, experiment)
    rows, graphs, spent = [], {}, 0.0
    for way in experiment.ways:
        registers, local = machine.resources(way)
        error = error_of(machine, experiment, way) if compared else None
        if experiment.graphs or len(way.steps) > 1:
            graphs[way.name] = gpu.graph(lambda way=way: machine.do(way.steps))
        row: dict[str, Any] = {"experiment": experiment.name, "size": experiment.size}
        row |= {"type": experiment.kind, "way": way.name, "ms": [], "registers": registers}
        row |= {"local_bytes": local, "mhz": [], "watt": [], "max_error": error}
        row["device"] = gpu.name
        rows.append(row)
    gpu.wait()
    start, end = gpu.event(), gpu.event()
    begun = time.perf_counter()
    count = len(experiment.ways)
    for number in range(most):
        for k in range(count):
            now = (number + k) % count
            way, row = experiment.ways[now], rows[now]
            machine.do(way.restored)
            machine.do(experiment.flushed)
            if not experiment.flushed:
                gpu.flush()
            gpu.record(start)
            if way.name in graphs:
                gpu.launch_graph(graphs[way.name])
            else:
                machine.do(way.steps)
            gpu.record(end)
            row["ms"].append(gpu.milliseconds(start, end))
            row["mhz"].append(gpu.clock())
            row["watt"].append(gpu.power())
        spent = time.perf_counter() - begun
        if spent + spent / (number + 1) > seconds:
            break
    for graph in graphs.values():
        gpu.free_graph(graph)
    for row, way in zip(rows, experiment.ways, strict=True):
        row["max_error"] = checked_error(experiment, way, row["max_error"])
    return rows


def checked_error(experiment: Experiment, way: Way, error: float | None) -> float | None:
    """The error. Exits where it is not allowed."""
    allowed = experiment.allowed if way.allowed is None else way.allowed
    if error is not None and not error <= allowed:
        place = f"{experiment.name} {experiment.size}, {way.name}"
        raise SystemExit(f"{place}: wrong by {error:.1e}, allowed {allowed:.1e}")
    return error

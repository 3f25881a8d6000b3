"""Triton's own conversions and gathers of the same layouts, through Gluon: compiled, checked, and timed.

A kernel loops as ours do: the registers that a conversion ends with are those that the next one starts
with. A tensor is seen as one of a dimension for each bit, permuted, so that its layout is the other one;
that moves nothing, and Triton checks that it is trivial. It takes layouts that a permutation of bits
makes, in which no two threads or registers hold the same, and as many registers before as after.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
from device import Case, Kernel, Timed
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from lego_emit import Linear
from lego_emit.algebra.labels import width_of

VERSION = triton.__version__
INPUTS = ("register", "lane", "warp")
AHEAD = 200_000  # cycles


@gluon.jit(do_not_specialize=["iterations"])
def converted(
    source,
    out,
    iterations,
    A: gl.constexpr,
    B: gl.constexpr,
    H: gl.constexpr,
    W: gl.constexpr,
    bits,
    order,
):
    """A tile from A to B, again and again; the first block writes what it has last."""
    place = gl.arange(0, H, layout=gl.SliceLayout(1, A))[:, None] * W
    place = place + gl.arange(0, W, layout=gl.SliceLayout(0, A))[None, :]
    y = gl.convert_layout(gl.load(source + place), B)
    for _ in range(1, iterations):
        x = gl.reshape(gl.permute(gl.reshape(y, bits), order), (H, W))
        y = gl.convert_layout(gl.convert_layout(x, A, assert_trivial=True), B)
    if gl.program_id(0) == 0:
        there = gl.arange(0, H, layout=gl.SliceLayout(1, B))[:, None] * W
        there = there + gl.arange(0, W, layout=gl.SliceLayout(0, B))[None, :]
        gl.store(out + there, y)


@gluon.jit(do_not_specialize=["iterations"])
def gathered(
    source,
    out,
    given,
    iterations,
    A: gl.constexpr,
    H: gl.constexpr,
    W: gl.constexpr,
    axis: gl.constexpr,
    last: gl.constexpr,
):
    """A tile gathered along an axis, again and again, with other indices each time."""
    place = gl.arange(0, H, layout=gl.SliceLayout(1, A))[:, None] * W
    place = place + gl.arange(0, W, layout=gl.SliceLayout(0, A))[None, :]
    index = gl.load(given + place)
    x = gl.gather(gl.load(source + place), index, axis)
    for done in range(1, iterations):
        index = index ^ (iterations - done + 1 & last)
        x = gl.gather(x, index, axis)
    if gl.program_id(0) == 0:
        gl.store(out + place, x)


def bits_of(layout: Linear) -> list[int]:
    """Of each bit of register, lane and warp the bit of the row-major number of its element."""
    found = []
    below = [sum(n for _, n in layout.outs[k + 1 :]) for k in range(len(layout.outs))]
    for name in INPUTS:
        for image in layout.bases.get(name, []):
            found.append(sum(x << n for x, n in zip(image, below, strict=True)))
    return [number.bit_length() - 1 if number.bit_count() == 1 else -1 for number in found]


def expresses(case: Case) -> bool:
    """Whether both layouts are permutations of bits, with as many registers."""
    size = width_of(case.start.outs)
    two = len(case.start.outs) == 2
    ways = [bits_of(x) for x in (case.start, case.end)]
    counts = {x.in_dims.get("register", 1) for x in (case.start, case.end)}
    return two and len(counts) == 1 and all(sorted(way) == [*range(size)] for way in ways)


def layout_of(layout: Linear) -> Any:
    """As Gluon says it."""
    bases = [[[*image] for image in layout.bases.get(name, [])] for name in INPUTS]
    return gl.DistributedLinearLayout(*bases, [], [*layout.physical_dims])


class InGluon(Timed):
    """A kernel that is compiled, launched once and checked, and ready to be timed."""

    def __init__(self, one: Kernel):
        case, sizes = one.case, one.case.start.physical_dims
        kind = np.dtype(f"i{case.element_bytes}")
        data = np.frombuffer(
            np.random.default_rng(7).bytes(sizes[0] * sizes[1] * kind.itemsize), kind
        )
        source = torch.tensor(data.reshape(sizes), device="cuda")
        out, A, B = torch.zeros_like(source), layout_of(case.start), layout_of(case.end)
        if case.axis:
            k = case.start.results.index(case.axis)
            index = np.random.default_rng(5).integers(0, sizes[k], sizes)
            given = torch.tensor(index, dtype=torch.int32, device="cuda")
            self._kernel, self._given = gathered, (source, out, given)
            self._fixed, wanted = (
                (A, *sizes, k, sizes[k] - 1),
                torch.gather(source, k, given.long()),
            )
        else:
            self._kernel, self._given = converted, (source, out)
            self._fixed, wanted = (A, B, *sizes, *renaming(case)), source
        self._warps = case.warps
        compiled = self._launch(1, 1)
        self.wrong = int((out != wanted).sum())
        self.registers, self.local_bytes = compiled.n_regs, 4 * compiled.n_spills
        self._tiles = self.blocks = blocks_at_once(compiled, 32 * case.warps)
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self.settle()

    def _launch(self, blocks: int, iterations: int) -> Any:
        given = *self._given, iterations, *self._fixed
        return self._kernel[(blocks,)](*given, num_warps=self._warps)

    def _ms(self) -> float:
        start, end = self._events
        torch.cuda._sleep(AHEAD)  # the launch is queued when the clock starts
        start.record()
        self._launch(self.blocks, self._iterations)
        end.record()
        end.synchronize()
        return start.elapsed_time(end)

    def finish(self) -> str:
        """CUDA's last word."""
        torch.cuda.synchronize()
        return "no error"


def renaming(case: Case) -> tuple[tuple[gl.constexpr, ...], tuple[gl.constexpr, ...]]:
    """The sizes of a dimension for each bit, and how they are permuted for the end to be the start."""
    before, after = (bits_of(x) for x in (case.start, case.end))
    last, order = len(before) - 1, dict(zip(before, after, strict=True))
    every = range(len(before))
    moved = tuple(gl.constexpr(last - order[last - k]) for k in every)
    return tuple(gl.constexpr(2) for _ in every), moved


def blocks_at_once(compiled: Any, threads: int) -> int:
    """How many fill the device, as the registers and the shared memory of a multiprocessor of an H100 have it."""
    registers = -(-compiled.n_regs // 8) * 8 * threads
    most = 2**16 // registers, 227 * 1024 // (compiled.metadata.shared + 1024), 2048 // threads, 32
    return min(most) * torch.cuda.get_device_properties(0).multi_processor_count


def prepared(one: Kernel) -> str:
    """What is wrong where a kernel cannot be compiled; else it is in Triton's cache."""
    try:
        InGluon(one).finish()
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""

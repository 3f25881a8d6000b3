"""Conversions through shared memory: vectors are stored, a barrier, vectors are loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..algebra import f2
from ..algebra.labels import width_of
from ..algebra.linear import Linear
from ..plans.pair import Holder, Pair
from ..plans.steps import Barrier, Load, Step, Store, Take, threads
from .linear_access import LinearAccess, log2, split, vector_bits, wavefronts
from .memories import SharedMemory
from .swizzle import optimal_swizzle


@dataclass(frozen=True)
class Staged:
    """A plan through shared memory. memory: from the tile's coordinates to an offset; stored, loaded:
    the wavefronts of a warp."""

    steps: tuple[Step, ...]
    memory: Linear
    stored: int
    loaded: int


def staged(
    pair: Pair, element_bytes: int, gpu: SharedMemory, memory: Linear | None = None
) -> Staged:
    """The plan through a memory layout, that of the fewest wavefronts unless given; what several registers hold is
    moved once, and stored by one warp."""
    start, end = (replace(h, registers=_pivots(h.registers)) for h in (pair.start, pair.end))
    whole = f2.identity(width_of(pair.tile))
    more = tuple(f2.complement(end.columns, whole))  # what nobody reads has its place all the same
    reader = replace(end, registers=end.registers + more)
    if memory is None:
        memory = optimal_swizzle(
            start.layout(pair.tile), reader.layout(pair.tile), element_bytes, gpu=gpu
        )
    stored, loaded = (split(h.layout(pair.tile).compose(memory)) for h in (start, end))
    idle = _idle(start)
    own = _masks(pair.start.registers), _masks(pair.end.registers)
    widest = log2(gpu.widest // element_bytes)
    write = [(c, tuple(r)) for c, r in _vectors(stored, own[0], widest)]
    read, place = [], {}
    for constant, registers in _vectors(loaded, own[1], widest):
        place |= {register: len(place) + k for k, register in enumerate(registers)}
        read.append((constant, tuple(place[r] for r in registers)))
    echelon = f2.Echelon(pair.end.registers)
    back = [
        place[echelon.solve(f2.times(pair.end.registers, register)) or 0]
        for register in range(1 << len(pair.end.registers))
    ]
    steps = (
        Store(_start(stored, start, memory), tuple(write), element_bytes, idle),
        Barrier(block=bool(idle) or not pair.is_within_warps()),
        Load(_start(loaded, end, memory), tuple(read), element_bytes),
        Take(tuple(back)),
    )
    costs = [
        wavefronts(at, element_bytes, gpu, is_write)[0]
        for at, is_write in ((stored, True), (loaded, False))
    ]
    return Staged(steps, memory, *costs)


def _masks(registers: Sequence[int]) -> list[int]:
    """The register bits that make a difference."""
    return [1 << k for k in f2.Echelon(registers).pivots]


def _pivots(registers: Sequence[int]) -> tuple[int, ...]:
    return tuple(registers[k] for k in f2.Echelon(registers).pivots)


def _idle(start: Holder) -> int:
    """The bits of warp that are zero in those that store: the others hold the same."""
    first = len(start.registers) + len(start.lanes)
    return sum(1 << k - first for k in f2.Echelon(start.columns).free if k >= first)


def _vectors(at: LinearAccess, masks: Sequence[int], most: int) -> list[tuple[int, list[int]]]:
    """The instructions: for each a constant of the offset, and the registers that it moves. at: the
    access after the memory; masks: what its register bits are."""
    bits = vector_bits(at, most)
    echelon = f2.Echelon(at.registers)
    inside = [echelon.solve(1 << k) or 0 for k in range(bits)]
    rest = f2.complement(f2.identity(bits), at.registers)
    across = [(echelon.solve(c) or 0) ^ f2.times(inside, c & (1 << bits) - 1) for c in rest]
    made = []
    for k in range(1 << len(across)):
        first = f2.times(across, k)
        registers = [first ^ f2.times(inside, n) for n in range(1 << bits)]
        constant = f2.times(at.registers, first)
        made.append((constant, [f2.times(masks, r) for r in registers]))
    return sorted(made)


def _start(at: LinearAccess, holder: Holder, memory: Linear) -> Linear:
    """Where a thread's register 0 has its place."""
    warps = at.others
    assert len(warps) == len(holder.warps)
    return threads((at.lanes, warps), "offset", width_of(memory.outs))

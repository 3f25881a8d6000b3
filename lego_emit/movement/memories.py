"""The shared memories of GPUs, as data: banks, lanes, and which lanes are served together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import LayoutError, did_you_mean, short_repr

Phases = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class SharedMemory:
    """How shared memory serves an instruction of a warp.

    lanes: of a warp; banks: how many, each of bank_bytes; read, write: for each width of an access in
    bytes the groups of lanes that are served together, where they are more than one; narrower ones
    are served at once. partners: where for one of these numbers k every lane reads what lane ^ k
    reads, or one of the two takes no part, two groups at a time are served as one. segment: the
    bytes that a transaction of global memory moves.

        >>> from lego_emit import GroupBy, movement
        >>> at_once = {4: (tuple(range(16)),)}
        >>> gpu = movement.SharedMemory("mine", 16, at_once, at_once, banks=16)
        >>> movement.bank_conflicts(GroupBy([16, 16]), lambda lane: (lane, 0), gpu=gpu).wavefronts
        16
    """

    name: str
    lanes: int
    read: Mapping[int, Phases]
    write: Mapping[int, Phases]
    banks: int = 32
    bank_bytes: int = 4
    partners: tuple[int, ...] = ()
    segment: int = 32

    def __repr__(self) -> str:
        return f"<shared memory {self.name}: {self.lanes} lanes, {self.banks} banks of {self.bank_bytes} bytes>"

    @property
    def widest(self) -> int:
        """The most bytes that a lane moves in an instruction."""
        return max(self.read)

    def phases(self, starts: Mapping[int, int], width: int, write: bool) -> Phases:
        """The lanes that are served together, in groups. starts: the first byte of each lane that
        takes part; width: how many bytes it moves."""
        known = self.write if write else self.read
        groups = known[max(width, min(known))]
        if write or len(groups) == 1 or not any(_shared(starts, k) for k in self.partners):
            return groups
        return tuple(a + b for a, b in zip(groups[::2], groups[1::2], strict=True))


def _shared(starts: Mapping[int, int], k: int) -> bool:
    """Whether lanes that differ by k read the same, as far as both take part."""
    return all(starts.get(lane ^ k, at) == at for lane, at in starts.items())


def _groups(lanes: int, size: int) -> Phases:
    return tuple(tuple(range(k, k + size)) for k in range(0, lanes, size))


def _read_b128() -> Phases:
    """CDNA's ds_read_b128: lanes 0-3 with 20-23, 4-7 with 16-19, and so on in each half."""
    pairs = ((0, 20), (4, 16), (8, 28), (12, 24))
    return tuple(
        tuple(half + start + k for start in pair for k in range(4))
        for half in (0, 32)
        for pair in pairs
    )


_QUARTERS = {4: _groups(32, 32), 8: _groups(32, 16), 16: _groups(32, 8)}
_WAVE64 = {4: _groups(64, 32), 8: _groups(64, 16), 16: _groups(64, 8)}

# CUDA C++ Programming Guide, shared memory of compute capability 5.x and later: 32 banks of 4 bytes;
# accesses of 8 and 16 bytes in halves and quarters of a warp; 32-byte sectors of global memory. That
# pairs of lanes which read the same halve the groups is no text of NVIDIA's: counted on an H100.
NVIDIA = SharedMemory("nvidia", 32, _QUARTERS, _QUARTERS, partners=(1, 2))

# CDNA 3 (gfx942): 32 banks of 4 bytes, waves of 64 lanes. The groups of ds_write_b128 and
# ds_read_b128: ROCm, Composable Kernel, "Understanding AMD GPU LDS and Bank Conflicts"; those of
# narrower accesses follow from 128 bytes a clock.
AMD = SharedMemory("amd", 64, {**_WAVE64, 16: _read_b128()}, _WAVE64, segment=64)

GPUS = {memory.name: memory for memory in (NVIDIA, AMD)}


def memory_of(gpu: Any, construct: str) -> SharedMemory:
    """A GPU's shared memory by name, or the one that is given. Raises LayoutError for another."""
    if isinstance(gpu, SharedMemory):
        return gpu
    if isinstance(gpu, str) and gpu.lower() in GPUS:
        return GPUS[gpu.lower()]
    raise LayoutError(
        f"{construct}: gpu is {short_repr(gpu)}; known are {', '.join(GPUS)}, or give a SharedMemory."
        f"{did_you_mean(str(gpu), GPUS)}"
    )

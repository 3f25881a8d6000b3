"""Accesses that are linear over F2, and what they cost, by rank."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..algebra import f2
from ..algebra.block import Block
from ..algebra.linear import Linear
from ..errors import LayoutError, short_repr
from .access import LANE, REGISTER
from .memories import SharedMemory


def log2(n: int) -> int:
    """The exponent of a power of two."""
    return int(n).bit_length() - 1


@dataclass(frozen=True)
class LinearAccess:
    """The columns of a distributed layout by what they move: registers, lanes, and all else (warps,
    blocks)."""

    layout: Linear
    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    others: tuple[int, ...]

    def after(self, memory: Linear) -> LinearAccess:
        """The offsets that the access has in a memory, a layout from coordinates."""
        return split(self.layout.compose(memory))

    def _groups(self, gpu: SharedMemory, width: int, write: bool) -> list[list[int]]:
        """The images of the lanes that are served together."""
        images = [0]
        for column in self.lanes:
            images += [image ^ column for image in images]
        groups = gpu.phases(dict(enumerate(images)), width, write)
        return [[images[lane] for lane in group if lane < len(images)] for group in groups]

    def phases(self, gpu: SharedMemory, width: int, write: bool) -> int:
        """How many groups of lanes there are, in an access of so many bytes a lane."""
        return sum(1 for group in self._groups(gpu, width, write) if group)

    def in_phase(self, gpu: SharedMemory, width: int, write: bool) -> list[int]:
        """The images of the lanes that are served together, as a basis."""
        images = self._groups(gpu, width, write)[0]
        return [images[k] for k in f2.Echelon(images).pivots]


def split(layout: Linear) -> LinearAccess:
    """A layout's columns by its inputs' names."""
    columns: dict[bool | None, list[int]] = {True: [], False: [], None: []}
    start = 0
    for name, bits in layout.ins:
        kind = {REGISTER: True, LANE: False}.get(name)
        columns[kind] += layout.columns[start : start + bits]
        start += bits
    return LinearAccess(layout, *(tuple(columns[k]) for k in (True, False, None)))


def linear_access(
    access: Any, gpu: SharedMemory, construct: str, registers: int | None = None
) -> LinearAccess:
    """An access as a layout over F2. registers: how many a function of lane and register has, as many as
    the widest instruction moves bytes unless given. Raises LayoutError, with three inputs that show it,
    where it is none."""
    if isinstance(access, Linear):
        if LANE not in access.coordinates:
            raise LayoutError(
                f"{construct}: the access takes {', '.join(access.coordinates)}, and none is {LANE!r}"
            )
        found = access
    elif isinstance(access, Block):
        names = access.coordinates or [
            LANE,
            *(f"{REGISTER}{k}" for k in range(len(access.dims) - 1)),
        ]
        found = Linear.of(access.apply, dict(zip(names, access.dims, strict=True)))
        rest = [n for n in names if n.startswith(REGISTER)]
        if len(names) > 1 and not access.coordinates:
            found = found.transpose_ins([LANE, *rest[::-1]])
            found = found.reshape_ins({LANE: access.dims[0], REGISTER: _size(access.dims[1:])})
    elif callable(access):
        names = [*inspect.signature(access).parameters]
        sizes = {LANE: gpu.lanes, REGISTER: registers or gpu.widest}
        if unknown := [n for n in names if n not in sizes]:
            raise LayoutError(
                f"{construct}: the access takes {unknown[0]}; it is asked with lane and register, or "
                "give a Linear"
            )
        found = Linear.of(access, {n: sizes[n] for n in names})
    else:
        raise LayoutError(
            f"{construct}: the access is {short_repr(access)}; give a layout or a function of lane"
        )
    lanes = found.in_dims[LANE]
    if lanes > gpu.lanes:
        raise LayoutError(f"{construct}: the access has {lanes} lanes, and a warp {gpu.lanes}")
    return split(found)


def _size(dims: Sequence[int]) -> int:
    total = 1
    for n in dims:
        total *= n
    return total


def vector_bits(at: LinearAccess, most: int) -> int:
    """How many low bits of the offset one instruction moves, 2**bits elements, at most `most`: those
    that registers make alone and that no lane and no warp changes. at: the access after the memory."""
    echelon = f2.Echelon(at.registers)
    bits = 0
    while bits < most:
        changed = any(c >> bits & 1 for c in (*at.lanes, *at.others))
        if changed or echelon.solve(1 << bits) is None:
            break
        bits += 1
    return bits


def wavefronts(
    at: LinearAccess, element_bytes: int, gpu: SharedMemory, write: bool
) -> tuple[int, int]:
    """(wavefronts, instructions) of a warp, by rank (Lemma 9.4, also for words of several lanes). at:
    the access after the memory."""
    bits = vector_bits(at, log2(gpu.widest // element_bytes))
    width = element_bytes << bits
    instructions = 1 << f2.rank(at.registers) - bits
    # Bytes: those of an element below the offset's bits; words: without the bytes in them.
    fine, coarse = log2(element_bytes), log2(gpu.bank_bytes)
    moved = [1 << k for k in range(fine + bits)]
    moved += [c << fine for c in at.in_phase(gpu, width, write)]
    words = [c >> coarse for c in moved]
    excess = f2.rank(words) - f2.rank([w & gpu.banks - 1 for w in words])
    return instructions * at.phases(gpu, width, write) << excess, instructions

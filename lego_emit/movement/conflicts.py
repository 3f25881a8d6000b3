"""What an access of shared memory costs: wavefronts, conflicts of banks, transactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from ..algebra.block import Block, is_packed
from ..algebra.packed import Packed
from ..errors import LayoutError, brief, short_repr
from ..numeric import is_integer
from ..packages import numpy as np
from .access import OFF, Access, called, offsets
from .memories import NVIDIA, SharedMemory, memory_of


@dataclass(frozen=True)
class Conflicts:
    """What an access costs one warp; of several warps, the one that it costs most.

    wavefronts: passes through the banks, over all instructions; minimum: those of the same bytes
    without a conflict; degree: the most words that one bank serves in one phase; pairs: of lanes
    that collide, (lower, higher), in one phase of one instruction; widths: the bytes that a lane
    moves in each instruction; transactions: segments of global memory that the same access would
    touch, and least_transactions those of as many bytes in one piece.

        >>> from lego_emit import GroupBy, movement
        >>> movement.bank_conflicts(GroupBy([32, 32]), lambda lane: (lane, 0))
        <conflicts on nvidia: 32 wavefronts, 1 without conflict>
    """

    gpu: str
    wavefronts: int
    minimum: int
    degree: int
    pairs: tuple[tuple[int, int], ...]
    widths: tuple[int, ...]
    transactions: int
    least_transactions: int

    @property
    def instructions(self) -> int:
        """How many instructions the access takes."""
        return len(self.widths)

    @property
    def is_free(self) -> bool:
        """Whether no bank has to serve twice."""
        return self.wavefronts == self.minimum

    def as_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {**asdict(self), "instructions": self.instructions, "is_free": self.is_free}

    def __repr__(self) -> str:
        return f"<conflicts on {self.gpu}: {_count(self.wavefronts, 'wavefront')}, {self.minimum} without conflict>"

    def __str__(self) -> str:
        wide = ", ".join(
            f"{self.widths.count(w)} of {w} bytes" for w in sorted({*self.widths}, reverse=True)
        )
        lines = [
            f"{_count(self.wavefronts, 'wavefront')}, {self.minimum} without conflict; a bank serves at "
            f"most {_count(self.degree, 'word')} at a time",
            f"instructions: {wide or 'none'}",
        ]
        if self.pairs:
            some = ", ".join(f"{a} and {b}" for a, b in self.pairs[:4])
            more = f", and {len(self.pairs) - 4} more pairs" if len(self.pairs) > 4 else ""
            lines.append(f"lanes that collide: {some}{more}")
        return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


@brief
def bank_conflicts(
    memory: Block | Packed,
    access: Access,
    element_bytes: int = 4,
    *,
    gpu: str | SharedMemory = NVIDIA,
    write: bool = False,
    registers: int | None = None,
) -> Conflicts:
    """What it costs a warp to read, or to write, elements of shared memory.

    memory: a layout from coordinates to an element's offset, or Packed fields, as Packed(layout, 4) of
    elements of 4 bits. access: what each lane touches, a layout
    of `lane`, and of `register` (a layout without names: of lanes, then registers), or a function of
    lane, or of lane and register, registers= saying how many (as the widest instruction moves, where
    it is left out). It gives coordinates of the memory,
    or their row-major flat index; None, and -1 for all of them, where a lane takes no part.
    element_bytes: 1, 2, 4, 8 or 16, left out of Packed fields. gpu: "nvidia", "amd" or a SharedMemory.

    Of Packed fields an access moves the words in which they are: a register is a field, the fields of
    one word are moved once, and a store is of the whole word. Registers whose elements are contiguous and aligned are moved by one instruction, of at most 16
    bytes; a compiler may name registers as it likes, so that their order counts only in that it is
    the same in all lanes. Lanes that touch the same word are served together. Counted by looking at
    every lane (linear layouts, section 9.2 of Zhou et al., ASPLOS 2026, count the same by rank).

    Raises LayoutError where an access lies outside the memory, and where sizes are symbols.

        >>> from lego_emit import GroupBy, Packed, bank_conflicts
        >>> bank_conflicts(GroupBy([32, 32]), lambda lane: (lane, 0)).wavefronts
        32
        >>> bank_conflicts(Packed(GroupBy([32, 32]), 4), lambda lane: (lane, 0)).wavefronts
        4
    """
    construct = called("bank_conflicts", memory, access)
    hardware = memory_of(gpu, construct)
    found, moved = touched(memory, access, element_bytes, hardware, registers, construct)
    of_warps = (_of_warp(warp, moved, hardware, write) for warp in found)
    return max(of_warps, key=lambda c: (c.wavefronts, c.degree, len(c.pairs)))


def touched(
    memory: Any, access: Any, element_bytes: Any, gpu: Any, registers: Any, construct: str
) -> tuple[np.ndarray, int]:
    """(the element that each register of each lane of each warp has in memory, of Packed fields the word:
    (warps, lanes, registers), -1 where it takes no part; the bytes of one)."""
    hardware = memory_of(gpu, construct)
    fields = memory if is_packed(memory) else None
    if fields is not None:
        memory, element_bytes = fields.layout, _bytes_of_word(fields, element_bytes, construct)
    element_bytes = checked_bytes(element_bytes, hardware, construct)
    check_registers(registers, construct)
    bits = fields.bits if fields is not None else 8 * element_bytes
    count = 8 * hardware.widest // bits if registers is None else int(registers)
    found = offsets(memory, access, hardware, count, construct)
    return found if fields is None else _words(fields, found), element_bytes


def _bytes_of_word(fields: Packed, element_bytes: Any, construct: str) -> int:
    """The bytes that an access of fields moves. Raises LayoutError where they are in no memory, or it is
    said that there are others."""
    made = fields.word // 8
    if fields.by_value:
        raise LayoutError(f"{construct}: the fields are those of one word, which is in no memory")
    if not fields.is_concrete:
        raise LayoutError(f"{construct}: {fields!r} has symbols; give numbers for them")
    if element_bytes not in (4, made):
        raise LayoutError(
            f"{construct}: element_bytes is {short_repr(element_bytes)}, and an access moves the words of {made} bytes; "
            "leave it out, or give another word"
        )
    return made


def _words(fields: Packed, found: np.ndarray) -> np.ndarray:
    """The words in which fields are, as registers; of those that go on in another word, that one, too."""
    active = found != OFF
    word, shift = fields.place_of(np.where(active, found, 0))
    goes_on = active & (shift + fields.bits > fields.word)
    parts = [np.where(active, word, OFF)]
    if goes_on.any():
        parts.append(np.where(goes_on, word + (1 if fields.order == "lsb" else -1), OFF))
    return np.concatenate(parts, axis=2)


def checked_bytes(element_bytes: Any, gpu: SharedMemory, construct: str) -> int:
    """An element's bytes, as Python's int. Raises LayoutError for a width that no instruction moves."""
    known = [1 << k for k in range(gpu.widest.bit_length())]
    if not is_integer(element_bytes) or element_bytes not in known:
        raise LayoutError(
            f"{construct}: element_bytes is {short_repr(element_bytes)}, and an access moves "
            f"{', '.join(map(str, known))} bytes; smaller ones share words, as in Packed(layout, 4)"
        )
    return int(element_bytes)


def check_registers(registers: Any, construct: str) -> None:
    """Raise LayoutError where a number of registers is given that is none."""
    if registers is not None and not (is_integer(registers) and registers >= 1):
        raise LayoutError(
            f"{construct}: registers is {short_repr(registers)}, and must be at least 1"
        )


def _of_warp(found: np.ndarray, element_bytes: int, gpu: SharedMemory, write: bool) -> Conflicts:
    wavefronts = minimum = degree = segments = least = 0
    pairs: set[tuple[int, int]] = set()
    widths = []
    for first, count in instructions(found, gpu.widest // element_bytes):
        width = count * element_bytes
        widths.append(width)
        starts = {lane: int(o) * element_bytes for lane, o in enumerate(first) if o != OFF}
        moved = {b // gpu.segment for s in starts.values() for b in (s, s + width - 1)}
        segments += len(moved)
        least += -(-len({*starts.values()}) * width // gpu.segment)
        for lanes in gpu.phases(starts, width, write):
            here = {lane: starts[lane] for lane in lanes if lane in starts}
            banks = _banks(here, width, gpu)
            if not banks:
                continue
            worst = max(len(words) for words in banks.values())
            every = sum(len(words) for words in banks.values())
            wavefronts, degree = wavefronts + worst, max(degree, worst)
            minimum += -(-every // gpu.banks)
            pairs.update(_colliding(banks.values()))
    return Conflicts(
        gpu.name, wavefronts, minimum, degree, tuple(sorted(pairs)), tuple(widths), segments, least
    )


def wavefronts_of(starts: dict[int, int], width: int, gpu: SharedMemory, write: bool) -> int:
    """Those of one instruction. starts: the first byte of each lane that takes part; width: the bytes that it moves."""
    groups = (
        {k: starts[k] for k in lanes if k in starts} for lanes in gpu.phases(starts, width, write)
    )
    found = (_banks(here, width, gpu) for here in groups)
    return sum(max(len(words) for words in banks.values()) for banks in found if banks)


def _banks(
    starts: dict[int, int], width: int, gpu: SharedMemory
) -> dict[int, dict[int, list[int]]]:
    """The words that each bank serves, and the lanes that touch them."""
    banks: dict[int, dict[int, list[int]]] = {}
    for lane, start in starts.items():
        for word in range(start // gpu.bank_bytes, (start + width - 1) // gpu.bank_bytes + 1):
            banks.setdefault(word % gpu.banks, {}).setdefault(word, []).append(lane)
    return banks


def _colliding(banks: Any) -> Iterator[tuple[int, int]]:
    for words in banks:
        for one, other in combinations(words.values(), 2):
            for a in one:
                for b in other:
                    if a != b:
                        yield (min(a, b), max(a, b))


def instructions(found: np.ndarray, most: int) -> list[tuple[np.ndarray, int]]:
    """The instructions that move registers (lanes, registers), as few as there can be: for each the
    first element of each lane, and how many each moves. Registers that are equal in all lanes are
    moved once."""
    left = [*np.unique(found, axis=1).T]
    left = [column for column in left if (column != OFF).any()]
    made: list[tuple[np.ndarray, int]] = []
    count = 1 << max(most, 1).bit_length() - 1
    while left:
        rest: list[np.ndarray] = []
        for group in _blocks(left, count):
            if count == 1 or _is_vector(group, count):
                made.append((group[0], count))
            else:
                rest += group
        left, count = rest, count // 2
    return made


def _blocks(columns: Sequence[np.ndarray], count: int) -> list[list[np.ndarray]]:
    """Columns by the aligned block in which each has its first active lane, in order."""
    groups: dict[tuple[int, int], list[tuple[int, np.ndarray]]] = {}
    for column in columns:
        lane = int(np.flatnonzero(column != OFF)[0])
        at = int(column[lane])
        groups.setdefault((lane, at // count), []).append((at, column))
    if count == 1:
        return [[column] for group in groups.values() for _, column in group]
    return [[c for _, c in sorted(group, key=lambda pair: pair[0])] for group in groups.values()]


def _is_vector(group: Sequence[np.ndarray], count: int) -> bool:
    """Whether the columns are contiguous and aligned in every lane."""
    first = group[0]
    active = first != OFF
    return (
        len(group) == count
        and not (first[active] % count).any()
        and all(
            ((c != OFF) == active).all() and (c[active] == first[active] + k).all()
            for k, c in enumerate(group)
        )
    )

"""Conversions of register layouts: the cheapest plan, and the CUDA C device function that does it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

from ..algebra import f2
from ..algebra.linear import Linear
from ..errors import LayoutError, brief
from ..files import write_if_changed
from ..plans.pair import Pair
from ..plans.plan import MEMORY, SHUFFLES, Plan
from ..plans.steps import Barrier, Step, Take, Vectors
from .access import called
from .conflicts import checked_bytes
from .memories import NVIDIA, SharedMemory, memory_of
from .pair import check_way, pair_of
from .prices import SELECT, SHUFFLE, WAIT_WARP, WAVEFRONT, overlapped, packing, waiting
from .shuffles import plans
from .staged import staged


@dataclass(frozen=True, repr=False)
class Conversion(Plan):
    """How the threads get from holding a tile as `start` says to holding it as `end` says, and the
    CUDA C device function that does it.

        >>> from lego_emit import convert, hardware
        >>> product = hardware.fitted(hardware.mma("c"), (16, 16))
        >>> "convert(" in convert(product, hardware.mma("a"), element_bytes=2).source
        True
    """

    @cached_property
    def source(self) -> str:
        """The CUDA C file."""
        from .source import source

        return source(self)

    def save(self, path: str | PathLike[str]) -> bool:
        """Write the file (atomically; an unchanged one is left alone); True where it changed."""
        return write_if_changed(path, self.source)


@brief
def convert(
    A: Linear,
    B: Linear,
    element_bytes: int = 4,
    *,
    name: str = "convert",
    way: str | None = None,
    shared_bytes: int = 48 * 1024,
    gpu: Any = NVIDIA,
) -> Conversion:
    """The cheapest plan from one register layout of a tile to another (Zhou et al., ASPLOS 2026,
    section 5.4), and the CUDA C device function of it.

    A, B: layouts from register, lane and warp to the coordinates of one tile; to a layout that lacks
    one of the names it makes no difference, and others (block) must be the same in both. A holds
    all that B asks for. element_bytes: 1, 2, 4, 8 or 16. name: of the function. way: "shuffles" or "shared
    memory", where the cheaper one is not to be taken. shared_bytes: how much there may be.

    Register moves where each lane holds what it shall hold; shuffles within warps, words chosen by
    lane before and after; else shared memory, under optimal_swizzle. Where both serve, the price
    decides.

    Raises LayoutError where the layouts do not match, a thread holds more than 1024 elements, or the
    tile is larger than shared_bytes.

        >>> from lego_emit import convert, hardware
        >>> product = hardware.fitted(hardware.mma("c"), (16, 16))
        >>> print(convert(product, hardware.mma("a"), element_bytes=2))
        convert: none; elements of 2 bytes, 8 a thread to 8, lanes 32, warps 1
    """
    construct = called("convert", A, B, element_bytes)
    hardware = memory_of(gpu, construct)
    element_bytes = checked_bytes(element_bytes, hardware, construct)
    check_way(way, shared_bytes, construct)
    pair = pair_of(A, B, hardware, construct)
    found = _within_warps(pair, element_bytes)
    if way == SHUFFLES and found is None:
        raise LayoutError(
            f"{construct}: an element of {element_bytes} bytes must leave its warp, or is wider than a "
            f"shuffle; leave way out, or give {MEMORY!r}"
        )
    if way == MEMORY or ((found is None or found[1] > WAIT_WARP) and way is None):
        through, said = _through_memory(pair, element_bytes, shared_bytes, hardware)
        if through is not None and (way == MEMORY or found is None or through[1] < found[1]):
            found = through
        elif found is None or way == MEMORY:
            raise LayoutError(f"{construct}: {said}")
    assert found is not None
    steps, price, memory = found
    return Conversion(name, A, B, element_bytes, steps, memory, price, pair)


Priced = tuple[tuple[Step, ...], float, Linear | None]


def _within_warps(pair: Pair, element_bytes: int) -> Priced | None:
    """The cheapest plan without shared memory."""

    def priced(steps: tuple[Step, ...]) -> Priced:
        if steps == (Take(tuple(range(1 << len(pair.start.registers)))),):
            steps = ()
        shuffled = SHUFFLE * sum(s.shuffles for s in steps)
        worked = SELECT * sum(s.selects for s in steps)
        if shuffled:
            held = sum(1 << f2.rank(h.registers) for h in (pair.start, pair.end))
            worked += packing(held, element_bytes, held)
        return steps, overlapped(shuffled, worked), None

    return min(map(priced, plans(pair, element_bytes)), key=lambda found: found[1], default=None)


def _through_memory(
    pair: Pair, element_bytes: int, most: int, gpu: SharedMemory
) -> tuple[Priced | None, str]:
    """The plan through shared memory; None, and why, where the tile is too large."""
    if not pair.start.lanes:
        return (
            None,
            "there is neither lane nor warp, and each thread has its tile alone; leave way out",
        )
    size = element_bytes << sum(bits for _, bits in pair.tile)
    if size > most:
        return None, (
            f"the tile takes {size} bytes of shared memory, and there are {most}; give "
            f"shared_bytes={size} where the kernel has as much (dynamic shared memory), or convert "
            "the tile in parts"
        )
    found = staged(pair, element_bytes, gpu)
    waits = sum(waiting(s.block) for s in found.steps if isinstance(s, Barrier))
    packed = sum(
        packing(len(s.vectors) * (together := len(s.vectors[0][1])), element_bytes, together)
        for s in found.steps
        if isinstance(s, Vectors)
    )
    price = overlapped(WAVEFRONT * (found.stored + found.loaded), packed) + waits
    return (found.steps, price, found.memory), ""

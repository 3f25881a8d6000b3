"""The pairs of register layouts that are converted: shapes from 2^5 to 2^14 elements."""

from __future__ import annotations

import random
from collections.abc import Iterator

from device import Case

from lego_emit import Linear, hardware
from lego_emit.algebra import f2

IDENTITY = Linear.identity1D


def warps_of(elements: int) -> int:
    """At most 32 elements a thread, at most 16 warps."""
    return max(1, min(16, elements // 1024))


def shape_of(bits: int) -> tuple[int, int]:
    """A tile of 2**bits elements, no higher than wide."""
    return 1 << bits // 2, 1 << bits - bits // 2


def rows(shape: tuple[int, int], vector: int, warps: int) -> Linear:
    """Lanes along rows, each with a vector."""
    across = max(1, min(32, shape[1] // vector))
    return hardware.blocked([1, vector], [32 // across, across], [warps, 1], shape=shape)


def columns(shape: tuple[int, int], vector: int, warps: int) -> Linear:
    """Lanes along columns, each with a vector."""
    down = max(1, min(32, shape[0] // vector))
    return hardware.blocked([vector, 1], [down, 32 // down], [1, warps], [0, 1], shape)


def fragment(operand: str, shape: tuple[int, int], warps: int, bits: int) -> Linear:
    """mma.sync's fragments, the warps one below the other (of operand b side by side)."""
    dim = "dim1" if operand == "b" else "dim0"
    tile = hardware.mma(operand, bits) * IDENTITY(warps, "warp", dim)
    return hardware.fitted(tile, shape)


def at_random(bits: int, warps: int, seed: int, distributed: bool) -> tuple[Linear, Linear]:
    """Two layouts of one size: bits in any order, or any invertible matrices."""
    rng = random.Random(seed)
    high = warps.bit_length() - 1
    ins = [("register", bits - 5 - high), ("lane", 5), ("warp", high)]
    made = []
    for _ in range(2):
        own = rng.sample(f2.identity(bits), bits)
        while not distributed and f2.rank(own := [rng.randrange(1 << bits) for _ in own]) < bits:
            pass
        made.append(Linear._made(ins, [("dim0", bits // 2), ("dim1", bits - bits // 2)], own))
    return made[0], made[1]


def pairs() -> Iterator[Case]:
    """All of them."""
    for bits in range(5, 15):
        shape, warps = shape_of(bits), warps_of(1 << bits)
        for size in (1, 2, 4, 8):
            vector = min(16 // size, max(1, (1 << bits) // (32 * warps)), shape[0])
            a, b = rows(shape, vector, warps), columns(shape, vector, warps)
            yield Case("rows to columns", a, b, size)
            if (bits, size) == (
                14,
                8,
            ):  # 16 warps of a block have no registers for 64 elements each
                warps = 8
                a = rows(shape, vector, warps)
            yield Case("rows to mma c", a, fragment("c", shape, warps, 32), size)
    for shape in (
        (32, 128),
        (64, 32),
        (128, 32),
        (128, 64),
    ):  # with the squares above Fig. 2 of the paper
        warps = warps_of(shape[0] * shape[1])
        yield Case("rows to columns", rows(shape, 16, warps), columns(shape, 16, warps), 1)
    for size in (1, 2, 4):
        for shape, warps in (((16, 64), 1), ((64, 64), 4)):
            c = fragment("c", shape, warps, 32)
            wide = 8 * size
            yield Case("mma c to mma a", c, fragment("a", shape, warps, wide), size)
            yield Case("mma c to mma b", c, fragment("b", shape, warps, wide), size)
            yield Case(
                "rows to mma a",
                rows(shape, 16 // size, warps),
                fragment("a", shape, warps, wide),
                size,
            )
            yield Case("mma c to columns", c, columns(shape, 16 // size, warps), size)
    for size in (1, 2, 4, 8):
        for height, warps in ((64, 4), (256, 8)):
            a, b = rows((height, 64), 4, warps), fragment("c", (height, 64), warps, 32)
            line = hardware.blocked([1], [32], [warps], shape=(height,))
            yield Case("sliced rows to blocked", hardware.sliced(a, 1), line, size)
            yield Case(
                "sliced mma c to sliced rows", hardware.sliced(b, 1), hardware.sliced(a, 1), size
            )
        for shape, warps in (((8, 8), 1), ((16, 8), 4), ((32, 4), 4)):
            a = hardware.blocked([1, 4], [4, 8], [warps, 1], shape=shape)
            yield Case("broadcasting", a, fragment("c", shape, warps, 32), size)
        for bits, warps in ((8, 1), (10, 1), (12, 4)):
            for kind in (True, False):
                a, b = at_random(bits, warps, bits + size, kind)
                yield Case(f"random {'bits' if kind else 'matrices'}", a, b, size)

"""Tiled surfaces of GPUs: images as the texture and display units take them.

Rows and the bytes of a row, whatever the pixels are (64KB_S: pixels, whose order depends on their size).
A row is as long as the surface's pitch, in whole tiles.
"""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from .entry import catalogue, choice
from .tiled import tiled

RAGGED = "rows and row length are rounded up to whole {}, Padded"
MESA = "Mesa, src/intel/isl/isl_tiled_memcpy.c; drm_fourcc.h, I915_FORMAT_MOD_{}_TILED"
COPIED = "Mesa's own copy to this tile, run on it byte by byte"


@catalogue.entry(
    "nvidia.BLOCK_LINEAR_2D",
    source="drm_fourcc.h, DRM_FORMAT_MOD_NVIDIA_BLOCK_LINEAR_2D; Tegra X1 TRM, Pixel Memory Formats",
    checked="the TRM's formula as the tegra_swizzle crate has it, and that crate run on it",
    ragged=RAGGED.format("blocks"),
    rows=8,
    bytes=64,
    log2_gobs=0,
)
def block_linear(rows: Any, bytes: Any, log2_gobs: int = 1) -> Block:
    """GOBs of 64 bytes x 8 rows, 2**log2_gobs below each other in a block; a byte's offset.

    A GOB has sectors of 16 bytes x 2 rows; blocks are row-major. log2_gobs: 0 to 5.
    """
    tall = 1 << choice(
        'catalogue["nvidia.BLOCK_LINEAR_2D"]', "log2_gobs", log2_gobs, (0, 1, 2, 3, 4, 5)
    )
    order = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3)]
    return tiled([rows, bytes], [(tall, 4, 2), (2, 2, 16)], order)


@catalogue.entry(
    "intel.X",
    source=MESA.format("X"),
    checked=COPIED,
    ragged=RAGGED.format("tiles"),
    rows=16,
    bytes=32,
)
def x_tiles(rows: Any, bytes: Any) -> Block:
    """Row-major tiles of 512 bytes x 8 rows, each row-major inside; a byte's offset.

    Without the exchange of bit 6 that some old platforms have.
    """
    return tiled([rows, bytes], [(8,), (512,)], [(0, 0), (1, 0), (0, 1), (1, 1)])


@catalogue.entry(
    "intel.Y",
    source=MESA.format("Y"),
    checked=COPIED,
    ragged=RAGGED.format("tiles"),
    rows=8,
    bytes=64,
)
def y_tiles(rows: Any, bytes: Any) -> Block:
    """Tiles of 128 bytes x 32 rows, in each columns of 16 bytes; a byte's offset.

    Without the exchange of bit 6 that some old platforms have.
    """
    return tiled([rows, bytes], [(32,), (8, 16)], [(0, 0), (1, 0), (1, 1), (0, 1), (1, 2)])


@catalogue.entry(
    "intel.4",
    source=MESA.format("4"),
    checked=COPIED,
    ragged=RAGGED.format("tiles"),
    rows=8,
    bytes=64,
)
def four_tiles(rows: Any, bytes: Any) -> Block:
    """Tiles of 128 bytes x 32 rows of cells of 16 bytes x 4 rows; a byte's offset."""
    order = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3)]
    return tiled([rows, bytes], [(4, 2, 4), (2, 4, 16)], order)


# The bits of the offset above the lowest 16 bytes of a row, the highest first, by the bytes of a pixel.
STANDARD = {
    1: "xyxyxyxyyyyy",
    2: "xyxyxyxyxyyy",
    4: "xyxyxyxyxyyy",
    8: "xyxyxyxyxxyy",
    16: "xyxyxyxyxxyy",
}


@catalogue.entry(
    "amd.64KB_S",
    source="Mesa, src/amd/addrlib/src/gfx10/gfx10SwizzlePattern.h, GFX10_SW_64K_S_PATINFO",
    checked="the pattern of each size of a pixel in that table",
    ragged=RAGGED.format("blocks of 64 KiB"),
    rows=16,
    columns=16,
    pixel_bytes=4,
)
def standard_64kb(rows: Any, columns: Any, pixel_bytes: int = 4) -> Block:
    """Blocks of 64 KiB of GFX10's standard swizzle, row-major; a pixel's offset, in pixels.

    pixel_bytes: 1, 2, 4, 8 or 16, of a pixel or of a compressed block.
    """
    construct = 'catalogue["amd.64KB_S"]'
    pattern = STANDARD[choice(construct, "pixel_bytes", pixel_bytes, tuple(STANDARD))]
    blocks: list[list[int]] = [[], []]
    order = [(0, 0), (1, 0)]
    for axis in map("yx".index, pattern):
        blocks[axis].append(2)
        order.append((axis, len(blocks[axis])))
    blocks[1].append(16 // pixel_bytes)
    return tiled([rows, columns], blocks, [*order, (1, len(blocks[1]))])

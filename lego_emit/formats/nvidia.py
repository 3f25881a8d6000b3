"""NVIDIA's shared-memory swizzles, and the order of block scales.

A swizzled row is 32, 64 or 128 bytes wide, as wgmma and the tensor memory accelerator have it; the
16-byte parts of a row change places with the row. The address is that of a tile aligned to the pattern,
1024 bytes at most. CuTe writes them as Swizzle<1, 4, 3>, <2, 4, 3>, <3, 4, 3> over bytes.
"""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from ..algebra.strided import Strided, Swizzle, Swizzled
from .entry import catalogue, choice
from .tiled import tiled

SWIZZLES = "CUTLASS, include/cute/atom/mma_traits_sm90_gmma.hpp (GMMA::Layout_K_SW128_Atom_Bits)"
COPIED = "what the tensor memory accelerator of an H100 writes with that swizzle mode"
ROWS = "any number of rows; a row is one swizzle wide"


def _swizzled(count: int, rows: Any, bits: Any) -> Block:
    """Rows of 16 * 2**count bytes; bits: of an element."""
    construct = f'catalogue["nvidia.SW{16 << count}"]'
    choice(construct, "bits", bits, (4, 8, 16, 32, 64, 128))
    part = 128 // bits
    row = part << count
    swizzle = Swizzle(count, part.bit_length() - 1, 3)
    return Swizzled(swizzle, Strided((rows, row), (row, 1)))


@catalogue.entry("nvidia.SW32", source=SWIZZLES, checked=COPIED, ragged=ROWS, rows=8, bits=128)
def sw32(rows: Any, bits: int = 8) -> Block:
    """Rows of 32 bytes, their two parts swapped in every other four rows; in elements of bits."""
    return _swizzled(1, rows, bits)


@catalogue.entry("nvidia.SW64", source=SWIZZLES, checked=COPIED, ragged=ROWS, rows=8, bits=128)
def sw64(rows: Any, bits: int = 8) -> Block:
    """Rows of 64 bytes, their four parts exclusive-ored with the pair of rows; in elements of bits."""
    return _swizzled(2, rows, bits)


@catalogue.entry("nvidia.SW128", source=SWIZZLES, checked=COPIED, ragged=ROWS, rows=8, bits=128)
def sw128(rows: Any, bits: int = 8) -> Block:
    """Rows of 128 bytes, their eight parts exclusive-ored with the row; in elements of bits."""
    return _swizzled(3, rows, bits)


@catalogue.entry(
    "nvidia.block_scales",
    source="cuBLAS, 1D Block Scaling Factors Layout; cuDNN, Scale Factor 128x4 Layout; pytorch/ao, to_blocked",
    checked="the documentation's offsets in both directions, and torchao's to_blocked, run",
    ragged="rounded up to 128 rows and 4 columns, Padded",
    rows=128,
    columns=4,
)
def block_scales(rows: Any, columns: Any) -> Block:
    """Scale factors of MXFP8, MXFP4 and NVFP4 in tiles of 128 x 4, row-major; in scale factors (bytes).

    rows: of the matrix (cuBLAS's outer). columns: scale factors along the reduction, one for each
    16 or 32 elements (inner).
    """
    order = [(0, 0), (1, 0), (0, 2), (0, 1), (1, 1)]
    return tiled([rows, columns], [(4, 32), (4,)], order)

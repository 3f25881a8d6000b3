"""The second operand of the dot products of x86: VNNI, AVX512-BF16 and AMX."""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from .entry import catalogue, choice
from .tiled import tiled


@catalogue.entry(
    "x86.vnni",
    source="Intel 64 and IA-32 Architectures Software Developer's Manual, TDPBF16PS and TDPBSSD",
    checked="a product of tiles by both instructions' pseudocode; oneDNN's BA16a16b2a and BA16a16b4a",
    ragged="K is rounded up to whole groups of 32 bits, Padded",
    K=4,
    N=16,
)
def vnni(K: Any, N: Any, bits: int = 16) -> Block:
    """B of K x N with the rows in groups of 32 bits, 2 of bfloat16 or 4 of int8; in elements.

    bits: of an element, 16 or 8.
    """
    choice('catalogue["x86.vnni"]', "bits", bits, (16, 8))
    return tiled([K, N], [(32 // bits,), ()], [(0, 0), (1, 0), (0, 1)])

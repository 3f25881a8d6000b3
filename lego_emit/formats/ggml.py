"""GGML's repacked weights: the quants of four rows' blocks interleaved."""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from ..algebra.strided import Strided
from .entry import catalogue, choice
from .tiled import count, filled


@catalogue.entry(
    "ggml.q8_0x4",
    source="ggml-org/llama.cpp, ggml/src/ggml-cpu/repack.h (block_q8_0x4) and repack.cpp (make_block_q8_0x4)",
    checked="the loop of make_block_q8_0x4 and the struct's size, 136 bytes",
    ragged="refused: rows are a multiple of 4, columns of 32; no inverse, as the scales lie between",
    rows=4,
    columns=32,
)
def q8_0x4(rows: Any, columns: Any, interleave: int = 4) -> Block:
    """The quants of four rows' q8_0 blocks, in parts of 4 or 8 of each row in turn; in bytes.

    interleave: 4 or 8. A block of 4 x 32 quants has 136 bytes: the four rows' scales, of 2 bytes each,
    come first, so no quant has the positions 136 b to 136 b + 7.
    """
    construct = 'catalogue["ggml.q8_0x4"]'
    choice(construct, "interleave", interleave, (4, 8))
    down, across = count(rows, 4, construct), count(columns, 32, construct)
    memory = Strided(
        ((4, down), (interleave, 32 // interleave, across)),
        ((interleave, 136 * across), (1, 4 * interleave, 136)),
        8,
    )
    return filled([rows, columns], memory)

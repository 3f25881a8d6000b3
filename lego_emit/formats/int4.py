"""Weights of four bits: positions count nibbles, the lowest of a byte or word first."""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from .entry import catalogue, choice
from .tiled import tiled


@catalogue.entry(
    "marlin.B",
    source="IST-DASLab/marlin, marlin/__init__.py (_get_perms, Layer.pack)",
    checked="its own _get_perms and Layer.pack, run",
    ragged="refused: K is a multiple of 16, N of 64 (its kernel asks for 128 and 256)",
    K=16,
    N=64,
)
def marlin(K: Any, N: Any) -> Block:
    """Marlin's weight of K inputs and N outputs, in nibbles of its row-major int32 matrix.

    A lane of a warp finds in a word what it needs for four 16 x 8 fragments of mma, its nibbles in the
    order in which they are unpacked, two at a time.
    """
    order = [(0, 0), (1, 0), (1, 3), (0, 2), (1, 1), (0, 3), (1, 2), (0, 1)]
    return tiled([K, N], [(2, 4, 2), (4, 2, 8)], order, whole='catalogue["marlin.B"]')


@catalogue.entry(
    "awq.GEMM",
    source="casper-hansen/AutoAWQ, awq/modules/linear/gemm.py and awq/utils/packing_utils.py (AWQ_ORDER)",
    checked="the loop that packs a word, and the inverse order that it writes out",
    ragged="refused: N is a multiple of 8",
    K=2,
    N=16,
)
def awq_gemm(K: Any, N: Any) -> Block:
    """AutoAWQ's GEMM weight of K inputs and N outputs, even columns of 8 first; in nibbles."""
    order = [(0, 0), (1, 0), (1, 2), (1, 1)]
    return tiled([K, N], [(), (4, 2)], order, whole='catalogue["awq.GEMM"]')


@catalogue.entry(
    "awq.pack_intweight",
    source="mit-han-lab/llm-awq, awq/quantize/qmodule.py (pack_intweight, interleave=4, kstride=64)",
    checked="its own pack_intweight, run",
    ragged="refused: N is a multiple of 4, K of 64",
    N=4,
    K=64,
)
def awq_pack_intweight(N: Any, K: Any) -> Block:
    """llm-awq's weight of N outputs and K inputs, four rows interleaved; in nibbles."""
    order = [(0, 0), (1, 0), (0, 1), (1, 1), (1, 3), (1, 4), (1, 2)]
    return tiled([N, K], [(4,), (2, 4, 4, 2)], order, whole='catalogue["awq.pack_intweight"]')


@catalogue.entry(
    "tinygemm.int4",
    source="pytorch/pytorch, aten/src/ATen/native/cuda/int4mm.cu (matrix_to_m16n8k16_Bint4_layout)",
    checked="torch._convert_weight_to_int4pack on a GPU",
    ragged="rounded up, Padded; PyTorch itself takes only multiples of 16 inner_k_tiles as k",
    n=8,
    k=32,
    inner_k_tiles=2,
)
def tinygemm(n: Any, k: Any, inner_k_tiles: int = 8) -> Block:
    """PyTorch's weight of n outputs and k inputs for mma.m16n8k16; in nibbles of its int32 tensor.

    inner_k_tiles: 2, 4 or 8 tiles of 16 inputs lie in a lane's vector.
    """
    construct = 'catalogue["tinygemm.int4"]'
    choice(construct, "inner_k_tiles", inner_k_tiles, (2, 4, 8))
    order = [(0, 0), (1, 0), (0, 1), (1, 4), (1, 1), (1, 5), (1, 2), (1, 3)]
    return tiled([n, k], [(8,), (inner_k_tiles // 2, 2, 2, 4, 2)], order)

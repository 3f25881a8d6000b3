"""What TMA and wgmma do with shared memory, on NumPy's arrays of bytes, read from the PTX ISA alone.

Source: PTX ISA 8.7, 5.5.7 (swizzling modes of tensor copies), 9.7.15.5.1 (matrix descriptor, canonical
layouts) and "Register Fragments for wgmma.mma_async.m64nNk16" (the accumulator D).
"""

from __future__ import annotations

from typing import Any

import numpy as np

SPAN = {0: 16, 1: 32, 2: 64, 3: 128}  # bytes of a row, by the bits of the swizzle
BITS_OF_TYPE = {0: 0, 1: 3, 2: 2, 3: 1}  # a descriptor's layout_type


def swizzled(address: Any, bits: int) -> Any:
    """Where the bytes of an address go: chunks of 16 bytes, exchanged by the number of the row of 128."""
    return address ^ (address >> 7 & (1 << bits) - 1) << 4


def halves(memory: np.ndarray) -> np.ndarray:
    """Bytes as numbers of 16 bits."""
    return memory.view(np.float16)


def box_of(tensor_map: Any, to: int, at: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(places in global memory, in shared memory) of the elements of a box, in elements of 16 bits."""
    x, y = np.meshgrid(*map(np.arange, tensor_map.box), indexing="ij")
    (stride,) = tensor_map.strides
    linear = to + 2 * (x + tensor_map.box[0] * y)
    bits = min(int(tensor_map.swizzle), 3)
    return (at[0] + x) + (at[1] + y) * stride // 2, swizzled(linear, bits) // 2


def load_box(memory: np.ndarray, tensor: np.ndarray, tensor_map: Any, to: int, at: Any) -> None:
    """cp.async.bulk.tensor to the byte `to` of shared memory."""
    start, end = box_of(tensor_map, to, at)
    halves(memory)[end] = tensor[start]


def store_box(memory: np.ndarray, tensor: np.ndarray, tensor_map: Any, start: int, at: Any) -> None:
    """And back."""
    end, begin = box_of(tensor_map, start, at)
    tensor[end] = halves(memory)[begin]


def operand(memory: np.ndarray, descriptor: int, rows: int, major: str) -> np.ndarray:
    """The rows x 16 numbers that wgmma reads."""
    start, leading, stride = ((descriptor >> place & 0x3FFF) << 4 for place in (0, 16, 32))
    bits = BITS_OF_TYPE[descriptor >> 62]
    span, m, k = SPAN[bits], np.arange(rows)[:, None], np.arange(16)
    if major == "K" and bits:
        address = m // 8 * stride + m % 8 * span + 2 * k
    elif major == "K":
        address = m // 8 * stride + m % 8 * 16 + k // 8 * leading + 2 * (k % 8)
    elif bits:
        wide = span // 2
        address = m // wide * leading + k // 8 * stride + k % 8 * span + 2 * (m % wide)
    else:
        address = m // 8 * stride + k // 8 * leading + k % 8 * 16 + 2 * (m % 8)
    return halves(memory)[swizzled(start + address, bits) // 2].astype(np.float64)


def fragment(d: np.ndarray) -> np.ndarray:
    """D of 64 x n as threads hold it: [register, lane, warp]."""
    register, lane, warp = np.ix_(np.arange(d.shape[1] // 2), np.arange(32), np.arange(4))
    row = 16 * warp + lane // 4 + 8 * (register // 2 % 2)
    return d[row, 8 * (register // 4) + 2 * (lane % 4) + register % 2]

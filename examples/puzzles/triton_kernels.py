"""The puzzles in Triton, where a program takes a block's work at once: no memory is shared by hand."""

import triton
import triton.language as tl
from layouts import across, blocks, columns, left, packed, right, rows, strips, tiles

import lego_emit


@lego_emit.jit
@triton.jit
def map_2d(a, out, M, N, T: tl.constexpr):
    i = tl.program_id(1) * T + tl.arange(0, T)
    j = tl.program_id(0) * T + tl.arange(0, T)
    inside = rows.in_bounds(i[:, None], j[None, :])
    tl.store(
        out + rows[i[:, None], j[None, :]],
        tl.load(a + columns[i[:, None], j[None, :]], mask=inside) + 10,
        mask=inside,
    )


@lego_emit.jit
@triton.jit
def broadcast(a, b, out, M, N, T: tl.constexpr):
    i = tl.program_id(1) * T + tl.arange(0, T)
    j = tl.program_id(0) * T + tl.arange(0, T)
    total = tl.load(a + i, mask=i < M)[:, None] + tl.load(b + j, mask=j < N)[None, :]
    tl.store(
        out + columns[i[:, None], j[None, :]], total, mask=columns.in_bounds(i[:, None], j[None, :])
    )


@lego_emit.jit
@triton.jit
def blocks_2d(a, out, M, N, T: tl.constexpr):
    p, q = tl.program_id(1), tl.program_id(0)
    tl.store(out + packed[p, q, :, :], tl.load(a + tiles[p, q, :, :]) + 10)


@lego_emit.jit
@triton.jit
def shared_tile(a, out, M, N, T: tl.constexpr):
    p, q = tl.program_id(1), tl.program_id(0)
    tl.store(out + across[q, p, :, :], tl.trans(tl.load(a + tiles[p, q, :, :])))


@lego_emit.jit
@triton.jit
def pooling(a, out, N, T: tl.constexpr):
    at = blocks[tl.program_id(0), :]
    total = tl.load(a + at)
    for k in range(1, 3):
        total += tl.load(a + at - k, mask=at >= k, other=0)
    tl.store(out + at, total)


@lego_emit.jit
@triton.jit
def convolution(a, b, out, N, T: tl.constexpr):
    at = blocks[tl.program_id(0), :]
    total = tl.zeros((T,), tl.float32)
    for k in range(4):
        total += tl.load(a + at + k, mask=at + k < N, other=0) * tl.load(b + k)
    tl.store(out + at, total)


@lego_emit.jit
@triton.jit
def axis_sum(a, out, M, N, T: tl.constexpr):
    p = tl.program_id(0)
    total = tl.zeros((T,), tl.float32)
    for k in range(strips.dims[1]):
        total += tl.load(a + strips[p, k, 0, :])
    tl.store(out + p, tl.sum(total, axis=0))


@lego_emit.jit
@triton.jit
def matmul(a, b, out, M, N, K, T: tl.constexpr):
    p, q = tl.program_id(1), tl.program_id(0)
    total = tl.zeros((T, T), tl.float32)
    for k in range(left.dims[1]):
        x, y = tl.load(a + left[p, k, :, :]), tl.load(b + right[k, q, :, :])
        total += tl.sum(x[:, :, None] * y[None, :, :], axis=1)
    tl.store(out + packed[p, q, :, :], total)

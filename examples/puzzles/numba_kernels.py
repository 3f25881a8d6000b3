"""The puzzles in Numba's CUDA."""

import numba
from layouts import T, across, blocks, columns, left, packed, right, rows, square, strips, tiles
from numba import cuda

import lego_emit


@lego_emit.jit
@cuda.jit
def map_2d(a, out, M, N):
    j, i = cuda.grid(2)
    if rows.in_bounds(i, j):
        out[rows[i, j]] = a[columns[i, j]] + 10


@lego_emit.jit
@cuda.jit
def broadcast(a, b, out, M, N):
    j, i = cuda.grid(2)
    if columns.in_bounds(i, j):
        out[columns[i, j]] = a[i] + b[j]


@lego_emit.jit
@cuda.jit
def blocks_2d(a, out, M, N):
    p, q, i, j = cuda.blockIdx.y, cuda.blockIdx.x, cuda.threadIdx.y, cuda.threadIdx.x
    out[packed[p, q, i, j]] = a[tiles[p, q, i, j]] + 10


@lego_emit.jit
@cuda.jit
def shared_tile(a, out, M, N):
    tile = cuda.shared.array(square.physical_size, numba.float32)
    p, q, i, j = cuda.blockIdx.y, cuda.blockIdx.x, cuda.threadIdx.y, cuda.threadIdx.x
    tile[square[i, j]] = a[tiles[p, q, i, j]]
    cuda.syncthreads()
    out[across[q, p, i, j]] = tile[square[j, i]]


@lego_emit.jit
@cuda.jit
def pooling(a, out, N):
    near = cuda.shared.array(T + 2, numba.float32)
    p, i = cuda.blockIdx.x, cuda.threadIdx.x
    h = i + T - 2
    near[i + 2] = a[blocks[p, i]]
    if i < 2:
        near[i] = a[blocks[p - 1, h]] if p > 0 else 0
    cuda.syncthreads()
    out[blocks[p, i]] = near[i] + near[i + 1] + near[i + 2]


@lego_emit.jit
@cuda.jit
def convolution(a, b, out, N):
    near = cuda.shared.array(T + 3, numba.float32)
    p, i = cuda.blockIdx.x, cuda.threadIdx.x
    near[i] = a[blocks[p, i]]
    if i < 3:
        near[i + T] = a[blocks[p + 1, i]] if p + 1 < blocks.dims[0] else 0
    cuda.syncthreads()
    total = numba.float32(0)
    for k in range(4):
        total += near[i + k] * b[k]
    out[blocks[p, i]] = total


@lego_emit.jit
@cuda.jit
def axis_sum(a, out, M, N):
    sums = cuda.shared.array(T, numba.float32)
    p, j = cuda.blockIdx.x, cuda.threadIdx.x
    total = numba.float32(0)
    for k in range(strips.dims[1]):
        total += a[strips[p, k, 0, j]]
    sums[j] = total
    m = T // 2
    while m > 0:
        cuda.syncthreads()
        if j < m:
            sums[j] += sums[j + m]
        m //= 2
    if j == 0:
        out[p] = sums[0]


@lego_emit.jit
@cuda.jit
def matmul(a, b, out, M, N, K):
    x = cuda.shared.array(square.physical_size, numba.float32)
    y = cuda.shared.array(square.physical_size, numba.float32)
    p, q, i, j = cuda.blockIdx.y, cuda.blockIdx.x, cuda.threadIdx.y, cuda.threadIdx.x
    total = numba.float32(0)
    for k in range(left.dims[1]):
        x[square[i, j]] = a[left[p, k, i, j]]
        y[square[i, j]] = b[right[k, q, i, j]]
        cuda.syncthreads()
        for m in range(T):
            total += x[square[i, m]] * y[square[m, j]]
        cuda.syncthreads()
    out[packed[p, q, i, j]] = total

"""Kernels after Triton's tutorials 2, 3, 5 and 8: a fused softmax, a matrix product, layer norm forward and backward, and
products of several sizes. What a kernel loads, stores and tells the compiler is the tutorial's, but of matmul_masked; strides
are arguments."""

import triton
import triton.language as tl


@triton.jit
def softmax(y, x, x_stride, y_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """Rows in turn; loads of the next rows run ahead."""
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        column = tl.arange(0, BLOCK)
        inside = column < columns
        values = tl.load(x + row * x_stride + column, mask=inside, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(y + row * y_stride + column, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def layer_norm_forward(x, y, weight, bias, mean, rstd, stride, N, eps, BLOCK: tl.constexpr):
    """A row a program, in three passes."""
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        column = start + tl.arange(0, BLOCK)
        sums += tl.load(x + column, mask=column < N, other=0.0).to(tl.float32)
    average = tl.sum(sums, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        column = start + tl.arange(0, BLOCK)
        values = tl.load(x + column, mask=column < N, other=0.0).to(tl.float32)
        apart = tl.where(column < N, values - average, 0.0)
        squares += apart * apart
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    for start in range(0, N, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < N
        w = tl.load(weight + column, mask=inside)
        b = tl.load(bias + column, mask=inside)
        values = tl.load(x + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + column, (values - average) * scale * w + b, mask=inside)


@triton.jit
def layer_norm_backward(
    dx, dy, weight_parts, bias_parts, x, weight, mean, rstd, locks, stride, N,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A row a program; rows of a group add to its part of the gradients, one after the other by a lock."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < N
    group = row % GROUPS
    lock = locks + group
    begun = lock + GROUPS
    weight_part = weight_parts + group * N + column
    bias_part = bias_parts + group * N + column
    values = tl.load(x + row * stride + column, mask=inside, other=0).to(tl.float32)
    d = tl.load(dy + row * stride + column, mask=inside, other=0).to(tl.float32)
    w = tl.load(weight + column, mask=inside).to(tl.float32)
    average = tl.load(mean + row)
    scale = tl.load(rstd + row)
    normal = tl.where(inside, (values - average) * scale, 0.0)
    wd = tl.where(inside, w * d, 0.0)
    along = tl.sum(normal * wd, axis=0) / N
    across = tl.sum(wd, axis=0) / N
    tl.store(dx + row * stride + column, (wd - (normal * along + across)) * scale, mask=inside)
    d_weight = d * normal
    d_bias = d
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(begun) == 0:
        tl.atomic_xchg(begun, 1)
    else:
        d_weight += tl.load(weight_part, mask=inside)
        d_bias += tl.load(bias_part, mask=inside)
    tl.store(weight_part, d_weight, mask=inside)
    tl.store(bias_part, d_bias, mask=inside)
    tl.debug_barrier()  # of all threads, before the lock is given back
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_gradients(
    weight_parts, bias_parts, d_weight, d_bias, groups, N, BM: tl.constexpr, BN: tl.constexpr
):
    """The parts of all groups, added up."""
    column = tl.program_id(0) * BN + tl.arange(0, BN)
    w = tl.zeros((BM, BN), dtype=tl.float32)
    b = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, groups, BM):
        row = start + tl.arange(0, BM)
        inside = (row[:, None] < groups) & (column[None, :] < N)
        place = row[:, None] * N + column[None, :]
        w += tl.load(weight_parts + place, mask=inside, other=0.0)
        b += tl.load(bias_parts + place, mask=inside, other=0.0)
    tl.store(d_weight + column, tl.sum(w, axis=0), mask=column < N)
    tl.store(d_bias + column, tl.sum(b, axis=0), mask=column < N)


@triton.jit
def matmul(
    a, b, c, M, N, K, a_down, a_across, b_down, b_across, c_down, c_across,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    MASKED: tl.constexpr,
):  # fmt: skip
    """Tiles in groups of rows. MASKED: as it is published; else for sizes that are multiples of the tiles'."""
    pid = tl.program_id(axis=0)
    down = tl.cdiv(M, BM)
    across = tl.cdiv(N, BN)
    of_group = GROUP * across
    first = pid // of_group * GROUP
    height = min(down - first, GROUP)
    p = first + (pid % of_group) % height
    q = (pid % of_group) // height
    row = p * BM + tl.arange(0, BM)
    column = q * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    if MASKED:
        a_row, b_column = row % M, column % N
    else:
        a_row, b_column = row, column
    a_tile = a + (a_row[:, None] * a_down + depth[None, :] * a_across)
    b_tile = b + (depth[:, None] * b_down + b_column[None, :] * b_across)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        if MASKED:
            x = tl.load(a_tile, mask=depth[None, :] < K - k * BK, other=0.0)
            y = tl.load(b_tile, mask=depth[:, None] < K - k * BK, other=0.0)
        else:
            x = tl.load(a_tile)
            y = tl.load(b_tile)
        total = tl.dot(x, y, total)
        a_tile += BK * a_across
        b_tile += BK * b_down
    c_tile = c + c_down * row[:, None] + c_across * column[None, :]
    if MASKED:
        tl.store(c_tile, total.to(tl.float16), mask=(row[:, None] < M) & (column[None, :] < N))
    else:
        tl.store(c_tile, total.to(tl.float16))


@triton.jit
def matmul_masked(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """The product of matrices by rows, with masks along both axes in place of the tutorial's remainders."""
    pid = tl.program_id(axis=0)
    down = tl.cdiv(M, BM)
    across = tl.cdiv(N, BN)
    of_group = GROUP * across
    first = pid // of_group * GROUP
    height = min(down - first, GROUP)
    p = first + (pid % of_group) % height
    q = (pid % of_group) // height
    row = p * BM + tl.arange(0, BM)
    column = q * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_tile = a + (row[:, None] * K + depth[None, :])
    b_tile = b + (depth[:, None] * N + column[None, :])
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(a_tile, mask=(row[:, None] < M) & (depth[None, :] < left), other=0.0)
        y = tl.load(b_tile, mask=(depth[:, None] < left) & (column[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
        a_tile += BK
        b_tile += BK * N
    c_tile = c + (row[:, None] * N + column[None, :])
    tl.store(c_tile, total.to(tl.float16), mask=(row[:, None] < M) & (column[None, :] < N))


@triton.jit
def grouped_gemm(
    a_pointers, b_pointers, c_pointers, sizes, strides, G,
    PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """The tiles of all products go round the programs."""
    tile = tl.program_id(0)
    done = 0
    for g in range(G):
        M = tl.load(sizes + g * 3)
        N = tl.load(sizes + g * 3 + 1)
        K = tl.load(sizes + g * 3 + 2)
        across = tl.cdiv(N, BN)
        count = tl.cdiv(M, BM) * across
        while tile >= done and tile < done + count:
            a_stride = tl.load(strides + g * 3)
            b_stride = tl.load(strides + g * 3 + 1)
            c_stride = tl.load(strides + g * 3 + 2)
            a = tl.load(a_pointers + g).to(tl.pointer_type(tl.float16))
            b = tl.load(b_pointers + g).to(tl.pointer_type(tl.float16))
            c = tl.load(c_pointers + g).to(tl.pointer_type(tl.float16))
            row = (tile - done) // across * BM + tl.arange(0, BM)
            column = (tile - done) % across * BN + tl.arange(0, BN)
            depth = tl.arange(0, BK)
            a_tile = a + row[:, None] * a_stride + depth[None, :]
            b_tile = b + depth[:, None] * b_stride + column[None, :]
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for _ in range(0, tl.cdiv(K, BK)):
                tl.multiple_of(a_tile, [16, 16])
                tl.multiple_of(b_tile, [16, 16])
                x = tl.load(a_tile)
                y = tl.load(b_tile)
                total += tl.dot(x, y)
                a_tile += BK
                b_tile += BK * b_stride
            tl.store(c + c_stride * row[:, None] + column[None, :], total.to(tl.float16))
            tile += PROGRAMS
        done = done + count

"""The kernels of examples/kernels/triton_* as decorated functions: the layouts stand in them."""

import triton
import triton.language as tl

import lego_emit
from lego_emit import Col, ExpandBy, GroupBy, Row, TileBy, catalogue


@lego_emit.jit
@triton.jit
def matmul(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    TA: tl.constexpr, TB: tl.constexpr,
):  # fmt: skip
    A = TileBy([M // BM, K // BK], [BM, BK]).OrderBy(Col(M, K) if TA else Row(M, K))
    if TB:
        B = TileBy([K // BK, N // BN], [BK, BN]).OrderBy(Col(K, N))
    else:
        B = TileBy([K // BK, N // BN], [BK, BN]).OrderBy(Row(K, N))
    C = TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))
    p, q = catalogue["triton.grouped"](M // BM, N // BN, GROUP).inv(tl.program_id(0))
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(A.dims[1]):
        total = tl.dot(tl.load(a + A[p, k, :, :]), tl.load(b + B[k, q, :, :]), total)
    tl.store(c + C[p, q, :, :], total.to(tl.float16))


class Variant:
    """A kernel with some of its constants."""

    def __init__(self, kernel, **constants):
        self.kernel, self.constants = kernel, constants

    def __getitem__(self, grid):
        return lambda *given, **named: self.kernel[grid](*given, **named, **self.constants)


matmul_nn = Variant(matmul, TA=False, TB=False)
matmul_nt = Variant(matmul, TA=False, TB=True)
matmul_tn = Variant(matmul, TA=True, TB=False)
matmul_tt = Variant(matmul, TA=True, TB=True)


@lego_emit.jit
@triton.jit
def softmax(x, y, R, C, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X = Row(R, C)
    lego_emit.assume(row < R)
    inside = X.in_bounds(row, ":BLOCK")
    values = tl.load(x + X[row, :BLOCK], mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + X[row, :BLOCK], powers / tl.sum(powers, axis=0), mask=inside)


@lego_emit.jit
@triton.jit
def layer_norm_forward(x, y, weight, bias, mean, rstd, M, N, eps, B: tl.constexpr):
    tiles, columns = Row(M, N // B, B), Row(N // B, B)
    row = tl.program_id(0)
    total = tl.zeros((B,), tl.float32)
    for k in range(tiles.dims[1]):
        total += tl.load(x + tiles[row, k, :])
    average = tl.sum(total, axis=0) / N
    total = tl.zeros((B,), tl.float32)
    for k in range(tiles.dims[1]):
        difference = tl.load(x + tiles[row, k, :]) - average
        total += difference * difference
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / N + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    for k in range(tiles.dims[1]):
        normal = (tl.load(x + tiles[row, k, :]) - average) * scale
        w = tl.load(weight + columns[k, :])
        b = tl.load(bias + columns[k, :])
        tl.store(y + tiles[row, k, :], normal * w + b)


@lego_emit.jit
@triton.jit
def layer_norm_backward(
    dx, dy, x, weight, mean, rstd, weight_parts, bias_parts, M, N, PARTS, BLOCK: tl.constexpr
):
    rows, columns, parts = Row(M, N), Row(N), Row(PARTS, N)
    part = tl.program_id(0)
    inside = columns.in_bounds(":BLOCK")
    w = tl.load(weight + columns[:BLOCK], mask=inside, other=0)
    d_weight = tl.zeros((BLOCK,), tl.float32)
    d_bias = tl.zeros((BLOCK,), tl.float32)
    for row in range(part, M, PARTS):
        d = tl.load(dy + rows[row, :BLOCK], mask=inside, other=0)
        values = tl.load(x + rows[row, :BLOCK], mask=inside, other=0)
        scale = tl.load(rstd + row)
        normal = tl.where(inside, (values - tl.load(mean + row)) * scale, 0)
        along, across = tl.sum(normal * w * d, axis=0) / N, tl.sum(w * d, axis=0) / N
        tl.store(dx + rows[row, :BLOCK], (w * d - normal * along - across) * scale, mask=inside)
        d_weight += d * normal
        d_bias += d
    tl.store(weight_parts + parts[part, :BLOCK], d_weight, mask=inside)
    tl.store(bias_parts + parts[part, :BLOCK], d_bias, mask=inside)


@lego_emit.jit
@triton.jit
def layer_norm_gradients(
    d_weight, d_bias, weight_parts, bias_parts, N, PARTS, B: tl.constexpr, BP: tl.constexpr
):
    tiles, columns = Row(PARTS // BP, BP, N // B, B), Row(N // B, B)
    k = tl.program_id(0)
    w = tl.zeros((BP, B), tl.float32)
    b = tl.zeros((BP, B), tl.float32)
    for group in range(tiles.dims[0]):
        w += tl.load(weight_parts + tiles[group, :, k, :])
        b += tl.load(bias_parts + tiles[group, :, k, :])
    tl.store(d_weight + columns[k, :], tl.sum(w, axis=0))
    tl.store(d_bias + columns[k, :], tl.sum(b, axis=0))


@lego_emit.jit
@triton.jit
def grouped_gemm(
    a_pointers, b_pointers, c_pointers, sizes, G,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    numbers = Row(G, 3)
    tile = tl.program_id(0)
    for g in range(G):
        M = tl.load(sizes + numbers[g, 0])
        N = tl.load(sizes + numbers[g, 1])
        K = tl.load(sizes + numbers[g, 2])
        a = tl.load(a_pointers + g).to(tl.pointer_type(tl.float16))
        b = tl.load(b_pointers + g).to(tl.pointer_type(tl.float16))
        c = tl.load(c_pointers + g).to(tl.pointer_type(tl.float16))
        lego_emit.assume(
            M % 16 == 0, N % 16 == 0, K % 16 == 0, a % 16 == 0, b % 16 == 0, c % 16 == 0
        )
        A = TileBy([M // BM, K // BK], [BM, BK]).OrderBy(Row(M, K))
        B = TileBy([K // BK, N // BN], [BK, BN]).OrderBy(Row(K, N))
        C = TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))
        tiles = Row(M // BM, N // BN)
        while tile < tiles.size:
            p, q = tiles.inv(tile)
            total = tl.zeros((BM, BN), tl.float32)
            for k in range(A.dims[1]):
                total = tl.dot(tl.load(a + A[p, k, :, :]), tl.load(b + B[k, q, :, :]), total)
            tl.store(c + C[p, q, :, :], total.to(tl.float16))
            tile += tl.num_programs(0)
        tile -= tiles.size


@lego_emit.jit
@triton.jit
def matmul_ragged(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    down, across, deep = tl.cdiv(M, BM), tl.cdiv(N, BN), tl.cdiv(K, BK)
    A = ExpandBy([M, K], [down * BM, deep * BK], TileBy([down, deep], [BM, BK]))
    B = ExpandBy([K, N], [deep * BK, across * BN], TileBy([deep, across], [BK, BN]))
    C = ExpandBy([M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]))
    p, q = catalogue["triton.grouped"](down, across, GROUP).inv(tl.program_id(0))
    lego_emit.assume(p < down)  # else it is part of the mask
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(deep):
        x = tl.load(a + A[p, k, :, :], mask=A.in_bounds(p, k, ":", ":"), other=0)
        y = tl.load(b + B[k, q, :, :], mask=B.in_bounds(k, q, ":", ":"), other=0)
        total = tl.dot(x, y, total)
    tl.store(c + C[p, q, :, :], total.to(tl.float16), mask=C.in_bounds(p, q, ":", ":"))


@lego_emit.jit
@triton.jit
def matmul_steps(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    A = GroupBy([M, K // BK, BK]).OrderBy(Row(M, K))
    B = GroupBy([K // BK, BK, N]).OrderBy(Row(K, N))
    C = TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))
    p, q = catalogue["triton.grouped"](M // BM, N // BN, GROUP).inv(tl.program_id(0))
    row = Row(M // BM, BM)[p, :] % M
    column = Row(N // BN, BN)[q, :] % N
    a_tile = a + A[row[:], 0, :]
    b_tile = b + B[0, :, column[:]]
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(A.dims[1]):
        total = tl.dot(tl.load(a_tile), tl.load(b_tile), total)
        a_tile += A[0, k, 0].step(k=1)
        b_tile += B[k, 0, 0].step(k=1)
    tl.store(c + C[p, q, :, :], total.to(tl.float16))

"""Products of matrices: a plain one, and one for all sizes."""

import triton
import triton.language as tl

import lego_emit
from lego_emit import Col, ExpandBy, Row, TileBy, catalogue


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

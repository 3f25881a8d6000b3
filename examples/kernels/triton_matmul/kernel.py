"""A matrix product in tiles; A and B lie by rows, or where TA and TB say so by columns."""

import triton
import triton.language as tl

import lego_emit
from lego_emit import Col, GroupBy, Row, TileBy, catalogue


# No row is beyond M and no column beyond N: the remainders change nothing, but keep the compiler from working out
# addresses anew in each step of the loop.
@lego_emit.jit
@triton.jit
def matmul(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    TA: tl.constexpr, TB: tl.constexpr,
):  # fmt: skip
    A = GroupBy([M, K // BK, BK]).OrderBy(Col(M, K) if TA else Row(M, K))
    B = GroupBy([K // BK, BK, N]).OrderBy(Col(K, N) if TB else Row(K, N))
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

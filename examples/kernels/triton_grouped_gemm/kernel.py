"""Products of matrices of several sizes in one launch, each in tiles."""

import triton
import triton.language as tl

import lego_emit
from lego_emit import Row, TileBy


# The tiles of all products, one after the other, go round the programs.
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
        lego_emit.assume(M % 16 == 0, N % 16 == 0, K % 16 == 0)
        lego_emit.assume(a % 16 == 0, b % 16 == 0, c % 16 == 0)
        A = TileBy([M // BM, K // BK], [BM, BK]).OrderBy(Row(M, K))
        B = TileBy([K // BK, N // BN], [BK, BN]).OrderBy(Row(K, N))
        C = TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))
        tiles = Row(M // BM, N // BN)
        count = tiles.size
        while tile < count:
            p, q = tiles.inv(tile)
            a_tile = a + A[p, 0, :, :]
            b_tile = b + B[0, q, :, :]
            total = tl.zeros((BM, BN), tl.float32)
            for k in range(A.dims[1]):
                total = tl.dot(tl.load(a_tile), tl.load(b_tile), total)
                a_tile += A[p, k, 0, 0].step(k=1)
                b_tile += B[k, q, 0, 0].step(k=1)
            tl.store(c + C[p, q, :, :], total.to(tl.float16))
            tile += tl.num_programs(0)
        tile -= count

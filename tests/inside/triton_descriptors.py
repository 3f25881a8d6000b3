"""Kernels with tensor descriptors of layouts, and what they load beside A[..]; on a GPU with --gpu."""

import os
import sys

os.environ["TRITON_INTERPRET"] = "01"["--gpu" not in sys.argv]  # before Triton is imported

import numpy as np
import triton
import triton.language as tl

import lego_emit
from lego_emit import Col, ExpandBy, GroupBy, Row, TileBy, catalogue
from lego_emit.errors import AssumptionError


@lego_emit.jit
@triton.jit
def matmul(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    TA: tl.constexpr, TB: tl.constexpr,
):  # fmt: skip
    down, across, deep = tl.cdiv(M, BM), tl.cdiv(N, BN), tl.cdiv(K, BK)
    A = ExpandBy([M, K], [down * BM, deep * BK], TileBy([down, deep], [BM, BK]))
    B = ExpandBy([K, N], [deep * BK, across * BN], TileBy([deep, across], [BK, BN]))
    C = ExpandBy([M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]))
    A_t = ExpandBy(
        [K, M], [deep * BK, down * BM],
        TileBy([down, deep], [BM, BK]).OrderBy(Col(down * BM, deep * BK)),
    )  # fmt: skip
    B_t = ExpandBy(
        [N, K], [across * BN, deep * BK],
        TileBy([deep, across], [BK, BN]).OrderBy(Col(deep * BK, across * BN)),
    )  # fmt: skip
    rows = (A_t if TA else A).descriptor(a)
    columns = (B_t if TB else B).descriptor(b)
    result = C.descriptor(c)
    p, q = catalogue["triton.grouped"](down, across, GROUP).inv(tl.program_id(0))
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(deep):
        total = tl.dot(rows[p, k, :, :], columns[k, q, :, :], total)
    result[p, q, :, :] = total


# Each loads the blocks of x, stores them one behind the other to y, and to z where they were.


@lego_emit.jit
@triton.jit
def by_rows(x, y, z, M, N, BM: tl.constexpr, BN: tl.constexpr):
    A = TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))
    d = A.descriptor(x)
    e = A.descriptor(z)
    p, q = Row(M // BM, N // BN).inv(tl.program_id(0))
    block = d[p, q, :, :]
    tl.store(y + Row(M // BM, N // BN, BM, BN)[p, q, :, :], block)
    e[p, q, :, :] = block


@lego_emit.jit
@triton.jit
def by_columns(x, y, z, M, N, BM: tl.constexpr, BN: tl.constexpr):
    A = TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Col(M, N))
    d = A.descriptor(x)
    e = A.descriptor(z)
    p, q = Row(M // BM, N // BN).inv(tl.program_id(0))
    block = d[p, q, :, :]
    tl.store(y + Row(M // BM, N // BN, BM, BN)[p, q, :, :], block)
    e[p, q, :, :] = block


@lego_emit.jit
@triton.jit
def packed(x, y, z, M, N, BM: tl.constexpr, BN: tl.constexpr):
    A = GroupBy([M // BM, N // BN, BM, BN]).OrderBy(Row(N // BN, M // BM, BM, BN))
    d = A.descriptor(x)
    e = A.descriptor(z)
    p, q = Row(M // BM, N // BN).inv(tl.program_id(0))
    block = d[p, q, :, :]
    tl.store(y + Row(M // BM, N // BN, BM, BN)[p, q, :, :], block)
    e[p, q, :, :] = block


@lego_emit.jit
@triton.jit
def batched(x, y, z, S, M, N, BM: tl.constexpr, BN: tl.constexpr):
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    A = ExpandBy([S, M, N], [S, down * BM, across * BN], TileBy([S, down, across], [1, BM, BN]))
    B = Row(S, down, across, BM, BN)
    d = A.descriptor(x)
    e = A.descriptor(z)
    s, p, q = Row(S, down, across).inv(tl.program_id(0))
    block = d[s, p, q, 0, :, :]
    tl.store(y + B[s, p, q, :, :], block)
    e[s, p, q, 0, :, :] = block  # by as many dims


@lego_emit.jit
@triton.jit
def one_row(x, y, z, M, N, BN: tl.constexpr):
    A = Row(M, N)
    d = A.descriptor(x)
    e = A.descriptor(z)
    row = tl.program_id(0)
    block = d[row, :BN]
    tl.store(y + Row(M, BN)[row, :], block)
    e[row, :BN] = block


def layouts(M, N, S=3, BM=8, BN=16):
    """What each kernel copies: (kernel, sizes and constants, layout, programs, indices at a block's begin)."""
    down, across = -(-M // BM), -(-N // BN)
    if M % BM == 0 and N % BN == 0:
        tiles = TileBy([down, across], [BM, BN])
        for kernel, A in (
            (by_rows, tiles.OrderBy(Row(M, N))),
            (by_columns, tiles.OrderBy(Col(M, N))),
            (packed, GroupBy([down, across, BM, BN]).OrderBy(Row(across, down, BM, BN))),
        ):
            yield kernel, (M, N, BM, BN), A, down * across
    A = ExpandBy([S, M, N], [S, down * BM, across * BN], TileBy([S, down, across], [1, BM, BN]))
    yield batched, (S, M, N, BM, BN), A, S * down * across
    yield one_row, (M, N, 64), Row(M, N), M


def told(kernel, *given) -> str:
    """Why a launch is refused."""
    try:
        kernel[1,](*given)
    except AssumptionError as error:
        return str(error)
    return ""


def main() -> None:
    if "--gpu" in sys.argv:
        import torch

        triton.set_allocator(
            lambda n, align, stream: torch.empty(n, dtype=torch.int8, device="cuda")
        )
        given, back = (lambda a: torch.from_numpy(a).cuda()), (lambda t: t.cpu().numpy())
    else:
        from lego_emit.targets.triton import Tensor

        given, back = Tensor, (lambda t: t.array)
    rng = np.random.default_rng(1)
    for M, N in ((16, 48), (24, 40), (13, 24), (8, 16)):
        for kernel, sizes, A, programs in layouts(M, N):
            x = rng.permutation(A.physical_size if not A.masks else 3 * M * N).astype(np.float32)
            index = np.indices(A.dims).reshape(len(A.dims), -1)
            place = np.array([A.apply(*i) for i in index.T])
            held = place >= 0
            wanted = np.where(held, x[place], 0)
            if kernel is one_row:
                wanted = np.pad(wanted.reshape(M, N), [(0, 0), (0, 64 - N)]).ravel()
            y, z = (given(np.full(n, -1, np.float32)) for n in (wanted.size, x.size))
            kernel[programs,](given(x), y, z, *sizes)
            right = np.array_equal(back(y), wanted)
            copied = np.full(x.size, -1, np.float32)
            copied[place[held]] = x[place[held]]
            print(kernel.fn.__name__, M, N, right and np.array_equal(back(z), copied), flush=True)
    for M, N, K in ((64, 32, 48), (104, 72, 56), (8, 8, 8)):
        for ta, tb in ((False, False), (False, True), (True, False), (True, True)):
            a, b = (rng.standard_normal(size).astype(np.float16) for size in ((M, K), (K, N)))
            c = given(np.full((M, N), np.nan, np.float16))
            x, y = (np.ascontiguousarray(m.T if t else m) for m, t in ((a, ta), (b, tb)))
            grid = (-(-M // 32) * -(-N // 32),)
            matmul[grid](given(x), given(y), c, M, N, K, 32, 32, 32, 2, ta, tb)
            error = np.abs(back(c) - a.astype(np.float64) @ b).max()
            print("matmul", M, N, K, ta, tb, bool(error < 0.05), flush=True)
    if "--gpu" not in sys.argv:
        wide, odd = np.zeros(3 * 13 * 13, np.float32), np.zeros(64, np.float32)[1:]
        print(told(batched, *map(given, (wide, wide, wide)), 3, 13, 13, 8, 16))
        print(told(one_row, *map(given, (odd, odd, odd)), 1, 8, 8).partition(", and")[0])


if __name__ == "__main__":
    main()

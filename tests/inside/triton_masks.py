"""Kernels that load and store under masks of layouts, in Triton's interpreter: what they give, and whether a position is
masked once."""

import os

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported

import numpy as np
import triton
import triton.language as tl

import lego_emit
from lego_emit import Col, ExpandBy, Row, TileBy
from lego_emit.targets.triton import Tensor


@lego_emit.jit
@triton.jit
def named(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, SHIFTED: tl.constexpr):
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    A = ExpandBy([M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]))
    p, q = Row(down, across).inv(tl.program_id(0))
    inside = A.in_bounds(p, q, ":", ":")
    block = tl.load(x + A[p, q, :, :], inside, 0)
    tl.store(y + (2 * A[p, q, :, :] - A[p, q, :, :]), 2 * block, mask=inside & (block < 100))
    tl.atomic_add(y + A[p, q, :, :], block, mask=inside & (block < 100))


@lego_emit.jit
@triton.jit
def chosen(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, SHIFTED: tl.constexpr):
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    A = ExpandBy([M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]))
    B = ExpandBy(
        [N, M], [across * BN, down * BM],
        TileBy([down, across], [BM, BN]).OrderBy(Col(down * BM, across * BN)),
    )  # fmt: skip
    p, q = Row(down, across).inv(tl.program_id(0))
    L = B if SHIFTED else A
    inside = L.in_bounds(p, q, ":", ":")
    block = tl.load(x + L[p, q, :, :], mask=inside)
    tl.store(y + L[p, q, :, :], 3 * block, mask=inside & (block < 100))


@lego_emit.jit
@triton.jit
def in_padding(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, SHIFTED: tl.constexpr):
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    A = ExpandBy(
        [M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]), guard="logical"
    )
    p, q = Row(down, across).inv(tl.program_id(0))
    block = tl.load(x + A[p, q, :, :], mask=A.in_bounds(p, q, ":", ":"))
    tl.store(y + A[p, q, :, :], 3 * block, mask=A.in_bounds(p, q, ":", ":") & (block < 100))


# From here on a position keeps its own mask: what is known of the mask's indices is not true of its own.


@lego_emit.jit
@triton.jit
def moved(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, SHIFTED: tl.constexpr):
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    A = ExpandBy([M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]))
    p, q = Row(down, across).inv(tl.program_id(0))
    inside = A.in_bounds(p, q, ":", ":")
    q = (q + 1) % across
    at = A[p, q, :, :]
    block = tl.load(x + at, mask=inside & (at >= 0))
    tl.store(y + A[p, q, :, :], 3 * block, mask=inside & (at >= 0) & (block < 100))


@lego_emit.jit
@triton.jit
def in_a_branch(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, SHIFTED: tl.constexpr):
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    A = ExpandBy([M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]))
    p, q = Row(down, across).inv(tl.program_id(0))
    inside = A[p, q, :, :] >= 0
    if SHIFTED:
        inside = A.in_bounds(p, q, ":", ":")
    tl.store(y + A[p, q, :, :], 3 * A[p, q, :, :], mask=inside)


@lego_emit.jit
@triton.jit
def of_another(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, SHIFTED: tl.constexpr):
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    A = ExpandBy([M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]))
    p, q = Row(down, across).inv(tl.program_id(0))
    inside = Row(down, across, BM, BN).in_bounds(p, q, ":", ":") & (A[p, q, :, :] >= 0)
    tl.store(y + A[p, q, :, :], 3 * tl.load(x + A[p, q, :, :], mask=inside, other=5), mask=inside)


@lego_emit.jit
@triton.jit
def a_value(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, SHIFTED: tl.constexpr):
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    A = ExpandBy([M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]))
    p, q = Row(down, across).inv(tl.program_id(0))
    least = tl.min(A[p, q, :, :])  # -1 in a tile that is masked
    tl.store(
        y + A[p, q, :, :], 3 * tl.load(x + A[p, q, :, :], mask=A.in_bounds(p, q, ":", ":")) + 0 * least,
        mask=A.in_bounds(p, q, ":", ":"),
    )  # fmt: skip


def main() -> None:
    for kernel in (named, chosen, in_padding, moved, in_a_branch, of_another, a_value):
        right = True
        for m, n in ((7, 9), (4, 8), (1, 1), (8, 5)):
            for shifted in (False, True):
                down, across = -(-m // 4), -(-n // 8)
                held = m * n if kernel is not in_padding else down * 4 * across * 8
                x = np.arange(held, dtype=np.int32)
                y = np.full(held + 2, -7, np.int32)
                at = Tensor(y[1:-1])  # a position beyond would be seen
                kernel[(down * across,)](Tensor(x), at, m, n, 4, 8, shifted)
                inside = x < 100
                if kernel is in_padding:
                    i, j = np.indices((4 * down, 8 * across)).reshape(2, -1)
                    inside &= (i < m) & (j < n)
                if kernel is moved:
                    j = np.indices((m, n))[1].ravel()
                    inside &= (j // 8 - 1) % across * 8 + j % 8 < n
                wanted = np.where(inside, 3 * x, -7)
                right &= bool(np.array_equal(y[1:-1], wanted) and y[0] == y[-1] == -7)
        print(kernel.fn.__name__, right, kernel.lego.source.count("tl.where("))


if __name__ == "__main__":
    main()

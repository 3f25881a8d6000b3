"""A product of matrices whose rows no tile divides, with a mask and what is assumed, in Triton's interpreter."""

import os
import sys
import warnings
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "kernels"))

import numpy as np
import triton
import triton.language as tl
from triton.language import cdiv

import lego_emit
from lego_emit import ExpandBy, TileBy, catalogue


@lego_emit.jit
@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    down, across, deep = cdiv(M, BM), cdiv(N, BN), cdiv(K, BK)
    A = ExpandBy([M, K], [down * BM, deep * BK], TileBy([down, deep], [BM, BK]))
    B = ExpandBy([K, N], [deep * BK, across * BN], TileBy([deep, across], [BK, BN]))
    C = ExpandBy([M, N], [down * BM, across * BN], TileBy([down, across], [BM, BN]))
    p, q = catalogue["triton.grouped"](down, across, 8).inv(tl.program_id(0))
    lego_emit.assume(p < down)  # which the interpreter of Triton 3.9 takes no mask of
    lego_emit.assume(K % 16 == 0, a % 16 == 0)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(A.dims[1]):
        x = tl.load(a + A[p, k, :, :], mask=A.in_bounds(p, k, ":", ":"), other=0)
        y = tl.load(b + B[k, q, :, :], mask=B.in_bounds(k, q, ":", ":"), other=0)
        total = tl.dot(x, y, total)
    tl.store(c + C[p, q, :, :], total.to(tl.float16), mask=C.in_bounds(p, q, ":", ":"))


def main() -> None:
    from triton_harness import Machine

    machine, rng = Machine(sys.modules[__name__], on_gpu=False), np.random.default_rng(0)
    for m, n, k in ((100, 70, 48), (64, 64, 64), (17, 100, 16), (100, 32, 50)):
        a, b = (rng.standard_normal(size).astype(np.float16) for size in ((m, k), (k, n)))
        c = machine.tensor(np.full((m, n), np.nan, np.float16))
        grid = (-(-m // 32) * -(-n // 16),)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            given = map(machine.tensor, (a, b))
            machine.launch("matmul", grid, *given, c, m, n, k, 32, 16, 32)
        error = np.abs(machine.array(c) - a.astype(np.float64) @ b).max()
        said = sorted({str(one.message) for one in told})
        print(f"{m} x {n} x {k}", "right" if error < 0.05 else error, *said)
    source = matmul.lego.source
    said = (source.count(text) for text in ("mask=", "tl.where(", "= tl.multiple_of("))
    print("masks, choices, multiples:", *said)


if __name__ == "__main__":
    main()

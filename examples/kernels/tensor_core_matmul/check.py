"""The product against NumPy's in float64."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from harness import Found, Machine, main


def check(machine: Machine) -> Iterator[Found]:
    M, N, K = (2048, 4096, 1024) if machine.is_gpu else (256, 128, 128)
    random = np.random.default_rng(6)
    a, b = (random.standard_normal((n, K)).astype(np.float16) for n in (M, N))
    c = np.full((M, N), np.nan, np.float16)
    grid = N // 128, M // 128
    machine.launch("matmul", grid, (128,), a, b, c, np.int32(M), np.int32(N), np.int32(K))
    wanted = a.astype(np.float64) @ b.astype(np.float64).T
    yield Found.of("matmul", f"{M} x {N} x {K}", c, wanted, float(np.finfo(np.float16).eps))


if __name__ == "__main__":
    main(check, __file__)

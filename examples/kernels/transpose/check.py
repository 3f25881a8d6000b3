"""The transposes against NumPy's."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from harness import Found, Machine, main


def check(machine: Machine) -> Iterator[Found]:
    M, N = (4096, 8192) if machine.is_gpu else (64, 192)
    a = np.random.default_rng(1).standard_normal((M, N)).astype(np.float32)
    for kernel, T, rows in [("transpose_naive", 32, 16), ("transpose_shared", 64, 8)]:
        b = np.full((N, M), np.nan, np.float32)
        machine.launch(kernel, (N // T, M // T), (32, rows), a, b, np.int32(M), np.int32(N))
        yield Found.of(kernel, f"{M} x {N}", b, a.T)


if __name__ == "__main__":
    main(check, __file__)

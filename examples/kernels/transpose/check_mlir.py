"""The transposes in MLIR against NumPy's."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from mlir_harness import Found, Machine, main

SIZES = ((32, 64), (64, 160), (512, 256))


def check(machine: Machine) -> Iterator[Found]:
    for M, N in ((4096, 8192),) if machine.is_gpu else SIZES:
        a = np.random.default_rng(1).standard_normal((M, N)).astype(np.float32)
        for kernel, rows in [("transpose_naive", 16), ("transpose_shared", 8)]:
            b = np.full((N, M), np.nan, np.float32)
            machine.launch(kernel, (N // 32, M // 32), (32, rows), a, b, M, N)
            yield Found.of(kernel, f"{M} x {N}", b, a.T)


if __name__ == "__main__":
    main(check, __file__)

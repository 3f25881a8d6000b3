"""L and U against a factorization row by row in float64."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from harness import Found, Machine, main

B, T = 64, 16


def reference(a: np.ndarray) -> np.ndarray:
    """Row by row, without pivots."""
    lu = a.astype(np.float64)
    for k in range(len(lu) - 1):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return lu


def check(machine: Machine) -> Iterator[Found]:
    n = 1024 if machine.is_gpu else 3 * B
    a = np.random.default_rng(3).uniform(-1, 1, (n, n)).astype(np.float32)
    a[np.diag_indices(n)] += 4 * np.sqrt(n)  # needs no pivots
    lu = a.copy()
    for s in range(n // B):
        rest = n // B - s - 1
        numbers = np.int32(n), np.int32(s)
        machine.launch("factor", (1, 1), (B,), lu, *numbers)
        if rest:
            machine.launch("perimeter", (rest, 2), (B,), lu, *numbers)
            machine.launch("inner", (rest, rest), (T, T), lu, *numbers)
    wanted = reference(a)
    allowed = float(4 * np.sqrt(n) * np.finfo(np.float32).eps)
    yield Found.of("lud, L", f"{n} x {n}", np.tril(lu, -1), np.tril(wanted, -1), allowed)
    yield Found.of("lud, U", f"{n} x {n}", np.triu(lu), np.triu(wanted), allowed)


if __name__ == "__main__":
    main(check, __file__)

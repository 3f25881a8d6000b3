"""Products of several sizes in one launch, against NumPy's in float64."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from triton_harness import Found, Machine, main


def check(machine: Machine) -> Iterator[Found]:
    of_blocks = [(3, 2, 1), (1, 1, 4), (2, 5, 2)]
    bm, bn, bk, programs = (128, 128, 64, 5) if machine.is_gpu else (16, 32, 16, 5)
    sizes = [(m * bm, n * bn, k * bk) for m, n, k in of_blocks]
    rng = np.random.default_rng(4)
    pairs = [
        tuple(rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
        for m, n, k in sizes
    ]
    a, b = ([machine.tensor(x) for x in column] for column in zip(*pairs, strict=True))
    c = [machine.tensor(np.full((m, n), np.nan, np.float16)) for m, n, _ in sizes]
    pointers = [machine.tensor(np.array([t.data_ptr() for t in ts], np.int64)) for ts in (a, b, c)]
    numbers = machine.tensor(np.array(sizes, np.int32))
    machine.launch("grouped_gemm", (programs,), *pointers, numbers, len(sizes), BM=bm, BN=bn, BK=bk)
    for (m, n, k), (x, y), z in zip(sizes, pairs, c, strict=True):
        wanted = x.astype(np.float64) @ y.astype(np.float64)
        yield Found.of("grouped GEMM", f"{m} x {n} x {k}", machine.array(z), wanted, 1e-3)


if __name__ == "__main__":
    main(check, __file__)

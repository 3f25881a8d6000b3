"""Products of matrices by rows and by columns, against NumPy's in float64."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from triton_harness import Found, Machine, main


def check(machine: Machine) -> Iterator[Found]:
    m, n, k = (2048, 1536, 1024) if machine.is_gpu else (80, 96, 64)
    bm, bn, bk, group = (128, 128, 64, 8) if machine.is_gpu else (16, 32, 32, 3)
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(size).astype(np.float16) for size in ((m, k), (k, n)))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    for kind in ("nn", "nt", "tn", "tt"):
        # A transposed matrix is stored by columns.
        given = (x if by == "n" else x.T for x, by in zip((a, b), kind, strict=True))
        x, y = (machine.tensor(np.ascontiguousarray(g)) for g in given)
        c = machine.tensor(np.full((m, n), np.nan, np.float16))
        machine.launch(
            "matmul", (m // bm * (n // bn),), x, y, c, m, n, k,
            BM=bm, BN=bn, BK=bk, GROUP=group, TA=kind[0] == "t", TB=kind[1] == "t",
        )  # fmt: skip
        got = machine.array(c)
        yield Found.of(f"matmul {kind}", f"{m} x {n} x {k}", got, wanted, 1e-3)


if __name__ == "__main__":
    main(check, __file__)

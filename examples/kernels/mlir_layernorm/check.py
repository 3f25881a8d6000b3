"""Each row's layer norm, against NumPy's in float64."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from mlir_harness import Found, Machine, main

SIZES = ((3, 21), (7, 256), (5, 1000))


def check(machine: Machine) -> Iterator[Found]:
    for r, c in ((4096, 5000),) if machine.is_gpu else SIZES:
        random = np.random.default_rng(3)
        x = (5 + 2 * random.standard_normal((r, c))).astype(np.float32)
        w, b = random.standard_normal((2, c)).astype(np.float32)
        y = np.full((r, c), np.nan, np.float32)
        machine.launch("layernorm", (r,), (256,), x, w, b, y, r, c)
        wide = x.astype(np.float64)
        rest = wide - wide.mean(axis=1, keepdims=True)
        wanted = rest / np.sqrt((rest**2).mean(axis=1, keepdims=True) + 1e-5) * w + b
        yield Found.of("layernorm", f"{r} x {c}", y, wanted, 1e-6)


if __name__ == "__main__":
    main(check, __file__)

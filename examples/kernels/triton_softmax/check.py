"""Each row's softmax, against NumPy's in float64."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from triton_harness import Found, Machine, main


def check(machine: Machine) -> Iterator[Found]:
    r, c = (4096, 1000) if machine.is_gpu else (7, 21)
    x = np.random.default_rng(2).standard_normal((r, c)).astype(np.float32)
    y = machine.tensor(np.full((r, c), np.nan, np.float32))
    block = 1 << (c - 1).bit_length()
    machine.launch("softmax", (r,), machine.tensor(x), y, r, c, BLOCK=block)
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    wanted = powers / powers.sum(axis=1, keepdims=True)
    yield Found.of("softmax", f"{r} x {c}", machine.array(y), wanted, 1e-6)


if __name__ == "__main__":
    main(check, __file__)

"""Layer norm and its gradients, against NumPy's in float64."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from triton_harness import Found, Machine, main

EPS = 1e-5


def reference(x, dy, weight, bias):
    """y, the mean and the inverse deviation of each row, and the gradients of x, weight and bias."""
    x, dy, weight, bias = (a.astype(np.float64) for a in (x, dy, weight, bias))
    mean = x.mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt(x.var(axis=1, keepdims=True) + EPS)
    normal, d = (x - mean) * rstd, dy * weight
    along = (d * normal).mean(axis=1, keepdims=True)
    dx = (d - normal * along - d.mean(axis=1, keepdims=True)) * rstd
    y = normal * weight + bias
    return y, mean[:, 0], rstd[:, 0], dx, (dy * normal).sum(axis=0), dy.sum(axis=0)


def check(machine: Machine) -> Iterator[Found]:
    m, tiles, b, parts = (4096, 3, 512, 64) if machine.is_gpu else (10, 3, 8, 4)
    n, rng = tiles * b, np.random.default_rng(3)
    shapes = (m, n), (m, n), n, n
    given = [rng.standard_normal(s).astype(np.float32) for s in shapes]
    x, dy, weight, bias = map(machine.tensor, given)

    def empty(*shape):
        return machine.tensor(np.full(shape, np.nan, np.float32))

    y, mean, rstd, dx = empty(m, n), empty(m), empty(m), empty(m, n)
    d_weight, d_bias, weight_parts, bias_parts = (
        empty(n),
        empty(n),
        empty(parts, n),
        empty(parts, n),
    )
    machine.launch("layer_norm_forward", (m,), x, y, weight, bias, mean, rstd, m, n, EPS, B=b)
    machine.launch(
        "layer_norm_backward", (parts,), dx, dy, x, weight, mean, rstd, weight_parts, bias_parts,
        m, n, parts, BLOCK=1 << (n - 1).bit_length(),
    )  # fmt: skip
    machine.launch(
        "layer_norm_gradients", (tiles,), d_weight, d_bias, weight_parts, bias_parts, n, parts,
        B=b, BP=min(parts // 2, 16),
    )  # fmt: skip
    names = "forward", "forward, mean", "forward, rstd", "backward", "weight", "bias"
    got = map(machine.array, (y, mean, rstd, dx, d_weight, d_bias))
    for name, found, wanted in zip(names, got, reference(*given), strict=True):
        yield Found.of(f"layer norm {name}", f"{m} x {n}", found, wanted, 2e-6)


if __name__ == "__main__":
    main(check, __file__)

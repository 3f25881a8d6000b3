"""benchmarks/gpu/tutorials.py: what was measured, and baselines after Triton's tutorials that are right in its
interpreter."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GPU = ROOT / "benchmarks" / "gpu"

# Sizes that are no multiples of the blocks', as the tutorials allow.
RUN = """
import sys
from pathlib import Path
import numpy as np
sys.path[:0] = sys.argv[1:]
import baselines.tutorials as t
from lego_emit.targets.triton import Tensor

rng = np.random.default_rng(0)
def given(*shape, kind=np.float32): return rng.standard_normal(shape).astype(kind)
def empty(*shape, kind=np.float32): return np.full(shape, np.nan, kind)
def near(got, wanted, error=2e-6):
    assert np.abs(got - wanted).max() <= error * np.abs(wanted).max(), np.abs(got - wanted).max()

m, n = 9, 21
x, y = given(m, n), empty(m, n)
t.softmax[(4,)](Tensor(y), Tensor(x), n, n, m, n, BLOCK=32, STAGES=4)
e = np.exp(x.astype(float))
near(y, e / e.sum(1, keepdims=True))

w, b, dy, dx, mean, rstd = given(n), given(n), given(m, n), empty(m, n), empty(m), empty(m)
t.layer_norm_forward[(m,)](*map(Tensor, (x, y, w, b, mean, rstd)), n, n, 1e-5, BLOCK=8)
scale = 1 / np.sqrt(x.astype(float).var(1, keepdims=True) + 1e-5)
normal = (x - x.mean(1, keepdims=True, dtype=float)) * scale
near(y, normal * w + b); near(mean, x.mean(1, dtype=float)); near(rstd, scale[:, 0])
groups, dw, db = 4, empty(n), empty(n)
parts = empty(groups, n), empty(groups, n)
locks = np.zeros(2 * groups, np.int32)
t.layer_norm_backward[(m,)](
    *map(Tensor, (dx, dy, *parts, x, w, mean, rstd, locks)), n, n, GROUPS=groups, BLOCK=32)
t.layer_norm_gradients[(3,)](*map(Tensor, (*parts, dw, db)), groups, n, BM=2, BN=8)
d = dy * w.astype(float)
near(dx, (d - normal * (d * normal).mean(1, keepdims=True) - d.mean(1, keepdims=True)) * scale)
near(dw, (dy * normal).sum(0)); near(db, dy.sum(0, dtype=float))

for (M, N, K), masked in [((40, 56, 24), True), ((32, 64, 32), False)]:
    a, b = given(M, K, kind=np.float16), given(K, N, kind=np.float16)
    for x, y in [(a, b), (np.asfortranarray(a), np.asfortranarray(b))]:
        c = empty(M, N, kind=np.float16)
        lie = [s // 2 for z in (x, y, c) for s in z.strides]
        t.matmul[(-(-M // 16) * -(-N // 16),)](
            *(Tensor(z if z.flags.c_contiguous else z.T) for z in (x, y, c)), M, N, K, *lie,
            BM=16, BN=16, BK=16, GROUP=3, MASKED=masked)
        near(c, a.astype(float) @ b.astype(float), 1e-3)

sizes = np.array([(32, 48, 16), (16, 16, 64)], np.int32)
a, b = ([given(*s, kind=np.float16) for s in sizes[:, ks]] for ks in ([0, 2], [2, 1]))
c = [empty(*s, kind=np.float16) for s in sizes[:, :2]]
pointers = [np.array([z.ctypes.data for z in zs], np.int64) for zs in (a, b, c)]
strides = np.ascontiguousarray(sizes[:, [2, 1, 1]])
t.grouped_gemm[(5,)](*map(Tensor, (*pointers, sizes, strides)), 2, PROGRAMS=5, BM=16, BN=16, BK=16)
for x, y, z in zip(a, b, c):
    near(z, x.astype(float) @ y.astype(float), 1e-3)
print("right")
"""


def test_results_have_every_experiment(monkeypatch):
    monkeypatch.syspath_prepend(str(GPU))
    import tutorials

    rows = json.loads((ROOT / "benchmarks/results/h100/kernels/triton.json").read_text())
    done = {(row["experiment"], row["size"], row["type"]) for row in rows}
    found = [*tutorials.experiments()]
    assert done == {(one.name, one.size, one.kind) for one in found} and len(found) == len(done)
    most = {"float32": 1e-5, "float16": 2e-3, "float8_e5m2": 2e-2}
    assert all(row["max_error"] <= most[row["type"]] for row in rows if row["way"] == "ours")
    assert tutorials.Tutorial("softmax", 512, "float32", 8 * 4096 * 512, 0).copies == 8
    assert tutorials.groups_of(1024) == 256 and tutorials.groups_of(8192) == 96


@pytest.mark.slow
@pytest.mark.deep
def test_baselines_are_right(triton):
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(GPU), str(ROOT)], capture_output=True, text=True,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )  # fmt: skip
    assert done.stdout == "right\n", done.stderr

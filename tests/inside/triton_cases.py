"""Kernels under autotune and over it, and the line of a kernel's error, in Triton's interpreter."""

import os
import traceback
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported

import numpy as np
import triton
import triton.language as tl

import lego_emit
from lego_emit import Row, TileBy, catalogue
from lego_emit.errors import AssumptionError
from lego_emit.targets.triton import Tensor

configs = [triton.Config({"B": 4}), triton.Config({"B": 8})]


@lego_emit.jit
@triton.autotune(configs, key=["n"])
@triton.jit
def tuned_below(x, y, n, B: tl.constexpr):
    L = Row(n // B, B)
    p = tl.program_id(0)
    tl.store(y + L[p, :], 2 * tl.load(x + L[p, :]))


@triton.autotune(configs, key=["n"])
@lego_emit.jit
@triton.jit
def tuned_above(x, y, n, B: tl.constexpr):
    L = Row(n // B, B)
    p = tl.program_id(0)
    tl.store(y + L[p, :], 2 * tl.load(x + L[p, :]))


@lego_emit.jit(checks="raise")
@triton.autotune(configs[:1], key=["n"])
@triton.heuristics({"double": lambda given: 2 * given["B"]})
@triton.jit
def asked(x, y, n, B: tl.constexpr, double: tl.constexpr):
    L = TileBy([n // double], [double])
    p = tl.program_id(0)
    tl.store(y + L[p, :], 2 * tl.load(x + L[p, :]))


TRIANGLE, CURVE = catalogue["lapack.TP"](16), catalogue["hilbert.2D"](16, 16)


@lego_emit.jit
@triton.jit
def along(out, T: tl.constexpr):
    p = tl.program_id(0) * T + tl.arange(0, T)
    i, j = TRIANGLE.inv(p)
    tl.store(out + p, CURVE[i, j])


@lego_emit.jit
@triton.jit
def wrong(x, y, M, N: tl.constexpr):
    L = Row(
        M,
        N,
    )
    p = tl.program_id(0)
    tl.store(y + L[p, :], tl.load(x + L[p, :]) + "text")  # wrong


@lego_emit.jit
@triton.jit
def narrow(x, out, M, N, B: tl.constexpr):
    L = Row(M, N)
    r = tl.load(x + tl.arange(0, B))
    s, t = r + 1, r.to(tl.uint8)
    u = tl.arange(0, B).to(tl.int8) + tl.full((B,), 1, tl.uint8)
    tl.store(out + tl.arange(0, B), L[s, N - 1 - s])
    tl.store(out + B + tl.arange(0, B), Row(300, 5)[t, 3])
    tl.store(out + 2 * B + tl.arange(0, B), Row(300, 90)[u, 3])


def narrow_indices() -> bool:
    """Whether indices of few bits, also those that the kernel makes itself, have their positions."""
    for kind in (np.uint8, np.int16, np.int64):
        x, out = np.array([0, 126, 200, 254], kind), np.zeros(12, np.int32)
        narrow[(1,)](Tensor(x), Tensor(out), 300, 300, 4)
        r = x.astype(int)
        wanted = [300 * (r + 1) + 298 - r, 5 * r + 3, 90 * np.arange(1, 5) + 3]
        if out.tolist() != np.concatenate(wanted).tolist():
            return False
    return True


def line_of_error() -> bool:
    """Whether the kernel's own error is placed where it stands in this file."""
    lines = Path(__file__).read_text().splitlines()
    line = next(k for k, one in enumerate(lines, 1) if one.endswith("# wrong"))
    try:
        launch(wrong, (1,), np.zeros(8, np.float32), 1, 8)
    except Exception as error:
        chain = [error]
        while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None:
            chain.append(cause)
        frames = [f for one in chain for f in traceback.extract_tb(one.__traceback__)]
        return line in [f.lineno for f in frames if Path(f.filename).name == Path(__file__).name]
    return False


def launch(kernel, grid, x, *sizes, **constants):
    y = np.zeros_like(x)
    kernel[grid](Tensor(x), Tensor(y), *sizes, **constants)
    return y


def main() -> None:
    x = np.arange(32, dtype=np.float32)
    for kernel in (tuned_below, tuned_above):
        inner = kernel.fn
        print(
            inner.fn.__name__,
            [np.array_equal(launch(inner, (32 // b,), x, 32, B=b), 2 * x) for b in (4, 8)],
        )
        told = kernel if kernel is tuned_below else inner
        print("autotuner", kernel.keys == ["n"], "L" in told.lego.layouts)
    right = np.array_equal(launch(asked, (4,), x, 32), 2 * x)
    try:
        launch(asked, (4,), x, 36)
    except AssumptionError as error:
        print("asked", right, str(error).partition(" assumes ")[2])
    out = np.zeros(TRIANGLE.physical_size, np.int32)
    along[(17,)](Tensor(out), 8)
    print("along", out.tolist() == [CURVE[TRIANGLE.inv(p)] for p in range(TRIANGLE.physical_size)])
    print("narrow", narrow_indices())
    print("line", line_of_error())


if __name__ == "__main__":
    main()

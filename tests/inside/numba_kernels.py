"""Kernels of Numba: for the CPU, and in the simulator of CUDA."""

import os
import pickle
import warnings
from pathlib import Path

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before Numba is imported

import numba
import numpy as np
from numba import cuda

import lego_emit
from lego_emit import Col, GenP, GroupBy, LegoWarning, Row, TileBy, catalogue
from lego_emit.errors import AssumptionError, StaleLayoutError


@lego_emit.jit
@numba.njit
def by_columns(x, y, M, N):
    A, B = Row(M, N), Col(M, N)
    for i in range(M):
        for j in range(N):
            y[B[i, j]] = x[A[i, j]]


@lego_emit.jit
@numba.njit(parallel=True)
def in_parallel(x, y, M, N):
    A, B = Row(M, N), Col(M, N)
    for i in numba.prange(M):
        for j in range(N):
            y[B[i, j]] = x[A[i, j]]


@lego_emit.jit
@cuda.jit
def add(x, y, out, n):
    i = cuda.grid(1)
    if i < n:
        out[Row(n)[i]] = x[Row(n)[i]] + y[Row(n)[i]]


@lego_emit.jit
@cuda.jit
def transpose(x, y, M, N):
    tile = cuda.shared.array(64, numba.float32)
    S = GroupBy([8, 8]).OrderBy(
        GenP([8, 8], lambda i, j: 8 * i + (i ^ j), lambda p: (p // 8, p % 8 ^ p // 8))
    )
    A = TileBy([M // 8, N // 8], [8, 8]).OrderBy(Row(M, N))
    B = TileBy([N // 8, M // 8], [8, 8]).OrderBy(Row(N, M))
    p, q = cuda.blockIdx.y, cuda.blockIdx.x
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    tile[S[i, j]] = x[A[p, q, i, j]]
    cuda.syncthreads()
    y[B[q, p, i, j]] = tile[S[j, i]]


@lego_emit.jit
@cuda.jit
def matmul(a, b, c, M, N, K):
    left = cuda.shared.array(64, numba.float32)
    right = cuda.shared.array(64, numba.float32)
    S = Row(8, 8)
    A = TileBy([M // 8, K // 8], [8, 8]).OrderBy(Row(M, K))
    B = TileBy([K // 8, N // 8], [8, 8]).OrderBy(Row(K, N))
    C = TileBy([M // 8, N // 8], [8, 8]).OrderBy(Row(M, N))
    p, q = cuda.blockIdx.y, cuda.blockIdx.x
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    total = numba.float32(0)
    for k in range(A.dims[1]):
        left[S[i, j]] = a[A[p, k, i, j]]
        right[S[i, j]] = b[B[k, q, i, j]]
        cuda.syncthreads()
        for m in range(8):
            total += left[S[i, m]] * right[S[m, j]]
        cuda.syncthreads()
    c[C[p, q, i, j]] = total


ORDER = Col(4, 6)


@lego_emit.jit(checks="raise")
@numba.njit
def in_tiles(x, M, N, i):
    L = TileBy([M // 4, N], [4, 1]).OrderBy(Row(M, N))
    return x[L[0, 0, i, 0]] + x[ORDER[i, 0]]


@numba.njit
def calls(x, M, N, i):
    return in_tiles(x, M, N, i)


@numba.njit
def takes(function, x):
    return function(x, 8, 6, 1)


@lego_emit.jit
@cuda.jit(device=True)
def at(x, M, N, i):
    lego_emit.assume(M % 4 == 0)
    return x[Row(M, N)[i, 0]]


@lego_emit.jit
@cuda.jit
def first_column(x, y, M, N):
    lego_emit.assume(M % 4 == 0)
    y[cuda.grid(1)] = at(x, M, N, cuda.grid(1))


@numba.njit("int64(int64)")
@lego_emit.jit(target="numba")
def at_once(n):
    return at_once(n - 1) + ORDER[n, 1] if n else 0


@numba.vectorize(["int64(int64)"])
@lego_emit.jit(target="numba")
def each(n):
    return ORDER[n, 2]


@lego_emit.jit
@numba.njit
def wrong(x, M, N):
    L = Row(
        M,
        N,
    )
    return x[L[0, 0]] + "text"  # wrong


TRIANGLE, CURVE = catalogue["lapack.TP"](16), catalogue["hilbert.2D"](16, 16)


@lego_emit.jit
@numba.njit
def along(places, out):
    for k in range(len(places)):
        i, j = TRIANGLE.inv(places[k])
        out[k] = CURVE[i, j]


@lego_emit.jit
@cuda.jit
def along_on_cuda(places, out):
    k = cuda.grid(1)
    i, j = TRIANGLE.inv(places[k])
    out[k] = CURVE[i, j]


def curves():
    """Functions beside a kernel, for a root and for parts that are used often."""
    wanted = [CURVE[TRIANGLE.inv(p)] for p in range(TRIANGLE.physical_size)]
    for name, kernel in (("along", along), ("along_on_cuda", along_on_cuda[8, 17])):
        out = np.zeros(TRIANGLE.physical_size, int)
        kernel(np.arange(TRIANGLE.physical_size), out)
        yield name, out.tolist() == wanted


def launches():
    """What launches are asked, and which are."""
    global ORDER
    x, y = np.arange(48), np.zeros(8, int)
    again = pickle.loads(pickle.dumps(in_tiles))
    yield (
        "calls",
        [f(x, 8, 6, 1) for f in (in_tiles, calls, again)] == [7] * 3 and takes(in_tiles, x) == 7,
    )
    try:
        in_tiles(x, 7, 6, 1)
    except AssumptionError as error:
        yield "raises", str(error) == "in_tiles assumes M % 4 == 0, and M = 7"
    calls(x, 7, 6, 1)  # a call of a compiled function, which nobody asks
    first_column[1, 8](x, y, 8, 6)
    yield "device", y.tolist() == [*range(0, 48, 6)]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        first_column[1, 7](x, y, 7, 6)
    found = [w for w in found if issubclass(w.category, LegoWarning)]
    yield (
        "warns",
        [(w.filename, str(w.message).partition(" a")[0]) for w in found]
        == [(__file__, "first_column")],
    )
    rows = ORDER.dims[0]
    yield "at_once", at_once(rows - 1) == sum(ORDER[n, 1] for n in range(1, rows))
    yield "each", each(np.arange(rows)).tolist() == [ORDER[n, 2] for n in range(rows)]
    try:
        wrong(x, 8, 6)
    except numba.TypingError as error:
        (line,) = (
            k
            for k, one in enumerate(Path(__file__).read_text().splitlines(), 1)
            if one.endswith("# wrong")
        )
        yield "line", f'numba_kernels.py", line {line}:' in str(error)
    ORDER = Row(4, 6)
    try:
        in_tiles(x, 8, 6, 1)
    except StaleLayoutError as error:
        yield "stale", "ORDER has changed" in str(error)


def main() -> None:
    rng = np.random.default_rng(1)
    x = rng.random((5, 7), np.float32)
    for kernel in (by_columns, in_parallel):
        y = np.zeros(35, np.float32)
        kernel(x.ravel(), y, 5, 7)
        print(kernel.py_func.__name__, np.array_equal(y, x.ravel("F")))
    a, b, out = rng.random(50, np.float32), rng.random(50, np.float32), np.zeros(50, np.float32)
    add[2, 32](a, b, out, 50)
    print("add", np.array_equal(out, a + b))
    x, y = rng.random((16, 24), np.float32), np.zeros(384, np.float32)
    transpose[(3, 2), (8, 8)](x.ravel(), y, 16, 24)
    print("transpose", np.array_equal(y.reshape(24, 16), x.T))
    a, b = rng.random((16, 24), np.float32), rng.random((24, 8), np.float32)
    c = np.zeros(128, np.float32)
    matmul[(1, 2), (8, 8)](a.ravel(), b.ravel(), c, 16, 8, 24)
    print("matmul", np.allclose(c.reshape(16, 8), a @ b, rtol=1e-5))
    for name, right in (*curves(), *launches()):
        print(name, right)


if __name__ == "__main__":
    main()

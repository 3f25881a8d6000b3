"""Kernels of cuTile, compiled to Tile IR's bytecode, for which no GPU is needed."""

import io
import types

import cuda.tile as ct
import numpy as np
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)

import lego_emit
from lego_emit import ExpandBy, Row, TileBy, catalogue

ConstInt = ct.Constant[int]


@lego_emit.jit
@ct.kernel
def add(x, y, out, n: int, B: ConstInt):
    lego_emit.assume(n % B == 0)
    tiles = Row(n // B, B)
    p = ct.bid(0)
    total = ct.gather(x, tiles[p, :]) + ct.gather(y, tiles[p, :])
    ct.scatter(out, tiles[p, :], total)


@lego_emit.jit
@ct.kernel(occupancy=2)
def from_morton(x, out):
    A = TileBy([4, 4], [16, 16]).OrderBy(catalogue["morton.2D"](64, 64))
    B = TileBy([4, 4], [16, 16]).OrderBy(Row(64, 64))
    p, q = ct.bid(0), ct.bid(1)
    ct.scatter(out, B[p, q, :, :], ct.gather(x, A[p, q, :, :]))


@lego_emit.jit
@ct.kernel
def ragged(x, out, M: int, N: int, B: ConstInt):
    down, across = ct.cdiv(M, B), ct.cdiv(N, B)
    A = ExpandBy([M, N], [down * B, across * B], TileBy([down, across], [B, B]))
    p, q = catalogue["triton.grouped"](down, across, 2).inv(ct.bid(0))
    inside = A.in_bounds(p, q, ":", ":")
    block = ct.gather(x, A[p, q, :, :], mask=inside)
    ct.scatter(out, Row(down, across, B, B)[p, q, :, :], block)


def bytecode(kernel, *parameters) -> bytes:
    """A kernel as Tile IR's bytecode."""
    found = io.BytesIO()
    signature = KernelSignature(parameters, CallingConvention.cutile_python_v1())
    export_kernel(
        kernel,
        [signature],
        found,
        gpu_code="sm_100",
        output_format="tileir_bytecode",
        bytecode_version="13.1",
    )
    return found.getvalue()


def array(name: str) -> ArrayConstraint:
    return ArrayConstraint(
        ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False,
        stride_constant=(1,),
    )  # fmt: skip


def run(kernel, grid, *arguments) -> None:
    """The text of a kernel on NumPy's arrays, which says what its positions are and nothing of cuTile."""

    def scatter(array, index, value):
        array[index] = value

    at = [0, 0]
    stand_in = types.SimpleNamespace(
        kernel=lambda f=None, **_: f or (lambda g: g), bid=lambda k: at[k], cdiv=lambda a, b: -(-a // b),
        arange=lambda n, dtype: np.arange(n), int32=None, minimum=min, maximum=max, where=np.where,
        gather=lambda x, i, mask=True: np.where(mask, x[np.where(mask, i, 0)], 0), scatter=scatter,
    )  # fmt: skip
    space = {"ct": stand_in, "ConstInt": int}
    exec(kernel.lego.source, space)
    for place in np.ndindex(grid):
        at[: len(place)] = place
        space[kernel._pyfunc.__name__](*arguments)


def main() -> None:
    x, y, out = map(array, ("x", "y", "out"))
    n = ScalarConstraint(ct.int32)
    for kernel, parameters in (
        (add, (x, y, out, n, ConstantConstraint(64))),
        (from_morton, (x, out)),
        (ragged, (x, out, n, n, ConstantConstraint(8))),
    ):
        made = bytecode(kernel, *parameters)
        print(kernel._pyfunc.__name__, made.startswith(b"\x7fTileIR") and len(made) > 500)
    print("options", from_morton._compiler_options.occupancy == 2)
    x, out = np.arange(4096), np.zeros(4096, int)
    run(from_morton, (4, 4), x, out)
    print("Morton", np.array_equal(out, catalogue["morton.2D"](64, 64)[:, :].ravel()))
    x = np.arange(13 * 21).reshape(13, 21)
    out = np.zeros(2 * 3 * 64, int)
    run(ragged, (6,), x.ravel(), out, 13, 21, 8)
    wanted = np.pad(x, [(0, 3), (0, 3)]).reshape(2, 8, 3, 8).swapaxes(1, 2)
    print("tiles", np.array_equal(out, wanted.ravel()))


if __name__ == "__main__":
    main()

"""LAPACK's packed triangles: the standard packed format (TP) and the rectangular full packed one (TF).

An index of the other triangle has no position: -1.
"""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from ..algebra.genp import isqrt
from ..algebra.part import Part
from .entry import catalogue, choice

RAGGED = "any n; TF's rectangle is (n + 1) x n / 2 for even n, n x (n + 1) / 2 for odd"


@catalogue.entry(
    "lapack.TP",
    source="Reference-LAPACK/lapack, SRC/dtpttr.f (AP)",
    checked="SciPy's LAPACK, dtrttp, run",
    ragged=RAGGED.partition(";")[0],
    n=6,
    uplo="U",
)
def packed(n: Any, uplo: str = "U") -> Block:
    """A triangle of n x n packed column by column; in elements.

    uplo: "U" for the upper triangle, "L" for the lower one.
    """
    choice('catalogue["lapack.TP"]', "uplo", uplo, ("U", "L"))
    last = n * (n + 1) // 2 - 1

    def upper(i: Any, j: Any) -> Any:
        return -1 if i > j else i + j * (j + 1) // 2

    def upper_inv(flat: Any) -> Any:
        j = (isqrt(8 * flat + 1) - 1) // 2
        return flat - j * (j + 1) // 2, j

    def lower(i: Any, j: Any) -> Any:
        return -1 if i < j else i + j * (2 * n - j - 1) // 2

    def lower_inv(flat: Any) -> Any:
        i, j = upper_inv(last - flat)
        return n - 1 - i, n - 1 - j

    functions = (upper, upper_inv) if uplo == "U" else (lower, lower_inv)
    return Part([n, n], last + 1, *functions)


@catalogue.entry(
    "lapack.TF",
    source="Reference-LAPACK/lapack, SRC/dtrttf.f (TRANSR = 'N')",
    checked="SciPy's LAPACK, dtrttf, run, and the tables that its source prints",
    ragged=RAGGED,
    n=6,
    uplo="U",
)
def rectangular(n: Any, uplo: str = "U") -> Block:
    """A triangle of n x n folded into a rectangle, column-major, with TRANSR = 'N'; in elements.

    uplo: "U" for the upper triangle, "L" for the lower one. Half of the columns are stored as they
    are, and the other half is transposed beside them.
    """
    choice('catalogue["lapack.TF"]', "uplo", uplo, ("U", "L"))
    half = n // 2
    ld = 2 * half + 1
    more = ld - n

    def upper(i: Any, j: Any) -> Any:
        if i > j:
            return -1
        return i + (j - half) * ld if j >= half else j + half + 1 + i * ld

    def upper_inv(flat: Any) -> Any:
        row, column = flat % ld, flat // ld
        return (row, column + half) if row <= column + half else (column, row - half - 1)

    def lower(i: Any, j: Any) -> Any:
        if i < j:
            return -1
        return i + more + j * ld if j < n - half else j - (n - half) + (i - half) * ld

    def lower_inv(flat: Any) -> Any:
        row, column = flat % ld, flat // ld
        if row >= column + more:
            return row - more, column
        return column + half, row + n - half

    functions = (upper, upper_inv) if uplo == "U" else (lower, lower_inv)
    return Part([n, n], n * (n + 1) // 2, *functions)

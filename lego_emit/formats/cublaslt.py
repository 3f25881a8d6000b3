"""cuBLASLt's tiled orders of int8 matrices: groups of 32 columns, each in tiles one below the other.

ld is the leading dimension, the stride from a group of 32 columns to the next; without it they follow
one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..algebra.block import Block
from ..algebra.sizes import check_sizes
from ..errors import LayoutError
from .entry import catalogue
from .tiled import over, tiled

SOURCE = "NVIDIA, cublasLt.h (cublasLtOrder_t)"
CHECKED = "cublasLtMatrixTransform, run on an H100, and FasterTransformer's quantize_weight.cu"
RAGGED = "rounded up to whole tiles, Padded; refused: an ld below a group's tiles"


def _order(
    name: str,
    sizes: tuple[Any, Any],
    ld: Any,
    blocks: tuple[Sequence[int], Sequence[int]],
    tile: Sequence[tuple[int, int]],
) -> Block:
    """Groups of columns, tiles of rows in them, and the order within a tile."""
    if ld is not None:
        place = f'catalogue["cublaslt.{name}"], ld'
        ld = check_sizes([ld], place)[0]
        least = 32 * prod(blocks[0]) * over(sizes[0], prod(blocks[0]))
        if isinstance(ld, int) and isinstance(least, int) and ld < least:
            raise LayoutError(f"{place}: {ld}; the tiles of 32 columns have {least} elements")
    return tiled(sizes, blocks, [(1, 0), (0, 0), *tile], pitch=ld)


@catalogue.entry(
    "cublaslt.COL32",
    source=SOURCE,
    checked=CHECKED,
    ragged=RAGGED,
    rows=4,
    columns=64,
)
def col32(rows: Any, columns: Any, ld: Any = None) -> Block:
    """Tiles of 32 columns side by side, each row-major; in elements."""
    return _order("COL32", (rows, columns), ld, ((), (32,)), [(1, 1)])


@catalogue.entry(
    "cublaslt.COL4_4R2_8C",
    source=SOURCE,
    checked=CHECKED,
    ragged=RAGGED,
    rows=8,
    columns=32,
)
def col4_4r2_8c(rows: Any, columns: Any, ld: Any = None) -> Block:
    """Tiles of 8 rows and 32 columns, in parts of 4 even or odd rows and 4 columns; in elements."""
    tile = [(0, 2), (1, 1), (1, 2), (0, 1), (1, 3)]
    return _order("COL4_4R2_8C", (rows, columns), ld, ((4, 2), (4, 2, 4)), tile)


@catalogue.entry(
    "cublaslt.COL32_2R_4R4",
    source=SOURCE,
    checked=CHECKED,
    ragged=RAGGED,
    rows=32,
    columns=4,
)
def col32_2r_4r4(rows: Any, columns: Any, ld: Any = None) -> Block:
    """Tiles of 32 rows and 32 columns, pairs of rows that lie 8 apart together; in elements."""
    tile = [(0, 2), (0, 1), (0, 3), (1, 1)]
    return _order("COL32_2R_4R4", (rows, columns), ld, ((4, 4, 2), (32,)), tile)

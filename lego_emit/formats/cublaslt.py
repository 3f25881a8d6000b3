"""cuBLASLt's tiled orders of int8 matrices."""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from .entry import catalogue
from .tiled import tiled

SOURCE = "cublasLt.h, cublasLtOrder_t"


@catalogue.entry(
    "cublaslt.COL32",
    source=SOURCE,
    checked="the order that the header describes",
    ragged="the columns are rounded up to 32; rows are taken as they are",
    rows=4,
    columns=64,
)
def col32(rows: Any, columns: Any) -> Block:
    """Tiles of 32 columns side by side, each row-major; an element's offset."""
    return tiled([rows, columns], [(), (32,)], [(1, 0), (0, 0), (1, 1)])

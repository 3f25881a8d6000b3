"""Tenstorrent's tiles: 32 x 32, each of four faces of 16 x 16."""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from .entry import catalogue
from .tiled import tiled


@catalogue.entry(
    "tenstorrent.TILE",
    source="tt-metal, Metalium guide, Tiles; tt_metal/impl/data_format/tilize_utils.cpp (TILED_NFACES)",
    checked="the index arithmetic of tilize_utils.cpp",
    ragged="both sizes are rounded up to 32, Padded, as the guide asks for",
    rows=32,
    columns=32,
)
def tile(rows: Any, columns: Any) -> Block:
    """Tiles of 32 x 32 row-major, in each four 16 x 16 faces row-major; an element's offset."""
    order = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    return tiled([rows, columns], [(2, 16), (2, 16)], order)

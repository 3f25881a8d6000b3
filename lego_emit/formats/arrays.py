"""Orders of arrays that programs choose themselves."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..algebra.block import Block
from ..algebra.genp import GenP
from .entry import catalogue
from .tiled import tiled


@catalogue.entry(
    "arrays.AoSoA",
    source="LLAMA, include/llama/mapping/AoSoA.hpp",
    checked="its offsets of fields of one size",
    ragged="the last vector is whole, Padded, for which LLAMA's first versions had no room",
    count=10,
    fields=3,
    vector=4,
)
def aosoa(count: Any, fields: Any, vector: Any) -> Block:
    """Vectors of records, each with one field after another; the offset of (record, field).

    The offset is in elements; all fields have the same size.
    """
    return tiled([count, fields], [(vector,), ()], [(0, 0), (1, 0), (0, 1)])


@catalogue.entry(
    "arrays.boustrophedon",
    source="FastLED, examples/XYMatrix (kMatrixSerpentineLayout)",
    checked="its function XY",
    ragged="any size",
    rows=4,
    columns=6,
)
def boustrophedon(rows: Any, columns: Any) -> Block:
    """Rows in turn from left to right and from right to left; an element's offset."""
    return GenP([rows, columns], partial(to_turns, columns), partial(from_turns, columns))


def to_turns(columns: Any, row: Any, column: Any) -> Any:
    """Odd rows run backwards."""
    return row * columns + (columns - 1 - column if row % 2 else column)


def from_turns(columns: Any, offset: Any) -> Any:
    """The row and the column of an element's offset, where every second row runs backwards."""
    row, column = divmod(offset, columns)
    return row, columns - 1 - column if row % 2 else column

"""Ascend's fractals: 16 rows of 32 bytes (C0), or the transpose, the one letter for how the fractals
follow each other (N column-major, Z row-major), the other for the order within one."""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from .entry import catalogue, choice
from .tiled import tiled

SOURCE = (
    "Ascend C: CATLASS, layout/matrix.hpp; asc-devkit (MakeNZLayout, MakeZZLayout, MakeZNLayout); "
    "the guide's Data Layout Formats"
)
CHECKED = "the strides of CATLASS's matrix.hpp; of ZN those of asc-devkit's page, too"
RAGGED = "both sizes are rounded up to whole fractals, Padded, as CATLASS does"
BYTES = (1, 2, 4)


def _c0(name: str, element_bytes: Any) -> int:
    return 32 // choice(f'catalogue["ascend.{name}"]', "element_bytes", element_bytes, BYTES)


@catalogue.entry("ascend.NZ", source=SOURCE, checked=CHECKED, ragged=RAGGED, rows=32, columns=32)
def nz(rows: Any, columns: Any, element_bytes: int = 2) -> Block:
    """Row-major fractals of 16 x C0, one below the other; an element's offset.

    C0 is 32 / element_bytes. The accumulator in L0C has C0 = 16 for every type: use element_bytes=2.
    """
    c0 = _c0("NZ", element_bytes)
    return tiled([rows, columns], [(16,), (c0,)], [(1, 0), (0, 0), (0, 1), (1, 1)])


@catalogue.entry("ascend.ZZ", source=SOURCE, checked=CHECKED, ragged=RAGGED, rows=32, columns=32)
def zz(rows: Any, columns: Any, element_bytes: int = 2) -> Block:
    """Row-major fractals of 16 x C0, side by side (L0A); an element's offset."""
    c0 = _c0("ZZ", element_bytes)
    return tiled([rows, columns], [(16,), (c0,)], [(0, 0), (1, 0), (0, 1), (1, 1)])


@catalogue.entry("ascend.ZN", source=SOURCE, checked=CHECKED, ragged=RAGGED, rows=32, columns=32)
def zn(rows: Any, columns: Any, element_bytes: int = 2) -> Block:
    """Column-major fractals of C0 x 16, side by side (L0B); an element's offset."""
    c0 = _c0("ZN", element_bytes)
    return tiled([rows, columns], [(c0,), (16,)], [(0, 0), (1, 0), (1, 1), (0, 1)])

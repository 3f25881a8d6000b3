"""ScaLAPACK's block-cyclic distribution: blocks are dealt to the processes in turn.

Every process's local array is as long as the first's, so that a position is process * length + local
index (INDXG2P and INDXG2L, from 0); what a process has no element for is padding.
"""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from .entry import catalogue
from .tiled import tiled

SOURCE = "Reference-ScaLAPACK/scalapack, TOOLS/indxg2l.f, indxg2p.f, indxl2g.f, numroc.f"
CHECKED = "those four functions, compiled and run; a local array's padding lies beyond NUMROC"
RAGGED = "local arrays are rounded up to as many whole blocks as the first process has, Padded"


@catalogue.entry(
    "scalapack.block_cyclic", source=SOURCE, checked=CHECKED, ragged=RAGGED, n=12, nb=2, p=3
)
def block_cyclic(n: Any, nb: Any, p: Any) -> Block:
    """A vector of n in blocks of nb over p processes; in elements of the local arrays together."""
    return tiled([n], [(p, nb)], [(0, 1), (0, 0), (0, 2)])


@catalogue.entry(
    "scalapack.block_cyclic_2d",
    source=SOURCE,
    checked=CHECKED,
    ragged=RAGGED,
    m=8,
    n=12,
    mb=2,
    nb=2,
    p=2,
    q=3,
)
def block_cyclic_2d(m: Any, n: Any, mb: Any, nb: Any, p: Any, q: Any) -> Block:
    """A matrix of m x n in blocks of mb x nb over p x q processes; in elements of the local arrays.

    The processes are in row-major order (BLACS's default), each local array column-major.
    """
    order = [(0, 1), (1, 1), (1, 0), (1, 2), (0, 0), (0, 2)]
    return tiled([m, n], [(p, mb), (q, nb)], order)

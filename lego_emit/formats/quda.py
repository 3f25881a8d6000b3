"""QUDA's lattices: the even sites, then the odd ones."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..algebra.block import Block
from ..algebra.genp import GenP
from ..errors import LayoutError
from ..numeric import is_integer
from .entry import catalogue


@catalogue.entry(
    "quda.even_odd",
    source="lattice/quda, lib/dslash_index.cuh and tests/utils/index_utils.hpp (the lexicographic index >> 1)",
    checked="the index computations of dslash_index.cuh, from the coordinates to the number",
    ragged="refused: nx is even (a symbol: 2*X, or say so in assume=); nt, nz and ny are any",
    nt=2,
    nz=2,
    ny=2,
    nx=4,
)
def even_odd(nt: Any, nz: Any, ny: Any, nx: Any) -> Block:
    """Sites of even t + z + y + x before those of odd, each in the order of (t, z, y, x); a site's number."""
    if is_integer(nx) and nx % 2:
        raise LayoutError(
            f'catalogue["quda.even_odd"]: nx is {nx}; it is even, or a parity has no order of its '
            "own: let the even dimension be x"
        )
    sizes = nt, nz, ny, nx
    return GenP(sizes, partial(to_parity, sizes), partial(from_parity, sizes))


def to_parity(sizes: tuple[Any, ...], t: Any, z: Any, y: Any, x: Any) -> Any:
    """The number of a site, half of the lattice's for each parity."""
    nt, nz, ny, nx = sizes
    parity = (t + z + y + x) % 2
    return (((parity * nt + t) * nz + z) * ny + y) * (nx // 2) + x // 2


def from_parity(sizes: tuple[Any, ...], number: Any) -> Any:
    """The site of a number."""
    nt, nz, ny, nx = sizes
    rest, half = divmod(number, nx // 2)
    rest, y = divmod(rest, ny)
    rest, z = divmod(rest, nz)
    parity, t = divmod(rest, nt)
    return t, z, y, 2 * half + (parity + t + z + y) % 2

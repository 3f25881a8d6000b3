"""HEALPix: a sphere of 12 faces of nside x nside pixels, and the two orders of its pixels.

An index is (face, x, y), x to the north-east and y to the north-west, as the library's xyf.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ..algebra.block import Block
from ..algebra.genp import GenP, isqrt
from ..algebra.layout import GroupBy
from ..algebra.perms import RegP
from ..errors import LayoutError
from .curves import bits_above
from .entry import catalogue

SOURCE = "Górski et al., HEALPix, ApJ 622 (2005); healpix_base.cc, xyf2{}"


@catalogue.entry(
    "healpix.NESTED",
    source=SOURCE.format("nest"),
    checked="healpy.xyf2pix(.., nest=True), run on it, and the definition",
    ragged="refused: nside is a power of two",
    nside=4,
)
def nested(nside: Any) -> Block:
    """Face by face, the bits of y and x in turn; a pixel's number."""
    (bits,) = bits_above("healpix.NESTED", {"nside": nside})
    if nside != 1 << bits:
        raise LayoutError(
            f'catalogue["healpix.NESTED"]: nside is {nside}; it is a power of two, of healpix.RING '
            "any number"
        )
    order = [0, *(axis + level for level in range(bits) for axis in (1 + bits, 1))]
    return GroupBy([12, nside, nside]).OrderBy(RegP([12, *[2] * (2 * bits)], order))


@catalogue.entry(
    "healpix.RING",
    source=SOURCE.format("ring"),
    checked="healpy.xyf2pix, run on it, and the pixels sorted by latitude and longitude",
    ragged="any nside",
    nside=4,
)
def ring(nside: Any) -> Block:
    """Ring by ring from the north pole, each eastward; a pixel's number."""
    return GenP([12, nside, nside], partial(to_ring, nside), partial(from_ring, nside))


# A face is a diamond; rings 1 .. 4 nside - 1 are its rows and its neighbors'. Beyond nside rings from
# the equator a ring has 4 pixels fewer than the one before. The belt between is a grid of diamonds,
# its axes u to the north-east and v to the south-east, of which the north faces and the south faces
# have half each.


def to_ring(nside: Any, face: Any, x: Any, y: Any) -> Any:
    """The number of a pixel in rings."""
    row, column = face // 4, face % 4
    rings = (row + 2) * nside - x - y - 1
    if rings < nside:
        return 2 * rings * (rings - 1) + column * rings + nside - 1 - y
    if rings > 3 * nside:
        left = 4 * nside - rings
        return 12 * nside * nside - 2 * left * (left + 1) + column * left + x
    u = (column + (row == 0)) * nside + x
    v = (column + (row == 2)) * nside - y
    place = (u + v - (nside + rings + 1) % 2) // 2 % (4 * nside)
    return 2 * nside * (nside - 1) + 4 * nside * (rings - nside) + place


def from_ring(nside: Any, pixel: Any) -> Any:
    """The pixel of a number in rings."""
    cap, pixels = 2 * nside * (nside - 1), 12 * nside * nside
    if pixel < cap:
        rings = (1 + isqrt(1 + 2 * pixel)) // 2
        place = pixel - 2 * rings * (rings - 1)
        return place // rings, nside - rings + place % rings, nside - 1 - place % rings
    if pixel >= pixels - cap:
        left = (1 + isqrt(2 * (pixels - pixel) - 1)) // 2
        place = pixel - pixels + 2 * left * (left + 1)
        return 8 + place // left, place % left, left - 1 - place % left
    belt = pixel - cap
    down, place = belt // (4 * nside), belt % (4 * nside)
    across = 2 * place + (down + 1) % 2
    u, v = (across + 2 * nside - 1 - down) // 2, (across + down - 1) // 2
    column_u, column_v = u // nside, v // nside
    x, y = u % nside, nside - 1 - v % nside
    if column_u == column_v:
        return 4 + column_u % 4, x, y
    if column_u > column_v:
        return column_v, x, y
    return 8 + column_u, x, y

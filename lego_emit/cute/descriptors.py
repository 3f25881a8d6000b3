"""Tiles in shared memory as wgmma and TMA take them: their atoms, and the swizzle of a descriptor.

Source: CUTLASS's include/cute/atom/mma_traits_sm90_gmma.hpp; the PTX ISA's wgmma matrix descriptor
(bits 62 and 63); the CUDA driver's CUtensorMapSwizzle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..algebra.strided import Strided, Swizzle, Swizzled
from ..errors import LayoutError, shown
from .given import as_count, as_tensor
from .vectors import recast

_ROWS = {"INTER": 0, "SW32": 1, "SW64": 2, "SW128": 3}  # the swizzle's B: a row is 16 << B bytes


class SwizzleMode(NamedTuple):
    """How a descriptor names a swizzle: bytes of a row that is permuted (16: none is), the two bits
    of wgmma's descriptor, the value of TMA's CUtensorMapSwizzle."""

    bytes: int
    wgmma: int
    tma: int


def make_smem_layout_atom(kind: str, bits: int) -> Swizzled:
    """The smallest tile in shared memory of a swizzle mode, for tile_to_shape: CuTe's
    Layout_K_SW128_Atom and its like, in elements.

    kind: K_ or MN_, for the mode that is contiguous, and INTER, SW32, SW64 or SW128. bits: an
    element's, a power of two from 4 to 128.

    Raises LayoutError where there is no such kind or element.
    """
    construct = f"make_smem_layout_atom({shown(kind)}, {shown(bits)})"
    major, _, mode = kind.partition("_") if isinstance(kind, str) else ("", "", "")
    if major not in ("K", "MN") or mode not in _ROWS:
        raise LayoutError(
            f"{construct}: no such kind; write K_ or MN_ and {', '.join(_ROWS)}, as in 'K_SW128'"
        )
    row = 128 << _ROWS[mode]
    shape, stride = ((8, row), (row, 1)) if major == "K" else ((row, 8), (1, row))
    return recast(Swizzled(Swizzle(_ROWS[mode], 7, 3), Strided(shape, stride)), 1, _width(bits))


def swizzle_mode(a: Any, bits: int) -> SwizzleMode:
    """The swizzle part of the descriptors of a tile in shared memory, of elements of so many bits.

    Raises LayoutError where no mode has that swizzle: they permute 16 bytes in 8 rows.
    """
    a = as_tensor(a, "swizzle_mode(..)")
    swizzle = a.swizzle if isinstance(a, Swizzled) else Swizzle(0, 0, 3)
    unit = _width(bits).bit_length() - 1
    b = swizzle.B
    if b and (b > 3 or swizzle.M + unit != 7 or swizzle.S != 3):
        raise LayoutError(
            f"swizzle_mode({a}, {bits}): no descriptor has {swizzle}; of elements of {bits} bits it "
            f"is Swizzle(1, {7 - unit}, 3), or with 2 or 3 for the 1"
        )
    return SwizzleMode(16 << b, (4 - b) % 4, b)


def _width(bits: Any) -> int:
    found = as_count(bits, "an element in shared memory", "the number of bits", 4)
    if found > 128 or found & (found - 1):
        raise LayoutError(
            f"an element in shared memory: {shown(bits)} bits; give a power of two from 4 to 128"
        )
    return found

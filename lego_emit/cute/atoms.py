"""Copy instructions as layouts: which elements each thread reads, and which it gets.

Source: PTX ISA 8.7, 9.7.14.5.15 and 9.7.14.5.16 (ldmatrix, stmatrix); CUTLASS's
include/cute/atom/copy_traits_sm75.hpp and copy_traits_sm90.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..algebra.strided import Strided
from ..errors import LayoutError, LazyText, brief, short_repr
from ..numeric import is_integer
from .given import as_layout
from .maps import coalesce, composition, right_inverse
from .vectors import recast

WARP = 32
ROW = 128  # bits of a row of an 8 x 8 matrix


@dataclass(frozen=True)
class CopyAtom:
    """A copy instruction: (thread, value) to an element of what it moves, at the source and at the
    destination, as CuTe's Copy_Traits have them (there in bits). Their order of the elements is
    their own; layout_ref is the one of the two whose threads and values a tiled copy counts.

    Raises LayoutError where the threads differ or layout_ref leaves elements out.

        >>> from lego_emit import cute
        >>> atom = cute.universal_copy(128, 16)
        >>> atom.threads, atom.values
        (1, 8)
    """

    layout_src: Any
    layout_dst: Any
    layout_ref: Any

    def __post_init__(self) -> None:
        for name in ("layout_src", "layout_dst", "layout_ref"):
            found = as_layout(getattr(self, name), f"CopyAtom({name})")
            object.__setattr__(self, name, found)
            if found.rank != 2 or found.dims[0] != self.threads:
                raise LayoutError(
                    f"CopyAtom(..): {name} is {found}; give (thread, value) of {self.threads} "
                    "threads to elements"
                )
        if not coalesce(self.layout_ref).has_inverse:
            raise LayoutError(
                f"CopyAtom(..): layout_ref is {self.layout_ref}; give one that has each element once"
            )

    @property
    def threads(self) -> Any:
        """How many threads take part."""
        return as_layout(self.layout_src, "CopyAtom(layout_src)").dims[0]

    @property
    def values(self) -> Any:
        """How many values each thread of layout_ref has."""
        return self.layout_ref.dims[1]

    def to_ref(self, side: Strided) -> Strided:
        """(thread, value) of a side to thread + threads * value of layout_ref."""
        return composition(right_inverse(self.layout_ref), side)


@brief
def ldmatrix(count: int = 4, transposed: bool = False, element_bits: int = 16) -> CopyAtom:
    """ldmatrix of 1, 2 or 4 matrices of 8 rows of 16 bytes: CuTe's SM75_U32x4_LDSM_N, transposed
    SM75_U16x8_LDSM_T. At the source thread 8 * m + r reads row r of matrix m; threads beyond read
    the same again.

    element_bits: a power of two up to 32, transposed up to 16.

    Raises LayoutError on another count or width.

        >>> from lego_emit import cute
        >>> cute.ldmatrix(4).threads, cute.ldmatrix(4).values
        (32, 8)
    """
    rows, parts = _matrices("ldmatrix", count, transposed, element_bits)
    return CopyAtom(rows, parts, parts)


@brief
def stmatrix(count: int = 4, transposed: bool = False, element_bits: int = 16) -> CopyAtom:
    """stmatrix: ldmatrix the other way round, of threads' parts into rows (SM90_U32x4_STSM_N).

    Raises LayoutError as ldmatrix does.

        >>> from lego_emit import cute
        >>> cute.stmatrix(2).threads, cute.stmatrix(2).values
        (32, 4)
    """
    rows, parts = _matrices("stmatrix", count, transposed, element_bits)
    return CopyAtom(parts, rows, parts)


@brief
def universal_copy(bits: int, element_bits: int) -> CopyAtom:
    """A plain copy of so many bits by one thread: a scalar, or a vector such as float4's 128.

    Raises LayoutError where they are no whole number of elements.

        >>> from lego_emit import cute
        >>> cute.universal_copy(128, 16).values
        8
    """
    construct = LazyText("universal_copy({}, {})", bits, element_bits)
    for each in (bits, element_bits):
        if not is_integer(each) or each < 1:
            raise LayoutError(f"{construct}: {short_repr(each)} is not a number of bits")
    if bits % element_bits:
        raise LayoutError(
            f"{construct}: no whole number of elements; give a multiple of their bits"
        )
    vector = Strided((1, bits // element_bits), (0, 1))
    return CopyAtom(vector, vector, vector)


def _matrices(name: str, count: Any, transposed: bool, bits: Any) -> tuple[Strided, Strided]:
    """(thread, value) by rows, and as the threads of an mma hold them, of matrices in a row."""
    construct = LazyText("{!s}({}, {}, {})", name, count, transposed, bits)
    if not is_integer(count) or count not in (1, 2, 4):
        raise LayoutError(f"{construct}: there are 1, 2 and 4 matrices")
    widest = 16 if transposed else 32
    if not is_integer(bits) or bits not in (1, 2, 4, 8, 16, 32) or bits > widest:
        raise LayoutError(
            f"{construct}: elements of {short_repr(bits)} bits; give a power of two up to {widest}"
        )
    rows = Strided(((8 * count, WARP // (8 * count)), ROW), ((ROW, 0), 1))
    if transposed:
        parts = Strided(((4, 8), (16, 2, count)), ((2 * ROW, 16), (1, ROW, 8 * ROW)))
    else:
        parts = Strided((WARP, (32, count)), (32, (1, 8 * ROW)))
    return recast(rows, 1, bits), recast(parts, 1, bits)

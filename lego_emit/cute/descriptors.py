"""The swizzled layouts of shared memory that Hopper's wgmma and TMA read, and their descriptors.

Source: PTX ISA 8.7, 9.7.15.5.1 (shared memory matrix layout, matrix descriptor); CUTLASS's
include/cute/arch/mma_sm90_desc.hpp and atom/mma_traits_sm90_gmma.hpp (layout types, canonical
layouts), atom/copy_traits_sm90_tma_swizzle.hpp; CUDA Driver API, CUtensorMapSwizzle (12.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ..algebra.block import Block
from ..algebra.nested import flat
from ..algebra.strided import Strided, Swizzle, Swizzled
from ..errors import LayoutError, LazyText, brief, short_repr
from ..numeric import is_integer
from .convert import to_cute
from .given import as_layout
from .making import get
from .maps import coalesce, composition
from .reading import layout
from .tiling import logical_divide
from .vectors import recast


class LayoutType(IntEnum):
    """The field layout_type of a wgmma matrix descriptor, bits 62 and 63 (PTX: swizzling mode).

    >>> from lego_emit import cute
    >>> cute.layout_type(cute.make_smem_layout_atom("K_SW64", 16), 16).name
    'B64'
    """

    INTERLEAVE = 0
    B128 = 1
    B64 = 2
    B32 = 3


class TmaSwizzle(IntEnum):
    """CUtensorMapSwizzle: how TMA lays chunks of 16 bytes (of 32 in the last) out within spans of
    so many bytes. The other modes of 128 bytes are no Swizzle of CuTe's.

        >>> from lego_emit import cute
        >>> cute.tma_swizzle(cute.make_smem_layout_atom("K_SW64", 16), 16).name
        'B64'
    """

    NONE = 0
    B32 = 1
    B64 = 2
    B128 = 3
    B128_ATOM_32B = 4


BITS = 3  # of a byte's index
CHUNK = 128  # bits that a swizzle moves together
_KINDS = {"INTER": 0, "SW32": 1, "SW64": 2, "SW128": 3}  # bits of the swizzle
_TYPES = (LayoutType.INTERLEAVE, LayoutType.B32, LayoutType.B64, LayoutType.B128)
_TMA = {
    (1, 4, 3): TmaSwizzle.B32,
    (2, 4, 3): TmaSwizzle.B64,
    (3, 4, 3): TmaSwizzle.B128,
    (2, 5, 2): TmaSwizzle.B128_ATOM_32B,
}


@brief
def make_smem_layout_atom(kind: str, element_bits: int) -> Swizzled:
    """The smallest tile of shared memory that wgmma and TMA read in one way, in elements: CuTe's
    GMMA::Layout_K_SW128_Atom<T> is make_smem_layout_atom("K_SW128", bits of T).

    kind: "K_" or "MN_", the mode that is contiguous, and "INTER", "SW32", "SW64" or "SW128", its
    bytes. The atom's modes are (M or N, K): 8 rows of 16, 32, 64 or 128 bytes for "K_", as many
    columns for "MN_". tile_to_shape makes a tile of it.

    Raises LayoutError on another kind or width.

        >>> from lego_emit import cute
        >>> print(cute.make_smem_layout_atom("K_SW128", 16))
        S<3,3,3> o 0 o (8,64):(64,1)
    """
    construct = LazyText("make_smem_layout_atom({}, {})", kind, element_bits)
    major, _, span = kind.partition("_") if isinstance(kind, str) else ("", "", "")
    if major not in ("K", "MN") or span not in _KINDS:
        raise LayoutError(
            f'{construct}: there is no such kind; write "K_" or "MN_" and {", ".join(_KINDS)}'
        )
    bits, width = _KINDS[span], _width(element_bits, construct)
    long = (CHUNK << bits) >> width
    made = Strided((8, long), (long, 1)) if major == "K" else Strided((long, 8), (1, long))
    return Swizzled(Swizzle(bits, BITS + 4 - width, 3), made)


@brief
def layout_type(smem: Any, element_bits: int) -> LayoutType:
    """The swizzling mode of a wgmma descriptor that a layout of shared memory has.

    smem: a Strided (INTERLEAVE), a Swizzled, its text, or another block, of which is found out
    whether strides and one of the swizzles give it; in elements of element_bits.

    Raises LayoutError where it is none of the four.

        >>> from lego_emit import cute
        >>> tile = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (64, 64))
        >>> cute.layout_type(tile, 16).name
        'B128'
    """
    construct = LazyText("layout_type({}, {})", smem, element_bits)
    return _TYPES[swizzled_parts(smem, element_bits, construct)[0].B]


@brief
def tma_swizzle(smem: Any, element_bits: int) -> TmaSwizzle:
    """The swizzle of a tensor map (TMA descriptor) that fills a layout of shared memory, given as
    for layout_type.

    Raises LayoutError where it is none that TMA has.

        >>> from lego_emit import cute
        >>> tile = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (64, 64))
        >>> cute.tma_swizzle(tile, 16).name
        'B128'
    """
    construct = LazyText("tma_swizzle({}, {})", smem, element_bits)
    swizzle, _ = swizzled_parts(smem, element_bits, construct, tma=True)
    return _TMA.get((swizzle.B, swizzle.M, swizzle.S), TmaSwizzle.NONE)


@dataclass(frozen=True)
class GmmaDescriptor:
    """The matrix descriptor of wgmma but for its address: offsets in bytes, base offset 0.

    >>> from lego_emit import cute
    >>> tile = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (64, 64))
    >>> hex(cute.make_gmma_desc(tile, 16, "K").encoded(1024))
    '0x4000004000010040'
    """

    layout_type: LayoutType
    leading_byte_offset: int
    stride_byte_offset: int

    def __post_init__(self) -> None:
        construct = LazyText("GmmaDescriptor({}, ..)", self.layout_type)
        if not isinstance(self.layout_type, LayoutType):
            raise LayoutError(f"{construct}: give a LayoutType")
        for name in ("leading_byte_offset", "stride_byte_offset"):
            _field(getattr(self, name), construct, name)

    def encoded(self, start_address: int = 0) -> int:
        """The 64 bits of it, for a matrix at a byte address of shared memory."""
        fields = (start_address, self.leading_byte_offset, self.stride_byte_offset)
        found = self.layout_type << 62
        _field(start_address, repr(self), "start_address")
        for place, value in zip((0, 16, 32), fields, strict=True):
            found |= value >> 4 << place
        return found


def _field(value: Any, construct: object, name: str) -> None:
    if not is_integer(value) or value % 16 or not 0 <= value < 1 << 18:
        raise LayoutError(
            f"{construct}: {name} is {short_repr(value)}, which does not fit its field; give a multiple of "
            "16 below 2**18"
        )


@brief
def make_gmma_desc(smem: Any, element_bits: int, major: str) -> GmmaDescriptor:
    """The descriptor of an operand in shared memory, (M or N, K), for one wgmma: of the first 32
    bytes along K ("K"), or 256 / element_bits of it ("MN").

    smem: as for layout_type, such as tile_to_shape of an atom, of integer sizes. major: "K" or
    "MN", the mode that is contiguous.

    Raises LayoutError where it is no canonical layout (PTX ISA 9.7.15.5.1), or does not start where
    its swizzle does.

        >>> from lego_emit import cute
        >>> tile = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (64, 64))
        >>> cute.make_gmma_desc(tile, 16, "K")
        GmmaDescriptor(layout_type=<LayoutType.B128: 1>, leading_byte_offset=16, stride_byte_offset=1024)
    """
    construct = LazyText("make_gmma_desc({}, {}, {})", smem, element_bits, major)
    if not isinstance(major, str) or major not in ("K", "MN"):
        raise LayoutError(f'{construct}: no such major; write "K" or "MN"')
    swizzle, plain = swizzled_parts(smem, element_bits, construct)
    if plain.rank != 2 or not plain.is_concrete:
        raise LayoutError(f"{construct}: give two modes, (M or N, K), of integer sizes and strides")
    if plain.dims[1] * element_bits % 256:
        raise LayoutError(
            f"{construct}: K is {plain.dims[1]}; give a multiple of {256 // element_bits}, which one "
            "wgmma takes"
        )
    wide = 1 << swizzle.B
    start = plain.offset * element_bits >> BITS
    if start >> 7 & wide - 1:
        raise LayoutError(
            f"{construct}: it starts at byte {start}, within a pattern of the swizzle; start at a "
            f"multiple of {wide * 128}"
        )
    rows, along = (8, 2) if major == "K" else (wide, 8)
    chunks = recast(plain, element_bits, CHUNK)  # of 16 bytes
    mode, per = (1 if major == "K" else 0), CHUNK // element_bits
    if plain.dims[mode] != per * chunks.dims[mode]:
        raise LayoutError(
            f"{construct}: mode {mode} is not contiguous in chunks of 16 bytes, as that of major "
            f"{major} is; choose the other major, or a layout where it is"
        )
    if chunks.dims[0] % rows:
        raise LayoutError(
            f"{construct}: M or N is {plain.dims[0]}; give a multiple of "
            f"{rows * plain.dims[0] // chunks.dims[0]}"
        )
    one = composition(chunks, (None, 256 // element_bits if major == "MN" else 2))
    tiles = logical_divide(one, (rows, along))
    steps = {(k, j): _step(get(tiles, k, j), construct) for k in (0, 1) for j in (0, 1)}
    interleaved = swizzle.B == 0
    if major == "K":
        expected = {(0, 0): wide, (1, 0): None if interleaved else 1}
        stride, leading = steps[0, 1], steps[1, 0]
    else:
        expected = {(0, 0): None if interleaved else 1, (1, 0): wide}
        stride, leading = steps[1, 1], steps[0, 1]
        if interleaved:
            stride, leading = leading, stride
    for (k, _), step in expected.items():
        if step is not None and steps[k, 0] != step:
            raise LayoutError(
                f"{construct}: no canonical layout of {_TYPES[swizzle.B].name}: mode {k} steps by "
                f"{16 * steps[k, 0]} bytes and not by {16 * step}; make one with tile_to_shape of a "
                "make_smem_layout_atom"
            )
    return GmmaDescriptor(_TYPES[swizzle.B], 16 * leading, 16 * stride)


def _step(a: Strided, construct: object) -> int:
    found = coalesce(a)
    if len(found.leaves) > 1:
        raise LayoutError(
            f"{construct}: no canonical layout: {a}, in chunks of 16 bytes, has no single stride"
        )
    return found.stride if found.size > 1 else flat(a.stride)[-1]


def _width(element_bits: Any, construct: object) -> int:
    if not is_integer(element_bits) or element_bits not in (1, 2, 4, 8, 16, 32, 64, 128):
        raise LayoutError(
            f"{construct}: elements of {short_repr(element_bits)} bits; give a power of two up to 128"
        )
    return int(element_bits).bit_length() - 1


def swizzled_parts(
    smem: Any, element_bits: int, construct: object, tma: bool = False
) -> tuple[Swizzle, Strided]:
    """The swizzle of bytes (B, 4, 3), or another that TMA has, and the strided layout below it."""
    width = _width(element_bits, construct)
    smem = smem if isinstance(smem, Block) else layout(smem)
    if isinstance(smem, Block) and not isinstance(smem, Strided | Swizzled):
        smem = _recognised(smem, width, construct)
    if not isinstance(smem, Swizzled):
        return Swizzle(0, 4, 3), as_layout(smem, construct)
    smem.swizzle.check_concrete(construct)
    b, m, s = smem.swizzle.B, smem.swizzle.M + width - BITS, smem.swizzle.S
    if not b:
        return Swizzle(0, 4, 3), smem.layout
    if not ((m, s) == (4, 3) and b <= 3) and (not tma or (b, m, s) not in _TMA):
        raise LayoutError(
            f"{construct}: {smem.swizzle} of {element_bits} bits is S<{b},{m},{s}> of bytes, which "
            "no descriptor has; S<1,4,3>, S<2,4,3> and S<3,4,3> there are"
        )
    return Swizzle(b, m, s), smem.layout


def _recognised(smem: Block, width: int, construct: object) -> Strided | Swizzled:
    """A block as strides, swizzled or not."""
    for b in range(4):
        try:
            if not b:
                return to_cute(smem)
            swizzle = Swizzle(b, BITS + 4 - width, 3)
            reach = -(-smem.physical_size // swizzle.span) * swizzle.span
            every = Swizzled(swizzle, Strided(reach, 1))
            return Swizzled(swizzle, to_cute(every @ smem))
        except LayoutError:
            continue
    raise LayoutError(
        f"{construct}: {short_repr(smem)} is not a swizzle of 32, 64 or 128 bytes over strides, so that no "
        "descriptor says it"
    )

"""Tiles of shared memory as Hopper's instructions take them: operands of wgmma, boxes of TMA.

Source: PTX ISA 8.7, 9.7.15.5.1 (matrix descriptor) and 5.5 (tensor copies); CUDA Driver API,
cuTensorMapEncodeTiled (12.8), with its limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from ..algebra.strided import Strided, Swizzled
from ..errors import LayoutError, LazyText, short_repr
from ..numeric import is_integer
from .convert import to_cute
from .descriptors import (
    BITS,
    CHUNK,
    GmmaDescriptor,
    TmaSwizzle,
    make_gmma_desc,
    swizzled_parts,
    tma_swizzle,
)
from .maps import coalesce
from .partition import local_tile

MOST_DIMS, MOST_BOX = 5, 256  # of a tensor map: dims, elements of a box along one
DEPTH = 256  # bits of an operand along K


# -- operands of wgmma -----------------------------------------------------------------------------


@dataclass(frozen=True)
class GmmaOperand:
    """What wgmma takes of a tile in shared memory: its descriptor but for the address, the contiguous
    mode ("K" or "MN") and the positions without the swizzle, which the instruction applies itself.

        >>> from lego_emit import cute
        >>> tile = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (128, 64))
        >>> cute.make_gmma_operand(tile, 64, 16).descriptor.layout_type.name
        'B128'
    """

    descriptor: GmmaDescriptor
    major: str
    plain: Strided
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        if not (isinstance(self.descriptor, GmmaDescriptor) and isinstance(self.plain, Strided)):
            raise LayoutError("GmmaOperand: make_gmma_operand(tile, rows, element_bits) gives one")


def make_gmma_operand(smem: Any, rows: int, element_bits: int) -> GmmaOperand:
    """The operand of rows x (256 / element_bits) that stands at each multiple of this shape in a tile.

    smem: (M or N, K, ..) as for make_gmma_desc; further modes, such as stages, choose a tile.

    Raises LayoutError where the shape does not divide the tile, or one of these parts is no canonical
    layout or has another descriptor than the first.

        >>> from lego_emit import cute
        >>> tile = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (128, 64))
        >>> cute.make_gmma_operand(tile, 64, 16).major
        'K'
    """
    construct = LazyText("make_gmma_operand({}, {}, {})", smem, rows, element_bits)
    swizzle, plain = swizzled_parts(smem, element_bits, construct)
    if plain.rank < 2 or not plain.is_concrete:
        raise LayoutError(f"{construct}: give modes (M or N, K, ..) of integer sizes and strides")
    if not is_integer(rows) or rows < 1:
        raise LayoutError(f"{construct}: {short_repr(rows)} is not a number of rows")
    shape = int(rows), DEPTH // element_bits
    if any(n % part for n, part in zip(plain.dims, shape, strict=False)):
        raise LayoutError(
            f"{construct}: operands of {shape[0]} x {shape[1]} do not divide a tile of "
            f"{plain.dims[0]} x {plain.dims[1]}; choose a tile of multiples"
        )
    (first, *_) = coalesce(plain.mode(1)).leaves
    major = "K" if first[1] == 1 else "MN"
    width = element_bits.bit_length() - 1
    whole = Swizzled(type(swizzle)(swizzle.B, swizzle.M + BITS - width, swizzle.S), plain)
    found: GmmaDescriptor | None = None
    for at in product(*map(range, plain.dims[2:])):
        tile = whole(None, None, *at) if at else whole
        for place in product(
            *(range(n // part) for n, part in zip(plain.dims, shape, strict=False))
        ):
            one = make_gmma_desc(local_tile(tile, shape, place), element_bits, major)
            if found not in (None, one):
                raise LayoutError(
                    f"{construct}: the parts of {shape[0]} x {shape[1]} have several descriptors: "
                    f"{found} and {one}; take another number of rows"
                )
            found = one
    assert found is not None
    return GmmaOperand(found, major, plain, shape)


# -- boxes of TMA ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorMap:
    """The arguments of cuTensorMapEncodeTiled, and where a tile stands in the tensor.

    dims: of the tensor, the contiguous one first; strides: of the others, in bytes; box: elements that
    one copy moves, along each of dims; swizzle: how they lie in shared memory. terms: for each of dims
    (axis of the layout, factor): its coordinate is their sum; axes: how many there are. boxes: where the copies of a tile begin,
    as indices of the tile. dims and strides hold symbols where the layout's sizes are symbols.

        >>> from lego_emit import Row, TileBy, cute
        >>> A = TileBy([4, 8], [64, 64]).OrderBy(Row(256, 512))
        >>> tile = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (64, 64))
        >>> cute.make_tensor_map(A, tile, 16).box_bytes
        8192
    """

    element_bits: int
    dims: tuple[Any, ...]
    strides: tuple[Any, ...]
    box: tuple[int, ...]
    swizzle: TmaSwizzle
    terms: tuple[tuple[tuple[int, Any], ...], ...]
    axes: int
    boxes: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        parts = self.dims, self.strides, self.box, self.terms, self.boxes
        if not (isinstance(self.swizzle, TmaSwizzle) and all(isinstance(p, tuple) for p in parts)):
            raise LayoutError("TensorMap: make_tensor_map(tensor, tile, element_bits) gives one")

    @property
    def box_bytes(self) -> int:
        """What one copy moves, which its barrier counts."""
        return prod(self.box) * self.element_bits >> BITS

    def coordinates(self, *index: Any) -> tuple[Any, ...]:
        """The coordinates of an index of the layout, as a copy takes them: the contiguous dim first.

        Raises LayoutError on another number of indices.
        """
        if len(index) != self.axes:
            raise LayoutError(f"coordinates() takes {self.axes} indices, {len(index)} given")
        found = []
        for terms in self.terms:
            (axis, factor), *others = terms
            at = index[axis] * factor if factor != 1 else index[axis]
            for axis, factor in others:
                at = at + index[axis] * factor
            found.append(at)
        return tuple(found)


def make_tensor_map(tensor: Any, tile: Any, element_bits: int) -> TensorMap:
    """The tensor map by which TMA copies tiles of a tensor in global memory to or from shared memory.

    tensor: a layout of global memory, (.., rows, columns), whose last two axes are a tile's; its sizes
    may be symbols. tile: the layout of one in shared memory, (rows, columns, ..), as for tma_swizzle.

    Axes that continue one another are one dim of the tensor: (M // BM, K // BK, BM, BK) of
    Row(M, K) has the dims K and M, and the tile (p, s) the coordinates (BK * s, BM * p).

        >>> from lego_emit import Row, TileBy, cute
        >>> A = TileBy([4, 8], [128, 64]).OrderBy(Row(512, 512))
        >>> tile = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (128, 64))
        >>> found = cute.make_tensor_map(A, tile, 16)
        >>> found.dims, found.strides, found.box, found.coordinates(3, 2, 0, 0)
        ((512, 512), (1024,), (64, 128), (128, 384))

    Raises LayoutError where the tensor is not strided, no axis of a tile is contiguous in it, the tile
    has another shape or order, or a limit of the driver is exceeded.
    """
    construct = LazyText("make_tensor_map({}, {}, {})", tensor, tile, element_bits)
    if element_bits not in (8, 16, 32, 64):
        raise LayoutError(f"{construct}: TMA has elements of 8, 16, 32 and 64 bits")
    swizzle = tma_swizzle(tile, element_bits)
    _, plain = swizzled_parts(tile, element_bits, construct, tma=True)
    given = tensor if isinstance(tensor, Strided) else to_cute(tensor)
    if given.rank < 2 or len(given.leaves) != given.rank or plain.rank < 2:
        raise LayoutError(
            f"{construct}: give a tensor (.., rows, columns) and a tile (rows, columns, ..)"
        )
    wanted, sizes = tuple(given.dims[-2:]), tuple(plain.dims[:2])
    if wanted != sizes:
        raise LayoutError(
            f"{construct}: the tensor has tiles of {wanted[0]} x {wanted[1]}, and the one in shared "
            f"memory is {sizes[0]} x {sizes[1]}; give both the same shape"
        )
    inner = [axis for axis in (given.rank - 1, given.rank - 2) if given.leaves[axis][1] == 1]
    if not inner:
        raise LayoutError(
            f"{construct}: no axis of a tile is contiguous in {given}; TMA takes elements that follow one another"
        )
    order = [inner[0], (2 * given.rank - 3) - inner[0]]
    dims, strides, terms = zip(*_fused(given, order), strict=True)
    if len(dims) > MOST_DIMS:
        raise LayoutError(f"{construct}: {len(dims)} dims; a tensor map has at most {MOST_DIMS}")
    nbytes = [n * element_bits // 8 for n in strides[1:]]
    for n in nbytes:
        if is_integer(n) and (n % 16 or not 0 < n < 1 << 40):
            raise LayoutError(
                f"{construct}: rows {n} bytes apart; TMA takes multiples of 16 below 2**40: pad the rows"
            )
    modes = [axis - given.rank + 2 for axis in order]
    box = _box(plain, modes, element_bits, swizzle, construct)
    placed = dict(zip(modes, box, strict=True))
    rows, columns = (range(0, n, placed[k]) for k, n in enumerate(sizes))
    boxes = tuple(product(rows, columns))
    _check_starts(plain, boxes, element_bits, swizzle, construct)
    whole = (*box, *(1 for _ in dims[2:]))
    return TensorMap(element_bits, dims, tuple(nbytes), whole, swizzle, terms, given.rank, boxes)


def _fused(
    given: Strided, order: list[int]
) -> Iterator[tuple[Any, Any, tuple[tuple[int, Any], ...]]]:
    """(size, stride, terms) of each dim: the axes of a tile with those that continue them, then others;
    an axis of one element has its index 0 alone."""
    others = (
        axis for axis in range(given.rank) if axis not in order and given.leaves[axis][0] != 1
    )
    left = [*order, *others]
    tile = set(order)
    while left:
        axis = left.pop(0)
        size, stride = given.leaves[axis]
        terms = [(axis, 1)]
        while (more := _next(given, [o for o in left if o not in tile], size * stride)) is not None:
            left.remove(more)
            terms.append((more, size))
            size = size * given.leaves[more][0]
        yield size, stride, tuple(sorted(terms))


def _next(given: Strided, axes: list[int], stride: Any) -> int | None:
    """The axis that begins where another ends."""
    return next((axis for axis in axes if given.leaves[axis][1] == stride), None)


def _box(
    plain: Strided, modes: list[int], bits: int, swizzle: TmaSwizzle, construct: object
) -> tuple[int, int]:
    """How many elements one copy moves along the contiguous mode and along the other."""
    (along, *_), (across, *_) = (coalesce(plain.mode(k)).leaves for k in modes)
    if along[1] != 1:
        raise LayoutError(
            f"{construct}: mode {modes[0]} is contiguous in the tensor and steps by {along[1]} in shared "
            "memory; TMA keeps rows as they are: take a tile of the other major"
        )
    if across[1] != along[0]:
        raise LayoutError(
            f"{construct}: rows of {along[0]} elements lie {across[1]} apart in shared memory; TMA writes "
            "them one behind the other"
        )
    span = {TmaSwizzle.NONE: MOST_BOX * bits // 8, TmaSwizzle.B32: 32, TmaSwizzle.B64: 64}.get(
        swizzle, 128
    )
    if along[0] * bits % CHUNK or along[0] * bits // 8 > span:
        raise LayoutError(
            f"{construct}: a row of a box has {along[0] * bits // 8} bytes; TMA takes a multiple of 16, and at most "
            f"{span} with the swizzle {swizzle.name}"
        )
    for n in (along[0], across[0]):
        if n > MOST_BOX:
            raise LayoutError(
                f"{construct}: a box of {along[0]} x {across[0]} elements; TMA moves at most {MOST_BOX} along "
                "a dim: take a smaller tile"
            )
    return along[0], across[0]


def _check_starts(
    plain: Strided,
    boxes: tuple[tuple[int, int], ...],
    bits: int,
    swizzle: TmaSwizzle,
    construct: object,
) -> None:
    """Raises LayoutError where a box would begin within a pattern of the swizzle."""
    pattern = {TmaSwizzle.NONE: 128, TmaSwizzle.B32: 256, TmaSwizzle.B64: 512}.get(swizzle, 1024)
    stages: Any = product(*map(range, plain.dims[2:]))
    for place, stage in product(boxes, stages):
        start = plain.apply(*place, *stage) * bits // 8
        if start % pattern:
            raise LayoutError(
                f"{construct}: a box begins at byte {start} of shared memory; with the swizzle {swizzle.name} each "
                f"begins at a multiple of {pattern}"
            )

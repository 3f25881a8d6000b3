"""Layouts cut into tiles and repeated: divisions and products (CuTe's layout algebra).

Source: CUTLASS's documentation, "CuTe Layout Algebra", Division (Tiling) and Product (Tiling). A
tiler is a layout, a shape (compact), or a tuple of those, one for each mode.
"""

from __future__ import annotations

from typing import Any

from ..algebra.nested import is_tuple, modes, size_of
from ..algebra.strided import Strided
from ..errors import LayoutError, LazyText, brief
from .given import as_layout, as_shape, as_tiler, of_memory, of_tensors
from .known import does_divide, quotient
from .making import make_layout, make_ordered_layout
from .maps import by_mode, coalesce, complement, composition


@brief
@of_tensors
def logical_divide(a: Strided, tiler: Any) -> Strided:
    """a composed with (tiler, the rest): mode 0 runs within a tile, mode 1 over the tiles.

    tiler: a tuple divides mode by mode; None leaves a mode as it is.

    Raises LayoutError where the composition does not exist: the tiler does not divide.

        >>> from lego_emit import cute
        >>> print(cute.logical_divide("(4,2,3):(2,1,8)", "4:2"))
        ((2,2),(2,3)):((4,1),(2,8))
        >>> print(cute.logical_divide("(8,8):(8,1)", (4, 2)))
        ((4,2),(2,4)):((8,32),(1,2))
    """
    tiler = as_tiler(tiler, LazyText("logical_divide({!s}, ..)", a))
    if tiler is None:
        return a
    if is_tuple(tiler):
        return by_mode(a, tiler, logical_divide, "logical_divide")
    try:
        return composition(a, make_layout(tiler, complement(tiler, coalesce(a).size)))
    except LayoutError as error:
        raise LayoutError(
            f"logical_divide({a}, {tiler}): the division does not exist; {error}"
        ) from None


@brief
@of_tensors
def zipped_divide(a: Strided, tiler: Any) -> Strided:
    """logical_divide, all that is within a tile in mode 0 and all that is over tiles in mode 1.

    >>> from lego_emit import cute
    >>> print(cute.zipped_divide("(8,8):(8,1)", (4, 2)))
    ((4,2),(2,4)):((8,1),(32,2))
    """
    return _zipped(logical_divide(a, tiler), tiler)


@brief
@of_tensors
def tiled_divide(a: Strided, tiler: Any) -> Strided:
    """zipped_divide with mode 1's modes side by side: (tile, rest, rest, ..).

    >>> from lego_emit import cute
    >>> print(cute.tiled_divide("(8,8):(8,1)", (4, 2)))
    ((4,2),2,4):((8,1),32,2)
    """
    return _unfolded(zipped_divide(a, tiler), (False, True))


@brief
@of_tensors
def flat_divide(a: Strided, tiler: Any) -> Strided:
    """zipped_divide with all modes side by side: (tile, tile, .., rest, rest, ..).

    >>> from lego_emit import cute
    >>> print(cute.flat_divide("(8,8):(8,1)", (4, 2)))
    (4,2,2,4):(8,1,32,2)
    """
    return _unfolded(zipped_divide(a, tiler), (True, True))


@brief
@of_memory
def logical_product(a: Strided, tiler: Any) -> Strided:
    """(a, the tiler's copies of it): mode 0 is a, mode 1 puts copies where a leaves room.

    tiler: a tuple repeats mode by mode; None leaves a mode as it is.

    Raises LayoutError where a has no complement.

        >>> from lego_emit import cute
        >>> print(cute.logical_product("(2,2):(4,1)", "6:1"))
        ((2,2),(2,3)):((4,1),(2,8))
    """
    tiler = as_tiler(tiler, LazyText("logical_product({!s}, ..)", a))
    if tiler is None:
        return a
    if is_tuple(tiler):
        return by_mode(a, tiler, logical_product, "logical_product")
    try:
        room = complement(a, a.size * tiler.cosize)
        return make_layout(a, composition(room, tiler))
    except LayoutError as error:
        raise LayoutError(
            f"logical_product({a}, {tiler}): the product does not exist; {error}"
        ) from None


@brief
@of_memory
def zipped_product(a: Strided, tiler: Any) -> Strided:
    """logical_product, all of a in mode 0 and all copies in mode 1.

    >>> from lego_emit import cute
    >>> print(cute.zipped_product("(2,2):(2,1)", "(3,4):(1,3)"))
    ((2,2),(3,4)):((2,1),(4,12))
    """
    return _zipped(logical_product(a, tiler), tiler)


@brief
@of_memory
def tiled_product(a: Strided, tiler: Any) -> Strided:
    """zipped_product with mode 1's modes side by side.

    >>> from lego_emit import cute
    >>> print(cute.tiled_product("(2,2):(2,1)", "(3,4):(1,3)"))
    ((2,2),3,4):((2,1),4,12)
    """
    return _unfolded(zipped_product(a, tiler), (False, True))


@brief
@of_memory
def flat_product(a: Strided, tiler: Any) -> Strided:
    """zipped_product with all modes side by side.

    >>> from lego_emit import cute
    >>> print(cute.flat_product("(2,2):(2,1)", "(3,4):(1,3)"))
    (2,2,3,4):(2,1,4,12)
    """
    return _unfolded(zipped_product(a, tiler), (True, True))


@brief
@of_memory
def blocked_product(block: Strided, tiler: Any) -> Strided:
    """The block repeated as the tiler says, mode k of the block beside mode k of the tiler: the
    blocks lie side by side.

        >>> from lego_emit import cute
        >>> print(cute.blocked_product("(2,5):(5,1)", "(3,4):(1,3)"))
        ((2,3),(5,4)):((5,10),(1,30))
    """
    return _woven(block, tiler, "blocked_product", (0, 1))


@brief
@of_memory
def raked_product(block: Strided, tiler: Any) -> Strided:
    """As blocked_product, the tiler's mode first: the blocks are interleaved.
    Each mode is coalesced, as CuTe does here and not in blocked_product.

        >>> from lego_emit import cute
        >>> print(cute.raked_product("(2,5):(5,1)", "(3,4):(1,3)"))
        ((3,2),(4,5)):((10,5),(30,1))
    """
    found = _woven(block, tiler, "raked_product", (1, 0))
    return coalesce(found, (1,) * found.rank)


@brief
@of_memory
def tile_to_shape(block: Strided, shape: Any, order: Any = None) -> Strided:
    """The block repeated until it has a shape, mode by mode; order: which mode is repeated first, as
    make_ordered_layout takes it (the left one).

    Raises LayoutError where the block does not divide the shape.

        >>> from lego_emit import cute
        >>> print(cute.tile_to_shape("(8,8):(8,1)", (16, 32)))
        (16,(8,4)):(8,(1,128))
    """
    construct = LazyText("tile_to_shape({!s}, {})", block, shape)
    wanted = [size_of(part) for part in modes(as_shape(shape, construct))]
    count = len(wanted)
    if block.rank > count:
        raise LayoutError(f"{construct}: the block has {block.rank} modes and the shape {count}")
    padded = _padded(block, count)
    repeats = []
    for k, (n, part) in enumerate(zip(wanted, padded.dims, strict=True)):
        if not does_divide(part, n, construct):
            raise LayoutError(
                f"{construct}: the block's mode {k} of size {part!r} does not divide {n!r}; choose "
                "a shape that it divides"
            )
        repeats.append(quotient(n, part))
    order = tuple(range(count)) if order is None else tuple(modes(order))
    tiler = make_ordered_layout(tuple(repeats), order)
    return coalesce(blocked_product(padded, tiler), tuple(wanted))


def _padded(a: Strided, count: int) -> Strided:
    """With modes of size 1 until there are so many."""
    extra = count - a.rank
    if not extra:
        return a if is_tuple(a.shape) else Strided((a.shape,), (a.stride,), a.offset)
    shape, stride = (*modes(a.shape), *[1] * extra), (*modes(a.stride), *[0] * extra)
    return Strided(shape, stride, a.offset)


def _woven(block: Strided, tiler: Any, name: str, order: tuple[int, int]) -> Strided:
    tiler = as_layout(tiler, f"{name}(..)")
    count = max(block.rank, tiler.rank)
    found = logical_product(_padded(block, count), _padded(tiler, count))
    shapes, strides = [], []
    for k in range(count):
        shapes.append(tuple(modes(found.shape[side])[k] for side in order))
        strides.append(tuple(modes(found.stride[side])[k] for side in order))
    return Strided(tuple(shapes), tuple(strides), found.offset)


def _zipped(divided: Strided, tiler: Any) -> Strided:
    """The pairs of a result by mode, first members together and second members together."""

    def walk(tree: Any, by: Any) -> tuple[Any, Any]:
        if by is None:  # not divided: all of it is rest
            return None, tree
        if not is_tuple(by):
            return tree[0], tree[1]
        pairs = [walk(*each) for each in zip(tree[: len(by)], by, strict=True)]
        first = tuple(one for one, _ in pairs if one is not None)
        return first, (*(other for _, other in pairs), *tree[len(by) :])

    tiler = as_tiler(tiler, divided)
    if tiler is None or (is_tuple(tiler) and all(part is None for part in tiler)):
        raise LayoutError(f"{divided}: a tiler of None divides nothing; give a size or a layout")
    shape, stride = walk(divided.shape, tiler), walk(divided.stride, tiler)
    return Strided(shape, stride, divided.offset)


def _unfolded(zipped: Strided, which: tuple[bool, bool]) -> Strided:
    """The two modes of a result, each with its modes side by side where asked."""

    def walk(tree: Any) -> tuple[Any, ...]:
        found: list[Any] = []
        for part, opened in zip(tree, which, strict=True):
            found += modes(part) if opened else (part,)
        return tuple(found)

    return Strided(walk(zipped.shape), walk(zipped.stride), zipped.offset)

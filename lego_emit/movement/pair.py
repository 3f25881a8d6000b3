"""Two distributed layouts of one tile, as columns: checked and made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra import f2
from ..algebra.block import Block
from ..algebra.labels import packed, width_of
from ..algebra.linear import Linear
from ..errors import LayoutError, short_repr
from ..hardware import LANE, REGISTER, WARP
from ..numeric import is_integer
from ..plans.pair import KNOWN, Holder, Pair
from .memories import SharedMemory
from .prices import WAYS

MOST_HELD = 1024  # elements of a thread, which has 255 registers of 4 bytes


def _memories(A: Any, B: Any) -> str:
    """What an error says more of two memories."""
    if A is not B and all(isinstance(one, Block) and one.results is None for one in (A, B)):
        return ". Both are memories: lego_emit.copy(A, B) moves an array from one to the other"
    return ""


def check_way(way: Any, shared_bytes: Any, construct: str) -> None:
    """Raise LayoutError for a way that there is none of, or for bytes that are no number."""
    if way is not None and way not in WAYS:
        raise LayoutError(
            f"{construct}: way is {short_repr(way)}; there are {' and '.join(map(repr, WAYS))}"
        )
    if not is_integer(shared_bytes) or shared_bytes < 0:
        raise LayoutError(
            f"{construct}: shared_bytes is {short_repr(shared_bytes)}, no number of bytes"
        )


def pair_of(A: Any, B: Any, gpu: SharedMemory, construct: str) -> Pair:
    """Two layouts as columns over the bits of their coordinates, with as many lanes and warps. A name
    that one of them lacks makes no difference to it. Raises LayoutError where they do not match."""
    for layout in (A, B):
        if not isinstance(layout, Linear):
            raise LayoutError(
                f"{construct}: {short_repr(layout)} is not a Linear; Linear.of makes one of a layout or of "
                f"a function of register, lane and warp{_memories(A, B)}"
            )
    if A.out_dims != B.out_dims:
        raise LayoutError(
            f"{construct}: one holds a tile {A.out_dims}, the other {B.out_dims}; both must have the "
            "same coordinates (transpose_outs and resize_out change them)"
        )
    for layout in (A, B):
        if (held := layout.in_dims.get(REGISTER, 1)) > MOST_HELD:
            raise LayoutError(
                f"{construct}: a thread holds {short_repr(held)} elements, and a plan has at most "
                f"{MOST_HELD}; move the tile in parts, or give it to more threads"
            )
    B = B.transpose_outs(A.results)
    if A.start != B.start:
        raise LayoutError(
            f"{construct}: the offsets {A.offset} and {B.offset} differ; compose one with the other's"
        )
    _check_others(A, B, construct)
    sizes = {n: _size(A, B, n, gpu, construct) for n in (LANE, WARP)}
    if sizes[WARP] > 1:
        sizes[LANE] = gpu.lanes
    start, end = (_holder(layout, sizes) for layout in (A, B))
    held = f2.Echelon(start.columns)
    for name, columns in zip(KNOWN, (end.registers, end.lanes, end.warps), strict=True):
        for k, column in enumerate(columns):
            if held.solve(column) is None:
                where = dict(zip(A.results, A._split(column), strict=True))
                raise LayoutError(
                    f"{construct}: the first layout does not hold {where}, which bit {k} of {name} "
                    "of the second asks for; it must hold the whole tile"
                )
    if held.rank == width_of(A.outs):
        return Pair(start, end, A.outs)
    return _on_what_is_held(start, end, held)


def _on_what_is_held(start: Holder, end: Holder, held: f2.Echelon) -> Pair:
    """The same on the part of the tile that is held, its elements numbered."""
    place = {pivot: k for k, pivot in enumerate(held.pivots)}

    def numbered(columns: Sequence[int]) -> tuple[int, ...]:
        found = [held.solve(c) or 0 for c in columns]
        return tuple(sum(1 << place[p] for p in place if x >> p & 1) for x in found)

    def moved(h: Holder) -> Holder:
        return Holder(numbered(h.registers), numbered(h.lanes), numbered(h.warps))

    return Pair(moved(start), moved(end), (("element", held.rank),))


def _check_others(A: Linear, B: Linear, construct: str) -> None:
    """What is neither register, lane nor warp is the same in both, or moves nothing."""
    for name in dict.fromkeys((*A.coordinates, *B.coordinates)):
        one, other = (layout.bases.get(name, []) for layout in (A, B))
        if name not in KNOWN and one != other and any(map(any, (*one, *other))):
            raise LayoutError(
                f"{construct}: {name} is not the same in both: {one or None} and {other or None}; "
                "between them no thread can move an element"
            )


def _size(A: Linear, B: Linear, name: str, gpu: SharedMemory, construct: str) -> int:
    """How many lanes or warps both have."""
    found = {layout.in_dims[name] for layout in (A, B) if name in layout.in_dims}
    if len(found) > 1:
        few, many = sorted(found)
        raise LayoutError(
            f"{construct}: one layout has {few} {name}s, the other {many}; "
            f"resize_in({name!r}, {many}) says that the others hold the same"
        )
    size = found.pop() if found else 1
    if name == LANE and size not in (1, gpu.lanes):
        raise LayoutError(
            f"{construct}: the layouts have {size} lanes, and a warp {gpu.lanes}; "
            f"resize_in({name!r}, {gpu.lanes}) says that the others hold the same"
        )
    return size


def _holder(layout: Linear, sizes: dict[str, int]) -> Holder:
    columns = {
        n: tuple(packed(image, layout.outs) for image in own) for n, own in layout.bases.items()
    }
    more = {n: (0,) * (size.bit_length() - 1) for n, size in sizes.items()}
    return Holder(columns.get(REGISTER, ()), *(columns.get(n) or more[n] for n in (LANE, WARP)))

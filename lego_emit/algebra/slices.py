"""A layout's axes: what their indices are called, and slices, as NumPy takes them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..errors import IndexRangeError, LazyText, short_repr
from ..numeric import is_integer

AXIS_NAMES = "ijklmn"


def index_names(count: int, taken: Collection[str] = ()) -> list[str]:
    """What the indices of a layout without names are called: i, j, k .., or i0, i1 .. where there are
    many or one of those is taken."""
    if count <= len(AXIS_NAMES) and not {*AXIS_NAMES[:count]} & {*taken}:
        return [*AXIS_NAMES[:count]]
    prefix = "i"
    while any(f"{prefix}{k}" in taken for k in range(count)):
        prefix += "x"
    return [f"{prefix}{k}" for k in range(count)]


def place_of(block: Any, axis: int) -> str:
    """What the index of an axis is called in a message: the coordinate's name, where it has one."""
    names = block.coordinates
    return names[axis] if names else f"index {axis}"


def check_slice(block: Any, axis: int, part: slice) -> None:
    """Raise IndexRangeError unless a slice can be taken of an axis."""
    parts = (part.start, part.stop) if part.step is None else (part.start, part.stop, part.step)
    text = ":".join("" if p is None else short_repr(p) for p in parts)
    place = LazyText("{!r}: axis {!s} got the slice {!s}", block, axis, text)
    for p in parts:
        if p is not None and not is_integer(p):
            raise IndexRangeError(f"{place}; the numbers of a slice are integers")
    if part.step == 0:
        raise IndexRangeError(f"{place}; a step is not 0")
    if not isinstance(block.dims[axis], int):
        if part.stop is not None or (part.start or 0) < 0 or (part.step or 1) < 1:
            raise IndexRangeError(
                f"{place}; of an axis whose size is a symbol ':' can be asked, or a part that goes "
                f"up to the end, as 1::2; fix the size with sizes={{...}}"
            )
    elif not range(*part.indices(block.dims[axis])):
        raise IndexRangeError(f"{place}, which holds no index of 0..{block.dims[axis] - 1}")


def run_of(n: Any, part: slice) -> tuple[Any, int, Any]:
    """(first, step, count) of the indices that a slice takes of an axis of size n."""
    if isinstance(n, int):
        first, last, step = part.indices(n)
        return first, step, max(0, -((first - last) // step))  # len(range(..)) ends at sys.maxsize
    first, step = part.start or 0, part.step or 1
    count = n - first
    return first, step, count if step == 1 else (count + step - 1) // step


def axes_behind(ranks: Sequence[int | None]) -> list[int]:
    """How many axes stand behind an index's own in the result of indexing by all, as NumPy places them.

    ranks: of each index, None of a slice. The axes that arrays share stand where the first of them is
    given, or first of all where a slice stands between two. Without arrays nothing but slices has an axis.
    """
    slices = [k for k, rank in enumerate(ranks) if rank is None]
    others = [k for k, rank in enumerate(ranks) if rank is not None]
    shared = max((rank or 0 for rank in ranks), default=0)
    together = not shared or not others or len(others) == others[-1] - others[0] + 1
    before = sum(k < others[0] for k in slices) if others and together else 0
    found = []
    for k, rank in enumerate(ranks):
        at = slices.index(k) if rank is None else before
        behind = len(slices) - at
        found.append(behind if rank is not None else behind - 1 + shared * (at < before))
    return found

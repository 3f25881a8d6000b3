"""Layouts made of parts: side by side, in an order, grouped, ravel, sliced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.block import Block
from ..algebra.nested import checked, congruent, flat, is_tuple, modes, shaped, times
from ..algebra.strided import Strided
from ..errors import LayoutError, LazyText, brief, short_repr
from ..numeric import is_integer
from .given import as_count, as_layout, as_shape, as_tensor, of_tensors, over
from .reading import layout


@brief
def make_layout(*layouts: Any, stride: Any = None) -> Strided:
    """A layout of a shape and strides, or layouts side by side, each a mode of the result; their
    offsets add up.

    layouts: a shape, and strides nested alike (also as stride=; without them compact, the left mode
    fastest); or layouts, their texts, and shapes among them. A text is a layout.

    Raises LayoutError where it is neither.

        >>> from lego_emit import cute
        >>> print(cute.make_layout("4:1", "(2,3):(12,4)"))
        (4,(2,3)):(1,(12,4))
        >>> print(cute.make_layout((4, 8), stride=(8, 1)))
        (4,8):(8,1)
    """
    of_shape = not any(isinstance(each, Block | str) for each in layouts)
    given = layouts if stride is None else (*layouts, stride)
    construct = LazyText("make_layout({!l})", given)
    if not layouts or ((of_shape or stride is not None) and len(given) > 2):
        raise LayoutError(
            f"{construct}: give a shape and its strides, or layouts, which stand side by side; "
            "cute.layout(4) makes one of a size"
        )
    if of_shape or stride is not None:
        return layout(*given)
    found = [as_layout(each, construct) for each in layouts]
    offset: Any = 0
    for each in found:
        offset = offset + each.offset
    return Strided(tuple(a.shape for a in found), tuple(a.stride for a in found), offset)


@brief
def make_ordered_layout(shape: Any, order: Any) -> Strided:
    """Compact strides of a shape, its leaves numbered in the order of `order`, nested alike: the
    leaf with the least one is the fastest.

    Raises LayoutError where shape and order are not nested alike, or an order is no integer.

        >>> from lego_emit import cute
        >>> print(cute.make_ordered_layout((4, 8, 2), (1, 0, 2)))
        (4,8,2):(8,1,32)
    """
    construct = LazyText("make_ordered_layout({}, {})", shape, order)
    shape, order = as_shape(shape, construct), checked(order, construct, "order", None)
    if not congruent(shape, order):
        raise LayoutError(f"{construct}: shape and order are not nested alike")
    orders, sizes = flat(order), flat(shape)
    if not all(map(is_integer, orders)):
        raise LayoutError(f"{construct}: an order is not an integer")
    strides: list[Any] = [0] * len(sizes)
    running: Any = 1
    for k in sorted(range(len(sizes)), key=lambda k: orders[k]):
        strides[k], running = running, times(running, sizes[k])
    return Strided(shape, shaped(shape, iter(strides)))


@brief
def make_layout_like(a: Any) -> Strided:
    """A compact layout of the same shape, its leaves in the order of a's strides; stride 0 stays.

    >>> from lego_emit import cute
    >>> print(cute.make_layout_like("(4,8):(16,2)"))
    (4,8):(8,1)
    """
    a = as_layout(a, "make_layout_like(..)")
    strides: list[Any] = [0] * len(a.leaves)
    running: Any = 1
    for k in sorted(range(len(a.leaves)), key=lambda k: a.leaves[k][1]):
        n, d = a.leaves[k]
        if not (is_integer(d) and d == 0):
            strides[k], running = running, times(running, n)
    return Strided(a.shape, shaped(a.shape, iter(strides)))


def with_offset(a: Strided, offset: Any) -> Strided:
    """The same layout from another position on."""
    return Strided(a.shape, a.stride, offset)


@brief
def get(a: Any, *place: int) -> Any:
    """A mode of a layout, or a mode of that mode; its offset is left out, but for one that is
    swizzled.

        >>> from lego_emit import cute
        >>> print(cute.get("((2,4),8):((1,2),8)", 0))
        (2,4):(1,2)
        >>> print(cute.get("((2,4),8):((1,2),8)", 0, 1))
        4:2
    """
    tensor = as_tensor(a, "get(..)")

    def mode_of(a: Strided) -> Strided:
        found = a
        for k in place:
            if not is_integer(k) or not -found.rank <= k < found.rank:
                raise LayoutError(f"get({a}, {short_repr(place)}): {found} has {found.rank} modes")
            found = found.mode(k)
        return found if isinstance(tensor, Strided) else with_offset(found, a.offset)

    return over(tensor, mode_of, "get(..)")


def of_leaves(leaves: Sequence[tuple[Any, Any]], offset: Any = 0) -> Strided:
    """A layout of (size, stride) pairs: a single one is no tuple, none at all is 1:0."""
    if not leaves:
        return Strided(1, 0, offset)
    if len(leaves) == 1:
        return Strided(*leaves[0], offset)
    return Strided(tuple(n for n, _ in leaves), tuple(d for _, d in leaves), offset)


@brief
@of_tensors
def flatten(a: Strided) -> Strided:
    """The layout with its leaves side by side.

    >>> from lego_emit import cute
    >>> print(cute.flatten("((2,4),8):((1,2),8)"))
    (2,4,8):(1,2,8)
    """
    if not is_tuple(a.shape):
        return a
    return Strided(flat(a.shape), flat(a.stride), a.offset)


@brief
@of_tensors
def group(a: Strided, begin: int, end: int) -> Strided:
    """The layout with its modes begin..end-1 put into one.

    >>> from lego_emit import cute
    >>> print(cute.group("(2,4,8):(1,2,8)", 0, 2))
    ((2,4),8):((1,2),8)
    """
    construct = LazyText("group({!s}, {}, {})", a, begin, end)
    begin, end = as_count(begin, construct, "begin"), as_count(end, construct, "end")
    if not begin < end <= a.rank:
        raise LayoutError(f"{construct}: it has {a.rank} modes")
    parts = [modes(a.shape), modes(a.stride)]
    shape, stride = ((*p[:begin], p[begin:end], *p[end:]) for p in parts)
    return Strided(shape, stride, a.offset)


@brief
def slice_(coordinate: Any, a: Any) -> Any:
    """The layout of the modes where the coordinate has None, from the position of the others on.

    >>> from lego_emit import cute
    >>> print(cute.slice_((2, None), "(4,8):(8,1)"))
    8:1 + 16
    """
    swapped = isinstance(coordinate, Block | str)
    if swapped and (a is None or isinstance(a, int | list | tuple)):
        raise LayoutError(
            f"slice_({short_repr(coordinate)}, {short_repr(a)}): the coordinate goes first: "
            f"slice_({short_repr(a)}, {short_repr(coordinate)})"
        )
    a = as_tensor(a, "slice_(..)")
    return a(*coordinate) if is_tuple(coordinate) else a(coordinate)

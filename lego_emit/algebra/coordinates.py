"""Coordinates of strided layouts, nested or flat, as CuTe takes them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..errors import IndexRangeError, a_type, short_repr
from ..numeric import is_array, is_integer, is_symbolic
from .later import symbols
from .nested import digits, flat, is_too_deep, is_tuple, modes, text


def plus(total: Any, coordinate: Any, stride: Any) -> Any:
    """total + coordinate * stride; a stride of 0 leaves total as it is, but for an array's shape."""
    if is_integer(stride) and stride == 0 and not is_array(coordinate):
        return total
    step = coordinate * stride
    return step if is_integer(total) and total == 0 else total + step


def sliced(layout: Any, coordinate: Any) -> tuple[Any, tuple[Any, Any] | None]:
    """(the position of a coordinate, the shape and stride of the modes where it has None; None
    where it has none).

    Raises IndexRangeError where the coordinate is not nested as the shape.
    """
    total: Any = layout.offset
    if is_too_deep(coordinate):
        raise IndexRangeError(
            f"{layout!r}: the coordinate is nested too deep; nest it as the shape"
        )

    _check_arrays(layout, flat(coordinate))

    def walk(shape: Any, stride: Any, c: Any, place: str) -> list[tuple[Any, Any]]:
        nonlocal total
        if c is None:
            return [(shape, stride)]
        if is_tuple(c):
            if not is_tuple(shape) or len(shape) != len(c):
                raise IndexRangeError(
                    f"{layout!r}: the coordinate {text(c)} does not fit {place}, of shape "
                    f"{text(shape)}; give one number, or {len(modes(shape))} for its modes"
                )
            parts = enumerate(zip(shape, stride, c, strict=True))
            found = [walk(n, d, i, f"mode {k} of {place}") for k, (n, d, i) in parts]
            return [each for part in found for each in part]
        c = _checked_coordinate(layout, c, place, shape)
        strides = flat(stride)
        for digit, d in zip(digits(flat(shape), c), strides, strict=True):
            total = plus(total, digit, d)
        return []

    kept = walk(layout.shape, layout.stride, coordinate, "the layout")
    if len(kept) < 2:
        return total, kept[0] if kept else None
    return total, (tuple(n for n, _ in kept), tuple(d for _, d in kept))


def _check_arrays(layout: Any, given: Sequence[Any]) -> None:
    arrays = [c for c in given if is_array(c)]
    if not arrays:
        return
    shapes = ", ".join(str(c.shape) for c in arrays)
    if not layout.is_concrete or any(map(is_symbolic, given)):
        raise IndexRangeError(
            f"{layout!r}: arrays of shapes {shapes} and symbols do not mix; give numbers for the "
            "symbols"
        )
    from ..packages import numpy as np

    try:
        np.broadcast_shapes(*(c.shape for c in arrays))
    except ValueError:
        raise IndexRangeError(
            f"{layout!r}: index arrays of shapes {shapes} do not broadcast together"
        ) from None


def _checked_coordinate(layout: Any, c: Any, place: str, shape: Any) -> Any:
    """The coordinate of a mode of this shape. Beyond the shape the last mode goes on, as in CuTe; where
    sizes are symbols it does not, for a mode of size 1 may have another stride."""
    if is_symbolic(c):
        if symbols().is_following():
            symbols().coordinate(c, None if layout.is_concrete else prod(flat(shape)))
        return c
    if is_array(c) and c.dtype.kind in "iu":
        if c.size and int(c.min()) < 0:
            raise IndexRangeError(f"{layout!r}: the coordinate of {place} holds {int(c.min())}")
        return c.astype("int64")
    if not is_integer(c):
        raise IndexRangeError(
            f"{layout!r}: the coordinate of {place} is {short_repr(c)}, {a_type(c)}; give an "
            "integer, an integer array, a symbol, or None to keep the mode"
        )
    if c < 0:
        raise IndexRangeError(f"{layout!r}: the coordinate of {place} is {short_repr(c)}, below 0")
    return int(c)

"""A swizzle carried through a layout: T with T(A(p)) == A(S(p)).

Source: CUTLASS's include/cute/swizzle_layout.hpp, composition(Layout, Swizzle), which takes what the
layout makes of the two masks for those of T. Here it is also checked that T is that map.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.strided import Swizzle
from ..errors import LayoutError
from ..numeric import is_integer
from .known import divides


def carried(
    leaves: Sequence[tuple[Any, Any]], offset: Any, swizzle: Swizzle, count: Any, construct: object
) -> Swizzle:
    """The swizzle T with T(A(p)) == A(swizzle(p)) for every p below a count.

    leaves: A's sizes and strides, coalesced; the last one runs on. offset: where A starts.

    Raises LayoutError where no swizzle is that map, or it is not known.
    """
    if not swizzle.B:
        return swizzle
    bits = swizzle.span.bit_length() - 1
    if is_integer(count):
        every = max(bits, (count - 1).bit_length())
        try:
            return _carried(_images(leaves, every, construct)[0], [offset], swizzle, construct)
        except LayoutError:
            if every == bits:
                raise
    images, rest = _images(leaves, bits, construct)
    return _carried(images, [*rest, offset], swizzle, construct)


def _carried(
    images: Sequence[int], rest: Sequence[Any], swizzle: Swizzle, construct: object
) -> Swizzle:
    """The swizzle that joins the images of the bits that a swizzle joins. rest: what else is added
    to them, which must leave the bits alone that it looks at."""
    lowest = swizzle.M + max(swizzle.S, 0), swizzle.M + max(-swizzle.S, 0)
    read, written = (_first_bit(images[k : k + swizzle.B]) for k in lowest)
    if read is None or written is None or _overlap(images):
        raise LayoutError(
            f"{construct}: the bits that {swizzle} joins are not next to each other in the positions "
            "of the first, so that no swizzle of them gives the map; put the swizzle first"
        )
    found = Swizzle(swizzle.B, min(read, written), read - written)
    for step in rest:
        if divides(found.span, step) is not True:
            raise LayoutError(
                f"{construct}: {step!r} is not known to be a multiple of {found.span}, below which "
                f"{swizzle} moves positions of the first; no swizzle gives the map"
            )
    return found


def within(swizzle: Swizzle, count: Any) -> Swizzle:
    """The swizzle of fewer bits that does the same to positions below a count."""
    if not is_integer(count):
        return swizzle
    bits = max(count - 1, 0).bit_length() - swizzle.M - max(swizzle.S, 0)
    return Swizzle(max(0, min(swizzle.B, bits)), swizzle.M, swizzle.S)


def keeps(swizzle: Swizzle, count: Any) -> bool:
    """Whether the swizzle is known to permute the positions below a count."""
    kept = within(swizzle, count)
    top = swizzle.M + swizzle.B + max(-swizzle.S, 0)
    return not kept.B or divides(1 << top, count) is True


def _images(
    leaves: Sequence[tuple[Any, Any]], bits: int, construct: object
) -> tuple[list[int], list[Any]]:
    """Where each of the lowest bits of a position goes, and the strides of what is above them."""
    images: list[int] = []
    rest: list[Any] = []
    for k, (n, d) in enumerate(leaves):
        taken = missing = bits - len(images)
        runs_on = k == len(leaves) - 1
        if missing and not runs_on and divides(1 << missing, n) is not True:
            if not is_integer(n) or n & (n - 1):
                raise LayoutError(
                    f"{construct}: the size {n!r} of the first is not known to keep bits apart; a "
                    "swizzle goes through sizes that are powers of two"
                )
            taken = n.bit_length() - 1
        if taken and not (is_integer(d) and d >= 0):
            raise LayoutError(
                f"{construct}: a swizzle does not go through the stride {d!r} of the first; give a "
                "number from 0 on"
            )
        images += [d << bit for bit in range(taken)]
        if taken == missing and (runs_on or n != 1 << taken):
            rest.append(d << taken if is_integer(d) else d * (1 << taken))
    return images, rest


def _first_bit(images: Sequence[int]) -> int | None:
    """The lowest of consecutive bits, in order; None where they are none."""
    first = images[0]
    if first < 1 or first & (first - 1):
        return None
    if any(image != first << k for k, image in enumerate(images)):
        return None
    return first.bit_length() - 1


def _overlap(images: Sequence[int]) -> bool:
    seen = 0
    for image in images:
        if seen & image:
            return True
        seen |= image
    return False

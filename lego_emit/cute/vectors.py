"""Elements of another width over the same memory, and vectors that two layouts have in common.

Source: CUTLASS's include/cute/layout.hpp (upcast, downcast, recast_layout, max_common_vector) and
swizzle_layout.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

from ..algebra.nested import is_tuple, same, times
from ..algebra.strided import Strided, Swizzle, Swizzled, is_one
from ..errors import LayoutError, LazyText, brief, short_repr
from ..numeric import is_integer
from .given import as_count, as_layout, as_tensor
from .known import divides, does_divide, quotient
from .maps import coalesce, composition, is_zero, right_inverse


@brief
def recast(a: Any, old_bits: int, new_bits: int) -> Any:
    """The layout in elements of another width, over the same memory: CuTe's recast_layout.

    Wider elements: a mode whose stride is less than what is joined shrinks (rounded up, as in
    CuTe), other strides are divided. Narrower ones: the contiguous mode grows, other strides are
    multiplied. A swizzle moves along.

    Raises LayoutError where a stride or the offset does not divide.

        >>> from lego_emit import cute
        >>> print(cute.recast("(8,32):(32,1)", 16, 8))
        (8,64):(64,1)
    """
    for bits in (old_bits, new_bits):
        if not is_integer(bits) or bits < 1:
            raise LayoutError(
                f"recast({short_repr(a)}, {short_repr(old_bits)}, {short_repr(new_bits)}): {short_repr(bits)} is no "
                "width; give a number of bits"
            )
    common = gcd(old_bits, new_bits)
    a = as_tensor(a, "recast(..)")
    if old_bits != common:
        a = downcast(a, old_bits // common)
    return a if new_bits == common else upcast(a, new_bits // common)


@brief
def upcast(a: Any, n: int) -> Any:
    """The layout of elements that each join n. Raises LayoutError where a stride or the offset does
    not divide.

        >>> from lego_emit import cute
        >>> print(cute.upcast("(8,32):(32,1)", 4))
        (8,8):(8,1)
    """
    a = as_tensor(a, "upcast(..)")
    construct = LazyText("upcast({!s}, {})", a, n)
    n = as_count(n, construct, "the count", 1)
    if isinstance(a, Swizzled):
        a.swizzle.check_concrete(construct)
        bits = _bits(n, construct)
        m = a.swizzle.M - bits
        if m < 0 and a.swizzle.B:
            raise LayoutError(
                f"{construct}: the swizzle moves elements within the {n} that are joined; "
                f"choose a swizzle whose M is at least {bits}"
            )
        moved = Swizzle(a.swizzle.B, max(m, 0), a.swizzle.S)
        return Swizzled(moved, upcast(a.layout, n))
    a = as_layout(a, "upcast(..)")

    def leaf(size: Any, d: Any) -> tuple[Any, Any]:
        if is_zero(d):
            return size, d
        if not is_integer(d):
            if not does_divide(n, d, construct):
                raise LayoutError(_torn(construct, n, d))
            return size, quotient(d, n)
        reach = abs(d)
        if reach % n and n % reach:
            raise LayoutError(_torn(construct, n, d))
        joined = -(-n // reach)
        sign = 1 if d > 0 else -1
        if is_integer(size):
            return -(-size // joined), sign * -(-reach // n)
        if not does_divide(joined, size, construct):
            return quotient(size + joined - 1, joined), sign * -(-reach // n)
        return quotient(size, joined), sign * -(-reach // n)

    if not does_divide(n, a.offset, construct):
        raise LayoutError(
            f"{construct}: the offset {a.offset!r} is not a multiple of {n}; start at one that is"
        )
    return _leafwise(a, leaf, quotient(a.offset, n))


def _torn(construct: object, n: int, d: Any) -> str:
    return (
        f"{construct}: neither of {n} and the stride {d!r} divides the other, so that an element "
        "would be torn; choose a stride or a pitch that does"
    )


def _bits(n: int, construct: object) -> int:
    if n & (n - 1):
        raise LayoutError(f"{construct}: a swizzle needs a power of two")
    return n.bit_length() - 1


@brief
def downcast(a: Any, n: int) -> Any:
    """The layout of elements of which n were one: the mode of stride 1 grows, or without one the
    first parts alone are reached.

        >>> from lego_emit import cute
        >>> print(cute.downcast("(8,8):(8,1)", 2))
        (8,16):(16,1)
    """
    a = as_tensor(a, "downcast(..)")
    construct = LazyText("downcast({!s}, {})", a, n)
    n = as_count(n, construct, "the count", 1)
    if isinstance(a, Swizzled):
        a.swizzle.check_concrete(construct)
        moved = Swizzle(a.swizzle.B, a.swizzle.M + _bits(n, construct), a.swizzle.S)
        return Swizzled(moved, downcast(a.layout, n))
    a = as_layout(a, "downcast(..)")
    contiguous = any(same(d, 1) and not is_one(size) for size, d in a.leaves)

    def leaf(size: Any, d: Any) -> tuple[Any, Any]:
        if is_integer(d) and abs(d) == 1 and not (contiguous and is_one(size)):
            return times(size, n), d
        return size, times(d, n)

    return _leafwise(a, leaf, times(a.offset, n))


def _leafwise(a: Strided, change: Callable[[Any, Any], tuple[Any, Any]], offset: Any) -> Strided:
    def walk(shape: Any, stride: Any, side: int) -> Any:
        if is_tuple(shape):
            return tuple(walk(*each, side) for each in zip(shape, stride, strict=True))
        return change(shape, stride)[side]

    return Strided(walk(a.shape, a.stride, 0), walk(a.shape, a.stride, 1), offset)


@brief
def max_common_layout(a: Any, b: Any) -> Strided:
    """The longest C with a(C(i)) == b(C(i)) == i that goes on from the layouts' first element. Under
    a swizzle it ends where the swizzle begins to move.

        >>> from lego_emit import cute
        >>> print(cute.max_common_layout("(8,4):(1,8)", "(8,4):(1,16)"))
        8:1
    """
    (a, most), (b, other) = (_still(x, "max_common_layout(..)") for x in (a, b))
    if not (is_zero(a.offset) and is_zero(b.offset)):
        return Strided(1, 0)
    inverse = right_inverse(b)
    for count in range(len(inverse.leaves), 0, -1):
        modes = inverse.leaves[:count]
        part = Strided(tuple(n for n, _ in modes), tuple(d for _, d in modes))
        try:
            common = coalesce(composition(a, part))
        except LayoutError:
            continue  # it goes across a's sizes: fewer modes
        n, d = common.leaves[0]
        if is_one(n) or not same(d, 1):
            break
        return _begun(coalesce(part), n, [limit for limit in (most, other) if limit])
    return Strided(1, 0)


def _still(a: Any, construct: object) -> tuple[Strided, int | None]:
    """A layout without its swizzle, and how many positions from 0 on that leaves in place."""
    a = as_tensor(a, construct)
    if not isinstance(a, Swizzled):
        return as_layout(a, construct), None
    a.swizzle.check_concrete(construct)
    return a.layout, 1 << a.swizzle.M if a.swizzle.B else None


def _begun(part: Strided, n: Any, limits: list[int]) -> Strided:
    """The first n indices of a layout; with limits, powers of two, as many as each lets through."""
    if not limits:
        return composition(part, Strided(n, 1))
    limit = min(limits)
    while limit > 1:
        size = min(n, limit) if is_integer(n) else limit
        if is_integer(n) or divides(limit, n):
            try:
                return composition(part, Strided(size, 1))
            except LayoutError:
                pass  # it goes across the sizes: fewer
        limit //= 2
    return Strided(1, 0)


@brief
def max_common_vector(a: Any, b: Any) -> Any:
    """How many elements, from the first one on, lie next to each other in both layouts and belong
    together: the widest vector by which one is copied into the other.

        >>> from lego_emit import cute
        >>> cute.max_common_vector("(8,4):(1,8)", "(8,4):(1,16)")
        8
    """
    return max_common_layout(a, b).size

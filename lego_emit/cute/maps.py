"""Layouts as maps: coalesce, composition, complement, inverses, nullspace (CuTe's layout algebra).

Source: CUTLASS's documentation, "CuTe Layout Algebra". A composed layout R satisfies
R(i) == A(B(i)) for each i below B's size; a complement's positions, added to those of the layout,
are all different.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ..algebra.block import Block
from ..algebra.nested import checked, is_tuple, mapped, same, shaped, size_of, text, times
from ..algebra.strided import Strided, Swizzle, Swizzled, is_one, never_above
from ..errors import LayoutError, LazyText, brief, short_repr
from ..numeric import is_integer
from .carrying import carried, keeps, within
from .given import as_layout, as_shape, as_tensor, as_tiler, of_tensors
from .known import at_most, decided, divides, does_divide, quotient, quotient_up
from .making import of_leaves
from .reading import layout

Leaves = list[tuple[Any, Any]]


@brief
def size(a: Any) -> Any:
    """How many coordinates a layout has; of a shape, the product.

    >>> from lego_emit import cute
    >>> cute.size("(4,8):(16,1)")
    32
    """
    if isinstance(a, Block | str):
        return as_tensor(a, "size(..)").size
    return size_of(as_shape(a, LazyText("size({})", a)))


@brief
def cosize(a: Any) -> Any:
    """One more than the last position of a layout.

    >>> from lego_emit import cute
    >>> cute.cosize("(4,8):(16,1)")
    56
    """
    return as_layout(a, "cosize(..)").cosize


@brief
def rank(a: Any) -> int:
    """How many modes a layout has at the top level.

    >>> from lego_emit import cute
    >>> cute.rank("((2,4),8):((1,2),8)")
    2
    """
    return len(as_tensor(a, "rank(..)").dims)


def is_zero(d: Any) -> bool:
    """Whether a stride is the number 0."""
    return is_integer(d) and d == 0


def by_mode(
    a: Strided, parts: Sequence[Any], of: Callable[[Strided, Any], Strided], name: str
) -> Strided:
    """of(mode, part) for each mode that has a part; the other modes stay, and so does the offset."""
    if len(parts) > a.rank:
        raise LayoutError(
            f"{name}({a}, ..): {len(parts)} modes are given and the layout has {a.rank}; give at "
            "most as many"
        )
    found = [a.mode(k) for k in range(a.rank)]
    for k, part in enumerate(parts):
        try:
            found[k] = of(found[k], part)
        except LayoutError as error:
            raise LayoutError(f"{name}({a}, ..), mode {k}: {error}") from None
    offset = a.offset
    for each in found:
        offset = offset + each.offset
    return Strided(tuple(m.shape for m in found), tuple(m.stride for m in found), offset)


# -- coalesce and filter -------------------------------------------------------------------------


@brief
@of_tensors
def coalesce(a: Strided, profile: Any = None) -> Strided:
    """The same map from flat indices below its size with as few modes as can be.

    profile: a nested tuple; each of its leaves is a mode that is coalesced by itself.

        >>> from lego_emit import cute
        >>> print(cute.coalesce("(2,(1,6)):(1,(6,2))"))
        12:1
    """
    profile = _profile(profile, LazyText("coalesce({!s}, {})", a, profile))
    if is_tuple(profile):
        return by_mode(a, profile, coalesce, "coalesce")
    return of_leaves(_merged(a.leaves), a.offset)


def _profile(given: Any, construct: object) -> Any:
    return None if given is None else checked(given, construct, "profile", None)


def _merged(leaves: Sequence[tuple[Any, Any]], runs_on: bool = False) -> Leaves:
    """The leaves without those of size 1, neighbors put together. runs_on: beyond the size, too,
    for which the last one stays."""
    found: Leaves = []
    for k, (n, d) in enumerate(leaves):
        if is_one(n) and not (runs_on and k == len(leaves) - 1):
            continue
        if found and same(times(*found[-1]), d):
            found[-1] = (times(found[-1][0], n), found[-1][1])
        else:
            found.append((n, d))
    return found


@brief
@of_tensors
def filter_zeros(a: Strided, profile: Any = None) -> Strided:
    """The layout with a size of 1 wherever its stride (or the profile's leaf) is 0.

    >>> from lego_emit import cute
    >>> print(cute.filter_zeros("(4,8):(0,1)"))
    (1,8):(0,1)
    """
    construct = LazyText("filter_zeros({!s}, {})", a, profile)
    asked = a.stride if profile is None else _profile(profile, construct)

    def walk(n: Any, d: Any) -> Any:
        if is_tuple(d):
            if not is_tuple(n) or len(n) != len(d):
                raise LayoutError(
                    f"{construct}: the profile has {text(d)} where the shape has {text(n)}; nest it "
                    "as the shape, or less deep"
                )
            return tuple(walk(*part) for part in zip(n, d, strict=True))
        return mapped(n, lambda _: 1) if is_zero(d) else n

    return Strided(walk(a.shape, asked), a.stride, a.offset)


@brief
@of_tensors
def filter(a: Strided, profile: Any = None) -> Strided:
    """The layout without modes of stride 0 and of size 1, coalesced; by mode with a profile.

    >>> from lego_emit import cute
    >>> print(cute.filter("(4,8,1):(0,1,7)"))
    8:1
    """
    profile = _profile(profile, LazyText("filter({!s}, {})", a, profile))
    if is_tuple(profile):
        return by_mode(a, profile, filter, "filter")
    return coalesce(filter_zeros(a))


# -- composition ---------------------------------------------------------------------------------


@brief
def composition(a: Any, b: Any) -> Any:
    """R with R(i) == a(b(i)), of b's shape, a mode of it nested where that needs several strides.

    a: a layout, or a Swizzle, with which the result is Swizzled. b: a layout, a shape (compact),
    None (a itself), or a tuple of such, one for each mode of a: then mode by mode, further modes
    stay.

    A Swizzle or a swizzled layout as b: the result has a swizzle of a's positions. Where b's
    positions are below 0, a(-p) is -a(p), as C's division has it in CuTe.

    Raises LayoutError, naming the mode, where b's stride or size crosses a's sizes and no strides
    give the map; where no swizzle does; and where symbols do not say whether it is so.

        >>> from lego_emit import cute
        >>> print(cute.composition("(6,2):(8,2)", "(4,3):(3,1)"))
        ((2,2),3):((24,2),8)
        >>> print(cute.composition(cute.Swizzle(2, 0, 3), "(8,8):(8,1)"))
        S<2,0,3> o 0 o (8,8):(8,1)
    """
    if isinstance(b, str) and " o " in b:
        b = layout(b)
    if isinstance(a, Swizzle):
        if isinstance(b, Swizzled):
            if a == b.swizzle:
                return b.layout
            raise LayoutError(f"composition({a}, {b}): two swizzles are not one; compose one")
        return Swizzled(a, as_layout(b, LazyText("composition({!s}, ..)", a)))
    if not isinstance(b, Swizzle | Swizzled):
        return _composition(a, b)
    construct = LazyText("composition({!s}, {!s})", a, b)
    a = as_tensor(a, construct)
    if isinstance(a, Swizzled):
        return composition(a.swizzle, composition(a.layout, b))
    return _after_swizzle(as_layout(a, construct), b, construct)


def _after_swizzle(a: Strided, b: Swizzle | Swizzled, construct: object) -> Strided | Swizzled:
    """a(b(i)), for a Swizzle as b of each index of a."""
    (b if isinstance(b, Swizzle) else b.swizzle).check_concrete(construct)
    if isinstance(b, Swizzle):
        return _carried(a, b, (a, a.size), construct)
    return _carried(a, b.swizzle, (_composition(a, b.layout), b.layout.physical_size), construct)


def _carried(
    a: Strided, swizzle: Swizzle, plain: tuple[Strided, Any], construct: object
) -> Strided | Swizzled:
    """The layout of plain with the swizzle of a's positions that stands for one of its indices. The
    second of plain is the count of indices that are asked for: a swizzle is taken whole if it can
    be, else as far as they reach."""
    found, count = plain
    leaves = _merged(a.leaves, runs_on=True) or [(1, 0)]
    try:
        swizzle = carried(leaves, a.offset, swizzle, count, construct)
    except LayoutError:
        if (fewer := within(swizzle, count)) == swizzle:
            raise
        swizzle = carried(leaves, a.offset, fewer, count, construct)
    return Swizzled(swizzle, found) if swizzle.B else found


@of_tensors
def _composition(a: Strided, b: Any) -> Strided:
    b = as_tiler(b, LazyText("composition({!s}, ..)", a))
    if b is None:
        return a
    if is_tuple(b):
        return by_mode(a, b, _composition, "composition")
    construct = LazyText("composition({!s}, {!s})", a, b)
    leaves = _merged(a.leaves, runs_on=True) or [(1, 0)]
    if len(leaves) > 1 and (falling := [never_above(d, -1) and not is_one(n) for n, d in b.leaves]):
        if any(falling):
            return _falling(a, b, falling, construct)
    offset, reached = _composed_offset(leaves, a, b, construct)
    places = iter(_places(b.shape))
    shapes, strides = [], []
    for n, r in b.leaves:
        found = _composed(leaves, n, r, construct, next(places))
        for k, count, step in found:
            reached[k] = reached[k] + times(count - 1, step)
        part = of_leaves([(count, times(step, leaves[k][1])) for k, count, step in found])
        shapes.append(part.shape)
        strides.append(part.stride)
    if len(b.leaves) > 1 or not is_zero(b.offset):
        _check_carries(leaves, reached, construct)
    return Strided(shaped(b.shape, iter(shapes)), shaped(b.shape, iter(strides)), offset)


def _composed_offset(
    leaves: Leaves, a: Strided, b: Strided, construct: object
) -> tuple[Any, list[Any]]:
    """Where the composition starts, and the digit of each of a's leaves there."""
    if len(leaves) == 1 or is_zero(b.offset):
        return a.offset + b.offset * leaves[0][1], [0] * len(leaves)
    if not is_integer(b.offset) or b.offset < 0 or not all(is_integer(n) for n, _ in leaves[:-1]):
        raise LayoutError(
            f"{construct}: the second starts at {b.offset!r}, from where on the strides of the "
            "first are others; slice the first instead"
        )
    offset, left, reached = a.offset, b.offset, []
    for k, (n, d) in enumerate(leaves):
        digit = left if k == len(leaves) - 1 else left % n
        offset, left = offset + times(digit, d), left // n if is_integer(n) else 0
        reached.append(digit)
    return offset, reached


def _falling(a: Strided, b: Strided, falling: list[Any], construct: object) -> Strided:
    """a(b(i)), where the leaves of b that fall have negative strides: b counts from its other end,
    or, where it has positions below 0 alone, -a(-b(i))."""
    lowest = b.offset
    for (n, d), falls in zip(b.leaves, falling, strict=True):
        lowest = lowest + times(n - 1, d) if falls else lowest
    if at_most(0, lowest):
        strides = [-d if falls else d for (_, d), falls in zip(b.leaves, falling, strict=True)]
        upwards = _composition(a, Strided(b.shape, shaped(b.shape, iter(strides)), lowest))
        return _reversed(upwards, b, falling)
    stays = [is_zero(d) or is_one(n) for n, d in b.leaves]
    if at_most(b.offset, 0) and all(map(operator.or_, map(bool, falling), stays)):
        mirrored = Strided(b.shape, mapped(b.stride, operator.neg), -b.offset)
        found = _composition(Strided(a.shape, a.stride), mirrored)
        return Strided(found.shape, mapped(found.stride, operator.neg), a.offset - found.offset)
    raise LayoutError(
        f"{construct}: the second has negative strides in mode {_places(b.shape)[falling.index(True)]}, "
        f"and positions from {lowest!r} on, to both sides of 0; only strides from 0 on can be "
        "composed with several modes, or positions that are all on one side"
    )


def _reversed(a: Strided, b: Strided, falling: list[Any]) -> Strided:
    """a, of which the leaves that stand for leaves of b that fall are counted from the other end."""
    offset = a.offset

    def walk(size: Any, stride: Any, falls: Any) -> Any:
        nonlocal offset
        if is_tuple(stride):
            return tuple(walk(*each, falls) for each in zip(size, stride, strict=True))
        if not falls:
            return stride
        offset = offset + times(size - 1, stride)
        return -stride

    sides = iter(falling)

    def by_leaf(of: Any, size: Any, stride: Any) -> Any:
        if is_tuple(of):
            return tuple(by_leaf(*each) for each in zip(of, size, stride, strict=True))
        return walk(size, stride, next(sides))

    strides = by_leaf(b.shape, a.shape, a.stride)
    return Strided(a.shape, strides, offset)


def _check_carries(leaves: Leaves, reached: list[Any], construct: object) -> None:
    """Modes are composed one by one, which is right only while the digits that they add to a leaf
    of the first stay below its size."""
    for (n, d), most in zip(leaves[:-1], reached, strict=False):
        fits = at_most(most + 1, n)
        if not decided(fits, construct, LazyText("{!r} < {!r}", most, n)):
            raise LayoutError(
                f"{construct}: modes of the second add up to {most!r} in the mode {n!r}:{d!r} of the "
                "first, so that no strides give the map; make the second's modes count disjoint "
                "digits, as those of a compact layout"
            )


def _composed(
    leaves: Leaves, n: Any, r: Any, construct: object, place: str
) -> list[tuple[int, Any, Any]]:
    """a(r * i) for i < n as (leaf of a, size, step in it); a's last leaf runs on."""
    if is_zero(r):
        return [(0, n, 0)]
    if len(leaves) == 1:
        return [(0, n, r)]
    if at_most(1, r) is not True:
        raise LayoutError(
            f"{construct}: the second has the stride {r!r} in mode {place}; only strides from 0 on "
            "can be composed with several modes"
        )
    found: list[tuple[int, Any, Any]] = []
    for k, (s, _) in enumerate(leaves[:-1]):
        if is_one(n) and is_integer(r) and is_integer(s):
            r = -(-r // s)  # as CuTe has it; nothing moves
            continue
        skips = False if is_one(r) else divides(s, r)
        if skips:
            r = quotient(r, s)
            continue
        if at_most((n - 1) * r + 1, s):
            found.append((k, n, r))
            n = 1
            break
        if not divides(r, s):
            does_divide(r, s, construct)
            if skips is None:
                does_divide(s, r, construct)
            raise LayoutError(
                f"{construct}: in mode {place} the stride {r!r} and the size {s!r} of the first: "
                "neither divides the other; choose a stride that does, or tile the first by it"
            )
        taken = quotient(s, r)
        if not divides(taken, n):
            does_divide(taken, n, construct)
            raise LayoutError(
                f"{construct}: mode {place} takes {taken!r} of a mode of size {s!r} at a time, "
                f"which do not divide its size {n!r}; choose a size that they divide"
            )
        found.append((k, taken, r))
        n, r = quotient(n, taken), 1
    if not is_one(n) or not found:
        found.append((len(leaves) - 1, n, r))
    return found


def _places(shape: Any, place: str = "") -> list[str]:
    """The names of the leaves: 0, 1.0, 1.1."""
    if not is_tuple(shape):
        return [place or "0"]
    return [
        name
        for k, part in enumerate(shape)
        for name in _places(part, f"{place}.{k}" if place else str(k))
    ]


# -- complement and inverses ---------------------------------------------------------------------


def by_stride(a: Strided, name: str) -> list[tuple[Any, Any, int]]:
    """(stride, size, leaf) of each leaf that moves, by growing stride. Raises LayoutError where a
    stride is negative or symbols leave the order open."""
    moving = [(d, n, k) for k, (n, d) in enumerate(a.leaves) if not (is_one(n) or is_zero(d))]
    found: list[tuple[Any, Any, int]] = []
    for each in moving:
        if at_most(1, each[0]) is not True:
            raise LayoutError(f"{name}({a}): the stride {each[0]!r} is not positive")
        at = len(found)
        while at and not _before(found[at - 1], each, LazyText("{!s}({!s})", name, a)):
            at -= 1
        found.insert(at, each)
    return found


def _before(one: tuple[Any, Any, int], other: tuple[Any, Any, int], construct: object) -> bool:
    (d, n, _), (e, m, _) = one, other
    if same(d, e) and is_integer(n) and is_integer(m):
        return n <= m
    return decided(at_most(d, e), construct, LazyText("{!r} <= {!r}", d, e))


@brief
def complement(a: Any, cotarget: Any = 1) -> Strided:
    """What a leaves out of 0..cotarget-1: a layout of growing strides whose positions, added to
    a's, are all different, and reach the cotarget together with them.

    cotarget: a number, or a shape, of which the product counts.

    Raises LayoutError where a is not injective, so that there is none, and on a negative stride.

        >>> from lego_emit import cute
        >>> print(cute.complement("4:2", 24))
        (2,3):(1,8)
    """
    a = as_layout(a, "complement(..)")
    cotarget = size(cotarget)
    found: Leaves = []
    current: Any = 1
    for d, n, _ in by_stride(a, "complement"):
        question = LazyText("{!r} <= {!r}", current, d)
        if not decided(at_most(current, d), LazyText("complement({!s})", a), question):
            raise LayoutError(
                f"complement({a}, {short_repr(cotarget)}): the stride {d!r} stands below {current!r}, so "
                "positions come twice and there is no complement; filter() it, or correct the strides"
            )
        found.append((quotient(d, current), current))
        current = times(d, n)
    found.append(
        (quotient_up(cotarget, current, LazyText("complement({!s}, {!r})", a, cotarget)), current)
    )
    return coalesce(of_leaves(found))


def _check_start(a: Strided, name: str) -> None:
    if not is_zero(a.offset):
        raise LayoutError(f"{name}({a}): it starts at {a.offset!r}; an inverse needs 0")


@brief
def right_inverse(a: Any) -> Any:
    """R with a(R(k)) == k for each k below R's size; where a is injective the largest such. Of a
    swizzled layout, R is swizzled.

    Raises LayoutError where a starts elsewhere than at 0, or its swizzle leaves what R counts.

        >>> from lego_emit import cute
        >>> print(cute.right_inverse("(4,8):(8,1)"))
        (8,4):(4,1)
    """
    if isinstance(a := as_tensor(a, "right_inverse(..)"), Swizzled):
        a.swizzle.check_concrete(LazyText("right_inverse({!s})", a))
        plain = right_inverse(a.layout)
        if not keeps(a.swizzle, plain.size):
            raise LayoutError(
                f"right_inverse({a}): {a.swizzle} does not keep the {plain.size!r} positions that "
                "follow each other from 0 on among themselves; choose a layout of whole swizzles"
            )
        return _after_swizzle(plain, a.swizzle, LazyText("right_inverse({!s})", a))
    a = as_layout(a, "right_inverse(..)")
    _check_start(a, "right_inverse")
    leaves = _merged(a.leaves)
    found: Leaves = []
    current: Any = 1
    while True:
        below: Any = 1
        for n, d in leaves:
            if same(d, current):
                found.append((n, below))
                current = times(d, n)
                break
            below = times(below, n)
        else:
            return coalesce(of_leaves(found))


@brief
def left_inverse(a: Any) -> Any:
    """L with L(a(i)) == i for each i below a's size. Positions that a leaves out go to the same
    index as one that it has. Of a swizzled layout, L is swizzled.

    Modes of stride 0 repeat positions: L(a(i)) is then the index i with 0 in those modes, and
    a(L(a(i))) == a(i), as CuTe has it.

    Raises LayoutError where a is not injective but for modes of stride 0, or its strides do not
    divide one another.

        >>> from lego_emit import cute
        >>> print(cute.left_inverse("(4,8):(8,1)"))
        (8,4):(4,1)
    """
    if isinstance(a := as_tensor(a, "left_inverse(..)"), Swizzled):
        plain = left_inverse(a.layout)
        construct = LazyText("left_inverse({!s})", a)
        a.swizzle.check_concrete(construct)
        return _carried(plain, a.swizzle, (plain, a.physical_size), construct)
    a = as_layout(a, "left_inverse(..)")
    _check_start(a, "left_inverse")
    whole = of_leaves(_merged(a.leaves))
    below: list[Any] = [1]
    for n, _ in whole.leaves:
        below.append(times(below[-1], n))
    ordered = by_stride(whole, "left_inverse")
    if not ordered:
        return Strided(1, 0)
    found: Leaves = [(ordered[0][0], 0)]
    for (d, n, k), (after, _, _) in pairwise(ordered):
        if not does_divide(d, after, LazyText("left_inverse({!s})", a)):
            raise LayoutError(
                f"left_inverse({a}): the stride {d!r} does not divide {after!r}; no strides take "
                "the positions back"
            )
        if at_most(times(d, n), after) is False:
            raise LayoutError(
                f"left_inverse({a}): the stride {after!r} stands below {times(d, n)!r}, so positions "
                "come twice and nothing takes them back"
            )
        found.append((quotient(after, d), below[k]))
    found.append((ordered[-1][1], below[ordered[-1][2]]))
    return coalesce(of_leaves(found))


@brief
def nullspace(a: Any) -> Strided:
    """The layout of the flat indices that a's modes of stride 0 run through: a(nullspace(i)) is
    a(0).

        >>> from lego_emit import cute
        >>> print(cute.nullspace("(4,8):(0,1)"))
        4:1
    """
    a = as_layout(a, "nullspace(..)")
    found: Leaves = []
    below: Any = 1
    for n, d in a.leaves:
        if is_zero(d):
            found.append((n, below))
        below = times(below, n)
    return of_leaves(found)

"""The plan of a copy: boxes of digits that cover the index space once, and those of padding.

A box is a product of digits, with the positions where it begins. An axis whose extent its digits don't
divide is cut at its mixed-radix decomposition: 37 of digits of 4 and 16 are two blocks of 16, one of 4 and
a single index. What the destination pads is boxes without a source, which are written with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from math import prod
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from ..algebra import reference
from ..algebra.block import Block
from ..algebra.masked import Padded
from ..algebra.sizes import product as size_of
from ..arith.expr import Expr
from ..errors import InternalError, LayoutError
from ..packages import numpy as np
from .digits import MOST_TABLED, Axis, Digit, IndexSpace, NoDigits, Size, Sizes, alone
from .value import of_array
from .values import value_of

if TYPE_CHECKING:
    from ..ir.nodes import Node
    from ..ir.program import Function

PAD = -2  # what stands in a model of memory where a copy writes zeros
CUT = "to cut tiles from the rows of a matrix, give pack or unpack of=, its sizes"


@dataclass(frozen=True)
class Box:
    """Digits, slowest in the destination first, and the positions of their first index.

    digits: merged where two are one on both sides; a, b: the positions in the source and in the destination;
    is_padding: whether zeros are written, and nothing is read; starts: what a and b are sums of, of which several boxes
    have each, or nothing; ways: of each axis, which of its digits the box has some of, and whether they are below the
    axis's extent.
    """

    digits: tuple[Digit, ...]
    a: Size
    b: Size
    is_padding: bool = False
    starts: tuple[tuple[Size, Size], ...] = field(default=(), compare=False, repr=False)
    ways: tuple[tuple[int, bool], ...] = field(default=(), compare=False, repr=False)

    def at(self, sizes: Mapping[str, int]) -> Box:
        """The box of numbers."""

        def number(value: Size) -> int:
            return value_of(value, sizes)

        digits = tuple(Digit(number(d.n), number(d.a), number(d.b)) for d in self.digits)
        return Box(digits, number(self.a), number(self.b), self.is_padding)

    def pairs(self, sizes: Mapping[str, int]) -> tuple[Any, Any]:
        """All positions in the source and in the destination, two equally long arrays."""
        own = self.at(sizes)
        if any(d.n <= 0 for d in own.digits):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        steps = [np.arange(d.n, dtype=np.int64) for d in own.digits]
        a: Any = np.full((1,) * len(steps), own.a, np.int64)
        b: Any = np.full((1,) * len(steps), own.b, np.int64)
        for k, d in enumerate(own.digits):
            shape = [1] * len(steps)
            shape[k] = d.n
            a = a + steps[k].reshape(shape) * d.a
            b = b + steps[k].reshape(shape) * d.b
        return a.reshape(-1), b.reshape(-1)

    def __str__(self) -> str:
        if self.is_padding:
            said = " x ".join(f"{d.n} by {d.b}" for d in self.digits) or "one element"
            return f"zeros from {self.b}: {said}"
        said = " x ".join(f"{d.n} ({d.a} to {d.b})" for d in self.digits) or "one element"
        start = "" if (self.a, self.b) == (0, 0) else f" from {self.a} to {self.b}"
        return said + start


@dataclass(frozen=True, repr=False)
class Plan:
    """How a copy is done, as data.

    space: the index space of both layouts; boxes: the digits of each part; source_size, destination_size: how
    many elements the memories have; element_bytes: of each; notes: what was found, in words; zero: whether padding is
    written; function: from an index to the places in both memories; value: what is made of each element. str() of a
    plan lists notes and boxes, repr() is one line.
    """

    space: IndexSpace = field(repr=False)
    boxes: tuple[Box, ...]
    source_size: Size
    destination_size: Size
    element_bytes: int
    notes: tuple[str, ...] = ()
    function: Function | None = field(default=None, repr=False)
    zero: bool = True
    value: Node | None = field(default=None, repr=False)

    @property
    def is_affine(self) -> bool:
        """Whether positions are sums of digits; else the copy calls both index functions."""
        return self.space.axes is not None

    @property
    def is_memcpy(self) -> bool:
        """Whether the copy is one of a contiguous run."""
        digits = [d for box in self.boxes for d in box.digits]
        plain = all((d.a, d.b) == (1, 1) for d in digits)
        return self.is_affine and len(self.boxes) == 1 and len(digits) < 2 and plain

    @property
    def pads(self) -> bool:
        """Whether zeros are written."""
        if not self.is_affine:
            return self.zero and isinstance(self.space.destination, Padded)
        return any(box.is_padding for box in self.boxes)

    def run(self, values: Any, sizes: Mapping[str, int] | None = None) -> Any:
        """The destination's memory after the copy of a flat array, what it doesn't write being 0.

        Raises LayoutError where the array has another length than the source.
        """
        sizes, given = sizes or {}, np.asarray(values)
        if given.shape != (value_of(self.source_size, sizes),):
            raise LayoutError(
                f"the source has {value_of(self.source_size, sizes)} elements, and the array's shape is "
                f"{given.shape}"
            )
        if self.value is not None:
            given = of_array(self.value, given.view(f"u{given.itemsize}")).view(given.dtype)
        found = np.zeros(value_of(self.destination_size, sizes), given.dtype)
        if not self.is_affine:
            places = model(self, sizes)
            found[places >= 0] = given[places[places >= 0]]
        for box in self.boxes:
            if not box.is_padding:
                a, b = box.pairs(sizes)
                found[b] = given[a]
        return found

    def __repr__(self) -> str:
        boxes = f"{len(self.boxes)} box{'es' * (len(self.boxes) != 1)}"
        return shorten(f"<Plan of {'; '.join([boxes, *self.notes])}", 100) + ">"

    def __str__(self) -> str:
        lines = [str(box) for box in self.boxes]
        return "\n".join([*(f"- {note}" for note in self.notes), *(f"  {line}" for line in lines)])


def plan_of(space: IndexSpace, element_bytes: int, zero: bool = True) -> Plan:
    """The plan of a copy between two layouts. zero: whether padding is written.

    Raises LayoutError where two indices have one place in the destination.
    """
    arithmetic = Sizes(space.known)
    ends = _memory(space.source, arithmetic), _memory(space.destination, arithmetic)
    _check_injective(space, arithmetic)
    if space.axes is None:
        if zero:
            _check_padding(space.destination, ends[1], arithmetic)
        notes = (f"a loop over both index functions: {space.why}",)
        return _in_own_symbols(Plan(space, (), *ends, element_bytes, notes, zero=zero))
    try:
        boxes, padding = _boxes(space, arithmetic)
    except NoDigits as error:
        bare = replace(space, axes=None, why=str(error))
        return plan_of(bare, element_bytes, zero)
    plan = Plan(space, tuple([*boxes, *(padding if zero else [])]), *ends, element_bytes)
    said: list[str] = []
    if plan.is_memcpy:
        said.append("both memories hold the elements in one order: this is memcpy")
        tiles = [getattr(one, "tiles", ()) for one in (space.source, space.destination)]
        if len(space.names) > 2 > max(map(len, tiles)):  # else they are cut from one
            said.append(CUT)
    if len(boxes) > 1:
        said.append(f"{len(boxes)} boxes, as the digits do not divide each axis")
    if padding:
        count = f"{len(padding)} boxes" if len(padding) > 1 else "a box"
        said.append(f"{count} of padding{'' if zero else ', left out'}")
    return _in_own_symbols(replace(plan, notes=tuple(said)))


def _in_own_symbols(plan: Plan) -> Plan:
    """The plan without the symbols that stand for whole quotients of sizes."""
    known = plan.space.known

    def own(value: Size) -> Size:
        return value if isinstance(value, int) else known.unsubstitute(Expr.of(value))

    boxes = tuple(
        Box(
            tuple(Digit(*map(own, (d.n, d.a, d.b))) for d in box.digits),
            own(box.a),
            own(box.b),
            box.is_padding,
            tuple((own(a), own(b)) for a, b in box.starts),
            box.ways,
        )
        for box in plan.boxes
    )
    ends = own(plan.source_size), own(plan.destination_size)
    return replace(plan, boxes=boxes, source_size=ends[0], destination_size=ends[1])


class _Tagged:
    """Numbers for the tags of a block (lego_emit.algebra.block.Change)."""

    def __init__(self, tags: Mapping[str, int]):
        self._tags = tags

    def size(self, n: Any) -> Any:
        """The number where it is a tag."""
        return self._tags.get(str(n), n)

    def function(self, f: Any) -> Any:
        """The function as it is."""
        return f


def _tagged(layout: Any) -> list[Any]:
    """The layout, or each one that its tags choose."""
    keys: dict[str, Any] = {}
    for tag, own in layout.tags:
        keys[str(tag)] = [key for key in keys.get(str(tag), own) if key in own]
    numbers = (dict(zip(keys, own, strict=True)) for own in product(*keys.values()))
    return [layout.with_sizes(_Tagged(own)) for own in numbers] if keys else [layout]


def _memory(layout: Any, arithmetic: Sizes) -> Size:
    """The size of a memory: of layouts that a tag chooses from, the largest. Raises LayoutError where it is not known
    which one that is."""
    dims = [one.physical_dims for one in _tagged(layout)]
    found = [arithmetic.of(size_of([arithmetic.of(n) for n in own])) for own in dims]
    for size in found:
        if len(found) == 1 or all(arithmetic.at_most(other, size) for other in found):
            return size
    raise LayoutError(
        f"copy: {layout!r} has memories of {' and of '.join(dict.fromkeys(map(str, found)))} elements, and it is not known "
        "which is the largest; say so by assume=, or fix the tag by sizes= for a copy of each"
    )


def _check_padding(destination: Any, size: Size, arithmetic: Sizes) -> None:
    """Raise LayoutError where padding is not all that no index has in a memory whose positions are no digits."""
    padded = [one for one in _tagged(destination) if isinstance(one, Padded)]
    own = [arithmetic.of(size_of([arithmetic.of(n) for n in one.layout.dims])) for one in padded]
    if padded and not (
        isinstance(destination, Padded) and all(arithmetic.same(n, size) for n in own)
    ):
        raise LayoutError(
            f"copy: {destination!r} has places that are no padding, and positions are no sums of digits, which would tell "
            "these apart; give zero=False"
        )


# -- boxes -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Segment:
    """Indices of an axis that are a product of digits: `count` of the digit `level`, each with all faster
    digits, from an index on that has the digits of `base` from the one `first` on, and zeros below."""

    axis: Axis
    level: int
    base: Size
    first: int
    count: Size


def _boxes(space: IndexSpace, arithmetic: Sizes) -> tuple[list[Box], list[Box]]:
    """The boxes of the index space, and those of the destination's padding."""
    axes = space.axes or ()
    held = [list(_until(axis, axis.n, arithmetic)) for axis in axes]
    boxes = [_box(parts, space, arithmetic) for parts in product(*held)]
    padding: list[Box] = []
    if isinstance(space.destination, Padded):
        whole = [list(_until(axis, axis.rounded, arithmetic)) for axis in axes]
        for k, axis in enumerate(axes):
            beyond = list(_beyond(axis, arithmetic))
            for parts in product(*held[:k], beyond, *whole[k + 1 :]):
                padding.append(_box(parts, space, arithmetic, is_padding=True))
    boxes, padding = ([b for b in some if not _is_empty(b)] for some in (boxes, padding))
    return boxes, padding


def _is_empty(box: Box) -> bool:
    return any(d.n == 0 for d in box.digits)


def _digits(value: Size, axis: Axis, first: int, last: int, arithmetic: Sizes) -> Size:
    """Neighboring digits of a number as one."""
    if last + 1 < len(axis.borders):
        value = arithmetic.mod(value, axis.borders[last + 1])
    return arithmetic.floor(value, axis.borders[first])


def _place(part: Segment, strides: Sequence[Size], arithmetic: Sizes) -> Size:
    """Where a segment begins in a memory: digits whose strides go on are one."""
    found: Size = 0
    borders, first = part.axis.borders, part.first
    for level in range(part.first, len(borders)):
        if level + 1 < len(borders):
            ratio = arithmetic.floor(borders[level + 1], borders[level])
            if arithmetic.same(strides[level + 1], arithmetic.times(ratio, strides[level])):
                continue
        value = _digits(part.base, part.axis, first, level, arithmetic)
        found = arithmetic.plus(found, arithmetic.times(value, strides[first]))
        first = level + 1
    return found


def _until(axis: Axis, end: Size, arithmetic: Sizes) -> Iterator[Segment]:
    """The indices below an end, the largest segments first."""
    top = len(axis.borders) - 1
    for level in range(top, -1, -1):
        count = _digits(end, axis, level, level, arithmetic)
        if count != 0:
            yield Segment(axis, level, end, level + 1, count)


def _beyond(axis: Axis, arithmetic: Sizes) -> Iterator[Segment]:
    """The indices from the extent up to where the destination's room ends. Raises NoDigits where that is
    no whole number of the slowest digit."""
    if arithmetic.same(axis.n, axis.rounded):
        return
    before = arithmetic.plus(axis.n, -1)  # no remainder of a negative number

    def up_to(border: Size) -> Size:
        """The extent, rounded up."""
        below = arithmetic.mod(before, border)
        return arithmetic.plus(
            axis.n, arithmetic.plus(arithmetic.plus(border, -1), arithmetic.times(-1, below))
        )

    for level, (lo, hi) in enumerate(pairwise(axis.borders)):
        held = arithmetic.plus(_digits(before, axis, level, level, arithmetic), 1)
        count = arithmetic.plus(arithmetic.floor(hi, lo), arithmetic.times(-1, held))
        if count != 0:
            yield Segment(axis, level, up_to(lo), level, count)
    last = axis.borders[-1]
    base = up_to(last)
    rest = arithmetic.plus(axis.rounded, arithmetic.times(-1, base))
    rounded = arithmetic.quotient(axis.rounded, last)
    if rounded is None:
        raise NoDigits(f"the padded extent {axis.rounded} is no multiple of {last}")
    count = arithmetic.floor(rest, last)
    if not arithmetic.divides_no_negative(count):
        held = arithmetic.plus(arithmetic.floor(before, last), 1)
        count = arithmetic.plus(rounded, arithmetic.times(-1, held))
    if count != 0:
        top = len(axis.borders) - 1
        yield Segment(axis, top, base, top, count)


def _box(
    parts: Sequence[Segment], space: IndexSpace, arithmetic: Sizes, is_padding: bool = False
) -> Box:
    """The box of one segment of each axis."""
    a, b = space.offsets
    digits: list[Digit] = []
    starts: list[tuple[Size, Size]] = [(a, b)]
    for part in parts:
        axis = part.axis
        whole = arithmetic.whole(axis)
        digits += whole[: part.level]
        last = whole[part.level]
        digits.append(replace(last, n=part.count))
        of, to = (_place(part, strides, arithmetic) for strides in (axis.a, axis.b))
        a, b = arithmetic.plus(a, of), arithmetic.plus(b, to)
        starts.append((of, to))
    if is_padding:
        a, digits = 0, [replace(d, a=0) for d in digits]
        starts = [(0, to) for _, to in starts]
    own = tuple(merged(digits, arithmetic, is_padding))
    ways = tuple((part.level, part.first > part.level) for part in parts)
    return Box(own, a, b, is_padding, tuple(one for one in starts if one != (0, 0)), ways)


def merged(digits: Sequence[Digit], arithmetic: Sizes, is_padding: bool = False) -> list[Digit]:
    """The digits with neighbors on both sides put together, the slowest in the destination first."""
    left = [d for d in digits if d.n != 1]
    done = False
    while not done:
        done = True
        for x, y in product(left, left):
            if x is y or not arithmetic.same(y.b, arithmetic.times(x.n, x.b)):
                continue
            if is_padding or arithmetic.same(y.a, arithmetic.times(x.n, x.a)):
                left = [d for d in left if d is not x and d is not y]
                left.append(Digit(arithmetic.times(x.n, y.n), x.a, x.b))
                done = False
                break
    return by_stride(left, arithmetic)


def by_stride(digits: Sequence[Digit], arithmetic: Sizes) -> list[Digit]:
    """By falling stride of the destination, as far as that is known; those of equal stride stay."""
    found: list[Digit] = []
    for d in digits:
        at = 0
        while at < len(found) and not _slower(d, found[at], arithmetic):
            at += 1
        found.insert(at, d)
    return found


def _slower(one: Digit, other: Digit, arithmetic: Sizes) -> bool:
    """Whether the stride of one digit in the destination is known to be larger than that of another one, or at least
    all that the other one reaches."""
    if isinstance(one.b, int) and isinstance(other.b, int):
        return abs(one.b) > abs(other.b)
    return not arithmetic.at_most(one.b, other.b) and (
        arithmetic.at_most(other.b, one.b)
        or arithmetic.quotient(one.b, other.b) is not None
        or arithmetic.at_most(arithmetic.times(other.n, other.b), one.b)
    )


def _check_injective(space: IndexSpace, arithmetic: Sizes) -> None:
    """Raise LayoutError where two indices are known to share a place in the destination, or may, by its own digits;
    where it has none, model() finds them at numbers."""
    if space.destination.has_inverse:
        return
    own = alone(space)
    if own.axes is None:
        _check_apart(space.destination)
        return
    for box in _boxes(own, arithmetic)[0]:
        if any(d.b == 0 for d in box.digits):
            raise LayoutError(_several(space.destination))
        if all(isinstance(v, int) for d in box.digits for v in (d.n, d.b)):
            reach = 0
            for d in sorted(box.digits, key=lambda d: abs(d.b)):
                if abs(d.b) <= reach and _repeats(box):
                    raise LayoutError(_several(space.destination))
                reach += (d.n - 1) * abs(d.b)
            continue
        far = [replace(d, b=_without_sign(d.b, arithmetic)) for d in box.digits]
        reach: Size = 0  # of the faster digits
        for fast, slow in pairwise(by_stride(far, arithmetic)[::-1]):
            end = arithmetic.times(fast.n, fast.b)
            reach = arithmetic.plus(reach, arithmetic.times(arithmetic.plus(fast.n, -1), fast.b))
            if arithmetic.at_most(end, slow.b):
                continue
            if not arithmetic.at_most(arithmetic.plus(reach, 1), slow.b):
                raise LayoutError(_may_share(space, end, slow.b))


def _without_sign(stride: Size, arithmetic: Sizes) -> Size:
    """How far apart the indices of a digit lie, whichever way they go."""
    return arithmetic.times(-1, stride) if arithmetic.at_most(stride, 0) else stride


def _several(layout: Block) -> str:
    return (
        f"copy: {layout!r} puts several indices in one place; a destination holds each index apart"
    )


def _may_share(space: IndexSpace, end: Size, stride: Size) -> str:
    n, far = (space.known.unsubstitute(Expr.of(v)) for v in (end, stride))
    why = f"it is not known that {far!r} >= {n!r}; give assume=['{far!r} >= {n!r}'] where it is so"
    if isinstance(end, int) and isinstance(stride, int):
        why = f"one of its strides is {stride}, and what is faster reaches over {end} places"
    return f"copy: {space.destination!r} may put several indices in one place, as {why}"


def _check_apart(layout: Block) -> None:
    """Raise LayoutError where a layout of numbers, which is not too large, has two indices in one place."""
    if layout.is_concrete and layout.size <= MOST_TABLED:
        places = reference.table(layout).reshape(-1)
        places = places[places >= 0]
        if len(np.unique(places)) < len(places):
            raise LayoutError(_several(layout))


def _repeats(box: Box) -> bool:
    """Whether two digits' sums are the same number."""
    if prod(d.n for d in box.digits) > 2**22:
        return True
    _, b = box.pairs({})
    return len(np.unique(b)) < len(b)


# -- checks ----------------------------------------------------------------------------------------


def model(plan: Plan, sizes: Mapping[str, int]) -> Any:
    """What the definition puts into each place of the destination: the source's position, PAD for
    padding, and -1 where it writes nothing; by the layouts' reference evaluator alone."""
    from .values import layout_at

    source, destination = (
        layout_at(L, plan.space, sizes) for L in (plan.space.source, plan.space.destination)
    )
    size = destination.physical_size
    if plan.space.destination.tags:  # the largest memory of several
        size = max(size, value_of(plan.destination_size, sizes))
    found = np.full(size, -1, np.int64)
    if isinstance(destination, Padded):
        padded = reference.table(destination.layout).reshape(-1)
        found[padded] = PAD
    index = [g.reshape(-1) for g in np.indices(source.dims)]
    a, b = (np.asarray(L.reference_apply(tuple(index))) for L in (source, destination))
    a, b = (np.broadcast_to(p, index[0].shape) for p in (a, b))
    for layout, places in ((source, a), (destination, b)):
        if not layout.masks and places.size and places.min() < 0:
            raise LayoutError(
                f"copy: {layout!r} has positions below 0, which lie before its memory; give it an offset of "
                f"{-int(places.min())}"
            )
    kept = (a >= 0) & (b >= 0)
    found[b[kept]] = a[kept]
    if np.count_nonzero(found >= 0) < np.count_nonzero(kept):
        raise LayoutError(_several(destination))
    return found


def check_plan(plan: Plan, sizes: Mapping[str, int]) -> None:
    """Compare the boxes with both layouts at all indices of these sizes, each covered once.

    Raises InternalError where they differ.
    """
    wanted = model(plan, sizes)
    found, count = np.full(len(wanted), -1, np.int64), 0
    for box in plan.boxes:
        a, b = box.pairs(sizes)
        if len(b) and (b.min() < 0 or b.max() >= len(wanted)):
            raise _fault(plan, f"a box writes outside of the destination at {dict(sizes)}")
        found[b] = PAD if box.is_padding else a
        count += len(b)
    if not plan.pads:
        wanted = np.where(wanted == PAD, -1, wanted)
    wrong = np.flatnonzero(found != wanted)
    if len(wrong):
        at = int(wrong[0])
        raise _fault(
            plan, f"place {at} has {int(found[at])}, and not {int(wanted[at])}, at {dict(sizes)}"
        )
    if count != np.count_nonzero(wanted != -1):
        raise _fault(plan, f"its boxes cover an index twice at {dict(sizes)}")


def _fault(plan: Plan, why: str) -> InternalError:
    space = plan.space
    return InternalError(
        f"the copy from {space.source!r} to {space.destination!r}: {why}; nothing was emitted. "
        "This is a fault of lego_emit: please report it, with both layouts"
    )

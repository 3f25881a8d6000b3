"""How an array is moved from one memory layout to another by a library's own operations, as data.

Where both positions are sums of digits the digits are the axes of one transposition, or of assignments from
one strided view to another. Elsewhere, and of many digits, each place is looked up: in one table, in blocks
that share one, or in chunks whose places are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations, islice, pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from ..algebra import reference
from ..algebra.block import Block
from ..algebra.digits import unravel
from ..algebra.strided import Swizzled
from ..errors import LayoutError, LegoError, short_repr
from ..numeric import is_array
from ..packages import numpy as np
from . import halves
from .arithmetic import arithmetic

if TYPE_CHECKING:
    from ..copies.digits import Digit
    from ..copies.plan import Box

MOST_AXES = 6  # of a transposition
MOST_BOXES = 64
MOST_TABLED = 2**22  # places in one table: 32 MB
BLOCK = 2**16  # places in a block that shares one
CHUNK = 2**18  # places that are computed and moved at a time
PIECE = 2**16  # of these, so that what is computed on the way stays in caches
FEW = 2**12  # indices of a layout that is evaluated as it stands
MOST_PAIRS = 2**6  # of axes that are asked whether positions may be sums of digits
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Transposition:
    """The sizes of the source's digits, slowest first, and the order of them in the destination."""

    split: tuple[int, ...]
    order: tuple[int, ...]

    def __str__(self) -> str:
        names = [LETTERS[k] if len(self.split) <= 26 else f"a{k}" for k in range(len(self.split))]
        to = " ".join(names[k] for k in self.order)
        sizes = " x ".join(map(str, self.split))
        return f"transposition ({' '.join(names)} -> {to}) of {sizes}"


@dataclass(frozen=True, eq=False)
class Blocks:
    """starts: where each block of the destination begins in the source; table: each place of a block from
    there on."""

    starts: Any
    table: Any

    def __str__(self) -> str:
        return f"{len(self.starts)} blocks of {len(self.table)}, table"


@dataclass(frozen=True, eq=False)
class Movement:
    """From the memory of a layout to that of another one over the same indices.

    boxes: the digits of each part, None where positions are no sums of digits.
    """

    source: Block
    destination: Block
    source_size: int
    size: int
    boxes: tuple[Box, ...] | None
    on_devices: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def transposition(self) -> Transposition | None:
        """The one transposition that does it: both memories hold each element once, and nothing else."""
        if self.boxes is None or len(self.boxes) != 1 or self.boxes[0].a or self.boxes[0].b:
            return None
        given = sorted(self.boxes[0].digits, key=lambda d: -d.a)
        wanted = sorted(self.boxes[0].digits, key=lambda d: -d.b)
        if not _is_compact([(d.n, d.a) for d in given], self.source_size):
            return None
        if not _is_compact([(d.n, d.b) for d in wanted], self.size):
            return None
        return Transposition(tuple(d.n for d in given), tuple(given.index(d) for d in wanted))

    @property
    def is_transposed(self) -> bool:
        """Whether one transposition of few axes does it."""
        return self.transposition is not None and len(self.transposition.split) <= MOST_AXES

    @cached_property
    def is_strided(self) -> bool:
        """Whether assignments between strided views of few axes do it."""
        boxes = self.boxes
        return (
            boxes is not None
            and len(boxes) <= MOST_BOXES
            and all(len(b.digits) <= MOST_AXES for b in boxes)
        )

    @property
    def is_falling(self) -> bool:
        """Whether a stride is negative."""
        return any(d.a < 0 or d.b < 0 for box in self.boxes or () for d in box.digits)

    def strides(self, shape: Sequence[int]) -> tuple[int, ...] | None:
        """The source's stride of each axis of the destination, row-major of this shape; None where an axis
        has several, or a place none."""
        if self.boxes is None or len(self.boxes) != 1 or self.masks:
            return None
        left = [(d.n, d.a) for d in sorted(self.boxes[0].digits, key=lambda d: -d.b)]
        if prod(n for n, _ in left) != self.size:
            return None
        found = []
        for n in shape:
            parts: list[tuple[int, int]] = []
            while n > 1:
                size, step = left.pop(0)
                if size > n and size % n == 0:  # the faster part belongs to the next axes
                    left.insert(0, (size // n, step))
                    size, step = n, step * (size // n)
                if n % size:
                    return None
                parts.append((size, step))
                n //= size
            if any(slow != size * fast for (_, slow), (size, fast) in pairwise(parts)):
                return None
            found.append(parts[-1][1] if parts else 0)
        return tuple(found)

    @property
    def is_tabled(self) -> bool:
        """Whether one table has all places."""
        return self.size <= MOST_TABLED

    @cached_property
    def table(self) -> Any:
        """The source's place of each place of the destination, an int64 array; -1 where there is none."""
        if self.transposition is not None and self.boxes:
            return _sums(sorted(self.boxes[0].digits, key=lambda d: -d.b))
        return self.places(0, self.size)

    @cached_property
    def holes(self) -> Any:
        """Where the table has no place, an array of truths; None where it has all."""
        if self.destination.has_inverse and not (self.masks or self.destination.masks_inverse):
            return None
        found = self.table < 0
        return found if found.any() else None

    @cached_property
    def blocks(self) -> Blocks | None:
        """Blocks that one table serves, where digits show them or all places do."""
        if self.transposition is not None and self.boxes:
            digits = sorted(self.boxes[0].digits, key=lambda d: d.b)
            inner: list[Digit] = []
            while digits and prod(d.n for d in inner) * digits[0].n <= BLOCK:
                inner.append(digits.pop(0))
            return Blocks(_sums(digits[::-1]), _sums(inner[::-1])) if inner else None
        if self.size > reference.TABLE_MOST:
            return None
        whole = self.places(0, self.size)
        block = BLOCK
        while block >= 2**8:
            if self.size % block == 0 and (found := _in_blocks(whole, block)):
                return found
            block //= 2
        return None

    def chunks(self) -> Iterator[tuple[int, int, Any]]:
        """(first, last, the source's places of these) of the destination, part by part."""
        if self.destination.has_inverse and not self.destination.masks:
            for first in range(0, self.size, CHUNK):
                last = min(first + CHUNK, self.size)
                yield first, last, self.places(first, last)
        else:
            yield 0, self.size, self.table

    def places(self, first: int, last: int) -> Any:
        """The source's place of each of the destination's places first..last - 1; -1 where there is none."""
        if not self.destination.has_inverse:
            return self._scattered()[first:last]
        if (first, last) == (0, self.size) and not (self.masks or self.destination.masks_inverse):
            whole = halves.places(self.source, self.destination, self.size)
            if whole is not None:
                found, *ends = whole
                check_within(self.source, ends, self.source_size)
                return found
        found = np.empty(last - first, np.int64)
        for start in range(first, last, PIECE):
            stop = min(start + PIECE, last)
            index = evaluated(self.destination, [np.arange(start, stop)], inverse=True)
            part = found[start - first : stop - first]
            if self.destination.masks_inverse:
                held = np.logical_and.reduce([i >= 0 for i in index])
                index = [np.where(held, i, 0) for i in index]
                part[:] = np.where(held, evaluated(self.source, index)[0], -1)
            else:
                part[:] = evaluated(self.source, index)[0]
                if not self.source.masks:
                    check_within(self.source, part, self.source_size)
        return found

    def _scattered(self) -> Any:
        """The same of all places, from where each index goes."""
        found = np.full(self.size, -1, np.int64)
        count = 0
        for start in range(0, self.source.size, PIECE):
            flat = np.arange(start, min(start + PIECE, self.source.size))
            index = unravel(self.source.dims, flat)
            a, b = (evaluated(L, index)[0] for L in (self.source, self.destination))
            held = (a >= 0) & (b >= 0) if self.masks else slice(None)
            check_within(self.source, a[held], self.source_size)
            check_within(self.destination, b[held], self.size)
            found[b[held]] = a[held]
            count += len(b[held])
        if count != np.count_nonzero(found >= 0):
            raise LayoutError(
                f"{self.destination!r} puts several indices in one place, and a memory holds one element in each; "
                "unpack takes such a layout"
            )
        return found

    @property
    def masks(self) -> bool:
        """Whether an index may have no place."""
        return self.source.masks or self.destination.masks


def check_within(layout: Block, places: Any, size: int) -> None:
    """Raise LayoutError where one of a layout's places lies outside of its memory."""
    found = np.asarray(places)
    if found.size and (int(found.min()) < 0 or int(found.max()) >= size):
        raise LayoutError(
            f"{layout!r}: its positions go from {found.min()} to {found.max()}, and its memory has {size} places; an "
            "offset lifts them, a layout of more dims has room"
        )


def _is_compact(digits: Sequence[tuple[int, int]], size: int) -> bool:
    """Whether digits, the slowest first, number 0..size - 1."""
    running = 1
    for n, stride in reversed(digits):
        if stride != running:
            return False
        running *= n
    return running == size


def _sums(digits: Sequence[Digit]) -> Any:
    """The source's places of all values of digits, the slowest first."""
    if not digits:
        return np.zeros(1, np.int64)
    if len(digits) == 1:
        return np.arange(digits[0].n, dtype=np.int64) * digits[0].a
    slow, fast = _sums(digits[: len(digits) // 2]), _sums(digits[len(digits) // 2 :])
    return (slow[:, None] + fast).reshape(-1)


def _in_blocks(places: Any, block: int) -> Blocks | None:
    rows = places.reshape(-1, block)
    if (rows < 0).any():
        return None
    table = rows[0] - rows[0].min()
    starts = rows[:, 0] - table[0]
    return Blocks(starts, table) if np.array_equal(rows, starts[:, None] + table) else None


def evaluated(layout: Block, index: Sequence[Any], inverse: bool = False) -> list[Any]:
    """A layout's results at arrays of integers, each of their shape. They are computed in 32 bits where these hold all
    numbers on the way."""
    made = arithmetic(layout, inverse) if layout.size > FEW else None  # to lower takes a while
    if made is not None:
        narrow = np.int32 if -(2**31) <= made.least and made.most < 2**31 else np.int64
        found = made([np.asarray(i, narrow) for i in index])
    else:
        given = layout.inv(index[0]) if inverse else layout.apply(*index)
        found = [*given] if isinstance(given, tuple) else [given]
    shape = np.broadcast_shapes(*(np.shape(i) for i in index))
    return [f if is_array(f) and f.shape == shape else np.broadcast_to(f, shape) for f in found]


class Pair:
    """Two layouts as one key, whose hash is computed once."""

    def __init__(self, source: Block, destination: Block):
        self.both = source, destination
        self._hash = hash(self.both)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pair) and self.both == other.both

    def __hash__(self) -> int:
        return self._hash


@lru_cache(maxsize=16)
def movement(pair: Pair) -> Movement:
    """The movement from one layout's memory to another's. Raises LayoutError where a layout has no numbers
    for its sizes, gives several results, or where several indices share a place of the destination."""
    source, destination = pair.both
    for layout in pair.both:
        if layout.results is not None and len(layout.results) > 1:
            raise LayoutError(
                f"{short_repr(layout)} gives {', '.join(layout.results)}, and a memory has one position; "
                "movement.convert moves registers to registers"
            )
    ends = source.physical_size, destination.physical_size
    boxes = _boxes(source, destination) if all(map(_may_have_digits, pair.both)) else None
    for box in boxes or ():  # a view goes wherever its strides take it
        for layout, size, start, strides in (
            (source, ends[0], box.a, [d.a for d in box.digits]),
            (destination, ends[1], box.b, [d.b for d in box.digits]),
        ):
            far = [(d.n - 1) * by for d, by in zip(box.digits, strides, strict=True)]
            first = start + sum(f for f in far if f < 0)
            check_within(layout, (first, start + sum(f for f in far if f > 0)), size)
    return Movement(source, destination, *ends, boxes)


def _boxes(source: Block, destination: Block) -> tuple[Box, ...] | None:
    """The digits of both positions, part by part; None where positions are no sums of digits."""
    from ..copies.digits import index_space
    from ..copies.plan import plan_of

    try:
        plan = plan_of(index_space(source, destination), 1, zero=False)
        return tuple(box.at({}) for box in plan.boxes) if plan.is_affine else None
    except LegoError:
        return None


def _may_have_digits(layout: Block) -> bool:
    """Whether positions may be sums of the indices' digits: False where two indices are together at a place that is not
    the sum of theirs, those of two axes, as in a curve, or bits of one axis, as in a swizzle of powers of two. To ask so
    is quick; digits are read off a trace."""
    if layout.masks or layout.tags:
        return True
    axes = range(len(layout.dims))

    def place(given: Mapping[int, int]) -> int:
        return layout.apply(*(given.get(k, 0) for k in axes))

    def pairs() -> Iterator[tuple[dict[int, int], dict[int, int], dict[int, int]]]:
        for k, m in islice(combinations(axes, 2), MOST_PAIRS):
            last, end = layout.dims[k] - 1, layout.dims[m] - 1
            for i, j in (
                (last, end),
                ((last + 1) // 2, (end + 1) // 2),
                (min(last, 1), min(end, 1)),
            ):
                yield {k: i}, {m: j}, {k: i, m: j}
        if isinstance(layout, Swizzled) and all(n & n - 1 == 0 for n in layout.sizes()):
            for k in axes:
                bits = (1 << b for b in range((layout.dims[k] - 1).bit_length()))
                yield from (({k: i}, {k: j}, {k: i + j}) for i, j in combinations(bits, 2))

    try:
        start = place({})
        return all(place(x) + place(y) == place(both) + start for x, y, both in pairs())
    except LegoError:
        return True

"""Tables that are strided: sizes and strides of each axis, or of the flat index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from ..algebra.block import Block
from ..algebra.compose import Composed
from ..algebra.layout import GroupBy, Layout
from ..algebra.masked import Padded
from ..algebra.perms import RegP
from ..algebra.strided import Strided, Swizzle, Swizzled
from ..packages import numpy as np

Leaves = list[tuple[int, int]]  # (size, stride), the fastest first


class Wrong(NamedTuple):
    """The first entry of a table that contradicts those before it, and what they ask for. place: in a
    sequence a number, in a table an index."""

    place: Any
    wanted: int


def leaves(line: np.ndarray) -> Leaves | Wrong:
    """The sizes and strides of a sequence, as few as can be: each size ends where its step does. The
    last size may run beyond the sequence's end: then the product is larger than its length."""
    start, unit = int(line[0]), 1
    line = line - start
    found: Leaves = []
    while len(line) > 1:
        count, step = np.arange(len(line)), int(line[1])
        off = np.flatnonzero(line != step * count)
        n = int(off[0]) if len(off) else len(line)
        wanted = line[count // n * n] + step * (count % n)
        wrong = np.flatnonzero(line != wanted)
        if len(wrong):
            return Wrong(int(wrong[0]) * unit, start + int(wanted[wrong[0]]))
        found.append((n, step))
        line, unit = line[::n], unit * n
    return found


@dataclass(frozen=True)
class Axes:
    """A sum of one strided sequence for each axis, and the first entry."""

    dims: tuple[int, ...]
    modes: tuple[Leaves, ...]
    offset: int

    @property
    def padded(self) -> tuple[int, ...]:
        """The dims, each rounded up to the product of its sizes."""
        return tuple(prod(n for n, _ in mode) for mode in self.modes)

    @property
    def count(self) -> int:
        """How many sizes there are."""
        return sum(map(len, self.modes))

    @property
    def is_exact(self) -> bool:
        """Whether no axis ends within a size."""
        return self.padded == self.dims

    @property
    def is_compact(self) -> bool:
        """Whether the positions are 0..size - 1, by strides that are not negative."""
        running = 1
        for n, d in sorted((leaf for mode in self.modes for leaf in mode), key=lambda x: x[1]):
            if d != running:
                return False
            running *= n
        return self.is_exact and self.offset == 0

    def strided(self) -> Strided:
        """The layout, of the padded dims."""
        shape = tuple(_single([n for n, _ in mode], 1) for mode in self.modes)
        stride = tuple(_single([d for _, d in mode], 0) for mode in self.modes)
        if len(shape) == 1 and isinstance(shape[0], int):
            shape, stride = shape[0], stride[0]
        return Strided(shape, stride, self.offset)


def _single(numbers: list[int], empty: int) -> Any:
    return tuple(numbers) if len(numbers) > 1 else numbers[0] if numbers else empty


def axes(table: np.ndarray) -> Axes | Wrong:
    """The table as a sum of strided sequences, one for each axis."""
    modes = []
    for k, line in enumerate(lines(table)):
        found = leaves(line)
        if isinstance(found, Wrong):
            place = tuple(found.place if axis == k else 0 for axis in range(table.ndim))
            return Wrong(place, found.wanted)
        modes.append(found)
    total = summed(table)
    wrong = np.flatnonzero(table != total)
    if len(wrong):
        place = tuple(map(int, np.unravel_index(wrong[0], table.shape)))
        return Wrong(place, int(total[place]))
    return Axes(table.shape, tuple(modes), int(table.flat[0]))


def summed(table: np.ndarray) -> np.ndarray:
    """The table that has the same entries along each axis and is a sum of functions of one index."""
    start = table.flat[0]
    shift: Any = sum(line - start for line in np.ix_(*lines(table)))
    return start + shift


def lines(table: np.ndarray) -> list[np.ndarray]:
    """The entries along each axis, the other indices 0."""
    return [
        table[tuple(slice(None) if axis == k else 0 for axis in range(table.ndim))]
        for k in range(table.ndim)
    ]


def is_permutation(table: np.ndarray) -> bool:
    """Whether the entries are 0..size - 1, each once."""
    if int(table.min()) or int(table.max()) != table.size - 1:
        return False
    return bool((np.bincount(table.reshape(-1)) == 1).all())


def of_flat(flat: Axes, swizzle: Swizzle | None = None) -> Block | None:
    """The block whose dims are the digits of a flat index, the slowest first: a RegP where their
    positions are compact, and none where they are in order."""
    digits = flat.modes[0][::-1]
    if not flat.is_compact or swizzle is not None:
        made = Strided(tuple(n for n, _ in digits), tuple(d for _, d in digits), flat.offset)
        return _swizzled(made, swizzle)
    if len(digits) < 2:
        return None
    places = sorted(range(len(digits)), key=lambda k: -digits[k][1])
    return RegP([n for n, _ in digits], places)


def viewed(dims: Sequence[int], *orders: Block | None) -> Layout:
    """GroupBy(dims) and the reorderings that there are, one after the other."""
    found = GroupBy(list(dims))
    for order in orders:
        if isinstance(order, Layout) and not order.tiled:
            for _, each in order._steps:
                found = found.OrderBy(each)
        elif order is not None:
            found = found.OrderBy(order)
    return found


def plain(table: np.ndarray, swizzle: Swizzle | None = None) -> tuple[str, Block, int] | None:
    """(kind, layout, how many sizes) of a table that is strided along its axes, or over the flat
    index. swizzle: what the strided positions are swizzled by then."""
    flat = axes(table.reshape(-1))
    along = axes(table) if table.ndim > 1 else flat
    if isinstance(flat, Axes) and flat.is_compact and swizzle is None:
        return "mixed radix", viewed(table.shape, of_flat(flat)), flat.count
    kind = "strided" if swizzle is None else "swizzled"
    if isinstance(along, Axes) and along.is_exact:
        return kind, _swizzled(along.strided(), swizzle), along.count
    if isinstance(flat, Axes) and flat.is_exact:
        return kind, viewed(table.shape, of_flat(flat, swizzle)), flat.count
    if isinstance(along, Axes):
        made = cropped(_swizzled(along.strided(), swizzle), along.dims)
        return "padded" if swizzle is None else kind, made, along.count
    return None


def _swizzled(layout: Strided, swizzle: Swizzle | None) -> Block:
    return layout if swizzle is None else Swizzled(swizzle, layout)


def cropped(layout: Block, dims: Sequence[int]) -> Block:
    """The first indices of a larger layout, of as many axes."""
    if tuple(layout.dims) == tuple(dims):
        return layout
    if layout.results is None:
        return Padded(dims, layout)
    pitch = [prod(layout.dims[k + 1 :]) for k in range(len(dims))]
    inner = Strided(tuple(dims), tuple(pitch)) if len(dims) > 1 else Strided(dims[0], 1)
    return Composed(layout, inner)

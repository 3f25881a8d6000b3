"""Layouts of a shape and strides, nested: Strided, and Swizzled over it (CuTe's layout algebra).

The order of the coordinates within a mode is colexicographic, as CuTe's: the left one is fastest.
Source: CUTLASS's documentation, "CuTe Layouts" and "CuTe Layout Algebra".

    >>> from lego_emit.cute import Strided, Swizzle, Swizzled
    >>> Swizzled(Swizzle(2, 0, 3), Strided((4, 8), (8, 1))).apply(3, 0)
    27
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import LONGEST, IndexRangeError, LayoutError, LazyText, short_repr
from ..numeric import is_array, is_integer, is_symbolic, is_sympy
from .block import Block, Change, Indexable, Numbers
from .coordinates import plus, sliced
from .later import later, symbols
from .nested import (
    check_congruent,
    checked,
    digits,
    flat,
    is_tuple,
    mapped,
    modes,
    number,
    same,
    size_of,
    text,
    times,
)
from .sizes import comparable


@dataclass(frozen=True, repr=False, eq=False, init=False)
class Strided(Indexable):
    """A layout of nested sizes, each with a stride: offset + the sum of coordinate * stride.

    shape: a size or a nested tuple of sizes, at least 1. strides: nested alike; a stride may be 0 or
    negative. offset: what is added. Each may be a symbol, of a size or a stride at least 1.

    apply takes one index for each mode of the top level; within a mode the left coordinate is the
    fastest. There is an inv where the layout is a bijection onto 0..size-1 as it is written: the
    strides, but for their signs, in some order the running products of the sizes, and the offset
    what lifts the negative ones to 0.

    Raises LayoutError where shape and strides are not nested alike, or a leaf is no number.

        >>> from lego_emit import Strided
        >>> pitch = Strided((4, 6), (8, 1))
        >>> pitch.apply(1, 2), pitch.has_inverse
        (10, False)
    """

    shape: Any
    stride: Any
    offset: Any

    def __init__(self, shape: Any, strides: Any, offset: Any = 0):
        construct = LazyText("Strided({}, {})", shape, strides)
        object.__setattr__(self, "shape", checked(shape, construct, "shape", 1))
        object.__setattr__(self, "stride", checked(strides, construct, "stride", None))
        object.__setattr__(self, "offset", checked(offset, construct, "offset", None))
        if is_tuple(self.offset):
            raise LayoutError(f"{construct}: the offset is {short_repr(offset)}; give one number")
        check_congruent(self.shape, self.stride, construct)

    @classmethod
    def of(cls, array: Any) -> Strided:
        """The shape and strides, in elements, of an array of NumPy's kind (shape, strides in bytes,
        itemsize) or of PyTorch's (shape, stride()). Where a view starts is not looked at.

        Raises LayoutError on what is neither, and on strides that are no whole elements.
        """
        return cls(*strides_of(array))

    @cached_property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The sizes of the modes of the top level."""
        return tuple(map(size_of, modes(self.shape)))

    @cached_property
    def leaves(self) -> tuple[tuple[Any, Any], ...]:
        """(size, stride) of each leaf, from left to right."""
        return tuple(zip(flat(self.shape), flat(self.stride), strict=True))

    @property
    def rank(self) -> int:
        """How many modes the top level has."""
        return len(modes(self.shape))

    @property
    def cosize(self) -> Any:
        """One more than the last position: A(size - 1) + 1 where no stride is negative.

        Negative strides count with their absolute value, as in CuTe.
        """
        found: Any = 1
        for n, d in self.leaves:
            found = found + times(n - 1, -d if never_above(d, 0) else d)
        return number(found)

    @property
    def _span(self) -> tuple[Any, Any]:
        """The first and the last position; a stride whose sign is not known counts as positive."""
        reach = [(times(n - 1, d), bool(never_above(d, 0))) for n, d in self.leaves]
        low, high = self.offset, self.offset
        for far, falls in reach:
            low, high = (low + far, high) if falls else (low, high + far)
        return number(low), number(high)

    def mode(self, k: int) -> Strided:
        """Mode k of the top level, with no offset. Raises LayoutError where there is none."""
        if not is_integer(k) or not -self.rank <= k < self.rank:
            raise LayoutError(f"{self!r}: no mode {short_repr(k)}; it has {self.rank} modes")
        return Strided(modes(self.shape)[k], modes(self.stride)[k])

    @cached_property
    def order(self) -> tuple[int, ...] | None:
        """The leaves by growing stride where they number 0..size-1, upwards or, those in falling,
        downwards; None where they do not."""
        left = {k: nd for k, nd in enumerate(self.leaves) if not is_one(nd[0])}
        order: list[int] = []
        running: Any = 1
        lifted: Any = 0
        while left:
            found = next(
                (k for k, (_, d) in left.items() if same(d, running) or same(d, -running)), None
            )
            if found is None:
                return None
            n, d = left.pop(found)
            if not same(d, running):
                lifted = lifted - times(n - 1, d)
            running = times(running, n)
            order.append(found)
        return tuple(order) if same(self.offset, lifted) else None

    @cached_property
    def falling(self) -> frozenset[int]:
        """The leaves of a negative stride, in a layout that has an inverse."""
        return frozenset(k for k, (_, d) in enumerate(self.leaves) if never_above(d, -1))

    @property
    def has_inverse(self) -> bool:
        """Whether it is a bijection onto 0..size-1, as its sizes and strides are written."""
        return self.order is not None

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """Its own dims, or how far its positions reach where it is no bijection."""
        return self.dims if self.has_inverse else (number(self._span[1] + 1),)

    @property
    def is_bounded(self) -> bool:
        """Whether it is known that no position is negative."""
        names = {str(s) for n in self.sizes() for s in _symbols(n)}
        if not {str(s) for s in _symbols(self.offset)} <= names:
            return False
        signs = all(never_above(d, 0) or never_above(0, d) for d in flat(self.stride))
        return self.has_inverse or bool(signs and never_above(0, self._span[0]))

    def right_inverse(self) -> Strided:
        """CuTe's right_inverse: R with self(R(p)) = p for every p below R's size, by colexicographic
        indices."""
        return later().right_inverse(self)

    def left_inverse(self) -> Strided:
        """CuTe's left_inverse: L with L(self(i)) = i, by colexicographic indices. Raises LayoutError
        where two indices share a position."""
        return later().left_inverse(self)

    def __mul__(self, tiler: Any) -> Strided:
        """CuTe's logical_product: copies of this layout, arranged by another."""
        return later().logical_product(self, tiler)

    @cached_property
    def is_concrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether all sizes, strides and the offset are integers."""
        return all(map(is_integer, self._numbers()))

    def _numbers(self) -> tuple[Any, ...]:
        return (*flat(self.shape), *flat(self.stride), self.offset)

    def sizes(self) -> tuple[Any, ...]:
        """The leaves of the shape, and the symbols of the strides: those of the offset are no sizes,
        and may be negative."""
        others = (s for d in flat(self.stride) for s in _symbols(d))
        return (*flat(self.shape), *others)

    def offsets(self) -> tuple[Any, ...]:
        """The offset, which may be negative and is no size."""
        return (self.offset,)

    def with_sizes(self, new: Change) -> Strided:
        """The same layout with other sizes, strides and offset."""

        def changed(n: Any) -> Any:
            return n if is_integer(n) else new.size(n)

        return Strided(
            mapped(self.shape, new.size), mapped(self.stride, changed), changed(self.offset)
        )

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The offset and each coordinate times its stride."""
        total = self.offset
        for i, shape, stride in zip(index, modes(self.shape), modes(self.stride), strict=True):
            sizes = [numbers.size(n) for n in flat(shape)]
            for digit, d in zip(digits(sizes, i), flat(stride), strict=True):
                total = plus(total, digit, d)
        return total

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The index: the position's digits by growing stride, put together mode by mode."""
        order = self.order
        assert order is not None
        sizes = [numbers.size(n) for n, _ in self.leaves]
        found: list[Any] = [0] * len(sizes)
        if order:
            parts = digits([sizes[k] for k in order], flat)
            for k, digit in zip(order, parts, strict=True):
                found[k] = sizes[k] - 1 - digit if k in self.falling else digit
        index, start = [], 0
        for shape in modes(self.shape):
            stop = start + _count(shape)
            index.append(_colex(sizes[start:stop], found[start:stop]))
            start = stop
        return index

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The definition: the coordinate of each leaf, times its stride, summed."""
        total = self.offset
        for i, shape, stride in zip(index, modes(self.shape), modes(self.stride), strict=True):
            below = 1
            for n, d in zip(flat(shape), flat(stride), strict=True):
                total = total + i // below % n * d
                below *= n
        return total

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The definition of a compact layout: a leaf's coordinate is what its stride counts."""
        coordinates = [flat // abs(d) % n if n > 1 else flat * 0 for n, d in self.leaves]
        for place, (n, d) in enumerate(self.leaves):
            if d < 0 and n > 1:
                coordinates[place] = n - 1 - coordinates[place]
        index, k = [], 0
        for shape in modes(self.shape):
            total, below = flat * 0, 1
            for n, _ in self.leaves[k : k + _count(shape)]:
                total = total + coordinates[k] * below
                below, k = below * n, k + 1
            index.append(total)
        return tuple(index)

    def __call__(self, *coordinate: Any) -> Any:
        """The position of a coordinate, as CuTe takes it.

        A(k): the colexicographic index over all modes; beyond the size the last mode runs on.
        A(c0, c1): one coordinate for each mode, each an index within it or a tuple for its modes.
        A number may be an integer, an integer array or a symbol; None keeps a mode: the result is
        then the layout of the modes that are kept, its offset the position of the others.

        Raises IndexRangeError on a coordinate that is not nested as the shape, or negative.
        """
        given = coordinate[0] if len(coordinate) == 1 else coordinate
        position, kept = sliced(self, given)
        return position if kept is None else Strided(*kept, position)

    def _value(self) -> tuple[Any, ...]:
        return (text(mapped(self.shape, lambda _: 0)), comparable(self._numbers()))

    def __str__(self) -> str:
        at = "" if is_integer(self.offset) and self.offset == 0 else f" + {self.offset!r}"
        stride = text(self.stride)
        if not is_tuple(self.stride):
            stride = stride.replace(" + ", "+")  # what follows " + " is the offset
        return f"{text(self.shape)}:{stride}{at}"

    def __repr__(self) -> str:
        at = "" if is_integer(self.offset) and self.offset == 0 else f", {self.offset!r}"
        return f"Strided({self.shape!r}, {self.stride!r}{at})"


@dataclass(frozen=True, eq=False)
class Swizzle:
    """A permutation of positions: the B bits from M on are exclusive-ored with those S higher
    (S lower where S is negative), as CuTe's Swizzle<B, M, S>.

    B, M, S: each an integer, or a symbol that is a number at run time only. With a symbol among them S
    is at least B, and the conditions 0 <= B <= S and 0 <= M stand in the header of what is emitted; B
    and M of which nothing says how large they are are below 16 there, and S below 32. What needs the
    bits themselves, as `mask` does, raises LayoutError on symbols.

    >>> Swizzle(2, 0, 3)(24)
    27

    Raises LayoutError unless B and M are not negative and the bits do not overlap: abs(S) >= B.
    """

    B: Any
    M: Any
    S: Any
    __name__ = "swizzle"  # of the function that generate() makes of it

    def __post_init__(self) -> None:
        given = f"Swizzle({short_repr(self.B)}, {short_repr(self.M)}, {short_repr(self.S)})"
        for name in ("B", "M", "S"):
            value = number(getattr(self, name))
            object.__setattr__(self, name, value)
            if is_symbolic(value) and not is_integer(value):
                continue
            if not is_integer(value) or (name != "S" and value < 0):
                raise LayoutError(
                    f"{given}: {name} is {short_repr(value)}; give an integer"
                    f"{'' if name == 'S' else ' from 0 on'} or a symbol"
                )
        if sum(abs(n) for n in (self.B, self.M, self.S) if is_integer(n)) > LONGEST:
            raise LayoutError(f"{given}: it looks at bits beyond {LONGEST}, where no position lies")
        if not self.is_concrete and is_integer(self.S) and self.S < 0:
            raise LayoutError(
                f"{given}: S is {self.S}, and beside a symbol it is at least 0; give numbers for the "
                "symbols, or S from 0 on"
            )
        if is_integer(self.S) and is_integer(self.B) and abs(self.S) < self.B:
            raise LayoutError(
                f"{self!r}: the {self.B} bits overlap those {abs(self.S)} away; give |S| >= B"
            )

    @cached_property
    def is_concrete(self) -> bool:
        """Whether B, M and S are integers."""
        return not self.offsets()

    def sizes(self) -> tuple[Any, ...]:
        """Nothing: it has no sizes."""
        return ()

    def offsets(self) -> tuple[Any, ...]:
        """Those of B, M and S that are symbols; each may be 0."""
        return tuple(n for n in (self.B, self.M, self.S) if not is_integer(n))

    def with_sizes(self, new: Change) -> Swizzle:
        """The same swizzle with other numbers for its symbols."""
        return Swizzle(*(n if is_integer(n) else new.size(n) for n in (self.B, self.M, self.S)))

    def check_concrete(self, construct: object) -> None:
        """Raise LayoutError, which says what needs numbers, where B, M or S is a symbol."""
        if not self.is_concrete:
            symbol = short_repr(self.offsets()[0])
            raise LayoutError(
                f"{construct}: {self!r} has the symbol {symbol}, and this takes numbers alone; give a "
                f"number for {symbol}, or call the swizzle with a position, which takes symbols"
            )

    @property
    def mask(self) -> int:
        """The bits that are read. Raises LayoutError where they are symbols."""
        self.check_concrete(LazyText("{}.mask", self))
        return ((1 << self.B) - 1) << (self.M + max(self.S, 0))

    @property
    def top(self) -> int | None:
        """The number of bits up to the last one that it changes; None where B or M is a symbol."""
        if not (is_integer(self.B) and is_integer(self.M)):
            return None
        return self.M + self.B + (max(-self.S, 0) if is_integer(self.S) else 0)

    @property
    def span(self) -> int:
        """2 to the number of bits that are looked at: positions beyond keep their multiple of it.
        Raises LayoutError where they are symbols."""
        self.check_concrete(LazyText("{}.span", self))
        return 1 << (self.M + self.B + abs(self.S))

    def __call__(self, position: Any) -> Any:
        """Where a position goes.

        position: an integer, an integer array or a symbol; no array where B, M or S is a symbol. The
        swizzle undoes itself.

        Raises IndexRangeError on what is no position.
        """
        if not (is_integer(position) or is_symbolic(position)):
            if not is_array(position) or position.dtype.kind not in "iu" or not self.is_concrete:
                way = "an integer, an integer array or a symbol"
                if not self.is_concrete:
                    way = "an integer or a symbol, or numbers for the symbols"
                raise IndexRangeError(
                    f"{self!r}: {short_repr(position)} is not a position; give {way}"
                )
        if not self.is_concrete:
            return symbols().swizzled(self, position)
        if not self.B:
            return position
        if is_sympy(position):
            return symbols().at_sympy(self, position)
        read = position & self.mask
        return position ^ (read >> self.S if self.S >= 0 else read << -self.S)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Swizzle) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    def _value(self) -> tuple[Any, ...]:
        return comparable((self.B, self.M, self.S))

    def __str__(self) -> str:
        return f"S<{self.B},{self.M},{self.S}>"

    def __repr__(self) -> str:
        return f"Swizzle({self.B}, {self.M}, {self.S})"


@dataclass(frozen=True, repr=False, eq=False)
class Swizzled(Indexable):
    """A strided layout whose positions are swizzled: coordinate -> swizzle(layout(coordinate)).

    CuTe's ComposedLayout of a Swizzle, an offset and a layout; the offset is the layout's own.
    There is an inv where the layout has one and the swizzle stays within 0..size-1.

        >>> from lego_emit import cute
        >>> cute.Swizzled(cute.Swizzle(2, 0, 3), cute.layout("(8,8):(8,1)")).apply(1, 2)
        11
    """

    swizzle: Swizzle
    layout: Strided

    def __post_init__(self) -> None:
        if not isinstance(self.swizzle, Swizzle) or not isinstance(self.layout, Strided):
            raise LayoutError(
                f"Swizzled({short_repr(self.swizzle)}, {short_repr(self.layout)}): give a Swizzle and a Strided"
            )

    @property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The sizes of the index, which are those of the swizzled layout."""
        return self.layout.dims

    @property
    def shape(self) -> Any:
        """The nested shape of the swizzled layout."""
        return self.layout.shape

    @property
    def has_inverse(self) -> bool:
        """Whether the layout has one, and the size is a multiple of what the swizzle permutes or
        so small that nothing is. Of a swizzle whose B or M is a symbol that is not known."""
        top = self.swizzle.top
        if not self.layout.has_inverse or top is None:
            return False
        size = self.layout.size
        if is_integer(size) and self.swizzle.is_concrete:
            if size <= self.swizzle.mask & -self.swizzle.mask:
                return True
        return not self.swizzle.B or same(number(size % (1 << top)), 0)

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """Its own dims, or how far its positions reach where it is no bijection: to the end of the
        bits that the swizzle changes. Raises LayoutError where these are symbols."""
        if self.has_inverse:
            return self.dims
        self.swizzle.check_concrete(LazyText("the physical_dims of {!r}", self))
        end = 1 << (self.swizzle.top or 0)
        return (number((self.layout.physical_size + end - 1) // end * end),)

    @property
    def is_bounded(self) -> bool:
        """Whether the positions of the swizzled layout lie in 0..physical_size - 1; of a swizzle with
        symbols that is known where there is an inverse."""
        return self.layout.is_bounded and (self.swizzle.is_concrete or self.has_inverse)

    @cached_property
    def is_concrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the layout and the swizzle are."""
        return self.layout.is_concrete and self.swizzle.is_concrete

    def sizes(self) -> tuple[Any, ...]:
        """All sizes of the swizzled layout."""
        return self.layout.sizes()

    def offsets(self) -> tuple[Any, ...]:
        """All offsets of the swizzled layout, and the symbols of the swizzle."""
        return self.layout.offsets() + self.swizzle.offsets()

    def with_sizes(self, new: Change) -> Swizzled:
        """The same layout with other sizes, and other numbers in the swizzle."""
        return Swizzled(self.swizzle.with_sizes(new), self.layout.with_sizes(new))

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The layout's position, swizzled."""
        return self.swizzle(self.layout.forward(numbers, index))

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The layout's index of the position, swizzled back."""
        return self.layout.backward(numbers, self.swizzle(flat))

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The definition, bit by bit."""
        return self._reference_bits(self.layout.reference_apply(index))

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The layout's index of the position with its bits swizzled; a swizzle is its own inverse."""
        return self.layout.reference_inv(self._reference_bits(flat))

    def _reference_bits(self, position: Any) -> Any:
        if not self.swizzle.is_concrete:
            return self.swizzle(position)
        low = self.swizzle.M + max(-self.swizzle.S, 0)
        found = position
        for bit in range(low, low + self.swizzle.B):
            found = found ^ ((position >> (bit + self.swizzle.S) & 1) << bit)
        return found

    def inv(self, flat: Any) -> tuple[Any, ...]:
        """The index of a position, as Block.inv gives it. Raises LayoutError where B or M of the swizzle is a
        symbol, so that nothing says that the positions stay within the size: call it to swizzle a position back."""
        if not self.has_inverse:
            self.swizzle.check_concrete(LazyText("the inv of {!r}", self))
        return super().inv(flat)

    def inverse(self) -> Block:
        """The layout from positions to indices. Raises LayoutError where B or M of the swizzle is a
        symbol."""
        if not self.has_inverse:
            self.swizzle.check_concrete(LazyText("the inverse of {!r}", self))
        return super().inverse()

    def __call__(self, *coordinate: Any) -> Any:
        """The position of a coordinate, as Strided's; a coordinate with None keeps its modes."""
        found = self.layout(*coordinate)
        return Swizzled(self.swizzle, found) if isinstance(found, Strided) else self.swizzle(found)

    def _value(self) -> tuple[Any, ...]:
        return self.swizzle, self.layout

    def __str__(self) -> str:
        plain = Strided(self.layout.shape, self.layout.stride)
        return f"{self.swizzle} o {self.layout.offset!r} o {plain}"

    def __repr__(self) -> str:
        return f"Swizzled({self.swizzle!r}, {self.layout!r})"


def never_above(a: Any, b: Any) -> bool | None:
    """Whether a <= b, each symbol a size; None where that is not known."""
    if is_integer(a) and is_integer(b):
        return a <= b
    return later().at_most(a, b)


def is_one(n: Any) -> bool:
    """Whether a size is the number 1."""
    return is_integer(n) and n == 1


def strides_of(array: Any) -> tuple[Any, Any]:
    """The shape of an array and its strides in elements; 1:0 of one without axes."""
    construct = f"Strided.of(a {type(array).__name__})"
    shape = getattr(array, "shape", None)
    if callable(stride := getattr(array, "stride", None)):
        strides = stride()
    else:
        strides = getattr(array, "strides", None)
        size = getattr(array, "itemsize", None)
        if isinstance(strides, tuple) and is_integer(size) and size:
            if wrong := [d for d in strides if d % size]:
                raise LayoutError(
                    f"{construct}: the stride of {wrong[0]} bytes is not a multiple of an element's "
                    f"{size}, as in a field of a record; copy the array first"
                )
            strides = tuple(d // size for d in strides)
    if not isinstance(shape, tuple | list) or not isinstance(strides, tuple | list):
        raise LayoutError(
            f"{construct}: it has no shape and strides; give an array, or write Strided(shape, "
            "strides)"
        )
    if not shape:
        return 1, 0
    return tuple(map(int, shape)), tuple(map(int, strides))


def _symbols(value: Any) -> list[Any]:
    """The symbols of a stride, each as a size."""
    if hasattr(value, "free_symbols"):
        return sorted(value.free_symbols, key=str)
    if not hasattr(value, "deep_atoms"):
        return []
    found = [a for a in value.deep_atoms() if a.kind == "sym"]
    return [type(value).atom(a) for a in sorted(found, key=lambda a: a.args[0])]


def _count(shape: Any) -> int:
    return len(flat(shape))


def _colex(sizes: Sequence[Any], coordinates: Sequence[Any]) -> Any:
    total: Any = 0
    for n, c in zip(reversed(sizes), reversed(coordinates), strict=True):
        total = total * n + c
    return total

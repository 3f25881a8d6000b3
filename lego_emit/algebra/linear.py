"""Layouts that are linear over F2: bits of named inputs to bits of named outputs.

After Zhou et al., Linear Layouts (ASPLOS 2026), section 4: Definitions 4.1 to 4.5, with Triton's names
of the operations.

A layout of powers of two often only moves and joins bits: y = A x ^ b, where x holds the bits of the
inputs, y those of the outputs, A is a matrix over F2 (addition is exclusive or), and b the image of
zero. A 4 x 4 tile in row-major order whose columns are swizzled by the row sends bit k of `column` to
bit k of the place, and bit k of `row` to bits k + 2 and k:

    >>> from lego_emit import Linear
    >>> tile = Linear({"row": [4 + 1, 8 + 2], "column": [1, 2]}, out={"place": 16})
    >>> tile(row=3, column=2)
    (13,)

By hand: row 3 is bits 0 and 1, 5 ^ 10 = 15; column 2 is 2; 15 ^ 2 = 13, which is 4*3 + (2 ^ 3).

The matrix is held as its columns, one int each, because a column is the image of one input bit: to
apply, to compose and to join layouts are exclusive ors of ints (f2.py), and a bit's image reads as the
thing that people draw. Inputs and outputs have names, so that layouts of one tile over registers, lanes
and warps compose by name. Ranges are powers of two by construction, so that no position is out of range.

Every question is a question of linear algebra with an exact answer: `is_injective`, `is_surjective` and
`rank` by elimination, `kernel` and `broadcast` for the inputs that make no difference, `invert` for a
bijection, `pseudoinvert` for the right inverse of the fewest ones. An operation that has no answer
raises LayoutError (InverseError from `inverse`), with the reason: `invert` where two inputs go to one
output, `divide_left` where the divisor is no factor, `Linear.of` where a function is not affine, with
three inputs that show it. linear_map.py has the matrix and its evaluation, linear_of.py makes one of a
function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InverseError, LayoutError, LazyText, did_you_mean, short_repr
from ..numeric import is_integer
from . import f2
from .labels import (
    Dims,
    bits_of,
    check_names,
    checked_image,
    listed,
    names_of,
    packed,
    put_above,
    sizes_of,
    starts,
    width_of,
)
from .later import later
from .linear_map import LinearMap
from .linear_of import linear_of


@dataclass(frozen=True, repr=False, eq=False, init=False)
class Linear(LinearMap):
    """A map y = A x ^ b of bits, its inputs and outputs named.

    bases: for each input the images of its bits, the least significant first; an image is a tuple of
    one number for each output, or a number where there is one output. An input of n bits runs over
    0..2**n - 1. out: the outputs' sizes by name, powers of two; or their names, each then as large
    as its images need. offset: b, the image of zero, by output (section 8); 0 where it is left out.

    Raises LayoutError on a size that is no power of two, or an image out of range.

        >>> from lego_emit import Linear
        >>> swizzled = Linear({"row": [9, 18], "column": [1, 2, 4]}, out={"offset": 32})
        >>> swizzled(row=1, column=1)
        (8,)
    """

    def __init__(
        self,
        bases: Mapping[str, Sequence[Any]],
        out: Mapping[str, int] | Iterable[str],
        offset: Mapping[str, int] | None = None,
    ):
        construct = LazyText("Linear({}, out={})", bases, out)
        if not isinstance(bases, Mapping) or not bases:
            raise LayoutError(f"{construct}: bases must be a dict of lists, one for each input")
        names = names_of(construct, out)
        check_names(construct, [*bases], "input")
        check_names(construct, names, "output")
        images = {
            name: [
                checked_image(construct, name, k, image, names)
                for k, image in enumerate(listed(given))
            ]
            for name, given in bases.items()
        }
        if not isinstance(offset, Mapping | None):
            raise LayoutError(
                f"{construct}: offset is {short_repr(offset)}; give numbers by output"
            )
        shift = dict(offset or {})
        if unknown := [n for n in shift if n not in names]:
            raise LayoutError(
                f"{construct}: offset names {unknown[0]!r}, which is not an output.{did_you_mean(str(unknown[0]), names)}"
            )
        first = checked_image(construct, "offset", 0, tuple(shift.get(n, 0) for n in names), names)
        if isinstance(out, Mapping):
            sizes = [bits_of(construct, n, size) for n, size in out.items()]
        else:
            every = [first, *(image for given in images.values() for image in given)]
            sizes = [max(image[k].bit_length() for image in every) for k in range(len(names))]
        outs = tuple(zip(names, sizes, strict=True))
        for name, given in (*images.items(), ("offset", [first])):
            for k, image in enumerate(given):
                for value, (n, bits) in zip(image, outs, strict=True):
                    if value >> bits:
                        place = "the offset" if name == "offset" else f"bit {k} of {name}"
                        raise LayoutError(
                            f"{construct}: {place} goes to {value} in {n}, outside "
                            f"0..{(1 << bits) - 1}; enlarge {n}"
                        )
        ins = tuple((name, len(given)) for name, given in images.items())
        columns = [packed(image, outs) for given in images.values() for image in given]
        self._fill(ins, outs, columns, packed(first, outs))

    # -- constructors --------------------------------------------------------------------------

    @classmethod
    def identity1D(cls, size: int, name: str, out: str) -> Linear:
        """0..size - 1 to itself."""
        return cls.strided1D(size, 1, name, out)

    @classmethod
    def strided1D(cls, size: int, stride: int, name: str, out: str) -> Linear:
        """x to stride x, for x below size; both are powers of two."""
        construct = LazyText("Linear.strided1D({}, {}, ..)", size, stride)
        check_names(construct, [name], "input")
        check_names(construct, [out], "output")
        bits, by = bits_of(construct, "size", size), bits_of(construct, "stride", stride)
        columns = [1 << by + k for k in range(bits)]
        return cls._made([(name, bits)], [(out, bits + by)], columns)

    @classmethod
    def zeros1D(cls, size: int, name: str, out: str, out_size: int = 1) -> Linear:
        """Every x below size to 0: a broadcast."""
        construct = LazyText("Linear.zeros1D({}, ..)", size)
        check_names(construct, [name], "input")
        check_names(construct, [out], "output")
        bits, high = bits_of(construct, "size", size), bits_of(construct, "out_size", out_size)
        return cls._made([(name, bits)], [(out, high)], [0] * bits)

    @classmethod
    def from_matrix(
        cls, rows: Sequence[Sequence[int]], ins: Mapping[str, int], out: Mapping[str, int]
    ) -> Linear:
        """The layout of a matrix of 0 and 1: a row for each output bit, a column for each input bit,
        first names and least significant bits first. ins, out: sizes by name."""
        construct = "Linear.from_matrix(..)"
        sources = sizes_of(construct, ins, "input")
        targets = sizes_of(construct, out, "output")
        wide, high = width_of(sources), width_of(targets)
        matrix = [listed(row) for row in listed(rows)]
        if len(matrix) != high or any(len(row) != wide for row in matrix):
            raise LayoutError(
                f"{construct}: the sizes ask for {high} rows of {wide}, given "
                f"{len(matrix)} of {sorted({len(row) for row in matrix})}"
            )
        if wrong := [v for row in matrix for v in row if not is_integer(v) or v not in (0, 1)]:
            raise LayoutError(f"{construct}: the entry {short_repr(wrong[0])} is neither 0 nor 1")
        columns = [sum(int(row[c]) << r for r, row in enumerate(matrix)) for c in range(wide)]
        return cls._made(sources, targets, columns)

    @classmethod
    def of(cls, function: Any, ins: Mapping[str, int] | None = None, out: Any = None) -> Linear:
        """The layout of a Python function or of another layout that is linear or affine over F2.

        ins: the inputs' sizes by name; left out for a layout, whose inputs are then its indices. out:
        the outputs' sizes by name, or their names. Tried at every index up to 2**16 of them, else
        at 2**16 of them.

        Raises LayoutError, with the three inputs x, y and x ^ y that show it, where it is not linear.
        """
        return linear_of(cls, function, ins, out)

    def contiguity(self, name: str | None = None, order: Sequence[str] | None = None) -> int:
        """How many consecutive numbers of an input go to consecutive elements (section 5.1).

        name: the input, the first one unless given. order: the outputs, the fastest first; the last
        one is the fastest unless given.
        """
        name = self.coordinates[0] if name is None else name
        flat = self.transpose_outs(self.results[::-1] if order is None else order)
        first = starts(self.ins)[self._place(name, self.ins, "input")]
        bits = 0
        while bits < dict(self.ins)[name] and flat.columns[first + bits] == 1 << bits:
            bits += 1
        others = [c for k, c in enumerate(flat.columns) if not first <= k < first + bits]
        while bits and any(c & (1 << bits) - 1 for c in (*others, flat.start)):
            bits -= 1
            others.append(flat.columns[first + bits])
        return 1 << bits

    # -- operations ----------------------------------------------------------------------------

    def __matmul__(self, inner: Any) -> Any:
        """self @ inner: of a linear layout whose outputs have the names of these inputs the linear
        layout inner.compose(self), of any other layout the composition."""
        if isinstance(inner, Linear) and inner.out_dims == self.in_dims:
            return inner.compose(self)
        return later().composed(self, inner)

    def right_inverse(self) -> Linear:
        """pseudoinvert(): R with self(R(y)) = y. Raises InverseError where an output has no input."""
        if not self.is_surjective():
            raise InverseError(f"{self!r} has no right inverse: {self._why()}")
        return self.pseudoinvert()

    def __mul__(self, other: Linear) -> Linear:
        """Definition 4.3: this one on the low bits of the names that both have, the other above."""
        if not isinstance(other, Linear):
            return super().__mul__(other)
        ins, outs = put_above(self.ins, other.ins), put_above(self.outs, other.outs)
        low, high = dict(self.outs), dict(other.outs)
        columns: list[int] = []
        for name, _ in ins:
            columns += [packed(self._by_name(c, low), outs) for c in self._columns_of(name)]
            columns += [packed(other._by_name(c, high, low), outs) for c in other._columns_of(name)]
        start = packed(self._by_name(self.start, low), outs)
        start ^= packed(other._by_name(other.start, high, low), outs)
        return self._made(ins, outs, columns, start)

    def compose(self, other: Linear) -> Linear:
        """Definition 4.2: other(self(..)), this one first. The inputs of other are named as the
        outputs of this one, and no smaller."""
        place = LazyText("compose of {!r} with {}", self, other)
        _check_linear(place, other)
        order = self._matched(place, [*self.results], [*other.coordinates], "inputs")
        wide = dict(other.ins)
        for name, bits in self.outs:
            if bits > wide[name]:
                raise LayoutError(
                    f"{place}: {name} has {1 << bits} values here and the other takes {1 << wide[name]};"
                    " reduce it with resize_out, or give the other more bases"
                )
        first = [packed(self._by_name(c, self.results), other.ins) for c in self.columns]
        start = packed(self._by_name(self.start, order), other.ins)
        columns = f2.multiplied(other.columns, first)
        start = f2.times(other.columns, start) ^ other.start
        return self._made(self.ins, other.outs, columns, start)

    def divide_left(self, other: Linear) -> Linear:
        """Definition 4.4: the C with other * C == self, its names all of this one's (of size 1 where
        the division leaves nothing). Raises LayoutError where there is none."""
        place = LazyText("{!r}.divide_left({})", self, other)
        _check_linear(place, other)
        ins, outs = dict(self.ins), dict(self.outs)
        for given, known, kind in ((other.ins, ins, "input"), (other.outs, outs, "output")):
            for name, bits in given:
                if bits > known.get(name, 0):
                    raise LayoutError(
                        f"{place}: the divisor's {kind} {name} has {1 << bits} values, more than "
                        f"{1 << known.get(name, 0)}"
                    )
        low = dict(other.outs)
        rest = tuple((n, bits - low.get(n, 0)) for n, bits in self.outs)

        def above(vector: int, where: str) -> int:
            values = self._by_name(vector, self.results)
            for name, value in values.items():
                if value & (1 << low.get(name, 0)) - 1:
                    raise LayoutError(f"{place}: {where} reaches the divisor's part of {name}")
            return packed({n: v >> low.get(n, 0) for n, v in values.items()}, rest)

        columns: list[int] = []
        left = []
        for name, _ in self.ins:
            own, given = self._columns_of(name), other._columns_of(name)
            for k, (mine, theirs) in enumerate(zip(own, given, strict=False)):
                if mine != packed(other._by_name(theirs, other.results), self.outs):
                    raise LayoutError(f"{place}: bit {k} of {name} goes elsewhere in the divisor")
            columns += [
                above(c, f"bit {k} of {name}") for k, c in enumerate(own) if k >= len(given)
            ]
            left.append((name, len(own) - len(given)))
        start = self.start ^ packed(other._by_name(other.start, other.results), self.outs)
        return self._made(left, rest, columns, above(start, "the offset"))

    def quotient(self, names: Iterable[str]) -> Linear:
        """Without names on which it is the identity, and that touch no others. Raises LayoutError
        where it is not."""
        place = LazyText("{!r}.quotient({})", self, names)
        gone = names_of(place, names)
        for name in gone:
            self._place(name, self.ins, "input")
            self._place(name, self.outs, "output")
            if dict(self.ins)[name] != dict(self.outs)[name]:
                raise LayoutError(f"{place}: {name} has other sizes as input and as output")
        for name, images in self.bases.items():
            for bit, image in enumerate(images):
                for n, value in zip(self.results, image, strict=True):
                    wanted = 1 << bit if n == name else 0
                    if (n in gone or name in gone) and value != wanted:
                        raise LayoutError(
                            f"{place}: not the identity: bit {bit} of {name} goes to {value} in {n}"
                        )
        for name in gone:
            if self.offset[name]:
                raise LayoutError(f"{place}: {name} has the offset {self.offset[name]}")
        ins = [n for n in self.coordinates if n not in gone]
        outs = [n for n in self.results if n not in gone]
        if not ins or not outs:
            raise LayoutError(f"{place}: nothing is left; it is the identity on all names")
        return self.sublayout(ins, outs)

    def sublayout(self, ins: Iterable[str], outs: Iterable[str]) -> Linear:
        """These inputs, all others 0, and these outputs alone; in this layout's order."""
        place = LazyText("{!r}.sublayout({}, {})", self, ins, outs)
        kept, wanted = {*names_of(place, ins)}, {*names_of(place, outs)}
        for name in kept:
            self._place(name, self.ins, "input")
        for name in wanted:
            self._place(name, self.outs, "output")
        if not kept or not wanted:
            raise LayoutError(f"{place}: a layout has at least one input and one output")
        rest = tuple((n, bits) for n, bits in self.outs if n in wanted)
        columns = [
            packed(self._by_name(c, self.results), rest)
            for n in self.coordinates
            if n in kept
            for c in self._columns_of(n)
        ]
        start = packed(self._by_name(self.start, self.results), rest)
        return self._made([(n, b) for n, b in self.ins if n in kept], rest, columns, start)

    def transpose_ins(self, names: Iterable[str]) -> Linear:
        """The inputs in another order."""
        place = LazyText("{!r}.transpose_ins({})", self, names)
        order = self._matched(place, names_of(place, names), self.coordinates, "inputs")
        columns = [c for n in order for c in self._columns_of(n)]
        return self._made([(n, dict(self.ins)[n]) for n in order], self.outs, columns, self.start)

    def transpose_outs(self, names: Iterable[str]) -> Linear:
        """The outputs in another order."""
        place = LazyText("{!r}.transpose_outs({})", self, names)
        order = self._matched(place, names_of(place, names), self.results, "outputs")
        outs = tuple((n, dict(self.outs)[n]) for n in order)
        columns = [packed(self._by_name(c, self.results), outs) for c in self.columns]
        start = packed(self._by_name(self.start, self.results), outs)
        return self._made(self.ins, outs, columns, start)

    def reshape_ins(self, ins: Mapping[str, int] | Iterable[tuple[str, int]]) -> Linear:
        """Other inputs of the same bits, the first the least significant. ins: sizes by name."""
        found = self._reshaped("reshape_ins", ins, self.ins)
        return self._made(found, self.outs, self.columns, self.start)

    def reshape_outs(self, outs: Mapping[str, int] | Iterable[tuple[str, int]]) -> Linear:
        """Other outputs of the same bits, the first the least significant. outs: sizes by name."""
        found = self._reshaped("reshape_outs", outs, self.outs)
        return self._made(self.ins, found, self.columns, self.start)

    def _reshaped(self, call: str, given: Any, known: Dims) -> Dims:
        place = LazyText("{!r}.{!s}({})", self, call, given)
        found = sizes_of(place, given, "input" if call == "reshape_ins" else "output")
        if width_of(found) != width_of(known):
            raise LayoutError(
                f"{place}: {1 << width_of(found)} values in all, {1 << width_of(known)} are wanted"
            )
        return found

    def flatten_ins(self, name: str | None = None) -> Linear:
        """One input of all bits, the first input's the least significant; named as the first one
        unless given."""
        return self.reshape_ins(
            {self.coordinates[0] if name is None else name: 1 << len(self.columns)}
        )

    def flatten_outs(self, name: str | None = None) -> Linear:
        """One output of all bits, the first output's the least significant; named as the first one
        unless given."""
        return self.reshape_outs(
            {self.results[0] if name is None else name: 1 << width_of(self.outs)}
        )

    def resize_in(self, name: str, size: int) -> Linear:
        """An input with fewer bits, or with more that make no difference."""
        self._place(name, self.ins, "input")
        bits = bits_of(LazyText("{!r}.resize_in", self), name, size)
        columns: list[int] = []
        for n in self.coordinates:
            own = self._columns_of(n)
            columns += [*own[:bits], *[0] * (bits - len(own))] if n == name else own
        ins = [(n, bits if n == name else b) for n, b in self.ins]
        return self._made(ins, self.outs, columns, self.start)

    def resize_out(self, name: str, size: int) -> Linear:
        """An output with more bits, or its remainder by a smaller size."""
        self._place(name, self.outs, "output")
        bits = bits_of(LazyText("{!r}.resize_out", self), name, size)
        outs = tuple((n, bits if n == name else b) for n, b in self.outs)

        def made(vector: int) -> int:
            values = self._by_name(vector, self.results)
            return packed({**values, name: values[name] & (1 << bits) - 1}, outs)

        return self._made(self.ins, outs, map(made, self.columns), made(self.start))

    def pseudoinvert(self) -> Linear:
        """Definition 4.5: the right inverse whose matrix has the fewest ones (section 5.4): of
        several holders of an element the one with the lowest numbers. Raises LayoutError where it
        is not surjective."""
        if not self.is_surjective():
            raise LayoutError(
                f"{self!r} has no right inverse: {self._why()}; reduce the outputs to the image"
            )
        return self._right_inverse

    def invert_and_compose(self, other: Linear) -> Linear:
        """The x to the y with other(y) == self(x), other surjective: how to get from this layout to
        the other. Inputs that both have alike stay; else of the fewest ones (section 5.4)."""
        place = LazyText("invert_and_compose of {!r} with {}", self, other)
        _check_linear(place, other)
        order = self._matched(place, [*self.results], [*other.results], "outputs")
        mine, theirs = dict(self.outs), dict(other.outs)
        outs = tuple((n, max(mine[n], theirs[n])) for n in order)
        alike = [n for n in self.coordinates if self._same_columns(other, n, outs)]

        def common(layout: Linear, vector: int) -> int:
            return packed(layout._by_name(vector, layout.results), outs)

        echelon = f2.Echelon([common(other, c) for c in other.columns])

        def solved(vector: int, where: str) -> int:
            found = echelon.minimal(vector)
            if found is None:
                raise LayoutError(f"{place}: the other does not reach the image of {where}")
            return found

        made = []
        for name, _ in self.ins:
            if name in alike:
                first = starts(other.ins)[other._place(name, other.ins, "input")]
                made += [1 << first + k for k in range(dict(self.ins)[name])]
            else:
                made += [
                    solved(common(self, c), f"bit {k} of {name}")
                    for k, c in enumerate(self._columns_of(name))
                ]
        start = solved(common(self, self.start) ^ common(other, other.start), "zero")
        return self._made(self.ins, other.ins, made, start)

    def _same_columns(self, other: Linear, name: str, outs: Dims) -> bool:
        if dict(self.ins)[name] != dict(other.ins).get(name):
            return False
        mine = [packed(self._by_name(c, self.results), outs) for c in self._columns_of(name)]
        return mine == [
            packed(other._by_name(c, other.results), outs) for c in other._columns_of(name)
        ]

    def _matched(
        self, place: object, one: Sequence[str], other: Sequence[str], kind: str
    ) -> Sequence[str]:
        if sorted(map(str, one)) != sorted(other):
            raise LayoutError(
                f"{place}: the names do not match: {', '.join(map(str, one))} given, the {kind} are "
                f"{', '.join(other)}"
            )
        return one


def _check_linear(place: object, other: Any) -> None:
    if not isinstance(other, Linear):
        raise LayoutError(
            f"{place}: {short_repr(other)} is not a Linear; Linear.of makes one of a layout"
        )

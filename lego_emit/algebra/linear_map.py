"""The matrix of a layout over F2: its named bits, and its evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from ..errors import IndexRangeError, InverseError, LayoutError, did_you_mean, short_repr
from . import f2
from .block import Change, Indexable, Numbers
from .labels import Dims, starts, values_of, width_of
from .linear_text import explained


@dataclass(frozen=True, repr=False, eq=False, init=False)
class LinearMap(Indexable):
    """What a layout over F2 is: y = A x ^ b of bits, its inputs and outputs named.

    ins, outs: names with their bits. columns: the matrix over the flat bits, first names and least
    significant bits first. start: b.
    """

    ins: Dims
    outs: Dims
    columns: tuple[int, ...]
    start: int

    def _fill(self, ins: Dims, outs: Dims, columns: Iterable[int], start: int) -> None:
        object.__setattr__(self, "ins", ins)
        object.__setattr__(self, "outs", outs)
        object.__setattr__(self, "columns", tuple(columns))
        object.__setattr__(self, "start", start)

    @classmethod
    def _made(cls, ins: Iterable, outs: Iterable, columns: Iterable[int], start: int = 0) -> Self:
        """A layout of names with their bits, and its flat matrix."""
        made = object.__new__(cls)
        made._fill(tuple(ins), tuple(outs), columns, start)
        return made

    # -- what it is ----------------------------------------------------------------------------

    @property
    def dims(self) -> tuple[int, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The sizes of the inputs."""
        return tuple(1 << bits for _, bits in self.ins)

    @property
    def physical_dims(self) -> tuple[int, ...]:
        """The sizes of the outputs."""
        return tuple(1 << bits for _, bits in self.outs)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return tuple(n for n, _ in self.ins)

    @property
    def results(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(n for n, _ in self.outs)

    @property
    def in_dims(self) -> dict[str, int]:
        """The inputs' sizes by name, in order."""
        return {n: 1 << bits for n, bits in self.ins}

    @property
    def out_dims(self) -> dict[str, int]:
        """The outputs' sizes by name, in order."""
        return {n: 1 << bits for n, bits in self.outs}

    @property
    def bases(self) -> dict[str, list[tuple[int, ...]]]:
        """The images of each input's bits, the least significant first, as tuples of the outputs."""
        return {
            n: [self._split(c) for c in self.columns[first : first + bits]]
            for (n, bits), first in zip(self.ins, starts(self.ins), strict=True)
        }

    @property
    def offset(self) -> dict[str, int]:
        """The image of zero, by output."""
        return dict(zip(self.results, self._split(self.start), strict=True))

    @property
    def linear(self) -> Self:
        """The same without offset."""
        return self._made(self.ins, self.outs, self.columns)

    @property
    def matrix(self) -> list[list[int]]:
        """The matrix of 0 and 1, a row for each output bit; as from_matrix takes it."""
        return [[c >> r & 1 for c in self.columns] for r in range(width_of(self.outs))]

    @cached_property
    def _echelon(self) -> f2.Echelon:
        return f2.Echelon(self.columns)

    @property
    def rank(self) -> int:
        """The dimension of the image."""
        return self._echelon.rank

    def kernel(self) -> list[tuple[int, ...]]:
        """A basis of the inputs that the linear part takes to zero."""
        return [values_of(x, self.ins) for x in self._echelon.kernel]

    def free_variables(self) -> dict[str, int]:
        """For each input a mask of its bits whose images follow from those of earlier bits."""
        mask = sum(1 << k for k in self._echelon.free)
        return dict(zip(self.coordinates, values_of(mask, self.ins), strict=True))

    def broadcast(self) -> dict[str, int]:
        """For each input a mask of the bits that make no difference: zero columns (section 5.1)."""
        mask = sum(1 << k for k, column in enumerate(self.columns) if not column)
        return dict(zip(self.coordinates, values_of(mask, self.ins), strict=True))

    def is_surjective(self) -> bool:
        """Whether every output is reached."""
        return self.rank == width_of(self.outs)

    def is_injective(self) -> bool:
        """Whether no two inputs go to one output."""
        return self.rank == len(self.columns)

    def is_invertible(self) -> bool:
        """Whether it is a bijection."""
        return self.is_surjective() and self.is_injective()

    @property
    def has_inverse(self) -> bool:
        """Whether it is a bijection."""
        return self.is_invertible()

    @property
    def is_bounded(self) -> bool:
        """Always: results lie below the outputs' sizes."""
        return True

    def inverse(self) -> Self:
        """The inverse. Raises InverseError where it is no bijection."""
        if not self.has_inverse:
            raise InverseError(f"{self!r} has no inverse: {self._why()}")
        return self.invert()

    left_inverse = inverse

    # -- evaluation ----------------------------------------------------------------------------

    def __call__(self, *index: Any, **named: Any) -> tuple[Any, ...]:
        """The outputs, a tuple in their order, of the inputs by name or in order.

        Raises IndexRangeError on a name that is missing or none of the inputs', or a number out of
        range.
        """
        if named:
            index = self._in_order(named, index)
        found = self.apply(*index)
        return found if isinstance(found, tuple) else (found,)

    def _in_order(self, named: Mapping[str, Any], index: tuple[Any, ...]) -> tuple[Any, ...]:
        names = self.coordinates[len(index) :]
        for name in named:
            if name not in names:
                raise IndexRangeError(
                    f"{self!r}: {name} is not an input; there are {', '.join(self.coordinates)}."
                    f"{did_you_mean(name, names)}"
                )
        if missing := [n for n in names if n not in named]:
            raise IndexRangeError(f"{self!r}: no value for {', '.join(missing)}")
        return (*index, *(named[n] for n in names))

    def inv(self, *results: Any, **named: Any) -> tuple[Any, ...]:
        """The inputs, a tuple in their order, of the outputs by name or in order.

        Raises InverseError where it is no bijection, and IndexRangeError as apply does.
        """
        if not self.has_inverse:
            raise InverseError(
                f"{self!r} has no inverse: {self._why()}; pseudoinvert() chooses one input of several"
            )
        if len(results) == 1 and isinstance(results[0], list | tuple):
            results = tuple(results[0])
        return self.invert()(*results, **named)

    def _why(self) -> str:
        high = width_of(self.outs)
        if not self.is_surjective():
            return f"it reaches {1 << self.rank} of {1 << high} outputs"
        return f"{1 << len(self.columns) - self.rank} inputs go to each output"

    def sizes(self) -> tuple[Any, ...]:
        """The sizes of inputs and outputs."""
        return (*self.dims, *self.physical_dims)

    def with_sizes(self, new: Change) -> Self:
        """Itself: its sizes are numbers."""
        return self

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """Masked inputs shifted by each distance that bits are moved by: those of different bits added
        up, of such sums the exclusive or, so that no bound is larger than all bits."""
        found = []
        for k, (name, _) in enumerate(self.outs):
            start = self._split(self.start)[k]
            sums: list[tuple[Any, int]] = [(start, start)]  # with the bits that each has
            for moved, value in zip(self._distances(name), index, strict=True):
                for by, mask in moved.items():
                    part = value & mask
                    part = part << by if by > 0 else part >> -by if by < 0 else part
                    bits = mask << by if by > 0 else mask >> -by
                    at = next((n for n, (_, taken) in enumerate(sums) if not bits & taken), None)
                    if at is None:
                        sums.append((part, bits))
                    else:
                        sums[at] = sums[at][0] + part, sums[at][1] | bits
            total, *others = (own for own, _ in sums)
            for other in others:
                total = total ^ other
            found.append(total)
        return tuple(found) if len(found) != 1 else found[0]

    def _distances(self, output: str) -> list[dict[int, int]]:
        """For each input: by how far bits are moved to an output, and which."""
        place = self._place(output, self.outs, "output")
        found: list[dict[int, int]] = []
        for bases in self.bases.values():
            moved: dict[int, int] = {}
            for bit, image in enumerate(bases):
                for to in range(image[place].bit_length()):
                    if image[place] >> to & 1:
                        moved[to - bit] = moved.get(to - bit, 0) | 1 << bit
            found.append(dict(sorted(moved.items())))
        return found

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The inputs of the one output."""
        found = self.invert().forward(numbers, [flat])
        return [*found] if isinstance(found, tuple) else [found]

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """Definition 4.1: the images of the bits that are set, added."""
        nothing = sum(value * 0 for value in index)  # of the shape of the indices
        total = [part + nothing for part in self._split(self.start)]
        for bases, value in zip(self._images, index, strict=True):
            for bit, image in enumerate(bases):
                for k, part in enumerate(image):
                    total[k] = total[k] ^ (value >> bit & 1) * part
        return tuple(total) if len(total) != 1 else total[0]

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The inputs of the one output."""
        found = self.invert().reference_apply((flat,))
        return found if isinstance(found, tuple) else (found,)

    @cached_property
    def _images(self) -> list[list[tuple[int, ...]]]:
        """bases, of which a layout asks at each index."""
        return [*self.bases.values()]

    def _value(self) -> tuple[Any, ...]:
        return self.ins, self.outs, self.columns, self.start

    def explain(self) -> str:
        """What it does, as text: the image of each bit, the matrix, the cycles of a permutation of
        bits; else rank, kernel and free variables."""
        return explained(self)

    def __repr__(self) -> str:
        offset = f", offset={self.offset}" if self.start else ""
        return f"Linear({self.bases}, out={self.out_dims}{offset})"

    # -- the inverse ---------------------------------------------------------------------------

    def invert(self) -> Self:
        """The inverse: outputs become inputs. Raises LayoutError where it is no bijection."""
        if not self.is_invertible():
            raise LayoutError(
                f"{self!r} is not invertible: {self._why()}; pseudoinvert() takes a surjective one"
            )
        return self._right_inverse

    @cached_property
    def _right_inverse(self) -> Self:
        columns = f2.right_inverse(self.columns, width_of(self.outs))
        assert columns is not None
        return self._made(self.outs, self.ins, columns, f2.times(columns, self.start))

    def _columns_of(self, name: str) -> Sequence[int]:
        for (n, bits), first in zip(self.ins, starts(self.ins), strict=True):
            if n == name:
                return self.columns[first : first + bits]
        return ()

    def _by_name(
        self, vector: int, names: Iterable[str], above: Mapping[str, int] | None = None
    ) -> dict[str, int]:
        values = dict(zip(names, self._split(vector), strict=True))
        return {n: v << (above or {}).get(n, 0) for n, v in values.items()}

    def _split(self, vector: int) -> tuple[int, ...]:
        return values_of(vector, self.outs)

    def _place(self, name: str, dims: Dims, kind: str) -> int:
        names = [n for n, _ in dims]
        if name not in names:
            raise LayoutError(
                f"{self!r}: {short_repr(name)} is no {kind}; there are {', '.join(names)}."
                f"{did_you_mean(str(name), names)}"
            )
        return names.index(name)

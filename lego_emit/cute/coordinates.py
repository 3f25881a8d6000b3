"""Layouts whose values are coordinates: CuTe's identity (coordinate) tensors, for predicates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..algebra.block import Change, Indexable, Numbers
from ..algebra.nested import checked, flat, is_tuple, mapped, number, shaped, text
from ..algebra.strided import Strided
from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..arith.terms import Atom
from ..errors import LayoutError, LazyText, brief, short_repr
from ..numeric import is_integer


@dataclass(frozen=True, repr=False, eq=False)
class Coordinates(Indexable):
    """A layout that gives one coordinate for each of its parts: a tuple of strided layouts of one
    shape. make_identity_layout makes it; divisions, local_tile, local_partition and partitions of
    tiled copies take it as they take a Strided.

    apply gives a tuple, its members named c0, c1, ..; there is no inv.

        >>> from lego_emit import cute
        >>> A = cute.make_identity_layout((4, 8))
        >>> A.apply(2, 5)
        (2, 5)
    """

    parts: tuple[Strided, ...]

    def __post_init__(self) -> None:
        parts = tuple(self.parts) if is_tuple(self.parts) else ()
        if not parts or not all(isinstance(part, Strided) for part in parts):
            raise LayoutError(f"Coordinates({short_repr(self.parts)}): give a tuple of Strided")
        object.__setattr__(self, "parts", parts)
        if any(part.shape != parts[0].shape for part in parts):
            raise LayoutError(
                "Coordinates(..): give strided layouts of one shape, one for each coordinate"
            )

    @property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The sizes of the index, which all parts share."""
        return self.parts[0].dims

    @property
    def shape(self) -> Any:
        """The nested shape, which all parts share."""
        return self.parts[0].shape

    @property
    def rank(self) -> int:
        """How many modes the top level has."""
        return self.parts[0].rank

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """How far each coordinate reaches."""
        return tuple(number(part.offset + part.cosize) for part in self.parts)

    @property
    def results(self) -> tuple[str, ...]:
        """The names of the results: c0, c1, .., one for each part."""
        return tuple(f"c{k}" for k in range(len(self.parts)))

    @property
    def has_inverse(self) -> bool:
        """No: a tile has no position of every coordinate."""
        return False

    @property
    def is_bounded(self) -> bool:
        """Whether each part is."""
        return all(part.is_bounded for part in self.parts)

    @cached_property
    def is_concrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether each part is."""
        return all(part.is_concrete for part in self.parts)

    def sizes(self) -> tuple[Any, ...]:
        """All sizes of all parts, in order."""
        return tuple(n for part in self.parts for n in part.sizes())

    def with_sizes(self, new: Change) -> Coordinates:
        """The same coordinates of other sizes."""
        return Coordinates(tuple(part.with_sizes(new) for part in self.parts))

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The position in each part, as a tuple; of a single part the position itself."""
        found = [part.forward(numbers, index) for part in self.parts]
        return tuple(found) if len(found) > 1 else found[0]

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The position in each part on ints and int64 arrays, as a tuple; of a single part the position."""
        found = [part.reference_apply(index) for part in self.parts]
        return tuple(found) if len(found) > 1 else found[0]

    def __call__(self, *coordinate: Any) -> Any:
        """The coordinates at a coordinate, a tuple; a coordinate with None keeps its modes."""
        found = tuple(part(*coordinate) for part in self.parts)
        return Coordinates(found) if isinstance(found[0], Strided) else found

    def over(self, change: Callable[[Strided], Strided]) -> Coordinates:
        """What an operation on a strided layout makes of this one: the parts' strides are put
        into one, each in units of its own, and taken out of the result."""
        units = [Expr.atom(Atom("sym", f"1@{k}")) for k in range(len(self.parts))]

        def joined(values: Sequence[Any]) -> Any:
            total: Any = 0
            for unit, value in zip(units, values, strict=True):
                if not (is_integer(value) and value == 0):
                    total = total + unit * value
            return total

        strides = zip(*(flat(part.stride) for part in self.parts), strict=True)
        stride = shaped(self.shape, iter([joined(each) for each in strides]))
        found = change(Strided(self.shape, stride, joined([p.offset for p in self.parts])))
        atoms = [next(iter(unit.deep_atoms())) for unit in units]

        def part(k: int) -> Strided:
            def taken(value: Any) -> Any:
                if not isinstance(value, Expr):
                    return value
                one = {a: Expr.of(int(a == atoms[k])) for a in atoms}
                return number(Analyzer(use_z3=False).rebuild(value, one.get))

            return Strided(found.shape, mapped(found.stride, taken), taken(found.offset))

        return Coordinates(tuple(part(k) for k in range(len(units))))

    def _value(self) -> tuple[Any, ...]:
        return self.parts

    def __str__(self) -> str:
        start = ",".join(text(part.offset) for part in self.parts)

        def unit(*strides: Any) -> str:
            one = [f"{text(d)}@{k}" for k, d in enumerate(strides) if not (is_integer(d) and not d)]
            return "+".join(one) or "0"

        strides = zip(*(flat(part.stride) for part in self.parts), strict=True)
        written = iter([unit(*each) for each in strides])

        def walk(tree: Any) -> str:
            return f"({','.join(map(walk, tree))})" if isinstance(tree, tuple) else next(written)

        return f"({start}) o {text(self.shape)}:{walk(self.shape)}"

    def __repr__(self) -> str:
        return f"Coordinates({self.parts!r})"


@brief
def make_identity_layout(shape: Any) -> Coordinates:
    """The layout that gives its own coordinates, one for each leaf of the shape: cut as a tensor
    is, it tells where in the tensor each element lies, to be compared with the tensor's sizes.

        >>> from lego_emit import cute
        >>> print(cute.local_tile(cute.make_identity_layout((64, 64)), (8, 16), (2, 1)))
        (16,16) o (8,16):(1@0,1@1)
    """
    shape = checked(shape, LazyText("make_identity_layout({})", shape), "shape", 1)
    sizes = flat(shape)
    parts = []
    for k in range(len(sizes)):
        strides = [int(k == j) for j in range(len(sizes))]
        parts.append(Strided(shape, shaped(shape, iter(strides))))
    return Coordinates(tuple(parts))

"""Layouts put together and turned round: A @ B and inverses."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InverseError, LayoutError, LegoWarning, short_repr
from ..numeric import is_integer
from .block import Block, Change, Indexable, Numbers
from .digits import ravel, unravel
from .paper_definitions import reference_ravel, reference_unravel
from .sizes import comparable


@dataclass(frozen=True, repr=False, eq=False)
class Composed(Indexable):
    """outer @ inner: inner first. Its results are outer's index where they are as many and as large
    as outer's dims; else its position is, row-major.

    Raises LayoutError where inner's positions are no indices of outer.
    """

    outer: Block
    inner: Block

    def __post_init__(self) -> None:
        for block in (self.outer, self.inner):
            if not isinstance(block, Block):
                raise LayoutError(f"{short_repr(block)} is not a layout: A @ B takes two")
        if masking := next((b for b in (self.inner, self.outer) if b.masks), None):
            raise LayoutError(
                f"{self!r}: {type(masking).__name__} gives -1 where it masks, which is not an index; compose "
                "layouts that mask nothing, such as what is inside of an ExpandBy"
            )
        if not self.inner.is_bounded:
            raise LayoutError(
                f"{short_repr(self)}: the positions of the second are not known to lie in "
                f"0..{self.outer.size - 1!r}; give its GenP an inv, or strides that are not negative"
            )
        given, taken = self.inner.physical_size, self.outer.size
        if isinstance(given, int) and isinstance(taken, int) and given > taken:
            way = "enlarge the first, or compose it with a part of the second"
            if self.inner.results is not None and self.inner.results == self.outer.results:
                way = "from one layout of a tensor to another goes A.invert_and_compose(B)"
            raise LayoutError(
                f"{short_repr(self)}: the second gives positions in 0..{given - 1}, and the first takes "
                f"{taken} indices; {way}"
            )

    @property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The sizes of the index, which are those of the inner layout."""
        return self.inner.dims

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """The sizes of the results, which are those of the outer layout."""
        return self.outer.physical_dims

    @property
    def has_inverse(self) -> bool:
        """Whether both have one, and every index of the outer one is a position of the inner."""
        if len(self.results or ()) > 1 or len(self.inner.results or ()) > 1:
            return False
        same = isinstance(self.inner.physical_size, int) and isinstance(self.outer.size, int)
        onto = self.inner.physical_size == self.outer.size if same else True
        if self.outer.masks_inverse or self.inner.masks_inverse:
            return False
        return self.outer.has_inverse and self.inner.has_inverse and onto

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """The names of the inner layout's coordinates; None where they have none."""
        return self.inner.coordinates

    @property
    def results(self) -> tuple[str, ...] | None:
        """The names of the outer layout's results; None where there is one, the flat position."""
        return self.outer.results

    @property
    def is_bounded(self) -> bool:
        """Whether the outer layout's positions lie in 0..physical_size - 1."""
        return self.outer.is_bounded

    @property
    def _passes(self) -> bool:
        return comparable(self.inner.physical_dims) == comparable(self.outer.dims)

    def sizes(self) -> tuple[Any, ...]:
        """All sizes of the inner layout, then those of the outer one."""
        return self.inner.sizes() + self.outer.sizes()

    def offsets(self) -> tuple[Any, ...]:
        """All offsets of the inner layout, then those of the outer one."""
        return self.inner.offsets() + self.outer.offsets()

    @property
    def tags(self) -> tuple[tuple[Any, tuple[int, ...]], ...]:
        """Those of both layouts."""
        return self.inner.tags + self.outer.tags

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """Both layouts', and that one's positions are the other's indices where both have an
        inverse."""
        yield from self.inner.equations()
        yield from self.outer.equations()
        if self.has_inverse:
            yield self.inner.physical_dims, self.outer.dims

    def inequalities(self) -> Iterator[tuple[Any, Any]]:
        """Both layouts', and that the positions of one are indices of the other."""
        yield from self.inner.inequalities()
        yield from self.outer.inequalities()
        if not self.has_inverse:
            yield self.inner.physical_size, self.outer.size

    def with_sizes(self, new: Change) -> Composed:
        """The same composition with other sizes."""
        return Composed(self.outer.with_sizes(new), self.inner.with_sizes(new))

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The outer position of the inner one."""
        found = self.inner.forward(numbers, index)
        if isinstance(found, tuple) and self._passes:
            return self.outer.forward(numbers, found)
        if isinstance(found, tuple):
            found = ravel([numbers.size(n) for n in self.inner.physical_dims], found)
        return self.outer.forward(numbers, _as_index(numbers, self.outer.dims, found))

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The inner index of the outer one."""
        sizes = [numbers.size(n) for n in self.outer.dims]
        position = ravel(sizes, self.outer.backward(numbers, flat))
        return self.inner.backward(numbers, numbers.whole(position, sizes))

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The inner layout's result, given to the outer one: as coordinates or by its flat position."""
        found = self.inner.reference_apply(index)
        if isinstance(found, tuple) and self._passes:
            return self.outer.reference_apply(found)
        if isinstance(found, tuple):
            found = reference_ravel(self.inner.physical_dims, found)
        return self.outer.reference_apply(reference_unravel(self.outer.dims, found))

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The outer layout's index of a position, given to the inner layout's inverse."""
        return self.inner.reference_inv(
            reference_ravel(self.outer.dims, self.outer.reference_inv(flat))
        )

    def _value(self) -> tuple[Any, ...]:
        return self.outer, self.inner

    def __repr__(self) -> str:
        inner = f"({self.inner!r})" if isinstance(self.inner, Composed) else repr(self.inner)
        return f"{self.outer!r} @ {inner}"


def composed(outer: Block, inner: Any, stacklevel: int) -> Composed:
    """outer @ inner, with a LegoWarning where that takes inner's results row-major and they look
    like an index of outer: as many, and smaller."""
    found = Composed(outer, inner)
    given, taken = inner.physical_dims, outer.dims
    if len(inner.results or ()) == len(taken) > 1 and all(map(is_integer, (*given, *taken))):
        if given != taken and all(n <= m for n, m in zip(given, taken, strict=True)):
            names = inner.results or ()
            sizes = ", ".join(f"{n}={size}" for n, size in zip(names, given, strict=True))
            start = [chr(ord("m") + k) for k in range(len(taken))]
            index = ", ".join(f"{n}*{s} + {r}" for n, s, r in zip(given, start, names, strict=True))
            warnings.warn(
                f"{short_repr(found)}: the results ({sizes}) are less than the index that the outer layout "
                f"takes, {list(taken)}, and go to its first {inner.physical_size} indices, "
                f"row-major. For a part of it, compose with the tile alone, cute.local_tile(T, "
                f"{tuple(given)}, ({', '.join(start)})) @ .., or write a function that returns "
                f"T[{index}]",
                LegoWarning,
                stacklevel=stacklevel + 1,
            )
    return found


def _as_index(numbers: Numbers, dims: Sequence[Any], flat: Any) -> list[Any]:
    if len(dims) == 1:
        return [flat]
    sizes = [numbers.size(n) for n in dims]
    return unravel(sizes, numbers.whole(flat, sizes))


@dataclass(frozen=True, repr=False, eq=False)
class Inverse(Indexable):
    """The inverse of a layout: from its positions to its indices, row-major.

    Raises InverseError where there is none.
    """

    layout: Block

    def __post_init__(self) -> None:
        if not self.layout.has_inverse:
            raise InverseError(
                f"{self.layout!r} has no inverse: it is not a bijection onto 0..size - 1; "
                f"a right_inverse() or left_inverse() may exist"
            )
        if self.layout.masks or self.layout.masks_inverse:
            where = "apply is -1 in places" if self.layout.masks else "inv is -1 in the padding"
            raise InverseError(
                f"{self.layout!r} masks: its {where}, and no layout. Write a function that applies the "
                "other layout to its inv, or go the other way, from a layout without padding"
            )

    @property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """One size: how many positions the layout has."""
        return (self.layout.physical_size,)

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """The layout's own dims."""
        return self.layout.dims

    def sizes(self) -> tuple[Any, ...]:
        """All sizes of the layout that is inverted."""
        return self.layout.sizes()

    def offsets(self) -> tuple[Any, ...]:
        """All offsets of the layout that is inverted."""
        return self.layout.offsets()

    @property
    def tags(self) -> tuple[tuple[Any, tuple[int, ...]], ...]:
        """Those of the layout."""
        return self.layout.tags

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """The pairs of products that the inverted layout needs to be equal."""
        return self.layout.equations()

    def inequalities(self) -> Iterator[tuple[Any, Any]]:
        """The pairs of sizes that the inverted layout needs to be in order."""
        return self.layout.inequalities()

    def with_sizes(self, new: Change) -> Inverse:
        """The inverse of the layout with other sizes."""
        return Inverse(self.layout.with_sizes(new))

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The row-major index of a position."""
        sizes = [numbers.size(n) for n in self.layout.dims]
        return ravel(sizes, self.layout.backward(numbers, index[0]))

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The position of a row-major index."""
        return [self.layout.forward(numbers, _as_index(numbers, self.layout.dims, flat))]

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The row-major index of a position."""
        return reference_ravel(self.layout.dims, self.layout.reference_inv(index[0]))

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The position of a row-major index."""
        return (self.layout.reference_apply(reference_unravel(self.layout.dims, flat)),)

    def _value(self) -> tuple[Any, ...]:
        return (self.layout,)

    def __repr__(self) -> str:
        return f"{self.layout!r}.inverse()"


def inverse(layout: Block) -> Block:
    """The inverse of a layout; of an inverse the layout itself, seen flat."""
    if isinstance(layout, Inverse) and len(layout.layout.dims) == 1:
        return layout.layout
    return Inverse(layout)

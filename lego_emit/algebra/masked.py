"""Masks: layouts of which a smaller problem fills a part, since its sizes were rounded up to tiles:
ExpandBy (Fig. 9) and Padded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LayoutError, LazyText, short_repr
from .block import Block, Change, Indexable, Numbers
from .digits import ravel, unravel
from .layout import ONE_WAY, Layout
from .paper_definitions import inside, reference_ravel, reference_unravel, select
from .sizes import check_same_size, check_sizes, comparable, listed


class Masked(Indexable):
    """A problem of the sizes n in a layout for the sizes `rounded`, which are no smaller.

    Where a kind masks (masks: apply, masks_inverse: inv), it gives -1 unless each coordinate of the
    index lies below its size in n.
    """

    n: tuple[Any, ...]
    layout: Any  # a Block

    @property
    def rounded(self) -> tuple[Any, ...]:
        """The sizes that n was rounded up to, which are the layout's own."""
        return self.layout.dims

    @property
    def exceeding(self) -> Iterator[tuple[int, int, int]]:
        """(axis, size, rounded size) where both are integers and the first is larger."""
        for axis, (size, padded) in enumerate(zip(self.n, self.rounded, strict=True)):
            if isinstance(size, int) and isinstance(padded, int) and size > padded:
                yield axis, size, padded

    def sizes(self) -> tuple[Any, ...]:
        """n and the layout's sizes."""
        return self.n + self.layout.sizes()

    def offsets(self) -> tuple[Any, ...]:
        """All offsets of the layout that is masked."""
        return self.layout.offsets()

    @property
    def tags(self) -> tuple[tuple[Any, tuple[int, ...]], ...]:
        """Those of the layout that is masked."""
        return self.layout.tags

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """The pairs of products that the masked layout needs to be equal."""
        return self.layout.equations()

    def inequalities(self) -> Iterator[tuple[Any, Any]]:
        """The layout's, and n <= rounded, axis by axis."""
        yield from self.layout.inequalities()
        yield from zip(self.n, self.rounded, strict=True)

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The layout's position, or -1 where it is masked."""
        flat = self.layout.forward(numbers, index)
        if not self.masks:
            return flat
        return self._masked(numbers, self._coordinates(numbers, index), [flat])[0]

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The layout's index, or -1s where it is masked."""
        index = self.layout.backward(numbers, flat)
        return self._masked(numbers, self._coordinates(numbers, index), index)

    def _coordinates(self, numbers: Numbers, index: Sequence[Any]) -> Sequence[Any]:
        """What an index has along each of the sizes n."""
        return index

    def _masked(self, numbers: Numbers, coordinates: Sequence[Any], values: list[Any]) -> list[Any]:
        pairs = zip(comparable(self.n), comparable(self.rounded), strict=True)
        ragged = [axis for axis, (n, padded) in enumerate(pairs) if n != padded]
        sizes = [self.n[axis] for axis in ragged]
        return numbers.masked(sizes, [coordinates[axis] for axis in ragged], values)

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The layout's position, or -1 where it is masked."""
        flat = self.layout.reference_apply(index)
        if not self.masks:
            return flat
        return select(inside(self.n, self._reference_coordinates(index)), flat, -1)

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The layout's index, or -1s where it is masked."""
        index = self.layout.reference_inv(flat)
        held = inside(self.n, self._reference_coordinates(index))
        return tuple(select(held, i, -1) for i in index)

    def _reference_coordinates(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        """What an index of ints or int64 arrays has along each of the sizes n."""
        return index


@dataclass(frozen=True, repr=False, eq=False, init=False)
class ExpandBy(Masked):
    """A layout whose tiles do not divide the problem (Fig. 9).

    n: the problem's sizes. n_prime: the same, rounded up to what the tiles cover. layout: a layout
    of prod(n_prime) elements. Masked positions give -1.

    guard="physical" is Fig. 9: the mask is on the coordinates of the layout's flat result in
    n_prime, and apply gives a position in an array of n. inv takes such a position.

    guard="logical" is for tile-packed layouts, where Fig. 9 masks the wrong positions: the mask is
    on the coordinates of the index in the untiled array of n_prime, and apply gives an address
    in the padded storage of prod(n_prime) elements. inv takes such an address and gives -1 in
    every coordinate where it holds padding.

    Raises LayoutError unless n <= n_prime in every dimension and prod(n_prime) is the layout's
    size.

        >>> from lego_emit import ExpandBy, TileBy
        >>> edge = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))
        >>> edge.apply(0, 3, 0, 0), edge.apply(0, 3, 0, 1)  # column 6, and column 7 beyond the edge
        (6, -1)
    """

    n: tuple[Any, ...]
    n_prime: tuple[Any, ...]
    layout: Layout
    guard: str

    def __init__(
        self, n: Sequence[Any], n_prime: Sequence[Any], layout: Layout, guard: str = "physical"
    ):
        construct = LazyText("ExpandBy({}, {}, {})", n, n_prime, layout)
        if not isinstance(layout, Layout):
            raise LayoutError(
                f"{construct}: the third argument must be a GroupBy or a TileBy, such as GroupBy({short_repr(n_prime)})"
            )
        if not isinstance(guard, str) or guard not in ("physical", "logical"):
            raise LayoutError(
                f"{construct}: guard is {short_repr(guard)}; give guard='physical' (Fig. 9) or "
                "guard='logical'"
            )
        object.__setattr__(self, "n", check_sizes(n, construct))
        object.__setattr__(self, "n_prime", check_sizes(n_prime, construct))
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "guard", guard)
        if len(self.n) != len(self.n_prime):
            raise LayoutError(
                f"{construct}: n has {len(self.n)} dimensions and n_prime {len(self.n_prime)}; "
                "give both the same number"
            )
        for axis, size, padded in self.exceeding:
            raise LayoutError(
                f"{construct}: n is {size} on axis {axis}, more than n_prime, {padded}; n_prime is n "
                "rounded up to whole tiles"
            )
        check_same_size(construct, "n_prime", self.n_prime, "the layout", self.layout.dims)
        if not self.layout.has_inverse:
            raise LayoutError(
                f"{construct}: the layout must be a bijection, give its GenP an inv, or {ONE_WAY}, "
                "which is -1 where this ExpandBy masks"
            )

    @property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The layout's own: apply takes the padded tiles' index."""
        return self.layout.dims

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """The sizes in memory: n where the physical side is masked, else n_prime."""
        return self.n if self.guard == "physical" else self.n_prime

    @property
    def masks(self) -> bool:
        """Always: some indices lie in the padding."""
        return True

    @property
    def masks_inverse(self) -> bool:
        """With guard="logical", whose memory holds the padding, too."""
        return self.guard == "logical"

    @property
    def rounded(self) -> tuple[Any, ...]:
        """The sizes that n was rounded up to, given as n_prime."""
        return self.n_prime

    def sizes(self) -> tuple[Any, ...]:
        """n, n_prime and the layout's sizes."""
        return self.n + self.n_prime + self.layout.sizes()

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """The layout's, and prod(n_prime) = its size."""
        yield from super().equations()
        yield self.n_prime, self.layout.dims

    def with_sizes(self, new: Change) -> ExpandBy:
        """The same ExpandBy with other sizes."""
        n, n_prime = ([new.size(n) for n in sizes] for sizes in (self.n, self.n_prime))
        return ExpandBy(n, n_prime, self.layout.with_sizes(new), self.guard)

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The flat position, or -1 in the padding."""
        if self.guard == "logical":
            return super().forward(numbers, index)
        flat = self.layout.forward(numbers, index)
        coordinates = unravel([numbers.size(n) for n in self.n_prime], flat)
        packed = ravel([numbers.size(n) for n in self.n], coordinates)
        return self._masked(numbers, coordinates, [packed])[0]

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The index of a flat position; with guard="logical" -1s in the padding."""
        if self.guard == "logical":
            return super().backward(numbers, flat)
        coordinates = unravel([numbers.size(n) for n in self.n], flat)
        padded = ravel([numbers.size(n) for n in self.n_prime], coordinates)
        return self.layout.backward(numbers, padded)

    def _coordinates(self, numbers: Numbers, index: Sequence[Any]) -> list[Any]:
        """The coordinates in the padded array of an index on the logical side."""
        flat = ravel([numbers.size(n) for n in self.dims], index)
        order = self.layout.untiling
        if order is not None:
            inner = [numbers.size(n) for n in order.dims]
            flat = order.forward(numbers, unravel(inner, flat))
        return unravel([numbers.size(n) for n in self.n_prime], flat)

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """Fig. 9, and its like for the logical guard."""
        if self.guard == "logical":
            return super().reference_apply(index)
        coordinates = reference_unravel(self.n_prime, self.layout.reference_apply(index))
        return select(inside(self.n, coordinates), reference_ravel(self.n, coordinates), -1)

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The way back through Fig. 9."""
        if self.guard == "logical":
            return super().reference_inv(flat)
        return self.layout.reference_inv(
            reference_ravel(self.n_prime, reference_unravel(self.n, flat))
        )

    def _reference_coordinates(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        flat = reference_ravel(self.dims, index)
        order = self.layout.untiling
        if order is not None:
            flat = order.reference_apply(reference_unravel(order.dims, flat))
        return reference_unravel(self.n_prime, flat)

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.n), comparable(self.n_prime), self.layout, self.guard

    def __repr__(self) -> str:
        guard = "" if self.guard == "physical" else f", guard={self.guard!r}"
        return f"ExpandBy([{listed(self.n)}], [{listed(self.n_prime)}], {self.layout!r}{guard})"


@dataclass(frozen=True, repr=False, eq=False, init=False)
class Padded(Masked):
    """The part of a layout that a smaller problem fills.

    n: the problem's sizes, at most the layout's dims. apply takes the problem's index and gives the
    position in the layout's memory, padding included; inv takes any position of that memory and
    gives -1 in every coordinate where it holds padding. No index is masked, so that apply costs what
    the layout's does; an ExpandBy's index runs over whole tiles and is masked.

    Raises LayoutError where the sizes are not as many as the dims, or one is larger, and where the
    layout itself masks or has named results.
    """

    n: tuple[Any, ...]
    layout: Block

    def __init__(self, n: Sequence[Any], layout: Block):
        construct = LazyText("Padded({}, {})", n, layout)
        object.__setattr__(self, "n", check_sizes(n, construct))
        if not isinstance(layout, Block):
            raise LayoutError(f"{construct}: {short_repr(layout)} is not a layout")
        object.__setattr__(self, "layout", layout)
        if layout.masks or layout.masks_inverse or layout.results is not None:
            raise LayoutError(f"{construct}: give a layout of one position that masks nothing")
        if len(self.n) != len(layout.dims):
            raise LayoutError(
                f"{construct}: {len(self.n)} sizes and a layout of {len(layout.dims)} dims; give as "
                "many of each"
            )
        for axis, size, padded in self.exceeding:
            raise LayoutError(
                f"{construct}: size {axis} is {size}, and the layout has {padded} there; the "
                "layout's sizes are the problem's, rounded up"
            )

    @property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The sizes of the index: those of the problem, before they are rounded up."""
        return self.n

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """The layout's, padding included."""
        return self.layout.physical_dims

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """The names of the layout's coordinates; None where they have none."""
        return self.layout.coordinates

    @property
    def has_inverse(self) -> bool:
        """Whether the layout has one."""
        return self.layout.has_inverse

    @property
    def masks_inverse(self) -> bool:
        """Where there is padding."""
        return comparable(self.n) != comparable(self.layout.dims)

    @property
    def is_bounded(self) -> bool:
        """Whether the layout's positions lie in 0..physical_size - 1."""
        return self.layout.is_bounded

    def with_sizes(self, new: Change) -> Padded:
        """The same with other sizes."""
        return Padded([new.size(n) for n in self.n], self.layout.with_sizes(new))

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.n), self.layout

    def __repr__(self) -> str:
        return f"Padded([{listed(self.n)}], {self.layout!r})"

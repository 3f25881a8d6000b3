"""ExpandBy: layouts whose tiles do not divide the problem (Fig. 9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LayoutError, LazyText, shown
from .block import Change, Indexable, Numbers
from .digits import flattened, taken_apart
from .figures import flatten, inside, select, unflatten
from .layout import ONE_WAY, Layout
from .sizes import check_same_size, check_sizes, comparable, listed


@dataclass(frozen=True, repr=False, eq=False, init=False)
class ExpandBy(Indexable):
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
            raise LayoutError(f"{construct}: the third argument must be a GroupBy or a TileBy")
        if not isinstance(guard, str) or guard not in ("physical", "logical"):
            raise LayoutError(
                f"{construct}: guard is {shown(guard)}; give guard='physical' (Fig. 9) or "
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
        for axis, (size, padded) in enumerate(zip(self.n, self.n_prime, strict=True)):
            if isinstance(size, int) and isinstance(padded, int) and size > padded:
                raise LayoutError(
                    f"{construct}: n is {size} on axis {axis}, more than n_prime, {padded}; "
                    "n_prime is n rounded up to whole tiles"
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

    def sizes(self) -> tuple[Any, ...]:
        """n, n_prime and the layout's."""
        return self.n + self.n_prime + self.layout.sizes()

    def offsets(self) -> tuple[Any, ...]:
        """The layout's."""
        return self.layout.offsets()

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """The layout's, and prod(n_prime) = its size."""
        yield from self.layout.equations()
        yield self.n_prime, self.layout.dims

    def inequalities(self) -> Iterator[tuple[Any, Any]]:
        """n <= n_prime, axis by axis."""
        return zip(self.n, self.n_prime, strict=True)

    def with_sizes(self, new: Change) -> ExpandBy:
        """The same ExpandBy with other sizes."""
        n, n_prime = ([new.size(n) for n in sizes] for sizes in (self.n, self.n_prime))
        return ExpandBy(n, n_prime, self.layout.with_sizes(new), self.guard)

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The flat position, or -1 in the padding."""
        flat = self.layout.forward(numbers, index)
        if self.guard == "logical":
            return numbers.masked(self.n, self._padded(numbers, index), [flat])[0]
        coordinates = taken_apart([numbers.size(n) for n in self.n_prime], flat)
        packed = flattened([numbers.size(n) for n in self.n], coordinates)
        return numbers.masked(self.n, coordinates, [packed])[0]

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The index of a flat position; with guard="logical" -1s in the padding."""
        if self.guard == "logical":
            index = self.layout.backward(numbers, flat)
            return numbers.masked(self.n, self._padded(numbers, index), index)
        coordinates = taken_apart([numbers.size(n) for n in self.n], flat)
        padded = flattened([numbers.size(n) for n in self.n_prime], coordinates)
        return self.layout.backward(numbers, padded)

    def _padded(self, numbers: Numbers, index: Sequence[Any]) -> list[Any]:
        """The coordinates in the padded array of an index on the logical side."""
        flat = flattened([numbers.size(n) for n in self.dims], index)
        order = self.layout.untiling
        if order is not None:
            inner = [numbers.size(n) for n in order.dims]
            flat = order.forward(numbers, taken_apart(inner, flat))
        return taken_apart([numbers.size(n) for n in self.n_prime], flat)

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """Fig. 9, and its like for the logical guard."""
        flat = self.layout.reference_apply(index)
        if self.guard == "logical":
            return select(inside(self.n, self._reference_padded(index)), flat, -1)
        coordinates = unflatten(self.n_prime, flat)
        return select(inside(self.n, coordinates), flatten(self.n, coordinates), -1)

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The way back through Fig. 9."""
        if self.guard == "physical":
            return self.layout.reference_inv(flatten(self.n_prime, unflatten(self.n, flat)))
        index = self.layout.reference_inv(flat)
        held = inside(self.n, self._reference_padded(index))
        return tuple(select(held, i, -1) for i in index)

    def _reference_padded(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        flat = flatten(self.dims, index)
        order = self.layout.untiling
        if order is not None:
            flat = order.reference_apply(unflatten(order.dims, flat))
        return unflatten(self.n_prime, flat)

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.n), comparable(self.n_prime), self.layout, self.guard

    def __repr__(self) -> str:
        guard = "" if self.guard == "physical" else f", guard={self.guard!r}"
        return f"ExpandBy([{listed(self.n)}], [{listed(self.n_prime)}], {self.layout!r}{guard})"

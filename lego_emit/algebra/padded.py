"""Padded: a problem in a memory that is larger, whose sizes were rounded up to whole tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LayoutError, LazyText, shown
from .block import Block, Change, Indexable, Numbers
from .figures import inside, select
from .sizes import check_sizes, comparable, listed


@dataclass(frozen=True, repr=False, eq=False, init=False)
class Padded(Indexable):
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
            raise LayoutError(f"{construct}: {shown(layout)} is not a layout")
        object.__setattr__(self, "layout", layout)
        if layout.masks or layout.masks_inverse or layout.results is not None:
            raise LayoutError(f"{construct}: give a layout of one position that masks nothing")
        if len(self.n) != len(layout.dims):
            raise LayoutError(
                f"{construct}: {len(self.n)} sizes and a layout of {len(layout.dims)} dims; give as "
                "many of each"
            )
        for axis, (size, padded) in enumerate(zip(self.n, layout.dims, strict=True)):
            if isinstance(size, int) and isinstance(padded, int) and size > padded:
                raise LayoutError(
                    f"{construct}: size {axis} is {size}, and the layout has {padded} there; the "
                    "layout's sizes are the problem's, rounded up"
                )

    @property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The problem's sizes."""
        return self.n

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """The layout's, padding included."""
        return self.layout.physical_dims

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """The layout's."""
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
        """As the layout."""
        return self.layout.is_bounded

    def sizes(self) -> tuple[Any, ...]:
        """n and the layout's."""
        return self.n + self.layout.sizes()

    def offsets(self) -> tuple[Any, ...]:
        """The layout's."""
        return self.layout.offsets()

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """The layout's."""
        return self.layout.equations()

    def inequalities(self) -> Iterator[tuple[Any, Any]]:
        """The layout's, and n <= its dims."""
        yield from self.layout.inequalities()
        yield from zip(self.n, self.layout.dims, strict=True)

    def with_sizes(self, new: Change) -> Padded:
        """The same with other sizes."""
        return Padded([new.size(n) for n in self.n], self.layout.with_sizes(new))

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The layout's position."""
        return self.layout.forward(numbers, index)

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The layout's index, or -1s in the padding."""
        index = self.layout.backward(numbers, flat)
        ragged = [
            k
            for k, n in enumerate(self.n)
            if comparable((n,)) != comparable((self.layout.dims[k],))
        ]
        return numbers.masked([self.n[k] for k in ragged], [index[k] for k in ragged], index)

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The layout's position."""
        return self.layout.reference_apply(index)

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The layout's index where it lies within n."""
        index = self.layout.reference_inv(flat)
        held = inside(self.n, index)
        return tuple(select(held, i, -1) for i in index)

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.n), self.layout

    def __repr__(self) -> str:
        return f"Padded([{listed(self.n)}], {self.layout!r})"

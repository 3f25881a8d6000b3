"""The blocks that reorder the dimensions of one tile: RegP, Row and Col (Figs. 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LazyText
from .block import Change, Indexable, Numbers
from .digits import ravel, unravel
from .paper_definitions import gather, reference_ravel, reference_unravel, scatter
from .sizes import check_perm, check_sizes, comparable, listed, unwrapped


@dataclass(frozen=True, repr=False, eq=False, init=False)
class RegP(Indexable):
    """Regular permutation of a tile's dimensions (Figs. 3 and 4).

    dims: the tile's sizes. perm: a permutation of 0..d-1; a gather, so that dimension k of the
    permuted tile is dimension perm[k] of dims.

    Raises LayoutError on a wrong size or permutation.

        >>> from lego_emit import RegP
        >>> RegP([2, 3, 4], [0, 2, 1]).apply(0, 1, 2)  # (0, 2, 1) of a tile of 2 x 4 x 3
        7
    """

    dims: tuple[Any, ...]
    perm: tuple[int, ...]

    def __init__(self, dims: Sequence[Any], perm: Sequence[int]):
        construct = LazyText("RegP({}, {})", dims, perm)
        object.__setattr__(self, "dims", check_sizes(dims, construct))
        object.__setattr__(self, "perm", check_perm(perm, len(self.dims), construct))

    def with_sizes(self, new: Change) -> RegP:
        """The same permutation of other sizes."""
        return RegP([new.size(n) for n in self.dims], self.perm)

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The flat position of the permuted index in the permuted sizes."""
        sizes = [numbers.size(n) for n in self.dims]
        return ravel([sizes[k] for k in self.perm], [index[k] for k in self.perm])

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The index, each digit put back where it came from."""
        sizes = [numbers.size(n) for n in self.dims]
        found: list[Any] = [None] * len(sizes)
        for k, digit in zip(self.perm, unravel([sizes[k] for k in self.perm], flat), strict=True):
            found[k] = digit
        return found

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The permuted index, flattened in the permuted sizes."""
        return reference_ravel(gather(self.perm, self.dims), gather(self.perm, index))

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The digits in the permuted sizes, each put back where it came from."""
        return scatter(self.perm, reference_unravel(gather(self.perm, self.dims), flat))

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.dims), self.perm

    def __repr__(self) -> str:
        identity = tuple(range(len(self.dims)))
        if self.perm == identity:
            return f"Row({listed(self.dims)})"
        if self.perm == identity[::-1]:
            return f"Col({listed(self.dims)})"
        return f"RegP([{listed(self.dims)}], [{listed(self.perm)}])"


def Row(*dims: Any) -> RegP:
    """Row-major order of a tile of these sizes: RegP with the identity. Also Row([n1, .., nd]).

    >>> from lego_emit import Row
    >>> Row(4, 6).apply(1, 2)
    8
    """
    sizes = check_sizes(unwrapped(dims), LazyText("Row({!l})", dims))
    return RegP(sizes, range(len(sizes)))


def Col(*dims: Any) -> RegP:
    """Column-major order of a tile of these sizes: RegP with the reversal. Also Col([n1, .., nd]).

    The paper prints the sizes reversed too, which gives the inverse permutation; this is the
    column-major order that its text and its examples mean.

        >>> from lego_emit import Col
        >>> Col(4, 6).apply(1, 2)
        9
    """
    sizes = check_sizes(unwrapped(dims), LazyText("Col({!l})", dims))
    return RegP(sizes, range(len(sizes))[::-1])

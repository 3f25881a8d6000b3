"""AnyRank: strided memory whose number of axes is known when the program runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

from ..errors import IndexRangeError, LayoutError, a_type, short_repr
from ..ir.groups import Group
from ..ir.nodes import Node
from ..numeric import as_integer
from ..types import I32, Array
from .bundle import Bundle
from .loops import filled, fori_loop

CHECKED = 2**20  # elements
MOST, UNROLLED = 32, 8  # axes that may be asked for, in a loop and without one


class AnyRank(Bundle):
    """Strided memory of run-time rank: NumPy's and PyTorch's tensors, of up to `most` axes.

    generate(AnyRank(), target, name="nd") gives three functions. `nd_apply(rank, shape, strides, index)` is the
    position of an index, `nd_at(rank, shape, strides, flat)` that of the element with a row-major number, and
    `nd_inv(rank, shape, flat)` the index of that element. shape, strides and index are arrays of rank integers,
    whose types param_types= says: `param_types={"shape": "int32", "strides": "int64"}`. A stride may be 0
    (broadcast) or negative; positions count from the element of index 0.

    most: the greatest rank, from 1 to 32; unrolled: up to which rank the functions have code without a loop, which
    the loop for the others follows, from 0 to 8. On lists of integers apply(), at() and inv() answer themselves, and
    check what they are given.

        >>> from lego_emit import AnyRank
        >>> AnyRank().apply([2, 3], [1, 2], [1, 2])
        5
        >>> AnyRank().at([2, 3], [1, 2], 5), AnyRank().inv([2, 3], 5)
        (5, (1, 2))

    Raises LayoutError for another most, arrays of different lengths, and a rank above most; IndexRangeError for an
    index outside of the shape.
    """

    unit = "nd"

    def __init__(self, most: int = 8, *, unrolled: int = 4):
        number = None if isinstance(most, bool) else as_integer(most)
        if number is None or not 1 <= number <= MOST:
            raise LayoutError(
                f"AnyRank: most is {short_repr(most)}; give the greatest rank, from 1 to {MOST}"
            )
        few = None if isinstance(unrolled, bool) else as_integer(unrolled)
        if few is None or not 0 <= few <= UNROLLED:
            raise LayoutError(
                f"AnyRank: unrolled is {short_repr(unrolled)}; give the greatest rank with code of its own, from 0 to "
                f"{UNROLLED}"
            )
        self.most, self.unrolled = number, min(few, number)

    def __repr__(self) -> str:
        few = "" if self.unrolled == min(4, self.most) else f", unrolled={self.unrolled}"
        return f"AnyRank(most={self.most}{few})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyRank) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    # -- on integers ---------------------------------------------------------------------------

    def apply(self, shape: Sequence[int], strides: Sequence[int], index: Sequence[int]) -> int:
        """The position of an index: the sum of index[k] * strides[k]."""
        sizes = self._shape(shape)
        steps, at = (
            self._like(sizes, name, given)
            for name, given in (("strides", strides), ("index", index))
        )
        for k, (n, i) in enumerate(zip(sizes, at, strict=True)):
            if not 0 <= i < n:
                raise IndexRangeError(
                    f"AnyRank: index[{k}] is {i}, and shape[{k}] is {n}; give 0 to {n - 1}"
                )
        return sum(i * s for i, s in zip(at, steps, strict=True))

    def at(self, shape: Sequence[int], strides: Sequence[int], flat: int) -> int:
        """The position of the element with a row-major number, 0 <= flat < the product of the shape."""
        return self.apply(shape, strides, self.inv(shape, flat))

    def inv(self, shape: Sequence[int], flat: int) -> tuple[int, ...]:
        """The index of the element with a row-major number; the last axis is the fastest."""
        sizes = self._shape(shape)
        (rest,) = _integers("flat", [flat])
        if not 0 <= rest < prod(sizes):
            raise IndexRangeError(
                f"AnyRank: flat is {rest}, and the shape has {prod(sizes)} elements"
            )
        found = list[int]()
        for n in reversed(sizes):
            rest, i = divmod(rest, n)
            found.append(i)
        return tuple(reversed(found))

    def check(self, shape: Sequence[int], strides: Sequence[int]) -> str:
        """Check at each element of an array, at most 2^20 of them, that inv gives its index and at the position of
        that; a line that says so, and how many positions there are.

            >>> from lego_emit import AnyRank
            >>> AnyRank().check([2, 3], [1, 2]), AnyRank().check([2, 3], [0, 1])
            ('6 elements at 6 positions, 0..5: inv undoes at', '6 elements at 3 positions, 0..2: inv undoes at')

        Raises LayoutError for a larger array, and as apply() does.
        """
        sizes, found = self._shape(shape), set[int]()
        steps = self._like(sizes, "strides", strides)
        if (count := prod(sizes)) > CHECKED:
            raise LayoutError(f"AnyRank: {count} elements are too many to check, {CHECKED} at most")
        for flat, index in enumerate(product(*map(range, sizes))):
            at = sum(i * s for i, s in zip(index, steps, strict=True))
            if self.inv(sizes, flat) != index or self.at(sizes, steps, flat) != at:
                raise LayoutError(
                    f"AnyRank: at({flat}) is {self.at(sizes, steps, flat)}, inv {self.inv(sizes, flat)}"
                )
            found.add(at)
        ends = f", {min(found)}..{max(found)}" if found else ""
        many = (
            f"{k} {what}{'s' * (k != 1)}"
            for k, what in ((count, "element"), (len(found), "position"))
        )
        return f"{' at '.join(many)}{ends}: inv undoes at"

    def _shape(self, shape: Any) -> list[int]:
        sizes = _integers("shape", shape)
        if len(sizes) > self.most:
            raise LayoutError(
                f"AnyRank: the rank is {len(sizes)}, and most is {self.most}; give AnyRank(most={len(sizes)})"
            )
        if any(n < 0 for n in sizes):
            raise LayoutError(f"AnyRank: shape is {sizes}; a size is 0 or more")
        return sizes

    def _like(self, sizes: Sequence[int], name: str, given: Any) -> list[int]:
        found = _integers(name, given)
        if len(found) != len(sizes):
            raise LayoutError(
                f"AnyRank: shape has {len(sizes)} entries, and {name} has {len(found)}; give as many"
            )
        return found

    # -- what is emitted -----------------------------------------------------------------------

    def own(self) -> dict[str, Callable[..., Any]]:
        """The functions, as loops over the axes."""
        most = self.most

        def apply(rank: I32, shape: Array[...], strides: Array[...], index: Array[...]):
            """The position of an index in strided memory of any rank.

            Args:
                rank: how many axes there are
                shape: how many indices each axis has
                strides: how far apart neighbors along each axis are
                index: 0 <= index[k] < shape[k] for each axis k
            """
            return fori_loop(0, rank, lambda k, at: at + index[k] * strides[k], 0, most)

        def at(rank: I32, shape: Array[...], strides: Array[...], flat):
            """The position in strided memory of any rank of the element with a row-major number.

            Args:
                rank: how many axes there are
                shape: how many indices each axis has
                strides: how far apart neighbors along each axis are
                flat: the row-major number, below the product of the shape
            """

            def axis(k, state):
                rest, at = state
                place = rank - 1 - k
                size = shape[place]
                return rest // size, at + (rest if place == 0 else rest % size) * strides[place]

            return fori_loop(0, rank, axis, (flat, 0), most)[1]

        def inv(rank: I32, shape: Array[...], flat):
            """The index of the element with a row-major number.

            Args:
                rank: how many axes there are
                shape: how many indices each axis has
                flat: the row-major number, below the product of the shape
            """

            def axis(k, rest):
                place = rank - 1 - k
                size = shape[place]
                return rest // size, place, rest if place == 0 else rest % size

            return filled(0, rank, axis, flat, most)

        inv.__annotations__["return"] = Group(
            "",
            tuple(map(str, range(most))),
            open=True,
            called="index",
            count=Node("var", (), "rank"),
        )
        found = {"apply": apply, "at": at, "inv": inv}
        unrolled = {k: self._unrolled(k) for k in range(1, self.unrolled + 1)}
        for name, fn in found.items():
            more = {"index" if name == "apply" else "flat": (0, None), "shape": (1, None)}
            fn.ranges = {"rank": (0, most + 1), **more}  # type: ignore[attr-defined]
            for cases in unrolled.values():
                cases[name].ranges, cases[name].bundle = more, self  # type: ignore[attr-defined]
            fn.cases = "rank", {k: cases[name] for k, cases in unrolled.items()}  # type: ignore[attr-defined]
        return found

    @staticmethod
    def _unrolled(rank: int) -> dict[str, Callable[..., Any]]:
        """The functions for one rank, which don't divide by the size of the first axis."""

        def apply(shape: Array[...], strides: Array[...], index: Array[...]):
            return sum(index[k] * strides[k] for k in range(rank))

        def at(shape: Array[...], strides: Array[...], flat):
            index = inv(shape, flat)
            return sum(index[k] * strides[k] for k in range(rank))

        def inv(shape: Array[...], flat):
            found, rest = [], flat
            for k in range(rank - 1, 0, -1):
                found.append(rest % shape[k])
                rest = rest // shape[k]
            return (rest, *reversed(found))

        return {"apply": apply, "at": at, "inv": inv}


def _integers(name: str, given: Any) -> list[int]:
    """A list of integers. Raises LayoutError for anything else."""
    try:
        found = [None if isinstance(n, bool) else as_integer(n) for n in given]
    except TypeError:
        found = [None]
    if None in found:
        kind = "an integer" if name == "flat" else "a list of integers"
        shown = given[0] if name == "flat" else given
        raise LayoutError(f"AnyRank: {name} is {a_type(shown)}; give {kind}")
    return [n for n in found if n is not None]

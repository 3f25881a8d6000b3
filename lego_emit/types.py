"""Types for the annotations of index functions.

    >>> from typing import NamedTuple
    >>> import lego_emit
    >>> class Coord(NamedTuple):
    ...     x: int
    ...     y: int
    >>> def position(size: Coord, at: Coord) -> int:
    ...     return at.y * size.x + at.x
    >>> unit = lego_emit.generate(position, "cpp", ranges={"at.x": (0, "size.x")})
    >>> "position(Coord size, Coord at)" in unit.source
    True

A NamedTuple or a dataclass of integers is a struct, as a parameter and as a result; `Array[n]`, or
`tuple[int, .., int]`, is an array of n integers. Members are written as in Python wherever they are
named: `at.x` and `X[0]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from .errors import TraceError, short_repr

MOST = 4096  # elements of an array


class Array:
    """An array of n integers, in an annotation: Array[n], 1 <= n <= 4096.

    A function is given a tuple, whose elements it may read at constant indices. Raises TraceError for
    another n.

        >>> Array[4]
        Array[4]
    """

    __slots__ = ("count",)

    def __init__(self, count: int):
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
            raise TraceError(
                f"Array[{short_repr(count)}]: an array has a number of elements, 1 to {MOST}, as Array[4]"
            )
        self.count = count

    def __class_getitem__(cls, count: int) -> Array:
        return cls(count)

    def __getitem__(self, index: int) -> int:
        raise TypeError(f"{self!r} is a type, for annotations")

    def __iter__(self) -> Iterator[int]:
        raise TypeError(f"{self!r} is a type, for annotations")

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"Array[{self.count}]"

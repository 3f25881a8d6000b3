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

I8, I16, I32, I64, U8, U16, U32, U64, Size (an unsigned integer as wide as a pointer) and Bool declare one
integer, as a parameter, a field or a result. Values are converted from and to the index type.

`Static[int]`, or `Static[I32]`, is a size that is known when the emitted text is compiled: a template
parameter, a macro or a constant, as the language has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Protocol, TypeVar

from .errors import TraceError, short_repr
from .ir.index_types import BOOL, DECLARED, SIZE

I8 = Annotated[int, DECLARED["int8"]]
I16 = Annotated[int, DECLARED["int16"]]
I32 = Annotated[int, DECLARED["int32"]]
I64 = Annotated[int, DECLARED["int64"]]
U8 = Annotated[int, DECLARED["uint8"]]
U16 = Annotated[int, DECLARED["uint16"]]
U32 = Annotated[int, DECLARED["uint32"]]
U64 = Annotated[int, DECLARED["uint64"]]
Size = Annotated[int, SIZE]
Bool = Annotated[int, BOOL]


class StaticMark:
    """What Static[..] adds to an annotation."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Static"


STATIC = StaticMark()
T = TypeVar("T", bound=int)
Static = Annotated[T, STATIC]

SHORT_NAMES = {  # of the types, by what they are declared as
    "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "size": "Size", "bool": "Bool",
}  # fmt: skip
MOST = 4096  # elements of an array


class ArrayType:
    """What Array[n] is: an array of count integers."""

    __slots__ = ("count",)

    def __init__(self, count: int):
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
            raise TraceError(
                f"Array[{short_repr(count)}]: an array has a number of elements, 1 to {MOST}, as Array[4]"
            )
        self.count = count

    def __repr__(self) -> str:
        return f"Array[{self.count}]"


class Array(Protocol):
    """An array of n integers, in an annotation: Array[n], 1 <= n <= 4096.

    A function is given a tuple, whose elements it may read at constant indices, and returns a tuple or
    a list. Raises TraceError for another n.

        >>> Array[4]
        Array[4]
    """

    def __class_getitem__(cls, count: int) -> ArrayType:
        return ArrayType(count)

    def __getitem__(self, index: int, /) -> int:
        """The integer at a constant index."""
        ...

    def __iter__(self) -> Iterator[int]:
        """All n integers, in order."""
        ...

    def __len__(self) -> int:
        """How many integers it has, n."""
        ...

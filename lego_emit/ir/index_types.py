"""What an emitted function computes in: a name, and the integers that it holds.

Four are common to machines and to most languages. What else a language has, as Rust's usize or the
integers of a double, its printer declares: the type is a key of `Printer.types`.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf

from ..errors import TargetError, short_repr


class IndexType(str):
    """An index type. It is its own name, by which it is told from others; least and most are the
    first and the last integer that it holds, -inf and inf where there is no such."""

    __slots__ = ("least", "most")
    least: int
    most: int

    def __new__(cls, name: str, least: int, most: int) -> IndexType:
        """The type of a name."""
        made = super().__new__(cls, name)
        made.least, made.most = least, most
        return made

    def __getnewargs__(self) -> tuple[str, int, int]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return str(self), self.least, self.most

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last integer that it holds."""
        return self.least, self.most

    @property
    def width(self) -> int:
        """The number of its bits: a number is shifted by fewer places. Of a type whose ends are not
        those of so many bits, as a double's integers, it is 32 up to uint32, else 64."""
        bits = 0 if self.most == inf else self.most.bit_length()
        if self.most == (1 << bits) - 1 and self.least in (0, ~self.most):
            return bits + (self.least < 0)
        return 32 if self.most <= 2**32 else 64


INT32 = IndexType("int32", -(2**31), 2**31 - 1)
INT64 = IndexType("int64", -(2**63), 2**63 - 1)
UINT32 = IndexType("uint32", 0, 2**32 - 1)
UINT64 = IndexType("uint64", 0, 2**64 - 1)

# The common ones, by their names.
INDEX_TYPES: dict[str, IndexType] = {t: t for t in (INT32, INT64, UINT32, UINT64)}

# What a parameter or a result can be declared as beside them: it is converted from and to the index type.
SIZE, SSIZE = IndexType("size", *UINT64.ends), IndexType("ssize", *INT64.ends)
BOOL = IndexType("bool", 0, 1)
DECLARED: dict[str, IndexType] = {
    t: t
    for t in (
        IndexType("int8", -(2**7), 2**7 - 1), IndexType("int16", -(2**15), 2**15 - 1), INT32, INT64,
        IndexType("uint8", 0, 2**8 - 1), IndexType("uint16", 0, 2**16 - 1), UINT32, UINT64,
        SIZE, SSIZE, BOOL,
    )
}  # fmt: skip


def by_name(types: Collection[str], title: str) -> dict[str, IndexType]:
    """The index types that a language declares, the common ones first. title: what people call it.
    Raises TargetError for one of which nothing could be proved."""
    own: dict[str, IndexType] = {}
    for t in types:
        if isinstance(t, IndexType):
            if problem := _problem(t):
                ends = ", ".join(map(short_repr, t.ends))
                raise TargetError(
                    f"{title}: the key IndexType({str(t)!r}, {ends}) of types {problem}"
                )
            own[t] = t
        elif t not in INDEX_TYPES:
            raise TargetError(
                f"{title}: {t!r} is no common index type; write IndexType({t!r}, least, most) as the "
                "key of types"
            )
    return {name: t for name, t in INDEX_TYPES.items() if name in types} | own


def _problem(t: IndexType) -> str:
    """What is wrong with a language's own type, and the way out; "" where nothing is."""
    if t in ("", "auto"):
        return "has no name that index_type= can take; name it otherwise"
    if t.ends != (-inf, inf) and not all(type(end) is int for end in t.ends):
        return "has ends that are no int; give the first and the last integer, or -inf and inf"
    if t.least >= t.most:
        return "holds no two numbers; give the least first"
    if t in INDEX_TYPES and t.ends != INDEX_TYPES[t].ends:
        return "has a common type's name and other ends; name it otherwise"
    return ""

"""What an emitted function computes in: a name, and the integers that it holds.

Four are common to machines and to most languages. What else a language has, as Rust's usize or the
integers of a double, its printer declares: the type is a key of `Printer.types`.
"""

from __future__ import annotations

from collections.abc import Collection

from ..errors import TargetError


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


INT32 = IndexType("int32", -(2**31), 2**31 - 1)
INT64 = IndexType("int64", -(2**63), 2**63 - 1)
UINT32 = IndexType("uint32", 0, 2**32 - 1)
UINT64 = IndexType("uint64", 0, 2**64 - 1)

# The common ones, by their names.
INDEX_TYPES: dict[str, IndexType] = {t: t for t in (INT32, INT64, UINT32, UINT64)}


def by_name(types: Collection[str], title: str) -> dict[str, IndexType]:
    """The index types that a language declares, the common ones first. title: what people call it.
    Raises TargetError for one that says nothing of what it holds."""
    own: dict[str, IndexType] = {}
    for t in types:
        if t not in INDEX_TYPES:
            if not isinstance(t, IndexType):
                raise TargetError(
                    f"{title}: {t!r} is no common index type; write IndexType({t!r}, least, most) as the "
                    "key of types"
                )
            own[t] = t
    return {name: t for name, t in INDEX_TYPES.items() if name in types} | own

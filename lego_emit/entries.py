"""Numbers that are looked up by their place: what an operation `lookup` reads."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


class Entries:
    """A table of integers; equal ones have one name and the same values.

    name: what it is called in an emitted file. values: in the order of their places. least and
    most: bounds of the values. key: a text that is the same for equal tables everywhere."""

    __slots__ = ("key", "least", "most", "name", "values")

    def __init__(self, name: str, values: Iterable[int]):
        self.name, self.values = name, tuple(values)
        self.least, self.most = min(self.values), max(self.values)
        digest = blake2b(repr(self.values).encode(), digest_size=16).hexdigest()
        self.key = f"{name}#{digest}"

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entries) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[type[Entries], tuple[str, tuple[int, ...]]]:
        return Entries, (self.name, self.values)

    def __repr__(self) -> str:
        return self.name

    def at(self, place: int) -> int:
        """The value at a place. Raises ArithmeticError where there is none."""
        if 0 <= place < len(self.values):
            return self.values[place]
        raise ArithmeticError(f"{self.name} has no entry {place}")

    def between(self, first: int | None, last: int | None) -> tuple[int, int]:
        """Bounds of the values at the places first..last, None where they have no bound."""
        first, last = max(first or 0, 0), len(self) - 1 if last is None else last
        some = self.values[first : max(last, 0) + 1] if first or last < len(self) - 1 else ()
        return (min(some), max(some)) if some else (self.least, self.most)

    def named(self, name: str) -> Entries:
        """The same values under another name."""
        return self if name == self.name else Entries(name, self.values)

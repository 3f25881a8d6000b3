"""Numbers that are looked up by their place: what an operation `lookup` reads."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


class Entries:
    """A table of integers; equal ones have one name and the same values.

    name: what it is called in an emitted file. values: in the order of their places; or their
    number, of a table that is given to the function at run time: it has none here, and each of them
    is below that number. least and most: bounds of the values. key: a text that is the same for
    equal tables everywhere."""

    __slots__ = ("_size", "key", "least", "most", "name", "values")

    values: tuple[int, ...]

    def __init__(self, name: str, values: Iterable[int] | int):
        self.name = name
        if isinstance(values, int):
            self.values, self._size, self.least, self.most = (), values, 0, values - 1
            self.key = f"{name}[{values}]"
            return
        self.values = tuple(values)
        self._size, self.least, self.most = len(self.values), min(self.values), max(self.values)
        digest = blake2b(repr(self.values).encode(), digest_size=16).hexdigest()
        self.key = f"{name}#{digest}"

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entries) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[type[Entries], tuple[str, tuple[int, ...] | int]]:
        return Entries, (self.name, self._known)

    def __repr__(self) -> str:
        return self.name

    @property
    def _known(self) -> tuple[int, ...] | int:
        return self.values or self._size

    @property
    def given(self) -> bool:
        """Whether it is known at run time only."""
        return not self.values

    @property
    def says(self) -> str:
        """What a caller gives as a table that is known at run time only."""
        return f"{self._size} entries, 0 <= each < {self._size}"

    def at(self, place: int) -> int:
        """The value at a place. Raises ArithmeticError where there is none, or it is not known."""
        if self.values and 0 <= place < self._size:
            return self.values[place]
        raise ArithmeticError(f"{self.name}[{place}] has no value here")

    def between(self, first: int | None, last: int | None) -> tuple[int, int]:
        """Bounds of the values at the places first..last, None where they have no bound."""
        first, last = max(first or 0, 0), self._size - 1 if last is None else last
        some = self.values[first : max(last, 0) + 1] if (first, last) != (0, self._size - 1) else ()
        return (min(some), max(some)) if some else (self.least, self.most)

    def named(self, name: str) -> Entries:
        """The same table under another name."""
        return self if name == self.name else Entries(name, self._known)

"""Numbers that are looked up by their place: what an operation `lookup` reads."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any


class NoElement(ArithmeticError):
    """An element of an array that nobody knows here."""


class Entries:
    """A table of integers; equal ones have one name and the same values.

    name: what it is called in an emitted file. values: in the order of their places; none of a table
    that is given to the function at run time, which has `size` entries of at least 0, each below
    `below` (default: size); both are integers or expressions over sizes. array: of a parameter that is an array,
    of which integers are known by name, and at least size of them are read: "open" of one of any length, "filled" of
    such a one that is the result, else "fixed". least and
    most: bounds of the values, None where that is no number. kept: it stays a table, whatever a formula
    costs. key: a text that is the same for equal tables everywhere."""

    __slots__ = ("array", "below", "kept", "key", "least", "most", "name", "size", "values")

    below: Any
    least: int | None

    values: tuple[int, ...]
    most: int | None

    def __init__(
        self,
        name: str,
        values: Iterable[int] = (),
        *,
        size: Any = None,
        below: Any = None,
        kept: bool = False,
        array: str = "",
    ):
        self.name, self.kept, self.array = name, kept, array
        self.values = tuple(values)
        if array:
            self.size, self.below, self.least, self.most = size, None, None, None
            self.key = f"{name}[{_text(size)}]"
            return
        if size is not None:
            self.size, self.below = size, size if below is None else below
            self.least, self.most = 0, self.below - 1 if isinstance(self.below, int) else None
            self.key = f"{name}[{_text(self.size)}] < {_text(self.below)}"
            return
        self.size, self.least, self.most = len(self.values), min(self.values), max(self.values)
        self.below = self.most + 1
        digest = blake2b(repr(self.values).encode(), digest_size=16).hexdigest()
        self.key = f"{name}#{digest}{'!' * kept}"

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entries) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _made, (self.name, self.values, self.size, self.below, self.kept, self.array)

    def __repr__(self) -> str:
        return self.name

    @property
    def given(self) -> bool:
        """Whether it is known at run time only."""
        return not self.values

    @property
    def is_open(self) -> bool:
        """Whether it is an array of any length, which has each place that it is read at."""
        return self.array in ("open", "filled")

    @property
    def is_sized(self) -> bool:
        """Whether the number of its entries is known."""
        return isinstance(self.size, int)

    def at(self, place: int) -> int:
        """The value at a place. Raises ArithmeticError where there is none, or it is not known."""
        if 0 <= place < len(self.values):
            return self.values[place]
        raise ArithmeticError(f"{self.name}[{place}] has no value here")

    def read(self, place: int, *members: int) -> int:
        """The value at a place; members: of an array, those that are known. Raises ArithmeticError where
        there is none."""
        if not self.array:
            return self.at(place)
        if 0 <= place < len(members):
            return members[place]
        raise NoElement(f"{self.name}[{place}] has no value here")

    def between(self, first: int | None, last: int | None) -> tuple[int | None, int | None]:
        """Bounds of the values at the places first..last, None where they have no bound."""
        most = len(self.values) - 1
        first, last = max(first or 0, 0), most if last is None else last
        some = self.values[first : max(last, 0) + 1] if (first, last) != (0, most) else ()
        return (min(some), max(some)) if some else (self.least, self.most)

    def part(self, first: int = 0, last: int | None = None, step: int = 1) -> Entries:
        """The table of the entries that stand at the places first, first + step .. up to last."""
        some = self.values[first : None if last is None else last + 1 : step]
        return self if some == self.values else Entries(self.name, some, kept=self.kept)

    def named(self, name: str) -> Entries:
        """The same table under another name."""
        if name == self.name:
            return self
        return _made(name, self.values, self.size, self.below, self.kept, self.array)


def _made(
    name: str, values: tuple[int, ...], size: Any, below: Any, kept: bool, array: str
) -> Entries:
    if array:
        return Entries(name, size=size, array=array)
    if values:
        return Entries(name, values, kept=kept)
    return Entries(name, size=size, below=below)


def _text(size: Any) -> str:
    """A number or an expression, in the text that equal ones share."""
    return str(getattr(size, "key", size))

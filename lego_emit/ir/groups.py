"""Structs and arrays: parameters, or results, that are one to a caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .nodes import Node
from .relations import renamed


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters, or results, that are one struct or one array to a caller.

    name: the parameter's, "" of a result; members: the parameters or results, in order, and numbers for
    those that sizes= fixes; struct: the struct's name, "" of an array; fields: what the struct calls its
    members; meaning: what the user says of it; whole: whether it is one in the language at hand, too;
    own: what its class in Python calls the members; made: that class; types: what the members are
    declared as, () where all have the index type; bound: the text that stands in its place; native: the
    type of a code base (NativeType) that it is there; written: whether the function writes its result to
    it; open: whether it is an array of any length, of which these members are the first;
    count: how many elements of that are read; beside: of a result, (the name, the declared type) of one integer more that the function gives
    after it; doc: what the class says of itself; held: as a
    Param has it; called: of a result, the parameter that it is written to, "" for the usual name."""

    name: str
    members: tuple[str | int, ...]
    struct: str = ""
    fields: tuple[str, ...] = ()
    meaning: str = ""
    whole: bool = True
    own: tuple[str, ...] = ()
    made: Any = field(default=None, compare=False, repr=False)
    types: tuple[str, ...] = ()
    bound: str = ""
    native: Any = None
    written: bool = False
    open: bool = False
    count: Node | None = None
    beside: tuple[str, str] | None = None
    doc: str = field(default="", compare=False)
    held: str = ""
    called: str = ""

    @property
    def results(self) -> list[tuple[str, str]]:
        """(the name, the declared type) of each output of a result that it is."""
        types = self.types or ("",) * len(self.members)
        last = [] if self.beside is None else [self.beside]
        return [*zip(self.names, types, strict=True), *last]

    @property
    def names(self) -> list[str]:
        """The parameters or results in it."""
        return [n for n in self.members if isinstance(n, str)]

    @property
    def places(self) -> list[tuple[int, str]]:
        """(the place, the name) of each member that has no number."""
        return [(k, n) for k, n in enumerate(self.members) if isinstance(n, str)]

    @property
    def apart(self) -> dict[str, str]:
        """What each member is called where it is a parameter of its own."""
        fields = self.fields or [f"{k}" for k in range(len(self.members))]
        return {n: f"{self.name}_{fields[k]}" for k, n in self.places}

    @property
    def spoken(self) -> dict[str, str]:
        """What comments call each member that is read by another text: as Python does."""
        own = [f".{k}" for k in self.fields] or [f"[{k}]" for k in range(len(self.members))]
        found = {n: f"{self.held or self.name}{own[k]}" for k, n in self.places if self.whole}
        return {n: said for n, said in found.items() if n != said}

    def renamed(self, names: Mapping[str, str]) -> Group:
        """The group with other names for its members."""
        members = tuple(names.get(n, n) if isinstance(n, str) else n for n in self.members)
        beside = self.beside and (names.get(self.beside[0], self.beside[0]), self.beside[1])
        count = self.count and renamed(self.count, names)
        return replace(self, members=members, beside=beside, count=count)

    def value(self, values: Sequence[Any]) -> Any:
        """Its value in Python, of those of its members. Raises TypeError where its class changes them."""
        if self.beside is not None:
            return replace(self, beside=None).value(values[:-1]), values[-1]
        if not self.struct:
            if not self.open:
                return tuple(values)
            from .arrays import OpenArray

            return OpenArray(values)
        given = dict(zip(self.own, values, strict=True))
        made = self.made(**given)
        for name, value in given.items():
            got = getattr(made, name)
            if got is not value and not (type(got) is type(value) is int and got == value):
                raise TypeError(f"{self.made.__name__} changes its field {name} as it is made")
        return made

    def split(self, value: Any) -> list[Any]:
        """The values of its members, of an instance of its class, or of a sequence. Raises TypeError."""
        if self.beside is not None:
            if not isinstance(value, tuple | list) or len(value) != 2:
                raise TypeError(f"the result is a pair, not {value!r}")
            return [*replace(self, beside=None).split(value[0]), value[1]]
        if self.struct and isinstance(value, self.made):
            return [getattr(value, name) for name in self.own]
        found = list(value) if hasattr(value, "__iter__") else [value]
        if self.open and 0 < len(found) <= len(self.members):
            return found + found[-1:] * (len(self.members) - len(found))
        if self.open:
            raise TypeError(
                f"{self.name} is given {len(found)} elements; a run has 1 to {len(self.members)}"
            )
        if len(found) != len(self.members):
            what = f"{self.struct or 'an array'} of {len(self.members)}"
            raise TypeError(f"{self.name or 'the result'} is {what}, not {value!r}")
        return found

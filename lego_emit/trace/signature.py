"""How a user's function is called: its parameters, structs and arrays member by member."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any

from ..errors import TraceError
from ..ir.program import Group

_SCALARS = (int, "int", "None", None)


class Signature:
    """The parameters of a function, and what annotations say of them.

    parameters: by name; groups: those that are structs or arrays; result: what the result is together,
    None where nothing says so; types: what parameters, their members and "return", one result, are
    declared as; static: the static sizes. Raises TypeError or ValueError where Python can read no
    signature, and TraceError for an annotation that is wrong."""

    def __init__(self, fn: Any):
        self.parameters: Mapping[str, inspect.Parameter] = inspect.signature(fn).parameters
        self.groups: dict[str, Group] = {}
        self.result: Group | None = None
        self.types: dict[str, str] = {}
        self.static: set[str] = set()
        holder = annotated(fn)
        notes = getattr(holder, "__annotations__", {})
        if any(all(note is not known for known in _SCALARS) for note in notes.values()):
            from .annotations import groups_of

            found = groups_of(holder, notes, self.parameters)
            self.groups, self.result, self.types, self.static = found

    @property
    def groups_and_result(self) -> list[Group]:
        """All structs and arrays."""
        return [*self.groups.values(), *([] if self.result is None else [self.result])]

    def members(self, name: str) -> list[str]:
        """The names that a parameter has in what is emitted: its members', or its own."""
        group = self.groups.get(name)
        return [name] if group is None else group.names

    def of_elements(self, ranges: Sequence[Any]) -> list[Any]:
        """Ranges of parameters, in which that of an array is one of each element."""
        arrays = {n for n, group in self.groups.items() if not group.struct}
        return [
            replace(given, name=name)
            for given in ranges
            for name in (self.members(given.name) if given.name in arrays else [given.name])
        ]

    def declare(self, given: Mapping[str, str], structs: Mapping[str, str]) -> None:
        """Add types that are given by name; a struct's or an array's is each member's. structs: those of all
        members of a struct, by its name."""
        for group in self.groups.values():
            if kind := structs.get(group.struct):
                self.types |= dict.fromkeys(group.names, kind)
        if self.result is not None and (kind := structs.get(self.result.struct)):
            self.result = replace(self.result, types=(kind,) * len(self.result.members))
        for name, kind in given.items():
            self.types |= dict.fromkeys(self.members(name), kind)
        for name, group in self.groups.items():
            kinds = tuple(self.types.get(n, "") for n in group.names)
            if not group.struct and len({*kinds}) > 1:
                raise TraceError(
                    f"param_types gives elements of {name} other types than the rest; an array has one: name {name}"
                )
            self.groups[name] = replace(group, types=kinds if any(kinds) else ())
        own = next((n for n in ("return", self.result and self.result.called) if n in given), "")
        if self.result is not None and own:
            kind, beside = given[own], self.result.beside
            kinds = (kind,) * len(self.result.members)
            beside = beside and (beside[0], kind)
            self.result = replace(self.result, types=kinds, beside=beside)

    def taken(self, given: Collection[str]) -> list[str]:
        """The parameters that a caller gives: those without a default, or of which a name is given."""
        return [
            n
            for n, p in self.parameters.items()
            if p.default is p.empty or not {*self.members(n)}.isdisjoint(given)
        ]

    def arguments(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """How the function is called at values of the names: (by position, by keyword). A parameter that
        has no value among them takes its default, where it has one."""
        positional, keywords = [], {}
        for name, p in self.parameters.items():
            group = self.groups.get(name)
            known = name in values
            value = values.get(name, p.default)
            if group is not None and group.names[0] in values:
                known, value = True, group.value([values[n] for n in group.names])
            if p.kind is p.POSITIONAL_ONLY and (known or p.default is not p.empty):
                positional.append(value)
            elif known:
                keywords[name] = value
        return positional, keywords


def annotated(fn: Any) -> Any:
    """What has the annotations of something that can be called."""
    while isinstance(fn, partial):
        fn = fn.func
    if isinstance(fn, FunctionType):
        return fn
    return getattr(fn, "__func__", None) or vars(type(fn)).get("__call__", fn)

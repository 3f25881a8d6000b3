"""Structs and arrays in a file: legal names for them and for their members."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..errors import TargetError
from ..ir.nodes import Node
from ..ir.program import Function, Group
from ..ir.relations import const, replaced
from ..table_lookup import Entries
from .naming import fresh, keys_of
from .printer import Printer


class Structs:
    """The structs of a file by their names in Python, and how they are called in it. taken: the names
    that the file has; others: those that no field has either."""

    def __init__(self, printer: Printer, taken: set[str], others: Iterable[str] = ()):
        self._printer, self._taken = printer, taken
        self._others = {key for name in others for key in keys_of(name, printer)}
        self._fields: dict[str, tuple[str, ...]] = {}
        self._types: dict[str, tuple[str, ...]] = {}
        self._names: dict[tuple[str, str], str] = {}

    def legal(self, group: Group, index_type: str) -> Group:
        """A struct or an array with legal names for its type and its fields. Raises TargetError where
        another struct has the name."""
        if not group.struct:
            return group
        printer, name = self._printer, group.struct
        if self._fields.setdefault(name, group.fields) != group.fields:
            raise TargetError(
                f"two structs are named {name}: one of {', '.join(self._fields[name])}, one of "
                f"{', '.join(group.fields)}; rename one of them"
            )
        if self._types.setdefault(name, group.types) != group.types:
            raise TargetError(
                f"two structs are named {name}, and their fields have other types; give both the same"
            )
        if group.native is not None:
            return replace(group, struct=printer.native_type(group.native.name))
        kinds = {kind or index_type for kind in group.types or ("",)}
        if len(kinds) == 1 and (vector := printer.vector(group, *kinds)):
            return replace(group, struct=vector, fields=("x", "y", "z", "w")[: len(group.fields)])
        key = name, "" if all(group.types or ("",)) else index_type
        if key not in self._names:
            more = "" if all(known != name for known, _ in self._names) else f"_{index_type}"
            wanted = printer.naming.type(f"{name}{more}")
            if wanted in printer.reserved_functions | printer.builtins:
                wanted = f"{wanted}_v"
            self._names[key] = fresh(wanted, printer, self._taken)
        local, scope = printer.naming.local, {*self._others}
        fields = tuple(fresh(local(field), printer, scope) for field in group.fields)
        return replace(group, struct=self._names[key], fields=fields)

    def named(
        self, function: Function, scope: set[str], names: dict[str, str]
    ) -> tuple[tuple[Group, ...], Group | None]:
        """(the structs and arrays of the parameters, of the result) in the file, and in names what reads
        each member. scope: the names that the function has, to which theirs come."""
        printer, found = self._printer, []
        axes = {p.name for p in function.params if p.axis}
        if function.view is not None and any(axes & {*g.names} for g in function.groups):
            raise TargetError(
                f"view: the index of {function.name} is a struct or an array; a view takes integers, so "
                "leave index= out"
            )
        local, own = printer.naming.local, function.index_type
        result = function.result
        if result is not None:
            has = printer.has(result)
            if result.open and not has:
                raise TargetError(
                    f"{function.name} gives an array whose length is known when it runs, which {printer.title} has "
                    "not; choose another target"
                )
            result = self.legal(result, own) if has else replace(result, whole=False)
            if result.native is not None:
                from .natives import check_made

                check_made(function, result, printer)
        groups = [one for one in function.arguments if isinstance(one, Group) and one.whole]
        target = ""
        if printer.naming.results == "inout" and function.result is not None:
            target = written_to(function, function.result)
        legals = {one.name: self.legal(one, own) for one in groups if printer.has(one)}
        scope |= self._taken  # with their types
        for one in groups:
            if one.open:
                named = one.bound or fresh(local(one.name), printer, scope)
                legal = replace(one, name=named)
                members = {n: printer.member(legal, k) for k, n in one.places}
            elif one.name in (t.name for t in function.arrays) and one.name not in legals:
                raise TargetError(
                    f"{function.name} reads {one.name} at an index that is no constant, and {printer.title} "
                    f"takes the elements of an Array[{len(one.members)}] one by one: write Array[...]"
                )
            elif one.name in legals:
                named = (
                    one.bound or names.pop(one.name, "") or fresh(local(one.name), printer, scope)
                )
                legal = replace(legals[one.name], name=named, written=one.name == target)
                members = {n: printer.member(legal, k) for k, n in one.places}
            else:
                legal = replace(one, whole=False)
                members = {n: fresh(local(k), printer, scope) for n, k in one.apart.items()}
            found.append(legal.renamed(members))
            names |= members
        if result is not None and result.whole and (printer.writes_results or result.open):
            own = next((g.name for g in found if g.written), "")
            result = replace(
                result,
                name=own or fresh(local(result.called or "result"), printer, scope),
                written=bool(own),
            )
        return tuple(found), result


def at_places(function: Function) -> Function:
    """A function that looks elements of arrays of any length up at constants, too."""
    places = {
        n: (Entries(g.name, size=k + 1, array="open"), const(k))
        for g in function.groups
        if g.open
        for k, n in g.places
    }

    def read(node: Node) -> Node:
        if str(node.value) not in places:
            return node
        table, place = places[str(node.value)]
        return Node("lookup", (Node("table", (), table), place), None, node.lo, node.hi)

    return replace(
        function,
        body=tuple((n, replaced(e, read)) for n, e in function.body),
        outputs=tuple((n, replaced(e, read)) for n, e in function.outputs),
    )


def written_to(function: Function, result: Group) -> str:
    """The parameter that a function's result is written to, the first one of its type. Raises TargetError
    where there is none."""
    for one in function.groups:
        alike = (one.struct, one.fields, one.types) == (result.struct, result.fields, result.types)
        if alike and not one.bound and not one.held and len(one.members) == len(result.members):
            return one.name
    what = result.struct or f"an array of {len(result.members)}"
    raise TargetError(
        f"{function.name}: results is 'inout', and no parameter has the type of its result, {what}; add "
        "one, or write results='out'"
    )

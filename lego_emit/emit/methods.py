"""Functions as methods of a type that holds what stays the same from call to call: the sizes.

Inside, such a function is as any other. Its receiver is the object that holds some of its parameters, which the
language reads as members of it; a caller passes the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..errors import OptionError, TargetError, did_you_mean, short_repr
from ..ir.program import Function, Group, Header, Param, Program
from ..types import NativeType, parts
from . import registry
from .naming import fresh, keys_of
from .natives import is_layout, receivers_of, template
from .view import FunctionView

METHODS = ("apply", "inv", "fits")
R = TypeVar("R")


@dataclass(frozen=True)
class Receiver:
    """The object whose method a function is.

    name: its type's; method: what the type calls the function, "" where the object itself is called; alone:
    whether there is no object, and the type is asked; native: the type of a code base that it is.
    """

    name: str
    method: str = ""
    alone: bool = False
    native: NativeType | None = None


# -- which parameters are held -----------------------------------------------------------------------


def held_names(value: object) -> bool | tuple[str, ...]:
    """methods= of generate(): names of parameters, True for the sizes of layouts. Raises OptionError."""
    if value is True or value == "true":
        return True
    names = re.split(r"[\s,]+", value.strip(" ,")) if isinstance(value, str) else value
    names = names if isinstance(names, list | tuple) else []
    if not names or not all(isinstance(n, str) and n for n in names):
        raise OptionError(
            f"methods is {short_repr(value)}; give True, or the names of parameters, such as 'M, N'"
        )
    return tuple(dict.fromkeys(names))


def check_methods(view: bool, printer: Any) -> None:
    """Raise TargetError where a language has no methods, or a view is wanted beside them."""
    if not printer.receiver:
        known = [other.title for other in registry.working().values() if other.receiver]
        raise TargetError(
            f"methods: {printer.title} has no types with methods here; {', '.join(known)} have. Leave methods= "
            "out, and pass the sizes"
        )
    if view:
        raise TargetError(
            "methods and view are both asked for; a view holds the sizes itself: leave one of them out"
        )


def with_methods(
    program: Program,
    methods: bool | Sequence[str],
    printer: Any,
    types: Mapping[str, Any] | None = None,
) -> Program:
    """A program whose functions are methods of types that hold some of their parameters; those of which nothing
    is held stay as they are. methods: the names of what is held, or True for the sizes of layouts; types: as
    generate() takes them. Raises TargetError for a name that nothing has, with True where nothing is held or
    the sizes are not known, and for a function that has an array form."""
    natives = receivers_of(program, types or {})
    wanted = set(methods) if not isinstance(methods, bool) else set[str]()
    known = dict.fromkeys(one.name for f in program.functions for one in f.arguments)
    for name in sorted(wanted - known.keys()):
        raise TargetError(
            f"methods names {name}, which is no parameter; there are {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    functions = list[Function]()
    for part in program.subjects:
        own = part[0].name
        if (packing := part[0].packing) is not None:
            raise TargetError(
                f"methods: {packing.name} is fields of words, whose functions take the words; leave methods= out"
            )
        if is_layout(part[0]):
            own = own.removesuffix("_apply")
        elif methods is True:
            example = ", ".join(one.name for one in part[0].arguments[:2])
            raise TargetError(
                f"methods: {own} is no layout, whose sizes are known; name the parameters that are held, as "
                f"methods={example!r}"
            )
        made = [_method(f, own, wanted, natives.get(own), printer) for f in part]
        named = (one for f in made for one in f.arguments if one.held)
        held = any(methods is True or one.name in wanted for one in named)
        if not held and methods is True:
            raise TargetError(
                f"methods: {own} has no sizes left that a type could hold; leave methods= out"
            )
        functions += made if held else part
    return replace(program, functions=tuple(functions))


def _method(
    f: Function, own: str, wanted: set[str], native: NativeType | None, printer: Any
) -> Function:
    layout = any(p.axis for p in f.params) and not f.axes
    axes = {p.name for p in f.params if p.axis}
    held = set[str]()
    for one in f.arguments:
        names = one.names if isinstance(one, Group) else [one.name]
        index = not axes.isdisjoint(names)
        if one.name in wanted and (index or one.bound):
            what = f"bound to {one.bound}" if one.bound else "an index"
            raise TargetError(f"methods names {one.name}, which is {what}; name what is held")
        static = isinstance(one, Param) and one.static
        if static or (not one.bound and (one.name in wanted if wanted else layout and not index)):
            held.add(one.name)
    if held and f.axes:
        raise TargetError(
            f"methods: {f.name} has an array form, which takes all parameters; write a parameter for ':'"
        )
    method = f.name.removeprefix(f"{own}_") if layout else f.name if native else ""
    receiver = Receiver(own, "" if method == "apply" and layout else method, native=native)
    for group in f.groups:
        if group.open and group.name in held:
            raise TargetError(
                f"methods names {group.name}, an array of any length, which no type can hold; leave it out"
            )
    groups = tuple(replace(g, held=g.name) if g.name in held else g for g in f.groups)
    ordinary = printer.static == "argument"  # the object holds it as any other
    params = tuple(
        replace(p, held=p.name, static=p.static and not ordinary) if p.name in held else p
        for p in f.params
    )
    for group in groups:
        if group.held and group.native is not None:
            raise TargetError(
                f"methods: {own} would hold {group.name}, which is a {group.native.name} of your own; name what "
                "else is held, and pass it"
            )
    made = replace(f, params=params, groups=groups, receiver=receiver)
    if native is not None:
        _check_native(made, printer)
    return made


def _check_native(f: Function, printer: Any) -> None:
    """Raise TargetError where a type of a code base cannot hold what it should."""
    own, native = f.receiver.name, f.receiver.native
    if not printer.native_receiver:
        known = [other.title for other in registry.working().values() if other.native_receiver]
        raise TargetError(
            f"types: {own} is a type of your own, and {printer.title} has no definition of its methods apart "
            f"from it; {', '.join(known)} have: leave {own} out of types="
        )
    what = ""
    if any(g.held for g in f.groups):
        what = "it holds a struct or an array; let it hold integers"
    elif any(p.static for p in f.params):
        what = "its sizes are static; write int for Static[int]"
    elif native.member_type:
        name = next((one.name for one in f.arguments if one.held), "M")
        what = f"say what its members are by param_types={{{name!r}: {native.member_type!r}}}"
    elif native.passing:
        what = "nothing passes it; leave passing out"
    if what:
        raise TargetError(f"types: {own} is a type of your own, and {what}")


def in_no_namespace(printer: Any) -> Any:
    """The printer of a file with methods of a type of a code base, whose namespace nobody else knows."""
    if not printer.default_namespace or printer.naming.namespace:
        return printer
    made = copy(printer)
    made.default_namespace = ""
    return made


# -- what the language calls them --------------------------------------------------------------------


class Receivers:
    """The receivers of a program's functions in a file: legal names for types and members. taken: the names
    that the file has; others: those that the names of methods in Python are not."""

    def __init__(self, program: Program, printer: Any, taken: set[str]):
        self._printer = printer
        # Where the type is called as the function, the function's own name is not in the file.
        self._own = {*re.findall(r"^\w+", printer.receiver)}  # what it calls the object
        self.others = set(taken) if printer.asks_types else taken
        self.others |= self._own
        several = [f.name for f in program.functions if len(f.outputs) > 1]
        self._beside = {*METHODS}.union(
            *(printer.companions(printer.legal_name(printer.naming.public(n))) for n in several)
        )
        constants = {p.name for p in program.constants}
        self._names: dict[str, str] = {}
        self._fields: dict[str, dict[str, str]] = {}
        self._scopes: dict[str, set[str]] = {}
        for f in program.functions:
            receiver = f.receiver
            if receiver is None:
                continue
            if receiver.name not in self._names:
                self._names[receiver.name] = self._type(receiver, taken)
            name = self._names[receiver.name]
            fields = self._fields.setdefault(receiver.name, {})
            scope = self._scopes.setdefault(receiver.name, set())
            if not scope:
                keys = (keys_of(word, printer) for word in (*METHODS, name))
                scope |= taken.union(*keys)
            for one in f.arguments:
                if one.held and one.name not in fields and one.name not in constants:
                    fields[one.name] = (
                        one.name
                        if receiver.native
                        else fresh(printer.naming.local(one.name), printer, scope)
                    )

    def _type(self, receiver: Receiver, taken: set[str]) -> str:
        if receiver.native is not None:
            return receiver.native.name
        printer = self._printer
        wanted = printer.receiver_type(receiver.name)
        if wanted in printer.reserved_functions | printer.builtins:
            wanted = f"{wanted}_v"
        name = fresh(wanted, printer, taken | self._beside)
        taken |= keys_of(name, printer)
        return name

    def named(self, function: Function, scope: set[str], names: dict[str, str]) -> Function:
        """A function whose receiver and what it holds have legal names, and in names what reads each of that.
        scope: the names that the function has, to which those of the type come."""
        receiver, printer = function.receiver, self._printer
        fields = self._fields[receiver.name]
        scope |= self._scopes[receiver.name] | self._own
        listed = list(fields)
        for one in function.arguments:
            if one.held and one.name in fields:
                field = fields[one.name]
                apart = isinstance(one, Param) and one.apart
                if receiver.native is not None:
                    text = read(receiver.native, field, listed.index(field), printer)
                    scope |= keys_of(text, printer)
                else:
                    text = field if apart else printer.receiver.format(field)
                names[one.name] = text
        params = tuple(
            replace(p, held=fields.get(p.name, "")) if p.held else p for p in function.params
        )
        groups = tuple(replace(g, held=fields.get(g.name, "")) for g in function.groups)
        legal = replace(receiver, name=self._names[receiver.name])
        return replace(function, params=params, groups=groups, receiver=legal)

    def condition(self, function: Function, subject: Sequence[Function]) -> Function:
        """A condition on the sizes of functions, as the type of those is asked for it."""
        receiver = subject[0].receiver
        params = tuple(replace(p, held="") for p in function.params)
        function = replace(function, params=params)
        asked = self._printer.asks_types and not function.static
        if receiver is None or receiver.native is not None or not asked:
            return function
        name = self._names[receiver.name]
        return replace(function, receiver=Receiver(name, "fits", alone=True))


def read(native: NativeType, field: str, place: int, printer: Any) -> str:
    """The text that reads a member of the object of a type of a code base, in a method of it."""
    text = template(native, place, field, ".{}")
    whole = printer.native_receiver
    values = {"": field, "k": str(place), "name": whole.format("").rstrip(".>-") or "(*this)"}
    found = "".join(before + values.get(p or "", "") * (p is not None) for before, p in parts(text))
    if any(p == "name" for _, p in parts(text)):
        return found
    if text.startswith("["):
        return f"{values['name']}{found}"
    return whole.format(found.removeprefix("->").removeprefix("."))


# -- what a template sees ------------------------------------------------------------------------------


class ReceiverView:
    """What a template sees of a receiver: its name, its methods, what it holds, and what is asked of the type.
    methods, conditions: by printer, as their text stands further in; outer: what prints the file."""

    def __init__(
        self,
        printer: Any,
        methods: Sequence[FunctionView],
        conditions: Iterable[FunctionView],
        indent: int,
    ):
        narrow = copy(printer)
        narrow.line_width = printer.line_width - indent
        self.printer, self.outer = narrow, printer
        self.methods = [_printed(view, narrow) for view in methods]
        self.conditions = [_printed(view, narrow) for view in conditions]
        self.receiver: Receiver = methods[0].receiver
        self.name = self.receiver.name
        self._held: dict[str, tuple[Param | Group, FunctionView]] = {}
        for view in self.methods:
            for one in view.held:
                self._held.setdefault(one.held, (one, view))
        of_template = self.methods if printer.static == "template" else []
        static = {p.name: (p, view.type_of(p)) for view in of_template for p in view.static}
        self.template = [*static.values()]

    @property
    def names(self) -> list[str]:
        """What it holds, in order."""
        return [*self._held]

    @property
    def fields(self) -> Iterator[tuple[str, str, Param | Group]]:
        """(the name, what it is declared as, the parameter) of each that it holds."""
        for name, (one, view) in self._held.items():
            if isinstance(one, Group):
                T = self.printer.member_types(one, view.index_type)[0]
                yield name, self.printer.group_type(one, T), one
            else:
                yield name, view.type_of(one), one

    @property
    def said(self) -> dict[str, str]:
        """What is said of each: what the user says it is, and its range."""
        found = {}
        for name, (_, view) in self._held.items():
            header = view.header
            entries = [e for e in header.function.held if e.held == name]
            found[name] = next(iter(header.of(entries).values()))
        return found

    @property
    def ranges(self) -> dict[str, str]:
        """The ranges of each."""
        found = {}
        for name, (_, view) in self._held.items():
            known = view.header.ranges
            members = [e for e in view.header.function.held if e.held == name]
            names = [n for e in members for n in (e.names if isinstance(e, Group) else [e.name])]
            found[name] = ", ".join(known[n] for n in names if known[n])
        return found

    @property
    def header(self) -> Header:
        """What is said of the first method's parameters: all methods have the static sizes."""
        return self.methods[0].header


def _printed(view: FunctionView, printer: Any) -> FunctionView:
    return FunctionView(printer, view._function, view.unit, view.counter)


def receivers(
    printer: Any,
    functions: Sequence[FunctionView],
    fits: Sequence[FunctionView],
    kind: Callable[..., R],
    indent: int = 0,
) -> list[R]:
    """The receivers of functions, each with its methods, whose text stands indent further in. kind: the
    language's ReceiverView."""
    names = dict.fromkeys(f.receiver.name for f in functions if f.receiver is not None)
    return [
        kind(
            printer,
            [f for f in functions if f.receiver is not None and f.receiver.name == name],
            [f for f in fits if f.receiver is not None and f.receiver.name == name],
            indent,
        )
        for name in names
    ]

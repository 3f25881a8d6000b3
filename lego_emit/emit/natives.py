"""Types of a code base in the place of structs that a file would define (lego_emit.types.NativeType)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..errors import TargetError, did_you_mean
from ..ir.loops import of_round
from ..ir.nodes import Node
from ..ir.program import Function, Group, Program
from ..types import NativeType, parts


class Own(Protocol):
    """How a language has members of its own: what reads one, and the number of the first."""

    native_member: str
    first: int


@dataclass
class _Own:
    native_member: str = ".{}"
    first: int = 0


C = _Own()
PLAIN = {".{}", "%{}", "->{}"}  # members that are called as the fields
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
CALLED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?=\s*(?:[({<!]|::))")
WORD = re.compile(r"[A-Za-z_]\w*")
# What stands before and after a place that takes any expression.
OPEN = re.compile(r"(?:[(\[{,:]|(?:^|[^-+*/%&|^<>=!])=)\s*\Z")
SHUT = re.compile(r"\s*(?:[)\]},;]|\Z)")


def with_natives(
    program: Program, types: Mapping[str, NativeType], printer: Any, methods: bool = False
) -> Program:
    """A program in which structs are types of a code base, by the structs' names. methods: whether a type may
    be that of a receiver (lego_emit.emit.methods), which stays as it is. Raises TargetError where
    the language takes none, for a name that no struct has, and for a type that does not fit its struct."""
    if not printer.native_member:
        what = "defines the structs of a file itself"
        if not printer.has_structs:
            what = "has no structs as parameters: members stand by themselves"
        raise TargetError(f"types: {printer.title} {what}; leave types= out")
    if methods:
        others = receivers_of(program, types)
        types = {name: native for name, native in types.items() if name not in others}
    known = {g.struct: g for f in program.functions for g in _structs(f)}
    fixed = any(p.prepared for f in program.functions for p in f.params)
    own_sizes = {
        n: t for n, t in types.items() if fixed and n.endswith("_sizes") and n not in known
    }
    for name, native in types.items():
        if name in own_sizes:  # which emit/prepared.py makes
            continue
        if name not in known:
            has = f"there are {', '.join(known)}.{did_you_mean(name, known)}" if known else (
                "annotate a parameter or the result with a NamedTuple or a dataclass"
            )  # fmt: skip
            raise TargetError(f"types names {name}, which is no struct of a function; {has}")
        check(name, native, known[name].fields, printer.native_member)
    functions = []
    for f in program.functions:
        own = {g.struct for g in _structs(f)} & types.keys()
        if own and (f.axes or f.view is not None):
            what = (
                "an array form; write a parameter for ':'" if f.axes else "a view; leave view= out"
            )
            raise TargetError(f"types: {min(own)} is a type of your own, and {f.name} has {what}")
        if own and printer.native_index and f.index_type not in printer.native_index:
            raise TargetError(
                f"types: {min(own)} is a type of your own, beside which {printer.title} has no "
                f"{f.index_type} here; it has {', '.join(printer.native_index)}: leave index_type= out"
            )
        functions.append(_with(f, types) if own else f)
    return replace(program, functions=tuple(functions), sizes_types=own_sizes)


def is_layout(function: Function) -> bool:
    """Whether a function is the apply of a layout."""
    return not function.axes and any(p.axis for p in function.params)


def receivers_of(program: Program, types: Mapping[str, Any]) -> dict[str, Any]:
    """Those of types= that are no structs of a signature: the types of receivers."""
    names = {f.name.removesuffix("_apply") if is_layout(f) else f.name for f in program.functions}
    groups = {g.struct for f in program.functions for g in (*f.groups, f.result) if g is not None}
    return {name: types[name] for name in types if name in names - groups}


def _structs(function: Function) -> Iterator[Group]:
    """The structs of the parameters and of the result."""
    return (g for g in (*function.groups, function.result) if g is not None and g.struct)


def _with(function: Function, types: Mapping[str, NativeType]) -> Function:
    """A function whose structs are such types."""
    kinds = {p.name: p.type for p in function.params}
    kinds |= zip([n for n, _ in function.outputs], function.output_types, strict=True)

    def native(group: Group) -> Group:
        own = types.get(group.struct)
        found = [kinds[n] for n in group.names]
        if own and own.member_type and found and not any(found):
            raise TargetError(
                f"types: {group.struct} has members of {own.member_type}, and is given to {function.name} by "
                "index= or group=; annotate the parameters of a function instead"
            )
        return replace(group, native=own)

    groups = tuple(map(native, function.groups))
    return replace(function, groups=groups, result=function.result and native(function.result))


def check(name: str, native: NativeType, fields: Sequence[str], usual: str) -> None:
    """Raise TargetError where a type does not fit a struct of these fields."""
    members, listed = native.members, ", ".join(fields)
    if isinstance(members, Mapping):
        for field in (*members, *fields):
            if (field in members) != (field in fields):
                what = "says nothing of" if field in fields else "names"
                raise TargetError(
                    f"types: members of {name} {what} {field}; its fields are {listed}"
                )
    elif not isinstance(members, str) and len(members) != len(fields):
        raise TargetError(
            f"types: members of {name} are {len(members)} texts, and its fields are {listed}; give one for each"
        )
    texts = [
        _filled(template(native, k, field, usual), field, k, "") for k, field in enumerate(fields)
    ]
    for k, text in enumerate(texts):
        if text in texts[:k]:
            raise TargetError(
                f"types: {name} reads {fields[texts.index(text)]} and {fields[k]} by the same text; write {{}} "
                "or {k} in members, or a text for each field"
            )
    places = [place for _, place in parts(native.make) if place is not None]
    for place in places:
        if place not in ("", "type", *fields):
            raise TargetError(
                f"types: make of {name} has {{{place}}}; the fields are {listed}."
                f"{did_you_mean(place, fields)}"
            )
    if missing := [f for f in fields if places and "" not in places and f not in places]:
        raise TargetError(
            f"types: make of {name} leaves out {', '.join(missing)}; write {{}} for all members, or each"
        )


def template(native: NativeType, place: int, field: str, usual: str) -> str:
    """The text that reads a field of a type, with its places; usual: the language's own."""
    members = native.members or usual
    if isinstance(members, str):
        return members
    return members[field] if isinstance(members, Mapping) else members[place]


def _filled(text: str, field: str, number: int, name: str) -> str:
    values = {"": field, "k": str(number), "name": name}
    found = "".join(before + values.get(p or "", "") * (p is not None) for before, p in parts(text))
    return found if any(p == "name" for _, p in parts(text)) else name + found


def read(
    group: Group, place: int, name: str = "", own: Own = C, through: str = "", plain: bool = False
) -> str:
    """The text that reads a member of a parameter, or of what else has a name. own: how the language does;
    through: "*" where that is a pointer and members are those of a value, "&" the other way round; plain:
    without the brackets that keep it together among operators."""
    field, name = group.fields[place], name or group.name
    text = template(group.native, place, field, own.native_member)
    if through == "*" and text.startswith("."):
        text = f"->{text[1:]}"
    elif through:
        name = f"({through}{name})"
    found = _filled(text, field, place + own.first, name)
    return found if plain or is_atom(found, "%" in own.native_member) else f"({found})"


def of_value(group: Group, name: str, own: Own = C) -> list[str]:
    """The texts that read the members of a variable."""
    by = "&" if "*" in group.native.passing else ""
    return [read(group, k, name, own, by, plain=True) for k in range(len(group.fields))]


def variable(
    group: Group, texts: Sequence[str], name: str, forms: tuple[str, str, str]
) -> list[str]:
    """The statements that make a variable of members' texts. forms: what declares it with a value, without
    one, and what assigns. Raises TargetError where nothing says how one is made."""
    T = group.struct
    if group.native.make:
        return [forms[0].format(T=T, name=name, value=made(group, texts, ", ".join))]
    places = of_value(group, name)
    if not all(map(is_place, places)):
        raise unmade(group)
    pairs = zip(places, texts, strict=True)
    return [forms[1].format(T=T, name=name), *(forms[2].format(p, x) for p, x in pairs)]


def is_atom(text: str, percent: bool = False) -> bool:
    """Whether a text stands among operators without brackets: a name, members, elements and calls."""
    while (shorter := BRACKETS.sub("@", text)) != text:
        text = shorter
    joint = r"\.|->|::|%" if percent else r"\.|->|::"
    return re.fullmatch(rf"(@|[\w#]+)((({joint})[\w#]+)|@)*", text) is not None


def is_place(text: str) -> bool:
    """Whether a text that reads a member can be assigned to: what is called is not."""
    return not text.endswith(")")


def is_plain(group: Group, usual: str) -> bool:
    """Whether a type's members are called as the fields, so that the language's own way makes one."""
    texts = {template(group.native, k, f, usual) for k, f in enumerate(group.fields)}
    return texts <= PLAIN


def made(group: Group, texts: Sequence[str], together: Callable[[Sequence[str]], str]) -> str:
    """The text that makes one, by make; texts: its members'; together: what joins them."""
    pieces = parts(group.native.make)
    own = dict(zip(group.fields, texts, strict=True))
    found = ""
    for at, (before, place) in enumerate(pieces):
        found += before
        after = pieces[at + 1][0] if at + 1 < len(pieces) else ""
        safe = OPEN.search(before) and SHUT.match(after)

        def kept(text: str, safe: object = safe) -> str:
            return text if safe or is_atom(text) else f"({text})"

        if place == "type":
            found += group.struct
        elif place == "":
            found += together([kept(text) for text in texts])
        elif place is not None:
            found += kept(own[place])
    return found


def unmade(group: Group) -> TargetError:
    """The error where one is to be made for a call, and nothing says how."""
    return TargetError(
        f"types: to call a function that takes a {group.struct} one has to be made, and nothing says how; "
        "give NativeType make, such as '{type}({})'"
    )


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with values in its places."""
    return "".join(before + (values[place] if place else "") for before, place in parts(text))


def check_made(function: Function, group: Group, printer: Any) -> None:
    """Raise TargetError where nothing says how a result is made, or, of one that is written to, how its
    members are."""
    if group.native.make:
        return
    if printer.writes_results:
        if all(map(is_place, of_value(group, "at", printer))):
            return
        what = "whose members are no places to write to"
    elif is_plain(group, printer.native_member):
        return
    else:
        what = "and nothing says how one is made of its members"
    raise TargetError(
        f"types: {function.name} gives a {group.struct}, {what}; give NativeType make, such as "
        "'{type}({})'"
    )


def converted(
    function: Function, convert: Callable[[Node], Node], own: Collection[str] = ("",)
) -> Function:
    """A fitted function that converts the members that it reads of such types, those that are declared as
    one of these types: nothing says that a sum of two has as many bits as an index."""
    read = {
        name
        for g in function.groups
        if g.native is not None
        for k, name in g.places
        if (g.types[k] if g.types else "") in own
    }

    def whole(node: Node) -> Node:
        if node.op == "var":
            return convert(node) if node.value in read else node
        if node.op == "round":
            return of_round(node, whole)
        return node.over(tuple(map(whole, node.args))) if node.args else node

    if not read:
        return function
    return replace(
        function,
        body=tuple((name, whole(node)) for name, node in function.body),
        outputs=tuple((name, whole(node)) for name, node in function.outputs),
        asserted=tuple(map(whole, function.asserted)),
    )


def words(program: Program) -> set[str]:
    """The names that the texts of such types have, which nothing else may take."""
    found = set[str]()
    for native in program.natives:
        found |= {*WORD.findall(native.name.lstrip(":").partition("::")[0])}
        members = native.members
        texts = [members] if isinstance(members, str) else [*(
            members.values() if isinstance(members, Mapping) else members
        )]  # fmt: skip
        for text in (native.make, *(t for t in texts if "{name}" in t)):
            found |= {word for before, _ in parts(text) for word in CALLED.findall(before)}
    return found

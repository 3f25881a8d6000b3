"""Walks in a file: their names, and the lines of their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from ..ir.loops import COMPOUND, of_round
from ..ir.nodes import Node
from ..ir.program import Function
from ..ir.relations import renamed
from ..ir.walks import Odometer, Walk
from .loops import compound, in_rounds, variables
from .naming import fresh, keys_of, type_name

ROLES = ("walk", "next", "seek")  # of functions
OWN = ("at", "cursor", "item", "more", "state", "visit", "walk")  # names that forms have


def named(
    walk: Walk | Odometer,
    printer: Any,
    taken: set[str],
    tables: Callable[[Node], Node],
    labels: Mapping[tuple[str, int], str],
) -> Walk | Odometer:
    """A walk with the names that a file allows. taken: those of the file, which its own join; tables: a node with
    the names of the file's tables; labels: what the file calls the numbers of tags."""
    naming, stem = printer.naming, walk.name
    called = {role: fresh(naming.public(f"{stem}_{role}"), printer, taken) for role in ROLES}
    called["cursor"] = fresh(_type_of(naming.public(stem), printer, taken), printer, taken)
    if isinstance(walk, Odometer):
        return replace(walk, names=called)
    scope, own = {*taken, *OWN}, dict[str, str]()
    for name in (*walk.fixed, *walk.axes):
        own[name] = fresh(naming.local(name), printer, scope)
    made = within(walk, own, printer, scope, tables, labels)
    ends = dict(zip(walk.axes, made.axes, strict=True))
    for name in walk.limits:
        end, _, axis = name.partition(" ")
        text = fresh(naming.local(name.replace(" ", "_")), printer, scope)
        called[f"{end} {ends[axis]}"] = text
    return replace(made, names=called)


def within(
    walk: Walk,
    names: Mapping[str, str],
    printer: Any,
    scope: set[str],
    tables: Callable[[Node], Node],
    labels: Mapping[tuple[str, int], str],
) -> Walk:
    """A walk in a function. names: of parameters and axes there; scope: the names there, which its own join; tables
    and labels as in named()."""
    naming, own = printer.naming, dict(names)
    for name in (*walk.results, *walk.kept):
        own[name] = fresh(naming.local(name), printer, scope)

    def part(f: Function) -> Function:
        names = dict(own)
        for local, _ in f.body:
            names[local] = fresh(naming.local(local), printer, scope)
        read = tuple(replace(p, name=names[p.name]) for p in f.params if p.name in names)
        body = [(names[n], tables(renamed(e, names))) for n, e in f.body]
        outputs = tuple((names[n], tables(renamed(e, names))) for n, e in f.outputs)
        body = in_rounds(body, printer, scope, tables, labels, [e for _, e in outputs])
        return replace(f, params=read, body=tuple(body), outputs=outputs)

    fixed, axes, results, kept = (
        tuple(own[n] for n in group) for group in (walk.fixed, walk.axes, walk.results, walk.kept)
    )
    extents = tuple((base, renamed(e, own)) for base, e in walk.extents)
    return replace(
        walk.mapped(part), fixed=fixed, axes=axes, results=results, kept=kept, extents=extents
    )


def _type_of(name: str, printer: Any, taken: set[str]) -> str:
    """What the type of a walk is called: tex_cursor, or TexWalk, or TexCursor where TexWalk is a function."""
    if not _forms(printer).is_capital:
        return printer.naming.type_after(name, "cursor")
    own = type_name(name, "Walk")
    return type_name(name, "Cursor") if keys_of(own, printer) & taken else own


@dataclass(frozen=True)
class WalkForms:
    """How a language spells what a walk does. declare: a name of a function's own with its value; set: gives what
    a walk keeps another value, compound: by {sign}, "" where that is not spelled; field: what it keeps, and limit:
    a limit or a size; lines: those of the whole walk, of a WalkView; type: those
    of its type, where that stands apart; is_capital: whether types have capitals; odometer: the lines of a walk over
    memory of any rank, or of its type, of a view of the function."""

    lines: Callable[[WalkView], list[str]]
    declare: str = "const {T} {name} = {expr};"
    set: str = "{name} = {expr};"
    compound: str = "{name} {sign}= {expr};"
    field: str = "cursor->{name}"
    limit: str = ""
    type: Callable[[WalkView], list[str]] | None = None
    is_capital: bool = False
    odometer: Callable[[Any, bool], list[str]] | None = None


class WalkParts:
    """What a language's forms see of the parts of a walk: their names and lines."""

    def __init__(self, printer: Any, view: Any, walk: Walk, forms: WalkForms):
        self.printer, self.view, self.walk, self.forms, self.T = printer, view, walk, forms, view.T
        self.axes, self.fixed = walk.axes, walk.fixed
        self.results, self.kept = walk.results, walk.kept

    def start(self, indent: int, declared: Callable[[str], str] | None = None) -> list[str]:
        """The lines that put the positions at the index. declared: how a name is declared that is new there."""
        return self._lines(self.walk.start, indent, declared)

    def step(self, indent: int) -> list[str]:
        """The lines that take the positions to the next index of the last axis."""
        return self._lines(self.walk.step, indent)

    def _lines(
        self, parts: Sequence[Function], indent: int, declared: Callable[[str], str] | None = None
    ) -> list[str]:
        forms, printer = self.forms, self.printer
        changing = {n: forms.field.format(name=n) for n in (*self.axes, *self.results, *self.kept)}
        fixed = {n: (forms.limit or forms.field).format(name=n) for n in self.fixed}
        found: list[str] = []
        for part in parts:
            names = changing | fixed
            own = replace(
                part,
                body=tuple((n, _everywhere(e, names)) for n, e in part.body),
                outputs=tuple((changing[n], renamed(e, names)) for n, e in part.outputs),
            )
            view = self.view.inside(own)
            plain = self.view.inside(replace(own, outputs=()))  # which it gives as it sets them
            found += plain.statements(forms.declare, indent, remarks=False)
            for name, value in own.outputs:
                joint = forms.compound and declared is None
                sign, by = compound(name, value, view) if joint else ("", value)
                text = printer.expression(by, view)
                form = declared(name) if declared else forms.compound if sign else forms.set
                found.append(
                    printer.line(form.format(name=name, sign=sign, expr=text, T=self.T), indent)
                )
        return found


class WalkView(WalkParts):
    """The same of a walk of its own, with its names and limits."""

    def __init__(self, printer: Any, view: Any, forms: WalkForms):
        super().__init__(printer, view, view.walk, forms)
        names: Mapping[str, str] = view.walk.names
        self.name, self.cursor = names["walk"], names["cursor"]
        self.next, self.seek = names["next"], names["seek"]
        self.first = [names[f"first {n}"] for n in self.axes]
        self.last = [names[f"last {n}"] for n in self.axes]

    @property
    def along(self) -> list[tuple[str, str, str]]:
        """Each axis, its first index, and one past its last."""
        return [*zip(self.axes, self.first, self.last, strict=True)]

    def some(self, joining: str) -> str:
        """The condition that the box has an index; joining: an `and`, with a mark where a line is broken."""
        return joining.join(f"{a} < {b}" for _, a, b in self.along)

    @property
    def ahead(self) -> str:
        """What a step goes to the next one of: an index, or a position."""
        return "index" if self.walk.gives == "position" else "position"

    def puts(self, of: str = "") -> str:
        """What seek does, as a sentence. of: whose position or index it is."""
        axes, results = (
            f"({', '.join(names)})" if len(names) > 1 else "".join(names)
            for names in (self.axes, self.results)
        )
        given = f" {results}" if self.walk.gives == "index" else ""
        its = "its" if of else "the"
        return f"Sets the {self.walk.gives}{given}{of} to that of {its} {self.ahead} {axes}."

    @staticmethod
    def locals(parts: Sequence[Function]) -> list[str]:
        """The names that parts declare."""
        return list(dict.fromkeys(n for part in parts for n in variables(part.body)))

    def with_limits(self) -> WalkView:
        """The same with its limits as they are read where a size is."""
        made, form = self.with_forms(), self.forms.limit.format
        made.first = [form(name=n) for n in self.first]
        made.last = [form(name=n) for n in self.last]
        return made

    @property
    def fields(self) -> list[str]:
        """All that a cursor has: sizes, limits, the index, positions, what is kept."""
        return [*self.fixed, *self.first[1:], *self.last, *self.axes, *self.results, *self.kept]

    @property
    def parameters(self) -> list[str]:
        """What a caller passes."""
        return [*self.fixed, *self.first, *self.last]

    def with_forms(self, **forms: Any) -> WalkView:
        """The same in other forms."""
        return WalkView(self.printer, self.view, replace(self.forms, **forms))

    @property
    def summary(self) -> str:
        """What it goes over, without its end."""
        stem, (*_, last) = self.walk.name, self.axes
        if self.walk.gives == "index":
            results = ", ".join(self.results)
            index = f"({results})" if len(self.results) > 1 else results
            return f"the index {index} of {stem} at each position of a range"
        if len(self.axes) == 1:
            return f"the positions of {stem} at each {last} of a range"
        return f"the positions of {stem} at the indices ({', '.join(self.axes)}) of a box, {last} fastest"

    @property
    def limits(self) -> list[tuple[str, str]]:
        """(names, what must hold of them): each size and index that stays, then the first and last of each axis."""
        header = self.view.header
        reads = zip(self.fixed, self.walk.reads, strict=False)
        found = [(n, said) for n, own in reads if (said := header.params.get(own))]
        for (base, end), first, last in zip(self.walk.extents, self.first, self.last, strict=True):
            upper = f"{last}" if end is None else f"{last} <= {header.said(end)}"
            found.append((f"{first},{last}", f"{base} <= {first}, {upper}"))
        return found

    @property
    def needed(self) -> list[str]:
        """What must hold of the sizes: what the function asks of them, and what the walk does."""
        header = self.view.header
        return [*replace(header, function=self.view.walk.beside(header.function)).assumptions]


def _everywhere(node: Node, names: Mapping[str, str]) -> Node:
    """A node in other names, in the rounds and cases in it, too, whose own names are none of these."""
    node = renamed(node, names)
    if node.op not in COMPOUND:
        return node
    leaf = of_round(node.args[0], lambda e: _everywhere(e, names))
    return node.over((leaf, *node.args[1:]))


def walk_lines(printer: Any, view: Any, type_: bool = False) -> list[str]:
    """The lines of the walk of a function, or of its type; none where it has none."""
    if view.walk is None:
        return []
    forms = _forms(printer)
    if isinstance(view.walk, Odometer):
        return forms.odometer(view, type_) if forms.odometer else []
    lines = forms.type if type_ else forms.lines
    return lines(WalkView(printer, view, forms)) if lines else []


def _forms(printer: Any) -> WalkForms:
    module, _, name = printer.walks.partition(":")
    return getattr(import_module(module), name)

"""What a template sees of a function: its parts as text, and the lines of its comment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from ..ir.nodes import Node
from ..ir.program import Function, Group, Header, Param
from .comments import commented

FORMULA = 100  # columns of a formula's comment at most


class FunctionView:
    """What a template sees of a function: all of Function's fields, and texts; counter is the index
    type of what counts the elements of the ':' axes; exact: whether what is spelled has to have the index
    type, and not only its value; mixed: whether names may have narrower types than that; overloaded:
    whether the file has functions of several index types, and a helper for each."""

    overloaded = False

    def __init__(self, printer: Any, function: Function, unit: str, counter: str):
        self._printer, self._function, self.unit, self.counter = printer, function, unit, counter
        self.exact = self.mixed = False

    def __getattr__(self, name):
        return getattr(self._function, name)

    def nodes(self) -> Iterator[Node]:
        """Every node of it and of what it asserts."""
        parts = (f.nodes() for f in self._function.parts)
        return chain(self._function.nodes(), *parts, *(c.walk() for c in self.asserted))

    def typed(self, index_type: str) -> FunctionView:
        """The function in another index type."""
        own = self._printer.index_types[index_type]
        function = replace(self._function, index_type=own)
        return FunctionView(self._printer, function, self.unit, self.counter)

    def requiring(self, exact: bool) -> FunctionView:
        """The function, what is spelled of which has to have the index type, or not."""
        if exact == self.exact:
            return self
        made = FunctionView(self._printer, self._function, self.unit, self.counter)
        made.exact, made.mixed = exact, self.mixed
        return made

    @property
    def variables(self) -> list[str]:
        """The variables that it has, those of loops too."""
        from .loops import variables

        if self._function.calls:
            return [name for name, _ in self._function.body]
        bodies = [case.body for _, case in self._function.cases] + [self._function.body]
        return list(dict.fromkeys(n for body in bodies for n in variables(body)))

    @property
    def stepped(self) -> set[str]:
        """The names that the steps of its array form have."""
        if (steps := self._function.steps) is None:
            return set()
        from .loops import variables

        return {*steps.results, *steps.kept, *(n for f in steps.parts for n in variables(f.body))}

    def inside(self, function: Function) -> FunctionView:
        """A function that is a part of this one, in its index type."""
        made = FunctionView(self._printer, function, self.unit, self.counter)
        made.exact, made.mixed, made.overloaded = self.exact, self.mixed, self.overloaded
        return made

    @property
    def T(self) -> str:
        """The index type's spelling."""
        return self._printer.types[self._function.index_type]

    def statements(self, form: str, indent: int = 4, remarks: bool = True) -> list[str]:
        """The named statements; form has {name}, {expr} and {T}. Comments say the
        plain formulas of results and, with remarks, what bit tricks do."""
        lines, (told, results) = self.formulas(indent), self._remarks if remarks else ({}, {})
        if self._function.cases:
            from . import cases

            lines += cases.lines(self, form, indent)
        for k, (name, expr) in enumerate(self._function.body):
            lines += self._comment(told.get(name, ""), indent)
            if expr.op in ("loop", "switch"):
                from . import loops, switches

                made = loops if expr.op == "loop" else switches
                lines += made.lines(self, expr, self._function.body[:k], form, indent)
            else:
                lines.append(self._format(form, name, expr, indent))
        several = len(self._function.outputs) > 1
        for name, said in results.items():
            lines += self._comment(f"{name}: {said}" if several else said, indent)
        return lines

    def formulas(self, indent: int = 4) -> list[str]:
        """The comments that say the plain formula of each result that is computed otherwise."""
        printer, function = self._printer, self._function
        if not function.formulas:
            return []
        header = Header(function, printer.notation_of(function.index_type))
        room = min(FORMULA, printer.line_width)
        said = (f"{printer.remark} {commented(text)}" for text in header.formulas)
        return [line for line in said if printer.remark and indent + len(line) <= room]

    @cached_property
    def _remarks(self) -> tuple[dict[str, str], dict[str, str]]:
        from .remarks import remarks

        return remarks(self._function)

    def _comment(self, said: str, indent: int) -> list[str]:
        remark, room = self._printer.remark, self._printer.line_width - indent
        return [line] if said and remark and len(line := f"{remark} {said}") <= room else []

    def results(self, form: str, indent: int = 4) -> list[str]:
        """The outputs; form has {name}, {expr} and {T}."""
        return [self._format(form, n, e, indent) for n, e in self._function.outputs]

    def texts(self) -> list[str]:
        """The outputs' expressions, BREAK marks still in them."""
        return [self._printer.expression(node, self) for _, node in self._function.outputs]

    def _format(self, form: str, name: str, node: Node, indent: int) -> str:
        text = self._printer.expression(node, self)
        return self._printer.line(form.format(name=name, expr=text, T=self.T), indent)

    def signature(self, form: str, unused: str | None = None, separator: str = ", ") -> str:
        """The parameters; form has {name} and {T}, unused is the form of those that the function
        does not read."""
        return separator.join([*self.parameters(form, unused), *self.given_tables(form)])

    def parameters(self, form: str, unused: str | None = None) -> list[str]:
        """Those that are no tables, in order; forms as in signature()."""
        texts = []
        for one in self.entries:
            own = form if self.is_read(one) else unused or form
            if isinstance(one, Group):
                T = self._printer.member_types(one, self.index_type)[0]
                texts.append(self._printer.group_parameter(own, one, T))
            elif one.static and self._printer.static == "argument":
                texts.append(self._printer.static_parameter(own, one, self.type_of(one)))
            else:
                texts.append(own.format(name=one.name, T=self.type_of(one)))
        return texts

    def type_of(self, one: Param) -> str:
        """What a parameter is declared as."""
        return self._printer.type_of(one.type, self.index_type)

    @property
    def template(self) -> list[tuple[Param, str]]:
        """(a static size before the parameters, what it is declared as); of a method its type has them."""
        if self._function.receiver is not None or self._printer.static != "template":
            return []
        return [(p, self.type_of(p)) for p in self._function.static]

    @property
    def output_types(self) -> list[str]:
        """What each output is declared as."""
        f = self._function
        return [self._printer.type_of(kind, f.index_type) for kind in f.output_types]

    @property
    def accessors(self) -> list[str]:
        """The functions that read and write the fields that it says where they are."""
        return self._printer.accessors(self) if self._function.packing is not None else []

    @property
    def walk_lines(self) -> list[str]:
        """The walk over what it gives, if it has one."""
        return self._walk()

    def moving(self, indent: int = 2) -> list[str]:
        """The lines before the statements that move bits by instructions of x86, where it has such."""
        if self._function.moves is None:
            return []
        from importlib import import_module

        module, _, name = self._printer.moves.partition(":")
        return getattr(import_module(module), name)(self._printer, self, indent)

    @property
    def walk_type(self) -> list[str]:
        """The type of that, where it stands apart."""
        return self._walk(True)

    def _walk(self, of_type: bool = False) -> list[str]:
        if self._function.walk is None:
            return []
        from .walks import walk_lines

        return walk_lines(self._printer, self, of_type)

    @property
    def entries(self) -> list[Param | Group]:
        """The parameters as a caller has them."""
        return self._function.entries

    @property
    def inputs(self) -> list[str]:
        """The names of the parameters as a caller has them, in order."""
        return [one.name for one in self.entries]

    def is_read(self, entry: Param | Group) -> bool:
        """Whether the function reads a parameter, or a member of it."""
        if not isinstance(entry, Group):
            return entry.name in self.used
        read = entry.name in (t.name for t in self.arrays)
        return entry.written or read or not self.used.isdisjoint(entry.names)

    @property
    def calls_others(self) -> bool:
        """Whether it reads what may be no constant: members of a type of a code base, texts."""
        f = self._function
        own = f.receiver is not None and f.receiver.native is not None
        return own or self.natives or any(one.bound for one in (*f.params, *f.groups))

    @property
    def natives(self) -> bool:
        """Whether it takes or gives a type of a code base."""
        f = self._function
        return any(g is not None and g.native is not None for g in (*f.groups, f.aggregate))

    @property
    def several(self) -> bool:
        """Whether it gives more than one integer: a struct, an array, or several results."""
        return len(self._function.outputs) > 1 or self._function.aggregate is not None

    @property
    def fills(self) -> str:
        """The array that it fills and whose length is known when it runs; "" for none."""
        whole = self._function.aggregate
        return whole.name if whole is not None and whole.open else ""

    @property
    def beside(self) -> bool:
        """Whether it writes a struct or an array and returns an integer."""
        whole = self._function.aggregate
        return whole is not None and whole.beside is not None

    @property
    def typed_outputs(self) -> list[tuple[str, str]]:
        """The name of each output, and what it is declared as."""
        return [(n, T) for (n, _), T in zip(self.outputs, self.output_types, strict=True)]

    @property
    def result_type(self) -> str:
        """The type of what it gives, where that has a name."""
        f, printer = self._function, self._printer
        if f.aggregate is not None:
            return printer.group_type(f.aggregate, self.output_types[0])
        return printer.result_name(f.name) if len(f.outputs) > 1 else self.output_types[0]

    def given_tables(self, form: str) -> list[str]:
        """The parameters that are tables; form as in signature()."""
        given, T = self._printer.table_parameter, self.T
        return [given(form, T).format(name=t.name) for t in self.tables]

    @cached_property
    def used(self) -> frozenset[str]:
        """The names that statements and outputs read."""
        given = (n for _, names, _ in self._function.calls for n in names)
        return frozenset([*(str(n.value) for n in self._function.nodes() if n.op == "var"), *given])

    @cached_property
    def header(self) -> Header:
        """What the doc comment says of it, in the language's notation."""
        notation = self._printer.notation_of(self._function.index_type)
        return Header(self._function.spoken, notation)

    @property
    def docs(self) -> list[str]:
        """The lines of a plain doc comment: what it computes, ranges, assumptions."""
        return self.doc_lines("{}")

    def doc_lines(self, code: str) -> list[str]:
        """Those; code: how code is marked in them."""
        header, mark = self.header, code.format
        f = header.function
        lines = [f.summary] if f.summary else []
        groups = [g for g in f.groups if not g.held]
        lines += [f"{mark(g.name)}: {g.meaning}" for g in groups if g.meaning and g.whole]
        held = {n for one in f.held for n in (one.names if isinstance(one, Group) else [one.name])}
        for group in groups:
            if group.open and (said := header.elements(group)):
                lines.append(f"{mark(group.name)}: {', '.join(map(mark, said))}")
        for p in f.alone:
            if p.apart or p.name in held:
                continue
            told = [f"{mark(p.name)}: {p.meaning}"] if p.meaning else []
            told += [mark(said)] if (said := header.ranges[p.name]) else []
            lines += ["; ".join(told)] if told else []
        for t, (count, each) in zip(self.tables, header.table_ranges, strict=True):
            lines.append(f"{mark(t.name)}: {mark(count)} entries, {mark(each)}")
        result = [f.returns] if f.returns else []
        result += [mark(promised)] if (promised := header.promised()) else []
        lines += [f"Result: {'; '.join(result)}"] if result else []
        lines += [f"Assumes {mark(said)}" for said in header.of_bound]
        lines += [f"Assumes {mark(header.said(c))}" for c in f.assumed]
        lines += [f"Assumes {a}" for a in header.unseen]
        lines += [f"Renamed: {mark(old)} is {mark(new)} here" for old, new in self.renamed]
        return lines

    @property
    def doxygen(self) -> list[str]:
        """The same in Doxygen's commands."""
        header = self.header
        f = header.function
        lines = [f.summary] if f.summary else []
        sizes = header.params if self.template else {}
        told = {p.name: sizes[p.name] for p in f.static if sizes}
        lines += [f"@tparam {name} {said}" for name, said in told.items() if said]
        told = {**header.entries, **header.tables}
        lines += [f"@param {name} {said}" for name, said in told.items() if said]
        lines += [f"@return {result}"] if (result := header.result()) else []
        lines += [f"@pre {a}" for a in header.assumptions]
        lines += [f"@note Renamed: {old} is {new} here" for old, new in self.renamed]
        return lines

    @property
    def renamed(self) -> list[tuple[str, str]]:
        """(the user's name, the emitted name), but for members, which look alike."""
        f = self._function
        found = [(old, new) for old, new in self.header.function.renamed if old.isidentifier()]
        found = [(old, new) for old, new in found if old != new]
        whole = {n for n, _ in f.outputs} if f.aggregate is not None else set[str]()
        return [(old, new) for old, new in found if new not in whole]

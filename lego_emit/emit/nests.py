"""The lines of a nest in a language, by its table of forms.

A language's table is a `NestForms`, or a subclass of `NestLines` with one, which has a method for each
statement of lego_emit/ir/nests.py that no form spells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import Any

from ..errors import TargetError
from ..ir.index_types import INT64
from ..ir.nests import (
    Apply,
    Before,
    Body,
    Buffer,
    Each,
    Flag,
    Let,
    Loop,
    Move,
    Ref,
    Routine,
    Vectors,
    When,
    Zero,
)
from ..ir.nodes import Node, const, made, var
from ..ir.program import Function, Param
from ..ir.relations import renamed
from . import registry
from .view import FunctionView


@dataclass(frozen=True)
class NestForms:
    """How a language spells a nest, here C. {T}: the element's type, {I}: int64's.

    let: of {name} and {expr}; loop: of {name}, {start}, {stop} and {by}, where by is one of one_by_one and in_steps,
    of {name} and {step}; shifted: what names a step, of {name}, the counter {at} and the node's {expr}; when,
    otherwise, end: of a condition {expr}; place: of an {array} and an {offset}; pointer: to that; one: moves an
    element, of places {to} and {of}; run: moves several, of pointers {to} and {of} and the bytes {count}, as one
    does where it has {count}; zero, zeros:
    likewise, zero where it is not ""; each: calls a function of the file, of {call}, after which source and destination read its results.
    """

    let: str = "const {I} {name} = {expr};"
    loop: str = "for ({I} {name} = {start}; {name} < {stop}; {by}) {{"
    one_by_one: str = "++{name}"
    in_steps: str = "{name} += {step}"
    shifted: str = "const {I} {name} = {expr};"
    when: str = "if ({expr}) {{"
    otherwise: str = "}} else {{"
    end: str = "}}"
    place: str = "{array}[{offset}]"
    pointer: str = "{array} + {offset}"
    one: str = "{to} = {of};"
    run: str = "memcpy({to}, {of}, {count});"
    zero: str = ""
    zeros: str = "memset({to}, 0, {count});"
    each: tuple[str, ...] = ()
    indent: int = 2


class NestLines:
    """The lines of one routine. vectors: whether those of vector extensions are printed."""

    forms = NestForms()
    has_vectors = False

    def __init__(self, printer: Any, routine: Routine, names: Mapping[str, str], unit: str):
        self.printer, self.routine, self.names = printer, routine, names
        self.unit, self.type = unit, "T"
        params = tuple(Param(n) for n in names.values())
        self._function = Function("", params, (), (), INT64)

    # -- texts -------------------------------------------------------------------------------------

    @property
    def integer(self) -> str:
        """The type of sizes and places."""
        return self.printer.types[INT64]

    def text(self, node: Node, need: int = 0) -> str:
        """A node as text, in parentheses where it binds less tightly than need."""
        own = renamed(node, self.names)
        function = Function("", self._function.params, (("value", own),), (), INT64)
        function = self.printer.fitted(function)
        view = FunctionView(self.printer, function, self.unit, "")
        return self.printer.expression(function.body[0][1], view, need)

    def place(self, ref: Ref) -> str:
        """What reads or writes an element."""
        return self.forms.place.format(array=ref.array, offset=self.text(ref.offset))

    def pointer(self, ref: Ref, *more: Node) -> str:
        """A pointer to an element, beyond which there may be more."""
        offset = ref.offset
        for node in more:
            if node != const(0):
                offset = node if offset == const(0) else made("add", offset, node)
        if offset == const(0):
            return ref.array
        need = self.printer.ops["add"].needs[0]
        return self.forms.pointer.format(array=ref.array, offset=self.text(offset, need))

    def bytes(self, count: Node) -> str:
        """How many bytes so many elements have."""
        size = self.routine.element_bytes
        if count.op == "const":
            return str(count.value * size)
        return self.text(count if size == 1 else made("mul", count, size))

    # -- statements --------------------------------------------------------------------------------

    def lines(self, body: Body, indent: int) -> list[str]:
        """The lines of statements."""
        found: list[str] = []
        for statement in body:
            found += getattr(self, type(statement).__name__.lower())(statement, indent)
        return found

    def line(self, text: str, indent: int) -> str:
        """A line, broken where it is long."""
        return f"{' ' * indent}{self.printer.line(text, indent)}"

    def let(self, s: Let, indent: int) -> list[str]:
        """A name for an integer."""
        text = self.forms.let.format(I=self.integer, name=s.name, expr=self.text(s.value))
        return [self.line(text, indent)]

    def loop(self, s: Loop, indent: int) -> list[str]:
        """A loop, its last step moved back where that is asked for."""
        f, moved = self.forms, s.last is not None or s.rises
        name = f"{s.name}_at" if moved else s.name
        by = f.one_by_one if s.step == 1 else f.in_steps
        need = self.printer.ops["lt"].needs[1]
        head = f.loop.format(
            I=self.integer, name=name, start=self.text(s.start), stop=self.text(s.stop, need),
            by=by.format(name=name, step=s.step if isinstance(s.step, int) else self.text(s.step)),
        )  # fmt: skip
        found = [self.line(head, indent)]
        within = indent + f.indent
        if moved:
            least = var(name)
            if s.last is not None:
                least = made("select", made("lt", least, s.last), least, s.last)
            if s.rises:
                least = made("select", made("lt", var(name), 0), const(0), least)
            text = f.shifted.format(I=self.integer, name=s.name, at=name, expr=self.text(least))
            found.append(self.line(text, within))
        return [*found, *self.lines(s.body, within), self.line(f.end.format(), indent)]

    def conditions(self, condition: Node | None, op: str = "land") -> list[str]:
        """The texts of the conditions that one is made of, joined by an operation."""
        if condition is None:
            return []
        if condition.op == op:
            return [text for arg in condition.args for text in self.conditions(arg, op)]
        return [self.text(condition, self.printer.ops[op].needs[1])]

    def joined(self, texts: Sequence[str], op: str) -> str:
        """Conditions with an operation between them."""
        form = self.printer.ops[op].text
        return reduce(lambda x, y: form.format(x, y), texts)

    def flag(self, s: Flag, indent: int) -> list[str]:
        """A name for a truth, in languages that have vectors."""
        raise TargetError(f"{self.printer.title} has no vectors of copies")

    def before(self, s: Before, indent: int) -> list[str]:
        """Where a line begins, in languages that have vectors."""
        raise TargetError(f"{self.printer.title} has no vectors of copies")

    def when(self, s: When, indent: int) -> list[str]:
        """A choice between two bodies."""
        f = self.forms
        texts = [*s.flags]
        if not texts:
            texts = [self.joined(self.conditions(s.condition), "land")]
        elif s.condition is not None:
            texts += [self.text(s.condition, self.printer.ops["lor"].needs[1])]
        text = self.joined(texts, "lor")
        found = [
            self.line(f.when.format(expr=text), indent),
            *self.lines(s.then, indent + f.indent),
        ]
        if s.otherwise:
            found += [self.line(f.otherwise.format(), indent)]
            found += self.lines(s.otherwise, indent + f.indent)
        return [*found, self.line(f.end.format(), indent)]

    def move(self, s: Move, indent: int) -> list[str]:
        """One element, or a run of them."""
        form = self.forms.one if s.count == const(1) else self.forms.run
        if "{count}" not in form:
            return [self.line(form.format(to=self.place(s.to), of=self.place(s.of)), indent)]
        to, of, count = self.pointer(s.to), self.pointer(s.of), self.bytes(s.count)
        return [self.line(form.format(to=to, of=of, count=count, T=self.type), indent)]

    def zero(self, s: Zero, indent: int) -> list[str]:
        """Zeros in a run of elements."""
        if s.count == const(1) and self.forms.zero:
            return [self.line(self.forms.zero.format(to=self.place(s.to)), indent)]
        to, count = self.pointer(s.to), self.bytes(s.count)
        return [self.line(self.forms.zeros.format(to=to, count=count, T=self.type), indent)]

    def vectors(self, s: Vectors, indent: int) -> list[str]:
        """The plain part alone."""
        return self.lines(s.plain, indent)

    def each(self, s: Each, indent: int) -> list[str]:
        """Loops around a call."""
        body: list[str] = []
        within = indent + self.forms.indent * len(s.names)
        call = f"{self.routine.name}_places({', '.join(self.names.get(n, n) for n in s.arguments)})"
        for form in self.forms.each:
            if not s.masked and form.startswith("?"):
                continue
            body.append(
                self.line(
                    form.lstrip("?").format(
                        call=call, places=self.places, size=self.routine.element_bytes
                    ),
                    within,
                )
            )
        loops = [
            self.forms.loop.format(
                I=self.integer, name=name, start=0, stop=self.text(n),
                by=self.forms.one_by_one.format(name=name),
            )
            for name, n in zip(s.names, s.extents, strict=True)
        ]  # fmt: skip
        steps = [indent + self.forms.indent * k for k in range(len(loops))]
        heads = [self.line(text, at) for text, at in zip(loops, steps, strict=True)]
        ends = [self.line(self.forms.end.format(), at) for at in reversed(steps)]
        return [*heads, *body, *ends]

    @property
    def places(self) -> str:
        """The type of what gives both places."""
        return self.printer.result_name(f"{self.routine.name}_places")

    def apply(self, s: Apply, indent: int) -> list[str]:
        """A kernel, in languages that have vectors."""
        raise TargetError(f"{self.printer.title} has no kernels of copies")

    def buffer(self, s: Buffer, indent: int) -> list[str]:
        """A local array, in languages that have vectors."""
        raise TargetError(f"{self.printer.title} has no buffers of copies")


class Routines(tuple[Routine, ...]):
    """The copies of a file."""

    def text(self, printer: Any, program: Any) -> Any:
        """What a file's template has of them: `includes` and `lines`, by the class that a printer names in `copies`."""
        return forms_of(printer)(printer, program)

    def name_of(self, function: Function) -> str:
        """The copy whose first function this is; else what the function is called."""
        owners = (r.name for r in self if function.name == f"{r.name}_source_bytes")
        return next(owners, function.name)


def forms_of(printer: Any) -> Any:
    """The class that has the text of a language's copies. Raises TargetError where there is none."""
    where = getattr(printer, "copies", "")
    if not where:
        known = [n for n, other in registry.working().items() if getattr(other, "copies", "")]
        raise TargetError(f"{printer.title} has no copies; {', '.join(known)} have")
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def names_of(routine: Routine, functions: Sequence[Function]) -> dict[str, str]:
    """What the sizes of a routine are called in a file: as those of the functions of its memories' bytes."""
    return dict(zip(routine.sizes, (p.name for p in functions[0].params), strict=True))

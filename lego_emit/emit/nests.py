"""The lines of a nest in a language, by its table of forms.

A language's table is a `NestForms`, or a subclass of `NestLines` with one, which has a method for each
statement of lego_emit/ir/nests.py that no form spells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from importlib import import_module
from typing import Any

from ..errors import TargetError
from ..ir.index_types import INT64, IndexType
from ..ir.nests import (
    BUFFER,
    DESTINATION,
    SOURCE,
    VALUE,
    Abilities,
    Apply,
    Before,
    Body,
    Buffer,
    Call,
    Each,
    Flag,
    Helper,
    Let,
    Loop,
    Move,
    Ref,
    Routine,
    Vectors,
    When,
    Zero,
    plus,
)
from ..ir.nodes import Node, const, made, var
from ..ir.program import Function, Param
from ..ir.relations import renamed
from . import registry
from .ops import BREAK
from .view import FunctionView

OWN = (
    "run",
    SOURCE,
    DESTINATION,
    BUFFER,
    "at",
    "src_at",
    "dst_at",
    "out",
    "flat",
    "blank",
    "word",
)  # names that a routine has


@dataclass(frozen=True)
class NestForms:
    """How a language spells a nest, here C. {T}: the element's type, {I}: int64's.

    let: of {name} and {expr}; loop: of {name}, {start}, {stop} and {last}, which is one less; steps: likewise, by
    {step}; falls: from {last} down to {start}, in languages that have vectors; least: the smaller of {x} and {y}, a choice between them where it is ""; when,
    otherwise, end: of a condition {expr}; end_loop: the same of a loop; place: of an {array} and an {offset}; pointer: to that; one: moves an
    element, of places {to} and {of}; run: moves several, of pointers {to} and {of} and the bytes {count}, as one
    does where it has {count}; zero, zeros:
    likewise, zero where it is not ""; each: calls a function of the file, of {call}, after which source and destination read its results;
    box: calls the function {name} of boxes of one kind, with integers and arrays that are {given}; moved: the name of
    where a step would begin that may be moved back, of {name}; unrolled: what stands before a loop of which compilers
    put {count} steps side by side.
    """

    let: str = "const {I} {name} = {expr};"
    loop: str = "for ({I} {name} = {start}; {name} < {stop}; ++{name}) {{"
    steps: str = "for ({I} {name} = {start}; {name} < {stop}; {name} += {step}) {{"
    falls: str = "for ({I} {name} = {last}; {name} >= {start}; {name} -= {step}) {{"
    least: str = ""
    when: str = "if ({expr}) {{"
    otherwise: str = "}} else {{"
    end: str = "}}"
    end_loop: str = "}}"
    place: str = "{array}[{offset}]"
    pointer: str = "{array} + {offset}"
    one: str = "{to} = {of};"
    run: str = "memcpy({to}, {of}, {count});"
    zero: str = ""
    zeros: str = "memset({to}, 0, {count});"
    each: tuple[str, ...] = ()
    box: str = "{name}({given});"
    moved: str = "{name}_at"
    unrolled: str = ""
    indent: int = 2


class NestLines:
    """The lines of one routine. vectors: whether those of vector extensions are printed."""

    forms = NestForms()
    has_vectors = False
    rolled = ""  # what stands before a loop that remains one

    def __init__(self, printer: Any, routine: Routine, names: Mapping[str, str], unit: str):
        self.printer, self.routine, self.names = printer, routine, names
        self.unit, self.type = unit, "T"
        params = tuple(Param(n) for n in names.values())
        self._function = Function("", params, (), (), self.index_type)

    index_type: IndexType = INT64  # of sizes and places

    # -- texts -------------------------------------------------------------------------------------

    @property
    def integer(self) -> str:
        """The type of sizes and places."""
        return self.printer.types[self.index_type]

    def text(self, node: Node, need: int = 0) -> str:
        """A node as text, in parentheses where it binds less tightly than need."""
        own = renamed(node, self.names)
        function = Function("", self._function.params, (("value", own),), (), self.index_type)
        function = self.printer.fitted(function)
        view = FunctionView(self.printer, function, self.unit, "")
        return self.printer.expression(function.body[0][1], view, need)

    def inline(self, node: Node) -> str:
        """A text that is not broken, for comments."""
        return self.text(node).replace(BREAK, " ")

    @property
    def memories_said(self) -> str:
        """What a comment says of the sizes and of both memories."""
        sizes = "The sizes are those of the functions above. " if self.names else ""
        return f"{sizes}The two memories do not overlap."

    def value(self, node: Node) -> str:
        """The text of a whole value."""
        if node.op == "select" and self.forms.least:
            condition, x, y = node.args
            if condition.op == "lt" and condition.args == (x, y):
                return self.forms.least.format(x=self.text(x), y=self.text(y))
        return self.text(node)

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
        text = self.forms.let.format(I=self.integer, name=s.name, expr=self.value(s.value))
        return [self.line(text, indent)]

    def loop(self, s: Loop, indent: int) -> list[str]:
        """A loop, its last step moved back where that is asked for."""
        moved = s.last is not None or s.rises
        name = self.forms.moved.format(name=s.name) if moved else s.name
        found = [f"{' ' * indent}{self.rolled}"] if s.rolled and self.rolled else []
        if s.unrolled > 1 and self.forms.unrolled:
            found.append(f"{' ' * indent}{self.forms.unrolled.format(count=s.unrolled)}")
        head = self.falling(s) if s.falls else self.head_of(name, s.start, s.stop, s.step)
        found.append(self.line(head, indent))
        within = indent + self.forms.indent
        if moved:
            least = var(name)
            if s.last is not None:
                least = made("select", made("lt", least, s.last), least, s.last)
            if s.rises:
                least = made("select", made("lt", var(name), 0), const(0), least)
            found += self.let(Let(s.name, least), within)
        return [
            *found,
            *self.lines(s.body, within),
            self.line(self.forms.end_loop.format(), indent),
        ]

    def falling(self, s: Loop) -> str:
        """What begins a loop that falls."""
        assert isinstance(s.step, int)
        last = self.text(plus(s.stop, -s.step))
        return self.forms.falls.format(
            I=self.integer, name=s.name, start=self.text(s.start), last=last, step=s.step
        )

    def head_of(self, name: str, start: Node, stop: Node, step: int | Node) -> str:
        """What begins a loop."""
        form = self.forms.loop if step == 1 else self.forms.steps
        return form.format(
            I=self.integer, name=name, start=self.text(start), last=self.text(plus(stop, -1)),
            stop=self.text(stop, self.printer.ops["lt"].needs[1]),
            step=step if isinstance(step, int) else self.text(step),
        )  # fmt: skip

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

    def apart(self, s: Move, indent: int) -> list[str]:
        """A move in more than a line: its places have names first; none where they are names."""
        ends = {"dst_at": s.to, "src_at": s.of}
        lets = [Let(name, ref.offset) for name, ref in ends.items() if ref.offset.args]
        to, of = (
            replace(ref, offset=var(name)) if ref.offset.args else ref for name, ref in ends.items()
        )
        return self.lines((*lets, replace(s, to=to, of=of)), indent) if lets else []

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
        """Loops around a call, without one that has a single round."""
        loops = [
            self.head_of(name, const(0) if k else s.start, n, count)
            for k, (name, n, count) in enumerate(zip(s.names, s.extents, s.block, strict=True))
            if n != const(count) or count == 1
        ]
        steps = [indent + self.forms.indent * k for k in range(len(loops) + 1)]
        call, size = self.call_of(s), self.routine.element_bytes * s.count
        body: list[str] = []
        for form in self.each_of(s):
            if s.masked or not form.startswith("?"):
                text = form.lstrip("?").format(call=call, places=self.places, size=size)
                own = text.lstrip()
                body.append(self.line(own, steps[-1] + len(text) - len(own)))
        heads = [self.line(text, at) for text, at in zip(loops, steps, strict=False)]
        ends = [self.line(self.forms.end_loop.format(), at) for at in reversed(steps[:-1])]
        return [*heads, *body, *ends]

    def call_of(self, s: Each, *beyond: int) -> str:
        """A call of the index functions for the first of a block, or one beyond it. beyond: how far along each of the
        last indices."""
        given = [self.names.get(n, n) for n in s.arguments]
        steps = [*[0] * (len(s.names) - len(beyond)), *beyond]
        for name, n, count, step in zip(s.names, s.extents, s.block, steps, strict=True):
            at = s.arguments.index(name)
            if count > 1 and n == const(count):
                given[at] = str(step)
            elif step:
                given[at] = f"{given[at]} + {step}"
        return f"{self.routine.functions[-1]}({', '.join(given)})"

    def each_of(self, s: Each) -> Sequence[str]:
        """The forms of what is done for a call."""
        return self.forms.each

    @property
    def places(self) -> str:
        """The type of what gives both places."""
        return self.printer.result_name(self.routine.functions[-1])

    # -- boxes of one kind -------------------------------------------------------------------------

    def call(self, s: Call, indent: int) -> list[str]:
        """A call of what moves boxes of one kind."""
        given = f",{BREAK}".join(self.given(s.helper, [*map(self.text, s.arguments)]))
        text = self.forms.box.format(name=self.box_name(s.helper), given=given)
        return [self.line(text, indent)]

    def given(self, helper: Helper, integers: Sequence[str]) -> list[str]:
        """What such a function is given: integers and the arrays that it reads and writes."""
        return [*integers, *([SOURCE] if helper.reads else []), DESTINATION]

    def box_name(self, helper: Helper) -> str:
        """What such a function is called."""
        return f"{self.routine.name}_{helper.stem}"

    def box_told(self, helper: Helper) -> str:
        """What such a function does, in words."""
        name, is_box = self.routine.name, helper.stem.startswith("box")
        if helper.stem == "bulk":
            return f"Copies the largest box of {name}."
        if helper.reads:
            return f"Copies {'a box' if is_box else 'a piece'} of {name}."
        return f"Writes zeros into {'a box' if is_box else 'all boxes'} of the padding of {name}."

    def box_names(self, helper: Helper) -> list[str]:
        """The names of its integers."""
        return [self.names.get(name, name) for name in helper.parameters]

    # -- vectors -----------------------------------------------------------------------------------

    def apply(self, s: Apply, indent: int) -> list[str]:
        """A kernel, in languages that have vectors."""
        raise TargetError(f"{self.printer.title} has no kernels of copies")

    def buffer(self, s: Buffer, indent: int) -> list[str]:
        """A local array, in languages that have vectors."""
        raise TargetError(f"{self.printer.title} has no buffers of copies")


# How the languages of C spell what is made of an element.
VALUES = {
    "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "{0} / {1}", "mod": "{0} % {1}",
    "and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}", "not": "~{0}", "shl": "{0} << {1}", "shr": "{0} >> {1}",
}  # fmt: skip
BITWISE = ("and", "or", "xor")
PRODUCTS = ("mul", "div", "mod")
NARROW = ("shr", "div", "mod")  # operations that take the bits of an element and no more


def spelled(
    node: Node, forms: Mapping[str, str], literal: Callable[[int, str, int], str], name: str = VALUE
) -> str:
    """What is made of an element as text. forms: of each operation; literal: of a number, the operation that it
    is of, and which operand it is; name: of the element."""

    def operand(at: int, own: Node) -> str:
        if own.op == "const":
            return literal(own.value, node.op, at)
        text = spelled(own, forms, literal, name)
        inner, form = forms.get(own.op, ""), forms[node.op]
        is_free = inner.endswith(")") or re.search(rf"[(,{BREAK}] ?\{{{at}\}}[),]", form)
        if node.op in ("add", "sub") and own.op in PRODUCTS and form.startswith("{0} "):
            is_free = True
        return f"({text})" if own.args and not is_free else text

    if node.op == "var":
        return name
    if node.op == "const":
        return literal(node.value, "", 0)
    return forms[node.op].format(*(operand(k, a) for k, a in enumerate(node.args)))


def rows(entries: Sequence[int], indent: int) -> list[str]:
    """The lines of a table's numbers."""
    found = [", ".join(map(str, entries[k : k + 16])) for k in range(0, len(entries), 16)]
    return [f"{' ' * indent}{row}," for row in found]


def hexadecimal(value: int, op: str, at: int = 0) -> str:
    """A number as it is read best: bits in hexadecimal."""
    return f"0x{value:x}" if (op in BITWISE and value > 9) or value >= 2**31 else str(value)


def is_narrow(node: Node) -> bool:
    """Whether a node in wider arithmetic has no more bits than an element."""
    if node.op in ("or", "xor"):
        return all(map(is_narrow, node.args))
    return (
        any(map(is_narrow, node.args)) if node.op == "and" else not node.args or node.op in NARROW
    )


def narrowed(
    node: Node,
    most: int,
    ops: Collection[str] = NARROW,
    fits: Callable[[Node], bool] = is_narrow,
) -> Node:
    """A node in wider arithmetic: what some operations take has the high bits masked out, unless it fits."""
    args = tuple(narrowed(a, most, ops, fits) for a in node.args)
    if node.op in ops:
        args = tuple(a if fits(a) else made("and", a, const(most)) for a in args)
    return node.over(args)


class Routines(tuple[Routine, ...]):
    """The copies of a file."""

    def text(self, printer: Any, program: Any) -> Any:
        """What a file's template has of them: `includes` and `lines`, by the class that a printer names in `copies`."""
        return forms_of(printer)(printer, program)

    def name_of(self, function: Function) -> str:
        """The copy whose first function this is, "" of another function."""
        return next((r.name for r in self if function.name == r.functions[0]), "")

    def named(self, program: Any, naming: Any, places: Mapping[str, int]) -> Any:
        """The program with the routines by the names of its file. places: of functions by their names before."""
        functions = {old: program.functions[at].name for old, at in places.items()}
        named = (
            replace(
                r,
                name=naming.public(r.name),
                functions=tuple(functions[n] for n in r.functions),
                parts=functions.get(r.parts, ""),
            )
            for r in self
        )
        return replace(program, routines=Routines(named))


def forms_of(printer: Any) -> Any:
    """The class that has the text of a language's copies. Raises TargetError where there is none."""
    where = getattr(printer, "copies", "")
    if not where:
        known = ", ".join(registry.working("copies"))
        raise TargetError(f"{printer.title} has no copies; {known} have")
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def names_of(routine: Routine, program: Any) -> dict[str, str]:
    """What the sizes of a routine are called in a file: as those of the functions of its memories' bytes."""
    function = next(f for f in program.functions if f.name == routine.functions[0])
    return dict(zip(routine.sizes, (p.name for p in function.params), strict=True))


class CopyTexts:
    """What a file's template has of its copies."""

    lines_of: type[NestLines] = NestLines
    index_type: IndexType = INT64
    places_type: str | None = "int64"  # of places; None for the language's own
    abilities = Abilities()
    asked: Abilities | None = None  # what it has where a user of the file asks for registers
    threads = ""  # why the language has no copies in parts, for threads; "" where it has
    own: tuple[str, ...] = ()  # names that its routines have, beside OWN
    has_slices = False  # whether a part is handed a slice of the destination of its own
    has_parts = False  # whether a user's own threads can do parts of a copy

    @classmethod
    def file_names(cls, naming: Any, name: str) -> list[str]:
        """What a file has of a routine of that name."""
        return [name]

    @classmethod
    def refuses(cls, value: Node, element_bytes: int) -> str:
        """Why elements can't be changed on their way by a value; "" where they can."""
        return ""

    def __init__(self, printer: Any, program: Any):
        self.program = program
        self.parts: list[Any] = [
            self.lines_of(printer, routine, names_of(routine, program), program.name)
            for routine in program.routines
        ]

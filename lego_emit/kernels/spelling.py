"""Index expressions as a kernel's text: lowered, inlined, cast, in the language's spelling."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

from ..algebra.block import Block
from ..arith.assume import parse
from ..arith.expr import Expr
from ..arith.facts import current
from ..arith.given_ranges import parse_ranges
from ..arith.terms import Atom
from ..emit.emit import emit
from ..emit.printer import ATOM, FunctionView, Printer
from ..errors import TemplateError, nearest, shown
from ..ir.nodes import Node
from ..ir.program import INDEX_TYPES, Function, Program
from ..ir.relations import Range, renamed, replaced
from ..kinds import is_integer, is_symbolic
from ..pipeline import build_program
from ..trace.follow import follow, go_on
from ..trace.learn import learn_layout
from ..trace.subject import index_of
from ..trace.trace import Trace
from .values import Test, Value, values_of
from .widths import Widths

START, END, CLOSED = "\ue000", "\ue001", "\ue002"  # around an expression, until all text is there
LARGEST = 2000  # operations of one expression
OPAQUE = re.compile(r"\bexpression_\d+\b")  # names that stand for text of the kernel's own
NAMES = re.compile(r"(?<![\w.])[^\W\d]\w*")
BLOCK = re.compile(r"\bblock_\d+\b")  # and for the numbers below a size
CLOSING = {")": "(", "]": "[", "}": "{"}
EXTREMES = {"min": "lt", "max": "gt"}
ALWAYS = Node("eq", (Node("const", (), 0, 0, 0),) * 2)


class Kernel:
    """What a rendering knows: the printer, the names and their types, what is assumed of them.

    assumptions: what the expressions that were printed rest on, as a header says it.
    """

    def __init__(
        self,
        printer: Printer,
        index_type: str,
        assume: Sequence[Any],
        ranges: Mapping[str, Any],
        where: Mapping[str, Any],
    ):
        own = printer.kernel_types or printer.default_index
        self.printer, self.index_type = printer, own[0] if len(own) == 1 else index_type
        self.assume, self.ranges, self.where = [*assume], dict(ranges), dict(where)
        self.types: dict[str, str] = {}
        self.sizes: set[str] = set()
        self.assumptions: dict[str, None] = {}
        self._promises: dict[str, str] = {}  # the ranges of names that were written as statements
        self._texts: dict[str, str] = {}  # the names of opaque texts, and they
        self._made: dict[str, set[str]] = {}  # what the names that were written are made of
        self._blocks: dict[str, str] = {}  # the names of the numbers below a size, and their texts
        self._bindings: dict[str, Any] = {}
        self._programs: dict[Any, Program] = {}
        self._traces: dict[Any, Trace] = {}
        if not printer.declaration:
            raise TemplateError(f"kernels are not rendered in {printer.title} yet")
        if index_type not in ("auto", self.index_type):
            raise TemplateError(f"kernels in {printer.title} compute in {own[0]}, not {index_type}")
        self._usual = own[0]  # the language's int
        self.typed = index_type != "auto"

    # -- names --------------------------------------------------------------------------------

    def declare(self, name: str, type_name: str | None = None) -> Value:
        """A name of the kernel's own, of an index type; the language's usual int unless said."""
        if type_name is not None and type_name not in self.printer.types:
            known = [t for t in INDEX_TYPES if t in self.printer.types]
            raise TemplateError(
                f"{name}: no type {shown(type_name)}; {self.printer.title} has {', '.join(known)}."
                f"{nearest(type_name, known)}"
            )
        if not name.isidentifier() or name in self.printer.reserved:
            raise TemplateError(
                f"{shown(name)} is no name in {self.printer.title}; write identifiers, as in "
                "pm, pn: int32, i"
            )
        if name in self.types and name not in self.sizes:
            self._forget(name)
        self.types[name] = type_name or self._usual
        return Value(self, lambda: self._bound(name), name)

    def size(self, name: str) -> Value:
        """A layout's own size, which is a name of the kernel's too."""
        self.types.setdefault(name, self._usual)
        self.sizes.add(name)
        return Value(self, lambda: self._bound(name), name)

    def suppose(self, said: Any) -> None:
        """One more assumption, of names that are declared."""
        for name in sorted(names_of(said)):
            self.declared(name, f"assume {shown(said)}")
        self.assume.append(said)

    def finished(self) -> None:
        """Raises TemplateError where something was said of what the template has not."""
        for text in self.where:
            if text not in self._texts.values():
                raise TemplateError(
                    f"where: the template gives no layout the text {shown(text)}."
                    f"{nearest(text, list(self._texts.values()))}"
                )
        for said in self.assume:
            for name in sorted(names_of(said)):
                self.declared(name, f"assume {shown(said)}")
        for name in self.ranges:
            if name not in self._texts:
                self.declared(name, "ranges")

    def _forget(self, name: str) -> None:
        """The name stands for another value from now on."""
        stale = {n for n, said in self._promises.items() if n == name or name in names_of(said)}
        self._promises = {n: p for n, p in self._promises.items() if n not in stale}
        self.assume = [a for a in self.assume if name not in names_of(a)]
        self.ranges.pop(name, None)
        self._made = {n: of - {name} for n, of in self._made.items() if n != name}

    def declared(self, name: str, user: str) -> None:
        """Raises TemplateError unless the name is one."""
        if name not in self.types:
            raise TemplateError(
                f"{user}: {name} is no declared name.{nearest(name, list(self.types))}"
            )

    def _bound(self, name: str) -> Expr:
        symbol = Expr.atom(Atom("sym", name))
        return symbol + self._bindings[name] if name in self._bindings else symbol

    @contextmanager
    def moved(self, deltas: Mapping[str, Any]) -> Iterator[None]:
        """While the block runs, names are advanced by so much."""
        before = self._bindings
        self._bindings = {**before, **deltas}
        try:
            yield
        finally:
            self._bindings = before

    def value(self, given: Any) -> Value:
        """A value of a value, a number, a symbol, or text of the kernel's own language."""
        if isinstance(given, Value):
            return given
        if isinstance(given, str):
            return self._text(given)
        if is_integer(given):
            return Value(self, lambda: int(given), str(given))
        if is_symbolic(given):
            return Value(self, lambda: Expr.of(given), repr(given))
        if (name := getattr(given, "_undefined_name", None)) is not None:
            raise TemplateError(
                f"{name} is no declared name and nothing that was given."
                f"{nearest(name, [*self.types])}"
            )
        raise TemplateError(
            f"{shown(given)} is no index: give a declared name, an integer, an expression of them, "
            "or text of the kernel's language"
        )

    def _text(self, text: str) -> Value:
        """A name, or any other expression of the language, which is taken as it stands."""
        text = text.strip()
        if text in self.types:
            return Value(self, lambda: self._bound(text), text)
        if not text or START in text or not _balanced(text):
            raise TemplateError(f"{shown(text)} is no expression of the kernel's language")
        known = {t: n for n, t in self._texts.items()}
        name = known.get(text) or fresh(f"expression_{len(self._texts) + 1}", self.types)
        self._texts[name] = text
        self.types.setdefault(name, self._usual)
        if text in self.where:
            self.ranges[name] = self.where[text]
        return Value(self, lambda: self._bound(name), text)

    def block(self, size: Value, axis: int, axes: int, whole: bool) -> Value:
        """The numbers below a size, as one of so many axes. whole: nothing but these is meant; else
        they may go beyond what they index."""
        text = self.printer.block(self._extent(size), axis, axes)
        if not text:
            raise TemplateError(
                f"{self.printer.title} computes with one index at a time: write a loop over a name of "
                "the kernel's own in place of ':'"
            )
        known = {t: n for n, t in self._blocks.items()}
        name = known.get(text) or fresh(f"block_{len(self._blocks) + 1}", self.types)
        self._blocks[name] = text
        self.types.setdefault(name, self._usual)

        def make() -> Expr:
            last = Expr.of(size.make()) - 1
            current().learn_range(name, Expr.of(0), last if whole else None)
            return self._bound(name)

        return Value(self, make, text if whole else f"{text} of {size.said}", [size])

    def _extent(self, size: Value) -> str:
        """The size of a block as text, as wide as it is."""
        program = self._program({"size": size})
        (function,) = program.functions
        (node,) = _inlined(function, size.said)
        made = replace(function, body=(), outputs=(("size", self.printer.extent(node, size.said)),))
        (view,) = self._views(replace(program, functions=(made,)))
        texts = {n: t if t.isidentifier() else f"({t})" for n, t in self._texts.items()}
        return unbracketed(
            self.printer.inline(self.printer.expression(renamed(view.outputs[0][1], texts), view))
        )

    def unknown(self, name: str, size: Any) -> Value:
        """An index below a size that is in no kernel's text: what is proven holds for all of them."""
        size, name = self.value(size), f"any_{name}"

        def make() -> Expr:
            current().learn_range(name, Expr.of(0), Expr.of(size.make()) - 1)
            return Expr.atom(Atom("sym", name))

        return Value(self, make, f"{name} < {size.said}", [size])

    def is_zero(self, value: Value) -> bool:
        """Whether a value is proven to be 0 wherever what is known holds."""
        types, assumptions = {**self.types}, {**self.assumptions}
        (function,) = self._program({"value": value}).functions
        self.types, self.assumptions = types, assumptions
        node = function.outputs[0][1]
        return node.op == "const" and node.value == 0

    # -- text ---------------------------------------------------------------------------------

    def expression(self, value: Value) -> str:
        """A value as text, between marks that say whether it is bracketed already."""
        self._check_steps(value)
        program, node = self._whole(value)
        if isinstance(value, Test):
            node = node.args[0] if node.op == "int" else node
            if node.op == "const":
                node = ALWAYS if node.value else Node("ne", ALWAYS.args)
        text, closed = self._spelled(node, program, value.said)
        return f"{START}{CLOSED * closed}{text}{END}"

    def _whole(self, value: Value) -> tuple[Program, Node]:
        """A value as one expression."""
        program = self._program({"index": value})
        (function,) = program.functions
        (node,) = _inlined(function, value.said)
        return program, node

    def _check_steps(self, value: Value) -> None:
        """Raises TemplateError where a step is another one for another value of its names."""
        for step in value.steps:
            (moving,) = self._program({"index": step.of}).functions
            program, node = self._whole(step)
            for name in step.names:
                for param in moving.params:
                    if name in self._names_in(param.name) - {param.name}:
                        part = self._texts.get(param.name, param.name)
                        raise TemplateError(
                            f"{step.said}: {part} is made of {name}; write it by {name} itself"
                        )
                if any(n.op == "var" and n.value == name for n in node.walk()):
                    raise TemplateError(
                        f"{step.said} is not the same for every {name}: it would be "
                        f"{self._spelled(node, program)[0]}"
                    )

    def _names_in(self, name: str) -> set[str]:
        """A name, and those that it is made of."""
        text = self._texts.get(name) or self._blocks.get(name, name)
        words = {*NAMES.findall(text)}
        return words.union(*(self._made.get(word, ()) for word in words))

    def statements(self, names: Sequence[str], found: Any, indent: str) -> str:
        """Statements that declare names with these values, common parts first. From now on the names
        are the kernel's, in the ranges that are known of the values."""
        values = [*values_of(found)]
        for value in values:
            self._check_steps(value)
        if len(values) != len(names):
            raise TemplateError(
                f"{len(names)} names for {len(values)} values; give as many of each"
            )
        for name in names:
            if name in self.sizes:
                raise TemplateError(f"{name} is a size of a layout; take another name")
        program = self._program(dict(zip(names, values, strict=True)))
        (view,), (function,) = self._views(program), program.functions
        for name in names:
            if any(name == param.name for param in function.params):
                raise TemplateError(f"{name} is made of another {name}; give it a name of its own")
        own: dict[str, str] = {}
        for name, _ in function.body:
            own[name] = fresh(f"{names[0]}_{name}", {*self.types, *names, *own.values()})
        for _, node in (*view.body, *view.outputs):
            self._check_helpers(node, view, ", ".join(v.said for v in values))
        types = {**self.types, **dict.fromkeys(own.values(), function.index_type)}
        widths = Widths(self.printer, view, types, self._texts, self._blocks)
        lines, form = [], self.printer.declaration
        for name, node in (*view.body, *view.outputs):
            root = widths.declared(renamed(node, own))
            text = unbracketed(self.printer.inline(self.printer.expression(root, view)))
            lines.append(form.format(name=own.get(name, name), expr=text, T=view.T))
        made_of = set[str]().union(*(self._names_in(param.name) for param in function.params))
        for name in names:
            self._forget(name)
            self.declare(name, self._declared_type(name, function))
            self._made[name] = made_of
        for name, promise in zip(names, function.promises, strict=False):
            bounds = (
                b if b and self._is_of_sizes(b) else None for b in (promise.least, promise.end)
            )
            if said := Range(*bounds).says(name):
                self._promises[name] = said
        return "".join(f"{indent}{line}\n" for line in lines)

    def _is_of_sizes(self, bound: Node) -> bool:
        """Whether a bound is one in layouts' sizes alone; another hides the range that an index has."""
        return all(node.op != "var" or node.value in self.sizes for node in bound.walk())

    def _declared_type(self, name: str, function: Function) -> str:
        """The type of a name that a statement gives a value."""
        before, made = self.types.get(name), function.index_type
        if "{T}" in self.printer.declaration or before in (None, made):
            return made
        (least, most), (lo, hi) = INDEX_TYPES[before], INDEX_TYPES[made]
        if not least <= lo <= hi <= most:
            raise TemplateError(
                f"{name} is declared {before}, and its value may need {made}: write "
                f"{{% names {name}: {made} %}}, and say so in the kernel"
            )
        return before

    def functions(self, layout: Any, name: str) -> str:
        """A layout's functions as a whole file has them."""
        program = build_program(
            layout, self.printer, name, None, self.assume, self.index_type, ranges=None
        )
        return emit(program, self.printer.name).source

    def _program(self, values: Mapping[str, Value]) -> Program:
        """Values as a lowered function of all names, of which params are those that it uses."""
        what = tuple((name, type(value), value.said) for name, value in values.items())
        key = what, self._state()
        if key not in self._programs:
            self._programs[key] = self._made_program(values)
        return self._programs[key]

    def _state(self) -> tuple[str, ...]:
        """All that is known of the names."""
        known = [*self.types.items(), *self._promises.items(), *self.assume, *self.ranges.items()]
        return tuple(map(str, known))

    def _known(self, layouts: tuple[Block, ...]) -> tuple[Trace, list[Any]]:
        """(what is known of the names and of these layouts' sizes; the assumptions)."""
        said = [*self.assume, *self._promises.values()]
        assume = [a for a in said if names_of(a) <= self.types.keys()]
        key = tuple(map(id, layouts)), self._state()
        if key not in self._traces:

            def learn(trace: Trace) -> None:
                trace.signature = [*self.types]
                for layout in layouts:
                    learn_layout(layout)

            ranges = {n: r for n, r in self.ranges.items() if n in self.types}
            self._traces[key] = follow(learn, None, assume, 0, parse_ranges(ranges or None))[0]
        return self._traces[key], assume

    def _made_program(self, values: Mapping[str, Value]) -> Program:
        def outputs(_: Trace) -> Any:
            found = {name: value.make() for name, value in values.items()}
            return found if len(found) > 1 else next(iter(found.values()))

        layouts = dict.fromkeys(x for value in values.values() for x in value.layouts)
        known, assume = self._known(tuple(layouts))
        trace, result = go_on(known, lambda _: None, outputs)
        program = build_program(
            index_of(trace, result), self.printer, "index", None, assume, self.index_type
        )
        (function,) = program.functions
        for param in function.params:
            self.types.setdefault(param.name, self._usual)  # a layout's own size
            if param.name in trace.narrowed and param.name not in self._texts:
                self.assumptions[param.range_text] = None
            if param.name in self._texts and param.name not in self.ranges and param.range_text:
                text = self._texts[param.name]
                self.assumptions[param.range_text.replace(param.name, f"({text})")] = None
        for said in function.assumptions:
            said = OPAQUE.sub(lambda m: f"({self._texts.get(m[0], m[0])})", said)
            said = BLOCK.sub(lambda m: self._blocks.get(m[0], m[0]), said)
            self.assumptions[said] = None
        if len(values) == 1:
            ((name, value),) = values.items()
            if function.outputs[1:]:
                raise TemplateError(f"{value.said} has {len(function.outputs)} values: give one")
            function = replace(function, outputs=((name, function.outputs[0][1]),))
        used = {str(node.value) for node in function.nodes() if node.op == "var"}
        function = replace(function, params=tuple(p for p in function.params if p.name in used))
        return replace(program, functions=(function,))

    def _views(self, program: Program) -> list[FunctionView]:
        """As Printer.fitted_views(), without the helpers that choose the smaller or larger."""

        def plain(node: Node) -> Node:
            node = replace(node, args=tuple(map(plain, node.args)))
            if node.op in EXTREMES and self.printer.ops[node.op].helper:
                return replace(
                    node, op="select", args=(Node(EXTREMES[node.op], node.args), *node.args)
                )
            return node

        (function,) = program.functions
        body, outputs = (
            tuple((n, plain(node)) for n, node in part)
            for part in (function.body, function.outputs)
        )
        function = replace(function, body=body, outputs=outputs)
        return self.printer.fitted_views(replace(program, functions=(function,)))

    def _spelled(self, node: Node, program: Program, said: str = "") -> tuple[str, bool]:
        """(the text, whether it binds as tightly as a name). said: what must need no helper."""
        function = replace(program.functions[0], body=(), outputs=(("r", node),))
        (view,) = self._views(replace(program, functions=(function,)))
        ((_, root),) = view.outputs
        if said:
            self._check_helpers(root, view, said)
        widths = Widths(self.printer, view, self.types, self._texts, self._blocks)
        root = widths.whole(root, self.typed)
        text = self.printer.inline(self.printer.expression(root, view, ATOM))
        return (text, True) if (bare := unbracketed(text)) == text else (bare, False)

    def _check_helpers(self, root: Node, view: FunctionView, said: str) -> None:
        """A kernel's text has no helper functions."""
        for node in root.walk():
            if node.op == "table" and not node.value.given:
                raise TemplateError(
                    f"{said} needs a constant table, which no kernel's text holds: take {{{{ A.functions }}}} "
                    "and call them"
                )
            if node.op not in ("const", "var", "table") and (
                helper := self.printer.op(node, view).helper
            ):
                raise TemplateError(
                    f"{said} needs the helper function {helper}, which no kernel has: say what is not "
                    'negative, as {% assume "i >= 0" %}, or take {{ A.functions }}'
                )


def fresh(name: str, taken: Container[str]) -> str:
    """The name, or with a number behind it where it is taken."""
    return next(n for k in count(1) if (n := f"{name}_{k}" if k > 1 else name) not in taken)


def _balanced(text: str) -> bool:
    """Whether each bracket has its other half."""
    open_ones: list[str] = []
    for char in text:
        if char in CLOSING.values():
            open_ones.append(char)
        elif char in CLOSING and (not open_ones or open_ones.pop() != CLOSING[char]):
            return False
    return not open_ones


def unbracketed(text: str) -> str:
    """An expression without the brackets that are around the whole of it."""
    depth = 0
    for k, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if not depth:
            return unbracketed(text[1:-1]) if char == ")" and k == len(text) - 1 and k else text
    return text


def names_of(assumption: Any) -> set[str]:
    """The names that an assumption speaks of."""
    return {name for c in parse(assumption) for e in c.exprs() for name in e.symbols()}


def _inlined(function: Function, said: str) -> list[Node]:
    """The outputs with what the statements compute in place of their names."""
    known: dict[str, Node] = {}
    sizes: dict[str, int] = {}
    found = []
    for name, node in (*function.body, *function.outputs):
        sizes[name] = sum(sizes.get(str(n.value), 0) if n.op == "var" else 1 for n in node.walk())
        if sizes[name] > LARGEST:
            raise TemplateError(
                f"{said} has more than {LARGEST} operations as one expression; name its parts by "
                "{% index .. = .. %}"
            )
        known[name] = replaced(node, lambda v: known.get(str(v.value), v))
    for name, _ in function.outputs:
        found.append(known[name])
    return found

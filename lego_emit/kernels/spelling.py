"""Index expressions as a kernel's text: lowered, inlined, cast, in the language's spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..arith.expr import Expr
from ..emit.emit import emit
from ..emit.printer import ATOM, FunctionView
from ..errors import InternalError, LegoError, TemplateError
from ..ir.index_types import IndexType
from ..ir.nodes import Node
from ..ir.program import Function, Program
from ..ir.relations import Range, renamed, replaced
from ..pipeline import build_program
from ..trace.paths import here
from .loops import mixing
from .names import Names, fresh
from .placed import sizes_of
from .tags import place
from .texts import CLOSED, END, START, UNKNOWN, unbracketed
from .values import Name, Number, Size, Test, Value, values_of
from .widths import Widths, fits

LARGEST = 2000  # operations of one expression
LOOP = "is what a loop leaves, which no expression is; call a function of generate()"
EXTREMES = {"min": "lt", "max": "gt"}

OF_TEXT = re.compile(r"^expression_\d+_(div|mod)_\w+")  # a part of a text of the kernel's own


class NoExpression(TemplateError):
    """What no expression holds, and a function does."""


class Kernel(Names):
    """What is known of the names, as text: expressions, statements, whole functions."""

    def block(self, size: Value, axis: int, axes: int, whole: bool, vector: str = "") -> Value:
        """The numbers below a size, as one of so many axes. whole: nothing but these is meant; else
        they may go beyond what they index. vector: the name of a vector that has such numbers in any order."""
        if vector:
            self.declared(vector, f"the slice {vector}[:]")
        extent = "" if vector else self.extent(size)
        text = self.printer.block(extent, axis, axes, vector)
        if not text:
            loop = "scf.for %i = %c0 to %n step %c1" if self.printer.kernel_lines else "a loop"
            raise TemplateError(
                f"{self.printer.title} computes with one index at a time: write {loop} over a name of "
                "the kernel's own in place of ':'"
            )
        known = {t: n for n, t in self._blocks.items()}
        name = known.get(text) or fresh(f"block_{len(self._blocks) + 1}", self.types)
        self._blocks[name] = text
        self.types.setdefault(name, self._usual)

        def make() -> Expr:
            last = Expr.of(size.make()) - 1
            if not vector:  # whose numbers in_bounds() asks for
                here().analyzer.learn_range(name, Expr.of(0), last if whole else None)
            return self._bound(name)

        said = text if whole else f"{text} of {size.said}"
        of = [size, self.names[vector]] if vector in self.names else [size]
        return Value(self, make, said, of, names=[name])

    def extent(self, size: Value) -> str:
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

    def expression(self, value: Value) -> str:
        """A value as text, between marks that say whether it is bracketed already."""
        self._check_steps(value)
        mark = self.noted(value) + self.noted_region([value])
        if self.printer.kernel_lines:
            return f"{mark}{START}{CLOSED}{self._operand(value)}{END}"
        program, node = self._whole(value)
        if isinstance(value, Test):
            node = node.args[0] if node.op == "int" else node
            if node.op == "const":
                return f"{mark}{START}{CLOSED}{self.printer.truths[bool(node.value)]}{END}"
        text, closed = self._spelled(node, program, value.said)
        return f"{mark}{START}{CLOSED * closed}{text}{END}"

    def _operand(self, value: Value) -> str:
        """A value where an operation of the language takes one: a name, or a number."""
        if isinstance(value, Number):
            return str(int(value))
        if isinstance(value, Name):
            self._check_scope(value.said, value.said, value)
            return f"%{value.said}"
        if isinstance(value, Size):
            return UNKNOWN
        raise TemplateError(
            f"{value.said} takes operations, each on a line of its own: write {{% index s = "
            f"{value.said} %}} before, and %s here"
        )

    def _whole(self, value: Value) -> tuple[Program, Node]:
        """A value as one expression."""
        program = self._program({"index": value})
        (function,) = program.functions
        (node,) = _inlined(function, value.said)
        return self._apart(value, function, node) or (program, node)

    def _apart(self, value: Value, function: Function, whole: Node) -> tuple[Program, Node] | None:
        """A value as what the loop around it leaves constant and what it moves, where fewer operations
        mix the two and nothing more is assumed. Of symbols' products none, which have other factors."""
        counted = self.counted.get(place(), frozenset())
        params = {param.name for param in function.params}
        moved = {name for name in params if self.moves([name], counted)}
        signed = function.index_type.ends[0] < 0
        if not moved or moved == params or params & self.sizes or whole.is_bool or not signed:
            return None
        known = {**self.types}, {**self.assumptions}
        try:
            program = self._program({"index": value}, counted)
        except InternalError:
            raise
        except LegoError:  # what is known of the whole says less of a part
            self.types, self.assumptions = known
            return None
        (function,) = program.functions
        made = Node("add", (*_inlined(function, value.said),), None, whole.lo, whole.hi)
        mixed, as_it_was = (mixing(x, lambda n: self.moves([n], counted)) for x in (made, whole))
        if self.assumptions == known[1] and mixed < as_it_was:
            return program, made
        self.types, self.assumptions = known
        return None

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
                if not step.is_chosen and any(
                    n.op == "var" and n.value == name for n in node.walk()
                ):
                    raise TemplateError(
                        f"{step.said} is not the same for every {name}: it would be "
                        f'{self._spelled(node, program)[0]}; generate(.., walk=["{name}"]) keeps counters for that'
                    )

    def statements(
        self, names: Sequence[str], found: Any, indent: str, types: Sequence[str | None] = ()
    ) -> str:
        """Statements that declare names with these values, common parts first. From now on the names
        are the kernel's, in the ranges that are known of the values. types: of the names, where the
        template says them."""
        values = [*values_of(found)]
        for name, type_name, value in zip(names, types, values, strict=False):
            if type_name is not None and self.printer.kernel_lines and isinstance(value, Test):
                raise TemplateError(
                    f"{name} is a condition, an i1: leave out its type, {type_name}"
                )
            if type_name is not None:
                self.declare(name, type_name)
        for value in values:
            self._check_steps(value)
        marks = "".join(map(self.noted, values)) + self.noted_region(values, names)
        if len(values) != len(names):
            raise TemplateError(
                f"{len(names)} names for {len(values)} values; give as many of each"
            )
        for name in names:
            if name in self.sizes:
                raise TemplateError(f"{name} is a size of a layout; take another name")
        index_type = self._operand_type(names, values)
        program = self._program(dict(zip(names, values, strict=True)), index_type=index_type)
        (view,), (function,) = self._views(program), program.functions
        for name in names:
            if any(name in self._words(param.name) for param in function.params):
                raise TemplateError(f"{name} is made of another {name}; give it a name of its own")
        own: dict[str, str] = {}
        for name, _ in function.body:
            part = OF_TEXT.sub(lambda m: "quotient" if m[1] == "div" else "remainder", name)
            taken = {*self.types, *names, *own.values(), *self.taken}
            own[name] = fresh(f"{names[0]}_{part}", taken)
        for _, node in (*view.body, *view.outputs):
            self._check_helpers(node, view, ", ".join(v.said for v in values))
        index_type = function.index_type
        kinds = {n: self._declared_type(n, node, index_type) for n, node in view.outputs}
        masks = [n for n, value in zip(names, values, strict=True) if isinstance(value, Test)]
        if self.printer.kernel_lines:
            lines = self._operations(program, kinds | dict.fromkeys(masks), own)
        else:
            lines = self._declarations(view, kinds, own)
        made_of = set[str]().union(*(self._names_in(param.name) for param in function.params))
        for name in names:
            self.declare(name, kinds[name], name in self.typed_names)
            self._made[name] = made_of
        self.written.update(names)
        self.masks.update(masks if self.printer.kernel_lines else ())
        for name, promise in zip(names, function.promises, strict=False):
            bounds = (
                b if b and self._is_of_sizes(b) else None for b in (promise.least, promise.end)
            )
            if said := Range(*bounds).says(name):
                self._promises[name] = said
        for name, value in zip(names, values, strict=True):
            self.taken_from(name, value)
        return marks + "".join(f"{indent}{line}\n" for line in lines)

    def _declarations(
        self, view: FunctionView, kinds: Mapping[str, IndexType], own: Mapping[str, str]
    ) -> list[str]:
        """The statements of a view's values. kinds: the results' types; own: what common parts are called."""
        index_type = view.index_type
        types = {**self.types, **dict.fromkeys(own.values(), index_type)}
        widths = Widths(self.printer, view, types, self._texts, self._blocks)
        lines, form = [], self.printer.declaration
        for name, node in (*view.body, *view.outputs):
            kind = kinds.get(name, index_type)
            root = widths.declared(renamed(node, own), kind)
            text = unbracketed(self.printer.inline(self.printer.expression(root, view)))
            lines.append(
                form.format(name=own.get(name, name), expr=text, T=self.printer.types[kind])
            )
        return lines

    def _operations(
        self, program: Program, kinds: Mapping[str, IndexType | None], own: Mapping[str, str]
    ) -> list[str]:
        """The operations of a view's values, of a language without expressions. kinds: as above, None of
        a condition."""
        (function,) = program.functions
        for _, node in (*function.body, *function.outputs):
            for part in node.walk():
                if part.op == "var" and part.value in self.masks:
                    raise TemplateError(f"{part.value} is a condition, an i1, and no index")
                if part.op == "loop":
                    raise TemplateError(f"{', '.join(kinds)}: {LOOP}")
        body, outputs = (
            tuple((own.get(name, name), renamed(node, own)) for name, node in part)
            for part in (function.body, function.outputs)
        )
        (view,) = self._views(
            replace(program, functions=(replace(function, body=body, outputs=outputs),))
        )
        self.taken |= self.types.keys()
        return self.printer.kernel_lines(view, kinds, self.types, self.taken)

    def _operand_type(self, names: Sequence[str], values: Sequence[Value]) -> IndexType | None:
        """The type in which a language without expressions computes values: that of the results where
        the template says it, else of the names in them where they have one; the usual one where these
        differ or hold more. None in other languages."""
        if not self.printer.kernel_lines:
            return None
        used = set[str]().union(*(value.names for value in values))
        used.update(n for value in values for layout in value.layouts for n in sizes_of(layout))
        own = {self.types[name] for name in used if name in self.types}
        said = {self.types[name] for name in names if name in self.typed_names}
        kinds = said or own or {self._usual}
        kind = max(kinds, key=lambda t: t.most)
        return self._usual if len(kinds) > 1 or any(t.most > kind.most for t in own) else kind

    def _is_of_sizes(self, bound: Node) -> bool:
        """Whether a bound is one in layouts' sizes alone; another hides the range that an index has."""
        return all(node.op != "var" or node.value in self.sizes for node in bound.walk())

    def _declared_type(self, name: str, node: Node, made: IndexType) -> IndexType:
        """The type of a name that a statement gives a value: of a statement that says none, or where
        the template says one, the type that it was declared."""
        before = self.types.get(name)
        states = "{T}" in self.printer.declaration or self.printer.kernel_lines
        if before is None or (states and name not in self.typed_names):
            return made
        (least, most), (lo, hi) = before.ends, made.ends
        if not least <= lo <= hi <= most and not fits(node, before):
            raise TemplateError(
                f"{name} is declared {before}, and its value may need {made}: write "
                f"{{% names {name}: {made} %}}, and say so in the kernel"
            )
        return before

    def functions(self, layout: Any, name: str) -> str:
        """A layout's functions as a whole file has them."""
        program = build_program(
            layout, self.printer, name, assume=self.assume, index_type=self.index_type
        )
        return emit(program, self.printer.name).source

    def _views(self, program: Program) -> list[FunctionView]:
        """As Printer.fitted_views(), without the helpers that choose the smaller or larger."""

        def plain(node: Node) -> Node:
            node = node.over(tuple(map(plain, node.args)))
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
        views = self.printer.fitted_views(replace(program, functions=(function,)))
        for view in views:
            view.mixed = True
        return views

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
            if node.op in ("loop", "round"):
                raise NoExpression(f"{said} {LOOP}")
            if node.op == "table" and (self.printer.kernel_lines or not node.value.given):
                kind = "" if node.value.given else "constant "
                raise NoExpression(
                    f"{said} needs a {kind}table, which no kernel's text holds: take {{{{ A.functions }}}} "
                    "and call them"
                )
            if node.op not in ("const", "var", "table") and (
                helper := self.printer.op(node, view).helper
            ):
                raise NoExpression(
                    f"{said} needs the helper function {helper}, which no kernel has: say what is not "
                    'negative, as {% assume "i >= 0" %}, or take {{ A.functions }}'
                )


def _inlined(function: Function, said: str) -> list[Node]:
    """The outputs with what the statements compute in place of their names."""
    known: dict[str, Node] = {}
    sizes: dict[str, int] = {}
    found = []
    for name, node in (*function.body, *function.outputs):
        if node.op == "loop":
            raise NoExpression(f"{said} {LOOP}")
        sizes[name] = sum(sizes.get(str(n.value), 0) if n.op == "var" else 1 for n in node.walk())
        if sizes[name] > LARGEST:
            raise NoExpression(
                f"{said} has more than {LARGEST} operations as one expression; name its parts by "
                "{% index .. = .. %}"
            )
        known[name] = replaced(node, lambda v: known.get(str(v.value), v))
    for name, _ in function.outputs:
        found.append(_decided(known[name], {}))
    return found


def _decided(node: Node, known: Mapping[Node, bool]) -> Node:
    """A node where these conditions hold or not: no choice is made again within its own branches."""
    if node.op != "select":
        args = tuple(_decided(arg, known) for arg in node.args)
    else:
        condition, first, second = node.args
        condition = _decided(condition, known)
        if condition in known:
            return _decided(first if known[condition] else second, known)
        first = _decided(first, {**known, condition: True})
        args = condition, first, _decided(second, {**known, condition: False})
    return node if args == node.args else Node(node.op, args, node.value, node.lo, node.hi)

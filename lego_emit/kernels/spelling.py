"""Index expressions as a kernel's text: lowered, inlined, cast, in the language's spelling."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..arith.assume import parse
from ..arith.expr import Expr
from ..arith.terms import Atom
from ..emit.emit import emit
from ..emit.printer import ATOM, FunctionView, Printer
from ..errors import TemplateError, nearest, shown
from ..ir.nodes import OPS, Node
from ..ir.program import INDEX_TYPES, Function, Program
from ..kinds import is_integer, is_symbolic
from ..pipeline import build_program
from ..trace.subject import followed
from .values import Step, Test, Value, values_of

START, END, CLOSED = "\ue000", "\ue001", "\ue002"  # around an expression, until all text is there
LARGEST = 2000  # operations of one expression
OPAQUE = re.compile(r"\bexpression_\d+\b")  # names that stand for text of the kernel's own
SHRINKING = frozenset({"div", "mod", "shr", "and", "or", "xor", "min", "max", "select"})
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
        self.printer, self.index_type = printer, index_type
        self.assume, self.ranges, self.where = [*assume], dict(ranges), dict(where)
        self.types: dict[str, str] = {}
        self.assumptions: dict[str, None] = {}
        self._texts: dict[str, str] = {}  # the names of opaque texts, and they
        self._bindings: dict[str, Any] = {}
        if not printer.declaration:
            raise TemplateError(f"kernels are not rendered in {printer.title} yet")

    @property
    def _usual(self) -> str:
        """The language's int."""
        return self.printer.default_index[0]

    # -- names --------------------------------------------------------------------------------

    def declare(self, name: str, type_name: str | None = None) -> Value:
        """A name of the kernel's own, of an index type; the language's usual int unless said."""
        if type_name is not None and type_name not in self.printer.types:
            known = [t for t in INDEX_TYPES if t in self.printer.types]
            raise TemplateError(
                f"{name}: no type {shown(type_name)}; {self.printer.title} has {', '.join(known)}."
                f"{nearest(type_name, known)}"
            )
        if not name.isidentifier():
            raise TemplateError(
                f"{shown(name)} is no name; write identifiers, as in pm, pn: int32, i"
            )
        self.types[name] = type_name or self._usual
        return Value(self, lambda: self._bound(name), name)

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
        if not text or START in text:
            raise TemplateError(f"{shown(text)} is no expression of the kernel's language")
        known = {t: n for n, t in self._texts.items()}
        name = known.get(text) or f"expression_{len(self._texts) + 1}"
        self._texts[name] = text
        self.types.setdefault(name, self._usual)
        if text in self.where:
            self.ranges[name] = self.where[text]
        return Value(self, lambda: self._bound(name), text)

    # -- text ---------------------------------------------------------------------------------

    def expression(self, value: Value) -> str:
        """A value as text, between marks that say whether it is bracketed already."""
        program = self._program({"index": value})
        (function,) = program.functions
        (node,) = _inlined(function, value.said)
        if isinstance(value, Test):
            node = node.args[0] if node.op == "int" else node
            if node.op == "const":
                node = ALWAYS if node.value else Node("ne", ALWAYS.args)
        if isinstance(value, Step):
            for name in value.names:
                if any(n.op == "var" and n.value == name for n in node.walk()):
                    raise TemplateError(
                        f"{value.said} is not the same for every {name}: it would be "
                        f"{self._spelled(node, program)[0]}"
                    )
        text, closed = self._spelled(node, program)
        self._check_helpers(node, program, value.said)
        return f"{START}{CLOSED * closed}{text}{END}"

    def statements(self, names: Sequence[str], found: Any, indent: str) -> str:
        """Statements that declare names with these values, common parts first. From now on the names
        are the kernel's, in the ranges that are known of the values."""
        values = [*values_of(found)]
        if len(values) != len(names):
            raise TemplateError(
                f"{len(names)} names for {len(values)} values; give as many of each"
            )
        program = self._program(dict(zip(names, values, strict=True)))
        view, function = self._view(program), self.printer.fitted(program.functions[0])
        for _, node in (*function.body, *function.outputs):
            self._check_helpers(node, program, ", ".join(v.said for v in values))
        lines, own = [], {name: f"{names[0]}_{name}" for name, _ in function.body}
        for name, node in (*function.body, *function.outputs):
            text = self._text_of(_renamed(node, own), view)
            form = self.printer.declaration
            lines.append(form.format(name=own.get(name, name), expr=text, T=view.T))
        for name, promise in zip(names, function.promises, strict=False):
            if said := promise.says(name):
                self.assume.append(said)
            self.types[name] = function.index_type
        return "".join(f"{indent}{line}\n" for line in lines)

    def functions(self, layout: Any, name: str) -> str:
        """A layout's functions as a whole file has them."""
        program = build_program(
            layout, self.printer, name, None, self.assume, self.index_type, ranges=None
        )
        return emit(program, self.printer.name).source

    def _program(self, values: Mapping[str, Value]) -> Program:
        def outputs(*_: Any) -> Any:
            found = {name: value.make() for name, value in values.items()}
            return found if len(found) > 1 else next(iter(found.values()))

        outputs.__signature__ = inspect.Signature()  # pyright: ignore
        (traced,) = followed(outputs, "index", None, [], 0).functions
        own = {*traced.trace.params()} | {s for _, e in traced.outputs()[0] for s in e.symbols()}
        kind = inspect.Parameter.POSITIONAL_ONLY
        taken = [inspect.Parameter(n, kind) for n in self.types if n in own]
        outputs.__signature__ = inspect.Signature(taken)  # pyright: ignore
        assume = [a for a in self.assume if names_of(a) <= own]
        ranges = {n: r for n, r in self.ranges.items() if n in own}
        program = build_program(
            outputs, self.printer, "index", None, assume, self.index_type, ranges=ranges or None
        )
        (function,) = program.functions
        for param in function.params:
            self.types.setdefault(param.name, self._usual)  # a layout's own size
            if param.name in self._texts and param.name not in self.ranges:
                text = self._texts[param.name]
                self.assumptions[param.range_text.replace(param.name, f"({text})")] = None
        for said in function.assumptions:
            said = OPAQUE.sub(lambda m: f"({self._texts.get(m[0], m[0])})", said)
            self.assumptions[said] = None
        if len(values) == 1:
            ((name, _),) = values.items()
            function = replace(function, outputs=((name, function.outputs[0][1]),))
        return replace(program, functions=(function,))

    def _view(self, program: Program) -> FunctionView:
        return self.printer.fitted_views(program)[0]

    def _spelled(self, node: Node, program: Program) -> tuple[str, bool]:
        """(the text, whether it binds as tightly as a name)."""
        view = self._view(program)
        fitted = self.printer.fitted(replace(program.functions[0], body=(), outputs=(("r", node),)))
        root = self._leaves(fitted.outputs[0][1], view)
        text = self.printer.expression(root, view)
        return self.printer.inline(text), text == self.printer.expression(root, view, ATOM)

    def _check_helpers(self, root: Node, program: Program, said: str) -> None:
        """A kernel's text has no helper functions."""
        view = self._view(program)
        for node in root.walk():
            fitted = self.printer.fit(node, program.functions[0])
            if node.op in OPS and (helper := self.printer.op(fitted, view).helper):
                raise TemplateError(
                    f"{said} needs the helper function {helper}, which no kernel has: say what is not "
                    'negative, as {% assume "i >= 0" %}, or take {{ A.functions }}'
                )

    def _text_of(self, node: Node, view: FunctionView) -> str:
        return self.printer.inline(self.printer.expression(self._leaves(node, view), view))

    def _leaves(self, node: Node, view: FunctionView) -> Node:
        """Names as the kernel has them: texts in brackets, and cast what is of another type. What fits
        the names' own type is computed in it, and cast as a whole."""
        made, own = self._typed(node, view)
        return made if node.is_bool else self._cast(made, own, view)

    def _typed(self, node: Node, view: FunctionView) -> tuple[Node, str | None]:
        """(a node of the kernel's own names, its type; None of numbers alone)."""
        if node.op == "const":
            return node, None
        if node.op == "var":
            return self._leaf(node, view)
        parts = [self._typed(a, view) for a in node.args]
        deciding = node.args[:1] if node.op in ("shl", "shr") else node.args
        values = [k for k, a in enumerate(deciding) if not a.is_bool and a.op != "table"]
        types = {own for k in values if (own := parts[k][1]) is not None}
        wide, args = view.index_type, [a for a, _ in parts]
        if len(types) < 2 and all(node.is_bool or _fits(node, own) for own in types):
            return replace(node, args=tuple(args)), next(iter(types), None)
        narrow = [k for k in values if parts[k][1] not in (None, wide)]
        if self.printer.widens and all(map(_signed, types)):
            narrow = [] if wide in types else narrow[:1]  # one of them makes all as wide
        for k in narrow:
            args[k] = self._cast(args[k], parts[k][1], view)
        return replace(node, args=tuple(args)), wide

    def _leaf(self, node: Node, view: FunctionView) -> tuple[Node, str | None]:
        name = str(node.value)
        text, own = self._texts.get(name, name), self.types.get(name, view.index_type)
        if name in self._texts and self.printer.cast:  # of a type that nobody knows
            return replace(node, value=self.printer.cast.format(text, T=view.T)), view.index_type
        if not text.replace(".", "_").isidentifier():
            text = f"({text})"
        return replace(node, value=text), own

    def _cast(self, node: Node, own: str | None, view: FunctionView) -> Node:
        types = self.printer.types
        if own is None or not self.printer.cast or types[own] == types[view.index_type]:
            return node
        need = (
            ATOM if self.printer.cast.startswith("({0}") else 0
        )  # a suffix binds the last operand
        inner = self.printer.inline(self.printer.expression(node, view, need))
        text = self.printer.cast.format(inner, T=view.T)
        return replace(node, op="var", args=(), value=text)


def _fits(node: Node, index_type: str) -> bool:
    """Whether a value fits a type that its operands fit."""
    if node.op in SHRINKING:
        return True
    least, most = INDEX_TYPES[index_type]
    return node.lo is not None and node.hi is not None and least <= node.lo <= node.hi <= most


def _signed(index_type: str) -> bool:
    return not index_type.startswith("u")


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
        known[name] = _substituted(node, known)
    for name, _ in function.outputs:
        found.append(known[name])
    return found


def _substituted(node: Node, known: Mapping[str, Node]) -> Node:
    if node.op == "var":
        return known.get(str(node.value), node)
    return replace(node, args=tuple(_substituted(a, known) for a in node.args))


def _renamed(node: Node, names: Mapping[str, str]) -> Node:
    if node.op == "var":
        return replace(node, value=names.get(str(node.value), node.value))
    return replace(node, args=tuple(_renamed(a, names) for a in node.args))

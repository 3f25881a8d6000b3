"""The tags of a kernel's template: {% names %}, {% assume %}, {% index %}."""

from __future__ import annotations

import re
import sys
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from .loops import counted_in

INLINE = "<template>"  # what a template that is no file is called
KERNEL = "_kernel"  # the rendering, in a template's globals
VALUE = re.compile(r"%([\w.$-]+)")  # of MLIR
SCOPED = (
    nodes.For, nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.With, nodes.AssignBlock,
    nodes.Block, nodes.Scope,
)  # fmt: skip


def place() -> str:
    """The file and line of the template that is being rendered."""
    frame = sys._getframe()
    while frame is not None:
        template = frame.f_globals.get("__jinja_template__")
        if isinstance(template, jinja2.Template):
            line = template.get_corresponding_lineno(frame.f_lineno)
            return f"{template.filename or INLINE}, line {line}"
        frame = frame.f_back
    return INLINE


class KernelTags(Extension):
    """{% names pm, pn: int32, i %} declares names; {% assume "M % 32 == 0" %} says what holds;
    {% index a, b = A.inv(t) %} writes statements that declare a and b."""

    tags = {"names", "assume", "index"}

    def __init__(self, environment: jinja2.Environment):
        super().__init__(environment)
        self.counted: dict[str, frozenset[str]] = {}  # by place, what the innermost loop counts
        self.values: set[str] = set()  # the names %x in the text

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Remembers the lines, for how far a tag stands to the right."""
        self._lines = re.split(r"\r\n|\r|\n", source)  # as Jinja counts them
        self.values.update(VALUE.findall(source))
        for line, names in counted_in("\n".join(self._lines)):
            self.counted[f"{filename or INLINE}, line {line}"] = names
        return source

    def parse(self, parser: Parser) -> Any:
        """The nodes of the template's tree that a tag stands for."""
        token = next(parser.stream)
        made = getattr(self, f"_{token.value}")(parser, token.lineno)
        for node in made:
            node.set_lineno(token.lineno)
        return made

    def _names(self, parser: Parser, line: int) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        while True:
            name = parser.stream.expect("name").value
            of: nodes.Expr = nodes.Const(None)
            if parser.stream.skip_if("colon"):
                of = nodes.Const(parser.stream.expect("name").value)
            made = self._kernel_call("declare", [nodes.Const(name), of])
            found.append(nodes.Assign(nodes.Name(name, "store"), made))
            if not parser.stream.skip_if("comma"):
                break
        return found

    def _assume(self, parser: Parser, line: int) -> list[nodes.Node]:
        said = parser.parse_tuple(with_condexpr=False)
        given = said.items if isinstance(said, nodes.Tuple) else [said]
        return [nodes.ExprStmt(self._kernel_call("suppose", [one])) for one in given]

    def _index(self, parser: Parser, line: int) -> list[nodes.Node]:
        start = parser.stream.current
        names, types = self._results(parser)
        if len({*names}) < len(names) or not parser.stream.skip_if("assign"):
            parser.fail(
                "index takes names, each once, as in {% index i, j = A.inv(p) %}", start.lineno
            )
        values = parser.parse_tuple()
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        indent = text[: len(text) - len(text.lstrip())]
        wanted = nodes.List([nodes.Const(name) for name in names])
        said = nodes.List([nodes.Const(of) for of in types])
        written = self._kernel_call("statements", [wanted, values, nodes.Const(indent), said])
        stored: list[nodes.Node] = [nodes.Output([written])]
        for name in names:
            made = self._kernel_call("value", [nodes.Const(name)])
            stored.append(nodes.Assign(nodes.Name(name, "store"), made))
        return stored

    def _results(self, parser: Parser) -> tuple[list[str], list[str | None]]:
        """Names, and the types of those that have one, as in i, j: int64."""
        names: list[str] = []
        types: list[str | None] = []
        while parser.stream.current.type == "name":
            names.append(next(parser.stream).value)
            typed = parser.stream.skip_if("colon")
            types.append(parser.stream.expect("name").value if typed else None)
            if not parser.stream.skip_if("comma"):
                break
        return names, types

    def scoped(self, template: nodes.Template) -> None:
        """Tells the rendering where the template's inner scopes begin and end."""
        for node in [*template.find_all(SCOPED)]:
            for part in ("body", "else_"):
                if body := getattr(node, part, None):
                    enter, leave = (
                        nodes.ExprStmt(self._kernel_call(method, [])).set_lineno(node.lineno)
                        for method in ("enter", "leave")
                    )
                    setattr(node, part, [enter, *body, leave])
        template.set_environment(self.environment)

    def _kernel_call(self, method: str, arguments: list[Any]) -> nodes.Expr:
        return self._call("called", [nodes.Name(KERNEL, "load"), nodes.Const(method), *arguments])

    def _call(self, method: str, arguments: list[Any]) -> nodes.Expr:
        return self.call_method(method, arguments)

    def called(self, kernel: Any, method: str, *arguments: Any) -> Any:
        """A method of the rendering."""
        return getattr(kernel, method)(*arguments)


class Scoped(jinja2.Environment):
    """Jinja's environment, whose templates tell their scopes."""

    def _generate(self, source: nodes.Template, *given: Any, **named: Any) -> str:
        for extension in self.extensions.values():
            if isinstance(extension, KernelTags):
                extension.scoped(source)
        return super()._generate(source, *given, **named)

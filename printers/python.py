"""Python: a module of typed functions on plain integers, Python 3.9 or newer.

Reference: https://docs.python.org/3/reference/expressions.html#operator-precedence; `//` and `%`
round down, for any sign, and integers have no width.
"""

from __future__ import annotations

import builtins
import re
import textwrap
from collections.abc import Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, cast

from lego_emit.emit.arrays import number
from lego_emit.emit.naming import type_name
from lego_emit.emit.printer import BREAK, FunctionView, Op, Printer, call, infix
from lego_emit.ir.cost import Cost
from lego_emit.ir.index_types import IndexType
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Group, Program
from lego_emit.printers.python_lines import statement
from lego_emit.table_lookup import Entries

if TYPE_CHECKING:
    from lego_emit.emit.methods import ReceiverView

UNARY = 12
ANY, MANY = "any integer", "any integers"
INT = IndexType("int", cast(int, -inf), cast(int, inf))  # without bounds
WORDS = (2**32 - 1, 2**64 - 1)
TUPLE_METHODS = ("count", "index")

KEYWORDS = frozenset(
    """False None True and as assert async await break class continue def del elif else except
    finally for from global if import in is lambda nonlocal not or pass raise return try while with
    yield""".split()
)

# Other operators that both languages have. Bit operations bind looser than + here; few readers
# know it, so that their operands are bracketed.
PYTHON_OPS = {
    "neg": Op("-{0}", UNARY, (UNARY + 1,)),
    "not": Op("~{0}", UNARY, (UNARY,)),
    "mul": infix("*", 11),
    "div": infix("//", 11),
    "mod": infix("%", 11),
    "floordiv": infix("//", 11),
    "floormod": infix("%", 11),
    "add": infix("+", 10),
    "sub": infix("-", 10),
    "shl": infix("<<", 9, UNARY, UNARY),
    "shr": infix(">>", 9, UNARY, UNARY),
    "and": infix("&", 8, UNARY, UNARY),
    "xor": infix("^", 7, UNARY, UNARY),
    "or": infix("|", 6, UNARY, UNARY),
    "lt": infix("<", 5, 6),
    "le": infix("<=", 5, 6),
    "gt": infix(">", 5, 6),
    "ge": infix(">=", 5, 6),
    "eq": infix("==", 5, 6),
    "ne": infix("!=", 5, 6),
}


class PythonPrinter(Printer):
    """Python's spellings. An index type says what fits, the text is the same."""

    loops = "lego_emit.printers.loop_forms:PYTHON"
    switches = "lego_emit.printers.switch_forms:PYTHON"
    name = "python"
    aliases = ("py",)
    related = ("numba",)
    title = "Python"
    cost = Cost("python", margin=1.5, hoisted=1)  # an interpreter takes about as long for each
    extension = ".py"
    types = {t: "int" for t in (INT, "int32", "int64", "uint32", "uint64")}
    default_index = (INT,)
    wrapping = {"uint32": "mask", "uint64": "mask"}
    ops = {
        **PYTHON_OPS,
        "lnot": Op("not {0}", 4, (4,)),
        "land": infix("and", 3),
        "lor": infix("or", 2),
        "select": Op(f"{{1}}{BREAK}if {{0}}{BREAK}else {{2}}", 1, (2, 2, 1)),
        "min": call(f"min({{0}},{BREAK}{{1}})", 2),
        "max": call(f"max({{0}},{BREAK}{{1}})", 2),
        "isqrt": call("math.isqrt({0})", 1),
        "lookup": call("{0}[{1}]", 2),
        "int": call("int({0})", 1),
    }
    template = "python.jinja"
    builtins = frozenset(dir(builtins)) | {"math"}
    reserved = KEYWORDS | frozenset("NamedTuple Sequence int list math max min range tuple".split())
    bit_operations = False
    hexadecimal = True
    declaration = "{name} = {expr}"
    comments = ("#",)
    remark = "#"
    truths = ("False", "True")
    has_fits = has_checks = True
    has_structs = has_arrays = gives_arrays = True
    fills = "result"
    asserts = "assert {}"
    receiver, asks_types = "self.{}", True
    holds_sizes = False

    def companions(self, name: str) -> set[str]:
        """The array form's name, and that of several results by name."""
        return {self.array_name(name), self.result_name(name)}

    def result_name(self, name: str) -> str:
        """The class of the results of the function of that name."""
        return type_name(name, "Result")

    def mask(self, value: int, index_type: str) -> str:
        """Hexadecimal digits as Black writes them."""
        text = hex(value) if value in WORDS else super().mask(value, index_type)
        return text.upper().replace("X", "x")

    def table_name(self, name: str, unit: str) -> str:
        """In capitals, as constants are."""
        return name.upper()

    def table(self, entries: Entries, index_type: str) -> str:
        """The assignment of a tuple of numbers."""
        lines = self.entry_lines(entries, index_type, 4)
        return f"{entries.name} = (\n{lines},\n)  # fmt: skip"

    def table_parameter(self, form: str, T: str) -> str:
        """Any sequence of integers; form has {T} where types are declared."""
        return "{name}: Sequence[int]" if "{T}" in form else "{name}"

    def emit(self, program: Program) -> str:
        """The module, with two blank lines before each function."""
        return re.sub(r"\n\n(?=def |class )", "\n\n\n", super().emit(program))

    def fits_docs(self, f: FunctionView) -> list[str]:
        """The lines of the docstring of a condition on sizes."""
        return self._docstring(f.summary, [], [])

    def imports(self, functions: Sequence[FunctionView]) -> list[str]:
        """The imports, those of modules first."""
        found = []
        if "isqrt" in operations(functions):
            found.append("import math")
        if any(f.tables or any(g.open for g in f.groups) for f in functions):
            found.append("from collections.abc import Sequence")
        if any(f.named or f.receiver or has_struct(f) for f in functions):
            found.append("from typing import NamedTuple")
        return found

    def size_type(self, index_type: IndexType) -> IndexType:
        """Integers without bounds, as every int is one."""
        return INT

    # -- texts for the template --------------------------------------------------------------

    def line(self, text: str, indent: int) -> str:
        """A statement, broken within brackets where it is long."""
        return statement(text, indent, self.line_width, self._looseness)

    def head(self, f: FunctionView) -> str:
        """The line that defines the function."""
        name, parameters = f.name, f.signature("{name}: {T}", None, f",{BREAK}")
        if f.receiver is not None:
            name = f.receiver.method or "__call__"
            own = [] if f.receiver.alone else ["self"]
            parameters = f",{BREAK}".join(filter(None, [*own, parameters]))
        return self._head(name, parameters, self._several(f))

    def receiver_type(self, name: str) -> str:
        """The class that holds the sizes of a subject."""
        return type_name(self.naming.public(name))

    def receivers(
        self, functions: Sequence[FunctionView], fits: Sequence[FunctionView]
    ) -> list[ReceiverView]:
        """The classes whose methods functions are."""
        from lego_emit.emit.methods import ReceiverView, receivers

        return receivers(self, functions, fits, ReceiverView, 4)

    def receiver_docs(self, view: ReceiverView) -> list[str]:
        """The lines of the docstring of such a class."""
        said = view.said
        arrays = {name for name, _, one in view.fields if isinstance(one, Group)}
        told = [f"{n}: {said[n] or (MANY if n in arrays else ANY)}" for n in view.names]
        call = f"{view.name}({', '.join(view.names)})({', '.join(view.methods[0].inputs)})"
        summary = f"Sizes, which are given once: {call}."
        return self._docstring(summary, [("Attributes:", told)], [])

    def receiver_fields(self, view: ReceiverView) -> list[str]:
        """The lines that declare what it holds."""
        declared = (self._fields([name], self.inline(T)) for name, T, _ in view.fields)
        return [line for lines in declared for line in lines]

    def _several(self, f: FunctionView) -> str:
        """The type of the results."""
        if f.aggregate is not None:
            return self.group_type(f.aggregate, f.T)
        if f.named:
            return self.result_name(f.name)
        if f.is_condition:
            return "bool"
        count = len(f.outputs)
        return f"tuple[{f',{BREAK}'.join([f.T] * count)}]" if count > 1 else f.T

    def _head(self, name: str, parameters: str, result: str) -> str:
        return self.line(f"def {name}({parameters}) -> {result}:", 0)

    def statements(self, f: FunctionView) -> list[str]:
        """The lines before the results."""
        asserted = (self.asserts.format(self.expression(c, f)) for c in f.asserted)
        lines = [self.line(text, 4) for text in asserted]
        if f.fills:
            lines.append(f"{f.fills} = [0] * {self.expression(f.aggregate.count, f)}")
        return [*lines, *f.statements("{name} = {expr}")]

    def returned(self, f: FunctionView) -> str:
        """The statement that gives the results."""
        return self.line(f"return {self.together(f, self.values(f))}", 4)

    def together(self, f: FunctionView, values: Sequence[str]) -> str:
        """Results as one expression."""
        if f.fills:
            return f"tuple({f.fills})"
        if f.aggregate is not None:
            return self.aggregate(f.aggregate, values, f.T)
        if not f.named:
            return f",{BREAK}".join(values)
        named = (f"{name}={value}" for (name, _), value in zip(f.outputs, values, strict=True))
        return f"{self.result_name(f.name)}({f',{BREAK}'.join(named)})"

    def result_class(self, f: FunctionView) -> list[str]:
        """The lines of the class of a function's results."""
        return [
            f"class {self.result_name(f.name)}(NamedTuple):",
            f'    """The results of {f.name}."""',
            "",
            *self._fields((name for name, _ in f.outputs), f.T),
        ]

    def struct_lines(self, group: Group, types: Sequence[str]) -> list[str]:
        """The lines of the class of a struct."""
        docs = self._docstring(f"The integers {', '.join(group.fields)}.", [], [])
        lines = (f"    {line}" for line in docs)
        return [
            f"class {group.struct}(NamedTuple):",
            *lines,
            "",
            *self._fields(group.fields, types[0]),
        ]

    def _fields(self, names: Iterable[str], T: str) -> list[str]:
        ignored = "  # type: ignore[assignment]"  # a tuple has methods of these names
        return [f"    {name}: {T}" + ignored * (name in TUPLE_METHODS) for name in names]

    def group_type(self, group: Group, T: str) -> str:
        """The class of a struct, the tuple of an array."""
        if group.open:
            return f"tuple[{T}, ...]"
        return group.struct or f"tuple[{f',{BREAK}'.join([T] * len(group.members))}]"

    def aggregate(self, group: Group, texts: Sequence[str], T: str) -> str:
        """A call of the class, or a tuple."""
        together = f",{BREAK}".join(texts)
        if group.struct:
            return f"{group.struct}({together})"
        return f"({together},)" if len(texts) == 1 else together

    def values(self, f: FunctionView) -> list[str]:
        """The expressions of the results, in order."""
        return f.texts()

    def module_docs(self, program: Program) -> list[str]:
        """The lines of the module's docstring."""
        return self._docstring("Index functions on integers.", [], [program.title])

    def docs(self, f: FunctionView) -> list[str]:
        """The lines of the docstring, quotes and all."""
        header = f.header
        arguments = self.arguments(f, f.inputs)
        arguments += [f"{name}: {said}" for name, said in header.tables.items()]
        notes = [f"Assumes {a}." for a in header.assumptions]
        notes += [f"Renamed: {old} is {new} here." for old, new in f.renamed]
        sections = [
            ("Args:", arguments),
            ("Returns:", [header.result()] if header.result() else []),
        ]
        summary = f.summary or f"The index function {f.name}."
        return self._docstring(summary, sections, notes)

    def arguments(self, f: FunctionView, names: Iterable[str]) -> list[str]:
        """What the docstring says of parameters."""
        said, many = f.header.entries, {group.name for group in f.groups if group.whole}
        return [f"{name}: {said[name] or (MANY if name in many else ANY)}" for name in names]

    def _docstring(
        self, summary: str, sections: Iterable[tuple[str, list[str]]], notes: list[str]
    ) -> list[str]:
        paragraphs = [[name, *(f"    {x}" for x in texts)] for name, texts in sections if texts]
        lines = [summary, *(x for p in [*paragraphs, notes] if p for x in ("", *p))]
        made = [part for line in lines for part in self._wrapped(line)]
        made = [x.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for x in made]
        made[0] = f'"""{made[0]}'
        if len(made) > 1 or len(made[0]) + 7 > self.line_width or made[0].endswith('"'):
            return [*made, '"""']
        return [f'{made[0]}"""']

    def _wrapped(self, line: str) -> list[str]:
        pad = " " * (len(line) - len(line.lstrip()))
        width = self.line_width - 4
        found = textwrap.wrap(
            line, width, subsequent_indent=f"{pad}    " if pad else "",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        return found or [""]

    # -- the array form ----------------------------------------------------------------------

    def array(self, f: FunctionView) -> list[str]:
        """The lines of the function that gives a function's results over its ':' axes: a list of
        lists."""
        result = self._several(f)
        for _ in f.axes:
            result = f"list[{result}]"
        axes = {name for name, _ in f.axes}
        texts = zip(f.inputs, f.parameters("{name}: {T}"), strict=True)
        scalars = f",{BREAK}".join(text for name, text in texts if name not in axes)
        text = f"{f.name}({f',{BREAK}'.join(f.inputs)})"
        for name, extent in reversed(f.axes):
            text = f"[{text}{BREAK}for {name} in range({self.between(f, extent)})]"
        lines = [*self.array_docs(f, "]["), self.line(f"return {text}", 4)]
        return [self._head(self.array_name(f.name), scalars, result), *(f"    {x}" for x in lines)]

    def array_docs(self, f: FunctionView, joint: str) -> list[str]:
        """The lines of the array form's docstring; joint: what stands between two subscripts."""
        ranges = f.header.ranges
        axes = [name for name, _ in f.axes]
        place = joint.join(f"{name} - 1" for name in axes) if f.base else joint.join(axes)
        arguments = self.arguments(f, self.scalars(f))
        call = f"{f.name}({', '.join(f.inputs)})"
        summary = f"The results of {f.name} for all {', '.join(ranges[name] for name in axes)}."
        return self._docstring(
            summary, [("Args:", arguments), ("Returns:", [f"Element [{place}] is {call}."])], []
        )

    def scalars(self, f: FunctionView) -> list[str]:
        """The parameters that are no ':' axes."""
        axes = {name for name, _ in f.axes}
        return [name for name in f.inputs if name not in axes]

    def between(self, f: FunctionView, extent: Node) -> str:
        """The arguments of the range that an axis runs over."""
        if not f.base:
            return self.expression(extent, f)
        if extent.op == "const":
            return f"1, {number(extent) + 1}"
        return f"1, {self.expression(extent, f, self.ops['add'].needs[0])} + 1"


def has_struct(f: FunctionView) -> bool:
    """Whether a parameter or the result is a struct."""
    return any(g is not None and g.whole and g.struct for g in (*f.groups, f.result))


def operations(functions: Iterable[FunctionView]) -> set[str]:
    """The operations of the functions and of their extents."""
    roots = (n for f in functions for n in (*f.nodes(), *(e for _, e in f.axes)))
    return {part.op for root in roots for part in root.walk()}

"""How Julia spells copies between memory layouts: NAME!(dst, src, sizes..) of any isbits type of the size.

Reference: https://docs.julialang.org/en/v1/base/arrays/ (copyto!, fill!, view).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from textwrap import wrap
from typing import Any

from lego_emit.emit.nests import VALUES as C_VALUES
from lego_emit.emit.nests import CopyTexts, NestForms, NestLines, rows, spelled
from lego_emit.emit.ops import BREAK
from lego_emit.ir.nests import (
    ENTRIES,
    FIRST,
    LAST,
    PART,
    VALUE,
    Abilities,
    Body,
    Each,
    Helper,
    Move,
    Ref,
    Statements,
    Zero,
    helpers,
    plus,
    writes_zeros,
)
from lego_emit.ir.nodes import Node, const, made, var

COMMA = f",{BREAK}"
SHORT = 64  # elements that are moved by a loop, which takes less time than a call of copyto!
JULIA = NestForms(
    let="{name} = {expr}",
    loop="for {name} in {start}:{last}",
    steps="for {name} in {start}:{step}:{last}",
    least=f"min({{x}}{COMMA}{{y}})",
    when="if {expr}",
    otherwise="else",
    end="end",
    end_loop="end",
    one="{to} = {of}",
    run=f"copyto!(dst{COMMA}{{to}}{COMMA}src{COMMA}{{of}}{COMMA}{{count}})",
    zero="{to} = blank",
    zeros=f"fill!(view(dst{COMMA}{{to}}){COMMA}blank)",
    box="{name}({given})",
    indent=4,
)


# How an operation on an element is spelled.
VALUES = {**C_VALUES, "xor": "xor({0}, {1})", "div": "div({0}, {1})"}


def _literal(digits: int, value: int, op: str, at: int = 0) -> str:
    """A number of as many bits as the element; a distance of a shift is any integer."""
    return str(value) if op in ("shl", "shr") else f"0x{value:0{digits}x}"


class LinesInJulia(NestLines):
    """The nest of a routine, on arrays by their linear index."""

    forms = JULIA

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        self.type = next(n for n in ("T", "E", "Element") if n not in names.values())
        self.name = f"{routine.name}!"

    def head_of(self, name: str, start: Node, stop: Node, step: Any) -> str:
        """What begins a loop; an end that is more than a name stands in parentheses."""
        last = plus(stop, -1)
        text = f"({self.text(last)})" if last.args else self.text(last)
        form = JULIA.loop if step == 1 else JULIA.steps
        return form.format(name=name, start=self.text(start), last=text, step=step)

    def place(self, ref: Ref) -> str:
        """The text that reads or writes one element."""
        return f"{ref.array}[{self.text(plus(ref.offset, 1))}]"

    def move(self, s: Move, indent: int) -> list[str]:
        """One element, or a run of them."""
        if s.count == const(1):
            text = JULIA.one.format(to=self.place(s.to), of=self._changed(self.place(s.of)))
            line = self.line(text, indent)
            return ("\n" in line and self.apart(s, indent)) or [line]
        if self.routine.value is not None or (s.count.op == "const" and s.count.value <= SHORT):
            to, of = (self.text(_sum(ref.offset, var("at"))) for ref in (s.to, s.of))
            line = self.line(f"dst[{to}] = {self._changed(f'src[{of}]')}", indent + 4)
            return ("\n" in line and self.apart(s, indent)) or [
                self.line(self.head_of("at", const(1), plus(s.count, 1), 1), indent),
                line,
                self.line("end", indent),
            ]
        to, of = (self.text(plus(ref.offset, 1)) for ref in (s.to, s.of))
        return [self.line(JULIA.run.format(to=to, of=of, count=self.text(s.count)), indent)]

    def _changed(self, of: str) -> str:
        """What is made of an element of the source."""
        if self.routine.value is None:
            return of
        word = f"UInt{8 * self.routine.element_bytes}"
        return f"reinterpret({self.type}{COMMA}{self._value}(reinterpret({word}{COMMA}{of})))"

    @property
    def _value(self) -> str:
        return f"{self.routine.name}_value"

    def value_lines(self) -> list[str]:
        """The function of what is made of an element."""
        value, size = self.routine.value, self.routine.element_bytes
        if value is None:
            return []
        text = spelled(value, VALUES, partial(_literal, 2 * size)) if value.op != ENTRIES else ""
        table: list[str] = []
        if value.op == ENTRIES:
            name = f"{self._value}_of"
            table = ["", "# What is made of each byte.", f"const {name} = UInt8["]
            table += [*rows(value.value, 4), "]"]
            text = f"@inbounds {name}[Int({VALUE}) + 1]"
        return [
            *table,
            "",
            "# What is made of an element.",
            f"{self._value}({VALUE}::UInt{8 * size}) = {text}",
        ]

    def zero(self, s: Zero, indent: int) -> list[str]:
        """Zero bits in one element, or in a run of them."""
        if s.count == const(1):
            return [self.line(JULIA.zero.format(to=self.place(s.to)), indent)]
        offset, count = s.to.offset, s.count
        first, last = (self._bound(x) for x in (plus(offset, 1), _sum(offset, count)))
        return [self.line(JULIA.zeros.format(to=f"{first}:{last}"), indent)]

    def _bound(self, node: Node) -> str:
        return f"({self.text(node)})" if node.args else self.text(node)

    def each(self, s: Each, indent: int) -> list[str]:
        """Loops around a call."""
        within = indent + 4 * len(s.names)
        arguments = COMMA.join(self.names.get(n, n) for n in s.arguments)
        moved = f"dst[dst_at + 1] = {self._changed('src[src_at + 1]')}"
        body = [
            self.line(f"src_at{COMMA}dst_at = {self.routine.functions[-1]}({arguments})", within),
            *([self.line("if src_at >= 0 && dst_at >= 0", within)] if s.masked else []),
            self.line(moved, within + 4 * s.masked),
            *([self.line("end", within)] if s.masked else []),
        ]
        for k in range(len(s.names) - 1, -1, -1):
            head, at = (
                self.head_of(s.names[k], const(0) if k else s.start, s.extents[k], 1),
                indent + 4 * k,
            )
            body = [self.line(head, at), *body, self.line("end", at)]
        return body

    def routine_lines(self) -> list[str]:
        """The routine with its docstring, and its method for integers of other types."""
        r, p, T, sizes = self.routine, self.printer, self.type, [*self.names.values()]
        call = f"{self.name}({', '.join(['dst', 'src', *sizes])})"
        wrong = [
            f"- `ArgumentError` where elements are not plain data of {r.element_bytes} bytes.",
            "- `DimensionMismatch` where an array is shorter.",
        ]
        docs = [
            f"    {call} -> dst", "", *wrap(r.summary, p.line_width, break_long_words=False), "",
            f"- `src`: `{self.inline(r.source)}` elements, read from a copy where `dst` may share them",
            f"- `dst`: `{self.inline(r.destination)}` elements", "", "Throws", "", *wrong,
        ]  # fmt: skip
        ends = (("src", r.source), ("dst", r.destination))
        given = COMMA.join(
            [
                f"dst::AbstractArray{{{T}}}",
                f"src::AbstractArray{{{T}}}",
                *(f"{n}::Int64" for n in sizes),
            ]
        )
        found = ["", '"""', *docs, '"""']
        found.append(self.line(f"function {self.name}({given}) where {{{T}}}", 0))
        is_data = "isbitstype" if r.value is None else "isprimitivetype"
        data = f"{is_data}({T}) && sizeof({T}) == {r.element_bytes}"
        found += [
            f"    {data} ||",
            f'        throw(ArgumentError("elements must be plain data of {r.element_bytes} bytes"))',
        ]
        found.append("    Base.require_one_based_indexing(dst, src)")
        for name, size in ends:
            need = self.text(size, p.ops["ge"].needs[1])
            found += [self.line(f"length({name}) >= {need} ||", 4)]
            found += [f'        throw(DimensionMismatch("{name} is too short"))']
        if r.parts:
            part = f"{r.name}_part!({COMMA.join(['dst', 'given', *sizes, PART, f'{PART} + 1'])})"
            found += [
                self.line(f"parts = {r.parts}({COMMA.join(sizes)})", 4),
                "    given = Base.unalias(dst, src)",
                f"    Threads.@threads for {PART} in 0:(parts - 1)",
                self.line(part, 8),
                "    end",
                "    return dst",
                "end",
            ]
            return [*self._part(given), *found, *self._of_integers(sizes)]
        found += [
            "    src = Base.unalias(dst, src)",
            *self._inbounds(r.body),
            "    return dst",
            "end",
        ]
        return [*found, *self._of_integers(sizes)]

    def given(self, helper: Helper, integers: Sequence[str]) -> list[str]:
        """What such a function is given: the arrays come first, as Julia has what is changed."""
        return [*(["dst", "src"] if helper.reads else ["dst"]), *integers]

    def box_name(self, helper: Helper) -> str:
        """It ends with a mark, as what it is given changes."""
        return f"{super().box_name(helper)}!"

    def box_lines(self) -> list[str]:
        """The functions that move boxes of one kind."""
        found: list[str] = []
        for helper in helpers(self.routine.body):
            integers = [f"{name}::Int64" for name in self.box_names(helper)]
            arrays = [f"{array}::AbstractArray{{{self.type}}}" for array in self.given(helper, [])]
            head = f"function {self.box_name(helper)}({COMMA.join([*arrays, *integers])}) where {{{self.type}}}"
            told = wrap(self.box_told(helper), self.printer.line_width - 2, break_long_words=False)
            found += ["", *(f"# {line}" for line in told), self.line(head, 0)]
            found += [*self._inbounds(helper.body), "    return nothing", "end"]
        return found

    def _inbounds(self, body: Body) -> list[str]:
        """Statements, whose places are known to be inside."""
        zeros = f"reinterpret({self.type}, zeros(UInt8, {self.routine.element_bytes}))"
        blank = f"{zeros}[1]" if self.routine.parts else f"first({zeros})"
        return [
            *([f"    blank = {blank}"] if writes_zeros(body, called=False) else []),
            "    @inbounds begin",
            *self.lines(body, 8),
            "    end",
        ]

    def _part(self, given: str) -> list[str]:
        """What does some parts, after arrays have been looked at."""
        bounds = COMMA.join([given, f"{FIRST}::Int64", f"{LAST}::Int64"])
        head = f"function {self.routine.name}_part!({bounds}) where {{{self.type}}}"
        told = f"# The parts {FIRST} to {LAST} - 1."
        return [
            "",
            told,
            self.line(head, 0),
            *self._inbounds(self.routine.body),
            "    return nothing",
            "end",
        ]

    def _of_integers(self, sizes: list[str]) -> list[str]:
        """The method for integers of other types."""
        found: list[str] = []
        if sizes:
            T = self.type
            arrays = [f"dst::AbstractArray{{{T}}}", f"src::AbstractArray{{{T}}}"]
            given = COMMA.join([*arrays, *(f"{n}::Integer" for n in sizes)])
            made_of = COMMA.join(["dst", "src", *(f"Int64({n})" for n in sizes)])
            found += ["", self.line(f"function {self.name}({given}) where {{{T}}}", 0)]
            found += [self.line(f"return {self.name}({made_of})", 4), "end"]
        return found


def _sum(x: Node, y: Node) -> Node:
    if x == const(0):
        return y
    return plus(x, y.value) if y.op == "const" else made("add", x, y)


class CopiesInJulia(CopyTexts):
    """What a file's template has of its copies."""

    own = ("given",)
    lines_of = LinesInJulia
    abilities = Abilities(kernels=False, streams=False, calls=True, block=Statements(1, 1))

    @property
    def names(self) -> list[str]:
        """What `using` brings: no name that Base has."""
        return [p.name for p in self.parts if p.name not in self.parts[0].printer.not_exported]

    @property
    def lines(self) -> list[str]:
        """The lines that follow the functions of places and bytes."""
        return [
            line
            for part in self.parts
            for line in (*part.value_lines(), *part.box_lines(), *part.routine_lines())
        ]

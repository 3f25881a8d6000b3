"""How JavaScript spells copies between memory layouts: typed arrays, whose bits move as unsigned integers.

Reference: https://tc39.es/ecma262/#sec-typedarray-objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any

from lego_emit.emit.nests import (
    NARROW,
    CopyTexts,
    NestForms,
    NestLines,
    hexadecimal,
    is_narrow,
    narrowed,
    rows,
    spelled,
)
from lego_emit.emit.nests import VALUES as C_VALUES
from lego_emit.emit.ops import BREAK
from lego_emit.ir.nests import (
    ENTRIES,
    VALUE,
    Abilities,
    Body,
    Each,
    Helper,
    Let,
    Move,
    Ref,
    Statements,
    Zero,
    helpers,
    plus,
)
from lego_emit.ir.nodes import Node, const, made
from lego_emit.printers.javascript import INT53

JAVASCRIPT = NestForms(
    let="const {name} = {expr};",
    loop="for (let {name} = {start}; {name} < {stop}; {name} += 1) {{",
    steps="for (let {name} = {start}; {name} < {stop}; {name} += {step}) {{",
    least=f"Math.min({{x}},{BREAK}{{y}})",
    one="{to} = {of};",
    run="dstWords.set(srcWords.subarray({of},{BREAK}{end}),{BREAK}{to});",
    zero="{to} = 0;",
    zeros="dstWords.fill(0,{BREAK}{to},{BREAK}{end});",
    moved="{name}At",
)
# The array of the widest integers that an element of so many bytes is made of.
WORDS = {1: "Uint8Array", 2: "Uint16Array", 4: "Uint32Array"}
LONGEST = 8  # bytes of an element of a typed array
UNROLLED = 4  # words that are moved in a line each
VALUE_OF = "value"  # after a routine's name
# How an operation on an element is spelled: an array that stores it keeps its lower bits.
VALUES = {
    **C_VALUES,
    "mul": "Math.imul({0}, {1})",
    "div": "Math.trunc({0} / {1})",
    "shr": "{0} >>> {1}",
    "uint32": "{0} >>> 0",
}
SHORT = 96  # words that are moved by a loop: a subarray costs more


class LinesInJavaScript(NestLines):
    """The nest of a routine, on views of both arrays' buffers."""

    forms = JAVASCRIPT
    index_type = INT53

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        size = routine.element_bytes
        self.word = next(n for n in (4, 2, 1) if size % n == 0)
        self.words = size // self.word  # of an element
        self.view = WORDS[self.word]
        self._is_alone = True  # no other element is moved in its scope

    # -- statements --------------------------------------------------------------------------------

    def lines(self, body: Body, indent: int) -> list[str]:
        """The lines of statements."""
        is_alone, found = sum(isinstance(s, Move) for s in body) < 2, list[str]()
        for statement in body:
            self._is_alone = is_alone
            found += super().lines((statement,), indent)
        return found

    def text(self, node: Node, need: int = 0) -> str:
        """A text of numbers that are not negative: no -0."""
        return super().text(_not_negative(node), need)

    def _scaled(self, node: Node) -> Node:
        """The word that an element begins with, or a number of elements in words."""
        if self.words == 1:
            return node
        if node.op == "const":
            return const(node.value * self.words)
        if _is_near(node) and node.args:
            return made("add", *map(self._scaled, node.args))
        return made("mul", self.words, node)

    def move(self, s: Move, indent: int) -> list[str]:
        """Words one by one, or a run of them."""
        to, of, count = map(self._scaled, (s.to.offset, s.of.offset, s.count))
        if count == const(1):
            moved = self._changed(f"srcWords[{self.text(of)}]")
            return [self.line(f"dstWords[{self.text(to)}] = {moved};", indent)]
        is_short = count.op == "const" and count.value <= SHORT
        if is_short or self.routine.value is not None:
            pad = " " * indent
            names: list[Let] = []
            if to.args and of.args and indent > 2 and self._is_alone:  # in a block
                names = [Let("dstAt", to), Let("srcAt", of)]
                to, of = _var("dstAt"), _var("srcAt")
            if is_short and count.value <= UNROLLED:
                return [*self.lines(names, indent), *self._moves(to, of, count.value, indent)]
            own, other = _sum(to, "word"), _sum(of, "word")
            many = UNROLLED if is_short and count.value % UNROLLED == 0 else 1
            return [
                *self.lines(names, indent),
                f"{pad}for (let word = 0; word < {self.text(count)}; word += {many}) {{",
                *self._moves(own, other, many, indent + 2),
                f"{pad}}}",
            ]
        end = self.text(_sum(of, count))
        text = (
            f"dstWords.set(srcWords.subarray({self.text(of)},{BREAK}{end}),{BREAK}{self.text(to)});"
        )
        return [self.line(text, indent)]

    def _moves(self, to: Node, of: Node, count: int, indent: int) -> list[str]:
        """So many words, a line for each."""
        pairs = [(self.text(plus(to, k)), self.text(plus(of, k))) for k in range(count)]
        moves = [f"dstWords[{x}] = {self._changed(f'srcWords[{y}]')};" for x, y in pairs]
        return [self.line(m, indent) for m in moves]

    def _changed(self, of: str) -> str:
        """What is made of an element of the source."""
        return of if self.routine.value is None else f"{self._value}({of})"

    @property
    def _value(self) -> str:
        return self.printer.naming.after(self.routine.name, VALUE_OF)

    def value_lines(self) -> list[str]:
        """The function of what is made of an element."""
        value, size = self.routine.value, self.routine.element_bytes
        if value is None:
            return []
        if value.op == ENTRIES:
            name = self.printer.naming.after(self.routine.name, f"{VALUE_OF}s")
            return [
                "",
                "// What is made of each byte.",
                f"const {name} = new Uint8Array([",
                *rows(value.value, 2),
                "]);",
                *self._told("What is made of an element.", [f"number {VALUE}"]),
                f"function {self._value}({VALUE}) {{",
                f"  return {name}[{VALUE}];",
                "}",
            ]
        most = 2 ** (8 * size) - 1
        fits = is_narrow if size < 4 else _has_no_sign
        text = spelled(_unsigned(narrowed(value, most, NARROW, fits)), VALUES, hexadecimal)
        return [
            *self._told("What is made of an element.", [f"number {VALUE}"]),
            f"function {self._value}({VALUE}) {{",
            f"  {self.printer.line(f'return {text};', 2)}",
            "}",
        ]

    def zero(self, s: Zero, indent: int) -> list[str]:
        """Zeros in a run of words."""
        to, count = map(self._scaled, (s.to.offset, s.count))
        if count == const(1):
            return [self.line(f"dstWords[{self.text(to)}] = 0;", indent)]
        text = f"dstWords.fill(0,{BREAK}{self.text(to)},{BREAK}{self.text(_sum(to, count))});"
        return [self.line(text, indent)]

    def each(self, s: Each, indent: int) -> list[str]:
        """Loops around a call."""
        within = indent + 2 * len(s.names)
        arguments = f",{BREAK}".join(self.names.get(n, n) for n in s.arguments)
        names = "srcPlace, dstPlace"
        body = [self.line(f"const [{names}] = {self.routine.functions[-1]}({arguments});", within)]
        inner = within
        if s.masked:
            body.append(self.line("if (srcPlace >= 0 && dstPlace >= 0) {", within))
            inner += 2
        moved = Move(Ref("dst", _var("dstPlace")), Ref("src", _var("srcPlace")), const(1))
        body += self.move(moved, inner)
        if s.masked:
            body.append(self.line("}", within))
        for k in range(len(s.names) - 1, -1, -1):
            head, at = (
                self.head_of(s.names[k], const(0) if k else s.start, s.extents[k], 1),
                indent + 2 * k,
            )
            body = [self.line(head, at), *body, self.line("}", at)]
        return body

    def _told(self, what: str, parameters: Sequence[str]) -> list[str]:
        """A comment, and the types of what a function is given."""
        told = wrap(what, self.printer.line_width - 3, break_long_words=False)
        own = (f"@param {{{T}}} {name}" for T, name in map(str.split, parameters))
        return ["", "/**", *(f" * {line}" for line in (*told, *own)), " */"]

    # -- boxes of one kind -------------------------------------------------------------------------

    def given(self, helper: Helper, integers: Sequence[str]) -> list[str]:
        """The views come last."""
        return [*integers, *["srcWords", "dstWords"][not helper.reads :]]

    def box_name(self, helper: Helper) -> str:
        """As names of functions are written."""
        return self.printer.naming.after(self.routine.name, helper.stem)

    def box_lines(self) -> list[str]:
        """The functions that move boxes of one kind."""
        p, found = self.printer, list[str]()
        for helper in helpers(self.routine.body):
            integers = self.box_names(helper)
            parameters = self.given(helper, integers)
            types = [*["number"] * len(integers), *[self.view] * 2]
            typed = (f"{T} {name}" for T, name in zip(types, parameters, strict=False))
            head = p.head_of(self.box_name(helper), parameters, " {").removeprefix("export ")
            found += [*self._told(self.box_told(helper), [*typed]), *head.split("\n")]
            found += [*self.lines(helper.body, 2), "}"]
        return found

    # -- the function ------------------------------------------------------------------------------

    def _docs(self, typed: bool) -> list[str]:
        r = self.routine
        told = wrap(r.summary, self.printer.line_width - 3, break_long_words=False)
        size = "a size is no integer of 0 or more, " if self.names else ""
        longer = " or has longer elements" * (r.element_bytes < LONGEST)
        wrong = f"Throws a RangeError if {size}an array is too short, or both overlap, and a TypeError if one is no typed array{longer}. Bytes are moved as they are."
        told += ["", *wrap(wrong, self.printer.line_width - 3, break_long_words=False), ""]
        number, array = ("{number} ", "{ArrayBufferView} ") if typed else ("", "")
        told += [f"@param {number}{n} an integer of 0 or more" for n in self.names.values()]
        words = "s" * (r.element_bytes != 1)
        for name, size in (("src", r.source), ("dst", r.destination)):
            count = f"{self.inline(size)} elements of {r.element_bytes} byte{words}"
            told.append(f"@param {array}{name} {count}")
        told += ["@returns {void}"] if typed else []
        return ["", "/**", *(f" * {line}".rstrip() for line in told), " */"]

    def routine_lines(self) -> list[str]:
        """The function with its comment."""
        r, p = self.routine, self.printer
        parameters = [*self.names.values(), "src", "dst"]
        found = [*self._docs(True), *p.head_of(r.name, parameters, " {").split("\n")]
        for size in self.names.values():
            found += [
                f"  if (!Number.isSafeInteger({size}) || {size} < 0) {{",
                f'    throw new RangeError("{size} must be an integer of 0 or more");',
                "  }",
            ]
        sizes = ", ".join(self.names.values())
        ends = [*zip(("src", "dst"), (r.source, r.destination), r.functions, strict=False)]
        size, plural = r.element_bytes, "s" * (r.element_bytes > 1)
        most = f" of elements of up to {size} byte{plural}" * (size < LONGEST)
        for array, _, function in ends:
            wide = f"{BREAK}|| /** @type {{any}} */ ({array}).BYTES_PER_ELEMENT > {size}"
            test = f"!ArrayBuffer.isView({array}){wide * (size < LONGEST)}"
            found += [
                f"  {p.line(f'if ({test}) {{', 2)}",
                f'    throw new TypeError("{array} is no typed array{most}");',
                "  }",
                f"  {p.line(f'if ({array}.byteLength < {function}({sizes})) {{', 2)}",
                f'    throw new RangeError("{array} is too short");',
                "  }",
            ]
        for array, size, _ in ends:
            words = self.text(self._scaled(size))
            view = f"{array}.buffer,{BREAK}{array}.byteOffset,{BREAK}{words}"
            found.append(f"  {p.line(f'const {array}Words = new {self.view}({view});', 2)}")
        found += [
            "  if (srcWords.buffer === dstWords.buffer",
            "      && srcWords.byteOffset < dstWords.byteOffset + dstWords.byteLength",
            "      && dstWords.byteOffset < srcWords.byteOffset + srcWords.byteLength) {",
            '    throw new RangeError("dst overlaps src");',
            "  }",
        ]
        return [*found, *self.lines(r.body, 2), "}"]

    def declared_lines(self) -> list[str]:
        """The lines that a .d.ts file has of it."""
        parameters = [*(f"{n}: number" for n in self.names.values())]
        parameters += ["src: ArrayBufferView", "dst: ArrayBufferView"]
        return [
            *self._docs(False),
            f"{self.printer.head_of(self.routine.name, parameters, ': void')};",
        ]


def _not_negative(node: Node) -> Node:
    if node.op == "const":
        return node
    return replace(node, args=tuple(map(_not_negative, node.args)), lo=0)


def _has_no_sign(node: Node) -> bool:
    """Whether no operation on bits, whose result has a sign, gives a number of 32 bits."""
    return not node.args or node.op in NARROW


def _unsigned(node: Node) -> Node:
    """Without masks of 32 bits, whose results have a sign."""
    args = tuple(map(_unsigned, node.args))
    is_mask = node.op == "and" and args[1] == const(2**32 - 1)
    return Node("uint32", args[:1]) if is_mask else node.over(args)


def _is_near(node: Node) -> bool:
    """Whether a place is one that has a name, or some elements beyond it."""
    return node.op == "var" or (node.op == "add" and [n.op for n in node.args] == ["var", "const"])


def _var(name: str) -> Node:
    return Node("var", (), name)


def _sum(x: Node, y: Node | str) -> Node:
    y = _var(y) if isinstance(y, str) else y
    if x == const(0):
        return y
    return plus(x, y.value) if y.op == "const" else made("add", x, y)


class CopiesInJavaScript(CopyTexts):
    """What a file's template has of its copies."""

    lines_of = LinesInJavaScript
    index_type, places_type = INT53, None
    abilities = Abilities(
        kernels=False,
        streams=False,
        calls=True,
        most=80,
        block=Statements(4, 4, 4, loops=False, lines=4, ragged=False),
    )
    threads = "JavaScript copies in one thread"
    own = ("srcWords", "dstWords", "srcPlace", "dstPlace", "srcAt", "dstAt")

    @property
    def lines(self) -> list[str]:
        """The lines that follow the functions of places and bytes."""
        return [
            line
            for part in self.parts
            for line in (*part.value_lines(), *part.box_lines(), *part.routine_lines())
        ]

    @classmethod
    def refuses(cls, value: Node, element_bytes: int) -> str:
        """Numbers have 53 bits."""
        what = "JavaScript computes value on elements of up to 4 bytes"
        return what if element_bytes > 4 else ""

    @property
    def declared(self) -> list[str]:
        """Their declarations in TypeScript."""
        return [line for part in self.parts for line in part.declared_lines()]

"""Fields of words in GLSL and WGSL, where a function takes no array of any length: of the words that a field is
in. GLSL has macros that take the array.

Reference: GLSL 4.60, 5.9 (of ?: and of a statement that is left out nothing is evaluated); WGSL, 8.9 (a
shift's distance is a u32).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lego_emit.emit.fields import SHIFT, WORD, Fields, programs
from lego_emit.emit.fields import check as check_programs
from lego_emit.emit.printer import BREAK, FunctionView
from lego_emit.errors import TargetError
from lego_emit.ir.nodes import Node
from lego_emit.ir.relations import const

FORMS = {
    "more": "{name} |= {0};",
    "return": "return {0};",
    "if": "if ({0}) {{",
    "end": "}",
    "and": f"{{0}}{BREAK}& {{1}}",
    "or": f"{{0}}{BREAK}| {{1}}",
    "shl": "{0} << {1}",
    "shr": "{0} >> {1}",
    "not": "~{0}",
    "signed": "{S}({0})",
    "extend": "{S}({0} << {1}) >> {1}",
}


class ShaderFields(Fields):
    """Functions of words: put gives the new word, or what is after it where a field is in two."""

    atoms = frozenset({"not", "value"})
    types = ("", "")  # of a word and of a number with a sign
    of_array = ""  # what stands behind the names of functions that macros call

    def __init__(self, printer: Any, view: Any):
        super().__init__(printer, view)
        if self.p.word != 32:
            raise TargetError(
                f"{self.p.name}: words have {self.p.word} bits, and in {printer.title} 32: give word=32"
            )
        if not self.p.by_value:
            taken = {
                *self.names.values(),
                *(q.name for q in view.params),
                *(n for n, _ in view.body),
            }
            other = next(n for n in ("other", "other_word", "other_word_2") if n not in taken)
            self.names["other"] = other
        if self.p.signed:
            self.forms = {**self.forms, "value": "{V}({0})"}

    def unsigned(self, bits):
        """The type of a word."""
        return self.types[0]

    def type_of_field(self):
        """The type of a field."""
        return self.types[self.p.signed]

    def literal(self, value):
        """A number of the type of a word."""
        return f"{super().literal(value)}u"

    def text(self, e, tight=False):
        """A word is a parameter."""
        if e[0] == "load":
            key = "words" if self.p.by_value else "word" if e[1] == 0 else "other"
            return self.names[key]
        return super().text(e, tight)

    def element(self, words: str, place: str) -> str:
        """An element of an array, whose place has 32 bits."""
        wide = self.view.index_type.endswith("64")
        return f"{words}[{self.types[1]}({place})]" if wide else f"{words}[{place}]"

    def comment(self, view):
        """The lines of a comment."""
        printer = self.printer
        return [
            f"{printer.doc} {line}" for text in printer.docs(view) for line in printer.comment(text)
        ]

    def header(self, name: str, parameters: list[str], result: str) -> str:
        """The line that begins a function."""
        raise NotImplementedError

    def parameter(self, name: str, T: str) -> str:
        """The text of a parameter."""
        raise NotImplementedError

    def own(self) -> list[str]:
        """The parameters of the position."""
        return self.view.parameters(self.parameter("{name}", "{T}"))

    def function(
        self, name: str, given: list[str], result: str, lines: list[str], said: list[str]
    ) -> list[str]:
        """A function with its comment."""
        head = self.printer.line(f"{self.header(name, given, result)} {{", 0)
        return ["", *said, head, *lines, "}"]

    def lines(self):
        """Those of a word, or of the words that a field is in."""
        p, names = self.p, self.names
        check_programs(p, self.width)
        get, put = programs(p, self.width, self._index(SHIFT))
        U, S = self.unsigned(32), self.type_of_field()
        (_, read, _), (_, written, _) = self.commented()
        value = self.parameter(names["value"], S)
        word = self.parameter(names["words" if p.by_value else "word"], U)
        if p.by_value:
            own = self.own()
            return [
                *self.function(p.get, [word, *own], S, self.body(get), self.comment(read)),
                *self.function(
                    p.set, [word, *own, value], U, self.body(put), self.comment(written)
                ),
            ]
        return [*self._of_words(get, put, word, value), *self.of_arrays(read, written)]

    def _of_words(self, get, put, word: str, value: str) -> Iterator[str]:
        p, names, own, U = self.p, self.names, self.own(), self.unsigned(32)
        other = [self.parameter(names["other"], U)] * p.straddles
        index = ", ".join(q.name for q in self.view.params if q.axis)
        said = f"The field at ({index}) of the word that it is in"
        said += ", and of the other one where it is in two." if other else "."
        least = None if p.signed else 0
        S = self.type_of_field()
        yield from self.function(
            self.named_get,
            [word, *other, *own],
            S,
            self.body(get),
            self.told(said, self._range(least, p.bits), ""),
        )
        lets = [s for s in put if s[0] == "let"]
        ends = [s for s in put if s[0] == "store"]
        said = f"The word with the low bits of {names['value']} as the field at ({index})."
        program = [*lets, ("return", ends[0][-1])]
        yield from self.function(
            self.named_set,
            [word, *own, value],
            U,
            self.body(program),
            self.told(said, "", names["value"]),
        )
        if not other:
            return
        condition, (end,) = next(s for s in put if s[0] == "if")[1:]
        said = (
            f"The other word with the low bits of {names['value']}, as far as the field is in it."
        )
        program = [
            *lets, ("if", condition, [("return", end[-1])]), ("return", ("load", p.step)),
        ]  # fmt: skip
        lines = self.body(program)
        told = self.told(said, "", names["value"])
        yield from self.function(self.of_other, [*other, *own, value], U, lines, told)
        T = self.view.T
        said = f"The number of the other word that the field at ({index}) is in; of its only one, if it is in one."
        far = self._index(Node("gt", (SHIFT, self._room())))
        step = Node("add" if p.step > 0 else "sub", (self._index(WORD), const(1)))
        lines = [f"  {line}" for line in self.placed("word", "shift")]
        texts = [self.index(n) for n in (far, step, self._index(WORD))]
        lines += [
            f"  if ({texts[0]}) {{",
            f"    return {texts[1]};",
            "  }",
            f"  return {texts[2]};",
        ]
        yield from self.function(self.of_next, own, T, lines, self._said(said))

    def _room(self) -> Node:
        bits = self.p.bits
        if isinstance(bits, int):
            return const(32 - bits)
        return Node("sub", (const(32), Node("var", (), bits)))

    def told(self, summary: str, returns: str, value: str) -> list[str]:
        """The comment of a function of words. value: the name of a parameter, "" for none."""
        return self._said(summary)

    def _said(self, text: str) -> list[str]:
        return [f"{self.printer.doc} {line}" for line in self.printer.comment(text)]

    def after(self, name: str, word: str) -> str:
        """The name of what belongs to a function."""
        return self.printer.naming.after(name, word) if word else name

    @property
    def named_get(self) -> str:
        """What gives a field of its words."""
        return self.after(self.p.get, self.of_array)

    @property
    def named_set(self) -> str:
        """What gives a word with a field set."""
        return self.after(self.p.set, self.of_array)

    @property
    def of_other(self) -> str:
        """What gives the other word."""
        return self.after(self.p.set, "other")

    @property
    def of_next(self) -> str:
        """What gives the number of the other word."""
        return self.after(self.p.get, "other")

    form = ""  # of a statement that names an index

    def placed(self, *keys: str) -> Iterator[str]:
        """Named parts of the position, and these of it."""
        yield from self.view.statements(self.form, 2)
        whole = self._place
        self._place = {key: node for key, node in whole.items() if key in keys}
        yield from self.named(self.form, 2)
        self._place = whole

    def opening(self):
        """Named parts of the position, and the place in the word."""
        yield from self.placed("shift")

    def of_arrays(self, read: FunctionView, written: FunctionView) -> list[str]:
        """What takes an array, or says how one is taken."""
        raise NotImplementedError


class GlslFields(ShaderFields):
    """Macros take any array of uint."""

    types = ("uint", "int")
    of_array = "of"
    form = "{T} {name} = {expr};"
    forms = FORMS | {
        "let": "uint {name} = {0};",
        "var": "uint {name} = {0};",
        "value": "{0}",
    }

    def parameter(self, name, T):
        """The type stands before the name."""
        return f"{T} {name}"

    def header(self, name, parameters, result):
        """The type stands before the name."""
        return f"{result} {name}({f',{BREAK}'.join(parameters)})"

    def distance(self, text):
        """It has 32 bits."""
        if found := re.fullmatch(r"(\d+)(L|UL)?", text):
            return found[1]
        inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        return f"int({inner})" if self.view.index_type.endswith("64") else text

    def of_arrays(self, read, written):
        """The number of the word, and the macros."""
        p, names = self.p, self.names
        index = ", ".join(q.name for q in self.view.params if q.axis)
        place = self.after(p.get, "word")
        lines = [f"  {line}" for line in self.placed("word")]
        lines.append(f"  return {self.index(self._index(WORD))};")
        said = self._said(f"The number of the word that the field at ({index}) is in.")
        made = self.function(place, self.own(), self.view.T, lines, said)
        words, own = names["words"], ", ".join(self.view.inputs)
        at, more = (
            self.element(words, f"{place}({own})"),
            self.element(words, f"{self.of_next}({own})"),
        )
        both, value = f"{at}, {more}" if p.straddles else at, names["value"]
        once = "// A macro, whose arguments are evaluated several times."
        return [
            *made,
            "",
            *self.comment(read),
            once,
            f"#define {p.get}({words}, {own}) \\",
            f"    {self.named_get}({both}, {own})",
            "",
            *self.comment(written),
            once,
            f"#define {p.set}({words}, {own}, {value}) \\",
            *self._setting(place, words, own, value),
        ]

    def _setting(self, place: str, words: str, own: str, value: str) -> list[str]:
        """What the macro stands for: nothing is written before all is read."""
        if not self.p.straddles:
            at = self.element(words, f"{place}({own})")
            return [f"    {at} = {self.named_set}({at}, {own}, {value})"]
        S, T = self.type_of_field(), self.view.T
        first, rest, new, one, two = (
            self.after(self.p.set, word) for word in ("at", "next", "value", "first", "second")
        )
        lines = [
            "do {",
            f"  {T} {first} = {place}({own});",
            f"  {T} {rest} = {self.of_next}({own});",
            f"  {S} {new} = {value};",
            f"  uint {one} = {self.named_set}({self.element(words, first)}, {own}, {new});",
            f"  uint {two} = {self.of_other}({self.element(words, rest)}, {own}, {new});",
            f"  if ({rest} != {first}) {self.element(words, rest)} = {two};",
            f"  {self.element(words, first)} = {one};",
        ]
        return [*(f"    {line} \\" for line in lines), "    } while (false)"]


class WgslFields(ShaderFields):
    """The words are read and written where the functions are called."""

    types = ("u32", "i32")
    form = "let {name} = {expr};"
    forms = FORMS | {
        "let": "let {name} = {0};",
        "var": "var {name} = {0};",
        "value": "{0}",
    }

    def parameter(self, name, T):
        """The name stands before the type."""
        return f"{name}: {T}"

    def header(self, name, parameters, result):
        """The name stands before the type."""
        return f"fn {name}({f',{BREAK}'.join(parameters)}) -> {result}"

    def distance(self, text):
        """It is a u32."""
        if found := re.fullmatch(r"(\d+)(u|li|lu)?", text):
            return f"{found[1]}u"
        inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        return text if self.view.T == "u32" else f"u32({inner})"

    def told(self, summary, returns, value):
        """With the ranges of the parameters."""
        view = self.documented(self.p.get, summary, returns, value)
        params = [q for q in view.params if q.name != self.names["words"]]
        made = replace(view._function, params=tuple(params))
        return self.comment(FunctionView(self.printer, made, view.unit, view.counter))

    def of_arrays(self, read, written):
        """Nothing takes an array: a comment says how one is read and written."""
        p, own = self.p, ", ".join(self.view.inputs)
        at = self.element("words", f"{self.view.name}({own}).word")
        more = self.element("words", f"{self.of_next}({own})")
        both = f"{at}, {more}" if p.straddles else at
        sizes = ", ".join(q.name for q in self.view.params if not q.axis)
        said = f"The field of an array of {p.words}({sizes}) words is"
        if p.straddles:
            lines = [
                f"let first = {p.set}({at}, {own}, value);",
                f"let second = {self.of_other}({more}, {own}, value);",
                f"if ({self.of_next}({own}) != {self.view.name}({own}).word) {{",
                f"  {more} = second;",
                "}",
                f"{at} = first;",
            ]
        else:
            lines = [f"{at} = {p.set}({at}, {own}, value);"]
        end = (
            "That is not atomic: of two invocations that set fields of one word at the same time, one may undo "
            "what the other did."
        )
        code = [
            "",
            *self._said(said),
            f"///   {p.get}({both}, {own})",
            *self._said("and it is set by"),
        ]
        code += [*(f"///   {line}" for line in lines), *self._said(end)]
        return [line.replace("///", "//", 1) for line in code]

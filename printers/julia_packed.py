"""Fields of words in Julia: of a vector of words, or of one word.

Reference: https://docs.julialang.org/en/v1/manual/mathematical-operations/ (>> of a signed integer keeps
the sign; a shift leaves the type; % T takes the low bits).
"""

from __future__ import annotations

import re

from lego_emit.emit.fields import Fields
from lego_emit.emit.printer import BREAK

FORMS = {
    "let": "{name} = {0}",
    "var": "{name} = {0}",
    "more": "{name} |= {0}",
    "store": "{words}[{at}] = {0}",
    "return": "return {0}",
    "if": "if {0}",
    "end": "end",
    "load": "{words}[{at}]",
    "and": "{0}{B}& {1}",
    "or": "{0}{B}| {1}",
    "shl": "{0} << {1}",
    "shr": "{0} >> {1}",
    "not": "~{0}",
    "value": "{0} % {U}",
    "signed": "{0} % {S}",
    "extend": "(({0} << {1}) % {S}) >> {1}",
}


class JuliaFields(Fields):
    """Words are computed with as they are, whatever their bits; vectors count from 1."""

    indent, first = 4, 1
    atoms = frozenset({"not"})
    forms = FORMS

    def width_of(self, word):
        """Those of a word."""
        return word

    def unsigned(self, bits):
        """The name of the type in Base."""
        return f"UInt{bits}"

    def type_of_field(self):
        """The signed one where fields are."""
        return f"{'Int' if self.p.signed else 'UInt'}{self.p.word}"

    def literal(self, value):
        """In hexadecimal with all digits, which say the type."""
        return f"0x{value:0{self.p.word // 4}x}"

    def _plain(self, text: str) -> str:
        # Distances and places are of any integer type: a plain literal widens nothing.
        return re.sub(rf"\b{re.escape(self.view.T)}\((\d+)\)", r"\1", text)

    def distance(self, text):
        """With plain numbers in it."""
        return self._plain(text)

    def place(self, text):
        """With plain numbers in it."""
        return self._plain(text)

    def comment(self, view):
        """The lines of a docstring."""
        return ['"""', *self.printer.docstring(view), '"""']

    def _words(self) -> str:
        kind = self.unsigned(self.p.word)
        kind = kind if self.p.by_value else f"AbstractVector{{{kind}}}"
        return f"{self.names['words']}::{kind}"

    def _result(self, writes: bool) -> str:
        if not writes:
            return self.type_of_field()
        return self.unsigned(self.p.word) if self.p.by_value else "Nothing"

    def head(self, name, writes):
        """Words come first, the value, of any integer type, last."""
        result = self._result(writes)
        text: str = self.printer.signature_of(
            self.view, name, self.view.inputs, result, self.view.given_tables("")
        )
        text = text.replace(f"{name}(", f"{name}({self._words()},{BREAK}", 1)
        if writes:
            value = f",{BREAK}{self.names['value']}::Integer)::{result}"
            text = value.join(text.rsplit(f")::{result}", 1))
        return [self.printer.line(f"@inline function {text}", 0)]

    def opening(self):
        """Assertions, named parts of the position, and both of it."""
        printer, view = self.printer, self.view
        for condition in view.asserted:
            yield printer.line("@assert " + printer.expression(condition, view), 4)
        yield from view.statements("{name} = {expr}")
        yield from self.named("{name} = {expr}", 4)

    def closing(self, name, writes):
        """What ends a function, and its method for other integers."""
        lines = ["    return nothing"] * (writes and not self.p.by_value) + ["end"]
        value = self.names["value"]
        first = self._words(), self.names["words"]
        last = (f"{value}::Integer", value) if writes else None
        more = self.printer.promoted_between(self.view, name, first, last)
        return [*lines, *(["", more] if more else [])]

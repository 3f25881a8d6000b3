"""Fields of words in C and its kin: through a pointer to words, or in one word.

Reference: ISO C99 6.5.7 (operands of a shift are promoted, so that narrow words are computed in 32 bits).
"""

from __future__ import annotations

from typing import Any

from lego_emit.emit.fields import Fields
from lego_emit.emit.printer import BREAK

FORMS = {
    "let": "const {V} {name} = {0};",
    "var": "{V} {name} = {0};",
    "more": "{name} |= {0};",
    "store": "{words}[{at}] = {0};",
    "return": "return {0};",
    "if": "if ({0}) {{",
    "end": "}",
    "load": "{words}[{at}]",
    "and": "{0}{B}& {1}",
    "or": "{0}{B}| {1}",
    "shl": "{0} << {1}",
    "shr": "{0} >> {1}",
    "not": "~{0}",
}


class CFields(Fields):
    """C's, with casts as the language has them."""

    atoms = frozenset({"not", "value"})

    def __init__(self, printer: Any, view: Any):
        def cast(T: str, text: str = "{0}") -> str:
            return printer.cast.replace("{T}", T).replace("{0}", text)

        self.forms = {
            **FORMS,
            "wide": cast("{V}"),
            "narrow": cast("{U}", "({0})" if cast("x", "y").endswith("y") else "{0}"),
            "value": cast("{V}"),
            "signed": cast("{S}"),
            "extend": "",
        }
        super().__init__(printer, view)
        wide = printer.spelled(f"int{self.width}")
        up = "{0} << {1}"
        inner = cast(wide, f"({up})") if printer.cast.endswith("{0}") else cast(wide, up)
        whole = f"{inner} >> {{1}}"
        narrow = self.width > self.p.word
        self.forms["extend"] = (
            cast("{S}", f"({whole})" if printer.cast.endswith("{0}") else whole)
            if narrow
            else whole
        )
        if self.width == self.p.word and not self.p.signed:
            self.forms["value"] = "{0}"

    def literal(self, value):
        """With the suffix of the computed type."""
        return super().literal(value) + self.printer.suffixes[f"uint{self.width}"]

    def comment(self, view):
        """The lines in Doxygen's commands."""
        return [f"/// {line}" for line in self.printer.doxygen(view)]

    def head(self, name, writes):
        """Words come first, the value last."""
        printer, p, view = self.printer, self.p, self.view
        U, S = self.unsigned(p.word), self.type_of_field()
        words = self.names["words"]
        given = f"{U} {words}" if p.by_value else printer.words_parameter(U, words, writes)
        parameters = [given, view.signature("{T} {name}", printer.unused, f",{BREAK}")]
        if writes:
            parameters.append(f"{S} {self.names['value']}")
        result = (U if p.by_value else "void") if writes else S
        attributes = "" if result == "void" else printer.attributes
        qualifiers = (
            printer.own_qualifiers if view.calls_others and printer.own_qualifiers else None
        )
        start = f"{attributes}{qualifiers or printer.qualifiers} {result} {name}"
        whole = f",{BREAK}".join(filter(None, parameters))
        head = printer.head(start, whole, " {" if view.calls_others else None)
        return [*printer.template_lines(view), *head.split("\n")]

    def opening(self):
        """Assertions, named parts of the position, and both of it."""
        printer, view = self.printer, self.view
        form = "const {T} {name} = {expr};"
        yield from printer.unread(view)
        for condition in view.asserted:
            yield printer.line(f"assert({printer.expression(condition, view)});", 2)
        yield from view.statements(form, 2)
        yield from self.named(form, 2)

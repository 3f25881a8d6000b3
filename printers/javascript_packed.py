"""Fields of words in JavaScript: of typed arrays of Numbers, or of BigInts where words have 64 bits.

Reference: ECMA-262, 13.9 and 13.12 (Numbers are shifted and masked as 32 bits, with a sign but for >>>;
BigInts without an end) and 10.4.5 (a typed array keeps the low bits of what is stored in it).
"""

from __future__ import annotations

import re
from typing import Any

from lego_emit.emit.fields import Fields
from lego_emit.emit.printer import BREAK

FORMS = {
    "let": "const {name} = {0};",
    "var": "let {name} = {0};",
    "more": "{name} |= {0};",
    "store": "{words}[{at}] = {0};",
    "return": "return {0};",
    "if": "if ({0}) {{",
    "end": "}",
    "load": "{words}[{at}]",
    "wide": "{0}",
    "and": f"{{0}}{BREAK}& {{1}}",
    "or": f"{{0}}{BREAK}| {{1}}",
    "shl": "{0} << {1}",
    "shr": "{0} >>> {1}",
    "not": "~{0}",
    "value": "{0}",
    "signed": "{0} | 0",
    "extend": "({0} << {1}) >> {1}",
}


class JavaScriptFields(Fields):
    """What is stored needs no mask: a typed array has one."""

    atoms = frozenset({"not"})

    def __init__(self, printer: Any, view: Any):
        super().__init__(printer, view)
        self.forms = FORMS | ({"shr": "{0} >> {1}"} if self.is_big else {})

    @property
    def is_big(self) -> bool:
        """Whether words are BigInts."""
        return self.p.word == 64

    @property
    def kind(self) -> str:
        """The type of a field."""
        return "bigint" if self.is_big else "number"

    @property
    def array(self) -> str:
        """The type of words."""
        if self.p.by_value:
            return self.kind
        return "BigUint64Array" if self.is_big else f"Uint{self.p.word}Array"

    def unsigned(self, bits):
        """A name that no text has."""
        return ""

    def type_of_field(self):
        """The one type that fields have."""
        return self.kind

    def literal(self, value):
        """A Number, or a BigInt with its n."""
        return super().literal(value) + "n" * self.is_big

    def _converted(self, text: str, big: bool) -> str:
        """An index as a BigInt, or as a Number."""
        if (self.view.T == "bigint") == big:
            return text
        inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        if text.isdigit():
            return f"{text}n"
        return f"{'BigInt' if big else 'Number'}({inner})"

    def distance(self, text):
        """Of the type of what is shifted."""
        return self._converted(text, self.is_big)

    def place(self, text):
        """A Number, as arrays want it."""
        return self._converted(text, False)

    def text(self, e, tight=False):
        """Results are without a sign, and of so many bits."""
        op, *rest = e
        if op == "narrow":
            return self._narrow(rest[0])
        if op == "value" and self.is_big and self.p.bits == 64 and not self.p.is_whole:
            # No mask takes the sign away, which >> would go on with.
            return f"BigInt.asUintN(64, {self.names['value']})"
        if op == "extend" and self.is_big:
            bits = self.p.bits if isinstance(self.p.bits, str) else ""
            bits = self._converted(bits, False) if bits else f"{self.p.bits}"
            return f"BigInt.asIntN({bits}, {self.text(rest[0])})"
        return super().text(e, tight)

    def _narrow(self, e):
        text = self.text(e)
        if self.op == "store" or e[0] == "load":
            return text
        if self.is_big:
            return text if e[0] == "and" else f"BigInt.asUintN(64, {text})"
        if e[0] == "and" and self.p.word < 32:
            return text
        small = isinstance(self.p.bits, int) and self.p.bits < 32
        if e[0] == "and" and small:
            return text
        if e[0] == "shr":
            return text
        text = f"({text})" if e[0] != "name" and e[0] != "value" else text
        return (
            f"{text} >>> 0" if self.p.word == 32 else f"{text} & {self.literal(2**self.p.word - 1)}"
        )

    def comment(self, view):
        """The lines of a JSDoc comment."""
        lines = self.told(view, typed=True)
        return ["/**", *(f" * {line}".rstrip() for line in lines), " */"]

    def told(self, view: Any, typed: bool) -> list[str]:
        """What it says; typed: with types."""
        types = {self.names["words"]: self.array, self.names["value"]: self.kind}
        lines = []
        for line in self.printer.docs(view, typed):
            for name, kind in types.items():
                line = re.sub(
                    rf"^@param {{\w+}} {re.escape(name)} ", f"@param {{{kind}}} {name} ", line
                )
            line = re.sub(r"^@returns {\w+}", f"@returns {{{self.kind}}}", line)
            if not re.fullmatch(r"@returns {\w+}", line):
                lines.append(line)
        return lines

    def heads(self, name: str, writes: bool, form: str, end: str) -> str:
        """A function's line up to its brace; form and end as a printer's head has them."""

        def own(of: str, kind: str) -> str:
            return form.format(name=of, T=kind)

        given = [own(self.names["words"], self.array), *self.view.parameters(form)]
        given += self.view.given_tables(form)
        given += [own(self.names["value"], self.kind)] * writes
        return self.printer.head_of(name, given, end)

    def result(self, writes: bool) -> str:
        """The type of what a function gives."""
        return "void" if writes and not self.p.by_value else self.kind

    def head(self, name, writes):
        """Words come first, the value last."""
        return [self.heads(name, writes, "{name}", "") + " {"]

    def opening(self):
        """Named parts of the position, and both of it."""
        yield from self.printer.checked(self.view)
        yield from self.view.statements("const {name} = {expr};", 2)
        yield from self.named("const {name} = {expr};", 2)

    def declared(self) -> list[str]:
        """The lines of the declarations of both functions."""
        lines = []
        for name, told, writes in self.commented():
            lines += ["", "/**", *(f" * {x}".rstrip() for x in self.told(told, typed=False)), " */"]
            lines.append(self.heads(name, writes, "{name}: {T}", f": {self.result(writes)};"))
        return lines

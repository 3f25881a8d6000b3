"""Fields of words in Rust: of a slice of words, or of one word.

Reference: https://doc.rust-lang.org/reference/expressions/operator-expr.html (>> of a signed integer keeps
the sign; a shift by the width or more panics, and none is).
"""

from __future__ import annotations

from typing import Any

from lego_emit.emit.fields import Fields
from lego_emit.emit.printer import BREAK
from lego_emit.printers import rust_layout
from lego_emit.printers.rust_layout import END, PAIR
from lego_emit.printers.rust_lints import allowed


def pair(sign: str) -> str:
    """A binary operation, marked as the layout wants it."""
    return f"{PAIR}{{0}}{BREAK}{sign}{BREAK}{{1}}{END}"


class RustFields(Fields):
    """Words are computed with as they are, whatever their bits."""

    indent = 4
    atoms = frozenset({"not"})

    def __init__(self, printer: Any, view: Any):
        super().__init__(printer, view)
        whole = (
            f"{PAIR}(({PAIR}{{0}}{BREAK}<<{BREAK}{{1}}{END}) as {{S}}){BREAK}>>{BREAK}{{1}}{END}"
        )
        self.forms = {
            "let": f"let {{name}}: {{U}} ={BREAK}{{0}}",
            "var": f"let mut {{name}} ={BREAK}{{0}}",
            "more": f"{{name}} |={BREAK}{{0}}",
            "store": f"{{words}}[{{at}}] ={BREAK}{{0}}",
            "return": "{0}",
            "if": "if {0} {{",
            "end": "}",
            "load": "{words}[{at}]",
            "and": pair("&"),
            "or": pair("|"),
            "shl": pair("<<"),
            "shr": pair(">>"),
            "not": "!{0}",
            "value": "{0} as {U}" if self.p.signed else "{0}",
            "signed": "{0} as {S}",
            "extend": whole,
        }

    def width_of(self, word):
        """Those of a word."""
        return word

    def literal(self, value):
        """As masks are written."""
        return self.printer.mask(value, self.view.index_type)

    def place(self, text):
        """An index of a slice is a usize."""
        if self.view.T == "usize" or text.isdigit():
            return text
        return f"{text} as usize" if text.isidentifier() else f"({text}) as usize"

    def statement(self, op, text, indent):
        """A statement, or the value of the function, as rustfmt has it."""
        if op == "return":
            return rust_layout.function_result(rust_layout.parse(text), indent)
        return self.printer.line(text, indent)

    def comment(self, view):
        """The lines of a rustdoc comment."""
        return [f"/// {line}".rstrip() for line in self.printer.docs(view)]

    def lints(self, name: str, writes: bool) -> list[str]:
        """What clippy would say of the function, and why it is as it is."""
        view, p = self.view, self.p
        own = [self.names["words"], *[self.names["value"]] * writes]
        named = [*own, *view.inputs, *(n for n, _ in view.body)]
        named += [self.names[n] for n in ("word", "shift", "field", "mask") if n in self.names]
        lines = allowed(name, [*dict.fromkeys(named)], len(view.inputs) + len(own), True)
        reasons = {}
        fixed = self._place["word"].op == "const" and not p.straddles
        if not p.by_value and view.T != "usize" and not fixed:
            lints = ["cast_possible_truncation"] * ("64" in view.index_type)
            lints += ["cast_sign_loss"] * (view.index_type.least < 0)
            reasons["The number of a word is not negative, and fits."] = lints
        if p.signed:
            sign = "cast_sign_loss" if writes else "cast_possible_wrap"
            reasons["The bits of a number with a sign."] = [sign]
        if view.asserted and writes and not p.by_value:
            reasons["As a const fn has it."] = ["manual_range_contains"]
        for reason, lints in reasons.items():
            told = [x for lint in lints if (x := f"#[allow(clippy::{lint})]") not in lines]
            lines += [f"// {reason}", *told] if told else []
        return lines

    def head(self, name, writes):
        """Words come first, the value last."""
        p, view = self.p, self.view
        U, S, words = self.unsigned(p.word), self.type_of_field(), self.names["words"]
        given = f"{words}: {U}" if p.by_value else f"{words}: &{'mut ' * writes}[{U}]"
        parameters = [given, *view.parameters("{name}: {T}"), *view.given_tables("")]
        parameters += [f"{self.names['value']}: {S}"] * writes
        result = S if not writes else U if p.by_value else ""
        sizes = ", ".join(f"const {q.name}: {T}" for q, T in view.template)
        # A const fn may take &mut from Rust 1.83 on.
        const = "const " if result and not view.calls_others else ""
        start = f"pub {const}fn {name}" + (f"<{sizes}>" if sizes else "")
        return [
            *self.lints(name, writes), *["#[must_use]"] * bool(result), "#[inline]",
            *rust_layout.head(start, parameters, result).split("\n"),
        ]  # fmt: skip

    def opening(self):
        """Assertions, named parts of the position, and both of it."""
        printer, view = self.printer, self.view
        form = f"let {{name}} ={BREAK}{{expr}}"
        yield from printer.unused(view)
        for condition in view.asserted:
            yield printer.asserted(printer.expression(condition, view))
        yield from view.statements(form)
        yield from self.named(form, 4)

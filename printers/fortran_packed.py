"""Fields of words in Fortran, which has no unsigned integers: a field, and one word, is an int64 of the
same bits, and everything is computed in 64 bits.

Reference: Fortran 2018, 16.9 (shiftl, shiftr and shifta of at most the bits of the integer; a number
beyond its kind is not converted, so that the sign of a stored word is put in first).
"""

from __future__ import annotations

from typing import Any

from lego_emit.emit.fields import Fields
from lego_emit.emit.printer import BREAK

FORMS = {
    "let": "{name} = {0}",
    "var": "{name} = {0}",
    "more": f"{{name}} = ior({{name}},{BREAK}{{0}})",
    "store": "{words}({at}) = {0}",
    "return": "{name} = {0}",
    "if": "if ({0}) then",
    "end": "end if",
    "load": "{words}({at})",
    "and": f"iand({{0}},{BREAK}{{1}})",
    "or": f"ior({{0}},{BREAK}{{1}})",
    "shl": "shiftl({0}, {1})",
    "shr": "shiftr({0}, {1})",
    "not": "not({0})",
    "value": "{0}",
    "signed": "{0}",
    "extend": "shifta(shiftl({0}, {1}), {1})",
}


class FortranFields(Fields):
    """Arrays count from 0 here, as positions do."""

    atoms = frozenset(("and", "or", "shl", "shr", "not"))
    indent, need = 4, 0
    forms = FORMS

    def __init__(self, printer: Any, view: Any):
        super().__init__(printer, view)
        self._name = ""

    def width_of(self, word):
        """Those of an int64."""
        return 64

    def unsigned(self, bits):
        """The kind of so many bits."""
        return f"int{bits}"

    def type_of_field(self):
        """Everything but a word in an array is an int64."""
        return "int64"

    def literal(self, value):
        """An int64 of those bits."""
        return f"{value - 2**64 if value >= 2**63 else value}_int64"

    def comment(self, view):
        """The lines in Doxygen's commands."""
        lines = [
            f"Here {self.names['words']}(0) is the first word." for _ in [0] if not self.p.by_value
        ]
        texts = [*view.doxygen, *(f"@note {line}" for line in lines)]
        return [line for text in texts for line in self.printer.wrapped(text, "  !> ")]

    def head(self, name, writes):
        """Words come first, the value last; then all are declared."""
        p, view, printer, words = self.p, self.view, self.printer, self.names["words"]
        self._name = name
        tables = [t.name for t in view.tables]
        given = [words, *view.inputs, *tables, *[self.names["value"]] * writes]
        kind = "subroutine" if writes and not p.by_value else "integer(int64) function"
        pure = "elemental" if p.by_value and not (view.groups or view.tables) else "pure"
        yield "  " + printer.line(f"{pure} {kind} {name}({f',{BREAK}'.join(given)})", 2)
        if p.by_value:
            own = f"integer(int64), intent(in) :: {words}"
        else:
            way = "inout" if writes else "in"
            own = f"integer({self.unsigned(p.word)}), intent({way}) :: {words}(0:*)"
        yield f"    {own}"
        for line in printer.parameter_lines(view, view.inputs):
            yield f"    {line}"
        for table in view.given_tables(""):
            yield "    " + printer.line(table, 4)
        if writes:
            yield f"    integer(int64), intent(in) :: {self.names['value']}"

    def _locals(self, program):
        """The names of index numbers and of words."""
        indices = [n for n, _ in self.view.body]
        indices += [text.partition(" = ")[0] for text in self.named("{name} = {expr}", 4)]
        return indices, [self.names[step[1]] for step in program if step[0] in ("let", "var")]

    def body(self, program):
        """The declarations and the statements of a procedure."""
        printer, view = self.printer, self.view
        kinds = f"{printer.declared(view.T)} :: ", "integer(int64) :: "
        lines = [
            "    " + printer.line(kind + f",{BREAK}".join(names), 4)
            for kind, names in zip(kinds, self._locals(program), strict=True)
            if names
        ]
        unread = (one.name for one in view.entries if not view.is_read(one))
        lines += [f"    associate (unused => {name}); end associate" for name in unread]
        lines += printer.checks(view)
        return [*lines, *super().body(program)]

    def opening(self):
        """Named parts of the position, and both of it."""
        yield from self.view.statements("{name} = {expr}")
        yield from self.named("{name} = {expr}", 4)

    def closing(self, name, writes):
        """What ends a procedure."""
        kind = "subroutine" if writes and not self.p.by_value else "function"
        return [f"  end {kind} {name}"]

    def _form(self, key, *operands, **more):
        if key == "return":
            more["name"] = self._name
        return super()._form(key, *operands, **more)

    def text(self, e, tight=False):
        """A word with its sign where it is stored, without one elsewhere."""
        op, *rest = e
        word, words = self.p.word, self.names["words"]
        if op == "load":
            if self.p.by_value:
                return words
            one = super()._form("load", at=self._at(rest[0]))
            if word == 64:
                return one
            # What is above the word is masked or shifted away later, but for what is shifted to the right.
            reads = self._name == self.p.get
            keeps = reads and (self.p.straddles or (self.p.is_whole and not self.p.signed))
            one = f"int({one}, int64)"
            return f"iand({one},{BREAK}{self.literal(2**word - 1)})" if keeps else one
        if op == "narrow":
            text = self.text(rest[0])
            if word == 64 or rest[0][0] in ("and", "load"):
                return text
            if self.p.by_value:
                return f"iand({text},{BREAK}{self.literal(2**word - 1)})"
            up = 64 - word
            return f"int(shifta(shiftl({text}, {up}), {up}), int{word})"
        return super().text(e, tight)

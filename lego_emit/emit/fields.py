"""Functions that read and write fields of words, as small programs: made once, evaluated in Python, and
spelled by each language's table of forms.

An expression is a tuple of an operation and its operands, unsigned numbers of `width` bits: "load", the
word so many words on; "name"; "number"; "value", the argument; "shl" and "shr" by an index, "and", "or",
"not"; "narrow" to a word; "extend", an index' bits up and down again, with the sign. An index is a node
of the index type over WORD and SHIFT, what NAME_position gives. Statements are "let" and "var" of a name, "more", which
joins bits to it, "store" to the word so many on, "return", and "if" of an index' condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ..algebra.packed import Packed
from ..algebra.perms import Row
from ..errors import InternalError
from ..ir.nodes import Node, evaluated
from ..ir.packing import Packing
from ..ir.program import Function, Param
from ..ir.relations import const
from .naming import fresh, keys_of
from .ops import ATOM, BREAK
from .view import FunctionView

WORD, SHIFT = Node("var", (), ".word"), Node("var", (), ".shift")  # no parameter's names
Expression = tuple[Any, ...]
Program = list[tuple[Any, ...]]


def _number(value: int | str) -> Node:
    return const(value) if isinstance(value, int) else Node("var", (), value)


def _minus(a: Node, b: Node) -> Node:
    if a.op == b.op == "const":
        return const(a.value - b.value)
    return Node("sub", (a, b))


def _shifted(op: str, e: Expression, by: Node, width: int) -> Expression:
    if by.op == "const" and e[0] == "number":  # some compilers refuse to lose bits of constants
        return ("number", e[1] >> by.value if op == "shr" else e[1] << by.value & 2**width - 1)
    return e if by == const(0) else (op, e, by)


def programs(p: Packing, width: int, shift: Node = SHIFT) -> tuple[Program, Program]:
    """(what NAME_get does, what NAME_set does), computed in `width` bits, which are no fewer than those of a
    word. shift: how far a field is above the end of its word."""
    bits, word = _number(p.bits), const(p.word)
    first, other = ("load", 0), ("load", p.step)
    room, rest = _minus(word, bits), _minus(word, shift)
    ones = ("number", 2**p.word - 1)
    mask = (
        ("number", 2**p.bits - 1) if isinstance(p.bits, int) else _shifted("shr", ones, room, width)
    )
    masks = p.bits != width
    put = "return" if p.by_value else "store"
    value: Expression = ("and", ("value",), mask) if masks else ("value",)
    if p.is_whole:
        read: Expression = _extended(first, _minus(const(width), bits)) if p.signed else first
        return [("return", read if p.signed else ("narrow", read))], [
            (put, 0, ("narrow", ("value",)))
        ]
    get: Program = []
    field: Expression = _shifted("shr", first, shift, width)
    beyond = Node("gt", (shift, room))
    if p.straddles:
        more = ("more", "field", ("shl", other, rest))
        get = [("var", "field", field), ("if", beyond, [more])]
        field = ("name", "field")
    if p.signed:
        get.append(("return", _extended(field, _minus(const(width), bits))))
    else:
        get.append(("return", ("narrow", ("and", field, mask) if masks else field)))
    set_: Program = []
    if isinstance(p.bits, str):
        set_ = [("let", "mask", mask)]
        mask = ("name", "mask")
        value = ("and", ("value",), mask)
    if p.straddles:
        set_.append(("let", "field", value))
        value = ("name", "field")
    kept = ("and", first, ("not", _shifted("shl", mask, shift, width)))
    set_.append((put, 0, ("narrow", ("or", kept, _shifted("shl", value, shift, width)))))
    if p.straddles:
        kept = ("and", other, ("not", _shifted("shr", mask, rest, width)))
        stored = ("store", p.step, ("narrow", ("or", kept, ("shr", value, rest))))
        set_.append(("if", beyond, [stored]))
    return get, set_


def _extended(e: Expression, by: Node) -> Expression:
    return ("extend", e, by)


# -- in Python ------------------------------------------------------------------------------------


def run(
    program: Program,
    p: Packing,
    width: int,
    words: list[int],
    index: Mapping[str, int],
    value: int = 0,
) -> int | None:
    """What a program returns, where it does; words are changed. index: by name what NAME_position gives and,
    of a symbol, bits. Raises InternalError for a shift by the width or more, or a word that is not there."""
    names, full = dict[str, int](), 2**width - 1

    def place(on: int) -> int:
        at = 0 if p.by_value else index[WORD.value] + on
        if not 0 <= at < len(words):
            raise InternalError(f"{p}: word {at} of {len(words)} is read")
        return at

    def at(node: Node) -> int:
        return int(evaluated(node, index, {}))

    def distance(node: Node) -> int:
        by = at(node)
        if not 0 <= by < width:
            raise InternalError(f"{p}: {width} bits are shifted by {by}")
        return by

    def of(e: Expression) -> int:
        op, *rest = e
        if op == "load":
            return words[place(rest[0])]
        if op == "name":
            return names[rest[0]]
        if op in ("number", "value"):
            return rest[0] if rest else value & full
        if op == "narrow":
            return of(rest[0]) & (2**p.word - 1)
        if op == "not":
            return of(rest[0]) ^ full
        if op in ("and", "or"):
            a, b = map(of, rest)
            return a & b if op == "and" else a | b
        by = distance(rest[1])
        if op == "shr":
            return of(rest[0]) >> by
        up = of(rest[0]) << by & full
        return up if op == "shl" else (up - (up >> (width - 1) << width)) >> by

    def each(steps: Program) -> int | None:
        for op, *rest in steps:
            if op == "return":
                return of(rest[-1])
            if op == "store":
                words[place(rest[0])] = of(rest[1])
            elif op == "if":
                if at(rest[0]):
                    each(rest[1])
            else:
                before = names[rest[0]] if op == "more" else 0
                names[rest[0]] = before | of(rest[1])
        return None

    return each(program)


MOST = 33  # fields that are compared


@cache
def check(p: Packing, width: int) -> None:
    """Compare both programs with fields that are taken bit by bit (Packed.field). Raises InternalError."""
    some = sorted({1, 2, 3, p.word // 2, p.word - 1, p.word})
    for bits in [p.bits] if isinstance(p.bits, int) else some:
        for offset in sorted({0, 1, p.word // 2 + 1, p.word - bits}):
            if p.straddles or offset + bits <= p.word:
                _compare(p, width, bits, offset, MOST if p.bits == bits else MOST // 4)


def _compare(p: Packing, width: int, bits: int, offset: int, size: int) -> None:
    if p.by_value:
        size = min(size, (p.word - offset) // bits)
    held = "value" if p.by_value else "array"
    fields = Packed(Row(size), bits, p.word, p.order, p.straddles, offset, p.signed, held)
    seed = 0x9E3779B97F4A7C15
    words = [(seed * (k + 1) >> k % 5) % 2**p.word for k in range(fields.words())]
    get, put = programs(p, width)
    for k in range(size):
        word, shift = fields.place_of(k)
        index = {WORD.value: word, SHIFT.value: shift}
        if isinstance(p.bits, str):
            index[p.bits] = bits
        found, wanted = run(get, p, width, [*words], index), fields.field(words, k)
        value = seed * (k + 3) % 2**p.word
        changed, due = [*words], [*words]
        fields.put(due, k, value)
        given = run(put, p, width, changed, index, value)
        changed = [given] if p.by_value else changed
        if found != wanted or changed != due:
            raise InternalError(
                f"{fields!r}: field {k} of {words} is read as {found} and not {wanted}, or words are "
                f"{changed} and not {due} when it is set to {value}"
            )


# -- in a language --------------------------------------------------------------------------------


class Fields:
    """The text of NAME_get and NAME_set of a fitted function that says where a field is.

    forms: of what a program has, with {0} and {1} for operands, {at} for the place of a word, and {words},
    {name}, {V}, {U}, {S} for the names and types of words: the computed one, a word's, its signed one.
    "wide" makes a word one that is computed with. Binary operations are bracketed as operands, unless
    forms has their name in `calls`.
    """

    forms: Mapping[str, str] = {}
    atoms: frozenset[str] = frozenset()  # operations whose text need not be bracketed
    indent = 2
    first = 0  # the number of an array's first word
    need = ATOM  # how tightly a distance binds without brackets

    def __init__(self, printer: Any, view: FunctionView):
        self.printer, self.view, self.p = printer, view, view.packing
        p, f = self.p, view
        self.width = self.width_of(p.word)
        self.op = ""  # of the statement that is spelled
        taken = {n for one in f.params for n in keys_of(one.name, printer)}
        taken |= {n for one in f.entries for n in keys_of(one.name, printer)}
        taken |= {n for name, _ in f.body for n in keys_of(name, printer)}
        taken |= {n for name in (f.name, p.get, p.set, p.name) for n in keys_of(name, printer)}
        self.names: dict[str, str] = {}
        wanted = ("word" if p.by_value else "words", "value", "word", "shift", "field", "mask")
        for key, name in zip(("words", *wanted[1:]), wanted, strict=True):
            if p.by_value and key == "word":
                continue
            self.names[key] = fresh(name, printer, taken)
        outputs = [node for _, node in f.outputs]
        self._place = {"word": const(0), "shift": outputs[-1]}
        if not p.by_value:
            self._place["word"] = outputs[0]

    def width_of(self, word: int) -> int:
        """The bits that are computed with."""
        return max(word, 32)

    # What a language says: types, heads, comments.

    def unsigned(self, bits: int) -> str:
        """The unsigned type of so many bits."""
        return self.printer.spelled(f"uint{bits}")

    def type_of_field(self) -> str:
        """The type of what NAME_get gives."""
        sign = "int" if self.p.signed else "uint"
        return self.printer.spelled(f"{sign}{self.p.word}")

    def literal(self, value: int) -> str:
        """An unsigned number of the computed type."""
        return f"{value}" if value < 16 else f"{value:#x}"

    def distance(self, text: str) -> str:
        """The text of an index that something is shifted by."""
        return text

    def place(self, text: str) -> str:
        """The text of an index as the number of a word."""
        return text

    def head(self, name: str, writes: bool) -> Iterable[str]:
        """A function's head, and what stands before its statements."""
        raise NotImplementedError

    def comment(self, view: FunctionView) -> list[str]:
        """The lines of the doc comment of a function."""
        raise NotImplementedError

    def opening(self) -> Iterable[str]:
        """The statements that the position takes."""
        raise NotImplementedError

    def closing(self, name: str, writes: bool) -> Sequence[str]:
        """What ends a function, and stands behind it."""
        return ["}"]

    # What all have in common.

    def lines(self) -> list[str]:
        """Both functions, whose programs are checked first."""
        check(replace(self.p, name="", get="", set="", words=""), self.width)
        made = programs(self.p, self.width, self._index(SHIFT))
        both = zip(self.commented(), made, strict=True)
        return [
            line
            for (name, told, writes), program in both
            for line in self._function(name, told, program, writes)
        ]

    def commented(self) -> list[tuple[str, FunctionView, bool]]:
        """(name, what its comment is made of, whether it sets fields) of both functions."""
        p, value = self.p, self.names["value"]
        index = ", ".join(q.name for q in self.view.params if q.axis)
        of = f"field at ({index})"
        least = None if p.signed else 0
        low = "lowest bit" if p.bits == 1 else f"lowest {p.bits} bits"
        low = f"lowest bits ({p.bits} of them)" if isinstance(p.bits, str) else low
        said = f"Sets the {of} to the {low} of {value}"
        said += ", and leaves the others of the word." if p.by_value else ", and leaves all others."
        if not p.by_value:
            said += (
                " It is not atomic: of two threads that set fields of one word at the same time, one may undo"
                " what the other did."
            )
        result = "The new word" if p.by_value else ""
        return [
            (p.get, self.documented(p.get, f"The {of}.", self._range(least, p.bits), ""), False),
            (p.set, self.documented(p.set, said, result, value), True),
        ]

    def _function(self, name: str, told: FunctionView, program: Program, writes: bool) -> list[str]:
        return [
            "",
            *self.comment(told),
            *self.head(name, writes),
            *self.body(program),
            *self.closing(name, writes),
        ]

    def _range(self, least: int | None, end: int | str) -> str:
        if isinstance(end, str):
            low = f"-2^({end} - 1) <= " if least is None else "0 <= "
            return f"{low}the field < 2^{f'({end} - 1)' if least is None else end}"
        if least is None:
            return f"{-(2 ** (end - 1))} <= the field < {2 ** (end - 1)}"
        return f"0 <= the field < {2**end}"

    def documented(self, name: str, summary: str, returns: str, value: str) -> FunctionView:
        """What the comment of a function is made of. value: the parameter that a field is set to."""
        f: Function = self.view._function
        sizes = ", ".join(q.name for q in f.params if not q.axis)
        held = f"the word of {self.p.word} bits" if self.p.by_value else (
            f"words of {self.p.word} bits, {self.p.words}({sizes}) of them"
        )  # fmt: skip
        params = [Param(self.names["words"], meaning=held), *f.params]
        if value:
            params.append(Param(value, meaning="what the field is to be"))
        made = replace(
            f, name=name, summary=summary, returns=returns, promises=(), params=tuple(params),
            outputs=f.outputs[-1:], bases=(), packing=None, named=False,
        )  # fmt: skip
        return FunctionView(self.printer, made, self.view.unit, self.view.counter)

    def _index(self, node: Node) -> Node:
        """A node over WORD and SHIFT with the file's names; numbers, where these are."""
        if node in (WORD, SHIFT):
            key = node.value[1:]
            known = self._place[key]
            named = known.op not in ("const", "var")
            return replace(node, value=self.names[key]) if named else known
        if not node.args:
            return node
        return node.over(tuple(map(self._index, node.args)))

    def index(self, node: Node, need: int = 0) -> str:
        """The text of an index, in brackets if it binds less than need."""
        return self.printer.inline(self.printer.expression(node, self.view, need))

    def named(self, form: str, indent: int) -> Iterator[str]:
        """The statements that name the word and the shift, where they are no names and no numbers; form has
        {name}, {expr} and {T}."""
        for key, node in self._place.items():
            if node.op not in ("const", "var") and not (self.p.is_whole and key == "shift"):
                text = self.printer.expression(node, self.view)
                text = form.format(name=self.names[key], expr=text, T=self.view.T)
                yield self.printer.line(text, indent)

    def body(self, program: Program) -> list[str]:
        """The statements of a function."""
        pad = " " * self.indent
        return [*(pad + line for line in self.opening()), *self._statements(program, self.indent)]

    def _statements(self, program: Program, indent: int) -> Iterator[str]:
        pad = " " * indent
        for op, *rest in program:
            self.op = op
            if op == "if":
                condition = self.index(self._index(rest[0]))
                yield pad + self._form("if", condition)
                yield from self._statements(rest[1], indent + self.indent)
                if self.forms["end"]:
                    yield pad + self.forms["end"]
                continue
            text = self.text(rest[-1])
            at = self._at(rest[0]) if op == "store" else ""
            name = self.names.get(rest[0], "") if op in ("let", "var", "more") else ""
            yield pad + self.statement(op, self._form(op, text, at=at, name=name), indent)

    def statement(self, op: str, text: str, indent: int) -> str:
        """A statement, in lines that are not too long."""
        return self.printer.line(text, indent)

    def _at(self, on: int) -> str:
        word = self._index(WORD)
        on += self.first
        if word.op == "const":
            return self.place(self.index(const(word.value + on)))
        if not on:
            return self.place(self.index(word))
        step = Node("add" if on > 0 else "sub", (word, const(abs(on))))
        return self.place(self.index(step))

    def _form(self, key: str, *operands: str, **more: str) -> str:
        U = self.unsigned(self.p.word)
        return self.forms[key].format(
            *operands,
            words=self.names["words"],
            V=self.unsigned(self.width),
            U=U,
            S=self.type_of_field(),
            B=BREAK,
            **more,
        )

    def text(self, e: Expression, tight: bool = False) -> str:
        """The text of an expression, in brackets where it is an operand."""
        op, *rest = e
        if op == "number":
            return self.literal(rest[0])
        if op == "name":
            return self.names[rest[0]]
        if op == "value":
            text = self._form("value", self.names["value"])
            return f"({text})" if tight and " " in text and op not in self.atoms else text
        if op == "load":
            one = (
                self.names["words"] if self.p.by_value else self._form("load", at=self._at(rest[0]))
            )
            return self._form("wide", one) if self.width > self.p.word else one
        if op == "narrow":
            if self.width == self.p.word:
                return self.text(rest[0], tight)
            inner = rest[0]
            if inner[0] == "load":  # it is one
                return (
                    self.names["words"] if self.p.by_value else self._form("load", at=self._at(0))
                )
            return self._form("narrow", self.text(inner), at="")
        if op == "extend":
            by = self.distance(self.index(self._index(rest[1]), self.need))
            if rest[1] == const(0):
                return self._form("signed", self.text(rest[0]))
            return self._form("extend", self.text(rest[0], tight=True), by)
        operands = [self.text(rest[0], tight=True)]
        if op in ("shl", "shr"):
            operands.append(self.distance(self.index(self._index(rest[1]), self.need)))
        else:
            operands += [self.text(x, tight=True) for x in rest[1:]]
        text = self._form(op, *operands)
        return f"({text})" if tight and op not in self.atoms else text

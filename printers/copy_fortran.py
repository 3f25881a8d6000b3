"""How Fortran spells copies between memory layouts: one generic name for all types of an element's size and for
arrays of any rank, whose bits are moved as integers.

Reference: Fortran 2018, 8.5.8.7 (assumed-rank arrays), 18.2.3.3 (c_f_pointer), 18.2.3.6 (c_loc).
"""

from __future__ import annotations

import re
from typing import Any

from lego_emit.emit.nests import VALUES as C_VALUES
from lego_emit.emit.nests import CopyTexts, NestForms, NestLines, is_narrow, narrowed, spelled
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
    Let,
    Loop,
    Move,
    Ref,
    Statements,
    Zero,
    helpers,
    plus,
    walk,
)
from lego_emit.ir.nodes import Node, const, made

FORTRAN = NestForms(
    let="{name} = {expr}",
    loop="do {name} = {start}, {last}",
    steps="do {name} = {start}, {last}, {step}",
    least=f"min({{x}},{BREAK}{{y}})",
    when="if ({expr}) then",
    otherwise="else",
    end="end if",
    end_loop="end do",
    one="{to} = {of}",
    run="{to} = {of}",
    zero="{to} = 0_{T}",
    zeros="{to} = 0_{T}",
    box="call {name}({given})",
    unrolled="!GCC$ unroll {count}",
)
# The kind of the integers that an element's bits are moved as, and the other types of its size.
TYPES = {
    1: ("int8", ()),
    2: ("int16", ()),
    4: ("int32", ("real(real32)",)),
    8: ("int64", ("real(real64)", "complex(real32)")),
    16: ("int64", ("complex(real64)",)),
}

CALLED = {
    "real(real32)": "real32", "real(real64)": "real64", "complex(real32)": "complex32",
    "complex(real64)": "complex64", "type(*)": "any",
}  # fmt: skip


class LinesInFortran(NestLines):
    """The nest of a routine, on arrays whose first index is 0."""

    forms = FORTRAN

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        size = routine.element_bytes
        word = next(n for n in (8, 4, 2, 1) if size % n == 0)
        self.kind, others = TYPES.get(size, (f"int{8 * word}", ("type(*)",)))
        is_word = size in TYPES and size < 16
        self.types: tuple[str, ...] = (f"integer({self.kind})", *others) if is_word else others
        self.words = size // min(word, 8)  # integers of an element
        self.type = self.kind
        self.core = f"{routine.name}_words"

    # -- statements --------------------------------------------------------------------------------

    def plain(self, node: Node) -> str:
        """A bound; a number by itself needs no kind."""
        plain = node.op == "const" and 0 <= node.value < 2**31
        return str(node.value) if plain else self.text(node)

    def head_of(self, name: str, start: Node, stop: Node, step: int | Node) -> str:
        """What begins a loop."""
        form = self.forms.loop if step == 1 else self.forms.steps
        first, last = self.plain(start), self.plain(plus(stop, -1))
        return form.format(name=name, start=first, last=last, step=step)

    def place(self, ref: Ref) -> str:
        """An element, which is a column where it has several words."""
        return self._section(ref.array, self.plain(ref.offset))

    def _section(self, array: str, text: str) -> str:
        return f"{array}(:,{BREAK}{text})" if self.words > 1 else f"{array}({text})"

    def _run(self, ref: Ref, count: Node) -> str:
        if count == const(1):
            return self.place(ref)
        last = plus(count if ref.offset == const(0) else _sum(ref.offset, count), -1)
        return self._section(ref.array, f"{self.plain(ref.offset)}:{self.plain(last)}")

    def move(self, s: Move, indent: int) -> list[str]:
        """One element, or a section."""
        to, of = self._run(s.to, s.count), self._changed(self._run(s.of, s.count))
        line = self.line(FORTRAN.run.format(to=to, of=of), indent)
        return ("\n" in line and self.apart(s, indent)) or [line]

    def zero(self, s: Zero, indent: int) -> list[str]:
        """Zeros in an element or a section."""
        text = FORTRAN.zeros.format(to=self._run(s.to, s.count), T=self.type)
        return [self.line(text, indent)]

    def each(self, s: Each, indent: int) -> list[str]:
        """Loops around a call."""
        within = indent + 2 * len(s.names)
        arguments = [*(self.names.get(n, n) for n in s.arguments), "src_at", "dst_at"]
        call = f"call {self.routine.functions[-1]}({f',{BREAK}'.join(arguments)})"
        moved = self._changed(self._section("src", "src_at"))
        moved = f"{self._section('dst', 'dst_at')} = {moved}"
        if s.masked:
            moved = f"if (src_at >= 0 .and. dst_at >= 0) {moved}"
        found = [self.line(call, within), self.line(moved, within)]
        for k in range(len(s.names) - 1, -1, -1):
            head = self.head_of(s.names[k], const(0) if k else s.start, s.extents[k], 1)
            at = indent + 2 * k
            found = [self.line(head, at), *found, self.line("end do", at)]
        return found

    # -- what is made of an element ------------------------------------------------------------------

    def _changed(self, of: str) -> str:
        return of if self.routine.value is None else f"{self.routine.name}_value({of})"

    def value_lines(self) -> list[str]:
        """The function of what is made of an element, which the bits of a wider integer hold."""
        value, p, size = self.routine.value, self.printer, self.routine.element_bytes
        if value is None:
            return []
        name, most = f"{self.routine.name}_value", 2 ** (8 * size) - 1
        table: list[str] = []
        if value.op == ENTRIES:
            signed = [x - 256 * (x > 127) for x in value.value]
            numbers = [", ".join(map(str, signed[k : k + 16])) for k in range(0, 256, 16)]
            table = ["    integer(int64), parameter :: values(0:255) = [ &"]
            table += [f"      {row}, &" for row in numbers[:-1]] + [f"      {numbers[-1]}]"]
            body = [f"{name} = int(values(iand(int({VALUE}, int64), 255_int64)), int8)"]
        elif size == 8:
            body = [f"{name} = {spelled(value, VALUES, _literal)}"]
        else:
            wide = narrowed(value, most, NARROW)
            wide = wide if is_narrow(wide) else made("and", wide, const(most))
            least = f"merge({most + 1}_int64,{BREAK}0_int64,{BREAK}bits > {most // 2})"
            body = [
                f"bits = iand(int({VALUE}, int64),{BREAK}{_literal(most, '')})",
                f"bits = {spelled(wide, VALUES, _literal, 'bits')}",
                f"{name} = int(bits - {least},{BREAK}{self.kind})",
            ]
        return [
            "",
            "  !> What is made of an element.",
            f"  elemental integer({self.kind}) function {name}({VALUE})",
            f"    integer({self.kind}), intent(in) :: {VALUE}",
            *(table or (["    integer(int64) :: bits"] if size < 8 else [])),
            *(f"    {p.line(text, 4)}" for text in body),
            f"  end function {name}",
        ]

    # -- procedures --------------------------------------------------------------------------------

    @property
    def specifics(self) -> list[str]:
        """What the procedures are called that take a type each."""
        return [f"{self.routine.name}_{CALLED.get(T, self.kind)}" for T in self.types]

    @property
    def interface(self) -> list[str]:
        """The lines of the block that makes one name of all procedures."""
        p, name = self.printer, self.routine.name
        procedures = f"module procedure :: {f',{BREAK}'.join(self.specifics)}"
        return ["", *p.wrapped(self._told, "  !> "), f"  interface {name}",
                f"    {p.line(procedures, 4)}", f"  end interface {name}"]  # fmt: skip

    @property
    def _told(self) -> str:
        return f"{self.routine.summary} The two memories do not overlap."

    def procedures(self) -> list[str]:
        """The routine on integers, and those that hand it arrays of each type."""
        r, sizes = self.routine, [*self.names.values()]
        name = f"{r.name}_part" if r.parts else self.core
        said = f"Copies the parts {FIRST} to {LAST} - 1 of {r.name}."
        found = [line for helper in helpers(r.body) for line in self._box(helper)]
        found += self._head(name, sizes, said if r.parts else r.summary, bool(r.parts))
        arrays = [self._declared("src"), self._declared("dst")]
        found += [*arrays, *self._body(r.body, sizes), f"  end subroutine {name}"]
        found += self._shared(sizes, arrays) if r.parts else []
        for T, name in zip(self.types, self.specifics, strict=True):
            found += self._handed(T, name, sizes)
        return found

    def _declared(self, array: str) -> str:
        """The declaration of an array of words."""
        shape = f"{self.words}, 0:*" if self.words > 1 else "0:*"
        intent = "in" if array == "src" else "inout"
        return f"    integer({self.kind}), intent({intent}) :: {array}({shape})"

    def _body(self, statements: Body, integers: list[str]) -> list[str]:
        """The lines of statements behind the declarations of what they name. integers: that a procedure is given."""
        body = self.lines(statements, 4)
        local = dict.fromkeys(
            s.name for s in walk(statements, called=False) if isinstance(s, Let | Loop)
        )
        local |= dict.fromkeys(
            f"{s.name}_at" for s in walk(statements, called=False) if isinstance(s, Loop) and s.last
        )
        for s in walk(statements, called=False):
            if isinstance(s, Each):
                local |= dict.fromkeys(s.names)
        read, found = "\n".join(body), list[str]()
        local |= dict.fromkeys(re.findall(r"\b(?:src|dst)_at\b", read))
        if local:
            text = f"{self.printer.declared(self.integer)} :: {f',{BREAK}'.join(local)}"
            found.append(f"    {self.printer.line(text, 4)}")
        for name in integers:
            if not re.search(rf"\b{name}\b", read):
                found.append(f"    associate (unused => {name}); end associate")
        return [*found, *body]

    def _box(self, helper: Helper) -> list[str]:
        """A procedure that moves boxes of one kind."""
        p, names = self.printer, self.box_names(helper)
        name, arrays = self.box_name(helper), ["src", "dst"][not helper.reads :]
        parameters = f",{BREAK}".join([*names, *arrays])
        integers = f"{p.declared(self.integer)}, intent(in) :: {f',{BREAK}'.join(names)}"
        return [
            "",
            *p.wrapped(self.box_told(helper), "  !> "),
            f"  {p.line(f'subroutine {name}({parameters})', 2)}",
            *([f"    {p.line(integers, 4)}"] if names else []),
            *map(self._declared, arrays),
            *self._body(helper.body, names),
            f"  end subroutine {name}",
        ]

    def _shared(self, sizes: list[str], arrays: list[str]) -> list[str]:
        """The routine that shares its parts out to OpenMP's threads."""
        p, r = self.printer, self.routine
        counted = f"parts = {r.parts}({f',{BREAK}'.join(sizes)})"
        given = [*sizes, "src", "dst", PART, f"{PART} + 1"]
        call = f"call {r.name}_part({f',{BREAK}'.join(given)})"
        return [
            *self._head(self.core, sizes, r.summary),
            *arrays,
            f"    {p.declared(self.integer)} :: {PART}, parts",
            f"    {p.line(counted, 4)}",
            "    !$omp parallel do schedule(static) if (parts > 1)",
            f"    do {PART} = 0, parts - 1",
            f"      {p.line(call, 6)}",
            "    end do",
            "    !$omp end parallel do",
            f"  end subroutine {self.core}",
        ]

    def _head(self, name: str, sizes: list[str], said: str, is_part: bool = False) -> list[str]:
        p, r = self.printer, self.routine
        bounds = [FIRST, LAST] if is_part else []
        parameters = f",{BREAK}".join([*sizes, "src", "dst", *bounds])
        found = ["", *p.wrapped(said, "  !> ")]
        if sizes:
            found += p.wrapped(f"The sizes are those of {r.functions[0]}.", "  !> ")
        for array, size in (("src", r.source), ("dst", r.destination)):
            found += p.wrapped(f"@param {array} {self._count(size)} elements", "  !> ")
        found.append(f"  {p.line(f'subroutine {name}({parameters})', 2)}")
        if sizes or bounds:
            text = (
                f"{p.declared(self.integer)}, intent(in) :: {f',{BREAK}'.join([*sizes, *bounds])}"
            )
            found.append(f"    {p.line(text, 4)}")
        return found

    def _count(self, node: Node) -> str:
        return re.sub(rf"_{self.integer}\b", "", self.inline(node))

    def _handed(self, T: str, name: str, sizes: list[str]) -> list[str]:
        """A procedure of a type."""
        p, r = self.printer, self.routine
        found = self._head(name, sizes, r.summary)
        shape = "(:, :)" if self.words > 1 else "(:)"
        for array, intent in (("src", "in"), ("dst", "inout")):
            found.append(f"    {T}, intent({intent}), target, contiguous :: {array}(..)")
        found.append(
            f"    integer({self.kind}), pointer, contiguous :: src_words{shape}, dst_words{shape}"
        )
        for array, pointer, size in (
            ("src", "src_words", r.source),
            ("dst", "dst_words", r.destination),
        ):
            words = f"{self.words}_{self.integer},{BREAK}" if self.words > 1 else ""
            extent = f"[{words}{self.text(size)}]"
            text = f"call c_f_pointer(c_loc({array}),{BREAK}{pointer},{BREAK}{extent})"
            found.append(f"    {p.line(text, 4)}")
        call = f"call {self.core}({f',{BREAK}'.join([*sizes, 'src_words', 'dst_words'])})"
        return [*found, f"    {p.line(call, 4)}", f"  end subroutine {name}"]


# How an operation on an element is spelled, and of which the operands keep to its bits.
VALUES = {
    **C_VALUES,
    "and": f"iand({{0}},{BREAK}{{1}})",
    "or": f"ior({{0}},{BREAK}{{1}})",
    "xor": f"ieor({{0}},{BREAK}{{1}})",
    "not": "not({0})",
    "shl": f"ishft({{0}},{BREAK}{{1}})",
    "shr": f"ishft({{0}},{BREAK}-{{1}})",
    "mod": f"mod({{0}},{BREAK}{{1}})",
}
NARROW = ("shr", "div", "mod", "mul", "add", "sub")
BITS = {"and", "or", "xor", "not", "shl", "shr"}


def _literal(value: int, op: str, at: int = 0) -> str:
    if op in ("shl", "shr"):
        return str(value)
    return f"{value}_int64" if value < 2**63 else f"int(z'{value:x}',{BREAK}int64)"


def _sum(x: Node, y: Node) -> Node:
    return plus(x, y.value) if y.op == "const" else made("add", x, y)


class CopiesInFortran(CopyTexts):
    """What a file's template has of its copies."""

    own = ("src_words", "dst_words", "c_loc", "c_f_pointer")
    lines_of = LinesInFortran
    abilities = Abilities(kernels=False, streams=False, calls=True, block=Statements(8, 8, lines=8))

    @property
    def kinds(self) -> list[str]:
        """The kinds of iso_fortran_env that the procedures have."""
        text = " ".join([*(p.kind for p in self.parts), *(T for p in self.parts for T in p.types)])
        return re.findall(r"\b(?:int|real)\d+\b", text)

    @property
    def uses(self) -> list[str]:
        """What comes from other modules."""
        return ["use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc"]

    @property
    def names(self) -> list[str]:
        """What users of the module call: a name for each routine."""
        return [p.routine.name for p in self.parts]

    @property
    def interfaces(self) -> list[str]:
        """What stands before `contains`."""
        return [line for part in self.parts for line in part.interface]

    @property
    def lines(self) -> list[str]:
        """The lines that follow `contains` and the functions."""
        return [line for part in self.parts for line in (*part.value_lines(), *part.procedures())]

    @classmethod
    def refuses(cls, value: Node, element_bytes: int) -> str:
        """Its integers have a sign, and no more than 64 bits."""
        products = [n.args for n in value.walk() if n.op == "mul"]
        small = all(any(a.op == "const" and a.value < 2**31 for a in args) for args in products)
        ops = {n.op for n in value.walk() if n.args}
        if (element_bytes == 4 and not small) or (element_bytes == 8 and not ops <= BITS):
            return (
                f"value has no form in Fortran for elements of {element_bytes} bytes, whose arithmetic may not overflow; "
                "make it of & | ^ ~ << >>"
            )
        return ""

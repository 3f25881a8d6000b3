"""How C spells copies between memory layouts, and C++ for the most part.

References: GCC's manual, "Vector Extensions" and __builtin_shufflevector (GCC 12 and Clang have it);
Intel's intrinsics guide, _mm_stream_si128 and _mm_sfence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lego_emit.emit.nests import (
    VALUES,
    CopyTexts,
    NestForms,
    NestLines,
    hexadecimal,
    narrowed,
    spelled,
)
from lego_emit.emit.ops import BREAK
from lego_emit.ir.nests import (
    FIRST,
    LAST,
    PART,
    SOURCE,
    VALUE,
    Apply,
    Before,
    Body,
    Buffer,
    Each,
    Flag,
    Kernel,
    Move,
    Vectors,
    When,
    kernels,
    names_read,
    walk,
)
from lego_emit.ir.nodes import Node, const, made, var

COMMA = f",{BREAK}"
INLINED = "__attribute__((always_inline))"  # of kernels, whose callers know their strides
VECTOR = 16
WORDS = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
LARGE = 16 * 2**20  # bytes

C = NestForms(
    one="memcpy({to}, {of}, {count});",
    run="memcpy({to}, {of}, {count});",
    zeros="memset({to}, 0, {count});",
    each=(
        "const {places} at = {call};",
        "?if (at.source_place >= 0 && at.destination_place >= 0)",
        "memcpy(dst + at.destination_place, src + at.source_place, {size});",
    ),
)


class LinesInC(NestLines):
    """The nest of a routine, with kernels in vector extensions."""

    forms = C
    restrict, star = "restrict", " *"
    mark = "static inline"  # what stands before a helper

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        self.p = f"{routine.name}_"
        self.kernels = kernels(routine.body)
        self.group: list[LinesInC] = [self]  # those that have its helpers in common
        self.earlier: list[
            LinesInC
        ] = []  # the first of each group whose helpers stand before its own
        self.type = WORDS.get(routine.element_bytes, f"{self.p}element")
        self.called(routine.name)

    def called(self, stem: str) -> None:
        """Set what the macros of the file begin with."""
        self.macro = f"{stem}_vectors".upper()
        self.large, self.scalar = f"{stem}_large".upper(), f"{stem}_scalar".upper()

    def share(self, group: list[LinesInC], stem: str, unit: str) -> None:
        """Have the helpers in common with others of the same element. stem: what their names begin with."""
        if self.type == f"{self.p}element":
            self.type = f"{stem}_element"
        self.group, self.p = group, self.p.replace(self.routine.name, stem, 1)
        self.kernels = list(dict.fromkeys(k for part in group for k in kernels(part.routine.body)))
        self.called(unit)

    @property
    def streams(self) -> bool:
        """Whether something is written past the caches."""
        bodies = (s for part in self.group for s in walk(part.routine.body))
        return any(getattr(s, "streams", False) for s in bodies)

    # -- what is made of an element ------------------------------------------------------------------

    def value_lines(self) -> list[str]:
        """The functions that move elements, and what is made of them."""
        value, T, p, size = self.routine.value, self.type, self.p, self.routine.element_bytes
        if value is None:
            return []
        memcpy = self.forms.run.partition("(")[0]
        word, wide = self.word(size), self.word(max(4, size))
        text = spelled(
            narrowed(value, 2 ** (8 * size) - 1) if size < 4 else value, VALUES, hexadecimal
        )
        text = f"return {text};" if word == wide else f"return {self.of_word(word, text)};"
        found = [
            "",
            "/// What is made of an element.",
            f"{self.mark} {word} {p}value({wide} {VALUE}) {{",
            self.line(text, 2),
            "}",
            *self.template,
            f"{self.mark} void {p}move({T}{self.star}to, const {T}{self.star}of) {{",
            f"  {word} {VALUE};",
            f"  {memcpy}(&{VALUE}, of, sizeof {VALUE});",
            f"  {VALUE} = {p}value({VALUE});",
            f"  {memcpy}(to, &{VALUE}, sizeof {VALUE});",
            "}",
        ]
        if self.has_runs:
            found += [
                *self.template,
                f"{self.mark} void {p}move_run({T}{self.star}to, const {T}{self.star}of, {self.integer} count) {{",
                f"  {self.integer} k = 0;",
                f"#ifdef {self.macro}",
                f"  for (; k <= count - {VECTOR // size}; k += {VECTOR // size}) {{",
                f"    {p}store(to + k, {p}changed(of + k));",
                "  }",
                "#endif",
                "  for (; k < count; ++k) {",
                f"    {p}move(to + k, of + k);",
                "  }",
                "}",
            ]
        return found

    @property
    def has_runs(self) -> bool:
        """Whether runs of elements are changed."""
        bodies = (s for part in self.group for s in walk(part.routine.body))
        moves = (s for s in bodies if isinstance(s, Move) and not s.streams)
        runs = any(s.of.array == SOURCE and s.count != const(1) for s in moves)
        return self.routine.value is not None and runs

    def of_word(self, T: str, text: str) -> str:
        """A number as one of another type."""
        return f"({T})({text})"

    def each(self, s: Each, indent: int) -> list[str]:
        """Loops around a call, and what moves an element."""
        found = super().each(s, indent)
        if self.routine.value is not None:
            at = next(k for k, line in enumerate(found) if "memcpy(" in line)
            pad = found[at][: len(found[at]) - len(found[at].lstrip())]
            found[at] = f"{pad}{self.p}move(dst + at.destination_place, src + at.source_place);"
        return found

    def flag(self, s: Flag, indent: int) -> list[str]:
        """A truth, of large copies to an aligned destination."""
        texts = [] if s.large is None else [f"{self.text(s.large, 10)} >= {self.large}"]
        texts += self.conditions(s.condition)
        texts += [f"{self.address} % {s.aligned} == 0"] if s.aligned else []
        return [self.line(f"const bool {s.name} = {self.joined(texts, 'land')};", indent)]

    def before(self, s: Before, indent: int) -> list[str]:
        """What the destination's address says."""
        size = self.routine.element_bytes
        back = self.whole(f"{self.address} % {s.line * size} / {size}")
        return [self.line(f"const {self.integer} {s.name} = -{back};", indent)]

    def whole(self, text: str) -> str:
        """A number as an int64."""
        return f"({self.integer})({text})"

    address = "(uintptr_t)dst"

    def when(self, s: When, indent: int) -> list[str]:
        """A choice; streamed stores are waited for."""
        found = super().when(s, indent)
        if self._streams(s.then) and s.otherwise and not isinstance(s.then[0], Move):
            at = found.index(self.line(self.forms.otherwise.format(), indent))
            found.insert(at, self.line(f"{self.p}fence();", indent + 2))
        return found

    def _streams(self, body: Body) -> bool:
        return any(isinstance(s, Move) and s.streams for s in walk(body))

    def vectors(self, s: Vectors, indent: int) -> list[str]:
        """Both parts, of which the preprocessor, or a condition, takes one."""
        if s.condition is None:
            body, plain = self.lines(s.body, indent), self.lines(s.plain, indent)
            return [f"#ifdef {self.macro}", *body, "#else", *plain, "#endif"]
        condition = self.joined(self.conditions(s.condition), "land")
        return [
            f"#ifdef {self.macro}",
            self.line(f"if ({condition}) {{", indent),
            *self.lines(s.body, indent + 2),
            self.line("} else", indent),
            "#endif",
            self.line("{", indent),
            *self.lines(s.plain, indent + 2),
            self.line("}", indent),
        ]

    def move(self, s: Move, indent: int) -> list[str]:
        """A run that is streamed vector by vector."""
        changes = self.routine.value is not None and s.of.array == SOURCE
        if changes and not s.streams:
            given = [self.pointer(s.to), self.pointer(s.of)]
            if s.count == const(1):
                return [self.line(f"{self.p}move({COMMA.join(given)});", indent)]
            given.append(self.text(s.count))
            return [self.line(f"{self.p}move_run({COMMA.join(given)});", indent)]
        if not s.streams:
            return super().move(s, indent)
        assert s.count.op == "const"
        size = self.routine.element_bytes
        to, of, p = self.pointer(s.to), self.pointer(s.of), self.p
        own = "changed" if changes else ""
        if s.count.value * size == VECTOR:
            return [self.line(f"{p}stream({to}, {p}{own or 'load'}({of}));", indent)]
        run = f"stream_{own}_run" if own else "stream_run"
        return [self.line(f"{p}{run}({to}, {of}, {s.count.value});", indent)]

    def apply(self, s: Apply, indent: int) -> list[str]:
        """A call of the kernel's function."""
        at = self.kernels.index(s.kernel)
        arguments = [self.pointer(s.of), self.pointer(s.to)]
        own, other = self._strides(s.kernel)
        arguments += [self.text(s.of_strides[k]) for k in own]
        arguments += [self.text(s.to_strides[k]) for k in other]
        return [self.line(f"{self.p}block{at or ''}({COMMA.join(arguments)});", indent)]

    def _strides(self, kernel: Kernel) -> list[list[int]]:
        return [
            [k for k in range(len(kernel.block)) if any(index[k] for index, _ in places)]
            for places in (kernel.loads, kernel.stores)
        ]

    def buffer(self, s: Buffer, indent: int) -> list[str]:
        """A local array, and what it is for."""
        return [self.line(f"{self.type} buffer[{s.count}];", indent), *self.lines(s.body, indent)]

    def bytes(self, count: Node) -> str:
        """A number of bytes, as a size_t."""
        text = super().bytes(count)
        return text if count.op == "const" else self.sized(text)

    def sized(self, text: str) -> str:
        """A number as a size_t."""
        return f"(size_t)({text})"

    # -- what comes before the routine ---------------------------------------------------------------

    def cast(self, T: str, text: str) -> str:
        """A vector as one of another type."""
        return f"({T}){text}"

    @property
    def has_vectors(self) -> bool:
        """Whether the file has vectors at all."""
        return bool(self.kernels) or self.streams or self.has_runs

    def helpers(self) -> list[str]:
        """Types and functions of vectors, for compilers that have them."""
        if not self.has_vectors:
            return []
        p, T = self.p, self.type
        found = [
            f"#if !defined({self.scalar}) && (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12))",
            f"#define {self.macro}",
        ]
        earlier = [lead for lead in self.earlier if lead.has_vectors]
        if earlier:
            found = [f"#ifdef {self.macro}"]
        if self.streams and not any(lead.streams for lead in earlier):
            found += [
                "// Copies of so many bytes and more are written past the caches.",
                f"#ifndef {self.large}",
                f"#define {self.large} {LARGE}",
                "#endif",
            ]
        value = self.routine.value
        shapes = {self._shape(step.lanes) for k in self.kernels for step in k.steps} | {1}
        shapes = sorted(shapes if value is None else shapes | {self.routine.element_bytes})
        for size in shapes:
            word = self.word(size)
            found.append(
                f"typedef {word} {self._type(size)} __attribute__((vector_size({VECTOR})));"
            )
        V, memcpy = self._type(1), self.forms.run.partition("(")[0]
        found += [
            *self.template,
            f"{self.mark} {V} {p}load(const {T}{self.star}at) {{",
            f"  {V} v;",
            f"  {memcpy}(&v, at, sizeof v);",
            "  return v;",
            "}",
        ]
        if value is not None:
            lanes = self._type(self.routine.element_bytes)
            text = self.cast(V, f"({spelled(value, VALUES, hexadecimal)})")
            found += [
                *self.template,
                f"{self.mark} {V} {p}changed(const {T}{self.star}at) {{",
                f"  const {lanes} {VALUE} = {self.cast(lanes, f'{p}load(at)')};",
                self.line(f"return {text};", 2),
                "}",
            ]
        if self.kernels or self.has_runs:
            found += [
                *self.template,
                f"{self.mark} void {p}store({T}{self.star}at, {V} v) {{",
                f"  {memcpy}(at, &v, sizeof v);",
                "}",
            ]
        if self.streams:
            found += [
                *self.template,
                f"{self.mark} void {p}stream({T}{self.star}at, {V} v) {{",
                "#ifdef __SSE2__",
                f"  _mm_stream_si128({self.pointer_to('__m128i', 'at')}, {self.cast('__m128i', 'v')});",
                "#else",
                f"  {memcpy}(at, &v, sizeof v);",
                "#endif",
                "}",
                f"{self.mark} void {p}fence{self.no_parameters} {{",
                "#ifdef __SSE2__",
                "  _mm_sfence();",
                "#endif",
                "}",
            ]
            step = VECTOR // self.routine.element_bytes
            bodies = (s for part in self.group for s in walk(part.routine.body))
            moves = [s for s in bodies if isinstance(s, Move) and s.streams]
            runs = {
                s.of.array == SOURCE and value is not None for s in moves if s.count.value != step
            }
            for changes in sorted(runs):
                own, load = ("changed_run", "changed") if changes else ("run", "load")
                found += [
                    *self.template,
                    f"{self.mark} void {p}stream_{own}({T}{self.star}to, const {T}{self.star}of, {self.integer} count) {{",
                    f"  for ({self.integer} k = 0; k < count; k += {step}) {{",
                    f"    {p}stream(to + k, {p}{load}(of + k));",
                    "  }",
                    "}",
                ]
        for lanes in self._masks():
            size = self._shape(lanes)
            wide = [lane * self.routine.element_bytes // size for lane in lanes]
            step = max(1, size // self.routine.element_bytes)
            text = ", ".join(map(str, wide[::step]))
            x, y = (self.cast(self._type(size), name) for name in "xy")
            mixed = self.cast(V, f"__builtin_shufflevector({x}, {y},{BREAK}{text})")
            found += [
                f"{self.mark} {V} {self._mix(lanes)}({V} x, {V} y) {{",
                self.line(f"return {mixed};", 2),
                "}",
            ]
        for at, kernel in enumerate(self.kernels):
            found += self._kernel(at, kernel, V)
        return [*found, "#endif"]

    no_parameters = "(void)"
    template: tuple[str, ...] = ()

    def pointer_to(self, T: str, text: str) -> str:
        """A pointer to another type."""
        return f"({T} *){text}"

    def word(self, size: int) -> str:
        """An unsigned type of so many bytes."""
        return WORDS[size]

    def _masks(self) -> list[tuple[int, ...]]:
        return list(dict.fromkeys(step.lanes for k in self.kernels for step in k.steps))

    def _type(self, size: int) -> str:
        """A vector of words of so many bytes."""
        return f"{self.p}u{8 * size}x{VECTOR // size}"

    def _mix(self, lanes: tuple[int, ...]) -> str:
        """What an exchange is called: a zip of the low or the high halves, or a mix with a number."""
        size = self._shape(lanes)
        half = VECTOR // size // 2
        wide = [lane * self.routine.element_bytes // size for lane in lanes]
        own = wide[:: max(1, size // self.routine.element_bytes)]
        for word, start in (("low", 0), ("high", half)):
            if own == [start + k // 2 + k % 2 * 2 * half for k in range(2 * half)]:
                return f"{self.p}zip_{word}_u{8 * size}"
        return f"{self.p}mix{self._masks().index(lanes)}"

    def _shape(self, lanes: tuple[int, ...]) -> int:
        """The bytes of the widest words that an exchange leaves whole."""
        size, step = self.routine.element_bytes, 1
        while size < 8 and all(
            lanes[k] % (2 * step) == 0 and lanes[k + step] == lanes[k] + step
            for k in range(0, len(lanes), 2 * step)
        ):
            size, step = 2 * size, 2 * step
        return size

    def _kernel(self, at: int, kernel: Kernel, V: str) -> list[str]:
        p, T = self.p, self.type
        own, other = self._strides(kernel)
        parameters = [
            f"const {T}{self.star}{self.restrict} src",
            f"{T}{self.star}{self.restrict} dst",
        ]
        parameters += [f"{self.integer} a{k}" for k in own] + [
            f"{self.integer} b{k}" for k in other
        ]
        head = self.printer.head(
            f"{self.mark} {INLINED} void {p}block{at or ''}", COMMA.join(parameters), " {"
        )
        load = f"{p}load" if self.routine.value is None else f"{p}changed"
        values = [
            f"x{k} = {load}({self._at('src', place, 'a', own)})"
            for k, place in enumerate(kernel.loads)
        ]
        values += [f"x{s.out} = {self._mix(s.lanes)}(x{s.x}, x{s.y})" for s in kernel.steps]
        found = [*self.template, *head.split("\n")]
        group = 4 if len(kernel.steps) > 8 else 1
        count = len(kernel.loads)
        for part in (values[:count], values[count:]):
            for k in range(0, len(part), group):
                found.append(self.line(f"const {V} {COMMA.join(part[k : k + group])};", 2))
        for register, place in zip(kernel.kept, kernel.stores, strict=True):
            found.append(
                self.line(f"{p}store({self._at('dst', place, 'b', other)}, x{register});", 2)
            )
        return [*found, "}"]

    def _at(self, array: str, place: Any, stem: str, strides: list[int]) -> str:
        index, beyond = place
        offset = const(0)
        for k in strides:
            if index[k]:
                term = var(f"{stem}{k}")
                term = term if index[k] == 1 else made("mul", index[k], term)
                offset = term if offset == const(0) else made("add", offset, term)
        if beyond:
            offset = const(beyond) if offset == const(0) else made("add", offset, beyond)
        return array if offset == const(0) else f"{array} + {self.text(offset, 12)}"

    def routine_lines(self) -> list[str]:
        """The routine with its comment; one in parts is shared out to OpenMP's threads."""
        r = self.routine
        read = names_read(r.body)
        body = [f"  (void){name};" for old, name in self.names.items() if old not in read]
        body += [*self.checks(), *self.lines(r.body, 2), "}"]
        if not r.parts:
            return [*self._head(r.name, self._docs()), *body]
        part, own, parts = f"{r.name}_part", [*self.names.values()], f"{r.parts}({{}})"
        docs = (
            f"Does the parts of {r.name} from {FIRST} up to {LAST}, without {LAST}, for threads of one's own. No two parts "
            "write one place.",
            f"@param {FIRST} 0 or more",
            f"@param {LAST} no more than {parts.format(', '.join(own))}",
        )
        more = [f"{self.integer} {FIRST}", f"{self.integer} {LAST}"]
        found = [*self._head(part, docs, more), *body]

        def call(first: str, last: str) -> str:
            return f"{part}({COMMA.join([*own, 'src', 'dst', first, last])});"

        return [
            *found,
            *self._head(r.name, self._docs()),
            self.line(f"const {self.integer} parts = {parts.format(COMMA.join(own))};", 2),
            "#ifdef _OPENMP",
            "#pragma omp parallel for schedule(static) if (parts > 1)",
            f"  for ({self.integer} {PART} = 0; {PART} < parts; ++{PART}) {{",
            self.line(call(PART, f"{PART} + 1"), 4),
            "  }",
            "#else",
            self.line(call("0", "parts"), 2),
            "#endif",
            "}",
        ]

    def _head(self, name: str, docs: Sequence[str], more: Sequence[str] = ()) -> list[str]:
        """What a routine begins with."""
        parameters = [
            *(f"{self.integer} {name}" for name in self.names.values()),
            f"const {self.type}{self.star}{self.restrict} src",
            f"{self.type}{self.star}{self.restrict} dst",
            *more,
        ]
        found = ["", *(f"/// {line}" for text in docs for line in self._said(text))]
        start = f"{self.start} {name}"
        return [
            *found,
            *self.template,
            *self.printer.head(start, COMMA.join(parameters), " {").split("\n"),
        ]

    def checks(self) -> list[str]:
        """What the routine asserts of its types."""
        return []

    start = "static inline void"

    def _docs(self) -> tuple[str, ...]:
        r = self.routine
        return (
            r.summary,
            "Sizes are as those of the functions above. The two memories do not overlap.",
            f"@param src {self.inline(r.source)} elements",
            f"@param dst {self.inline(r.destination)} elements",
        )

    def _said(self, text: str) -> list[str]:
        return self.printer.comment(text, "///")

    def element(self) -> list[str]:
        """The type of an element that is no word."""
        if self.routine.element_bytes in WORDS:
            return []
        return ["", "/// An element.", f"typedef struct {self.type} {{",
                f"  unsigned char bytes[{self.routine.element_bytes}];", f"}} {self.type};"]  # fmt: skip

    def overloads(self) -> list[str]:
        """Other forms of the routine."""
        return []


class CopiesInC(CopyTexts):
    """What a file's template has of its copies."""

    lines_of = LinesInC
    has_parts = True

    def __init__(self, printer: Any, program: Any):
        super().__init__(printer, program)
        groups: dict[Any, list[LinesInC]] = {}
        for part in self.parts:
            key = part.routine.element_bytes, part.routine.value
            groups.setdefault(key, []).append(part)
        self.leads = [own[0] for own in groups.values()]
        if len(self.parts) == 1:
            return
        for at, ((size, value), own) in enumerate(groups.items()):
            stem = program.name if len(groups) == 1 else f"{program.name}_{size}"
            stem = stem if value is None else own[0].routine.name
            for part in own:
                part.share(own, stem, program.name)
            own[0].earlier = self.leads[:at]

    @property
    def includes(self) -> list[str]:
        """What the text needs beside what functions do."""
        streams = any(p.streams for p in self.parts)
        found = ["#ifdef __SSE2__", "#include <emmintrin.h>", "#endif"] if streams else []
        flags = any(isinstance(s, Flag) for p in self.parts for s in walk(p.routine.body))
        if flags and self.truths and not self.program.fits:
            found.append(self.truths)
        return [*found, *self.headers]

    truths = "#include <stdbool.h>"  # where functions don't include it

    headers: tuple[str, ...] = ("#include <string.h>",)

    @property
    def lines(self) -> list[str]:
        """The helpers and the routines."""
        found: list[str] = []
        for lead in self.leads:
            helpers = lead.helpers()
            found += [*lead.element(), *(["", *helpers] if helpers else [])]
            found += lead.value_lines()
        for part in self.parts:
            found += [*part.routine_lines(), *part.overloads()]
        return found

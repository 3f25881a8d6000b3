"""How C spells copies between memory layouts, and C++ for the most part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from lego_emit.emit.nests import (
    CopyTexts,
    NestForms,
    rows,
)
from lego_emit.ir.nests import (
    DESTINATION,
    FIRST,
    LAST,
    PART,
    SOURCE,
    Abilities,
    Apply,
    Before,
    Body,
    Buffer,
    Call,
    Each,
    Fetch,
    Flag,
    Move,
    Ref,
    Vectors,
    Ways,
    When,
    helpers,
    names_read,
    walk,
)
from lego_emit.ir.nodes import Node, const
from lego_emit.printers.copy_kernels import COMMA, VECTOR, WORDS
from lego_emit.printers.copy_vectors import VectorsInC

C = NestForms(
    one=f"memcpy({{to}}{COMMA}{{of}}{COMMA}{{count}});",
    run=f"memcpy({{to}}{COMMA}{{of}}{COMMA}{{count}});",
    zeros="memset({to}, 0, {count});",
    each=(
        "const {places} at = {call};",
        "?if (at.source_place >= 0 && at.destination_place >= 0)",
        "memcpy(dst + at.destination_place, src + at.source_place, {size});",
    ),
)


PIECE = 128  # bytes of a memcpy that compilers inline
MOST = 1024  # bytes of a run that several of them move
TOGETHER = 4  # elements of a block that a round moves: compilers unroll no loop of so many at -O2
PLACES = {SOURCE: "source", DESTINATION: "destination"}


class LinesInC(VectorsInC):
    """The nest of a routine, with kernels in vector extensions."""

    forms = C

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
        texts += [f"{self.address('dst')} % {s.aligned} == 0"] if s.aligned else []
        return [self.line(f"const bool {s.name} = {self.joined(texts, 'land')};", indent)]

    def before(self, s: Before, indent: int) -> list[str]:
        """What the destination's address says."""
        size = self.routine.element_bytes
        at = self.address(self.pointer(Ref(DESTINATION, s.at)))
        back = self.whole(f"{at} % {s.line * size}{f' / {size}' * (size > 1)}")
        return [self.line(f"const {self.integer} {s.name} = -{back};", indent)]

    def whole(self, text: str) -> str:
        """A number as an int64."""
        return f"({self.integer})({text})"

    def when(self, s: When, indent: int) -> list[str]:
        """A choice; streamed stores are waited for."""
        found = super().when(replace(s, otherwise=()), indent)
        if not s.otherwise:
            return found
        if self._streams(s.then) and not isinstance(s.then[0], Move):
            found.insert(-1, self.line(f"{self.p}fence();", indent + 2))
        if len(s.otherwise) == 1 and isinstance(s.otherwise[0], When):
            first, *more = self.when(s.otherwise[0], indent)
            return [*found[:-1], f"{found[-1]} else {first.lstrip()}", *more]
        rest = self.lines(s.otherwise, indent + self.forms.indent)
        otherwise, end = self.forms.otherwise.format(), self.forms.end.format()
        return [*found[:-1], self.line(otherwise, indent), *rest, self.line(end, indent)]

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
        size = self.routine.element_bytes
        to, of, p = self.pointer(s.to), self.pointer(s.of), self.p
        if self._in_pieces(s):
            return [self.line(f"{p}run{s.count.value}({COMMA.join((to, of))});", indent)]
        if not s.streams:
            return super().move(s, indent)
        if s.count.op != "const":
            return [self.line(f"{p}stream_lines({to}, {of}, {self.text(s.count)});", indent)]
        own = "changed" if changes else ""
        if s.count.value * size == VECTOR:
            return [self.line(f"{p}stream({to}, {p}{own or 'load'}({of}));", indent)]
        run = f"stream_{own}_run" if own else "stream_run"
        return [self.line(f"{p}{run}({to}, {of}, {s.count.value});", indent)]

    def _in_pieces(self, s: Move) -> bool:
        """Whether a run is moved in pieces: of a longer constant, GCC makes rep movsq, and Clang a call."""
        plain = not s.streams and (self.routine.value is None or s.of.array != SOURCE)
        size = self.routine.element_bytes
        is_known = plain and s.count.op == "const" and size <= PIECE
        return is_known and PIECE < s.count.value * size <= MOST

    def run_lines(self) -> list[str]:
        """The functions that move runs in pieces."""
        T, size = self.type, self.routine.element_bytes
        found, step = list[str](), PIECE // size
        bodies = (s for part in self.group for s in walk(part.routine.body))
        runs = (s.count.value for s in bodies if isinstance(s, Move) and self._in_pieces(s))
        for n in sorted({*runs}):
            head = f"{self.mark} void {self.p}run{n}({T}{self.star}to, const {T}{self.star}of) {{"
            found += [
                "",
                f"/// Copies a run of {n} elements, without a call.",
                *self.template,
                head,
            ]
            for k in range(0, n, step):
                to, of = (f"{name} + {k}" if k else name for name in ("to", "of"))
                count = min(step, n - k) * size
                found.append(self.line(self.forms.run.format(to=to, of=of, count=count), 2))
            found.append("}")
        return found

    def apply(self, s: Apply, indent: int) -> list[str]:
        """A call of the kernel's function."""
        at = self.kernels.index(s.kernel)
        arguments = [self.pointer(s.of), self.pointer(s.to)]
        own, other = self._strides(s.kernel)
        arguments += [self.text(s.of_strides[k]) for k in own]
        arguments += [self.text(s.to_strides[k]) for k in other]
        return [self.line(f"{self.p}block{at or ''}({COMMA.join(arguments)});", indent)]

    def fetch(self, s: Fetch, indent: int) -> list[str]:
        """A hint that compilers with vectors have."""
        hints = ", 1" if s.at.array == DESTINATION else ", 0, 2" if s.second else ""
        return [self.line(f"__builtin_prefetch({self.pointer(s.at)}{hints});", indent)]

    def each_of(self, s: Each) -> Sequence[str]:
        """A run for each call, which is done element by element where it falls."""
        first, _, run = self.forms.each
        if s.ways is not None:
            return (first, *self.ways_of(s, s.ways, run))
        if not s.falls:
            return self.forms.each
        at = "destination_place" if s.falls == DESTINATION else "source_place"
        after = f"{self.call_of(s, 1)}.{at}"
        one = run.replace("{size}", str(self.routine.element_bytes))
        for place in ("destination_place", "source_place"):
            sign = "-" if place == at else "+"
            one = one.replace(f"at.{place}", f"at.{place} {sign} {s.step}")
        return (
            first,
            f"if ({after} > at.{at}) {{{{",
            f"  {run}",
            "}} else {{",
            f"  for ({self.integer} {s.step} = 0; {s.step} < {s.count}; ++{s.step}) {{{{",
            f"    {one}",
            "  }}",
            "}}",
        )

    def ways_of(self, s: Each, ways: Ways, run: str) -> Iterator[str]:
        """The forms of a block: the way in which it lies, and its elements."""
        away, way, *loops = ways.names
        place, entries, pad = f"{PLACES[ways.memory]}_place", f"{self.own_prefix}ways", ""
        if len(ways.entries) > 1:
            after = self.call_of(s, *ways.at)
            yield f"const {self.integer} {away} = {after}.{place} - at.{place};"
            yield f"{self.integer} {way} = 0;"
            yield f"while ({entries}[{way}][{ways.probe}] != {away}) {{{{"
            yield f"  ++{way};"
            yield "}}"
        terms: list[str] = []
        own: list[str] = []
        last, along = ways.steps[-1]
        many = TOGETHER if last % TOGETHER == 0 and last > TOGETHER else 1
        for at, (name, (n, stride)) in enumerate(zip(loops, ways.steps, strict=True)):
            step = f"{name} += {many}" if many > 1 and name == loops[-1] else f"++{name}"
            yield f"{pad}for ({self.integer} {name} = 0; {name} < {n}; {step}) {{{{"
            pad += "  "
            inside = prod(m for m, _ in ways.steps[at + 1 :])
            own.append(name if inside == 1 else f"{inside} * {name}")
            sign, stride = ("-", -stride) if stride < 0 else ("+", stride)
            terms.append(f" {sign} {name}" if stride == 1 else f" {sign} {stride} * {name}")
        row = f"{entries}[{way if len(ways.entries) > 1 else 0}]"
        for k in range(many):
            entry = " + ".join([*own, *[str(k)] * (k > 0)])
            beyond = f" {'-' if along < 0 else '+'} {k * abs(along)}" if k else ""
            one = run
            for memory, name in PLACES.items():
                step = f" + {row}[{entry}]" if memory == ways.memory else "".join(terms) + beyond
                one = one.replace(f"at.{name}_place", f"at.{name}_place{step}")
            yield pad + one.replace(", ", COMMA)
        for k in reversed(range(len(loops))):
            yield "  " * k + "}}"

    def tables(self) -> list[str]:
        """The ways in which blocks lie in a memory."""
        found: list[str] = []
        for s in walk(self.routine.body):
            if isinstance(s, Each) and s.ways is not None:
                entries, kind = s.ways.entries, self.integer.replace("64", "32")
                head = f"{self.constant} {kind} {self.own_names}ways[{len(entries)}][{len(entries[0])}] = {{"
                about = f"How far the elements of a block lie from its first one in the {PLACES[s.ways.memory]}."
                found += ["", f"/// {about}", head]
                for own in entries:
                    found += ["  {", *rows(own, 4), "  },"]
                found.append("};")
        return found

    def buffer(self, s: Buffer, indent: int) -> list[str]:
        """A local array, and what it is for."""
        line = f" __attribute__((aligned({s.line})))" if s.line else ""
        head = self.line(f"{self.type} buffer[{s.count}]{line};", indent)
        return [head, *self.lines(s.body, indent)]

    def bytes(self, count: Node) -> str:
        """A number of bytes, as a size_t."""
        text = super().bytes(count)
        return text if count.op == "const" else self.sized(text)

    def sized(self, text: str) -> str:
        """A number as a size_t."""
        return f"(size_t)({text})"

    def call(self, s: Call, indent: int) -> list[str]:
        """A call of what moves boxes of one kind."""
        arrays = [SOURCE, DESTINATION] if s.helper.reads else [DESTINATION]
        given = COMMA.join([*map(self.text, s.arguments), *arrays])
        text = self.printer.head(f"{self.own_prefix}{s.helper.stem}", given, ";", indent)
        return f"{' ' * indent}{text}".split("\n")

    @property
    def own_prefix(self) -> str:
        """What the names of functions begin with that no other routine calls."""
        return f"{self.routine.name}_"

    def box_lines(self) -> list[str]:
        """The functions that move boxes of one kind, and tables of blocks."""
        found = self.tables()
        for helper in helpers(self.routine.body):
            own = [self.names.get(name, name) for name in helper.parameters]
            read = names_read(helper.body, "plain") & names_read(helper.body, "body")
            unread = [
                f"  (void){name};"
                for old, name in zip(helper.parameters, own, strict=True)
                if old not in read
            ]
            sizes = [f"{self.integer} {name}" for name in own]
            start = f"{self.mark} void {self.own_names}{helper.stem}"
            parameters = COMMA.join([*sizes, *self._arrays[not helper.reads :]])
            head = self.printer.head(start, parameters, " {").split("\n")
            found += ["", f"/// {self.box_told(helper)}", *self.template, *head, *unread]
            found += [*self.lines(helper.body, 2), "}"]
        return found

    @property
    def own_names(self) -> str:
        """The same where they are defined."""
        return self.own_prefix

    @property
    def _arrays(self) -> list[str]:
        """The parameters of both memories."""
        return [
            f"const {self.type}{self.star}{self.restrict} src",
            f"{self.type}{self.star}{self.restrict} dst",
        ]

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
            f"Copies the parts {FIRST} to {LAST} - 1 of {r.name}, for threads of your own. No two parts write one place.",
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
            *self._arrays,
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
            self.memories_said,
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
    abilities = Abilities(segments=True, calls=True)
    own = ("size_t", "memcpy")
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
            found += [*lead.value_lines(), *lead.run_lines()]
        for part in self.parts:
            found += [*part.box_lines(), *part.routine_lines(), *part.overloads()]
        return found

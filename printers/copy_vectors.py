"""What stands before copies in C and C++: vectors, their exchanges, and what is made of an element.

References: GCC's manual, "Vector Extensions" and __builtin_shufflevector (GCC 12 and Clang have it);
Intel's intrinsics guide, _mm_stream_si128 and _mm_sfence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lego_emit.emit.nests import (
    VALUES,
    hexadecimal,
    narrowed,
    rows,
    spelled,
)
from lego_emit.emit.ops import BREAK
from lego_emit.ir.nests import (
    ENTRIES,
    SOURCE,
    VALUE,
    Move,
    kernels,
    walk,
)
from lego_emit.ir.nodes import const
from lego_emit.printers.copy_kernels import LINE, VECTOR, WORDS, ZIPPED, KernelsInC, kernels_said

LARGE = 16 * 2**20  # bytes


class VectorsInC(KernelsInC):
    """The helpers of routines that share them."""

    constant = "static const"  # and before a table

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        self.p = f"{routine.name}_"
        self.kernels = kernels(routine.body)
        self.group: Sequence[VectorsInC] = [self]  # those that have its helpers in common
        # the first of each group whose helpers stand before its own
        self.earlier: Sequence[VectorsInC] = []
        self.type = WORDS.get(routine.element_bytes, f"{self.p}element")
        self.called(routine.name)

    def called(self, stem: str) -> None:
        """Set what the macros of the file begin with."""
        self.macro = f"{stem}_vectors".upper()
        self.large, self.scalar = f"{stem}_large".upper(), f"{stem}_scalar".upper()
        self.rolled = f"{stem}_rolled".upper()

    def share(self, group: Sequence[VectorsInC], stem: str, unit: str) -> None:
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

    @property
    def keeps_loops(self) -> bool:
        """Whether compilers are asked to leave a loop as it is."""
        bodies = (s for part in self.group for s in walk(part.routine.body))
        return any(getattr(s, "rolled", False) for s in bodies)

    # -- what is made of an element ------------------------------------------------------------------

    def value_lines(self) -> list[str]:
        """The functions that move elements, and what is made of them."""
        value, T, p, size = self.routine.value, self.type, self.p, self.routine.element_bytes
        if value is None:
            return []
        memcpy = self.forms.run.partition("(")[0]
        word, wide = self.word(size), self.word(max(4, size))
        table: list[str] = []
        if value.op == ENTRIES:
            table = [f"{self.constant} {word} {p}values[256] = {{", *rows(value.value, 2), "};"]
            wide, text = word, f"{p}values[{VALUE}]"
        else:
            text = spelled(
                narrowed(value, 2 ** (8 * size) - 1) if size < 4 else value, VALUES, hexadecimal
            )
        text = f"return {text};" if word == wide else f"return {self.of_word(word, text)};"
        found = [
            "",
            *(["/// What is made of each byte.", *table, ""] if table else []),
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
                *self._in_registers(),
                "  for (; count > 0; --count) {",
                f"    {p}move(to++, of++);",
                "  }",
                "}",
            ]
        return found

    def _in_registers(self) -> list[str]:
        """The part of a run that registers change, which look no table up."""
        if self.looks_up:
            return []
        p, step = self.p, VECTOR // self.routine.element_bytes
        return [
            f"#ifdef {self.macro}",
            f"  for (; count >= {step}; count -= {step}, to += {step}, of += {step}) {{",
            f"    {p}store(to, {p}changed(of));",
            "  }",
            "#endif",
        ]

    @property
    def looks_up(self) -> bool:
        """Whether what is made of an element is a table."""
        return self.routine.value is not None and self.routine.value.op == ENTRIES

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

    # -- what comes before the routine ---------------------------------------------------------------

    @property
    def has_vectors(self) -> bool:
        """Whether the file has vectors at all."""
        return bool(self.kernels) or self.streams or (self.has_runs and not self.looks_up)

    def helpers(self) -> list[str]:
        """Types and functions of vectors, for compilers that have them."""
        kept = self._kept_loops()
        if not self.has_vectors:
            return kept
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
        shapes = {self._shape(step.lanes) for k in self.kernels for step in k.steps}
        shapes |= {1, 8} if self._has_pairs else {1}
        if value is not None:
            shapes.add(self.routine.element_bytes)
        V, memcpy = self._type(1), self.forms.run.partition("(")[0]
        found += map(self._typedef, sorted(shapes))
        loads = self.streams or value is not None or not self.kernels
        if loads or any(k.square is None for k in self.kernels):
            found += self._load("load", V)
        if value is not None:
            size = self.routine.element_bytes
            lanes, text = self._type(size), spelled(value, VALUES, hexadecimal)
            text = text if size == 1 else self.cast(V, f"({text})")
            found += [
                *self.template,
                f"{self.mark} {V} {p}changed(const {T}{self.star}at) {{",
                f"  const {lanes} {VALUE} = {self._as(size, lanes, f'{p}load(at)')};",
                self.line(f"return {text};", 2),
                "}",
            ]
        if self.has_runs or any(k.pair is None or k.apart(1) != k.lanes for k in self.kernels):
            found += self._store("store", V)
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
                s.of.array == SOURCE and value is not None
                for s in moves
                if s.count.op == "const" and s.count.value != step
            }
            for changes in sorted(runs):
                own, load = ("changed_run", "changed") if changes else ("run", "load")
                found += [
                    *self.template,
                    f"{self.mark} void {p}stream_{own}({T}{self.star}to, const {T}{self.star}of, {self.integer} count) {{",
                    *([f"  {self.rolled}"] if self.keeps_loops else []),
                    f"  for ({self.integer} k = 0; k < count; k += {step}) {{",
                    f"    {p}stream(to + k, {p}{load}(of + k));",
                    "  }",
                    "}",
                ]
            if any(s.count.op != "const" for s in moves):
                found += self._stream_lines()
        found += self._mixes(False)
        if self._has_pairs:
            found += self._pairs()
        found += kernels_said(self)
        for at, kernel in enumerate(self.kernels):
            found += self._kernel(at, kernel)
        return [*kept, *found, "#endif"]

    def _kept_loops(self) -> list[str]:
        """What asks compilers to leave a loop as it is, where no helpers before have it."""
        if not self.keeps_loops or any(lead.keeps_loops for lead in self.earlier):
            return []
        return [
            "#ifdef __clang__",
            f'#define {self.rolled} _Pragma("clang loop unroll(disable)")',
            "#else",
            f"#define {self.rolled}",
            "#endif",
        ]

    def _stream_lines(self) -> list[str]:
        """A run from anywhere to anywhere: up to a line's begin, whole registers past the caches, what is left."""
        p, T, size = self.p, self.type, self.routine.element_bytes
        step = VECTOR // size
        one = f"{self.forms.run.partition('(')[0]}(to + k, of + k, {size});"
        at = self.address("to + k")
        return [
            *self.template,
            f"{self.mark} void {p}stream_lines({T}{self.star}to, const {T}{self.star}of, {self.integer} count) {{",
            f"  {self.integer} k = 0;",
            f"  for (; k < count && {at} % {LINE} != 0; ++k) {{",
            f"    {one}",
            "  }",
            f"  for (; k <= count - {step}; k += {step}) {{",
            f"    {p}stream(to + k, {p}load(of + k));",
            "  }",
            "  for (; k < count; ++k) {",
            f"    {one}",
            "  }",
            "}",
        ]

    @property
    def _has_pairs(self) -> bool:
        return any(kernel.pair is not None for kernel in self.kernels)

    def _mixes(self, pairs: bool, length: int = VECTOR, zipped: bool = False) -> list[str]:
        """The exchanges of kernels of single blocks, or of pairs; length: of a register in bytes; zipped: those by zips
        alone."""
        found: list[str] = []
        V, count = self._vector(pairs), length // VECTOR
        for lanes in self._masks(pairs, zipped):
            size = self._shape(lanes)
            half, step = VECTOR // size, max(1, size // self.routine.element_bytes)
            own = [lane * self.routine.element_bytes // size for lane in lanes[::step]]
            text = ", ".join(
                str(lane % half + half * (part + lane // half * count))
                for part in range(count)
                for lane in own
            )
            x, y = (self._as(size, self._type(size, length), name) for name in "xy")
            mixed = self._as(size, V, f"__builtin_shufflevector({x}, {y},{BREAK}{text})")
            found += [
                f"{self.mark} {V} {self._mix(lanes, pairs)}({V} x, {V} y) {{",
                self.line(f"return {mixed};", 2),
                "}",
            ]
        return found

    def _as(self, size: int, T: str, text: str) -> str:
        """A vector of bytes as one of words of a size, or the other way: bytes are that already."""
        return text if size == 1 else self.cast(T, text)

    def _pairs(self) -> list[str]:
        """Registers of two blocks side by side where AVX2 has them, else of one."""
        p, T, V = self.p, self.type, self._vector(True)
        kernels = [kernel for kernel in self.kernels if kernel.pair is not None]
        shapes = {self._shape(step.lanes) for k in kernels for step in k.steps}
        half, long = self._type(8), self._type(8, 2 * VECTOR)
        both = f"{self.cast(half, f'{p}load(at)')}, {self.cast(half, f'{p}load(at + apart)')}"
        joined = self.cast(V, f"__builtin_shufflevector({both},{BREAK}0, 1, 2, 3)")
        load = f"{self.mark} {V} {p}load_two(const {T}{self.star}at, {self.integer} apart) {{"
        found = [
            "#ifdef __AVX2__",
            "// Two blocks side by side, each in a half of every register.",
            *(self._typedef(size, 2 * VECTOR) for size in sorted(shapes | {1, 8})),
            f"typedef {self._type(1, 2 * VECTOR)} {V};",
            *self._mixes(True, 2 * VECTOR),
        ]
        plain, mixes = [f"typedef {self._type(1)} {V};"], self._mixes(True)
        if zips := self._mixes(True, zipped=True):
            mixes = [ZIPPED, *zips, "#else", *mixes, "#endif"]
        plain += mixes
        if any(kernel.square is not None for kernel in kernels):
            x, y = (self.cast(long, name) for name in "xy")
            for half, lanes in (("low", "0, 1, 4, 5"), ("high", "2, 3, 6, 7")):
                text = self.cast(V, f"__builtin_shufflevector({x}, {y},{BREAK}{lanes})")
                found += [
                    f"{self.mark} {V} {p}{half}_halves({V} x, {V} y) {{",
                    self.line(f"return {text};", 2),
                    "}",
                ]
        if any(k.apart(0) != k.lanes and k.square is None for k in kernels):
            found += [*self.template, load, self.line(f"return {joined};", 2), "}"]
            plain += [*self.template, load, "  (void)apart;", f"  return {p}load(at);", "}"]
        if any(kernel.apart(1) != kernel.lanes for kernel in kernels):
            store = (
                f"{self.mark} void {p}store_two({T}{self.star}at, {self.integer} apart, {V} v) {{"
            )
            x = self.cast(long, "v")
            halves = (
                self.cast(self._type(1), f"__builtin_shufflevector({x}, {x}, {k}, {k + 1})")
                for k in (0, 2)
            )
            places = ("at", "at + apart")
            stores = (f"{p}store({to}, {text});" for to, text in zip(places, halves, strict=True))
            found += [*self.template, store, *(self.line(text, 2) for text in stores), "}"]
            plain += [*self.template, store, "  (void)apart;", f"  {p}store(at, v);", "}"]
        found += ["#else", *plain, "#endif"]
        if any(k.apart(0) == k.lanes or k.square is not None for k in kernels):
            found += self._load("load_wide", V)
        if any(kernel.apart(1) == kernel.lanes for kernel in kernels):
            found += self._store("store_wide", V)
        return found

    def _load(self, name: str, V: str) -> list[str]:
        return [
            *self.template,
            f"{self.mark} {V} {self.p}{name}(const {self.type}{self.star}at) {{",
            f"  {V} v;",
            f"  {self.forms.run.partition('(')[0]}(&v, at, sizeof v);",
            "  return v;",
            "}",
        ]

    def _store(self, name: str, V: str) -> list[str]:
        """A store that _FORTIFY_SOURCE, which some compilers define, makes no call of where a buffer's size is known."""
        return [
            *self.template,
            f"{self.mark} void {self.p}{name}({self.type}{self.star}at, {V} v) {{",
            "  __builtin_memcpy(at, &v, sizeof v);",
            "}",
        ]

    def _typedef(self, size: int, length: int = VECTOR) -> str:
        return f"typedef {self.word(size)} {self._type(size, length)} __attribute__((vector_size({length})));"

    def address(self, text: str) -> str:
        """A pointer as a number."""
        return f"(uintptr_t){text}" if text.isidentifier() else f"(uintptr_t)({text})"

    no_parameters = "(void)"

    def pointer_to(self, T: str, text: str) -> str:
        """A pointer to another type, of addresses that are known to suit it."""
        return f"({T} *)(void *){text}"

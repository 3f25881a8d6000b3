"""How C and C++ spell kernels of copies: functions that load registers, exchange their lanes, and store them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lego_emit.emit.nests import NestLines
from lego_emit.emit.ops import BREAK
from lego_emit.ir.nests import Kernel, plus
from lego_emit.ir.nodes import Node, const, made, var

COMMA = f",{BREAK}"
STRIDES = "// Kernels move a block: aK is the stride of its digit K in src, and bK that in dst."
INLINED = "__attribute__((always_inline))"  # of kernels, whose callers know their strides
VECTOR, LINE = 16, 64  # bytes of a register, and of a cache's line
WORDS = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
ZIPPED = "#if defined(__SSE2__) && !defined(__SSSE3__)"  # no exchange of single bytes but zips


def kernels_said(part: Any) -> list[str]:
    """What the strides of a part's kernels are called."""
    return [STRIDES] if any(any(part._strides(kernel)) for kernel in part.kernels) else []


class KernelsInC(NestLines):
    """The kernels of routines that share them."""

    restrict, star = "restrict", " *"
    mark = "static inline"  # what stands before a helper
    template: tuple[str, ...] = ()
    p: str  # what names of helpers begin with
    type: str
    kernels: list[Kernel]

    def _strides(self, kernel: Kernel) -> list[list[int]]:
        return [
            [
                k
                for k in range(len(kernel.block))
                if any(index[k] for index, _ in places)
                or (k == kernel.pair and kernel.apart(side) is None)
                or (k == kernel.square and side == 1)
            ]
            for side, places in enumerate((kernel.loads, kernel.stores))
        ]

    def _moved(self, kernel: Kernel) -> list[list[int]]:
        """The strides by which registers are loaded and stored: those of a kernel's exchange."""
        if kernel.square is None:
            return self._strides(kernel)
        return [
            [k for k in range(len(kernel.block)) if any(index[k] for index, _ in places)]
            for places in (kernel.loads, kernel.stores)
        ]

    def cast(self, T: str, text: str) -> str:
        """A vector as one of another type."""
        return f"({T}){text}"

    def _vector(self, pairs: bool) -> str:
        """The type of registers of single blocks, or of pairs."""
        return f"{self.p}wide" if pairs else self._type(1)

    def word(self, size: int) -> str:
        """An unsigned type of so many bytes."""
        return WORDS[size]

    def _masks(self, pairs: bool, zipped: bool = False) -> list[tuple[int, ...]]:
        own = [kernel for kernel in self.kernels if pairs == (kernel.pair is not None)]
        if zipped:
            own = [kernel.zipped or kernel for kernel in own] if any(k.zipped for k in own) else []
        return list(dict.fromkeys(step.lanes for kernel in own for step in kernel.steps))

    def _type(self, size: int, length: int = VECTOR) -> str:
        """A vector of words of so many bytes."""
        return f"{self.p}u{8 * size}x{length // size}"

    def _mix(self, lanes: tuple[int, ...], pairs: bool) -> str:
        """What an exchange is called: a zip of the low or the high halves, or a mix with a number."""
        size, p = self._shape(lanes), f"{self.p}{'wide_' * pairs}"
        half = VECTOR // size // 2
        wide = [lane * self.routine.element_bytes // size for lane in lanes]
        own = wide[:: max(1, size // self.routine.element_bytes)]
        for word, start in (("low", 0), ("high", half)):
            if own == [start + k // 2 + k % 2 * 2 * half for k in range(2 * half)]:
                return f"{p}zip_{word}_u{8 * size}"
        for start, word in enumerate(("evens", "odds")):
            if own == [*range(start, 4 * half, 2)]:
                return f"{p}{word}_u{8 * size}"
        return f"{p}mix{self._masks(pairs).index(lanes)}"

    def _shape(self, lanes: tuple[int, ...]) -> int:
        """The bytes of the widest words that an exchange leaves whole."""
        size, step = self.routine.element_bytes, 1
        while size < 8 and all(
            lanes[k] % (2 * step) == 0 and lanes[k + step] == lanes[k] + step
            for k in range(0, len(lanes), 2 * step)
        ):
            size, step = 2 * size, 2 * step
        return size

    def _kernel(self, at: int, kernel: Kernel) -> list[str]:
        p, T = self.p, self.type
        own, other = self._strides(kernel)
        pairs = kernel.pair is not None
        V = self._vector(pairs)
        memories = [
            f"const {T}{self.star}{self.restrict} src",
            f"{T}{self.star}{self.restrict} dst",
        ]

        def head(name: str) -> list[str]:
            strides = self._moved(kernel) if name == "exchange" else (own, other)
            named = (f"{stem}{k}" for stem, ks in zip("ab", strides, strict=True) for k in ks)
            parameters = [*memories, *(f"{self.integer} {stride}" for stride in named)]
            start = f"{self.mark} {INLINED} void {p}{name}{at or ''}"
            text = self.printer.head(start, COMMA.join(parameters), " {")
            return [*self.template, *text.split("\n")]

        apart = [self._apart(kernel, side, stem) for side, stem in enumerate("ab")]
        ways = [
            "" if not pairs else "_wide" if const(kernel.lanes) == node else "_two"
            for node in apart
        ]
        if kernel.square is not None:
            ways = ["_wide", "_wide"]
        more = [
            f", {self.text(n)}" if w == "_two" else "" for n, w in zip(apart, ways, strict=True)
        ]
        load = (
            "load" if self.routine.value is None else "changed"
        )  # whose kernels are of single blocks
        values = [
            f"x{k} = {p}{load}{ways[0]}({self._at('src', place, 'a', own)}{more[0]})"
            for k, place in enumerate(kernel.loads)
        ]
        values += [f"x{s.out} = {self._mix(s.lanes, pairs)}(x{s.x}, x{s.y})" for s in kernel.steps]
        count = len(kernel.loads)
        loads, steps = (
            self._named(V, values[:count], kernel),
            self._named(V, values[count:], kernel),
        )
        stores = [
            self.line(f"{p}store{ways[1]}({self._at('dst', place, 'b', other)}{more[1]}, x{k});", 2)
            for k, place in zip(kernel.kept, kernel.stores, strict=True)
        ]
        if kernel.square is not None:
            return self._square(at, kernel, head, [*steps, *stores])
        found = [*head("exchange" if pairs else "block"), *loads, *steps, *stores, "}"]
        if not pairs:
            return found
        strides = "".join(
            f", {stem}{k}" for stem, ks in zip("ab", (own, other), strict=True) for k in ks
        )
        second = ", ".join(
            f"{array} + {self.text(node, 12)}"
            for array, node in zip(("src", "dst"), apart, strict=True)
        )
        if kernel.zipped is not None:
            found = [*self._zipped(kernel.zipped, V, ways, head), "#else", *found]
        return [
            *found,
            *head("block"),
            f"  {p}exchange{at or ''}(src, dst{strides});",
            "#ifndef __AVX2__",
            self.line(f"{p}exchange{at or ''}({second}{strides});", 2),
            "#endif",
            "}",
            *(["#endif"] if kernel.zipped is not None else []),
        ]

    def _zipped(
        self, kernel: Kernel, V: str, ways: Sequence[str], head: Callable[[str], list[str]]
    ) -> list[str]:
        """The kernel of both blocks of a pair for processors that exchange no single bytes."""
        p, strides = self.p, self._strides(kernel)
        load, store = (
            f"{p}{name}{'_wide' if way == '_wide' else ''}"
            for name, way in zip(("load", "store"), ways, strict=True)
        )
        values = [
            f"x{k} = {load}({self._at('src', place, 'a', strides[0])})"
            for k, place in enumerate(kernel.loads)
        ]
        values += [f"x{s.out} = {self._mix(s.lanes, True)}(x{s.x}, x{s.y})" for s in kernel.steps]
        stores = [
            self.line(f"{store}({self._at('dst', place, 'b', strides[1])}, x{k});", 2)
            for k, place in zip(kernel.kept, kernel.stores, strict=True)
        ]
        return [ZIPPED, *head("block"), *self._named(V, values, kernel), *stores, "}"]

    def _named(self, V: str, values: Sequence[str], kernel: Kernel) -> list[str]:
        """Registers with their names, several in a line where they are many and fit into one."""
        group, found = 4 if len(kernel.steps) > 8 else 1, list[str]()
        for k in range(0, len(values), group):
            own = values[k : k + group]
            line = self.line(f"const {V} {COMMA.join(own)};", 2)
            each = [line] if "\n" not in line else (self.line(f"const {V} {x};", 2) for x in own)
            found += each
        return found

    def _square(
        self, at: int, kernel: Kernel, head: Callable[[str], list[str]], body: Sequence[str]
    ) -> list[str]:
        """A kernel of four blocks: of pairs that are neighbors in the source, and that are so in the destination. body:
        what is done to the registers of two."""
        p, V, k = self.p, self._vector(True), kernel.square
        own, other = self._strides(kernel)
        written = self._moved(kernel)[1]
        registers = COMMA.join(f"{V} x{n}" for n in range(len(kernel.loads)))
        to = f"{self.type}{self.star}{self.restrict} dst"
        strides = "".join(f", b{n}" for n in written)
        parameters = COMMA.join([registers, to, *(f"{self.integer} b{n}" for n in written)])
        name = f"{p}exchange{at or ''}"
        start = self.printer.head(f"{self.mark} {INLINED} void {name}", parameters, " {")

        def loaded(second: int, square: int) -> list[str]:
            """What loads a block's registers."""
            found: list[str] = []
            for index, beyond in kernel.loads:
                step = kernel.apart(0)
                rows = [n * second * (m == kernel.pair) for m, n in enumerate(kernel.block)]
                place = tuple(map(sum, zip(index, rows, strict=True))) if step is None else index
                place = place, beyond + second * (step or 0) + square * kernel.lanes
                found.append(f"{p}load_wide({self._at('src', place, 'a', own)})")
            return found

        def exchanged(values: Sequence[str], second: int, square: int) -> str:
            index = tuple(n * square * (m == k) for m, n in enumerate(kernel.block))
            to = self._at("dst", (index, second * kernel.lanes), "b", other)
            return self.line(f"{name}({COMMA.join(values)},{BREAK}{to}{strides});", 2)

        names = [[f"{side}{n}" for n in range(len(kernel.loads))] for side in "yz"]
        halves = [
            [f"{p}{half}_halves({y}, {z})" for y, z in zip(*names, strict=True)]
            for half in ("low", "high")
        ]
        rows = [
            [f"{own} = {text}" for own, text in zip(side, loaded(second, 0), strict=True)]
            for second, side in enumerate(names)
        ]
        return [
            *self.template,
            *start.split("\n"),
            *body,
            "}",
            *head("block"),
            "#ifdef __AVX2__",
            *self._named(V, rows[0], kernel),
            *self._named(V, rows[1], kernel),
            *(exchanged(halves[square], 0, square) for square in (0, 1)),
            "#else",
            *(exchanged(loaded(n, square), n, square) for square in (0, 1) for n in (0, 1)),
            "#endif",
            "}",
        ]

    def _apart(self, kernel: Kernel, side: int, stem: str) -> Node:
        """How far apart both blocks of a pair are."""
        if kernel.pair is None:
            return const(0)
        found = kernel.apart(side)
        if found is not None:
            return const(found)
        size, stride = kernel.block[kernel.pair], var(f"{stem}{kernel.pair}")
        return stride if size == 1 else made("mul", size, stride)

    def _at(self, array: str, place: Any, stem: str, strides: list[int]) -> str:
        index, beyond = place
        offset = const(0)
        for k in strides:
            if index[k]:
                term = var(f"{stem}{k}")
                term = term if index[k] == 1 else made("mul", index[k], term)
                offset = term if offset == const(0) else made("add", offset, term)
        offset = plus(offset, beyond)
        return array if offset == const(0) else f"{array} + {self.text(offset, 12)}"

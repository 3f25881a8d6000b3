"""What languages for GPUs share of copies: words with names, guards, tiles and barriers, spelled by a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from lego_emit.emit.nests import NestForms, NestLines
from lego_emit.emit.ops import BREAK
from lego_emit.ir.grids import (
    PART,
    THREADS,
    TILE,
    VECTOR,
    Aligned,
    Barrier,
    Holds,
    Items,
    Load,
    Mix,
    Pieces,
    Spread,
    Store,
    tile_bytes,
    words,
)
from lego_emit.ir.nests import DESTINATION, SOURCE, Each, Ref, walk
from lego_emit.ir.nodes import Node, made, var

COMMA = f",{BREAK}"
MOST_UNROLLED = 8  # rounds of a loop


@dataclass(frozen=True)
class ThreadForms:
    """How a language spells threads. {I}: the type of sizes; {threads}: of a block.

    words, zeros: the type of a word of so many bytes, and its zero. pieces, items, spread: the heads of loops of {name} and
    {count}; rounds, item: of one of as many items for each thread, and the item; unroll: what stands before one, of {rounds}; word: a named word of {W}, {name} and {value}; choice: of
    {condition}, {value} and {zero}; wait: at a barrier; aligned: that both memories begin at a multiple of {bytes}; truth: of
    {name} and {expr}; call: the places of an index.
    """

    words: dict[int, str] = field(default_factory=dict)
    zeros: dict[int, str] = field(default_factory=dict)
    pieces: str = ""
    items: str = ""
    rounds: str = ""
    item: str = ""
    spread: str = ""
    unroll: str = ""
    word: str = "const {W} {name} = {value};"
    choice: str = f"{{condition}} ?{BREAK}{{value}} :{BREAK}{{zero}}"
    wait: str = ""
    aligned: str = ""
    truth: str = "const bool {name} = {expr};"
    call: str = "const {places} at = {call};"


class LinesInThreads(NestLines):
    """The lines of a kernel's body."""

    forms = NestForms()
    threads = ThreadForms()

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        self.word = gcd(routine.element_bytes, VECTOR)
        self.parts = routine.element_bytes // self.word
        self.sizes = words(routine.body) or [self.word]
        self.tile_bytes = tile_bytes(routine.body)

    own_names: Mapping[str, str] = {}  # of what a kernel is told of its thread, as forms have them

    @property
    def own(self) -> dict[str, str]:
        """These names, beside those of sizes."""
        return {key: self.free(name) for key, name in self.own_names.items()}

    def free(self, name: str) -> str:
        """A name that no size has."""
        return name if name not in self.names.values() else self.free(f"{name}_")

    # -- words ---------------------------------------------------------------------------------------

    def at(self, ref: Ref, size: int) -> str:
        """A word in a memory or in the tile."""
        return f"{ref.array}{size}[{self.text(ref.offset)}]"

    def condition(self, node: Node) -> str:
        """A condition as text."""
        return self.text(node) if node.op != "land" else self.joined(self.conditions(node), "land")

    def load(self, s: Load, indent: int) -> list[str]:
        """A word, or zero."""
        t, value = self.threads, self.at(s.of, s.bytes)
        if s.condition is not None:
            condition = self.condition(s.condition)
            value = t.choice.format(condition=condition, value=value, zero=t.zeros[s.bytes])
        return [self.line(t.word.format(W=t.words[s.bytes], name=s.name, value=value), indent)]

    def store(self, s: Store, indent: int) -> list[str]:
        """A word into memory, where there is a place for it."""
        text = f"{self.at(s.to, s.bytes)} = {s.name or self.threads.zeros[s.bytes]};"
        if s.condition is None:
            return [self.line(text, indent)]
        head = self.forms.when.format(expr=self.condition(s.condition))
        own = self.line(text, indent + self.forms.indent)
        return [self.line(head, indent), own, self.line(self.forms.end.format(), indent)]

    def mix(self, s: Mix, indent: int) -> list[str]:
        """The bytes of two words as one."""
        t = self.threads
        return [self.line(t.word.format(W=t.words[4], name=s.name, value=self.mixed(s)), indent)]

    def mixed(self, s: Mix) -> str:
        """Shifts and masks: bytes that move equally far are moved together."""
        parts: dict[tuple[str, int], int] = {}
        for k, lane in enumerate(s.lanes):
            word, of = (s.x, lane) if lane < 4 else (s.y, lane - 4)
            parts[word, k - of] = parts.get((word, k - of), 0) | 0xFF << 8 * k
        texts = [self.part(word, by, mask) for (word, by), mask in parts.items()]
        return f"{BREAK}| ".join(texts)

    def part(self, word: str, by: int, mask: int) -> str:
        """The bytes of a word that a mask has after they are moved by so many."""
        distance = 8 * abs(by)
        moved = (
            f"{word} << {distance}{self.distance}"
            if by > 0
            else f"{word} >> {distance}{self.distance}"
        )
        whole = 2**32 - 1
        fitting = whole & whole << distance if by > 0 else whole >> distance
        if mask == fitting:
            return f"({moved})" if by else word
        return f"(({moved}) & {mask:#x}u)" if by else f"({word} & {mask:#x}u)"

    distance = ""  # what stands behind the number of bits of a shift

    def each(self, s: Each, indent: int) -> list[str]:
        """A call, and an element or a word of it."""
        call = (
            f"{self.routine.functions[-1]}({', '.join(self.names.get(n, n) for n in s.arguments)})"
        )
        found = [self.line(self.threads.call.format(places=self.places, call=call), indent)]
        moved = f"{self.place_of(DESTINATION)} = {self.place_of(SOURCE)};"
        if s.masked:
            places = [f"{self.member(array)} >= 0" for array in (SOURCE, DESTINATION)]
            holds = self.joined(places, "land")
            found.append(self.line(self.forms.when.format(expr=holds), indent))
            found.append(self.line(moved, indent + self.forms.indent))
            return [*found, self.line(self.forms.end.format(), indent)]
        return [*found, self.line(moved, indent)]

    def member(self, array: str) -> str:
        """The place that a call gives."""
        return f"at.{self.printer.naming.local('source_place' if array == SOURCE else 'destination_place')}"

    def place_of(self, array: str) -> str:
        """The word that a call gives the place of."""
        node = var(self.member(array))
        if self.parts > 1:
            node = made("add", made("mul", self.parts, node), var(PART))
        return f"{array}{self.word}[{self.text(node)}]"

    # -- threads -------------------------------------------------------------------------------------

    def _around(self, form: str, s: Any, count: str, indent: int) -> list[str]:
        head = form.format(I=self.integer, name=s.name, count=count, threads=THREADS, **self.own)
        inside = self.lines(s.body, indent + self.forms.indent)
        return [self.line(head, indent), *inside, self.line(self.forms.end_loop.format(), indent)]

    def _counted(self, s: Any) -> str:
        return self.text(s.count, self.printer.ops["lt"].needs[1])

    def pieces(self, s: Pieces, indent: int) -> list[str]:
        """The pieces of a block."""
        return self._around(self.threads.pieces, s, self._counted(s), indent)

    def items(self, s: Items, indent: int) -> list[str]:
        """The items of a thread. Where all threads have equally many, compilers know how many."""
        rounds, rest = divmod(s.count, THREADS)
        if rest or rounds == 1:
            return self._around(self.threads.items, s, str(s.count), indent)
        within = indent + self.forms.indent
        first = self.free("k")
        head = self.threads.rounds.format(first=first, count=s.count, threads=THREADS)
        own = self.threads.item.format(I=self.integer, name=s.name, first=first, **self.own)
        found = [self.line(head, indent), self.line(own, within), *self.lines(s.body, within)]
        if self.threads.unroll:
            most = "" if rounds <= MOST_UNROLLED else f" {MOST_UNROLLED}"
            found.insert(0, self.line(self.threads.unroll.format(rounds=most), indent))
        return [*found, self.line(self.forms.end_loop.format(), indent)]

    def spread(self, s: Spread, indent: int) -> list[str]:
        """The numbers of a thread."""
        return self._around(self.threads.spread, s, self._counted(s), indent)

    def barrier(self, s: Barrier, indent: int) -> list[str]:
        """All threads of the block wait."""
        return [self.line(self.threads.wait, indent)]

    def holds(self, s: Holds, indent: int) -> list[str]:
        """A truth, of a thread."""
        text = self.threads.truth.format(name=s.name, expr=self.condition(s.condition))
        return [self.line(text, indent)]

    def aligned(self, s: Aligned, indent: int) -> list[str]:
        """A truth, of sizes and of both memories' addresses."""
        texts = self.conditions(s.condition)
        if self.threads.aligned:
            texts.append(self.threads.aligned.format(bytes=s.bytes))
        expr = self.joined(texts, "land") if texts else "true"
        return [self.line(self.threads.truth.format(name=s.name, expr=expr), indent)]

    # -- what is around --------------------------------------------------------------------------------

    def reads(self, array: str, size: int) -> bool:
        """Whether there are words of so many bytes in a memory, or in the tile."""
        if any(isinstance(s, Each) for s in walk(self.routine.body)):
            return size == self.word and array != TILE
        refs = [(s.of, s.bytes) for s in walk(self.routine.body) if isinstance(s, Load)]
        refs += [(s.to, s.bytes) for s in walk(self.routine.body) if isinstance(s, Store)]
        return any(ref.array == array and own == size for ref, own in refs)

    @property
    def has_tile(self) -> bool:
        """Whether threads share memory."""
        return self.tile_bytes > 0

    def docs(self, *more: str) -> list[str]:
        """The paragraphs of the kernel's comment."""
        r = self.routine
        return [
            r.summary,
            self.memories_said,
            f"@param src {self.inline(r.source)} elements",
            f"@param dst {self.inline(r.destination)} elements",
            *([self.aligned_said] if self.aligned_said else []),
            *more,
        ]

    @property
    def aligned_said(self) -> str:
        """Where memories begin; "" where that is anywhere."""
        said = f"@pre Both memories begin at a multiple of {self.word} bytes"
        return said if self.word > 1 else ""

    def unread(self) -> list[str]:
        """The sizes that the body does not name."""
        read: set[str] = set()
        for s in walk(self.routine.body):
            read |= {name for name in getattr(s, "arguments", ())}
            for value in vars(s).values():
                for one in value if isinstance(value, tuple) else (value,):
                    node = getattr(one, "offset", one)
                    if isinstance(node, Node):
                        read |= {str(n.value) for n in node.walk() if n.op == "var"}
        return [name for old, name in self.names.items() if old not in read]

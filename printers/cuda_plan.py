"""A plan's device function in CUDA C: what its template sees, and the index functions it calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from lego_emit.algebra.linear import Linear
from lego_emit.emit.printer import BREAK
from lego_emit.hardware import LANE, WARP
from lego_emit.plans.plan import Plan
from lego_emit.plans.steps import (
    Barrier,
    Load,
    Pack,
    Shuffle,
    Step,
    Store,
    Swap,
    Take,
    Vectors,
    counted,
)
from lego_emit.printers.c_family import CxxPrinter

WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
VECTORS = {**WORDS, 8: "uint2", 16: "uint4"}

REGISTERS = 2**16  # of a multiprocessor, for all threads of a block
SPARE = 16  # of a thread's, for addresses and one vector

S = TypeVar("S", bound=Step)


class Text:
    """What the template sees of a conversion."""

    template = "conversion.jinja"

    def __init__(self, conversion: Any, printer: CxxPrinter):
        self.conversion, self._printer = conversion, printer

    @property
    def title(self) -> str:
        """What the comment at the head of the file says."""
        return f"From one register layout of a tile to another: {_kinds(self.conversion)}."

    def _all(self, kind: type[S]) -> list[S]:
        return [step for step in self.conversion.steps if isinstance(step, kind)]

    @property
    def called(self) -> dict[str, tuple[str, Linear]]:
        """The index functions that are called, by their names: what each gives, and as bits."""
        called = [c for c in map(_called, self.conversion.steps) if c and not is_plain(c[2])]
        return {f"{self.conversion.name}_{what}": (says, at) for what, says, at in called}

    @property
    def packs(self) -> bool:
        """Whether elements become words or vectors."""
        return bool(self._all(Pack) or self._all(Vectors))

    @property
    def unpacks_values(self) -> bool:
        """Whether a vector is unpacked from a copy of its own, whose bytes are quicker to get at; not
        where a thread has no registers left for it."""
        pair = self.conversion.pair
        threads = 32 << len(pair.start.warps)
        held = pair.elements * self.conversion.element_bytes // 4
        return held + SPARE <= min(255, REGISTERS // threads)

    @property
    def swaps_pairs(self) -> bool:
        """Whether two words change places."""
        return any(k ^ s.by in s.outputs for s in self._all(Swap) for k in s.outputs)

    @property
    def parameters(self) -> str:
        """Those of the device function, between BREAK marks."""
        before, after = self.conversion.registers
        given = [f"const T (&from)[{before}]", f"T (&to)[{after}]"]
        given += ["void* shared"] if self.conversion.memory is not None else []
        return f",{BREAK}".join(given)

    # -- what it says --------------------------------------------------------------------------

    @property
    def docs(self) -> list[str]:
        """The doc comment's lines."""
        c = self.conversion
        lines = [
            "What each thread shall hold of a tile, of what all of them hold.",
            f"@param from {bits_said(c.start)}",
            f"@param to {bits_said(c.end)}; another array than from",
        ]
        lines += self._promises(c.shared_bytes, c.memory is not None or bool(c.shuffles))
        return [part for line in lines for part in self._printer.comment(line, "///")]

    def _promises(self, shared_bytes: int, together: bool) -> Iterator[str]:
        """The doc comment's lines of what callers owe."""
        each = "" if self.conversion.warps > 1 else " for each warp"
        if shared_bytes:
            yield f"@param shared {shared_bytes} bytes{each}, aligned to 16"
        if together:
            yield f"@pre {self._callers()}"
        if shared_bytes:
            yield (
                "@note Before the memory is used again, a barrier of all threads that use it is needed"
            )

    def _callers(self) -> str:
        c = self.conversion
        who = "All lanes of a warp call it together"
        if c.warps > 1:
            who = f"All threads of {c.warps} warps call it together"
            if not self._is_block:
                who = f"All lanes of a warp call it together, of {c.warps} warps"
        at = f"{LANE} = threadIdx.x % 32" + f", {WARP} = threadIdx.x / 32" * (c.warps > 1)
        return f"{who}; {at}"

    @property
    def _is_block(self) -> bool:
        return any(step.block for step in self._all(Barrier))

    # -- what it does --------------------------------------------------------------------------

    @property
    def statements(self) -> list[str | None]:
        """The statements, with BREAK marks; None for an empty line."""
        c = self.conversion
        if not c.steps:
            every = f"for (int k = 0; k < {c.registers[0]}; ++k) to[k] = from[k];"
            return ["#pragma unroll", every]
        if c.memory is not None:
            body = [*self._through_memory()]
        elif self._all(Pack):
            body = [*self._through_words()]
        else:
            (take,) = self._all(Take)
            body = [f"to[{k}] = from[{j}];" for k, j in enumerate(take.registers)]
        return [*self._threads(body), *body]

    def _threads(self, body: Sequence[str | None]) -> Iterator[str]:
        """The declarations of what the statements use."""
        conditions = {_condition(s)[0]: _condition(s)[1] for s in self._all(Swap)}
        text = "\n".join([*(line or "" for line in body), *conditions.values()])
        if LANE in _words(text):
            yield f"const int {LANE} = static_cast<int>(threadIdx.x % 32u);"
        if WARP in _words(text):
            yield f"const int {WARP} = static_cast<int>(threadIdx.x / 32u);"
        for name, value in conditions.items():
            yield f"const bool {name} = {value};"

    def _start(self, step: Step) -> str:
        """The value of a step's index function."""
        called = _called(step)
        assert called is not None
        what, _, at = called
        if is_plain(at):
            return at.coordinates[0]
        return f"{self.conversion.name}_{what}({', '.join(at.coordinates)})"

    # -- through words -------------------------------------------------------------------------

    def _through_words(self) -> Iterator[str | None]:
        steps = self.conversion.steps
        middle = next(k for k, s in enumerate(steps) if k > 1 and isinstance(s, Shuffle | Take))
        order, moved = steps[0], steps[middle]
        before = [s for s in steps[:middle] if isinstance(s, Swap)]
        after = [s for s in steps[middle:] if isinstance(s, Swap)]
        assert isinstance(order, Take) and isinstance(moved, Shuffle | Take)
        sent = moved.words if isinstance(moved, Shuffle) else moved.registers
        elements = self._all(Pack)[0].elements
        size = elements * self.conversion.element_bytes
        carrier = WORDS[max(size, 4)]
        yield None
        yield f"{carrier} word[{len(order.registers) // elements}];"
        for k in before[0].inputs if before else sorted({*sent}):
            packed = order.registers[k * elements : (k + 1) * elements]
            yield f"word[{k}] = {self._packed(WORDS[size], packed)};"
        yield from self._swapped("word", before)
        array, places = "moved", range(len(sent))
        if isinstance(moved, Shuffle):
            yield from self._shuffled(moved, carrier)
        elif not after or sent == tuple(places):
            array, places = "word", sent
        else:
            yield None
            yield f"{carrier} moved[{len(sent)}];"
            yield from (f"moved[{k}] = word[{j}];" for k, j in enumerate(sent))
        yield from self._swapped(array, after)
        yield None
        last = steps[-1]
        assert isinstance(last, Take)
        values = [(f"{array}[{k}]", elements) for k in places]
        yield from self._unpacked(values, last.registers)

    def _shuffled(self, step: Shuffle, carrier: str) -> Iterator[str | None]:
        yield None
        if not step.stays:
            yield f"const int source = {self._start(step)};"
        yield f"{carrier} moved[{len(step.words)}];"
        for k, (word, lane) in enumerate(zip(step.words, step.lanes, strict=True)):
            value = f"word[{word}]"
            if step.stays and lane:
                value = f"__shfl_xor_sync(0xffffffffu, {value}, {lane})"
            elif not step.stays:
                where = f"source ^ {lane}" if lane else "source"
                value = f"__shfl_sync(0xffffffffu, {value}, {where})"
            yield f"moved[{k}] = {value};"

    def _swapped(self, array: str, steps: Sequence[Swap]) -> Iterator[str | None]:
        yield from [None] * bool(steps)
        for step in steps:
            chosen = _condition(step)[0]
            for k in step.outputs:
                other = k ^ step.by
                if other not in step.outputs:
                    yield f"{array}[{k}] = {chosen} ? {array}[{other}] : {array}[{k}];"
                elif k < other:
                    yield f"{self.conversion.name}_swap({chosen}, {array}[{k}], {array}[{other}]);"

    # -- through memory ------------------------------------------------------------------------

    def _stored(self) -> Iterator[str | None]:
        """The stores, and the barrier."""
        (stored,), (barrier,) = self._all(Store), self._all(Barrier)
        yield None
        yield from self._memory("stored", stored)
        guard = [f"if (({WARP} & {stored.idle}) == 0) {{"] if stored.idle else []
        yield from guard
        for constant, registers in stored.vectors:
            packed = self._packed(VECTORS[stored.width], registers)
            place = self._place(stored, "store_at", constant)
            yield f"{'  ' * len(guard)}stored[{place}] = {packed};"
        yield from ["}"] * len(guard)
        yield "__syncthreads();" if barrier.block else "__syncwarp();"
        yield None

    def _through_memory(self) -> Iterator[str | None]:
        (loaded,), (take,) = self._all(Load), self._all(Take)
        yield from self._stored()
        yield from self._memory("loaded", loaded, "const ")
        values = [
            (f"loaded[{self._place(loaded, 'load_at', constant)}]", len(registers))
            for constant, registers in loaded.vectors
        ]
        # Two bytes are quicker to get at in a word, which is zero above them.
        kind = f"<{WORDS[4]}>" if loaded.width == 2 > loaded.element_bytes else ""
        yield from self._unpacked(values, take.registers, kind)

    def _memory(self, name: str, step: Vectors, const: str = "") -> Iterator[str]:
        kind = f"{const}{VECTORS[step.width]}*"
        yield f"{kind} const {name} = static_cast<{kind}>(shared);"
        if any(step.at.columns):
            yield f"const int {'store_at' if name == 'stored' else 'load_at'} = {self._start(step)};"

    @staticmethod
    def _place(step: Vectors, start: str, constant: int) -> str:
        """An index of vectors: what no thread's start has is added, the rest by exclusive or."""
        bits = _log2(len(step.vectors[0][1]))
        taken = 0
        for column in step.at.columns:
            taken |= column
        inside, beyond = constant & taken, (constant & ~taken) >> bits
        if not taken:
            return str(beyond)
        text = f"{start} ^ {inside >> bits}" if inside else start
        if beyond:
            return f"({text}) + {beyond}" if inside else f"{text} + {beyond}"
        return text

    # -- elements and words --------------------------------------------------------------------

    def _packed(self, kind: str, registers: Sequence[int]) -> str:
        given = f",{BREAK}".join(f"from[{r}]" for r in registers)
        return f"{self.conversion.name}_packed<{kind}>({given})"

    def _unpacked(
        self, values: Sequence[tuple[str, int]], registers: Sequence[int], kind: str = ""
    ) -> Iterator[str]:
        """The statements that put elements to registers. values: the texts of words or vectors, with
        how many elements each has; registers: for each the element that it becomes; kind: what the values are
        taken for."""
        first: dict[int, int] = {}
        for register, element in enumerate(registers):
            first.setdefault(element, register)
        start = 0
        for text, count in values:
            if start not in first:
                break
            given = f",{BREAK}".join(f"to[{first[start + k]}]" for k in range(count))
            yield f"{self.conversion.name}_unpack{kind}({text},{BREAK}{given});"
            start += count
        for register, element in enumerate(registers):
            if first[element] != register:
                yield f"to[{register}] = to[{first[element]}];"


# -- what a step calls -----------------------------------------------------------------------------


def _called(step: Step) -> tuple[str, str, Linear] | None:
    """The index function of a step: its name's end, what it gives, and the function of those of lane
    and warp that make a difference. None where it has none."""
    if isinstance(step, Shuffle) and not step.stays:
        return (
            "source",
            "The lane that another one reads, for a constant of 0.",
            used_inputs(step.source),
        )
    if isinstance(step, Vectors) and any(step.at.columns):
        bits = _log2(len(step.vectors[0][1]))
        (name, wide), *_ = step.at.outs
        columns = [c >> bits for c in step.at.columns]
        at = Linear._made(step.at.ins, [(name, wide - bits)], columns)
        if isinstance(step, Store):
            return (
                "store",
                f"Where a thread's stores start, in units of {counted(step.width, 'byte')}.",
                used_inputs(at),
            )
        return (
            "load",
            f"Where a thread's loads start, in units of {counted(step.width, 'byte')}.",
            used_inputs(at),
        )
    return None


def used_inputs(at: Linear) -> Linear:
    """Without the inputs that make no difference, but for one."""
    names = [n for n, images in at.bases.items() if any(x for (x,) in images)]
    return at.sublayout(names or at.coordinates[:1], at.results)


def is_plain(at: Linear) -> bool:
    """Whether it is its one input."""
    return len(at.ins) == 1 and all(c == 1 << k for k, c in enumerate(at.columns))


def _condition(step: Swap) -> tuple[str, str]:
    """The name and the text of what a swap depends on."""
    masks = [(n, m) for n, m in ((LANE, step.lane), (WARP, step.warp)) if m]
    name = "_".join(f"{n}_{m}" for n, m in masks)
    if len(masks) == 1 and masks[0][1].bit_count() == 1:
        return name, f"({masks[0][0]} & {masks[0][1]}) != 0"
    counted = " + ".join(f"__popc({n} & {m})" for n, m in masks)
    bits = f"({counted})" if len(masks) > 1 else counted
    return f"odd_{name}", f"({bits} & 1) != 0"


def _log2(n: int) -> int:
    return n.bit_length() - 1


def _words(text: str) -> set[str]:
    return {*re.findall(r"\w+", text)}


def bits_said(layout: Linear) -> str:
    """A layout in a line of a comment: what the bits of each input add."""
    bases = {n: [x[0] if len(x) == 1 else x for x in images] for n, images in layout.bases.items()}
    parts = [f"{n} {', '.join(map(str, images))}" for n, images in bases.items() if images]
    first = f" from {', '.join(map(str, layout.offset.values()))} on" if layout.start else ""
    return (
        f"where the bits add to {', '.join(layout.results)}{first}: {'; '.join(parts) or 'nothing'}"
    )


def _kinds(c: Plan) -> str:
    """What it does, counted."""
    if not c.steps:
        return "they are the same"
    if c.memory is not None:
        ends = [s for s in c.steps if isinstance(s, Vectors)]
        ends_said = [
            f"{counted(len(s.vectors), verb)} of {counted(s.width, 'byte')}"
            for s, verb in zip(ends, ("store", "load"), strict=True)
        ]
        return f"{ends_said[0]}, a barrier, {ends_said[1]}"
    parts = [(c.shuffles, "shuffle"), (c.selects, "select")]
    said = [counted(n, what) for n, what in parts if n]
    return ", ".join(said) or "register moves"

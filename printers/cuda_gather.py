"""A gather's device function in CUDA C: what its template sees, and the index functions it calls."""

from __future__ import annotations

from collections.abc import Iterator

from lego_emit.algebra.linear import Linear
from lego_emit.emit.printer import BREAK
from lego_emit.plans.gather import Choice, Fetched, GatherPlan, Shuffled
from lego_emit.plans.steps import counted
from lego_emit.printers.c_family import CxxPrinter
from lego_emit.printers.cuda_plan import VECTORS, WORDS, Text, bits_said, is_plain, used_inputs


class GatherText(Text):
    """What the template sees of a gather."""

    template = "gather.jinja"

    def __init__(self, gather: GatherPlan, printer: CxxPrinter):
        super().__init__(gather, printer)
        self.gather, self.plan = gather, gather.plan

    @property
    def title(self) -> str:
        """What the comment at the head of the file says."""
        return f"A gather of a tile in registers: {_kinds(self.gather)}."

    @property
    def picks(self) -> bool:
        """Whether one of several words is picked."""
        plan = self.plan
        return isinstance(plan, Shuffled) and plan.words > plan.at_once and plan.together == 1

    @property
    def has_elements(self) -> bool:
        """Whether elements are picked out of words."""
        return isinstance(self.plan, Shuffled) and self.plan.inside > 0

    @property
    def word_names(self) -> list[str]:
        """The words that elements are permuted out of."""
        assert isinstance(self.plan, Shuffled)
        return ["low", "high", "third", "fourth"][
            : max(2, self.plan.words * (self.plan.together > 1))
        ]

    @property
    def has_halves(self) -> bool:
        """Whether words that are permuted have two bytes, and the upper half of each is zero."""
        assert isinstance(self.plan, Shuffled)
        return self.plan.words > 1 and self.gather.element_bytes << self.plan.inside == 2

    @property
    def key_bits(self) -> int:
        """How far apart the keys of elements that are picked together are: a byte's number has four bits."""
        return 4 * self.gather.element_bytes

    @property
    def permuted_parameters(self) -> str:
        """What picking several elements needs to know."""
        assert isinstance(self.plan, Shuffled)
        given = [f"unsigned {name}" for name in (*self.word_names, *["start"] * self.starts)]
        return f",{BREAK}".join([*given, *(f"int key{k}" for k in range(self.plan.together))])

    @property
    def starts(self) -> bool:
        """Whether something is added to the keys of elements that are picked together."""
        plan = self.plan
        assert isinstance(plan, Shuffled)
        return any(plan.own.columns) or any(choice.key for choice in plan.choices)

    @property
    def joined_keys(self) -> str:
        """The keys of several elements as one number."""
        assert isinstance(self.plan, Shuffled)
        parts = (f"{1 << self.key_bits * k} * key{k}" for k in range(1, self.plan.together))
        return " + ".join(["key0", *parts])

    @property
    def packs(self) -> bool:
        """Whether elements are packed into words: always in a gather."""
        return True

    @property
    def _parts(self) -> dict[str, tuple[str, Linear]]:
        """What is asked of the thread and of the index: the name's end, the summary, the function."""
        plan = self.plan
        if isinstance(plan, Fetched):
            return {
                "start": ("Where an index of 0 is read, in elements.", plan.start),
                "at": (
                    f"What an index adds to it{'' if plan.is_added else ' by exclusive or'}.",
                    plan.at,
                ),
            }
        return {
            "source": ("The lane that is read for an index of 0.", plan.start),
            "lane": ("What an index adds to it by exclusive or.", plan.lane),
            "own": ("The element of that lane's that an index of 0 means.", plan.own),
            "key": ("What an index adds to it by exclusive or.", plan.key),
        }

    @property
    def called(self) -> dict[str, tuple[str, Linear]]:
        """The index functions that are called."""
        made = super().called
        for what, (says, at) in self._parts.items():
            used = used_inputs(at)
            if any(at.columns) and not is_plain(used):
                made[f"{self.gather.name}_{what}"] = says, used
        return made

    def _part(self, what: str, index: str = "") -> str:
        """The value of a part, "" where it is zero. index: what stands for the index."""
        at = self._parts[what][1]
        used = used_inputs(at)
        given = index or ", ".join(used.coordinates)
        if not any(at.columns):
            return ""
        return given if is_plain(used) else f"{self.gather.name}_{what}({given})"

    @property
    def pick_parameters(self) -> str:
        """What a pick needs to know."""
        assert isinstance(self.plan, Shuffled)
        given = [f"const W (&words)[{self.plan.words}]"]
        given += ["int lane"] * self.plan.moves + ["int key"] * (self.plan.words > 1)
        return ", ".join(given)

    @property
    def parameters(self) -> str:
        """Those of the device function, between BREAK marks."""
        n = self.gather.registers
        unused = "[[maybe_unused]] " * (self.gather.layout.out_dims[self.gather.axis] == 1)
        given = [f"const T (&from)[{n}]", f"{unused}const int (&index)[{n}]", f"T (&to)[{n}]"]
        given += ["void* shared"] if isinstance(self.plan, Fetched) else []
        return f",{BREAK}".join(given)

    @property
    def docs(self) -> list[str]:
        """The doc comment's lines."""
        g = self.gather
        lines = [
            f"The elements that index names along {g.axis}, the other coordinates as they are.",
            f"@param from {bits_said(g.layout)}",
            f"@param index of each element that is asked for, 0 <= index < {g.layout.out_dims[g.axis]}",
            "@param to another array than from",
            *self._promises(g.shared_bytes, isinstance(g.plan, Fetched) or bool(g.shuffles)),
        ]
        return [part for line in lines for part in self._printer.comment(line, "///")]

    @property
    def statements(self) -> list[str | None]:
        """The statements, with BREAK marks; None for an empty line."""
        plan = self.plan
        body = [*(self._fetched(plan) if isinstance(plan, Fetched) else self._picked(plan))]
        return [*self._threads(body), *body]

    def _fetched(self, plan: Fetched) -> Iterator[str | None]:
        yield from self._stored()
        kind = VECTORS[self.gather.element_bytes]
        yield f"const {kind}* const loaded = static_cast<const {kind}*>(shared);"
        start = self._part("start")
        if start:
            yield f"const int start = {start};"
        for register, constant in enumerate(plan.constants):
            if plan.same[register] != register:
                yield f"to[{register}] = to[{plan.same[register]}];"
                continue
            terms = ["start"] * bool(start), self._part("at", f"index[{register}]"), constant
            place = _added(*terms, "+" if plan.is_added else "^")
            yield f"{self.gather.name}_unpack(loaded[{place}],{BREAK}to[{register}]);"

    def _picked(self, plan: Shuffled) -> Iterator[str | None]:
        size = self.gather.element_bytes << plan.inside
        carrier = WORDS[max(4, size)]
        elements = 1 << plan.inside
        for number, group in enumerate(plan.groups):
            yield None
            yield f"{carrier} word{number}[{plan.words}];"
            for k in range(plan.words):
                held, lane = k % plan.held, plan.gathered[k // plan.held]
                value = self._packed(WORDS[size], group[held * elements : (held + 1) * elements])
                if lane:
                    value = f"__shfl_xor_sync(0xffffffffu, word{number}[{held}], {lane})"
                yield f"word{number}[{k}] = {value};"
        yield None
        source, own = self._part("source"), self._part("own")
        if plan.moves and source:
            yield f"const int source = {source};"
        if plan.together > 1:
            yield from self._permuted(plan, own)
        elif own:
            yield f"const int own = {own};"
        for register, choice in enumerate(plan.choices):
            if choice.same != register:
                yield f"to[{register}] = to[{choice.same}];"
            elif plan.together == 1:
                yield from self._pick(plan, register, choice, (bool(source), bool(own)))

    def _permuted(self, plan: Shuffled, own: str) -> Iterator[str]:
        """The elements of each word, out of the words of its group."""
        if own:
            every = sum(1 << self.key_bits * k for k in range(plan.together))
            yield f"const unsigned own = {every:#x}u * static_cast<unsigned>({own});"
        for number, group in enumerate(plan.groups):
            words = [f"word{number}[{k}]" for k in range(plan.words)] + ["0u"] * (2 - plan.words)
            for k in range(0, len(group), plan.together):
                registers = group[k : k + plan.together]
                fixed = sum(
                    plan.choices[r].key << self.key_bits * n for n, r in enumerate(registers)
                )
                start = [
                    _added(["own"] * bool(own), f"{fixed:#x}u" if fixed else "0u" * (not own), 0)
                ]
                keys = [self._part("key", f"index[{r}]") or "0" for r in registers]
                given = f",{BREAK}".join([*words, *start * self.starts, *keys])
                names = f",{BREAK}".join(f"to[{r}]" for r in registers)
                yield f"{self.gather.name}_unpack({self.gather.name}_elements({given}),{BREAK}{names});"

    def _pick(
        self, plan: Shuffled, register: int, choice: Choice, known: tuple[bool, bool]
    ) -> Iterator[str]:
        index, name = f"index[{register}]", self.gather.name
        words, lane = f"word{choice.group}", ""
        if plan.moves:
            lane = _added(["source"] * known[0], self._part("lane", index), choice.lane)
        key = _added(["own"] * known[1], self._part("key", index), choice.key)
        if plan.words > plan.at_once:
            inside = ""
            if plan.inside:
                yield f"const int key{register} = {key};"
                inside, key = (
                    f"key{register} & {(1 << plan.inside) - 1}",
                    f"key{register} >> {plan.inside}",
                )
            given = f",{BREAK}".join([words, *[lane] * plan.moves, key])
            parts, key = [f"{name}_pick({given})"], inside
        else:
            if plan.moves and plan.words > 1:
                yield f"const int lane{register} = {lane};"
                lane = f"lane{register}"
            parts = [f"{words}[{k}]" for k in range(plan.words)]
            if plan.moves:
                parts = [f"__shfl_sync(0xffffffffu,{BREAK}{part},{BREAK}{lane})" for part in parts]
        word = parts[0]
        if plan.inside:
            given = f",{BREAK}".join([*parts, *["0u"] * (2 - len(parts)), key])
            word = f"{name}_element({given})"
        yield f"{name}_unpack({word},{BREAK}to[{register}]);"


def _added(known: list[str], part: str, constant: int, sign: str = "^") -> str:
    """Terms that exclusive or joins, or another sign."""
    terms = [*known, *[part] * bool(part), *[str(constant)] * bool(constant)]
    return f" {sign} ".join(terms) or "0"


def _kinds(gather: GatherPlan) -> str:
    """What it does, counted."""
    if isinstance(gather.plan, Fetched):
        return f"{counted(gather.stores, 'store')}, a barrier, {counted(gather.loads, 'load')}"
    parts = [(gather.shuffles, "shuffle"), (gather.selects, "select")]
    return ", ".join(counted(n, what) for n, what in parts if n) or "bytes of words"

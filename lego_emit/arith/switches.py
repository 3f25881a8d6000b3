"""What a switch does, as data: for each number of its tag results over symbols of its own.

An atom switch(Switch, k, tag, *taken) is the k-th result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..intervals import Interval
from .evaluate import Undefined, evaluate, holds
from .expr import Cond, Expr
from .loops import said
from .terms import Atom, bounded_key


@dataclass(eq=False)
class Switch:
    """The cases of a switch. keys: the numbers of the tag, and labels: what each is called, "" for nothing;
    taken: the symbols of what the cases read from outside; outputs: the results of each case; bounds: of each
    result in all of them; shown: what the tag and the results are called in a program; guard: the
    branch that the switch is in, elsewhere it is the last case, None where it is in none; known: an Analyzer for
    each case, of what is known where the tag is its number; key: a text that is the same for equal switches
    everywhere, and what is known of them."""

    keys: tuple[int, ...]
    labels: tuple[str, ...]
    taken: tuple[str, ...]
    outputs: tuple[tuple[Expr, ...], ...]
    bounds: tuple[Interval, ...]
    shown: tuple[str, ...]
    guard: Cond | None
    known: tuple[Any, ...]
    key: str = field(init=False)

    def __post_init__(self) -> None:
        cases = [
            f"{key}:{label}:{','.join(e.key for e in outputs)}"
            for key, label, outputs in zip(self.keys, self.labels, self.outputs, strict=True)
        ]
        rest = [
            ",".join(self.taken),
            *map(str, self.bounds),
            self.guard.key if self.guard else "",
            *map(said, self.known),
        ]
        self.key = bounded_key(";".join((*cases, *rest)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Switch) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> Any:
        own = (self.keys, self.labels, self.taken, self.outputs, self.bounds)
        return Switch, (*own, self.shown, self.guard, ())  # what is known is of this process

    def values(self, tag: int, *given: int) -> list[int]:
        """The results. given: what is taken. Raises Undefined where no case has the tag."""
        values = dict(zip(self.taken, given, strict=True))
        if self.guard is not None and not holds(self.guard, values):
            return [evaluate(e, values) for e in self.outputs[-1]]
        if tag not in self.keys:
            raise Undefined
        return [evaluate(e, values) for e in self.outputs[self.keys.index(tag)]]

    def under(self, known: Any, given: Sequence[Expr]) -> Cond | None:
        """The branch that it is in, of what is taken. known: an Analyzer."""
        if self.guard is None:
            return None
        return self.guard.rebuild(lambda e: known.rebuild(e, self._of(given)))

    def in_selects(self, known: Any, item: int, tag: Expr, *given: Expr) -> Expr:
        """A result as a chain of selects. known: an Analyzer."""
        values = [known.rebuild(case[item], self._of(given)) for case in self.outputs]
        guard, select = self.under(known, given), known.simplifier.select
        other = None if guard is None else values.pop()
        found = values.pop()
        for key, value in zip(self.keys[: len(values)][::-1], values[::-1], strict=True):
            found = select(Cond("eq", tag, Expr.of(key)), value, found)
        return found if other is None else select(guard, found, other)

    def _of(self, given: Sequence[Expr]) -> Any:
        """What stands for an atom where that is taken."""
        return {Atom("sym", n): e for n, e in zip(self.taken, given, strict=True)}.get


def switched(switch: Switch, item: int, tag: Expr, *given: Expr) -> Expr:
    """A result of a switch: where it is given numbers alone, that number."""
    numbers = [e.constant for e in (tag, *given)]
    if None not in numbers and tag.constant in switch.keys:
        return Expr.of(switch.values(*[n for n in numbers if n is not None])[item])
    return Expr.atom(Atom("switch", switch, item, tag, *given))

"""What a loop does, as data: the next state over symbols of its own.

An atom loop(Loop, k, lower, upper, *first, *taken) is the k-th state behind the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..intervals import Interval
from .evaluate import evaluate, holds
from .expr import Cond, Expr
from .terms import Atom, bounded_key


@dataclass(eq=False)
class Loop:
    """One round of a loop. counter, states and taken: the symbols of its number, of the state, and of what it
    reads from outside, which stays what it is; outputs: the next state; guard: the branch that the loop is in, and
    going: what must hold for a round, each None where nothing must; most: how many rounds there are at most;
    bounds: of each state behind any of them; shown: what the symbols are called in a program; ends: whether going ends
    it within these rounds, which upper does not, and nothing reads their number; known: three Analyzers, of what is
    known in a round, of that without going, and of that without the branch; fills: how many of the last states are
    elements of an array, of which a round writes one: the two states before them are its place and its value; key: a
    text that is the same for equal loops everywhere, and what is known of them."""

    counter: str
    states: tuple[str, ...]
    taken: tuple[str, ...]
    outputs: tuple[Expr, ...]
    guard: Cond | None
    going: Cond | None
    most: int
    bounds: tuple[Interval, ...]
    shown: tuple[str, ...]
    ends: bool
    known: tuple[Any, ...]
    fills: int = 0
    key: str = field(init=False)

    def __post_init__(self) -> None:
        names = ",".join((self.counter, *self.states, *self.taken))
        asked = ["" if c is None else c.key for c in (self.guard, self.going)]
        rounds = [*(e.key for e in self.outputs), *asked, *map(str, self.bounds)]
        rounds += map(said, self.known)  # equal loops are one, with what is known of it
        self.key = bounded_key(f"{names}:{';'.join(rounds)};{self.most};{self.ends}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loop) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> Any:
        own = (self.counter, self.states, self.taken, self.outputs)
        rest = (
            self.guard,
            self.going,
            self.most,
            self.bounds,
            self.shown,
            self.ends,
            (),
            self.fills,
        )
        return Loop, (*own, *rest)  # what is known is of this process

    def values(self, lower: int, upper: int, *given: int) -> list[int]:
        """The state behind it. given: the first state, then what is taken. Raises what evaluate() raises."""
        count = len(self.states)
        state, taken = list(given[:count]), dict(zip(self.taken, given[count:], strict=True))
        for k in range(lower, min(upper, lower + self.most)):
            values = {**taken, self.counter: k, **dict(zip(self.states, state, strict=True))}
            if not all(c is None or holds(c, values) for c in (self.guard, self.going)):
                break
            state = [evaluate(e, values) for e in self.outputs]
        return state


def said(known: Any) -> str:
    """A text of all that an analyzer knows, the same for equal knowledge everywhere."""
    facts = known.facts
    parts = [
        [f"{n}:{_key(r.lo)}:{_key(r.hi)}:{r.least}:{r.most}" for n, r in facts.ranges.items()],
        [f"{n}:{e.key}" for n, e in facts.substitutions.items()],
        [f"{n}:{a.key}:{b.key}" for n, (a, b) in facts.quotients.items()],
        [f"{q.key}:{a.key}:{b.key}" for q, (a, b) in facts.exact.items()],
        [e.key for e in (*facts.constraints, *facts.unequal)],
        [*facts.sizes],
    ]
    return bounded_key("|".join(",".join(sorted(each)) for each in parts))


def _key(e: Expr | None) -> str:
    return "" if e is None else e.key


def looped(loop: Loop, item: int, lower: Expr, upper: Expr, *given: Expr) -> Expr:
    """A state behind a loop: where it runs over numbers alone, that number."""
    numbers = [e.constant for e in (lower, upper, *given)]
    if None not in numbers:
        return Expr.of(loop.values(*[n for n in numbers if n is not None])[item])
    first, end = numbers[:2]
    if first is not None and end is not None and end <= first:
        return given[item]
    return Expr.atom(Atom("loop", loop, item, lower, upper, *given))

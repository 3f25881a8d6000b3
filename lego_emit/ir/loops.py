"""Loops in a lowered program: a round of one, the value of the leaf of a node "loop".

Nodes and Functions are Any here: both hold rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from ..errors import InternalError
from ..intervals import Interval


class TooManyRounds(InternalError, ArithmeticError):
    """A loop goes on after the rounds that it has at most."""


@dataclass(frozen=True)
class Round:
    """A round of a loop: the first operand of a node "loop", which lower, upper, the first states, and what the
    loop takes from outside follow. body: the Function that gives the next states of the number of the round, the
    states and what is taken, in this order; guard and going: those that give 1 of the same where there is a round,
    else 0, None where that is always; item: the state that the node is; most: how many rounds there are at most;
    bounds: of each state; fills: how many of the last states are elements of an array, of which a round writes
    one: the two states before them are its place and its value; key: the same for equal loops; shown: what a program
    calls the number and the states; ends: whether going ends it within these rounds, which upper does not, and nothing
    reads their number; names: what the text at hand calls the number and the states, whose body gives the states by
    name; "" of what nothing reads."""

    body: Any = field(compare=False, repr=False)
    guard: Any = field(compare=False, repr=False)
    going: Any = field(compare=False, repr=False)
    item: int
    most: int
    bounds: tuple[Interval, ...]
    key: str = field(repr=False)
    shown: tuple[str, ...]
    ends: bool = False
    names: tuple[str, ...] = field(default=(), compare=False)
    fills: int = 0

    @property
    def count(self) -> int:
        """How many states there are."""
        return len(self.shown) - 1

    @property
    def own(self) -> int:
        """Parameters of a part that are not taken from outside."""
        return 1 + self.count

    @property
    def first(self) -> int:
        """Where what is taken begins among the operands of a node."""
        return 3 + self.count

    @property
    def parts(self) -> list[Any]:
        """The functions that it has, body last."""
        return [f for f in (self.guard, self.going, self.body) if f is not None]

    @property
    def counts(self) -> bool:
        """Whether its text needs the number of a round; else it says only what must hold for one."""
        return not self.ends or bool(self.going.body)

    def check(self) -> None:
        """Raise InternalError unless its functions are well formed."""
        for part in self.parts:
            part.check()

    def mapped(self, change: Callable[[Any], Any]) -> Round:
        """The round with its functions changed."""
        guard, going = (f and change(f) for f in (self.guard, self.going))
        return replace(self, body=change(self.body), guard=guard, going=going)

    def nodes(self) -> Iterator[Any]:
        """Every node in it."""
        for part in self.parts[:-1]:
            yield from part.nodes()
        outputs = self.body.outputs
        own = self.names or [n for n, _ in outputs]
        elements = own[len(own) - self.fills :]  # what is written is the value
        for name, node in (*self.body.body, *outputs):
            if name not in elements:
                yield from node.deep()

    def values(self, lower: int, upper: int, *given: int) -> list[int]:
        """The states behind the loop. given: the first states, and what is taken."""
        if any(hasattr(v, "shape") for v in (lower, upper, *given)):  # each element by itself
            from ..packages import numpy as np

            each = np.frompyfunc(lambda *v: tuple(self.values(*v)), 2 + len(given), self.count)
            found = each(lower, upper, *given)
            return [*found] if self.count > 1 else [found]
        state, taken = [*given[: self.count]], given[self.count :]
        names = [p.name for p in self.body.params]
        for k in self._numbers(lower, upper):
            known = dict(zip(names, (k, *state, *taken), strict=True))
            if not all(f.evaluate(known)[f.outputs[0][0]] for f in self.parts[:-1]):
                break
            self._check_most(k - lower)
            found = self.body.evaluate(known)
            own = self.names[1:] or found
            state = [found.get(n, before) for n, before in zip(own, state, strict=True)]
        return state

    def _numbers(self, lower: int, upper: int) -> Iterable[int]:
        """The numbers of its rounds, as its text has them: without end where that has no number."""
        return range(lower, upper) if self.counts else count(lower)

    def _check_most(self, rounds: int) -> None:
        """Raise TooManyRounds where a round begins after as many as there are at most."""
        if rounds >= self.most:
            states = ", ".join(self.shown[1:])
            raise TooManyRounds(f"the loop of {states} goes on after {self.most} rounds, its most")

    def run(self, compiled: Callable[[Any], Callable[[Any], list[int]]]) -> Callable[..., int]:
        """What gives the state that the node is, of this leaf's value, lower, upper, the first states and what is
        taken. compiled: a Function as a Python one of its parameters' values."""
        names = [p.name for p in self.body.params]
        *asked, body = map(compiled, self.parts)

        def run(_: Any, lower: int, upper: int, *given: int) -> int:
            values = dict(zip(names[1:], given, strict=True))
            for k in self._numbers(lower, upper):
                values[names[0]] = k
                if not all(each(values)[0] for each in asked):
                    break
                self._check_most(k - lower)
                values.update(zip(names[1:], body(values), strict=False))
            return values[names[1 + self.item]]

        return run


COMPOUND = ("loop", "switch")  # nodes whose first operand has functions of its own


def of_round(leaf: Any, change: Callable[[Any], Any]) -> Any:
    """The leaf of a round or of cases with the values of its statements and results changed."""

    def part(f: Any) -> Any:
        body = tuple((name, change(node)) for name, node in f.body)
        return replace(
            f, body=body, outputs=tuple((name, change(node)) for name, node in f.outputs)
        )

    return replace(leaf, value=leaf.value.mapped(part))


def is_same(a: Any, b: Any) -> bool:
    """Whether two nodes are states of one loop, or results of one switch."""
    return (
        a.op == b.op
        and a.op in COMPOUND
        and a.args[0].value.key == b.args[0].value.key
        and a.args[1:] == b.args[1:]
    )


def together(body: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Statements in which the states of a loop, and the results of a switch, are one after the other."""
    found: list[tuple[str, Any]] = []
    for name, node in body:
        places = [k for k, (_, other) in enumerate(found) if is_same(node, other)]
        found.insert(places[-1] + 1 if places else len(found), (name, node))
    return found

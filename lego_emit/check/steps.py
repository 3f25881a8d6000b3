"""What a generation can be told to remember: the divisions that were simplified and why, digits put
together, layouts applied, and the forms that were priced.

Only explain.py puts a Recorder in force; without one the hooks ask one question and go on. A
recorder asks the facts nothing that was not asked before, so that it changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..arith.expr import Cond, Expr
from ..arith.knowledge import PATH, RECORDER

if TYPE_CHECKING:
    from ..arith.facts import Facts

KEPT = frozenset([-1])  # all flat positions are kept whole
PROOFS = ("intervals", "mixed-radix bounds", "bounds put in one by one", "a known bound", "Z3")


@dataclass(frozen=True)
class Proof:
    """How 0 <= value < bound was shown. known: the bound that it follows from, an Expr >= 0."""

    value: Expr
    bound: Expr
    how: str
    known: Expr | None = None


@dataclass
class Division:
    """dividend = quotient*divisor + remainder as it was simplified. kind: fit, split, nested,
    exact, or stays; whole: the multiples of the divisor that came out first; parts: the simpler
    division that a split led to, and what was put together on the way."""

    dividend: Expr
    divisor: Expr
    where: tuple[Cond, ...]
    quotient: Expr = field(default_factory=lambda: Expr.of(0))
    remainder: Expr = field(default_factory=lambda: Expr.of(0))
    kind: str = "stays"
    whole: Expr = field(default_factory=lambda: Expr.of(0))
    signed: bool = False
    proof: Proof | None = None
    border: tuple[Expr, Expr, Expr, Expr] | None = None  # g, high, low, divisor // g
    parts: list[Division | Merge] = field(default_factory=list)


@dataclass
class Merge:
    """Neighbouring digits put together."""

    before: Expr
    after: Expr
    where: tuple[Cond, ...]


@dataclass
class Application:
    """A layout applied to indices, or inverted at a position."""

    block: Any
    values: tuple[Expr, ...]
    inverse: bool


@dataclass
class Tried:
    """A form that was priced. words: how it spells; domains: what its tables were checked on."""

    words: tuple[str, ...]
    cost: float
    operations: int
    nodes: list[int]
    whole: frozenset[int]
    domains: tuple[range, ...] = ()


@dataclass
class Told:
    """What is known of one function."""

    name: str
    facts: Facts
    forms: list[Tried] = field(default_factory=list)
    winner: Tried | None = None
    model: str = ""


class Recorder:
    """Remembers one generation. log: what happened in each trace, by its facts and the positions
    kept whole; the last run counts, since the ones before knew less."""

    def __init__(self) -> None:
        self.functions: list[Told] = []
        self.log: dict[tuple[int, frozenset[int]], list[Any]] = {}
        self.stand_ins: dict[str, Expr] = {}
        self.whole: frozenset[int] = frozenset()
        self.context: tuple[str, ...] = ()
        self._kept: list[Facts] = []  # their ids stay theirs
        self._nodes: dict[tuple, Division] = {}
        self._open: list[Division] = []
        self._list: list[Any] | None = None
        self._facts: Facts | None = None
        self._quiet = 0
        self._settled = False  # results are written down: digits are made anew, not simplified

    # -- what is listened to ------------------------------------------------------------------

    def start(self, facts: Facts, keeps: bool) -> None:
        """A run begins; keeps: flat positions are kept whole in it."""
        self._kept.append(facts)
        self.whole, self._facts = KEPT if keeps else frozenset(), facts
        self._list = self.log[id(facts), self.whole] = []
        self._settled = False

    def variant(self, facts: Facts, whole: frozenset[int]) -> None:
        """Some of the flat positions that were kept are looked into, all but those of whole."""
        self.whole, self._facts = whole, facts
        self._list = self.log[id(facts), whole] = [*self.log.get((id(facts), KEPT), ())]
        self._settled = False

    def function(self, name: str, facts: Facts) -> None:
        """The results of a function are about to be written down."""
        self.functions.append(Told(name, facts))
        self.whole, self._facts = frozenset(), facts
        self._settled = True
        self._list = self.log.setdefault((id(facts), self.whole), [])

    def stop(self, whole: frozenset[int] = frozenset()) -> None:
        """What follows is no step: programs are compared, of which some positions are kept whole."""
        self._list, self.whole = None, whole

    def quiet(self, by: int) -> None:
        """A proof begins (1) or ends (-1): what is computed in it is no step."""
        self._quiet += by

    def _where(self) -> tuple[Cond, ...]:
        path = PATH.get()
        if path is None:
            return ()
        return tuple(c if value else ~c for c, value in path.decided.items())

    def _add(self, entry: Any) -> None:
        if self._quiet:
            return
        if self._open:
            if not isinstance(entry, Application):
                self._open[-1].parts.append(entry)
        elif self._list is not None and not (
            self._settled and isinstance(entry, Division) and entry.kind == "nested"
        ):
            self._list.append(entry)

    # -- divisions ----------------------------------------------------------------------------

    def dividing(self, facts: Facts, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """a divided by b for the first time."""
        made = Division(a, b, self._where())
        quiet, self._quiet = self._quiet, 0
        self._open.append(made)
        try:
            found = facts._divmod(a, b)
        finally:
            self._open.pop()
            self._quiet = quiet
        made.quotient, made.remainder = found
        self._nodes[a, b, *found] = made
        self.divided(facts, a, b, found)
        return found

    def divided(self, facts: Facts, a: Expr, b: Expr, found: tuple[Expr, Expr]) -> None:
        """a was divided by b, now or before."""
        known = self._nodes.get((a, b, *found))
        if known is not None and (self._open or facts is self._facts):
            self._add(known)

    def because(
        self, facts: Facts, kind: str, whole: Expr, rest: Expr, divisor: Expr, k: Any = 0
    ) -> None:
        """Why the division that is running comes out: rest - k*divisor lies in 0..divisor-1."""
        made = self._open[-1]
        made.kind, made.whole = kind, whole + k
        if kind == "fit" and rest.terms:
            made.proof = _proof(facts, rest, divisor, k)

    def splits(
        self, facts: Facts, whole: Expr, g: Expr, high: Expr, low: Expr, k: Expr, inner: Expr
    ) -> None:
        """The division that is running goes on with high + k by inner, above the border g."""
        made = self._open[-1]
        made.kind, made.whole = "split", whole
        made.border = g, high + k, low - k * g, inner
        if low.terms:
            made.proof = _proof(facts, low, g, k)

    def signed(self, whole: Expr) -> None:
        """The sign of the divisor is not known."""
        made = self._open[-1]
        made.signed, made.whole = True, whole

    # -- the rest -----------------------------------------------------------------------------

    def merged(self, before: Expr, after: Expr) -> None:
        """Digits were put together; what that led to was told before it."""
        made = Merge(before, after, self._where())
        entries = self._open[-1].parts if self._open else self._list or []
        last = entries[-1] if entries else None
        if isinstance(last, Merge) and last.after is after and not self._quiet:
            first = len(entries) - 1
            while first and isinstance(p := entries[first - 1], Merge) and p.after is after:
                first -= 1
            made.after = entries[first].before
            entries.insert(first, made)
        else:
            self._add(made)

    def applied(self, block: Any, values: Sequence[Expr], inverse: bool) -> None:
        """A layout is applied."""
        self._add(Application(block, tuple(values), inverse))

    def stands_in(self, name: str, value: Expr) -> None:
        """A symbol takes the place of a value whose range is assumed."""
        self.stand_ins[name] = value

    def tried(
        self, words: tuple[str, ...], found: tuple[tuple[float, int], list[int]], domains=()
    ) -> None:
        """A form has its price."""
        (cost, operations), nodes = found
        forms = self.functions[-1].forms
        if not any(f.nodes == nodes for f in forms):
            words = (*self.context, *words)
            forms.append(Tried(words, cost, operations, nodes, self.whole, tuple(domains)))

    def won(self, nodes: list[int], model: str) -> None:
        """A form is taken; model: what priced it."""
        told = self.functions[-1]
        told.model = model
        told.winner = next((t for t in told.forms if t.nodes == nodes), None)

    def entries(self, told: Told) -> list[Any]:
        """What led to a function's form."""
        whole = told.winner.whole if told.winner else frozenset()
        return self.log.get((id(told.facts), whole), [])


def _proof(facts: Facts, rest: Expr, b: Expr, k: Any) -> Proof:
    """How 0 <= rest - k*b < b is shown, as Facts._fit found it."""
    value = rest - k * b
    size = b.constant
    if size is not None:
        lo, hi = facts.interval(rest)
        if lo is not None and hi is not None and lo // size == hi // size:
            return Proof(value, b, PROOFS[0])
    found = max(_how(facts, value), _how(facts, b - value - 1), key=lambda p: PROOFS.index(p[0]))
    return Proof(value, b, *found)


def _how(facts: Facts, e: Expr) -> tuple[str, Expr | None]:
    """Which prover shows e >= 0, which is proven; the order is that of Facts.nonneg."""
    lo = facts.interval(e)[0]
    if lo is not None and lo >= 0:
        return PROOFS[0], None
    if not facts._is_numeric(e):
        if facts._telescopes(e):
            return PROOFS[1], None
        if facts._prove(e, 12):
            return PROOFS[2], None
    for k in facts.constraints:
        if facts._prove(e - k, 6):
            return PROOFS[3], k
    return PROOFS[4], None


__all__ = ["RECORDER", "Application", "Division", "Merge", "Recorder", "Tried"]

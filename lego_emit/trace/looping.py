"""Loops that are followed: the body of one gone through with symbols, and what bounds its states."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.context import plain
from ..arith.expr import Cond, Expr, as_number
from ..arith.gaps import sums, without_quotients
from ..arith.loops import Loop, looped
from ..errors import AssumptionError, LegoError, TraceError, short_repr
from ..intervals import ANY, Interval, both, either
from ..numeric import as_integer
from .apart import Apart, symbol
from .joined import Joined, Unjoined, selected
from .paths import Impossible, Running, explore, here
from .trace import Trace

MOST = 4096  # rounds that may be asked for
ROUNDS = 64  # that are followed to bound the state
FEW = 8  # times that a body is gone through that needs to know more of the state
FARTHEST = 2**256  # beyond which a bound is none
TOTAL = {*"sym bool select min max opaque and or xor loop switch".split()}  # kinds of any operands
DEEPEST = 4  # choices in one another of which each case is proven


@dataclass(frozen=True, eq=False)
class Spec:
    """A loop as it is written. tuple: what makes a state of its parts, None of a single number; names: of
    the counter and of the parts; fills: how many of the last parts are elements of an array, of which a round
    writes one: the two parts before them are its place and its value."""

    body: Callable[[Any, Any], Any]
    going: Callable[[Any, Any], Any] | None
    invariant: Callable[[Any, Any], Any] | None
    most: int
    tuple: Callable[[Sequence[Any]], Any] | None
    names: tuple[str, ...]
    fills: int = 0

    def state(self, parts: Sequence[Any]) -> Any:
        """A state of these parts."""
        return parts[0] if self.tuple is None else self.tuple(parts)

    def parts(self, state: Any) -> list[Any]:
        """The parts of a state that the body gives. Raises TraceError where it has another shape."""
        count = len(self.names) - 1
        if self.tuple is None:
            found = [state]
        elif not isinstance(state, tuple | list) or len(state) != count:
            raise TraceError(
                f"fori_loop: the state is a tuple of {count}, and the body gives {said(state)}; return as "
                "many integers as init has"
            )
        else:
            found = [*state]
        for name, value in zip(self.names[1:], found, strict=True):
            if not isinstance(value, Expr | Cond) and as_integer(value) is None:
                raise TraceError(
                    f"fori_loop: the body gives {said(value)} for {name}; a state is an integer, or a "
                    "tuple or a NamedTuple of integers, of the same shape in every round"
                )
        return found


def followed(spec: Spec, lower: Any, upper: Any, *first: Any) -> list[Expr]:
    """The states behind a loop."""
    return _Following(spec, lower, upper, first).results()


class _NoRound(Exception):
    """No values of the symbols are such that a loop has a round."""


class _Following:
    """A loop whose body is gone through with symbols of its own."""

    def __init__(self, spec: Spec, lower: Any, upper: Any, first: Sequence[Any]):
        now = here()
        self.spec, self.now, self.known = spec, now, now.analyzer
        self.lower, self.upper = (plain(Expr.of(e)) for e in (lower, upper))
        self.first = [plain(Expr.of(e)) for e in first]
        ranges, number = self.known.facts.ranges, 1
        while any(f"{name}{_of_loop(number)}" in ranges for name in spec.names):
            number += 1
        self.counter, *self.states = (f"{name}{_of_loop(number)}" for name in spec.names)
        self.stays: list[int] = []
        self.gaps: list[Expr] = []  # that are not negative in a round, as invariant and while_ say
        self.last: int | None = None  # the last round's number
        self.symbols = [symbol(name) for name in self.states]
        self.trace: Trace = now.trace.but(
            preconditions=[], stand_ins={**now.trace.stand_ins}, loops=set()
        )
        self.apart = Apart(self.known, self.trace)

    def results(self) -> list[Expr]:
        """The states behind it, as atoms; the first ones where it has no round."""
        try:
            if self.known.decide(Cond("le", self.upper, self.lower)):
                return self.first
            return self._results()
        except (_NoRound, Impossible):
            return self.first

    def _results(self) -> list[Expr]:
        known, rounds = self.known, self._rounds()
        last = known.interval(self.lower)[1]
        self.last = None if last is None else last + rounds - 1
        branch = [*known.facts.branch]
        if not branch:
            self._learn_indices()
        self.stays = self._kept()
        before, behind, last = self._bounds(rounds)
        ends = not branch and last is not None and self._ends(last)
        if fills := self.spec.fills:  # a round writes an element that there is
            before[-fills - 2] = behind[-fills - 2] = (0, fills - 1)
        starts = [known.interval(e) for e in self.first]
        alone: tuple[Cond | None, Analyzer] | None = None
        if ends and last is not None:  # while_ is asked of the state behind the last round, too
            with known.scope():
                self._learn([either(a, b) for a, b in zip(before, last, strict=True)])
                alone = self._going(), known.copy()
        with known.scope():
            self._learn(before)
            going, asking = self._going(), known.copy()
            outputs = self._gone_through(going)
            self._check_invariant(outputs, going)
            if alone is not None and _width(*alone) <= _width(going, asking):
                going, asking = alone
            elif alone is not None:  # it would ask for wider numbers: upper ends the loop
                ends = False
            guard = reduce(lambda a, b: Cond("and", a, b), map(plain, branch)) if branch else None
            outputs = [known.unsubstitute(self.apart.expr(e)) for e in outputs]
            guard, going = map(self.apart.condition, (guard, going))
            asked = [e for c in (guard, going) if c is not None for e in c.exprs()]
            changing = [
                k
                for k, (e, s) in enumerate(zip(outputs, self.symbols, strict=True))
                if not e.same(s) or k >= len(self.states) - self.spec.fills
            ]
            states = [self.states[k] for k in changing]
            self.apart.values |= {
                n: self.first[k] for k, n in enumerate(self.states) if k not in changing
            }
            read = {n for e in (*outputs, *asked) for n in e.symbols()}
            outside = self.apart.given(read, own={self.counter, *states})
            found = [
                both(either(starts[k], known.interval(known.rebuilt(outputs[k]))), behind[k])
                for k in changing
            ]
            ends = ends and not any(self.counter in e.symbols() for e in (*outputs, *asked))
            counter, *shown = self.spec.names
            loop = Loop(
                self.counter, tuple(states), tuple(outside), tuple(outputs[k] for k in changing),
                guard, going, rounds, tuple(found), (counter, *(shown[k] for k in changing)), ends,
                (known.copy(), asking, self._of_guard(guard)),
                self.spec.fills,
            )  # fmt: skip
        self._tell()
        self.now.trace.loops.add(loop.key)
        first = [self.first[k] for k in changing]
        given = [self.lower, self.upper, *first, *outside.values()]
        if branch:
            self._check_total(given)
        results = [*self.first]
        for item, k in enumerate(changing):
            results[k] = looped(loop, item, *given)
        self.now.trace.states.setdefault(loop.key, []).extend(results[k] for k in changing)
        return results

    def _of_guard(self, guard: Cond | None) -> Analyzer:
        """What is known where the branch may not be taken: next to nothing."""
        known = Analyzer(use_z3=False)
        if self.now.trace.is_unsigned and guard is not None:
            for name in sorted(n for e in guard.exprs() for n in e.symbols()):
                known.learn_range(name, Expr.of(0), None)
        return known

    def _check_total(self, given: Sequence[Expr]) -> None:
        """Raise TraceError where what a loop in a branch is given may have no value elsewhere: it is computed
        before the branch."""
        for e in given:
            for atom in e.deep_atoms():
                if atom.kind not in TOTAL and not (
                    atom.kind == "digit"
                    and all(n is None or (n.constant or 0) > 0 for n in atom.args[1:])
                ):
                    raise TraceError(
                        f"fori_loop: in a branch it is given {said(e)}, which may have no value where the branch "
                        "is not taken: compute it before the `if`, or put the `if` into the body"
                    )

    def _rounds(self) -> int:
        """How many rounds there are at most; where most is less than that may be, it is a precondition."""
        known, most = self.known, self.spec.most
        least, last = known.interval(self.lower)[0], known.interval(self.upper)[1]
        far = known.interval(known.simplifier.subtract(self.upper, self.lower))[1]
        if least is not None and last is not None:
            far = last - least if far is None else min(far, last - least)
        few = known.interval(known.simplifier.subtract(self.upper, self.lower))[0]
        if few is not None and few > most:
            raise too_many(f"{few} rounds or more", few, most)
        if far is None or far > most:
            ends = [known.unsubstitute(e) for e in (self.lower, self.upper)]
            for at, number in enumerate((least, last)):  # a caller knows no table of the file
                if number is not None and any(a.kind == "lookup" for a in ends[at].deep_atoms()):
                    ends[at] = Expr.of(number)
            self.now.trace.note(Cond("le", ends[1], ends[0] + most))
        return most if far is None else max(0, min(far, most))

    def _learn(self, bounds: Sequence[Interval], number: Interval = ANY) -> None:
        """What is known in a round: of its number, of the state, and what the invariant says."""
        known = self.known
        lower, upper = (self.apart.expr(e) for e in (self.lower, self.upper))
        try:
            if self.last is not None:
                known.learn_range(self.counter, None, Expr.of(self.last))
            for name, (lo, hi) in ((self.counter, number), *zip(self.states, bounds, strict=True)):
                ends = [None if end is None else Expr.of(end) for end in (lo, hi)]
                known.learn_range(name, *ends)
            known.learn_range(self.counter, lower, upper - 1)  # beside the numbers
            for condition in self._invariant(symbol(self.counter), self.symbols):
                known.assume(condition)
            for k in self.stays:
                known.learn_range(self.states[k], *self._span(self.first[k]))
        except AssumptionError:  # no number lies between
            raise _NoRound from None

    def _learn_indices(self) -> None:
        """Parameters that are indices of a layout in the body lie within it."""
        known, placed = self.known, self.trace.placed
        spec, said = self.spec, dict[str, tuple[Expr | None, Expr | None]]()
        self.spec = replace(spec, going=None, invariant=None)
        before = {*placed}
        with known.scope():
            self._learn([ANY] * len(self.first))
            trace, self.trace = self.trace, self._aside()
            try:
                self._gone_through(None)
            except LegoError:
                pass
            own = {self.counter, *self.states}
            for name in sorted(placed - before - own):
                found = known.facts.ranges.get(name)
                ends = (found.lo, found.hi) if found is not None else (None, None)
                if own.isdisjoint(n for e in ends if e is not None for n in e.symbols()):
                    said[name] = ends
        self.spec, self.trace = spec, trace
        placed -= own
        for name, ends in said.items():
            known.learn_range(name, *ends)

    def _aside(self) -> Trace:
        """A trace for what is only tried: what it asks of a caller is not asked."""
        return self.trace.but(preconditions=[], stand_ins={**self.trace.stand_ins})

    def _span(self, e: Expr) -> tuple[Expr | None, Expr | None]:
        """The bounds of a parameter as they are said, which may speak of others."""
        known = e.single
        if known is None or known.kind != "sym":
            return None, None
        found = self.known.facts.ranges.get(known.args[0])
        return (None, None) if found is None else (found.lo, found.hi)

    def _holds(self, condition: Cond) -> bool:
        """Whether a condition is proven."""
        if self.known.decide(condition) is True:
            return True
        gap = self._gap(condition)
        return gap is not None and self._never_negative(gap)

    def _gap(self, condition: Cond) -> Expr | None:
        """What is not negative where a comparison holds."""
        if condition.op not in ("le", "lt"):
            return None
        a, b = condition.exprs()
        gap = self.known.simplifier.subtract(b, a)
        return gap - 1 if condition.op == "lt" else gap

    def _never_negative(self, e: Expr, depth: int = 0) -> bool:
        """Whether e >= 0 is proven, of a choice in both cases, of a quotient by what it is multiplied by."""
        known, e = self.known, self.known.rebuilt(e)
        if known.nonneg(e) or any(known.nonneg(e - gap) for gap in sums(self.gaps)):
            return True
        for whole in without_quotients(e) if depth < DEEPEST else ():
            if self._never_negative(whole, depth + 1):
                return True
        choice = min(
            (a for a in e.atoms() if a.kind == "select"), key=lambda a: a.key, default=None
        )
        if choice is None or depth == DEEPEST:
            return False
        condition, *values = choice.args
        for holds, value in ((condition, values[0]), (~condition, values[1])):
            with known.scope():
                known.assume(holds)
                if not self._never_negative(known.rebuild(e, {choice: value}.get), depth + 1):
                    return False
        return True

    def _kept(self) -> list[int]:
        """The states that are parameters at first, and stay within what is said of those."""
        known, left = self.known, [k for k, e in enumerate(self.first) if None not in self._span(e)]
        while left:
            self.stays = left
            outputs = self._tried([ANY] * len(self.first))
            if outputs is None:
                return []
            stay = list[int]()
            with known.scope():
                self._learn([ANY] * len(self.first))
                for k in left:
                    lo, hi = self._span(self.first[k])
                    assert lo is not None and hi is not None
                    gaps = outputs[k] - lo, hi - outputs[k]
                    stay += [k] if all(map(self._never_negative, gaps)) else []
            if stay == left:
                return left
            left = stay
        return []

    def _bounds(self, rounds: int) -> tuple[list[Interval], list[Interval], list[Interval] | None]:
        """Bounds of the state before each round, behind any, and behind as many rounds as there are at most,
        None where these are not known better."""
        known = self.known
        before = state = [known.interval(e) for e in self.first]
        outputs = self._tried([ANY] * len(state))
        if outputs is None:  # the body needs to know more: what the rounds before leave
            return *self._grown(before, self._tried), None
        if rounds > ROUNDS:
            return *self._grown(before, lambda _: outputs), None
        least, last = known.interval(self.lower)
        for k in range(rounds):
            before = [either(a, b) for a, b in zip(before, state, strict=True)]
            number = None if least is None else least + k, None if last is None else last + k
            state = self._made(outputs, state, number)
        behind = [either(a, b) for a, b in zip(before, state, strict=True)]
        return before, behind, state

    def _ends(self, last: Sequence[Interval]) -> bool:
        """Whether while_ lets a loop of a known number of rounds have no more than these. last: bounds of the
        state behind them."""
        known, far = self.known, self.known.simplifier.subtract(self.upper, self.lower).constant
        if self.spec.going is None or far is None or far > self.spec.most:
            return False
        trace, self.trace = self.trace, self._aside()
        try:
            with known.scope():  # in which nothing is known of the number
                for name, ends in zip(self.states, last, strict=True):
                    known.learn_range(name, *(None if n is None else Expr.of(n) for n in ends))
                going = self._going()
                if (
                    going is not None and going.op == "ne"
                ):  # which nothing decides where both are equal
                    a, b = going.exprs()
                    return known.interval(known.simplifier.subtract(a, b)) == (0, 0)
                return going is not None and known.decide(going) is False
        except _NoRound:  # while_ says so at once
            return True
        except LegoError:
            return False
        finally:
            self.trace = trace

    def _grown(
        self, start: Sequence[Interval], body: Callable[[Sequence[Interval]], list[Expr] | None]
    ) -> tuple[list[Interval], list[Interval]]:
        """Bounds of the state in all rounds: those of a few, and where these grow, none at that end. body: what
        is made of a state within bounds."""
        found = [*start]
        for k in range(FEW):
            outputs = body(found)
            if outputs is None:
                return found, found  # what is wrong is said when it is gone through again
            more = self._made(outputs, found)
            more = [either(a, b) for a, b in zip(found, more, strict=True)]
            if more == found:
                return found, found
            if k >= FEW // 2:
                more = [
                    (a if a == c else None, b if b == d else None)
                    for (a, b), (c, d) in zip(found, more, strict=True)
                ]
            found = more
        return [ANY] * len(found), [ANY] * len(found)

    def _made(
        self, outputs: Sequence[Expr], state: Sequence[Interval], number: Interval = ANY
    ) -> list[Interval]:
        """The bounds of what the body makes of states within bounds."""
        with self.known.scope():
            self._learn(state, number)
            found = [self.known.interval(e) for e in outputs]
        far = [
            None if end is None or abs(end) > FARTHEST else end for ends in found for end in ends
        ]
        return [*zip(far[::2], far[1::2], strict=True)]

    def _tried(self, bounds: Sequence[Interval]) -> list[Expr] | None:
        """What the body gives where no more is known of the state than its bounds; None where it needs to
        know more."""
        trace, self.trace = self.trace, self._aside()
        try:
            with self.known.scope():
                self._learn(bounds)
                return self._gone_through(self._going())
        except LegoError:
            return None
        finally:
            self.trace = trace

    def _gone_through(self, going: Cond | None) -> list[Expr]:
        """The next state that the body gives, where going holds."""
        if going is not None:
            try:
                self.known.assume(going)
            except AssumptionError:
                raise _NoRound from None
        spec = self.spec
        found = self._called(spec.body, lambda v: tuple(spec.parts(v)))
        values = (plain(v) if isinstance(v, Expr | Cond) else Expr.of(v) for v in found)
        return [as_number(v) if isinstance(v, Cond) else v for v in values]

    def _going(self) -> Cond | None:
        """What while_ says that must hold for a round."""
        if self.spec.going is None:
            return None
        found = self._called(self.spec.going, lambda v: v)
        (condition,) = self._conditions("while_", [found])
        if condition is False:
            raise _NoRound
        return None if condition is True else condition

    def _conditions(self, what: str, given: Sequence[Any]) -> list[Any]:
        """What a function of the user's says: conditions and truth values."""
        found = list[Any]()
        for one in given:
            if isinstance(one, Expr):  # as `and` gives it
                atom = one.single
                is_truth = atom is not None and atom.kind == "bool"
                found.append(
                    atom.args[0] if atom and is_truth else Cond("ne", plain(one), Expr.of(0))
                )
            elif isinstance(one, Cond | bool):
                found.append(one if isinstance(one, bool) else plain(one))
            else:
                raise TraceError(
                    f"fori_loop: {what} gives {said(one)}; give a condition such as lambda k, state: state < n"
                )
        return found

    def _called(
        self,
        fn: Callable[[Any, Any], Any],
        read: Callable[[Any], Any],
        number: Expr | None = None,
        state: Sequence[Expr] | None = None,
    ) -> Any:
        """What a function of the round's number and the state gives, its branches joined where they meet."""
        known, now = self.known, self.now
        made = Joined().function(fn) or fn
        number = symbol(self.counter) if number is None else number
        counter, *parts = (known.bind(e) for e in (number, *(state or self.symbols)))
        path = now.path
        paths = path.shared.paths if path is not None else 0
        within = Running(known, self.trace, path)
        try:
            return explore(
                lambda: read(made(counter, self.spec.state(parts))), within, joined=selected
            )
        except Unjoined:
            raise TraceError(
                "fori_loop: the branches of the body give values that cannot be joined; let each give "
                "integers"
            ) from None
        finally:
            if path is not None:
                path.shared.paths = paths

    def _invariant(self, counter: Expr, state: Sequence[Expr]) -> list[Cond]:
        """The conditions of the invariant for a round's number and a state."""
        spec = self.spec
        if spec.invariant is None:
            return []

        def listed(said: Any) -> tuple[Any, ...]:
            return tuple(said) if isinstance(said, list | tuple) else (said,)

        said = self._called(spec.invariant, listed, counter, state)
        found = self._conditions("invariant", said)
        if False in [c for c in found if isinstance(c, bool)]:
            raise TraceError("fori_loop: the invariant never holds")
        return [c for c in found if isinstance(c, Cond)]

    def _check_invariant(self, outputs: Sequence[Expr], going: Cond | None) -> None:
        """Raise TraceError where the invariant is not proven: of the first state, and behind a round before
        which it holds."""
        known = self._invariant(symbol(self.counter), self.symbols)
        gaps = map(self._gap, [*known, *([] if going is None else [going])])
        after = [gap for gap in gaps if gap is not None]
        number = symbol(self.counter) + 1
        self._check("of the first state", self._invariant(self.lower, self.first))
        self.gaps = after
        self._check("behind a round before which it holds", self._invariant(number, outputs))

    def _check(self, what: str, conditions: Sequence[Cond]) -> None:
        for condition in conditions:
            if not self._holds(condition):
                text = said(condition)
                raise TraceError(
                    f"fori_loop: the invariant is not proven {what}: {text}; say more with assume= or in the "
                    "invariant"
                )

    def _tell(self) -> None:
        """The preconditions of the body are those of the function, unless they speak of a round."""
        own, trace = {self.counter, *self.states}, self.now.trace
        new = self.trace.stand_ins.keys() - trace.stand_ins.keys()
        for atom in sorted(new, key=lambda a: a.key):
            if not own.isdisjoint(atom.symbols | self.trace.stand_ins[atom].symbols()):
                raise TraceError(
                    "fori_loop: an index is not known to lie within its layout in every round; bound the "
                    "state with invariant="
                )
            trace.stand_ins[atom] = self.trace.stand_ins[atom]
        for condition in self.trace.preconditions:
            if not own.isdisjoint(n for e in condition.exprs() for n in e.symbols()):
                raise TraceError(
                    f"fori_loop: {said(condition)} is not known to hold in every round; bound the state "
                    "with invariant=, or the sizes with assume="
                )
            trace.note(condition)


def too_many(rounds: str, count: int, most: int) -> TraceError:
    """The error of a loop of more rounds than it may have. rounds: what is said of their number, count."""
    way = f"give most={count} or more" if count <= MOST else f"a loop has {MOST} at most"
    return TraceError(f"fori_loop: {rounds}, and most is {most}; {way}")


def said(value: Any) -> str:
    """A value in a message, its symbols as the body calls them."""
    return re.sub(r" of loop( \d+)?", "", short_repr(value))


def _of_loop(number: int) -> str:
    return " of loop" if number == 1 else f" of loop {number}"


def _width(condition: Cond | None, known: Analyzer) -> int:
    """The width of the integers, of 32 bits or 64, that hold what a condition computes; 128 of no type."""
    found = 32
    for e in condition.exprs() if condition is not None else ():
        for part in (e, *(x for a in e.deep_atoms() for x in (Expr.atom(a), *a.args))):
            if isinstance(part, Expr):
                ends = known.interval(part)
                most = max(FARTHEST if n is None else abs(n) for n in ends)
                found = max(found, next((w for w in (32, 64) if most < 2 ** (w - 1)), 128))
    return found

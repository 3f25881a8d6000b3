"""One run of a user's function, written down, so that it can be gone through again without it.

What a function does with its parameters depends on what is known of them: a quotient that is whole once
a layout has said that its divisor divides, a branch that a bound decides. Much of that is learned while
the function runs, after the values that it concerns. So a function that is followed is called once, and
each operation on a symbol, each use of a layout and each undecided `if` becomes a step of a tape; then
the steps, and not the function, are gone through under what was learned, as often as that takes.

For `def f(i, M): L = OrderBy(Row(M // 8, 8)); return L[M // 8 - 1, i]` the tape is: the parameter i; the
parameter M; M // 8; M // 8 - 1; the layout at these. The first time M // 8 is a quotient. The layout's
sizes say that 8 divides M, so that the second time it is a symbol of its own, and M is 8 times that.

An `if` that was decided when it was written down stays decided, for facts are only added. One that was
open is asked again in the same place: it may be decided by now, and its other path is then not taken.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.context import ContextCond, ContextExpr, plain
from ..arith.expr import Cond, Expr, computed, opaque
from ..arith.steps import Simplified
from .paths import Impossible, here, running


@dataclass(frozen=True, slots=True)
class Result:
    """What a step gave: all of it, or an item where it gave several values."""

    step: int
    item: int | None = None

    def __repr__(self) -> str:
        return f"#{self.step}" if self.item is None else f"#{self.step}[{self.item}]"


@dataclass(slots=True)
class Run:
    """One path: its steps, (operation, arguments); of each `if` (the number of steps before it, its
    condition, None where it was decided, the answer); what the log said of those that were; what the
    function returned, Impossible where the path was given up."""

    steps: list[tuple[Callable[..., Any], tuple[Any, ...]]] = field(default_factory=list)
    asked: list[tuple[int, Any, bool]] = field(default_factory=list)
    decided: list[Simplified] = field(default_factory=list)
    result: Any = Impossible

    def named(self, value: Any) -> Any:
        """A value by the step that gave it, where it is of this run; one of another is what it was."""
        if not isinstance(value, TapedExpr | TapedCond):
            return value
        return value.at if value.run is self else plain(value)


class Tape:
    """The runs of one function, one for each of its paths. stale: nothing is written down, or it was
    done with symbols that mean something else by now. made_text: the function made text of a symbol."""

    def __init__(self) -> None:
        self.stale, self.made_text = True, False
        self._is_open = False
        self._runs: dict[tuple[bool, ...], Run] = {}  # by the answers that they begin with
        self._run: Run | None = None  # the one that is being written
        self._inside = False  # of a step, whose own steps are none

    @property
    def paths(self) -> int:
        """How many were written down."""
        return len({id(run) for run in self._runs.values()})

    @contextmanager
    def written(self) -> Iterator[None]:
        """While all paths of the function are followed: its calls are written down."""
        self._runs, self.stale, self._is_open = {}, False, True
        try:
            yield
        except BaseException:
            self.stale = True
            raise
        finally:
            self._is_open = False

    def result(self, call: Callable[[], Any]) -> Any:
        """The result of a call, which is one path of the function, by the call or by its steps."""
        if not self._is_open:
            try:
                return self._played()
            except _Unknown:
                return call()
        run = self._run = Run()
        try:
            result = call()
            run.result = _each(result, run.named)
            return _each(result, plain)
        finally:
            self._run = None
            self._keep(run)

    def _keep(self, run: Run) -> None:
        """Have a run ready for the answers that it begins with. Where the function did something else
        before them than in another run, for what one path taught decides an `if` of the others, all
        has to be written down again."""
        answers = tuple(answer for _, _, answer in run.asked)
        for count in range(len(answers) + 1):
            other = self._runs.setdefault(answers[:count], run)
            end = run.asked[count - 1][0] if count else 0
            asked = [[at for at, _, _ in each.asked[:count]] for each in (other, run)]
            steps = zip(other.steps[:end], run.steps[:end], strict=False)
            if asked[0] != asked[1] or not all(one[0] is two[0] for one, two in steps):
                self.stale = True

    def _played(self) -> Any:
        """The result by the steps, under what is known now; of the path that the open `if`s lead to.
        Raises _Unknown where that was not followed: what one path taught closed it for the others."""
        values: list[Any] = []
        analyzer = here().analyzer

        def known(value: Any) -> Any:
            if isinstance(value, Result):
                given = values[value.step]
                return given if value.item is None else given[value.item]
            return _now(value, analyzer)

        play = _kept if here().trace.keeps_steps else _done
        run, answers = self._runs[()], ()
        while True:
            ended = len(answers) == len(run.asked)
            at, condition, answer = (
                (len(run.steps), None, True) if ended else run.asked[len(answers)]
            )
            for operation, arguments in run.steps[len(values) : at]:
                given = [_each(a, known) for a in arguments]
                values.append(play(analyzer, operation, given))
            if ended:
                break
            if condition is not None and bool(known(condition)) is not answer:
                answer = not answer
                if (*answers, answer) not in self._runs:
                    raise _Unknown
                run = self._runs[*answers, answer]
            answers = *answers, answer
        if run.result is Impossible:
            raise Impossible
        if analyzer.log is not None:
            analyzer.log.entries += run.decided
        return _each(run.result, known)

    def step(self, operation: Callable[..., Any], *arguments: Any) -> Any:
        """operation(*arguments), written down as a step where the function itself does it."""
        now = running()
        if now is None:  # the function has returned a layout, whose sizes are symbols of its own
            return computed(operation, *[_each(a, plain) for a in arguments])
        analyzer = now.analyzer
        if self._run is None or self._inside:  # what its layouts' functions do with its symbols
            known = [_each(a, lambda value: _now(value, analyzer)) for a in arguments]
            return analyzer.bind(_done(analyzer, operation, known))
        self._inside = True
        try:
            value = _done(analyzer, operation, [_each(a, plain) for a in arguments])
        finally:
            self._inside = False
        if value is NotImplemented:
            return value
        run, last = self._run, len(self._run.steps)
        run.steps.append((operation, tuple(_each(a, run.named) for a in arguments)))
        if isinstance(value, tuple | list):
            return _kind(value)(self._symbol(v, Result(last, k)) for k, v in enumerate(value))
        return self._symbol(value, Result(last))

    def on_decision(self, condition: Cond, answer: bool, is_open: bool) -> None:
        """An `if` on a condition took the branch of this answer."""
        if self._run is not None and not self._inside:
            named = self._run.named(condition) if is_open else None
            self._run.asked.append((len(self._run.steps), named, answer))
            log = here().analyzer.log
            if not is_open and log is not None and log.entries:
                last = log.entries[-1]  # it is of this `if`, or has been kept before
                if isinstance(last, Simplified):
                    self._run.decided.append(last)

    def __str__(self) -> str:
        """The steps of the path that was followed first, one a line, and what it returned."""
        run = self._runs.get((), Run())
        lines = [
            f"#{k} = {operation.__name__.lstrip('_')}({', '.join(map(repr, arguments))})"
            for k, (operation, arguments) in enumerate(run.steps)
        ]
        return "\n".join([*lines, f"return {run.result!r}"])

    def length(self) -> int:
        """How many different operations the longest path has."""
        return max(map(_length, self._runs.values()), default=0)

    @property
    def is_one_step(self) -> bool:
        """Whether no step goes on with what another one gave, but for the parameters."""
        return all(sum(map(_goes_on, run.steps)) < 2 for run in self._runs.values())

    def show(self) -> None:
        """Text is made of a symbol: where the function does it, its result may depend on that."""
        self.made_text |= self._run is not None and not self._inside

    def _symbol(self, value: Any, at: Result) -> Any:
        if isinstance(value, Expr):
            return TapedExpr(value, self, self._run, at)
        return TapedCond(value, self, self._run, at) if isinstance(value, Cond) else value


class _Unknown(Exception):
    """A path of which there is no run."""


class TapedExpr(ContextExpr):
    """A symbolic integer in a function that is followed."""

    __slots__ = ("at", "run")

    def __init__(self, value: Expr, tape: Tape, run: Run | None, at: Result):
        super().__init__(value, tape)
        self.run, self.at = run, at


class TapedCond(ContextCond):
    """A condition in a function that is followed."""

    __slots__ = ("at", "run")

    def __init__(self, value: Cond, tape: Tape, run: Run | None, at: Result):
        super().__init__(value, tape)
        self.run, self.at = run, at


def _each(value: Any, change: Callable[[Any], Any], levels: int = 3) -> Any:
    """A value with all that it holds changed; what is nested deeper is neither a result nor an index."""
    if not levels:
        return value
    # Most are one of these; what else they are not takes long to ask.
    if isinstance(value, (int, Expr, Cond, Result)):
        return change(value)
    if isinstance(value, (tuple, list)):
        return _kind(value)(_each(v, change, levels - 1) for v in value)
    if isinstance(value, Mapping):
        return {k: _each(v, change, levels - 1) for k, v in value.items()}
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        return slice(*(_each(v, change, levels - 1) for v in ends))
    return change(value)


def _kind(value: tuple[Any, ...] | list[Any]) -> type:
    return list if isinstance(value, list) else tuple


def _done(analyzer: Analyzer, operation: Callable[..., Any], arguments: list[Any]) -> Any:
    """What an operation gives, without contexts."""
    return _each(analyzer.operate(operation, *arguments), plain)


def _goes_on(step: tuple[Callable[..., Any], tuple[Any, ...]]) -> bool:
    """Whether a step has an argument that another one gave."""
    held: list[Any] = []
    _each(step[1], held.append)
    return any(isinstance(value, Result) for value in held)


def _length(run: Run) -> int:
    places: dict[Any, int] = {}

    def place(value: Any) -> Any:
        if isinstance(value, Result):
            return same[value.step], value.item
        return value.identity if isinstance(value, (Expr, Cond)) else value

    same: list[int] = []  # the first step that does what a step does
    for k, (operation, arguments) in enumerate(run.steps):
        key = operation, *map(place, arguments)
        is_known = operation.__module__ == operator.add.__module__  # all else has other operands
        same.append(places.setdefault(key, k) if is_known else k)
    return len(places)


def _kept(analyzer: Analyzer, operation: Callable[..., Any], arguments: list[Any]) -> Any:
    """What an operation gives, a sum or product kept as one value; a layout is applied to what those
    are made of."""
    trace, whole = here().trace, analyzer.simplifier.opened
    if operation.__module__.startswith("lego_emit.trace."):

        def opened(value: Any) -> Any:
            return whole(value, trace.flats, ()) if isinstance(value, Expr) else value

        return _done(analyzer, operation, [_each(a, opened) for a in arguments])

    def kept(value: Any) -> Any:
        if not isinstance(value, Expr):
            return value
        value = opaque(value)
        if (single := value.single) is not None and single.kind == "opaque":
            trace.flats[single] = None
        return value

    return _each(_done(analyzer, operation, arguments), kept)


def _now(value: Any, analyzer: Analyzer) -> Any:
    """A value that no step gave, under what is known."""
    if isinstance(value, Expr):
        return analyzer.rebuilt(Expr.of(value))
    if isinstance(value, Cond):
        return Cond.rebuild(plain(value), analyzer.rebuilt)
    return value

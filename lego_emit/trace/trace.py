"""The state of one function that is being followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..algebra.slices import AXIS_NAMES
from ..arith.analyzer import Analyzer
from ..arith.expr import Cond, Expr, any_of
from ..arith.steps import Log
from ..arith.terms import Atom
from ..errors import TraceError
from ..ir.program import Group
from ..table_lookup import Entries
from .paths import MAX_PATHS, Running, explore, running

if TYPE_CHECKING:
    from .tape import Tape
    from .words import Words


GREATEST = 2**63 - 1, 2**63 - 1  # of the index type of sizes without a bound, and of any


@dataclass
class Trace:
    """One function being followed."""

    analyzer: Analyzer
    sizes: Mapping[str, int]
    function: Callable[[Trace], Any]
    signature: list[str] = field(default_factory=list)
    free: list[str] = field(default_factory=list)  # parameters beside the signature's, by first use
    undefined: list[str] = field(default_factory=list)  # those that are names nobody defined
    axes: list[str] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)  # parameters that are one to a caller
    types: Mapping[str, str] = field(
        default_factory=dict
    )  # that parameters and results are declared as
    static: Mapping[str, int | None] = field(
        default_factory=dict
    )  # static sizes, and their numbers where they have one
    preconditions: list[Cond] = field(default_factory=list)
    extents: dict[str, Expr] = field(default_factory=dict)  # of the axes
    base: int = 0  # what the first index is called: 0 or 1
    named: frozenset[str] | None = (
        None  # the parameters and results that count from base; None: all
    )
    indices: set[str] = field(default_factory=set)  # parameters that are indices as they stand
    asked: dict[str, Cond] = field(default_factory=dict)  # for a remainder, undecided then
    turned: set[str] = field(default_factory=set)  # those that turned out to be in this run
    placed: set[str] = field(default_factory=set)  # parameters that are indices of a layout
    _axis: int = 0
    layouts: dict[int, Any] = field(default_factory=dict)  # whose sizes were learned
    stand_ins: dict[Atom, Expr] = field(default_factory=dict)  # of values out of a known range
    outside: list[tuple[Expr, Expr, Cond]] = field(default_factory=list)  # see learn_assumed
    # of layouts' sizes that are multiplied, by these: (a difference, the condition that it is 0)
    new_equations: dict[tuple[Any, ...], tuple[Expr, Cond]] = field(default_factory=dict)
    known_equations: dict[tuple[Any, ...], Cond] = field(
        default_factory=dict
    )  # those that are known
    # preconditions that are known from here on
    assumed_preconditions: list[Cond] = field(default_factory=list)
    narrowed: set[str] = field(default_factory=set)  # parameters whose range follows from these
    is_unsigned: bool = False  # whether parameters are of a type without negative numbers
    unsigned: set[str] = field(default_factory=set)  # at least 0 because of their type alone
    keeps: bool = False  # flat positions are kept as one value, not looked into
    keeps_steps: bool = False  # whether the results of a function's steps are kept as one value
    flats: dict[Atom, None] = field(default_factory=dict)  # those that were kept
    tables: bool = False  # tables are looked up, though a formula of theirs is known
    has_tables: dict[Entries, None] = field(default_factory=dict)  # such tables
    tape: Tape | None = None  # what a user's function did
    most: int = MAX_PATHS  # paths that are followed
    greatest: tuple[int, int] = GREATEST
    words: Words | None = None  # of a function whose arithmetic wraps
    loops: set[str] = field(default_factory=set)  # the keys of those that were made in it
    states: dict[str, list[Expr]] = field(default_factory=dict)  # behind each loop, by its key
    has_genp: bool = False  # a GenP of sizes that are no numbers is applied or inverted

    def run(self) -> Any:
        """Follow the function once, all its paths."""
        self.analyzer.log = Log()
        self.outside, self.new_equations, self.states = [], {}, {}

        def start() -> Any:
            self.begin()
            return self.function(self)

        tape = self.tape
        if tape is None or not tape.stale:
            joined = self.words and self.words.joined
            return explore(start, self.running(), self.asked, most=self.most, joined=joined)
        with tape.written():
            return explore(start, self.running(), self.asked, tape.on_decision, self.most)

    def running(self) -> Running:
        """This trace as what runs, no path of it being followed."""
        return Running(self.analyzer, self)

    def begin(self) -> None:
        """A path begins: the ':' on it are counted anew."""
        self._axis = 0

    def but(self, **changes: Any) -> Trace:
        """The same trace but for these fields."""
        made = object.__new__(type(self))
        made.__dict__ = self.__dict__ | changes
        return made

    def kept(self) -> tuple[Any, list[Atom], Log]:
        """(the result with all flat positions kept as one value, those values, the steps)."""
        return self._keeping(keeps=True)

    def kept_steps(self) -> tuple[Any, list[Atom], Log]:
        """The same with the result of each step of the function kept."""
        return self._keeping(keeps_steps=True)

    def looked_up(self) -> tuple[Any, list[Atom], Log]:
        """The same with tables looked up that have a formula, nothing kept."""
        return self._keeping(tables=True)

    def _keeping(self, **what: bool) -> tuple[Any, list[Atom], Log]:
        made = self.but(flats={}, preconditions=[*self.preconditions], extents={}, **what)
        result = made.run()
        log, self.analyzer.log = self.analyzer.log, None
        assert log is not None
        return result, list(made.flats), log

    def state(self) -> tuple:
        """What shows whether a run learned something."""
        return self.analyzer.state(), tuple(self.free), tuple(self.axes), len(self.indices)

    def symbol(self, name: str) -> Expr:
        """A parameter, or the number that sizes= fixes it to."""
        if name in self.sizes:
            return Expr.of(self.sizes[name])
        symbol = self.analyzer.symbol(name)
        return symbol - self.base if name in self.indices else symbol

    def base_of(self, name: str) -> int:
        """What the first index of an axis is called."""
        return self.base if self.named is None or name in self.named else 0

    def result_base(self, name: str) -> int:
        """What a result's 0 is called; without names a formula that has no layout counts nothing."""
        counts = self.named is not None or self.indices or self.layouts
        return self.base_of(name) if counts else 0

    def argument(self, name: str) -> Expr | int:
        """What a user's function is given for a parameter: a number where sizes= fixes it."""
        if self.words is not None:
            return self.words.argument(name, self.sizes.get(name), self.analyzer)
        return self.sizes[name] if name in self.sizes else step(_symbol, name)

    def add_parameter(self, name: str) -> None:
        """Take a symbol for a parameter, if it is none yet."""
        known = name in self.signature or name in self.free or name in self.axes
        known = known or (self.words is not None and name in self.words.rows)
        if not known and name not in self.sizes and name not in self.analyzer.facts.quotients:
            self.free.append(name)

    def axis(self, size: Expr) -> Expr:
        """The parameter that the next ':' of this path stands for, which runs over a size."""
        if self._axis == len(self.axes):
            taken = {*self.signature, *self.free, *self.axes}
            choices = [*AXIS_NAMES, *(f"i{k}" for k in range(64))]
            self.axes.append(next(n for n in choices if n not in taken))
        name = self.axes[self._axis]
        self._axis += 1
        before = self.extents.setdefault(name, size)
        if (before - size).terms:
            raise TraceError(
                f"':' stands for an axis of {before!r} and, in another branch, for one of {size!r}: a "
                f"caller runs over one extent; write the index as a parameter instead"
            )
        base = self.base_of(name)
        self.analyzer.learn_range(name, Expr.of(base), size - 1 + base)
        if self.named is None:
            self.indices.add(name)
        return self.symbol(name)

    def note(self, condition: Cond, branch: Iterable[Cond] = ()) -> None:
        """A precondition for the header; one of a branch, or of the path here, says so."""
        here = self.analyzer.facts.branch
        if any(c.identity == condition.identity for c in here):  # it is what the branch asks for
            return
        branch = [*branch, *here]
        choices = {c.identity: c for c in (*(self.put_back(~c) for c in branch), condition)}
        if any((~c).identity in choices for c in choices.values()):
            return
        found = any_of([*choices.values()])
        if found.identity not in {c.identity for c in self.preconditions}:
            self.preconditions.append(found)

    def coordinate(self, value: Any, size: Any) -> None:
        """Preconditions for the header where a coordinate is not known to be at least 0, and below a
        size that is not None."""
        if self.tape is not None:
            self.tape.step(_coordinate, value, size)
        else:
            self._coordinate(value, size)

    def _coordinate(self, value: Any, size: Any) -> None:
        known = self.analyzer
        found = known.rebuilt(Expr.of(value))
        end = None if size is None else known.rebuilt(Expr.of(size))
        own = [known.unsubstitute(self.put_back(e)) for e in (found, found if end is None else end)]
        if not known.nonneg(found):
            self.note(Cond("le", Expr.of(0), own[0]))
        if end is not None and not known.nonneg(end - found - 1):
            self.note(Cond("lt", own[0], own[1]))

    def put_back(self, value: Any) -> Any:
        """An expression or a condition with the values of the stand-ins that are in it."""
        return self.analyzer.simplifier.put_back(value, self.stand_ins)

    def params(self) -> list[str]:
        """The parameters in order: signature, then free names by first use, then axes."""
        return [n for n in (*self.signature, *self.free, *self.axes) if n not in self.sizes]


def running_trace() -> Trace | None:
    """The trace that is running, if any."""
    now = running()
    return None if now is None else now.trace


def _coordinate(value: Any, size: Any) -> None:
    trace = running_trace()
    assert trace is not None
    trace._coordinate(value, size)


def _symbol(name: str) -> Expr:
    trace = running_trace()
    assert trace is not None
    return trace.symbol(name)


def step(operation: Callable[..., Any], *arguments: Any) -> Any:
    """operation(*arguments): a step of the function that is followed, if any is; its symbols go on with
    what is running."""
    now = running()
    if now is None or now.trace is None:
        return operation(*arguments)
    tape = now.trace.tape
    return (now.analyzer if tape is None else tape).step(operation, *arguments)

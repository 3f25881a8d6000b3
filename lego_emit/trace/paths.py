"""Branches: a function is followed along each of its paths, and the results are joined.

A condition on symbols has no truth that Python's `if` could ask for. So a function with an `if` is
called once for each path. For i >= 0 and

    def f(i):
        if i < 8:
            return i % 8
        return i % 8 + 1

the first call takes the branch where i < 8 holds, and returns i; the second takes the other one, and
returns i%8 + 1. `explore` joins both: i if i < 8 else i%8 + 1. The first result is shorter, because on a
path its conditions are facts. They hold in a scope of the analyzer that ends with the path: i is not
known to be below 8 on the other one, which would then return 1 more than i.

A condition is open only if nothing decides it: not the conditions before it on the path, not the
analyzer, and not all values of its symbols where these are few. An open condition is True on the first
path that meets it. For each one, last to first, the function is called again with the answers before it
kept and this one turned; what those calls meet in turn is followed the same way. With n open
conditions one after the other that are 2**n paths, at most 256; where they are many, or a shorter form
may come of it, branches that only assign variables are joined where they meet (joined.py). A loop over
a symbol is refused after 64 open conditions on one path. Results are joined element by element, and
what is the same in both branches stays without a select.

`Impossible` ends a path whose conditions contradict each other: it has no values, and the join leaves
it out. To find a contradiction is not promised; a path that was not seen to be impossible costs a
branch that nobody takes, never a wrong value. If no path is possible, the assumptions contradict each
other, and AssumptionError says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..arith.analyzer import Analyzer
from ..arith.context import plain
from ..arith.expr import RUNNING, Cond
from ..errors import AssumptionError, TraceError
from ..intervals import ANY, Interval

if TYPE_CHECKING:
    from ..arith.points import Points

MAX_PATHS = 256  # of one run, those through GenP's functions too
MAX_DEPTH = 64  # undecided conditions on one path
MAX_ASKED = 4096  # conditions on one path, decided ones too
MAX_SHOWN = 80  # characters of a condition in a message

OnDecision = Callable[[Cond, bool, bool], None]


@dataclass
class _Shared:
    """What all paths have in common that are explored at once: how often they part, the bounds of
    symbols on all of them, and the points that these leave."""

    most: int = MAX_PATHS
    paths: int = 0
    bounds: dict[str, Interval] = field(default_factory=dict)
    points: dict[frozenset[str], Points] = field(default_factory=dict)
    asked: dict[str, Cond] = field(default_factory=dict)  # for a remainder, undecided then
    on_decision: OnDecision | None = None
    _names: dict[tuple[Any, ...], frozenset[str]] = field(default_factory=dict)

    def learn(self, known: Analyzer) -> None:
        """Take the bounds that are known while no branch is followed."""
        for name in known.facts.ranges:
            self.bounds[name] = known.interval(known.symbol(name))

    def names(self, condition: Cond) -> frozenset[str]:
        """The symbols of a condition."""
        key = condition.identity
        if key not in self._names:
            self._names[key] = frozenset(s for e in condition.exprs() for s in e.symbols())
        return self._names[key]

    def over(self, names: frozenset[str]) -> Points | None:
        """All values of the symbols, None where there are too many."""
        if names not in self.points:
            from ..arith.points import MOST, Points

            ranges, count = {}, 1
            for name in sorted(names):
                lo, hi = self.bounds.get(name, ANY)
                if lo is None or hi is None or not 0 < (count := count * (hi - lo + 1)) <= MOST:
                    return None
                ranges[name] = range(lo, hi + 1)
            self.points[names] = Points(ranges)
        return self.points[names]


@dataclass
class _Path:
    """One run: what is decided in it, those of the decisions that were made up on the way, and
    the scope in which the facts hold them."""

    decided: dict[tuple[Any, ...], tuple[Cond, bool]]  # by the conditions' identities
    chosen: dict[tuple[Any, ...], bool]  # what to decide when it is asked
    shared: _Shared
    analyzer: Analyzer
    taken: list[Cond] = field(default_factory=list)
    scope: ExitStack = field(default_factory=ExitStack)
    scoped: bool = False
    asked: int = 0

    def possible(self, condition: Cond) -> list[bool]:
        """The values that a condition has here, where all values of its symbols are few enough to
        be looked at; else both."""
        names = self.shared.names(condition)
        points = self.shared.over(names)
        if points is None:
            return [True, False]
        known = [(c, v) for c, v in self.decided.values() if self.shared.names(c) <= names]
        return points.possible(known, condition)

    def decide(self, condition: Cond, value: bool) -> None:
        """Let a condition have a value for the rest of the run."""
        if not self.scoped:
            self.scope.enter_context(self.analyzer.scope())
            self.scoped = True
        self.decided[condition.identity] = condition, value
        known = condition if value else ~condition
        self.analyzer.assume(known)
        self.analyzer.facts.branch = (*self.analyzer.facts.branch, known)

    def before(self, condition: Cond) -> bool | None:
        """What was decided of a condition or its negation on this path, None where nothing was."""
        for same, sign in ((condition, True), (~condition, False)):
            if same.identity in self.decided:
                return self.decided[same.identity][1] is sign
        return None

    def ask(self, condition: Cond) -> bool:
        """What `if condition:` does: the answer where it is known, else both branches are followed."""
        known = self.analyzer
        own = plain(condition)
        if own is condition:  # nobody simplified it
            own = own.rebuild(known.rebuilt)
        answer, is_open = self._answer(own)
        if self.shared.on_decision is not None:
            self.shared.on_decision(condition, answer, is_open)
        return answer

    def _answer(self, condition: Cond) -> tuple[bool, bool]:
        """(the answer, whether the other one is possible, too)."""
        known = self.analyzer
        self.asked += 1
        if self.asked > MAX_ASKED:
            raise TraceError(
                f"more than {MAX_ASKED} conditions on one path, the last {_shown(condition)}: a loop "
                f"that no value of a symbol ends? Let it run over numbers, or fix sizes with "
                f"sizes={{...}}"
            )
        before = self.before(condition)
        if before is not None:
            return before, False
        possible = self.possible(condition) if self.decided else [True, False]
        if len(possible) == 2:
            decided = known.simplifier.decided(condition)
            if decided is not None:
                return decided, False
        if not self.decided:
            self.shared.learn(known)
            possible = self.possible(condition)
        chosen = self.chosen.get(condition.identity)
        if len(possible) == 2 and chosen is None:
            possible = [v for v in (True, False) if not _contradicts(condition, v, known)]
        if not possible:
            raise Impossible
        if len(possible) == 1:
            return possible[0], False
        if len(self.decided) >= MAX_DEPTH:
            raise TraceError(
                f"more than {MAX_DEPTH} undecided conditions on one path, the last "
                f"{_shown(condition)}: a loop over a symbol? Write lego_emit.fori_loop, bound it with "
                f"assume=[...], or fix its size with sizes={{...}}"
            )
        if chosen is None:
            self.taken.append(condition)
        value = chosen is not False
        self.decide(condition, value)
        if condition.remainder is not None:
            self.shared.asked[condition.key] = condition
        return value, True


class Impossible(BaseException):
    """What was decided on this path contradicts itself: no values take it. No function of a
    user's catches it."""


@dataclass(frozen=True, eq=False)
class Running:
    """What runs: an analyzer to ask; the trace that it is of, None where a layout is applied outside of
    any; the path of a function that is followed, None where none is."""

    analyzer: Analyzer
    trace: Any = None
    path: _Path | None = None

    def ask(self, condition: Cond) -> bool | None:
        """What `if condition:` does; None where that is not known and no path is followed."""
        if self.path is not None:
            return self.path.ask(condition)
        return self.analyzer.decide(plain(condition))

    @contextmanager
    def entered(self) -> Iterator[None]:
        """While this is what runs."""
        token = RUNNING.set(self)
        try:
            yield
        finally:
            RUNNING.reset(token)


def running() -> Running | None:
    """What is running, if anything is."""
    return RUNNING.get()


def here() -> Running:
    """What is running, where something is."""
    now = running()
    assert now is not None
    return now


def _contradicts(condition: Cond, value: bool, known: Analyzer) -> bool:
    """Whether a condition's value is seen at once to contradict what is known."""
    with known.scope():
        known.assume(condition if value else ~condition)
        return known.bounds.contradictory()


def _shown(condition: Cond) -> str:
    text = repr(condition)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}.."


def explore(
    function: Callable[[], Any],
    within: Running,
    asked: dict[str, Cond] | None = None,
    on_decision: OnDecision | None = None,
    most: int = MAX_PATHS,
    joined: Callable[[Cond, Any, Any, Analyzer], Any] | None = None,
) -> Any:
    """Call function once for each combination of undecided conditions; the results, joined by
    selects. within: what it runs in. asked: where the conditions are put that ask for a remainder and
    are undecided. on_decision: is told of each condition, its value, and whether it was undecided.
    most: paths; joined: what joins the results of two branches, else `join`."""
    outer = within.path
    if outer is not None:
        shared = outer.shared
    else:
        shared = _Shared(most, asked={} if asked is None else asked, on_decision=on_decision)

    def run(prefix: list[tuple[Cond, bool]]) -> tuple[_Path, Any]:
        shared.paths += bool(prefix)  # the first of a function is one of its caller's
        if shared.paths >= shared.most:
            error = TraceError(
                f"more than {shared.most} paths, the last decided by {_shown(prefix[-1][0])}: let "
                f"an if only assign variables, which doubles none, spell choices with min, max, // "
                f"and %, bound the symbols with assume=[...], or fix sizes with sizes={{...}}"
            )
            error.many_paths = True
            raise error
        chosen = {condition.identity: value for condition, value in prefix}
        decided = dict(outer.decided) if outer is not None else {}
        path = _Path(decided, chosen, shared, within.analyzer)
        with Running(within.analyzer, within.trace, path).entered(), path.scope:
            try:
                return path, function()
            except Impossible:
                return path, Impossible

    def tree(prefix: list[tuple[Cond, bool]]) -> Any:
        path, result = run(prefix)
        for k in range(len(path.taken) - 1, -1, -1):
            before = [(c, True) for c in path.taken[:k]]
            other = tree([*prefix, *before, (path.taken[k], False)])
            result = (joined or join)(path.taken[k], result, other, within.analyzer)
        return result

    result = tree([])
    if result is not Impossible:
        return result
    if outer is not None:
        raise Impossible
    raise AssumptionError(
        "the assumptions contradict each other: no values of the symbols take any path"
    )


def join(condition: Cond, a: Any, b: Any, known: Analyzer, chosen: Any = None) -> Any:
    """a where the condition holds, else b: results, element by element. chosen: what joins two values, else
    a select. Raises TraceError where they cannot be joined."""
    if a is Impossible or b is Impossible:
        return b if a is Impossible else a
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        joined = [join(condition, x, y, known, chosen) for x, y in zip(a, b, strict=True)]
        return getattr(type(a), "_make", type(a))(joined)  # a named tuple, too
    if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
        return {k: join(condition, a[k], b[k], known, chosen) for k in a}
    if a is b or (isinstance(a, int | str) and type(a) is type(b) and a == b):
        return a
    from .mirrored import mirrored

    try:
        a, b = plain(a), plain(b)
        if chosen is not None:
            return chosen(condition, a, b)
        return known.simplifier.select(condition, *mirrored(condition, a, b, known))
    except TraceError:
        raise TraceError(
            f"the branches of {condition!r} give {a!r} and {b!r}, which cannot be joined"
        ) from None

"""Follow a user's function with symbols: parameters, ranges, branches, results.

A function is called at least twice: first to learn its names, the layouts' sizes and what they
say (divisibility, index ranges), then again under all of that, until nothing new is learned.
"""

from __future__ import annotations

import builtins
import inspect
import re
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from math import prod
from numbers import Integral
from typing import Any

from .bijection import names_in
from .errors import (
    LONGEST,
    RAISED,
    AssumptionError,
    LegoError,
    TraceError,
    line_in,
    nearest,
    shown,
)
from .expr import (
    RECORDER,
    TOO_DEEP,
    Atom,
    Cond,
    Expr,
    current,
    divide_terms,
    maximum,
    minimum,
    select,
    using,
)
from .facts import Facts, Interval
from .points import MOST as MOST_POINTS
from .points import Points

MAX_PATHS = 256  # of one run, those through GenP's functions too
MAX_DEPTH = 64  # undecided conditions on one path
MAX_ASKED = 4096  # conditions on one path, decided ones too
MAX_SHOWN = 80  # characters of a condition in a message
AXIS_NAMES = "ijklmn"
INDEX_NAMES = frozenset("ijk")  # of variables that are hardly meant as constants
ALIKE = 0.7  # names that are taken for one another

_running: ContextVar[Trace | None] = ContextVar("lego_emit_trace", default=None)
_path: ContextVar[_Path | None] = ContextVar("lego_emit_path", default=None)


def running() -> Trace | None:
    """The trace that is running, if any."""
    return _running.get()


@dataclass
class Trace:
    """One function being followed."""

    facts: Facts
    sizes: Mapping[str, int]
    signature: list[str] = field(default_factory=list)
    free: list[str] = field(default_factory=list)  # parameters beside the signature's, by first use
    undefined: list[str] = field(default_factory=list)  # those that are names nobody defined
    captured: dict[int, tuple[str, Any]] = field(default_factory=dict)  # id -> a variable
    misread: dict[str, tuple[int, str]] = field(default_factory=dict)  # name -> (value, of what)
    axes: list[str] = field(default_factory=list)
    preconditions: list[str] = field(default_factory=list)
    extents: dict[str, Expr] = field(default_factory=dict)  # of the axes
    base: int = 0  # what the first index is called: 0 or 1
    indices: set[str] = field(default_factory=set)  # parameters that are indices as they stand
    asked: dict[str, Cond] = field(default_factory=dict)  # for a remainder, undecided then
    turned: set[str] = field(default_factory=set)  # those that turned out to be in this run
    _axis: int = 0
    _layouts: dict[int, Any] = field(default_factory=dict)  # whose sizes were learned
    function: Callable[[Trace], Any] | None = None
    stand_ins: dict[Atom, Expr] = field(default_factory=dict)  # of values out of a known range
    whole: frozenset[int] = frozenset()  # the flat positions that are kept as one value
    steps: int = 0  # flat positions that were taken apart

    def knows(self, layout: Any) -> bool:
        """Whether a layout's sizes were learned before, so that they hold on every path."""
        return id(layout) in self._layouts

    def learned(self, layout: Any) -> None:
        """A layout's sizes were learned, and nothing was wrong with them."""
        if not in_a_branch():
            self._layouts[id(layout)] = layout

    def keeps(self) -> bool:
        """Whether the next flat position is kept as one value, not looked into."""
        self.steps += 1
        return self.steps - 1 in self.whole

    def run(self) -> Any:
        """Follow the function once, all its paths."""
        if (recorder := RECORDER.get()) is not None:
            recorder.start(self.facts, self.whole)

        def start() -> Any:
            self._axis = self.steps = 0
            return self.function(self)

        with _in(self):
            return explore(start)

    def again(self, whole: Collection[int]) -> Any:
        """The result with some flat positions kept as one value."""
        made = replace(
            self, whole=frozenset(whole), preconditions=[*self.preconditions], extents={}
        )
        return made.run()

    def state(self) -> tuple:
        """What shows whether a run learned something."""
        return self.facts.state(), tuple(self.free), tuple(self.axes), len(self.indices)

    def symbol(self, name: str) -> Expr:
        """A parameter, or the number that sizes= fixes it to."""
        if name in self.sizes:
            return Expr.of(self.sizes[name])
        symbol = self.facts.symbol(name)
        return symbol - self.base if name in self.indices else symbol

    def argument(self, name: str) -> Expr | int:
        """What a user's function is given for a parameter: a number where sizes= fixes it."""
        return self.sizes[name] if name in self.sizes else self.symbol(name)

    def add_parameter(self, name: str) -> None:
        """Take a symbol for a parameter, if it is none yet."""
        known = name in self.signature or name in self.free or name in self.axes
        if not known and name not in self.sizes and name not in self.facts.quotients:
            self.free.append(name)

    def capture(self, name: str, value: Any) -> Any:
        """The value of a variable around the function, to be known again where it is an index. What
        is written in capitals is a constant."""
        if not isinstance(value, Integral) or isinstance(value, bool) or name == name.upper():
            return value
        made = _Captured(value) if type(value) is int else value
        self.captured[id(made)] = name, made
        return made

    def indexed(self, layout: Any, axis: int | None, index: Any) -> None:
        """A layout was asked at a number: is that a variable around the function?"""
        name, value = self.captured.get(id(index), ("", None))
        if name and value is index:
            place = "the position" if axis is None else f"index {axis}"
            self.misread.setdefault(name, (int(index), f"{place} of {layout!r}"))

    def axis(self, size: Expr) -> Expr:
        """The parameter of the next ':'."""
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
        self.facts.learn_range(name, Expr.of(self.base), size - 1 + self.base)
        self.indices.add(name)
        return self.symbol(name)

    def note(self, text: str, branch: Iterable[Cond] = ()) -> None:
        """A precondition for the header; one of a branch, or of the path here, says so."""
        path = _path.get()
        if path is not None and path.decided:
            branch = [*branch, *(c if value else ~c for c, value in path.decided.items())]
        text = " or ".join([*(repr(self.put_back(~c)) for c in branch), text])
        if text not in self.preconditions:
            self.preconditions.append(text)

    def put_back(self, value: Any) -> Any:
        """An expression or a condition with the values of the stand-ins that are in it."""
        exprs = list(value.exprs()) if isinstance(value, Cond) else [value]
        if not any(atom in self.stand_ins for e in exprs for atom in e.deep_atoms()):
            return value
        return self.put_back(
            value.rebuild(lambda e: e.rebuild(self.stand_ins.get))
            if isinstance(value, Cond)
            else value.rebuild(self.stand_ins.get)
        )

    def params(self) -> list[str]:
        """The parameters in order: signature, then free names by first use, then axes."""
        return [n for n in (*self.signature, *self.free, *self.axes) if n not in self.sizes]


class _Captured(int):
    """A number that is an object of its own: 5 is the same one everywhere."""


class _Globals(dict):
    """A function's globals in which undefined names are parameters."""

    def __init__(self, original: Mapping[str, Any], trace: Trace, read: Iterable[str]):
        super().__init__(original)
        self.update((n, trace.capture(n, original[n])) for n in read if n in original)
        self._trace = trace
        for name, value in _FOR_SYMBOLS.items():
            self.setdefault(name, value)

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name) or name.startswith("__"):
            raise KeyError(name)
        trace = self._trace
        if name not in trace.free:
            if name in trace.axes:  # an axis took the name before it was known to be in use
                trace.axes.remove(name)
            trace.free.append(name)
        if name not in trace.undefined:
            trace.undefined.append(name)
        return trace.argument(name)


def _minimum(*values: Any, **options: Any) -> Any:
    return _extreme(builtins.min, minimum, values, options)


def _maximum(*values: Any, **options: Any) -> Any:
    return _extreme(builtins.max, maximum, values, options)


def _is_instance(value: Any, classes: Any) -> bool:
    """A symbol stands for an int."""
    return isinstance(value, classes) or (isinstance(value, Expr) and isinstance(0, classes))


_FOR_SYMBOLS = {"min": _minimum, "max": _maximum, "isinstance": _is_instance}


def _extreme(builtin, ours, values, options):
    items = list(values[0]) if len(values) == 1 else list(values)
    if options or not any(isinstance(v, (Expr, Cond)) for v in items):
        return builtin(items, **options)
    result = items[0]
    for item in items[1:]:
        result = ours(result, item)
    return result


# -- branches ------------------------------------------------------------------------------------


@dataclass
class _Shared:
    """What all paths have in common that are explored at once: how often they part, the bounds of
    symbols on all of them, and the points that these leave."""

    paths: int = 0
    bounds: dict[str, Interval] = field(default_factory=dict)
    points: dict[frozenset[str], Points] = field(default_factory=dict)
    _names: dict[Cond, frozenset[str]] = field(default_factory=dict)

    def learn(self, facts: Facts) -> None:
        """Take the bounds that are known while no branch is followed."""
        for name in facts.ranges:
            self.bounds[name] = facts.interval(facts.symbol(name))

    def names(self, condition: Cond) -> frozenset[str]:
        """The symbols of a condition."""
        if condition not in self._names:
            self._names[condition] = frozenset(s for e in condition.exprs() for s in e.symbols())
        return self._names[condition]

    def over(self, names: frozenset[str]) -> Points | None:
        """All values of the symbols, None where there are too many."""
        if names not in self.points:
            bounds = [self.bounds.get(name, (None, None)) for name in sorted(names)]
            if any(None in b for b in bounds):
                return None
            ranges = [range(lo, hi + 1) for lo, hi in bounds]
            if not 0 < prod(map(len, ranges)) <= MOST_POINTS:
                return None
            self.points[names] = Points(dict(zip(sorted(names), ranges, strict=True)))
        return self.points[names]


@dataclass
class _Path:
    """One run: what is decided in it, those of the decisions that were made up on the way, and
    the scope in which the facts hold them."""

    decided: dict[Cond, bool]
    chosen: dict[Cond, bool]  # what to decide when it is asked
    shared: _Shared
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
        known = [(c, v) for c, v in self.decided.items() if self.shared.names(c) <= names]
        return points.possible(known, condition)

    def decide(self, condition: Cond, value: bool, facts: Facts) -> None:
        """Let a condition have a value for the rest of the run."""
        if not self.scoped:
            self.scope.enter_context(facts.scope())
            self.scoped = True
        self.decided[condition] = value
        facts.assume(condition if value else ~condition)


class _Impossible(BaseException):
    """What was decided on this path contradicts itself: no values take it. No function of a
    user's catches it."""


def in_a_branch() -> bool:
    """Whether some condition was undecided on the way here."""
    path = _path.get()
    return path is not None and bool(path.decided)


def ask(condition: Cond) -> bool:
    """What `if condition:` does: the answer where it is known, else both branches are followed."""
    path, facts = _path.get(), current()
    if path is None:
        known = facts.decide(condition)
        return _without_a_path(condition) if known is None else known
    path.asked += 1
    if path.asked > MAX_ASKED:
        raise TraceError(
            f"more than {MAX_ASKED} conditions on one path, the last {_shown(condition)}: a loop "
            f"that no value of a symbol ends? Let it run over numbers, or fix sizes with "
            f"sizes={{...}}"
        )
    for same, sign in ((condition, True), (~condition, False)):
        if same in path.decided:
            return path.decided[same] is sign
    possible = path.possible(condition) if path.decided else [True, False]
    if len(possible) == 2:
        known = facts.decide(condition)
        if known is not None:
            return known
    if not path.decided:
        path.shared.learn(facts)
        possible = path.possible(condition)
    if len(possible) == 2 and condition not in path.chosen:
        possible = [v for v in (True, False) if not _contradicts(condition, v, facts)]
    if not possible:
        raise _Impossible
    if len(possible) == 1:
        return possible[0]
    if len(path.decided) >= MAX_DEPTH:
        raise TraceError(
            f"more than {MAX_DEPTH} undecided conditions on one path, the last "
            f"{_shown(condition)}: a loop over a symbol? Bound it with assume=[...], or fix its "
            f"size with sizes={{...}}"
        )
    if condition not in path.chosen:
        path.taken.append(condition)
    value = path.chosen.get(condition, True)
    path.decide(condition, value, facts)
    if condition.remainder is not None and (trace := running()) is not None:
        trace.asked[condition.key] = condition
    return value


def _contradicts(condition: Cond, value: bool, facts: Facts) -> bool:
    """Whether a condition's value is seen at once to contradict what is known."""
    with facts.scope():
        facts.assume(condition if value else ~condition)
        return facts.contradictory()


def _without_a_path(condition: Cond) -> bool:
    """An undecided condition where no branches are followed: only == and != have an answer."""
    if condition.op in ("eq", "ne"):
        return condition.op == "ne"
    raise TraceError(
        f"{condition!r} is undecided: a symbol has no value here. Inside a function given to "
        f"generate() or GenP both branches are followed; elsewhere use numbers"
    )


def _shown(condition: Cond) -> str:
    text = repr(condition)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}.."


def explore(function: Callable[[], Any]) -> Any:
    """Call function once for each combination of undecided conditions; the results, joined by
    selects."""
    outer = _path.get()
    shared = _Shared() if outer is None else outer.shared

    def run(prefix: list[tuple[Cond, bool]]) -> tuple[_Path, Any]:
        shared.paths += bool(prefix)  # the first of a function is one of its caller's
        if shared.paths >= MAX_PATHS:
            raise TraceError(
                f"more than {MAX_PATHS} paths, the last decided by {_shown(prefix[-1][0])}: spell "
                f"choices with min, max, // and %, bound the symbols with assume=[...], or fix "
                f"sizes with sizes={{...}}"
            )
        path = _Path(dict(outer.decided) if outer is not None else {}, dict(prefix), shared)
        token = _path.set(path)
        try:
            with path.scope:
                try:
                    return path, function()
                except _Impossible:
                    return path, _Impossible
        finally:
            _path.reset(token)

    def tree(prefix: list[tuple[Cond, bool]]) -> Any:
        path, result = run(prefix)
        for k in range(len(path.taken) - 1, -1, -1):
            before = [(c, True) for c in path.taken[:k]]
            other = tree([*prefix, *before, (path.taken[k], False)])
            result = _join(path.taken[k], result, other)
        return result

    result = tree([])
    if result is not _Impossible:
        return result
    if outer is not None:
        raise _Impossible
    raise AssumptionError(
        "the assumptions contradict each other: no values of the symbols take any path"
    )


def _join(condition: Cond, a: Any, b: Any) -> Any:
    if a is _Impossible or b is _Impossible:
        return b if a is _Impossible else a
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        joined = [_join(condition, x, y) for x, y in zip(a, b, strict=True)]
        return getattr(type(a), "_make", type(a))(joined)  # a named tuple, too
    if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
        return {k: _join(condition, a[k], b[k]) for k in a}
    if a is b or (isinstance(a, int | str) and type(a) is type(b) and a == b):
        return a
    try:
        return select(condition, *_mirrored(condition, a, b))
    except TraceError:
        raise TraceError(
            f"the branches of {condition!r} give {a!r} and {b!r}, which cannot be joined"
        ) from None


def _mirrored(condition: Cond, a: Any, b: Any) -> tuple[Any, Any]:
    """Two branches where one takes a root, or the half of a square, of x and the other that of
    s - x, as functions of one value, x or s - x: what they share is then computed once, and never
    gets larger than it is in either (the two halves of an antidiagonal, Fig. 7)."""
    if not isinstance(a, Expr) or not isinstance(b, Expr):
        return a, b
    for one, other in zip(_arguments(a), _arguments(b), strict=True):
        if len(one) != 1 or len(other) != 1 or one == other:
            continue
        (p,), (q,) = one, other
        for x in sorted(p.atoms() & q.atoms(), key=lambda atom: atom.key):
            turn = _turn(_powers(p, x), _powers(q, x))
            if turn is not None:
                known = Expr.atom(x)
                value = select(condition, known, turn - known)
                return a.rebuild({x: value}.get), b.rebuild({x: turn - value}.get)
    return a, b


def _arguments(e: Expr) -> tuple[set[Expr], set[Expr]]:
    """What roots are taken of, and the sums with a square that are halved."""
    atoms = e.deep_atoms()
    roots = {atom.args[0] for atom in atoms if atom.kind == "isqrt"}
    halves = {
        atom.args[0]
        for atom in atoms
        if atom.kind == "digit" and atom.args[1].constant == 2 and atom.args[2] is None
        if any(m.count(x) == 2 for m in atom.args[0].terms for x in m)
    }
    return roots, halves


def _powers(e: Expr, x: Atom) -> list[Expr] | None:
    """The coefficients of 1, x and x*x; None where x stands deeper or in higher powers."""
    found: list[dict] = [{}, {}, {}]
    for mono, c in e.terms.items():
        power = mono.count(x)
        if power > 2:
            return None
        found[power][tuple(atom for atom in mono if atom is not x)] = c
    powers = [Expr(terms) for terms in found]
    return None if any(x in power.deep_atoms() for power in powers) else powers


def _turn(p: list[Expr] | None, q: list[Expr] | None) -> Expr | None:
    """s such that q(s - x) is p(x), but for a constant where there are squares; else None."""
    if p is None or q is None or not p[2].same(q[2]):
        return None
    if p[2].terms:
        by, gap = 2 * p[2], -(p[1] + q[1])
    elif p[1].terms and p[1].same(-q[1]):
        by, gap = p[1], q[0] - p[0]
    else:
        return None
    if len(by.terms) != 1:
        return None
    turn, rest = divide_terms(gap, by)
    return None if rest.terms else turn


# -- running -------------------------------------------------------------------------------------


def check_sizes(sizes: Any) -> dict[str, int]:
    """sizes= as a dict of ints. Raises TraceError for anything else."""
    import operator

    checked = {}
    if sizes is not None and not isinstance(sizes, Mapping):
        raise TraceError(f"sizes must be a dict such as {{'BM': 32}}, not {shown(sizes)}")
    for given, value in dict(sizes or {}).items():
        name = given if isinstance(given, str) else shown(given)
        try:
            if isinstance(value, bool):
                raise TypeError
            checked[name] = operator.index(value)
        except TypeError:
            raise TraceError(f"sizes: {name} must be an integer, not {shown(value)}") from None
        if checked[name].bit_length() > LONGEST:
            raise TraceError(f"sizes: {name} is {shown(value)}; no index type holds it")
    return checked


def follow(
    function: Callable[[Trace], Any],
    sizes: Any,
    assume: Sequence[Any],
    base: int = 0,
) -> tuple[Trace, Any]:
    """Run function(trace) until nothing new is learned; the last trace and its result."""
    from .assume import learn, parse, source_of

    fixed = check_sizes(sizes)
    conditions = [(c, source_of(a)) for a in assume for c in parse(a)]
    facts = Facts(use_z3=False)
    with using(facts):
        learn(facts, [(_fixed(c, fixed), s) for c, s in conditions])
    trace, result = _settled(Trace(facts, fixed, base=base), function, learning=True)
    names = {*trace.params(), *fixed}
    for condition, source in conditions:
        for e in condition.exprs():
            for name in sorted(e.symbols() - names):
                raise AssumptionError(
                    f"the assumption {source!r} names {name}, which is no parameter; parameters: "
                    f"{', '.join(trace.params()) or 'none'}.{nearest(name, names)}"
                )
    for name in sorted(fixed.keys() - {*trace.signature, *trace.free, *trace.axes}):
        raise TraceError(
            f"sizes fixes {name}, which is no parameter; parameters: "
            f"{', '.join(trace.params()) or 'none'}.{nearest(name, trace.params())}"
        )
    facts.check_consistent()
    return trace, result


def go_on(
    trace: Trace, prepare: Callable[[Trace], None], function: Callable[[Trace], Any]
) -> tuple[Trace, Any]:
    """Run function(trace) under what another trace learned and prepare(trace) adds."""
    more = replace(
        trace,
        facts=trace.facts.copy(),
        signature=[*trace.signature],
        free=[*trace.free],
        axes=[],
        preconditions=[*trace.preconditions],
        extents={},
        indices=set(),
        _layouts={**trace._layouts},
    )
    with _in(more):
        prepare(more)
    more, result = _settled(more, function, learning=False)
    more.facts.check_consistent()
    return more, result


def _settled(start: Trace, function: Callable[[Trace], Any], learning: bool) -> tuple[Trace, Any]:
    """The last of the runs, each under what the ones before learned. learning: there is more to
    learn than what start knows, so that the first run is for that alone."""
    trace, result = start, None
    state = None if learning else start.state()
    for attempt in range(6):
        start.facts.use_z3 = attempt > 0 or not learning
        trace = replace(
            trace,
            preconditions=[*start.preconditions],
            extents={},
            turned=set(),
            _layouts=dict(start._layouts),
            function=function,
        )
        result = trace.run()
        for name, size in trace.extents.items():  # an axis has one range, whatever the branch
            trace.facts.learn_range(name, Expr.of(trace.base), size - 1 + trace.base)
        if trace.state() == state:
            break
        state = trace.state()
    return trace, result


@contextmanager
def alone() -> Iterator[None]:
    """While no path is followed: what is decided on it is not asked about here."""
    token = _path.set(None)
    try:
        yield
    finally:
        _path.reset(token)


@contextmanager
def _in(trace: Trace) -> Iterator[None]:
    """While this trace is the running one."""
    token = _running.set(trace)
    try:
        with using(trace.facts):
            yield
    finally:
        _running.reset(token)


def _fixed(condition: Cond, sizes: Mapping[str, int]) -> Cond:
    def walk(value: Any) -> Any:
        return value.rebuild(
            lambda a: Expr.of(sizes[a.args[0]]) if a.kind == "sym" and a.args[0] in sizes else None
        )

    return condition.rebuild(walk)


def call_user_function(fn: Callable[..., Any], trace: Trace) -> Any:
    """Call fn with its parameters as symbols; undefined names are parameters too."""
    name = getattr(fn, "__name__", repr(fn))
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        raise TraceError(f"{name} has no signature that Python can read") from None
    positional, keywords, signature = [], {}, []
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TraceError(f"{name} takes *{p.name}: an index function has named parameters only")
        value = p.default
        if p.name in trace.sizes or value is p.empty:
            signature.append(p.name)
            value = trace.argument(p.name)
        if p.kind is p.KEYWORD_ONLY:
            keywords[p.name] = value
        else:
            positional.append(value)
    trace.signature = signature
    target = fn
    if isinstance(fn, types.FunctionType):
        read = sorted(names_in(fn.__code__))
        cells = _cells(fn, trace)
        target = _copied(fn, fn.__code__, _Globals(fn.__globals__, trace, read), cells)
    return called(target, name, *positional, **keywords)


def _cells(fn: types.FunctionType, trace: Trace) -> tuple[types.CellType, ...] | None:
    """What fn captured from the functions around it; what it changes itself stays its own."""
    if fn.__closure__ is None:
        return None
    found = dict(zip(fn.__code__.co_freevars, fn.__closure__, strict=True))
    for name, cell in found.items():
        if cell != types.CellType():  # not empty
            value = trace.capture(name, cell.cell_contents)
            if value is not cell.cell_contents and not _changes(fn.__code__, name):
                found[name] = types.CellType(value)
    return tuple(found.values())


def _changes(code: types.CodeType, name: str) -> bool:
    import dis

    return any(
        i.argval == name and i.opname in ("STORE_DEREF", "DELETE_DEREF")
        for i in dis.get_instructions(code)
    ) or any(_changes(c, name) for c in code.co_consts if isinstance(c, types.CodeType))


def doubts(fn: Callable[..., Any], trace: Trace) -> Iterator[str]:
    """What fn may not mean: names that nobody defined, variables around it that are indices, a
    branch that its layouts rule out."""
    free = [name for name in trace.undefined if name not in trace.sizes]
    misread = {n: (value, f", as {place}") for n, (value, place) in trace.misread.items()}
    if isinstance(fn, types.FunctionType):
        for n in sorted(INDEX_NAMES & names_in(fn.__code__) - misread.keys()):
            if isinstance(value := fn.__globals__.get(n), int):
                misread[n] = value, ""  # somewhere in what it computes
    rebuilt = trace.facts.rebuilt
    divides = [c for c in trace.asked.values() if rebuilt(Expr.atom(c.remainder)).constant == 0]
    if not free and not misread and not divides:
        return
    name = getattr(fn, "__name__", "the function")
    own = [*inspect.signature(fn).parameters]
    code = getattr(fn, "__code__", None)
    known = {*own, *(code.co_varnames if code else ()), *getattr(fn, "__globals__", ())}
    meant = [n for n in free if not nearest(n, known, ALIKE)]

    def signature(more: Sequence[str]) -> str:
        names = ", ".join([*own, *(n for n in more if n not in own)])
        return f"lambda {names}: .." if name == "<lambda>" else f"def {name}({names})"

    for n in free:
        if n not in meant:
            yield f"{name}: nobody defined {n}, which becomes a parameter.{nearest(n, known, ALIKE)}"
    if meant:
        one = len(meant) == 1
        yield (
            f"{name}: nobody defined {', '.join(meant)}, which {'becomes a' if one else 'become'} "
            f"parameter{'s' * (not one)}; write {'it' if one else 'them'} in the signature, "
            f"{signature(meant)}"
        )
    for c in divides:
        yield (
            f"{name}: it asks whether {c!r}, and a layout in it has a size that says so: the function "
            f"is made for that alone; emit the other branch as a function of its own"
        )
    for n, (value, place) in misread.items():
        yield (
            f"{name}: {n} is {value}, a variable around the function{place}; for a parameter "
            f"write it in the signature, {signature([*misread])}; where the number is meant, in capitals"
        )


def _copied(
    function: types.FunctionType,
    code: types.CodeType,
    names: dict[str, Any],
    cells: tuple[types.CellType, ...] | None,
) -> types.FunctionType:
    """A function with other code, that reads other globals and captured values."""
    made = types.FunctionType(code, names, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _without_sets(code: types.CodeType) -> types.CodeType:
    """The code with tuples for its constant sets: `i in {0, 2}` looks a hash up, and a symbol's is
    no number's; in a tuple it is compared."""

    def changed(constant: Any) -> Any:
        if isinstance(constant, types.CodeType):
            return _without_sets(constant)
        if isinstance(constant, frozenset):
            return tuple(sorted(constant, key=lambda x: (0, x) if type(x) is int else (1, repr(x))))
        return constant

    constants = tuple(map(changed, code.co_consts))
    same = all(a is b for a, b in zip(constants, code.co_consts, strict=True))
    return code if same else code.replace(co_consts=constants)


def called(function: Callable[..., Any], name: str, *positional: Any, **keywords: Any) -> Any:
    """function(..), a user's, on symbols; what it cannot do is an error that has its name and the
    line."""
    if isinstance(function, types.FunctionType):
        code = _without_sets(function.__code__)
        if code is not function.__code__:
            function = _copied(function, code, function.__globals__, function.__closure__)
    raised: list[TraceError] = []
    token = RAISED.set(raised)
    try:
        result = function(*positional, **keywords)
        for error in raised:
            if error.caught_outside:  # by the function, which would go on with what is not so
                raise error
        return result
    except TraceError as error:
        if error.placed:
            raise
        raise _placed(f"{name}{line_in(function, error)}: {error}") from error
    except LegoError:
        raise
    except RecursionError as error:
        if _calls_itself(function, error):
            raise _placed(f"{name} calls itself without end on symbols") from None
        raise _placed(f"{name}: {TOO_DEEP}") from None
    except (Exception, SystemExit) as error:
        line = line_in(function, error)
        raise _placed(f"{name} failed on symbols{line}: {_foreign(error)}") from error
    finally:
        RAISED.reset(token)


def _calls_itself(function: Callable[..., Any], error: BaseException) -> bool:
    code, where, count = getattr(function, "__code__", None), error.__traceback__, 0
    while where is not None:
        count += where.tb_frame.f_code is code
        where = where.tb_next
    return count > 1


def _placed(message: str) -> TraceError:
    error = TraceError(message)
    error.placed = True
    return error


def _foreign(error: BaseException) -> str:
    """An exception that is not ours, with the way out where symbols are its cause."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
    if isinstance(error, SystemExit):
        return f"it ends the program ({text})"
    if isinstance(error, AssertionError):
        return f"{text}: it does not hold for all values; say what holds with assume=['i < 4']"
    if isinstance(error, IndexError) and text.startswith("IndexError: only integers, slices"):
        return (
            "a NumPy array cannot be indexed by a symbol; compute the number, or write a chain of "
            "`a if i == 0 else b`"
        )
    named = re.sub(r"'(Expr|Cond)'( object)?", "a symbol", text)
    if named == text:
        return text
    return (
        f"{named}; what symbols take: + - * // % ** & | ^ ~ << >>, comparisons, min, max, abs, "
        f"divmod, lego_emit.isqrt"
    )


__all__ = ["Atom", "Trace", "call_user_function", "called", "explore", "follow", "go_on", "running"]

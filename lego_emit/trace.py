"""Follow a user's function with symbols: parameters, ranges, branches, results.

A function is called at least twice: first to learn its names, the layouts' sizes and what they
say (divisibility, index ranges), then again under all of that, until nothing new is learned.
"""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from .errors import AssumptionError, LegoError, TraceError, nearest
from .expr import RECORDER, Atom, Cond, Expr, current, divide_terms, maximum, minimum, select, using
from .facts import Facts

MAX_PATHS = 256
MAX_DEPTH = 64
AXIS_NAMES = "ijklmn"

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
    free: list[str] = field(default_factory=list)  # names that nobody defined, by first use
    axes: list[str] = field(default_factory=list)
    preconditions: list[str] = field(default_factory=list)
    extents: dict[str, Expr] = field(default_factory=dict)  # of the axes
    base: int = 0  # what the first index is called: 0 or 1
    indices: set[str] = field(default_factory=set)  # parameters that are indices as they stand
    _axis: int = 0
    _layouts: dict[int, Any] = field(default_factory=dict)  # whose sizes were learned
    function: Callable[[Trace], Any] | None = None
    stand_ins: dict[Atom, Expr] = field(default_factory=dict)  # of values out of a known range
    whole: frozenset[int] = frozenset()  # the flat positions that are kept as one value
    steps: int = 0  # flat positions that were taken apart

    def knows(self, layout: Any) -> bool:
        """Whether a layout's sizes were learned before, so that they hold on every path."""
        if id(layout) in self._layouts:
            return True
        if not in_a_branch():
            self._layouts[id(layout)] = layout
        return False

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

    def add_parameter(self, name: str) -> None:
        """Take a symbol for a parameter, if it is none yet."""
        known = name in self.signature or name in self.free or name in self.axes
        if not known and name not in self.sizes and name not in self.facts.quotients:
            self.free.append(name)

    def axis(self, size: Expr) -> Expr:
        """The parameter of the next ':'."""
        if self._axis == len(self.axes):
            taken = {*self.signature, *self.free, *self.axes}
            choices = [*AXIS_NAMES, *(f"i{k}" for k in range(64))]
            self.axes.append(next(n for n in choices if n not in taken))
        name = self.axes[self._axis]
        self._axis += 1
        self.extents[name] = size
        self.facts.learn_range(name, Expr.of(self.base), size - 1 + self.base)
        self.indices.add(name)
        return self.symbol(name)

    def note(self, text: str) -> None:
        """A precondition for the header; one of a branch says so."""
        path = _path.get()
        if path is not None and path.decided:
            conditions = (~c if value else c for c, value in path.decided.items())
            text = " or ".join([*(repr(self.put_back(c)) for c in conditions), text])
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


class _Globals(dict):
    """A function's globals in which undefined names are parameters."""

    def __init__(self, original: Mapping[str, Any], trace: Trace):
        super().__init__(original)
        self._trace = trace
        for name, value in (("min", _minimum), ("max", _maximum)):
            self.setdefault(name, value)

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name) or name.startswith("__"):
            raise KeyError(name)
        trace = self._trace
        if name not in trace.free:
            if name in trace.axes:  # an axis took the name before it was known to be in use
                trace.axes.remove(name)
            trace.free.append(name)
        return trace.symbol(name)


def _minimum(*values: Any, **options: Any) -> Any:
    return _extreme(builtins.min, minimum, values, options)


def _maximum(*values: Any, **options: Any) -> Any:
    return _extreme(builtins.max, maximum, values, options)


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
class _Path:
    """One run: what is decided in it, those of the decisions that were made up on the way, and
    the scope in which the facts hold them."""

    decided: dict[Cond, bool]
    taken: list[Cond] = field(default_factory=list)
    scope: ExitStack = field(default_factory=ExitStack)
    scoped: bool = False

    def decide(self, condition: Cond, value: bool, facts: Facts) -> None:
        """Let a condition have a value for the rest of the run."""
        if not self.scoped:
            self.scope.enter_context(facts.scope())
            self.scoped = True
        self.decided[condition] = value
        facts.assume(condition if value else ~condition)


def in_a_branch() -> bool:
    """Whether some condition was undecided on the way here."""
    path = _path.get()
    return path is not None and bool(path.decided)


def decide_by_forking(condition: Cond) -> bool:
    """What `if condition:` does while branches are being followed."""
    path = _path.get()
    if path is None:
        if condition.op in ("eq", "ne"):
            return condition.op == "ne"
        raise TraceError(
            f"{condition!r} is undecided: a symbol has no value here. Inside a function given to "
            f"generate() or GenP both branches are followed; elsewhere use numbers"
        )
    if condition in path.decided:
        return path.decided[condition]
    if len(path.decided) >= MAX_DEPTH:
        raise TraceError(
            f"more than {MAX_DEPTH} undecided conditions on one path, the last {condition!r}: "
            f"a loop over a symbol? Fix its size with sizes={{...}}"
        )
    path.taken.append(condition)
    path.decide(condition, True, current())
    return True


def explore(function: Callable[[], Any]) -> Any:
    """Call function once for each combination of undecided conditions; the results, joined by
    selects."""
    facts = current()
    outer = _path.get()
    paths = 0

    def run(prefix: list[tuple[Cond, bool]]) -> tuple[_Path, Any]:
        nonlocal paths
        paths += 1
        if paths > MAX_PATHS:
            raise TraceError(
                f"more than {MAX_PATHS} paths through {getattr(function, '__name__', 'a function')}: "
                f"simplify its conditions or fix sizes with sizes={{...}}"
            )
        path = _Path(dict(outer.decided) if outer is not None else {})
        token = _path.set(path)
        try:
            with path.scope:
                for condition, value in prefix:
                    path.decide(condition, value, facts)
                return path, function()
        finally:
            _path.reset(token)

    def tree(prefix: list[tuple[Cond, bool]]) -> Any:
        path, result = run(prefix)
        for k in range(len(path.taken) - 1, -1, -1):
            before = [(c, True) for c in path.taken[:k]]
            other = tree([*prefix, *before, (path.taken[k], False)])
            result = _join(path.taken[k], result, other)
        return result

    return tree([])


def _join(condition: Cond, a: Any, b: Any) -> Any:
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        return type(a)(_join(condition, x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
        return {k: _join(condition, a[k], b[k]) for k in a}
    if a is b or (not isinstance(a, (Expr, Cond)) and type(a) is type(b) and a == b):
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
        raise TraceError(f"sizes must be a dict such as {{'BM': 32}}, not {sizes!r}")
    for name, value in dict(sizes or {}).items():
        try:
            if isinstance(value, bool):
                raise TypeError
            checked[str(name)] = operator.index(value)
        except TypeError:
            raise TraceError(f"sizes: {name} must be an integer, not {value!r}") from None
    return checked


def follow(
    function: Callable[[Trace], Any],
    sizes: Any,
    assume: Sequence[Any],
    base: int = 0,
) -> tuple[Trace, Any]:
    """Run function(trace) until nothing new is learned; the last trace and its result."""
    from .assume import learn, parse

    fixed = check_sizes(sizes)
    conditions = [(c, str(a)) for a in assume for c in parse(a)]
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
            _layouts=dict(start._layouts),
            function=function,
        )
        result = trace.run()
        if trace.state() == state:
            break
        state = trace.state()
    return trace, result


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
            value = trace.symbol(p.name)
        if p.kind is p.KEYWORD_ONLY:
            keywords[p.name] = value
        else:
            positional.append(value)
    trace.signature = signature
    target = fn
    if isinstance(fn, types.FunctionType):
        target = types.FunctionType(
            fn.__code__,
            _Globals(fn.__globals__, trace),
            fn.__name__,
            fn.__defaults__,
            fn.__closure__,
        )
        target.__kwdefaults__ = fn.__kwdefaults__
    try:
        return target(*positional, **keywords)
    except LegoError:
        raise
    except RecursionError:
        raise TraceError(f"{name} calls itself without end on symbols") from None
    except Exception as error:
        line = _line_in(fn, error)
        raise TraceError(
            f"{name} failed on symbols{line}: {type(error).__name__}: {error}"
        ) from error


def _line_in(fn: Callable[..., Any], error: BaseException) -> str:
    code = getattr(fn, "__code__", None)
    where = error.__traceback__
    line = None
    while where is not None:
        if where.tb_frame.f_code is code:
            line = where.tb_lineno
        where = where.tb_next
    return f" (line {line})" if line is not None else ""


__all__ = ["Atom", "Trace", "call_user_function", "explore", "follow", "go_on", "running"]

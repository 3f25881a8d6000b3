"""Branches joined where they meet: n `if`s one after the other are 2*n paths and not 2**n.

What only computes is followed alone, in the path that is running, and what its paths give becomes a
select: for `if turned: x, y = y, x` that is x = turned ? y : x and y = turned ? x : y, where a path of
the whole function knows of `turned` to its end. The text grows with the `if`s and not with their
combinations; but what a branch says holds in it alone, and `n = 4 if wide else 8` is no number for a
`range(n)` any more. So the paths of a function are followed first, where they are few, and its joined
form is one more candidate; where they are many it is the first that is tried.

What cannot be joined, as two lists, or may have side effects, is done in the path that is running, which
it parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from types import FunctionType, MethodType
from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.divisors import nonzero
from ..arith.expr import Cond, Expr
from ..errors import LegoError, TraceError
from . import branches
from .follow import TraceOptions, run_trace
from .helpers import read_around
from .paths import Impossible, explore, here, join, running
from .tape import Tape
from .trace import Trace
from .traced import Kept, Outputs, Traced

HARMLESS = {
    min, max, abs, divmod, pow, round, int, bool, len, range, sum, any, all, tuple, zip, enumerate,
    reversed, sorted, isinstance,
}  # fmt: skip
ASKED_FOR = set(
    "__init__ __new__ __post_init__ __init_subclass__ __class_getitem__ __repr__ __str__ __format__ "
    "__eq__ __hash__ __setattr__ __delattr__ __enter__ __exit__ __reduce__ __getnewargs__ "
    "__getstate__ __setstate__ __replace__ __annotate__ __annotate_func__".split()
)  # methods of a class that no reading of its values calls, and comparisons
UNBOUND = type("Unbound", (), {})()  # in the place of a variable that has no value
MOST = 1024  # branches that are joined in one run
COPIED = (  # what a run adds to, of a trace
    "signature free undefined axes indices placed layouts stand_ins unsigned "
    "assumed_preconditions known_equations narrowed turned"
).split()

Call = Callable[[Any, Trace], Any]  # what a function gives in a trace


def joining(function: Any, call: Call) -> Callable[[Traced, Outputs], Kept | None] | None:
    """What gives the results of a function with branches joined where they meet, None where it cannot be
    rewritten."""
    made = Joined().function(function)
    return None if made is None else partial(_otherwise, partial(call, made))


def followed(
    fn: Any,
    own: Any,
    call: Call,
    options: TraceOptions,
    alone: bool,
    makes_text: bool,
    error: TraceError,
) -> tuple[Trace, Any]:
    """run_trace() of a function that failed with an error: with branches joined where they meet, if it
    has many paths; along all of them; or by its values. own: the function with numbers for sizes."""
    if error.many_paths:
        made = None if makes_text else Joined().function(own)
        found = None
        if made is not None:
            try:
                found = run_trace(partial(call, made), options, alone)
            except LegoError:
                pass  # what it lacks, a path may know; and what is wrong, a path says better
        if found is not None and not found[0].stand_ins:  # each index is known to be in its layout
            return found
        try:
            return run_trace(partial(call, own), options, alone, Tape())
        except TraceError as again:
            if found is not None:
                return found
            if not again.many_paths and not again.placed:
                raise
            error = again
    from .everywhere import called_everywhere

    return run_trace(called_everywhere(fn, error), options, alone)


def _otherwise(call: Callable[[Trace], Any], traced: Traced, outputs: Outputs) -> Kept | None:
    """The results of a function that does the same as the one that was traced; None where that fails, or
    has more to learn, or to ask of the caller."""
    trace = traced.trace
    own = {n: copy(getattr(trace, n)) for n in COPIED}
    own |= {"preconditions": [*trace.assumed_preconditions], "extents": {}, "asked": {}}
    made = replace(trace, analyzer=trace.analyzer.copy(), function=call, tape=None, **own)
    try:
        result = made.run()
    except LegoError:
        return None
    one, other = ({c.identity for c in t.preconditions} for t in (made, trace))
    if made.stand_ins.keys() - trace.stand_ins.keys() or one != other:
        return None
    log, found = made.analyzer.log, traced.counted(result)
    if log is None or made.state() != trace.state() or not _asks_no_more(found, outputs, trace):
        return None
    return Kept(found, [], log)


def _asks_no_more(made: Outputs, given: Outputs, trace: Trace) -> bool:
    """Whether no divisor in one form is 0 where those of the other are not: what was x // x on a path,
    which is 1, may divide by a choice of x."""
    needed, said = (nonzero((e for _, e in named), trace.analyzer) for named in (made, given))
    known = [(d.identity, {c.key for c in branch}) for d, branch in said]
    return all(
        any(d.identity == x and conditions <= {c.key for c in branch} for x, conditions in known)
        for d, branch in needed
    )


class Unjoined(Exception):
    """What would have to be joined cannot be, or may have side effects."""


class _Other:
    """A value that is no number, which is the same on all paths or cannot be joined."""

    def __init__(self, value: Any):
        self.value = value


class Joined:
    """What a rewritten function calls: see branches.py."""

    def __init__(self) -> None:
        self._strict = False  # inside of what must have no side effects
        self._trace, self._count = None, 0  # how often branches were joined in it
        self._helpers: dict[FunctionType, Callable[..., Any] | None] = {}
        self._names = {
            branches.JOIN: self._join,
            branches.CHOOSE: lambda run: self._choose(run, read_around(run)),
            branches.CALLEE: self._callee,
            branches.LOCALS: locals,
            branches.UNBOUND: UNBOUND,
            branches.CHANGED: self._changed,
        }

    def function(self, fn: Any, pure: bool = False) -> FunctionType | None:
        """fn, its branches joined; None where it cannot be rewritten. pure: or may have side effects."""
        if not isinstance(fn, FunctionType):
            return None
        found = branches.rewritten(fn.__code__)
        if found is None or (pure and not found.only_computes):
            return None
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        closure = tuple(cells[n] for n in found.code.co_freevars)
        names = {**fn.__globals__, **self._names}
        made = FunctionType(found.code, names, fn.__name__, fn.__defaults__, closure)
        made.__kwdefaults__ = fn.__kwdefaults__
        return made

    def _join(
        self,
        branch: Callable[..., Mapping[str, Any]],
        held: Mapping[str, Any],
        names: Sequence[str],
        read: Sequence[str],
    ) -> tuple[Any, ...]:
        """The values of variables behind an `if`. held: the variables before it."""
        values = [held.get(n, UNBOUND) for n in names]

        def run() -> tuple[Any, ...]:
            found = branch(*values)
            return tuple(found.get(n, UNBOUND) for n in read)

        return self._choose(run, [*values, *read_around(branch)])

    def _choose(self, run: Callable[[], Any], read: Iterable[Any]) -> Any:
        """What run() gives, its paths joined, if they can be. read: the values that it reads."""
        now = running()
        changes = not all(map(_stays, read))
        if changes and self._strict:
            raise Unjoined
        if changes or now is None or now.path is None:
            return run()
        known, trace, path = now.analyzer, now.trace, now.path
        self._count = self._count + 1 if trace is self._trace else 1
        self._trace = trace
        if self._count > MOST:
            raise TraceError(f"more than {MOST} branches are joined one by one")
        others: dict[int, _Other] = {}
        axis, paths, strict = trace and trace._axis, path.shared.paths, self._strict

        def alone() -> Any:
            found, told = run(), set[str]()  # the symbols of which this branch says something
            inner = here().path
            for key, (condition, _) in inner.decided.items() if inner else ():
                if key not in path.decided:
                    told |= path.shared.names(condition)

            def simpler(e: Expr) -> Expr:
                return e.plain if told.isdisjoint(e.symbols()) else known.rebuilt(e.plain)

            found = _boxed(found, simpler, others)
            if trace is not None and trace._axis != axis:
                trace._axis = axis
                raise Unjoined
            return found

        self._strict = True
        try:
            words = trace and trace.words
            joined = partial(selected, chosen=words and words.chosen)
            return _open(explore(alone, now, joined=joined), (words or known).bind)
        except Unjoined:
            self._strict = strict
            return run()
        finally:
            self._strict, path.shared.paths = strict, paths

    def _callee(self, f: Any) -> Any:
        """What stands for a function that is called: its paths are joined, if it only computes."""
        if isinstance(f, FunctionType) and not _is_ours(f):
            if f not in self._helpers:
                self._helpers[f] = self._helper(f)
            made = self._helpers[f]
            if made is not None:
                return made
        elif _is_ours(f) or _is_harmless(f):
            return f
        if self._strict:
            raise Unjoined
        return f

    def _changed(self, value: Any) -> None:
        """A value is changed in its place, if it can be."""
        if self._strict and not isinstance(value, int | Expr | Cond | tuple | str):
            raise Unjoined

    def _helper(self, f: FunctionType) -> Callable[..., Any] | None:
        made = self.function(f, pure=True)
        if made is None:
            return None

        def helper(*given: Any, **named: Any) -> Any:
            return self._choose(lambda: made(*given, **named), [given, named, *read_around(made)])

        return helper


def _is_ours(f: Any) -> bool:
    of = type(f.__self__) if isinstance(f, MethodType) else f
    return str(getattr(of, "__module__", "")).startswith("lego_emit.")


def _is_harmless(f: Any) -> bool:
    return getattr(f, "__module__", "") == "math" or any(f is known for known in HARMLESS)


def _stays(value: Any, levels: int = 3) -> bool:
    """Whether a value stays what it is when it is read, and computed with: no iterator, and no object of
    a class whose methods Python calls for that."""
    if isinstance(value, tuple | list | set | frozenset | dict):
        items = [*value, *value.values()] if isinstance(value, dict) else value
        if levels and not {*map(type, items)} <= {int, str, bool, float}:
            return _only_holds(type(value)) and all(_stays(v, levels - 1) for v in items)
    return _only_holds(type(value))


@lru_cache(maxsize=1024)
def _only_holds(of: type) -> bool:
    """Whether reading a value of a class, and computing with it, calls no method that is written in
    Python but ours, and changes nothing."""
    if hasattr(of, "__next__") or hasattr(of, "__missing__"):
        return False
    return not any(
        isinstance(v, property)
        or isinstance(getattr(type(v), "__get__", None), FunctionType)
        or (isinstance(v, FunctionType) and n.startswith("__") and n not in ASKED_FOR)
        for each in of.__mro__
        if str(each.__module__).split(".")[0] not in ("lego_emit", "enum", "sympy")
        for n, v in vars(each).items()
    )


def _boxed(value: Any, simpler: Callable[[Expr], Expr], others: dict[int, _Other]) -> Any:
    """A value as it is joined: simplified under what its branch says; what is no number by itself."""
    if isinstance(value, Expr):
        return simpler(value)
    if isinstance(value, Cond):
        return value.plain.rebuild(simpler)
    if type(value) in (int, bool, str):
        return value
    if type(value) is tuple:
        return tuple(_boxed(v, simpler, others) for v in value)
    return others.setdefault(id(value), _Other(value))


def _open(value: Any, bind: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_open(v, bind) for v in value)
    return value.value if isinstance(value, _Other) else bind(value)


def selected(condition: Cond, a: Any, b: Any, known: Analyzer, chosen: Any = None) -> Any:
    """join(), of numbers and tuples of them. Raises Unjoined for all else that is not the same."""
    if a is Impossible or b is Impossible:
        return b if a is Impossible else a
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(selected(condition, x, y, known, chosen) for x, y in zip(a, b, strict=True))
    if a is b or (isinstance(a, str) and isinstance(b, str) and a == b):
        return a
    if not all(isinstance(v, int | Expr | Cond) for v in (a, b)):
        raise Unjoined
    return join(condition, a, b, known, chosen)

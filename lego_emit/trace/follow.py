"""Follow a function with symbols: parameters, ranges, branches, results.

It is gone through at least twice: first to learn its names, the layouts' sizes and what they say
(divisibility, index ranges), then under all of that, until nothing new is learned. A user's function is
called the first time alone: after that it is its tape that is played.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..arith.analyzer import Analyzer
from ..arith.expr import Cond, Expr
from ..arith.given import GivenRange
from ..errors import LONGEST, AssumptionError, TraceError, WidthError, did_you_mean, short_repr
from ..ir.index_types import DECLARED
from ..numeric import apart, as_integer
from .learn import learn_divisors, learn_equations, learn_signs
from .paths import MAX_PATHS
from .trace import GREATEST, Trace

if TYPE_CHECKING:
    from .tape import Tape
    from .words import Words

Base = int | frozenset[str]  # what the first index is called, or what counts from 1


def check_sizes(sizes: Any) -> dict[str, int]:
    """sizes= as a dict of ints. Raises TraceError for anything else."""
    checked = {}
    if sizes is not None and not isinstance(sizes, Mapping):
        raise TraceError(f"sizes must be a dict such as {{'BM': 32}}, not {short_repr(sizes)}")
    for given, value in apart(dict(sizes or {})):
        name = given if isinstance(given, str) else short_repr(given)
        number = None if isinstance(value, bool) else as_integer(value)
        if number is None:
            raise TraceError(f"sizes: {name} must be an integer, not {short_repr(value)}")
        if number.bit_length() > LONGEST:
            raise TraceError(f"sizes: {name} is {short_repr(value)}; no index type holds it")
        checked[name] = number
    return checked


@dataclass(frozen=True)
class TraceOptions:
    """What is said of a function beforehand: sizes that are numbers, assumptions, what counts from 1,
    ranges of parameters, types that they and "return", the results, are declared as, and, by the name of a
    struct, its members; unsigned: parameters are of a type without negative numbers; static: static sizes,
    with their numbers, None where sizes has none; most: the last number of the type, where arithmetic
    wraps; outputs: names of the results of a tuple; greatest: the greatest number of
    the index type of sizes without a bound, and of any."""

    sizes: Any = None
    assume: Sequence[Any] = ()
    base: Base = 0
    ranges: Sequence[GivenRange] = ()
    unsigned: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
    structs: Mapping[str, str] = field(default_factory=dict)
    static: Mapping[str, int | None] = field(default_factory=dict)
    most: int = 0
    outputs: Sequence[str] = ()
    greatest: tuple[int, int] = GREATEST

    def with_static(self, names: Iterable[str]) -> TraceOptions:
        """The same where names are static sizes, which stay symbols."""
        numbers = self.numbers()
        static = {name: numbers.pop(name, None) for name in names}
        return replace(self, sizes=numbers, static=static)

    def numbers(self) -> dict[str, int]:
        """sizes, checked. Raises TraceError."""
        return check_sizes(self.sizes)

    def in_title(self, before: str) -> str:
        """sizes as a title says them, after these words; "" where there are none."""
        numbers = ", ".join(f"{k} = {v}" for k, v in self.numbers().items())
        return numbers and before + numbers

    def conditions(self) -> list[tuple[Cond, str]]:
        """The conditions of the assumptions, each with the text of its assumption."""
        if not self.assume:
            return []
        from ..arith.assume import parse, source_of

        return [(c, source_of(a)) for a in self.assume for c in parse(a)]


def run_trace(
    function: Callable[[Trace], Any],
    options: TraceOptions,
    alone: bool = True,
    tape: Tape | None = None,
    most: int = MAX_PATHS,
    words: Words | None = None,
) -> tuple[Trace, Any]:
    """Run function(trace) until nothing new is learned; the last trace and its result. alone: all
    names in the options must be its parameters; else see check_known. tape: for what a user's function
    does in it. most: paths that are followed. words: where arithmetic wraps."""
    fixed, base, known = options.numbers(), options.base, Analyzer(use_z3=False)
    if options.assume or options.ranges:
        _learn_said(known, options)
    _learn_types(known, options)
    for name in options.static:
        known.learn_size(name)
    start = Trace(
        known, fixed, function, base=int(bool(base)), tape=tape, is_unsigned=options.unsigned
    )
    start.types, start.static, start.words = options.types, options.static, words
    start.most, start.greatest = most, options.greatest
    if isinstance(base, frozenset):
        start.named, start.indices = base, {*base}
    trace, result = _settled(start, function, learning=True)
    trace.most = MAX_PATHS
    if alone:
        check_known([trace], options)
    known.check_consistent()
    return trace, result


def _learn_said(known: Analyzer, options: TraceOptions) -> None:
    from ..arith.assume import learn
    from ..arith.given_ranges import learn_ranges

    fixed, alone = options.numbers(), Analyzer(use_z3=False)

    def numbered(e: Expr) -> Expr:
        return alone.with_numbers(e, fixed)

    learn(known, [(c.rebuild(numbered), source) for c, source in options.conditions()])
    learn_ranges(known, options.ranges, fixed)
    known.learn_numbers([given.name for given in options.ranges])


def _learn_types(known: Analyzer, options: TraceOptions) -> None:
    """Parameters hold no more than the types that they are declared as. Of a type with a sign that becomes
    one without, a caller has to know that they are not negative."""
    for name, kind in options.types.items():
        t, number = DECLARED[kind], options.numbers().get(name)
        if number is not None and not t.least <= number <= t.most:
            raise WidthError(
                f"sizes: {name} is {number}, which {kind} does not hold; declare a wider type"
            )
        if name == "return" or number is not None:
            continue
        if options.unsigned and t.least < 0:
            if (known.interval(known.symbol(name))[0] or 0) < 0:
                raise WidthError(
                    f"the range of {name} has negative numbers, and the index type has none",
                    "choose a signed index_type",
                )
            known.learn_range(name, Expr.of(0), None)
        if t.width < 64:
            known.learn_type(name, *t.ends)


def check_known(traces: Sequence[Trace], options: TraceOptions) -> None:
    """Raise AssumptionError or TraceError for a name that is a parameter of no function."""
    fixed, conditions = options.numbers(), options.conditions()
    params = [*dict.fromkeys(n for trace in traces for n in trace.params())]
    arrays = {n: g for t in traces for g in t.groups if not g.struct for n in g.names}
    called = dict.fromkeys(arrays[n].name if n in arrays and arrays[n].open else n for n in params)
    listed = ", ".join(called) or "none; a slice such as layout[3, :] fixes an index"
    names = {*params, *fixed}
    for condition, source in conditions:
        for e in condition.exprs():
            for name in sorted(e.symbols() - names):
                raise AssumptionError(
                    f"the assumption {source!r} names {name}, which is not a parameter; parameters: "
                    f"{listed}.{did_you_mean(name, names)}"
                )
    for given in options.ranges:
        for name in (given.name, *sorted(s for e in given.bounds for s in e.symbols())):
            if name not in names and not any(name == g.name for g in arrays.values()):
                raise AssumptionError(
                    f"the range of {given.name} names {name}, which is not a parameter; parameters: "
                    f"{listed}.{did_you_mean(name, names)}"
                )
    known = {n for t in traces for n in (*t.signature, *t.free, *t.axes)}
    for name in sorted(fixed.keys() - known):
        raise TraceError(
            f"sizes fixes {name}, which is not a parameter; parameters: {listed}."
            f"{did_you_mean(name, params)}"
        )


def go_on(
    trace: Trace, prepare: Callable[[Trace], None], function: Callable[[Trace], Any]
) -> tuple[Trace, Any]:
    """Run function(trace) under what another trace learned and prepare(trace) adds."""
    more = trace.but(
        analyzer=trace.analyzer.copy(),
        signature=[*trace.signature],
        free=[*trace.free],
        axes=[],
        preconditions=[*trace.preconditions],
        extents={},
        indices=set(),
        layouts={**trace.layouts},
    )
    prepare(more)
    more, result = _settled(more, function, learning=False)
    more.analyzer.check_consistent()
    return more, result


def _settled(start: Trace, function: Callable[[Trace], Any], learning: bool) -> tuple[Trace, Any]:
    """The last of the runs, each under what the ones before learned. learning: there is more to
    learn than what start knows, so that the first run is for that alone."""
    trace, result = start, None
    state = None if learning else start.state()
    for attempt in range(6):
        start.analyzer.prover.use_z3 = attempt > 0 or not learning
        trace = _anew(start, trace, function)
        result = trace.run()
        for name, size in trace.extents.items():  # an axis has one range, whatever the branch
            base = trace.base_of(name)
            trace.analyzer.learn_range(name, Expr.of(base), size - 1 + base)
        if trace.is_unsigned:
            learn_signs(trace, result)
        elif trace.types:
            learn_divisors(trace, result)
        if trace.state() == state:
            break
        state = trace.state()
    if learn_equations(trace):
        trace = _anew(start, trace, function)
        result = trace.run()
    return trace, result


def _anew(start: Trace, trace: Trace, function: Callable[[Trace], Any]) -> Trace:
    """A trace for another run under what the one before learned."""
    return trace.but(
        preconditions=[*start.preconditions, *trace.assumed_preconditions],
        extents={},
        turned=set(),
        layouts=dict(start.layouts),
        function=function,
    )

"""SymPy expressions as what is to be emitted: their functions, parameters and results.

What they mean is read in arith/from_sympy.py, which is loaded here alone, when there are some.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.assume import learn, parse, source_of
from ..arith.expr import Expr
from ..arith.formulas import (
    Formulas,
    Given,
    check_replacements,
    expressions_of,
    formulas_of,
    in_short,
    stands,
    symbols_of,
)
from ..arith.given import GivenRange, Pair
from ..arith.given_ranges import learn_ranges
from ..arith.terms import TOO_DEEP
from ..errors import AssumptionError, LegoError, TraceError, did_you_mean
from ..ir.program import Doc
from .definition import FEW, Values
from .diagnostics import unmet
from .follow import TraceOptions, run_trace
from .trace import Trace
from .traced import Outputs, Subject, Traced


@dataclass
class TracedFormula:
    """One function of expressions: its name, what was learned of it, its results by name; what
    was known of it before (a Problem), and that this still is what it computes; the pair that is
    spelled as it stands, None where a form is searched for; the names that only `ranges` has; the
    pair that it was made of."""

    name: str
    trace: Trace
    outputs: Mapping[str, Any]
    problem: Any
    unchanged: bool
    form: Pair | None
    unmet: list[str]
    pair: Pair | None = None


def trace_formulas(
    given: Given, name: str | None, options: TraceOptions
) -> tuple[str, list[TracedFormula]]:
    """(the unit's name, its functions). Raises TraceError for what is no integer expression."""
    pairs, signature, prefix = given.pairs, given.signature, given.prefix
    unit = name or prefix or "index"
    fixed, ranges = options.numbers(), options.ranges
    found = []
    try:
        functions = [_Function(pair, ranges, signature) for pair in pairs.values()]
        _all_known(functions, fixed, options.assume, ranges)
        for key, function in zip(pairs, functions, strict=True):
            own = unit + key[len(prefix) :] if prefix else key or unit
            found.append(function.traced(own, options))
    except RecursionError:
        raise TraceError(f"{unit}: {TOO_DEEP}") from None
    return unit, found


def subject_of_formulas(subject: Any, name: str | None, options: TraceOptions) -> Subject:
    """The functions of expressions, traced. Raises TraceError for what is no integer expression."""
    given = formulas_of(subject)
    assert given is not None
    if options.base:
        raise TraceError(
            "base=1 is for functions and layouts: an expression says itself what its indices count "
            "from; write i - 1 for an index that counts from 1, and give its range"
        )
    unit, found = trace_formulas(given, name, options)
    title = given.title + options.in_title(" with ")
    told = ()
    if len(found) == 1:  # of several, a range that concerns none is refused
        (one,) = found
        known = [n for n in one.trace.params() if n not in one.unmet]
        told = tuple(unmet(unit, n, known) for n in one.unmet)
    return Subject(unit, title, [_of_one(f) for f in found], lambda: told)


def _of_one(found: TracedFormula) -> Traced:
    """A function of expressions; what unit.sympy gave and nobody changed keeps its promises."""
    problem, trace = found.problem, found.trace
    doc = Doc(f"The value that {found.name} computes.")
    definition = None
    if found.pair is not None and not trace.base:
        definition = OfFormulas(found.pair, trace, found.name)

    def named(_: Any) -> Outputs:
        return [(n, Expr.of(e) - trace.result_base(n)) for n, e in found.outputs.items()]

    if problem is None:
        by_name = any(
            n != f"out{k}" for k, n in enumerate(found.outputs)
        )  # as a tuple's are called
        made = Traced(found.name, doc, trace, None, named, form=found.form, by_name=by_name)
        made.definition = definition
        return made
    doc, spans = (problem.doc, problem.conditions.spans) if found.unchanged else (doc, None)
    stated, form = problem.conditions.stated, found.form
    by_name = problem.by_name
    return Traced(
        found.name, doc, trace, None, named, spans, stated, form, None, by_name, definition
    )


def _counted(problem: Any) -> Iterator[str]:
    """The parameters and results that count from the problem's base."""
    yield from problem.parameters.indices
    yield from (
        n for (n, _), base in zip(problem.outputs, problem.counting.results, strict=True) if base
    )


def reference(subject: Any, functions: Sequence[Any]) -> Any:
    """What a unit made of expressions is compared with: a function of integers; None where they
    have several functions, loops of their own, or a symbol that no function of Python's can take.
    functions: those that were emitted."""
    given = formulas_of(subject)
    assert given is not None
    (pair, *more), (function, *_) = given.pairs.values(), functions
    if more or function.axes or function.base:
        return None
    if any(iskeyword(p.name) or not p.name.isidentifier() for p in function.params):
        return None
    from .evaluated import Evaluated

    return Evaluated(function.name, pair, [p.name for p in function.params])


class OfFormulas:
    """SymPy expressions, as SymPy itself evaluates them."""

    points = FEW
    is_total = stays_small = False

    def __init__(self, pair: Any, trace: Trace, name: str):
        from .evaluated import Evaluated

        self.name, self._trace = name, trace
        self._evaluated = Evaluated(name, pair, ())

    def __call__(self, values: Values) -> Any:
        """The results at values of the symbols. Raises what SymPy raises."""
        return self._evaluated(**self._trace.sizes, **values)


# -- one function --------------------------------------------------------------------------------


class _Function:
    """One function of expressions, with the names in it."""

    def __init__(self, pair: Pair, ranges: Sequence[GivenRange], signature: Sequence[str] | None):
        """ranges: of the unit; signature: the first parameters where it is the unit's one function,
        whose parameters all ranges speak of; None where it is one of several."""
        self.pair, self.alone = pair, signature is not None
        self.problem: Any = pair.problem if isinstance(pair, Formulas) else None
        self.locals = [s.name for s, _ in pair.replacements]
        self.symbols = symbols_of(expressions_of(pair))
        first = [
            *(signature or ()),
            *([] if self.problem is None else self.problem.parameters.names),
        ]
        names = {*first, *(s.name for s in self.symbols)} - {*self.locals}
        self.ranges: list[GivenRange] = []
        while more := [r for r in ranges if r.name in names and r not in self.ranges]:
            self.ranges += more
            names |= {s for r in more for e in r.bounds for s in e.symbols()}
        self.unmet = [r.name for r in ranges if r not in self.ranges]
        if self.alone:
            self.ranges = [*ranges]
        self.ranges.sort(key=ranges.index)
        order = [*first, *(r.name for r in self.ranges)]
        names |= {s for r in self.ranges for e in r.bounds for s in e.symbols()}
        self.params = [*dict.fromkeys([*order, *sorted(names)])]

    def traced(self, name: str, options: TraceOptions) -> TracedFormula:
        """Read it under all that is known of its symbols."""
        check_replacements(self.pair, self.params, name)
        sizes, assume = options.numbers(), [*options.assume]
        if not self.alone:
            sizes = {n: v for n, v in sizes.items() if n in self.params}
            assume = [a for a in assume if _names_of(a) <= {*self.params}]
        form = self.pair if stands(self.pair, self.problem is not None) else None
        if self.problem is not None:
            again = self._again(name, sizes, assume, form)
            again.trace.is_unsigned = options.unsigned
            return again
        known = [*self._signs(), *self.ranges]
        own = replace(options, sizes=sizes, assume=assume, ranges=known)
        trace, outputs = run_trace(self._read, own)
        form = form and self._with_numbers(form, sizes)
        return TracedFormula(name, trace, outputs, None, False, form, self.unmet, self.pair)

    def _read(self, trace: Trace) -> dict[str, Expr]:
        trace.signature = self.params
        return self._values({n: trace.symbol(n) for n in self.params}, trace.analyzer)

    def _values(self, bound: dict[str, Expr], analyzer: Analyzer) -> dict[str, Expr]:
        from ..arith.from_sympy import Reader

        reader = Reader(bound, analyzer)
        for symbol, e in self.pair.replacements:
            bound[symbol.name] = _expr(reader, e)
        return {n: _expr(reader, e) for n, e in self.pair.expressions.items()}

    def _again(
        self, name: str, sizes: Mapping[str, int], assume: list[Any], form: Pair | None
    ) -> TracedFormula:
        """What unit.sympy gave, perhaps changed, under what was known of it and what is said now."""
        problem, pair = self.problem, self.pair
        if sizes:
            raise TraceError(
                f"{name}: sizes fixes {', '.join(sizes)} when a function or a layout is traced; in "
                f"what unit.sympy gave, give sizes to the generate() that made it"
            )
        for a in assume:
            for n in sorted(_names_of(a) - {*self.params}):
                raise AssumptionError(
                    f"the assumption {source_of(a)!r} names {n}, which is not a parameter; parameters: "
                    f"{', '.join(self.params)}.{did_you_mean(n, self.params)}"
                )
        known = problem.analyzer.copy()
        learn(known, [(c, source_of(a)) for a in assume for c in parse(a)])
        learn_ranges(known, [*self._signs(), *self.ranges], {})
        known.check_consistent()
        trace = Trace(
            known,
            {},
            lambda t: None,  # its results are known
            signature=[n for n in self.params if n not in problem.parameters.axes],
            axes=[*problem.parameters.axes],
            preconditions=[*problem.conditions.preconditions],
            extents=dict(problem.parameters.extents),
            base=problem.counting.index,
            named=frozenset(_counted(problem)) if problem.counting.named else None,
            indices={*problem.parameters.indices},
            placed={*problem.parameters.placed},
            stand_ins=dict(problem.conditions.stand_ins),
        )
        assert isinstance(pair, Formulas)
        if pair.unchanged:
            outputs = dict(problem.outputs)
        else:
            outputs = self._values({n: known.symbol(n) for n in self.params}, known)
        return TracedFormula(name, trace, outputs, problem, pair.unchanged, form, self.unmet, pair)

    def _signs(self) -> list[GivenRange]:
        """What SymPy was told of the symbols' signs."""
        return [r for s in self.symbols if (r := _range_of(s)) is not None]

    def _with_numbers(self, form: Pair, sizes: Mapping[str, int]) -> Pair:
        fixed = {s: sizes[s.name] for s in self.symbols if s.name in sizes}
        if not fixed:
            return form
        return Pair(
            [(s, _replaced(e, fixed)) for s, e in form.replacements],
            {n: _replaced(e, fixed) for n, e in form.expressions.items()},
        )


def _expr(reader: Any, value: Any) -> Expr:
    """An expression read, with what SymPy itself may raise as an error of ours."""
    try:
        return reader.expr(value)
    except (LegoError, RecursionError):
        raise
    except Exception as error:
        raise TraceError(
            f"{in_short(value)} cannot be read: SymPy raises {type(error).__name__}: {error}"
        ) from error


def _replaced(value: Any, numbers: Mapping[Any, int]) -> Any:
    from ..packages import sympy

    made = {s: sympy.Integer(n) for s, n in numbers.items()}
    return value.xreplace(made) if isinstance(value, sympy.Basic) else value


def _range_of(symbol: Any) -> GivenRange | None:
    """What a symbol's own assumptions say of its sign."""
    least = 1 if symbol.is_positive else 0 if symbol.is_nonnegative else None
    end = 0 if symbol.is_negative else 1 if symbol.is_nonpositive else None
    if least is None and end is None:
        return None
    bounds = (None if b is None else Expr.of(b) for b in (least, end))
    return GivenRange(symbol.name, *bounds)


def _names_of(assumption: Any) -> set[str]:
    return {s for c in parse(assumption) for e in c.exprs() for s in e.symbols()}


def _all_known(
    functions: Sequence[_Function],
    sizes: Mapping[str, int],
    assume: Sequence[Any],
    ranges: Sequence[GivenRange],
) -> None:
    """Of several functions, what is said must concern one of them."""
    if len(functions) == 1:
        return
    names = {n for f in functions for n in f.params}
    said = [(n, f"sizes fixes {n}") for n in sizes] + [
        (r.name, f"ranges has {r.name}") for r in ranges
    ]
    said += [
        (n, f"the assumption {source_of(a)!r} names {n}") for a in assume for n in _names_of(a)
    ]
    for name, text in said:
        if name not in names:
            raise AssumptionError(f"{text}, which is not a parameter.{did_you_mean(name, names)}")
    for a in assume:
        if not any(_names_of(a) <= {*f.params} for f in functions):
            raise AssumptionError(
                f"the assumption {source_of(a)!r} names no one function's parameters"
            )

"""generate(rewrite=): results changed by the user, and proven to be the same.

They go out as SymPy expressions and come back as such.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.evaluate import Evaluation, Undefined, evaluate
from ..arith.expr import Expr
from ..arith.facts import Range
from ..arith.formulas import (
    Pair,
    as_pair,
    check_replacements,
    expressions_of,
    in_short,
    is_pair,
    stands,
    symbols_of,
)
from ..arith.from_sympy import Reader
from ..errors import LegoError, TraceError, did_you_mean, line_in
from .as_written import refuse_zero
from .header import nonzero
from .problem import AsWritten, Problem

Rewrite = Callable[[str, dict[str, Any]], Any]
SAMPLES = 1000  # attempts to find a difference
POINTS = 2**14  # values of small ranges, all of which are looked at


def rewritten(problem: Problem, rewrite: Rewrite) -> Problem:
    """The problem with what rewrite(name, outputs) makes of its outputs, proven to be equal.

    Raises TraceError, with values of the parameters where it is found to be different.
    """
    given = _given(problem)
    pair = _called(problem, rewrite, given)
    if not pair.replacements and pair.expressions == given:
        return problem
    form, changes = pair if stands(pair) else None, _changes(given, pair)
    values = _values(problem, pair)
    for (name, old), new in zip(problem.outputs, values, strict=True):
        _Comparison(problem, name, given[name], pair.expressions[name]).same(old, new)
    if form is None:
        _check_divisors(problem, values)
        outputs = [(n, e) for (n, _), e in zip(problem.outputs, values, strict=True)]
        return replace(problem, outputs=outputs, kept=None, written=AsWritten(changes=changes))
    return replace(problem, kept=None, written=AsWritten(form, is_equal=True, changes=changes))


def _changes(given: Mapping[str, Any], pair: Pair) -> list[tuple[str, str]]:
    """What was changed, for an explanation."""
    parts = [f"{s} = {in_short(e)}" for s, e in pair.replacements]
    where = f" where {', '.join(parts)}" if parts else ""
    return [
        (f"{n} = {in_short(given[n])}", in_short(e) + where)
        for n, e in pair.expressions.items()
        if e != given[n]
    ]


def _given(problem: Problem) -> dict[str, Any]:
    """The outputs as SymPy expressions in the user's own symbols."""
    analyzer = problem.analyzer
    own = {
        n: analyzer.simplifier.put_back(analyzer.unsubstitute(e), problem.conditions.stand_ins)
        for n, e in problem.outputs
    }
    return {n: analyzer.unsubstitute(e).to_sympy() for n, e in own.items()}


def _called(problem: Problem, rewrite: Any, given: dict[str, Any]) -> Pair:
    if not callable(rewrite):
        raise TraceError(f"rewrite is {in_short(rewrite)}; give a function (name, outputs)")
    try:
        inspect.signature(rewrite).bind(problem.name, given)
    except TypeError as error:
        name = getattr(rewrite, "__name__", type(rewrite).__name__)
        raise TraceError(
            f"rewrite is called with (name, outputs), which {name} does not take: {error}; "
            f"write def rewrite(name, outputs)"
        ) from None
    except ValueError:  # a function of C's, whose signature is not known
        pass
    try:
        result: Any = rewrite(problem.name, dict(given))
    except LegoError:
        raise
    except Exception as error:
        raise TraceError(
            f"rewrite{line_in(rewrite, error)}, given {problem.name}: "
            f"{type(error).__name__}: {error}"
        ) from error
    empty = isinstance(result, Mapping) and not result
    if empty or (not is_pair(result) and not isinstance(result, Mapping)):
        raise TraceError(
            f"rewrite gives {in_short(result)} for {problem.name}; it takes (name, outputs) and "
            f"returns outputs, a dict, or (replacements, outputs)"
        )
    try:
        pair = as_pair(*result) if is_pair(result) else as_pair([], result)
    except TraceError as error:
        raise TraceError(
            f"rewrite, given {problem.name}: {error}; it returns an expression for each of "
            f"{', '.join(given)}"
        ) from None
    if isinstance(result, tuple) and not isinstance(result[1], Mapping):  # as sympy.cse gives it
        if len(result[1]) != len(given):
            raise TraceError(f"rewrite gives {len(result[1])} results for {', '.join(given)}")
        pair = Pair(pair.replacements, dict(zip(given, pair.expressions.values(), strict=True)))
    if {*pair.expressions} != {*given}:
        raise TraceError(
            f"rewrite gives {', '.join(pair.expressions)} for {problem.name}, whose results are "
            f"{', '.join(given)}"
        )
    return Pair(pair.replacements, {n: pair.expressions[n] for n in given})


def _values(problem: Problem, pair: Pair) -> list[Expr]:
    """The values of a pair's expressions in normal form."""
    known = {n: problem.analyzer.symbol(n) for n in problem.parameters.names}
    for symbol, _ in pair.replacements:
        if symbol.name in known:
            raise TraceError(f"rewrite replaces {symbol}, which is a parameter of {problem.name}")
    check_replacements(pair, known, f"rewrite, given {problem.name}")
    names = {*known, *(s.name for s, _ in pair.replacements)}
    for symbol in symbols_of(expressions_of(pair)):
        if symbol.name not in names:
            raise TraceError(
                f"rewrite names {symbol}, which is not a parameter of {problem.name}; parameters: "
                f"{', '.join(problem.parameters.names)}.{did_you_mean(symbol.name, names)}"
            )
    reader = Reader(known, problem.analyzer)
    try:
        for symbol, e in pair.replacements:
            known[symbol.name] = reader.expr(e)
        return [reader.expr(pair.expressions[n]) for n, _ in problem.outputs]
    except LegoError as error:
        raise TraceError(f"rewrite, given {problem.name}: {error}") from None


def _check_divisors(problem: Problem, values: list[Expr]) -> None:
    """A rewritten result may divide by nothing that may be 0, unless the result did before."""
    analyzer = problem.analyzer
    before = {d.identity for d, _ in nonzero((e for _, e in problem.outputs), analyzer)}
    for divisor, _ in nonzero(values, analyzer):
        if divisor.identity not in before:
            refuse_zero(problem, divisor)


class _Comparison:
    """One result before and after."""

    def __init__(self, problem: Problem, name: str, given: Any, made: Any):
        self.problem, self.name, self.given, self.made = problem, name, given, made

    def same(self, old: Expr, new: Expr) -> None:
        """Return where the two are equal for all values that satisfy the facts; else raise."""
        analyzer: Analyzer = self.problem.analyzer.copy()
        for name in (
            self.problem.parameters.names
        ):  # samples have values of those of which something is known
            if name not in analyzer.facts.substitutions:
                analyzer.facts.ranges.setdefault(name, Range())
        gap = analyzer.rebuilt(new - old)
        flat = analyzer.simplifier.expand_opaque(gap)
        if not gap.terms or (flat is not None and not flat.terms):
            return
        for sample in (*analyzer.samples.first(), *analyzer.samples.more(SAMPLES)):
            self._compare(old, new, sample)
        if analyzer.nonneg(gap) and analyzer.nonneg(-gap):
            return
        if self._all_equal(old, new, analyzer):
            return
        raise TraceError(
            f"rewrite, given {self._where()}, gives {in_short(self.made)}, which is not proven to "
            f"be {in_short(self.given)}, though no difference was found; fix sizes with "
            f"sizes={{...}}, say more with assume=[...], or change less at a time"
        )

    def _where(self) -> str:
        single = len(self.problem.outputs) == 1
        return self.problem.name if single else f"{self.name} of {self.problem.name}"

    def _compare(self, old: Expr, new: Expr, sample: Evaluation) -> None:
        try:
            wanted = sample.expr(old)
        except (Undefined, KeyError):
            return
        try:
            found: int | None = sample.expr(new)
        except Undefined:
            found = None
        except KeyError:
            return
        if found != wanted:
            values = {
                n: sample.values[n] for n in self.problem.parameters.names if n in sample.values
            }
            at = ", ".join(f"{n} = {v}" for n, v in values.items())
            raise TraceError(
                f"rewrite, given {self._where()}, gives {in_short(self.made)}, which is "
                f"{'nothing' if found is None else found} at {at}, where "
                f"{in_short(self.given)} is {wanted}"
            )

    def _all_equal(self, old: Expr, new: Expr, analyzer: Analyzer) -> bool:
        """Whether they are equal at all values of their symbols, where those are few."""
        names = sorted(old.symbols() | new.symbols())
        for point in _points(names, analyzer):
            sample = Evaluation(point)
            try:
                if evaluate(old, point) == evaluate(new, point):
                    continue
            except (Undefined, KeyError):
                return False
            if len(point) == len(analyzer.facts.ranges) and analyzer.samples.satisfied(point):
                self._compare(old, new, sample)
            return False
        return bool(names) and _count(names, analyzer) is not None


def _count(names: list[str], analyzer: Analyzer) -> int | None:
    """How many values the symbols have; None where they are too many, or not known."""
    bounds = [analyzer.interval(analyzer.symbol(n)) for n in names]
    sizes = [hi - lo + 1 for lo, hi in bounds if lo is not None and hi is not None]
    if len(sizes) < len(names) or min(sizes) < 1 or prod(sizes) > POINTS:
        return None
    return prod(sizes)


def _points(names: list[str], analyzer: Analyzer) -> Iterator[dict[str, int]]:
    if _count(names, analyzer) is not None:
        ends = [analyzer.interval(analyzer.symbol(n)) for n in names]
        ranges = [range(lo, hi + 1) for lo, hi in ends]  # type: ignore[operator, arg-type]
        for point in product(*ranges):
            yield dict(zip(names, point, strict=True))

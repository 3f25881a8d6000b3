"""What tracing gives: the functions that are to be emitted, and what was learned of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..arith.steps import Log
from ..arith.terms import Atom
from ..ir.program import Doc, Group, View
from .definition import Definition
from .trace import Trace

Outputs = list[tuple[str, Expr]]


@dataclass
class Traced:
    """One function: its name, what is said of it, what was learned of it, its result, and how that is
    named. spans: (least, end) that are known to hold of each
    output, counted from 0. view: of the layout, where one is wanted. stated: what the user
    said of it before; form: SymPy expressions that are spelled as they stand. by_name: whether the
    result is a dict. definition: what it means at integers, None where that cannot be asked. masks:
    whether -1 stands for what is masked. joined: what gives the results with branches joined where they
    meet. group: what the results are together. packing: the fields that it says where they are (Packing). cases:
    (a parameter, its number, an equal function for that number alone). beside: the function before whose type it has,
    or a wider one."""

    name: str
    doc: Doc
    trace: Trace
    result: Any
    named: Callable[[Any], Outputs]
    spans: Sequence[tuple[int, Expr]] | None = None
    stated: Sequence[Any] = ()
    form: Any = None
    view: View[Expr] | None = None
    by_name: bool = False
    definition: Definition | None = None
    masks: bool = False
    joined: Callable[[Traced, Outputs], Kept | None] | None = None
    group: Group | None = None
    packing: Any = None
    cases: Sequence[tuple[str, int, Traced]] = ()
    beside: str = ""

    def masked(self, most: int, outputs: Outputs) -> Outputs:
        """The results where a number that is not negative stands for what is masked: most, where
        they count from 0, else one less than their 0 is called."""
        bases = [self.trace.result_base(n) for n, _ in outputs]
        return [
            (n, _masked(e - base, base, base - 1 if base else most, self.trace.analyzer))
            for (n, e), base in zip(outputs, bases, strict=True)
        ]

    def outputs(self) -> tuple[Outputs, Log]:
        """(the results by name, under all that was learned; the steps that led to them)."""
        trace, known = self.trace, self.trace.analyzer
        log = known.log or Log()
        log.settled = True
        found = self.counted(self.result)
        known.log = None
        for _, e in found:
            for symbol in sorted(known.unsubstitute(e).symbols()):
                trace.add_parameter(symbol)
        return found, log

    def kept(self) -> Kept:
        """The results with every flat position kept as one value."""
        result, flats, log = self.trace.kept()
        return Kept(self.counted(result), flats, log)

    def in_steps(self) -> Steps | None:
        """The results as the steps of a function give them; None where nothing was written down, or
        one step gives them."""
        trace = self.trace
        if trace.tape is None or trace.tape.stale or trace.tape.is_one_step:
            return None
        known = trace.but(analyzer=trace.analyzer.copy())  # as much as is known by now
        return Steps(trace.tape.length(), replace(self, trace=known))

    def looked_up(self) -> Kept | None:
        """The results with tables looked up that have a formula; None where there are no such tables."""
        if not self.trace.has_tables:
            return None
        result, _, log = self.trace.looked_up()
        return Kept(self.counted(result), [], log)

    def counted(self, result: Any) -> Outputs:
        """The values that a result names, counted from where they are."""
        known = self.trace.analyzer
        return [
            (n, known.simplifier.add(known.rebuilt(e), Expr.of(self.trace.result_base(n))))
            for n, e in self.named(result)
        ]


@dataclass(frozen=True)
class Kept:
    """Results in which flat positions are kept as one value, those values, and the steps."""

    outputs: Outputs
    flats: list[Atom]
    log: Log


@dataclass(frozen=True)
class Steps:
    """What a function computes step by step. count: its operations, on the longest path."""

    count: int
    traced: Traced

    def kept(self) -> Kept:
        """The results with that of each step kept as one value."""
        trace = self.traced.trace
        result, flats, log = trace.kept_steps()
        outputs = self.traced.counted(result)
        if trace.is_unsigned:
            from ..arith.signs import without_negative_parts

            outputs = [(n, without_negative_parts(e, trace.analyzer)) for n, e in outputs]
        return Kept(outputs, flats, log)


@dataclass
class Subject:
    """All that is to be emitted: the unit's name, its title, its functions, what may not be meant."""

    unit: str
    title: str
    functions: list[Traced]
    diagnostics: Callable[[], tuple[str, ...]] = tuple
    parts: tuple[int, ...] = ()  # how many functions each of several subjects has


def _masked(e: Expr, base: int, number: int, known: Analyzer) -> Expr:
    """e + base where number stands for the -1 of its branches."""
    if e.constant == -1:
        return Expr.of(number)
    offset = e.terms.get((), 0)
    choice = (e - offset).single
    if choice is None or choice.kind != "select":
        return e + base
    condition, then, other = choice.args
    parts = (_masked(part + offset, base, number, known) for part in (then, other))
    return known.simplifier.select(condition, *parts)

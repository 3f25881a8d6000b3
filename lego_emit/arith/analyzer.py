"""The analyzer: what is known of the symbols of one trace, learned and asked.

It is put together from parts that build on one another, each with a file of its own:

    facts         what is known, as data, and what was found out from just that        facts.py
    samples       values that satisfy it                                              samples.py
    bounds        numbers that a value lies between                                   bounds.py
    proofs        the means of a proof, from bounds to Z3                             proofs.py
    prover        is this never negative?                                             prover.py
    divisibility  floor division in normal form, and sums of the digits it makes      divisibility.py
    simplifier    all operations, and expressions made anew under what is known       simplifier.py
    estimates     looser bounds, for a header                                         estimates.py

None of them knows those below it in this list; samples, proofs and estimates are loaded when they are
asked for. Whoever needs one is handed the analyzer; nothing here
looks for a trace that may be running.

    >>> from lego_emit.arith.analyzer import Analyzer
    >>> from lego_emit.arith.expr import Expr, symbols
    >>> i, M = symbols("i M")
    >>> known = Analyzer()
    >>> known.learn_divides(Expr.of(8), M)
    >>> known.learn_range("i", Expr.of(0), known.rebuilt(M) - 1)
    >>> known.rebuilt((i + M) // M), known.nonneg(known.rebuilt(M - 1 - i))
    (1, True)

Learning comes here alone. It only adds: a bound is replaced by a tighter one, and what was found out is
then looked for anew. `scope` undoes what is learned inside, for the branches of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import AssumptionError
from .bounds import Bounds
from .context import ContextCond, ContextExpr
from .divisibility import Divisibility
from .expr import Cond, Expr
from .facts import Cache, Facts, Range
from .prover import Prover
from .simplifier import Simplifier
from .steps import Log, Recorder
from .terms import Atom
from .text import CUT
from .unsubstitute import unsubstitute

if TYPE_CHECKING:
    from .estimates import Estimates
    from .samples import Samples


class Analyzer:
    """What is known of the symbols of one trace, to be added to and asked. use_z3: whether Z3 is
    asked where nothing else decides."""

    def __init__(self, use_z3: bool = True, facts: Facts | None = None):
        self.facts = facts = Facts() if facts is None else facts
        self.bounds = Bounds(facts)
        self.prover = Prover(facts, self.bounds, use_z3)
        self._recorder = Recorder()
        self.divisibility = Divisibility(facts, self.prover, self._recorder)
        self.simplifier = Simplifier(facts, self.divisibility)
        self.interval, self.nonneg = self.bounds.interval, self.prover.nonneg
        self.decide, self.operate = self.prover.decide, self.simplifier.operate
        self.rebuilt, self.rebuild = self.simplifier.rebuilt, self.simplifier.rebuild
        self.symbol = facts.symbol
        self._scopes = 0
        self._divides: list[tuple[Expr, Expr, bool]] = []  # learned in the scope that is open
        self._assumed: tuple[Cond, ...] | None = ()
        self._remembered: dict[tuple[Any, ...], Cache] = {}

    @cached_property
    def samples(self) -> Samples:
        """Values that satisfy what is known."""
        from .samples import Samples

        return Samples(self.facts)

    @cached_property
    def estimates(self) -> Estimates:
        """Looser bounds, which may be quotients and products of sizes."""
        from .estimates import Estimates

        return Estimates(self.facts, self.simplifier)

    def copy(self) -> Analyzer:
        """The same knowledge, to be added to without telling this one."""
        return Analyzer(self.prover.use_z3, self.facts.copy())

    @property
    def log(self) -> Log | None:
        """Where the steps of simplification are written down, None for nowhere."""
        return self._recorder.log

    @log.setter
    def log(self, log: Log | None) -> None:
        self._recorder.log = log

    def step(self, operation: Callable[..., Any], *operands: Any) -> Any:
        """The result of an operation, as a symbol that goes on with this analyzer."""
        return self.bind(self.operate(operation, *operands))

    def bind(self, value: Any) -> Any:
        """A symbol, or a tuple or list of them, as one that computes with this analyzer."""
        if type(value) is Expr:
            return ContextExpr(value, self)
        if isinstance(value, Expr):
            return ContextExpr(value.plain, self)
        if isinstance(value, (tuple, list)):
            return type(value)(map(self.bind, value))
        return ContextCond(value.plain, self) if isinstance(value, Cond) else value

    def show(self) -> None:
        """Text is made of a symbol: nothing follows from that."""

    def unsubstitute(self, e: Expr) -> Expr:
        """An expression in the user's own symbols."""
        return unsubstitute(e, self.facts)

    def with_numbers(self, e: Expr, numbers: Mapping[str, int]) -> Expr:
        """An expression in which numbers stand for symbols."""

        def number(atom: Atom) -> Expr | None:
            known = atom.kind == "sym" and atom.args[0] in numbers
            return Expr.of(numbers[atom.args[0]]) if known else None

        return self.rebuild(e, number)

    def state(self) -> tuple:
        """What a trace looks at to see whether something new was learned."""
        signed = sum(
            self.facts.ranges.get(name, Range()).lo is None for name in self.facts.quotients
        )
        return (
            len(self.facts.quotients),
            len(self.facts.substitutions),
            signed,
            sorted(self.facts.ranges),
        )

    def learn_range(self, name: str, lo: Expr | None, hi: Expr | None) -> None:
        """lo <= name <= hi; a bound that is known already stays unless the new one is tighter."""
        if name in self.facts.substitutions:
            value = self.facts.substitutions[name]
            if lo is not None and not self.prover.nonneg(value - lo):
                self.learn_nonneg(value - lo)
            if hi is not None and not self.prover.nonneg(hi - value):
                self.learn_nonneg(hi - value)
            return
        known = self.facts.ranges.get(name, Range())
        higher = lo is not None and (known.lo is None or not self.prover.nonneg(known.lo - lo))
        lower = hi is not None and (known.hi is None or not self.prover.nonneg(hi - known.hi))
        if higher or lower or name not in self.facts.ranges:
            made = known.copy()
            if lo is not None and higher:
                made.lo = lo
                if lo.constant is None:
                    made.add(known.lo, None)
            if hi is not None and lower:
                made.hi = hi
                if hi.constant is None:
                    made.add(None, known.hi)
            self.facts.ranges[name] = made
            self._forget()

    def learn_unsigned(self, name: str) -> None:
        """0 <= name, beside a lower bound that speaks of other symbols."""
        known, (least, _) = self.facts.ranges.get(name, Range()), self.interval(self.symbol(name))
        is_symbolic = known.lo is not None and known.lo.constant is None
        if is_symbolic and (least is None or least < 0):
            self.facts.ranges[name] = replace(known, least=0)
            self._forget()

    def learn_type(self, name: str, least: int, most: int) -> None:
        """least <= name <= most, beside what its range says: what its declared type holds."""
        known = self.facts.ranges.get(name, Range()).copy()
        known.add(Expr.of(least), Expr.of(most))
        self.facts.ranges[name] = known
        self._forget()

    def learn_equal(self, name: str, value: Expr) -> None:
        """name == value, a product of other symbols or a number: the symbol is written so from now on."""
        facts = self.facts
        old = facts.ranges.pop(name, None)
        symbol = Atom("sym", name)
        for known, made in list(facts.substitutions.items()):
            facts.substitutions[known] = self.rebuild(made, {symbol: value}.get)
        facts.substitutions[name] = value
        self.put(symbol, value)
        self._forget()
        if old is not None:
            least = [] if old.least is None else [Expr.of(old.least)]
            most = [] if old.most is None else [Expr.of(old.most)]
            for lo in ([] if old.lo is None else [old.lo]) + least:
                self.learn_nonneg(value - lo)
            for hi in ([] if old.hi is None else [old.hi]) + most:
                self.learn_nonneg(hi - value)

    def learn_numbers(self, names: Collection[str]) -> None:
        """Of these symbols, one whose bounds leave one number is that number."""
        left = [name for name in names if name in self.facts.ranges]
        for name in left:
            least, most = self.bounds.interval(self.symbol(name))
            if least is not None and least == most:
                self.learn_equal(name, Expr.of(least))
                return self.learn_numbers(left)

    def learn_ends(self) -> None:
        """What lies in 0 <= i < n says of n: it is at least 1."""
        for known in list(self.facts.ranges.values()):
            least = None if known.lo is None else self.bounds.interval(known.lo)[0]
            end = None if known.hi is None else (known.hi + 1).single
            if least is None or least < 0 or end is None or end.kind != "sym":
                continue
            if (self.bounds.of_atom(end)[0] or 0) < 1:
                self.learn_range(end.args[0], Expr.of(1), None)

    def learn_size(self, name: str) -> None:
        """name >= 1, in whatever branch that was learned."""
        self.facts.sizes.add(name)
        self._at_least_one(name)

    def _at_least_one(self, name: str) -> None:
        known = self.facts.ranges.get(name)
        if name not in self.facts.substitutions and (known is None or known.lo is None):
            self.facts.ranges[name] = replace(known or Range(), lo=Expr.of(1))
            self._forget()
        elif known is not None and known.lo is not None and known.lo.constant is None:
            if (known.least or 0) < 1:
                known.least = 1
                self._forget()
        if name in self.facts.quotients:
            self._at_least(name, 1)
            self._bound_factors(name)
            dividend, divisor = self.facts.quotients[name]
            if Atom("sym", name) in self.facts.exact and dividend.constant is None:
                if (
                    self.bounds.interval(divisor)[0] or 0
                ) >= 1:  # then what is divided is positive, too
                    self._learn_sign(dividend - 1)

    def _at_least(self, name: str, least: int) -> None:
        """A quotient is at least that."""
        known = self.facts.ranges[name]
        if known.lo is None or not self.prover.nonneg(known.lo - least):
            known.lo = Expr.of(least)
            self._forget()

    def _at_most(self, name: str, most: int) -> None:
        """A quotient is at most that."""
        known = self.facts.ranges[name]
        if known.hi is None or not self.prover.nonneg(most - known.hi):
            known.hi = Expr.of(most)
            self._forget()

    def learn_nonneg(self, e: Expr) -> None:
        """Learn that e >= 0, and what follows of its symbols."""
        if e.constant is not None:
            if e.constant < 0:
                raise AssumptionError(
                    "an assumption is never true: it says that a negative number is >= 0"
                )
            return
        singles = [
            (c, mono[0].args[0], e - Expr({mono: c}))
            for mono, c in e.terms.items()
            if abs(c) == 1 and len(mono) == 1 and mono[0].kind == "sym"
        ]
        # an upper bound says more of an index than a lower bound of the size above it
        singles.sort(key=lambda s: (s[0] > 0, s[1] not in self.facts.ranges, s[1]))
        for coefficient, name, rest in singles:
            bound = -rest if coefficient > 0 else rest
            if name in self.facts.quotients or self.facts.reaches(bound, name):
                continue
            known = self.facts.ranges.get(name, Range())
            old = known.lo if coefficient > 0 else known.hi
            if old is not None:
                number, before = bound.constant, old.constant
                if number is None or before is None:
                    if before is None:
                        known.add(*((bound, None) if coefficient > 0 else (None, bound)))
                    continue
                if (number - before) * coefficient <= 0:
                    break
            self.facts.ranges[name] = (
                replace(known, lo=bound) if coefficient > 0 else replace(known, hi=bound)
            )
            break
        self.facts.constraints.append(e)
        self._forget()
        self._learn_sign(e)

    def constrain(self, e: Expr) -> None:
        """e >= 0, which narrows no symbol's range."""
        if e.constant is None and not self.prover.nonneg(e):
            for name in e.symbols():
                self.facts.ranges.setdefault(name, Range())
            self.facts.constraints.append(e)
            self._forget()

    def _learn_sign(self, e: Expr) -> None:
        """e >= 0: what that says of a quotient, where e is a multiple of one and a number, or that
        times a positive product."""
        shared = set.intersection(*map(set, e.terms))
        positive = tuple(
            sorted((a for a in shared if self.bounds.is_positive(a)), key=lambda a: a.key)
        )
        if positive and len(e.terms) > 1:
            e, _ = self.simplifier.divide(e, Expr({positive: 1}))
        (mono, c), *more = [*((m, c) for m, c in e.terms.items() if m), ((), 0)]
        constant = e.terms.get((), 0)
        least = -(constant // c)
        if len(mono) > 1:  # the other factors are positive: it has the product's sign
            mono = tuple(a for a in mono if not self.bounds.is_positive(a))
            least = min(least, 1)
        if len(more) == 1 and c > 0 and constant <= 0 and len(mono) == 1:
            name = mono[0].args[0]
            if mono[0].kind == "sym" and name in self.facts.quotients:
                self._at_least(name, least)
        elif len(more) == 1 and c < 0 <= constant and len(mono) == 1:
            name = mono[0].args[0]
            if mono[0].kind == "sym" and name in self.facts.quotients:
                self._at_most(name, constant // -c)

    def _bound_factors(self, name: str) -> None:
        """Neither the divisor nor a quotient of that name, both positive, is larger than what is
        divided."""
        dividend, divisor = self.facts.quotients[name]
        single = dividend.single
        known = None
        if single is not None and single.kind == "sym":
            known = self.facts.original.get(single.args[0])
        if known is not None and known.hi is not None:
            if known.lo is None:
                known.lo = Expr.of(1)
            self.facts.cache.highest.clear()
            for factor in (name, *(a.args[0] for a in divisor.atoms() if a.kind == "sym")):
                self.facts.original.setdefault(factor, Range(Expr.of(1), known.hi))

    def put(self, atom: Atom, value: Expr) -> None:
        """Say the bounds and constraints that an atom stands in with its value."""

        def said(bound: Expr | None) -> Expr | None:
            if bound is None or not any(a is atom for a in bound.deep_atoms()):
                return bound
            return self.simplifier.rebuild(bound, lambda a: value if a is atom else None)

        for name, known in self.facts.ranges.items():
            lo, hi = known.lo, known.hi
            known.lo, known.hi = said(lo), said(hi)
            if known.lo is not lo or known.hi is not hi:
                self._break_circle(name, known)
        self.facts.constraints = [e for k in self.facts.constraints if (e := said(k)) is not None]
        self._say_in_divided(self.facts.exact, said)
        self._say_in_divided(
            self.facts.quotients, lambda e: e if e.single is not None else said(e)
        )  # what a lone symbol is made of is known elsewhere

    def _say_in_divided(
        self, pairs: dict[Any, tuple[Expr, Expr]], said: Callable[[Expr], Expr | None]
    ) -> None:
        for key, pair in pairs.items():
            dividend, divisor = map(said, pair)
            if dividend is not None and divisor is not None:
                if len(dividend.terms) == len(divisor.terms) == 1:  # products, and not 0
                    pairs[key] = dividend, divisor

    def _break_circle(self, name: str, known: Range) -> None:
        """Let bounds that lead back to their symbol be constraints: a number is a better one."""
        symbol = Expr.atom(Atom("sym", name))
        gaps = []
        if known.lo is not None and self.facts.reaches(known.lo, name):
            gaps.append(symbol - known.lo)
            known.lo = None if known.least is None else Expr.of(known.least)
        if known.hi is not None and self.facts.reaches(known.hi, name):
            gaps.append(known.hi - symbol)
            known.hi = None if known.most is None else Expr.of(known.most)
        self.facts.constraints += [
            e for e in gaps if not any(k.same(e) for k in self.facts.constraints)
        ]

    def learn_divides(self, divisor: Expr, dividend: Expr, positive: bool = True) -> None:
        """divisor, which is positive, divides dividend, both products. positive: dividend is a size,
        else it may be 0 and negative."""
        if len(divisor.terms) != 1 or len(dividend.terms) != 1:
            return
        _, rest = self.simplifier.divide(dividend, divisor)
        if not rest.terms:
            return
        name = f"{dividend!r}//{divisor!r}"
        if name in self.facts.quotients or CUT in name:  # what is cut off is no name
            return
        if self._scopes:
            self._divides.append((divisor, dividend, positive))
        atom = Atom("sym", name)
        self.facts.quotients[name] = (dividend, divisor)
        least = (
            1 if positive else next((k for k in (1, 0) if self.prover.nonneg(dividend - k)), None)
        )
        if positive:
            self.learn_size(name)
        else:
            self.facts.ranges[name] = Range()
        single = dividend.single
        if (
            single is not None
            and single.kind == "sym"
            and single.args[0] not in divisor.symbols()
            and (single.args[0] not in self.facts.quotients)
        ):
            made = self.simplifier.times(divisor, Expr.atom(atom))
            symbol = single.args[0]
            for known, value in self.facts.substitutions.items():
                self.facts.substitutions[known] = self.simplifier.rebuild(
                    value, lambda a, s=single, m=made: m if a is s else None
                )
            self.facts.substitutions[symbol] = made
            old = self.facts.ranges.pop(symbol, None)
            self._forget()
            self.put(single, made)
            if old is not None:
                self.facts.original.setdefault(symbol, old)
                if least is not None:
                    self._at_least(name, least)
                if least == 1:
                    self._bound_factors(name)
                gaps = [made - old.lo] if old.lo is not None else []
                gaps += [old.hi - made] if old.hi is not None else []
                gaps += [made - old.least] if old.least is not None else []
                gaps += [old.most - made] if old.most is not None else []
                for e in gaps:
                    if any(k.same(e) for k in self.facts.constraints):
                        self._learn_sign(e)
                    else:
                        self.learn_nonneg(e)
            for e in list(self.facts.constraints):
                if name in e.symbols():
                    self._learn_sign(e)
        else:
            self.facts.exact[atom] = (dividend, divisor)
            if dividend.constant is not None:
                self.facts.ranges[name].hi = dividend
                factor = divisor.single
                if factor is not None and factor.kind == "sym":
                    self.learn_range(factor.args[0], None, dividend)
            if least is not None:
                self._at_least(name, least)
        self._forget()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is learned inside is forgotten at the end, but that something divides something, for
        that gives symbols their meaning: it is learned again, with what is known outside."""
        assumed, divides = self._assumed, self._divides
        self._divides = []
        self._scopes += 1
        try:
            with self.facts.restored():
                self._recall()
                yield
        finally:
            self._scopes -= 1
            self._assumed = assumed
            again, self._divides = self._divides, divides
            for divisor, dividend, positive in again:
                self.learn_divides(divisor, dividend, positive)
            for name in self.facts.sizes:  # a size is one in every branch
                self._at_least_one(name)

    def _recall(self) -> None:
        """What was found out the last time that just this was assumed, in this order: the paths
        through a function have their beginnings in common."""
        self.facts.cache = Cache()
        if self._assumed is not None:
            key = self.prover.use_z3, *(c.identity for c in self._assumed)
            self.facts.cache = self._remembered.setdefault(key, self.facts.cache)

    def _forget(self) -> None:
        """What was found out no longer holds, or no longer says all: more is known now."""
        if self._scopes:
            self._assumed = None
        else:
            self._remembered = {}
        self.facts.cache = Cache()

    def assume(self, condition: Cond) -> None:
        """Learn a condition; what cannot be expressed as a bound is not learned."""
        assumed, drawn = self._assumed, self.facts.cache.drawn
        ranges = {name: (r.lo, r.hi) for name, r in self.facts.ranges.items()}
        self._assume(condition)
        if self._scopes and assumed is not None:
            self._assumed = (*assumed, condition)
            self._recall()
        now = self.facts.cache.drawn
        if not now.attempts and all(
            name in ranges and ranges[name][0] is r.lo and ranges[name][1] is r.hi
            for name, r in self.facts.ranges.items()
        ):  # they would be drawn again
            kept = [sample for sample in drawn.found if self.samples.allows(sample)]
            now.found, now.attempts = kept, drawn.attempts

    def _assume(self, condition: Cond) -> None:
        op, a = condition.op, condition.args
        if op == "and":
            self._assume(a[0])
            self._assume(a[1])
        elif op == "not" and a[0].op == "or":
            self._assume(~a[0].args[0])
            self._assume(~a[0].args[1])
        elif op in ("le", "lt", "eq"):
            gap = a[1] - a[0]
            for e in (gap, -gap) if op == "eq" else (gap - (op == "lt"),):
                least = self.bounds.interval(e)[0]
                if least is None or least < 0:
                    self.learn_nonneg(e)
        elif op == "ne":
            self.facts.unequal = (*self.facts.unequal, a[1] - a[0])
        self._narrow()

    def _narrow(self) -> None:
        """What is not equal to an end of its range lies beyond it."""
        for gap in self.facts.unequal:
            bounds = self.bounds.interval(gap)
            if 0 in bounds:
                self.facts.unequal = tuple(g for g in self.facts.unequal if g is not gap)
                self.learn_nonneg(gap - 1 if bounds[0] == 0 else -gap - 1)
                return self._narrow()

    def check_consistent(self) -> None:
        """Raise AssumptionError where two bounds contradict each other."""
        for name, known in self.facts.ranges.items():
            if known.lo is not None and known.hi is not None:
                gap = self.bounds.interval(known.hi - known.lo)[1]
                if gap is not None and gap < 0:
                    raise AssumptionError(
                        f"the assumptions contradict each other: {name} would be "
                        f">= {known.lo!r} and <= {known.hi!r}"
                    )
        for e in self.facts.constraints:
            if (self.bounds.interval(e)[1] or 0) < 0:
                raise AssumptionError(
                    f"the assumptions contradict each other: {unsubstitute(e, self.facts)!r} would be >= 0"
                )

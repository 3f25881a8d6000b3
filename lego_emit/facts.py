"""What is known of the symbols, and what follows from it.

Provers in the order of their cost: constant intervals; substitution of bounds, which telescopes
over mixed-radix sums; then, where samples do not refute it, Z3 with a resource limit (a limit in
time would make the output depend on the machine). Divisibility is a substitution: "BM divides M"
makes M the product BM * (M // BM).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial

from . import intervals
from .errors import AssumptionError, TraceError
from .evaluate import Evaluation, Undefined, evaluate, holds
from .expr import (
    MOST_EXPANDED,
    RECORDER,
    Atom,
    Cond,
    Expr,
    Terms,
    _distribute,
    _times,
    _without,
    divide_terms,
    monomial_gcd,
)
from .intervals import ANY, Interval, tighter
from .text import CUT

# atoms that are operations under another name
ATOM_OPS = {"fdiv": "floordiv", "fmod": "floormod", "bool": "int"}
SAMPLES = 24
CACHES = (
    "_intervals", "_proofs", "_attempts", "_divmods", "_quotient_bounds", "_samples", "_rebuilt",
    "_tops", "_columns", "_symbols",
)  # fmt: skip
SHIFTED_DEGREE = 6
Z3_DEGREE = 3  # products of more factors take it long, and hardly a proof is found
Z3_UNKNOWN = 3  # queries that one counts for to which Z3 knows no answer
TRIES = 1000  # of proofs by a constraint, for one trace
Z3_QUERIES = 24  # for one trace; a bound in time would make the output depend on the machine


@dataclass(slots=True)
class Range:
    """Inclusive bounds of a symbol; None where there is none."""

    lo: Expr | None = None
    hi: Expr | None = None


@dataclass(slots=True)
class Samples:
    """Values that satisfy all facts, as far as they were asked for; the same every time."""

    found: list[Evaluation] = field(default_factory=list)
    attempts: int = 0
    state: int = 20260

    def number(self) -> int:
        """The next of a fixed sequence of numbers that look random."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self.state >> 33

    def copy(self) -> Samples:
        return Samples([*self.found], self.attempts, self.state)

    def start(self, found: list[dict[str, int]], other: Samples) -> None:
        """Go on with those found after as many attempts as another has made."""
        self.found, self.attempts, self.state = found, other.attempts, other.state


@dataclass
class Facts:
    """Ranges, substitutions and constraints of one trace. use_z3 allows the last prover."""

    ranges: dict[str, Range] = field(default_factory=dict)
    substitutions: dict[str, Expr] = field(default_factory=dict)  # M -> BM * (M//BM)
    quotients: dict[str, tuple[Expr, Expr]] = field(default_factory=dict)  # M//BM -> (M, BM)
    exact: dict[Atom, tuple[Expr, Expr]] = field(default_factory=dict)  # q -> (dividend, divisor)
    constraints: list[Expr] = field(default_factory=list)  # each is >= 0
    unequal: tuple[Expr, ...] = ()  # each is not 0
    original: dict[str, Range] = field(default_factory=dict)  # of what was substituted
    sizes: set[str] = field(default_factory=set)  # symbols that are at least 1 as sizes
    use_z3: bool = True
    z3_queries: int = 0  # asked so far

    def __post_init__(self) -> None:
        self._scopes = self._tries = 0
        self._divides: list[tuple[Expr, Expr, bool]] = []  # learned in the scope that is open
        self._assumed: tuple[Cond, ...] | None = ()
        self._forget()

    def _forget(self) -> None:
        """What was found out no longer holds, or no longer says all: more is known now."""
        if self._scopes:
            self._assumed = None
        else:
            self._remembered: dict[tuple, list] = {}
        self._start()

    def _start(self) -> None:
        self._intervals: dict[Expr, Interval] = {}
        self._proofs: dict[Expr, bool] = {}
        self._attempts: dict[Expr, tuple[bool, int]] = {}
        self._divmods: dict[tuple[Expr, Expr], tuple[Expr, Expr]] = {}
        self._quotient_bounds: dict[tuple[Expr, Expr], Expr | None] = {}
        self._samples = Samples()
        self._rebuilt: dict[Expr, Expr] = {}
        self._tops: dict[Atom, Expr | None] = {}
        self._columns: dict[Expr, list[int | None]] = {}
        self._symbols: dict[Expr, set[str]] = {}
        self._open: set[Atom] = set()  # symbols whose bounds are being looked at

    def copy(self) -> Facts:
        """The same knowledge, to be added to without telling this one."""
        made = Facts(
            {k: Range(r.lo, r.hi) for k, r in self.ranges.items()},
            dict(self.substitutions),
            dict(self.quotients),
            dict(self.exact),
            list(self.constraints),
            self.unequal,
            dict(self.original),
            set(self.sizes),
            self.use_z3,
        )
        for name in CACHES:
            setattr(made, name, getattr(self, name).copy())
        return made

    @contextmanager
    def quick(self) -> Iterator[None]:
        """Prove without Z3 inside."""
        asked, self.use_z3 = self.use_z3, False
        try:
            yield
        finally:
            self.use_z3 = asked

    def state(self) -> tuple:
        """What a trace looks at to see whether something new was learned."""
        signed = sum(self.ranges.get(name, Range()).lo is None for name in self.quotients)
        return len(self.quotients), len(self.substitutions), signed, sorted(self.ranges)

    def rebuilt(self, e: Expr) -> Expr:
        """e in the symbols that these facts speak of, simplified under them."""
        if e.constant is not None:
            return e
        known = self._rebuilt.get(e)
        if known is None:
            known = e.rebuild(lambda a: self.symbol(a.args[0]) if a.kind == "sym" else None)
            self._rebuilt[e] = known
        return known

    def is_size(self, name: str) -> bool:
        """Whether a symbol is a layout's size or a part of one, or is made of such."""
        made = self.substitutions.get(name)
        return name in self.sizes or (made is not None and made.symbols() <= self.sizes)

    # -- learning --------------------------------------------------------------------------

    def symbol(self, name: str) -> Expr:
        """The symbol, or what it is made of."""
        known = self.substitutions.get(name)
        return known if known is not None else Expr.atom(Atom("sym", name))

    def learn_range(self, name: str, lo: Expr | None, hi: Expr | None) -> None:
        """lo <= name <= hi; a bound that is known already stays unless the new one is tighter."""
        if name in self.substitutions:
            value = self.substitutions[name]
            if lo is not None and not self.nonneg(value - lo):
                self.learn_nonneg(value - lo)
            if hi is not None and not self.nonneg(hi - value):
                self.learn_nonneg(hi - value)
            return
        known = self.ranges.setdefault(name, Range())
        if lo is not None and (known.lo is None or not self.nonneg(known.lo - lo)):
            known.lo = lo
        if hi is not None and (known.hi is None or not self.nonneg(hi - known.hi)):
            known.hi = hi
        self._forget()

    def learn_size(self, name: str) -> None:
        """name >= 1, in whatever branch that was learned."""
        self.sizes.add(name)
        self._at_least_one(name)

    def _at_least_one(self, name: str) -> None:
        known = self.ranges.get(name)
        if name not in self.substitutions and (known is None or known.lo is None):
            self.ranges[name] = Range(Expr.of(1), known.hi if known is not None else None)
            self._forget()
        if name in self.quotients:
            self._at_least(name, 1)
            self._bound_factors(name)

    def _at_least(self, name: str, least: int) -> None:
        """A quotient is at least that."""
        known = self.ranges[name]
        if known.lo is None or not self.nonneg(known.lo - least):
            known.lo = Expr.of(least)
            self._forget()

    def learn_nonneg(self, e: Expr) -> None:
        """e >= 0."""
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
        singles.sort(key=lambda s: (s[0] > 0, s[1] not in self.ranges, s[1]))
        for coefficient, name, rest in singles:
            bound = -rest if coefficient > 0 else rest
            if name in self.quotients or self._reaches(bound, name):
                continue
            known = self.ranges.get(name, Range())
            old = known.lo if coefficient > 0 else known.hi
            if old is not None and (bound.constant is None or old.constant is None):
                continue
            if old is not None and (bound.constant - old.constant) * coefficient <= 0:  # type: ignore[operator]
                break
            self.ranges[name] = (
                Range(bound, known.hi) if coefficient > 0 else Range(known.lo, bound)
            )
            break
        self.constraints.append(e)
        self._forget()
        self._learn_sign(e)

    def _learn_sign(self, e: Expr) -> None:
        """e >= 0: what that says of a quotient, where e is a multiple of one and a number."""
        (mono, c), *more = [*((m, c) for m, c in e.terms.items() if m), ((), 0)]
        constant = e.terms.get((), 0)
        least = -(constant // c)
        if len(mono) > 1:  # the other factors are positive: it has the product's sign
            mono = tuple(a for a in mono if (self._atom_interval(a)[0] or 0) < 1)
            least = min(least, 1)
        if len(more) == 1 and c > 0 and constant <= 0 and len(mono) == 1:
            name = mono[0].args[0]
            if mono[0].kind == "sym" and name in self.quotients:
                self._at_least(name, least)

    def _bound_factors(self, name: str) -> None:
        """Neither the divisor nor a quotient of that name, both positive, is larger than what is
        divided."""
        dividend, divisor = self.quotients[name]
        single = dividend.single
        known = self.original.get(single.args[0]) if single is not None else None
        if known is not None and known.hi is not None:
            if known.lo is None:
                known.lo = Expr.of(1)
            for factor in (name, *(a.args[0] for a in divisor.atoms() if a.kind == "sym")):
                self.original.setdefault(factor, Range(Expr.of(1), known.hi))

    def _reaches(self, e: Expr, name: str) -> bool:
        """Whether e's bounds lead to the symbol: a bound of its own must not."""
        seen: set[str] = set()
        stack = [e]
        while stack:
            for found in stack.pop().symbols() - seen:
                if found == name:
                    return True
                seen.add(found)
                known = self.ranges.get(found, Range())
                stack += [b for b in (known.lo, known.hi) if b is not None]
        return False

    def _put(self, atom: Atom, value: Expr) -> None:
        """Say the bounds that an atom stands in with its value."""

        def said(bound: Expr | None) -> Expr | None:
            if bound is None or not any(a is atom for a in bound.deep_atoms()):
                return bound
            return bound.rebuild(lambda a: value if a is atom else None)

        for known in self.ranges.values():
            known.lo, known.hi = said(known.lo), said(known.hi)

    def learn_divides(self, divisor: Expr, dividend: Expr, positive: bool = True) -> bool:
        """divisor, which is positive, divides dividend, both products. positive: dividend is a size,
        else it may be 0 and negative. True where that was new."""
        if len(divisor.terms) != 1 or len(dividend.terms) != 1:
            return False
        _, rest = divide_terms(dividend, divisor)
        if not rest.terms:
            return False
        name = f"{dividend!r}//{divisor!r}"
        if name in self.quotients or CUT in name:  # what is cut off is no name
            return False
        if self._scopes:
            self._divides.append((divisor, dividend, positive))
        atom = Atom("sym", name)
        self.quotients[name] = (dividend, divisor)
        least = 1 if positive else next((k for k in (1, 0) if self.nonneg(dividend - k)), None)
        if positive:
            self.learn_size(name)
        else:
            self.ranges[name] = Range()
        single = dividend.single
        if (
            single is not None
            and single.kind == "sym"
            and single.args[0] not in divisor.symbols()
            and (single.args[0] not in self.quotients)
        ):
            made = _distribute(divisor, Expr.atom(atom))
            symbol = single.args[0]
            for known, value in self.substitutions.items():
                self.substitutions[known] = value.rebuild(
                    lambda a, s=single, m=made: m if a is s else None
                )
            self.substitutions[symbol] = made
            old = self.ranges.pop(symbol, None)
            self._forget()
            self._put(single, made)
            if old is not None:
                self.original.setdefault(symbol, old)
                if least is not None:
                    self._at_least(name, least)
                if least == 1:
                    self._bound_factors(name)
                if old.lo is not None and not self.nonneg(made - old.lo):
                    self.learn_nonneg(made - old.lo)
                if old.hi is not None:
                    self.learn_nonneg(old.hi - made)
        else:
            self.exact[atom] = (dividend, divisor)
            if dividend.constant is not None:
                self.ranges[name].hi = dividend
                factor = divisor.single
                if factor is not None and factor.kind == "sym":
                    self.learn_range(factor.args[0], None, dividend)
            if least is not None:
                self._at_least(name, least)
        self._forget()
        return True

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is learned inside is forgotten at the end, but that something divides something, for
        that gives symbols their meaning: it is learned again, with what is known outside."""
        saved = {f.name: getattr(self, f.name) for f in fields(self)}
        caches = {name: getattr(self, name) for name in CACHES}
        assumed, divides = self._assumed, self._divides
        self._divides = []
        self.ranges = {k: Range(r.lo, r.hi) for k, r in self.ranges.items()}
        self.original = {k: Range(r.lo, r.hi) for k, r in self.original.items()}
        self.constraints = list(self.constraints)
        for name in ("substitutions", "quotients", "exact"):
            setattr(self, name, dict(getattr(self, name)))
        self._scopes += 1
        self._recall()
        try:
            yield
        finally:
            self._scopes -= 1
            self._assumed = assumed
            asked = self.z3_queries
            for name, value in {**saved, **caches}.items():
                setattr(self, name, value)
            self.z3_queries = asked
            again, self._divides = self._divides, divides
            for divisor, dividend, positive in again:
                self.learn_divides(divisor, dividend, positive)
            for name in self.sizes:  # a size is one in every branch
                self._at_least_one(name)

    def _recall(self) -> None:
        """What was found out the last time that just this was assumed, in this order: the paths
        through a function have their beginnings in common."""
        if self._assumed is None:
            return self._start()
        key = self.use_z3, *self._assumed
        if key not in self._remembered:
            self._start()
            self._remembered[key] = [getattr(self, name) for name in CACHES]
        for name, value in zip(CACHES, self._remembered[key], strict=True):
            setattr(self, name, value)

    def assume(self, condition: Cond) -> None:
        """Learn a condition; what cannot be expressed as a bound is not learned."""
        assumed, samples = self._assumed, self._samples
        ranges = {name: (r.lo, r.hi) for name, r in self.ranges.items()}
        self._assume(condition)
        if self._scopes and assumed is not None:
            self._assumed = (*assumed, condition)
            self._recall()
        if not self._samples.attempts and all(
            name in ranges and ranges[name][0] is r.lo and ranges[name][1] is r.hi
            for name, r in self.ranges.items()
        ):  # they would be drawn again
            kept = [sample for sample in samples.found if self._satisfied(sample.values)]
            self._samples.start(kept, samples)

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
                least = self.interval(e)[0]
                if least is None or least < 0:
                    self.learn_nonneg(e)
        elif op == "ne":
            self.unequal = (*self.unequal, a[1] - a[0])
        self._narrow()

    def _narrow(self) -> None:
        """What is not equal to an end of its range lies beyond it."""
        for gap in self.unequal:
            bounds = self.interval(gap)
            if 0 in bounds:
                self.unequal = tuple(g for g in self.unequal if g is not gap)
                self.learn_nonneg(gap - 1 if bounds[0] == 0 else -gap - 1)
                return self._narrow()

    def contradictory(self) -> bool:
        """Whether what is known is seen at once to hold for no values."""
        bounds = [(r.lo, r.hi) for r in self.ranges.values()]
        gaps = [hi - lo for lo, hi in bounds if lo is not None and hi is not None]
        tops = (self.interval(e)[1] for e in (*gaps, *self.constraints))
        return any(top is not None and top < 0 for top in tops)

    # -- proving ---------------------------------------------------------------------------

    def interval(self, e: Expr) -> Interval:
        """Constant inclusive bounds, None where there is none."""
        known = self._intervals.get(e)
        if known is None:
            lo: int | None = 0
            hi: int | None = 0
            for mono, coefficient in e.terms.items():
                a, b = self._monomial_interval(mono)
                if coefficient < 0:
                    a, b = b, a
                lo = None if lo is None or a is None else lo + coefficient * a
                hi = None if hi is None or b is None else hi + coefficient * b
            known = self._intervals[e] = (lo, hi)
        return known

    def _monomial_interval(self, mono: tuple[Atom, ...]) -> Interval:
        known: Interval = (1, 1)
        k = 0
        while k < len(mono):
            power = 1
            while k + power < len(mono) and mono[k + power] is mono[k]:
                power += 1
            found = intervals.power(self._atom_interval(mono[k]), power)
            known = found if k == 0 else intervals.product(known, found)
            k += power
        return known

    def _atom_interval(self, atom: Atom) -> Interval:
        kind, args = atom.kind, atom.args
        if kind == "sym":
            known = self.ranges.get(args[0])
            if known is None or atom in self._open:
                return ANY
            self._open.add(atom)  # bounds may lead back: M <= 2*BM where BM divides M
            lo = self.interval(known.lo)[0] if known.lo is not None else None
            hi = self.interval(known.hi)[1] if known.hi is not None else None
            self._open.remove(atom)
            return lo, hi
        if kind == "group":
            known = self.interval(args[0])
            if args[1] is not None:
                known = tighter(max, known[0], self.interval(args[1])[0]), known[1]
            if args[2] is not None:
                known = known[0], tighter(min, known[1], self.interval(args[2])[1])
            return known
        op = ATOM_OPS.get(kind, kind)
        if op not in intervals.BOUNDS:
            return ANY
        operands = [self.interval(a) if isinstance(a, Expr) else ANY for a in args if a is not None]
        return intervals.interval(op, operands)

    def nonneg(self, e: Expr) -> bool:
        """True where e >= 0 is proven. False says nothing."""
        lo, hi = self.interval(e)
        if lo is not None and lo >= 0:
            return True
        if hi is not None and hi < 0:
            return False
        known = self._proofs.get(e)
        if known is None:
            self._proofs[e] = False  # a proof does not lean on itself
            if (recorder := RECORDER.get()) is not None:
                recorder.quiet(1)
            numeric = self._is_numeric(e)
            known = self._proofs[e] = (
                (not numeric and (self._telescopes(e) or self._prove(e, 12)))
                or self._by_constraint(e)
                or (not numeric and self._by_z3(e))
            )
            if recorder is not None:
                recorder.quiet(-1)
        return known

    def _telescopes(self, e: Expr) -> bool:
        """e >= 0 by putting every index's worst bound in at once: enough for mixed-radix sums,
        where coefficient and extent telescope."""
        factors: dict[Atom | None, Terms] = {}
        for mono, c in e.terms.items():
            index, rest = None, mono
            for k, atom in enumerate(mono):
                if atom.kind != "sym" or not self._is_size(atom.args[0]):
                    if index is not None:
                        return False
                    index, rest = atom, mono[:k] + mono[k + 1 :]
            factors.setdefault(index, {})[rest] = c
        total = factors.pop(None, {})
        for index, factor in factors.items():
            assert index is not None
            if all(c > 0 for c in factor.values()):
                least = self._atom_interval(index)[0]
                if least is None:
                    return False
                bound = Expr.of(least)
            elif all(c < 0 for c in factor.values()):
                top = self._top(index)
                if top is None:
                    return False
                bound = top
            else:
                return False
            for m, c in factor.items():
                for n, k in bound.terms.items():
                    key = _times(m, n)
                    total[key] = total.get(key, 0) + c * k
        left = Expr({m: c for m, c in total.items() if c})
        lo = self.interval(left)[0]
        return (lo is not None and lo >= 0) or self._shifted(left)

    def _top(self, atom: Atom) -> Expr | None:
        """An upper bound of an index in sizes only, None where none is seen at once."""
        if atom not in self._tops:
            kind, args, top = atom.kind, atom.args, None
            if kind == "sym":
                known = self.ranges.get(args[0])
                top = known.hi if known is not None else None
            elif kind == "digit" and args[2] is not None:
                top = _digit_count(args[1], args[2]) - 1
            elif kind == "digit":
                top = self._quotient_bound(args[0], args[1])
            elif kind == "group":
                top = args[2]
            if top is not None and any(
                a.kind != "sym" or not self._is_size(a.args[0]) for m in top.terms for a in m
            ):
                top = None
            self._tops[atom] = top
        return self._tops[atom]

    def _is_numeric(self, e: Expr) -> bool:
        """True where every atom lies between two numbers on its own: putting bounds into e finds
        no more than its interval does."""
        return all(
            a.kind in ("sym", "digit", "bool") and None not in self._atom_interval(a)
            for a in e.atoms()
        ) and all(self._exact_interval(Atom("sym", name)) for name in e.symbols())

    def _prove(self, e: Expr, depth: int) -> bool:
        """e >= 0 by putting the worst bound of one atom after another into it."""
        lo, hi = self.interval(e)
        if lo is not None and lo >= 0:
            return True
        if depth == 0 or (hi is not None and hi < 0):
            return False
        known = self._attempts.get(e)
        if known is not None and (known[0] or known[1] >= depth):
            return known[0]
        proven = not self._refuted(e) and self._prove_by_bounds(e, depth)
        self._attempts[e] = (proven, depth)
        return proven

    def _refuted(self, e: Expr) -> bool:
        """Whether e is negative somewhere: most questions that have no proof end here."""
        if self._sinks(e):
            return True
        for sample in self.samples():
            value = _value(e, sample)
            if value is None:
                return False
            if value < 0:
                return True
        return False

    def _sinks(self, e: Expr) -> bool:
        """Whether e, a sum of products of sizes, is negative where some sizes are as large as you
        like and all others are at their least: those of a negative product, or one alone."""
        if self.exact or self.constraints or len(e.terms) < 2:
            return False
        least: dict[Atom, int] = {}
        for atom in e.atoms():
            if atom.kind != "sym" or not self._is_size(atom.args[0]):
                return False
            least[atom] = self.ranges[atom.args[0]].lo.constant  # type: ignore[union-attr, assignment]
        if min(least.values()) < 1:
            return False
        negative = dict.fromkeys(frozenset(mono) for mono, c in e.terms.items() if c < 0)
        for large in (frozenset(), *negative, *(frozenset((atom,)) for atom in least)):
            degrees: dict[int, int] = {}
            for mono, c in e.terms.items():
                degree = 0
                for atom in mono:
                    if atom in large:
                        degree += 1
                    else:
                        c *= least[atom]
                degrees[degree] = degrees.get(degree, 0) + c
            leading = max((degree for degree, c in degrees.items() if c), default=None)
            if leading is not None and degrees[leading] < 0:
                return True
        return False

    def _prove_by_bounds(self, e: Expr, depth: int) -> bool:
        atoms = e.atoms()
        for atom in sorted(atoms, key=self._depth, reverse=True):
            with_atom = {m: c for m, c in e.terms.items() if atom in m}
            if any(m.count(atom) > 1 for m in with_atom):
                continue
            rest = Expr({m: c for m, c in e.terms.items() if atom not in m})
            factor = Expr({tuple(a for a in m if a is not atom): c for m, c in with_atom.items()})
            choices = self._bounds(atom)
            for sign, bounds, need_all in choices:
                if not bounds:
                    continue
                signed = factor if sign > 0 else -factor
                if not self._prove(signed, depth - 1):
                    continue
                # the worst of one atom does not depend on the others: no other order does better
                proofs = (self._prove(rest + _distribute(factor, b), depth - 1) for b in bounds)
                return all(proofs) if need_all else any(proofs)
        return self._shifted(e)

    def _depth(self, atom: Atom) -> tuple[int, str]:
        """How late an atom's bounds can be put in: those that depend on others go first."""
        if atom.kind == "sym":
            known = self.ranges.get(atom.args[0])
            if known is not None and known.hi is not None and known.hi.constant is None:
                return 2, atom.key
            return (1 if known is not None and known.hi is not None else 0), atom.key
        if atom.kind == "group" and atom.args[2] is None:
            return 0, atom.key  # a size, or a sum that is only kept together
        return 3, atom.key

    def _bounds(self, atom: Atom) -> list[tuple[int, list[Expr], bool]]:
        """(sign of the factor, bounds, whether all of them must do) for an atom."""
        kind, args = atom.kind, atom.args
        if kind == "sym":
            known = self.ranges.get(args[0])
            if known is None:
                return []
            los = [known.lo] if known.lo is not None else []
            his = [known.hi] if known.hi is not None else []
            return [(-1, his, False), (1, los, False)]
        if kind == "digit":
            base, lo, hi = args
            if hi is not None:
                top = _digit_count(lo, hi) - 1
                return [(1, [Expr.of(0)], False), (-1, [top], False)]
            bounds = []
            if self.nonneg(base):
                bounds.append((1, [Expr.of(0)], False))
            most = self._quotient_bound(base, lo)
            if most is not None:
                bounds.append((-1, [most], False))
            return bounds
        if kind == "group":
            inner, lo, hi, _ = args
            if hi is None:
                return [(1, [inner], False), (-1, [inner], False)]
            return [(1, [lo if lo is not None else inner], False), (-1, [hi], False)]
        if kind == "min":
            return [(-1, [args[0], args[1]], False), (1, [args[0], args[1]], True)]
        if kind == "max":
            return [(1, [args[0], args[1]], False), (-1, [args[0], args[1]], True)]
        if kind == "select":
            return [(1, [args[1], args[2]], True), (-1, [args[1], args[2]], True)]
        lo, hi = self._atom_interval(atom)
        return [
            (1, [Expr.of(lo)] if lo is not None else [], False),
            (-1, [Expr.of(hi)] if hi is not None else [], False),
        ]

    def _quotient_bound(self, base: Expr, lo: Expr) -> Expr | None:
        """An upper bound of base // lo, None where none is known."""
        key = (base, lo)
        if key not in self._quotient_bounds:
            self._quotient_bounds[key] = None  # a constraint on the quotient leads back here
            self._quotient_bounds[key] = self._quotient_bound_of(base, lo)
        return self._quotient_bounds[key]

    def _quotient_bound_of(self, base: Expr, lo: Expr) -> Expr | None:
        highest = self.upper(base)
        bounds = [] if highest is None else [highest]
        # a constraint k >= 0 bounds base by base + k: of use where that leaves the base out
        bounds += [b for b in (base + k for k in self.constraints) if len(b.terms) <= 2]
        for bound in bounds:
            quotient, rest = divide_terms(bound, lo)
            if not quotient.terms:
                continue
            if self._prove(-rest - 1, 4):
                return quotient - 1
            if self._prove(lo - rest - 1, 4):
                return quotient
        return None

    def _is_size(self, name: str) -> bool:
        """Whether a symbol stands in bounds as itself, and what is multiplied by it keeps its
        sign."""
        return self._is_open(name) and self.ranges[name].lo.constant >= 0  # type: ignore

    def _is_open(self, name: str) -> bool:
        """Whether nothing but a number bounds a symbol, and that below."""
        known = self.ranges.get(name)
        return (
            known is not None
            and known.hi is None
            and known.lo is not None
            and known.lo.constant is not None
        )

    def _shifted(self, e: Expr) -> bool:
        """All symbols put as lower bound + something >= 0: are all coefficients >= 0?"""
        if all(c >= 0 for c in e.terms.values()):
            return all(
                (self._atom_interval(a)[0] or -1) >= 0 or self._atom_interval(a)[0] == 0
                for a in e.atoms()
            )
        if max(map(len, e.terms)) > SHIFTED_DEGREE:
            return self._outweighed(e)  # the product of n shifted symbols has 2**n terms
        total: dict[tuple, int] = {(): 0}
        for mono, coefficient in e.terms.items():
            expanded: dict[tuple, int] = {(): coefficient}
            for atom in mono:
                lo = self._atom_interval(atom)[0]
                if lo is None:
                    return False
                new: dict[tuple, int] = {}
                for m, c in expanded.items():
                    key = tuple(sorted((*m, atom.key)))
                    new[key] = new.get(key, 0) + c
                    new[m] = new.get(m, 0) + c * lo
                expanded = new
            for m, c in expanded.items():
                total[m] = total.get(m, 0) + c
        return all(c >= 0 for c in total.values())

    def _outweighed(self, e: Expr) -> bool:
        """Whether each product that is taken off is a part of one that is added."""
        if any((self._atom_interval(a)[0] or 0) < 1 for a in e.atoms()):
            return False
        terms = sorted(e.terms.items(), key=lambda term: (len(term[0]), [a.key for a in term[0]]))
        left = {mono: c for mono, c in terms if c > 0}
        for mono, c in reversed(terms):
            for whole, many in left.items():
                if c < 0 < many and _without(whole, mono) is not None:
                    left[whole] -= min(many, -c)
                    c += min(many, -c)
            if c < 0:
                return False
        return True

    def _by_constraint(self, e: Expr) -> bool:
        """e >= k for some known k >= 0."""
        if not self.constraints:
            return False
        found, names = self._sampled(e), self._concerned(e)
        if any(v is not None and v < 0 for v in found):
            return False
        return any(
            not names.isdisjoint(self._concerned(k))
            and all(
                v is None or w is None or v >= w
                for v, w in zip(found, self._sampled(k), strict=True)
            )
            and self._tried()
            and self._prove(e - k, 6)
            for k in self.constraints
        )

    def _tried(self) -> bool:
        """Whether one more proof by a constraint may be tried: a long path has many."""
        self._tries += 1
        return self._tries <= TRIES

    def _concerned(self, e: Expr) -> set[str]:
        """The symbols in e, in their bounds, and so on."""
        if e not in self._symbols:
            found: set[str] = set()
            stack = [e]
            while stack:
                for name in stack.pop().symbols() - found:
                    found.add(name)
                    known = self.ranges.get(name, Range())
                    stack += [b for b in (known.lo, known.hi) if b is not None and b.atoms()]
            self._symbols[e] = found
        return self._symbols[e]

    def _sampled(self, e: Expr) -> list[int | None]:
        """e at the samples; None where it has no value."""
        if e not in self._columns:
            self._columns[e] = [_value(e, sample) for sample in self.samples()]
        return self._columns[e]

    def _by_z3(self, e: Expr) -> bool:
        """Z3 is asked only where no sample refutes, so that a query usually ends in a proof."""
        if not self.use_z3 or not e.atoms() or self.z3_queries >= Z3_QUERIES:
            return False
        if any(map(_beyond_z3, e.deep_atoms())):
            return False
        if _degree(e) > Z3_DEGREE:
            return False
        names = e.symbols()
        if any(n not in self.ranges or self.ranges[n].lo is None for n in names):
            return False
        found = 0
        for sample in self.samples():
            value = _value(e, sample)
            if value is None:
                continue
            if value < 0:
                return False
            found += 1
        if found < SAMPLES // 3:
            return False
        from .z3_prover import prove_nonneg

        answer = prove_nonneg(self, e)
        self.z3_queries += Z3_UNKNOWN if answer is None else 1
        return bool(answer)

    def decide(self, condition: Cond) -> bool | None:
        """True or False where the condition is decided, else None."""
        op, args = condition.op, condition.args
        if op in ("lt", "le"):
            gap = args[1] - args[0]
            if self.nonneg(gap if op == "le" else gap - 1):
                return True
            if self.nonneg(-gap - 1 if op == "le" else -gap):
                return False
            return None
        if op in ("eq", "ne"):
            gap = args[0] - args[1]
            if not gap.terms:
                return op == "eq"
            if self.nonneg(gap - 1) or self.nonneg(-gap - 1):
                return op == "ne"
            if self.constraints and self.nonneg(gap) and self.nonneg(-gap):
                return op == "eq"
            return None
        known = [self.decide(a) for a in args]
        if op == "not":
            return None if known[0] is None else not known[0]
        absorbing = op == "or"
        if absorbing in known:
            return absorbing
        return None if None in known else not absorbing

    # -- dividing --------------------------------------------------------------------------

    def divmod(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """Floor quotient and remainder in normal form (Table II and the splitting of digits)."""
        constant = b.constant
        if constant == 0:
            raise TraceError(f"({a!r}) // 0: a division by zero")
        if constant == 1:
            return a, Expr.of(0)
        if constant is not None and a.constant is not None:
            return tuple(map(Expr.of, divmod(a.constant, constant)))  # type: ignore[return-value]
        if len(b.terms) > 1:
            from .expr import group

            b = group(b)
        key = (a, b)
        known = self._divmods.get(key)
        recorder = RECORDER.get()
        if known is None:
            divide = self._divmod if recorder is None else partial(recorder.dividing, self)
            known = self._divmods[key] = divide(a, b)
        elif recorder is not None:
            recorder.divided(self, a, b, known)
        return known

    def _divmod(self, a: Expr, b: Expr) -> tuple[Expr, Expr]:
        recorder = RECORDER.get()
        if not self.nonneg(b - 1):
            quotient, rest = divide_terms(a, b)
            if not rest.terms:
                if recorder is not None:
                    recorder.because(self, "fit", quotient, rest, b)
                return quotient, rest
            if recorder is not None:
                recorder.signed(quotient)
            return quotient + Expr.atom(Atom("fdiv", rest, b)), Expr.atom(Atom("fmod", rest, b))
        quotient, rest = divide_terms(a, b)
        for atom, (dividend, divisor) in self.exact.items():
            if dividend.same(rest) and divisor.same(b):
                if recorder is not None:
                    recorder.because(self, "exact", quotient, rest, b)
                return quotient + Expr.atom(atom), Expr.of(0)
        fitted = self._fit(rest, b)
        if fitted is not None:
            if recorder is not None:
                recorder.because(self, "fit", quotient, rest, b, fitted[0])
            return quotient + fitted[0], fitted[1]
        # split at a border: rest = g*high + low with 0 <= low < g
        for g in self._borders(rest, b):
            high, low = divide_terms(rest, g)
            fitted = self._fit(low, g)
            if fitted is None:
                continue
            inner = divide_terms(b, g)[0]
            if recorder is not None:
                recorder.splits(self, quotient, g, high, low, fitted[0], inner)
            q, r = self.divmod(high + fitted[0], inner)
            return quotient + q, _distribute(g, r) + fitted[1]
        single = rest.single
        if single is not None and single.kind == "digit":
            base, lo, hi = single.args
            step = _distribute(b, lo)
            if hi is None or not divide_terms(hi, step)[1].terms:
                if recorder is not None:
                    recorder.because(self, "nested", quotient, rest, b)
                return (
                    quotient + Expr.atom(Atom("digit", base, step, hi)),
                    Expr.atom(Atom("digit", base, lo, step)),
                )
        if not self.nonneg(rest) and self.nonneg(rest + b):
            quotient, rest = quotient - 1, rest + b  # languages divide what is not negative
        elif () in rest.terms and self.nonneg(rest - b):
            quotient, rest = quotient + 1, rest - b
        if recorder is not None:
            recorder.because(self, "stays", quotient, rest, b)
        return (
            quotient + Expr.atom(Atom("digit", rest, b, None)),
            Expr.atom(Atom("digit", rest, Expr.of(1), b)),
        )

    def _fit(self, rest: Expr, b: Expr) -> tuple[Expr, Expr] | None:
        """(k, rest - k*b) where the remainder is in 0..b-1 for one k throughout."""
        if not rest.terms:
            return Expr.of(0), rest
        size = b.constant
        if size is not None:
            lo, hi = self.interval(rest)
            if lo is not None and hi is not None:
                k = lo // size
                if hi // size == k:
                    return Expr.of(k), rest - k * size
                if all(self._exact_interval(a) for a in rest.atoms()):
                    return None
        if self.nonneg(rest) and self.nonneg(b - rest - 1):
            return Expr.of(0), rest
        if size is None:
            if self.nonneg(rest + b) and self.nonneg(-rest - 1):
                return Expr.of(-1), rest + b
            if self.nonneg(rest - b) and self.nonneg(2 * b - rest - 1):
                return Expr.of(1), rest - b
        return None

    def _exact_interval(self, atom: Atom) -> bool:
        """True for an independent atom that takes both ends of its constant interval."""
        if atom.kind != "sym":
            return False
        known = self.ranges.get(atom.args[0])
        return known is not None and all(
            x is not None and x.constant is not None for x in (known.lo, known.hi)
        )

    def _borders(self, rest: Expr, b: Expr) -> list[Expr]:
        """Candidate borders, largest first."""
        found: dict[Expr, int] = {}
        for mono, coefficient in rest.terms.items():
            if mono:
                g = monomial_gcd(b, mono, coefficient)
                if g.constant != 1:
                    found[g] = 0
        return sorted(
            found, key=lambda g: (-len(next(iter(g.terms))), -next(iter(g.terms.values())), g.key)
        )

    # -- bounding --------------------------------------------------------------------------

    def upper(self, e: Expr) -> Expr | None:
        """An upper bound in sizes (what no number bounds from above), None where there is none."""
        return self._bound(e, 1, 16)

    def most(self, e: Expr) -> int | None:
        """A constant upper bound of a value in the user's own symbols."""
        known = {
            name: Range(r.lo or self.ranges[name].lo, r.hi or self.ranges[name].hi)
            if name in self.ranges
            else r
            for name, r in self.original.items()
        }
        return Facts({**self.ranges, **known}, use_z3=False).interval(e)[1]

    def lower(self, e: Expr) -> Expr | None:
        """A lower bound in sizes (what no number bounds from above), None where there is none."""
        bound = self._bound(-e, 1, 16)
        return None if bound is None else -bound

    def _bound(self, e: Expr, sign: int, depth: int) -> Expr | None:
        if depth == 0:
            return None
        for atom in sorted(e.atoms(), key=self._depth, reverse=True):
            if atom.kind == "sym" and self._is_open(atom.args[0]):
                continue
            with_atom = {m: c for m, c in e.terms.items() if atom in m}
            if any(m.count(atom) > 1 for m in with_atom):
                return None
            rest = Expr({m: c for m, c in e.terms.items() if atom not in m})
            factor = Expr({tuple(a for a in m if a is not atom): c for m, c in with_atom.items()})
            positive = self.nonneg(factor)
            if not positive and not self.nonneg(-factor):
                return None
            for want, bounds, need_all in self._bounds(atom):
                # an upper bound of the sum takes the upper bound where the factor is positive
                if (want < 0) is positive and bounds and not (need_all and len(bounds) > 1):
                    return self._bound(rest + _distribute(factor, bounds[0]), sign, depth - 1)
            return None
        return e

    def magnitude(self, e: Expr) -> Expr | None:
        """A bound of abs(e) in sizes only, looser than upper and lower but for any form; None
        where a symbol has no bound."""
        self._roughs: dict[tuple[Expr, int], Expr | None] = {}
        rough = self._rough(e, 24)
        return None if rough is None else self._rootless(rough)

    def _rough(self, e: Expr, depth: int) -> Expr | None:
        """As magnitude, square roots still standing."""
        if (e, depth) not in self._roughs:
            self._roughs[e, depth] = self._rough_sum(e, depth)
        return self._roughs[e, depth]

    def _rough_sum(self, e: Expr, depth: int) -> Expr | None:
        total = Expr.of(0)
        for mono, coefficient in e.terms.items():
            product = Expr.of(abs(coefficient))
            for atom in mono:
                factor = self._rough_atom(atom, depth - 1) if depth else None
                if factor is None:
                    return None
                product = _distribute(product, factor)
                if len(product.terms) > MOST_EXPANDED:
                    return None
            total = total + product
        return total

    def _rough_atom(self, atom: Atom, depth: int) -> Expr | None:
        lo, hi = self._atom_interval(atom)
        if lo is not None and hi is not None:
            return Expr.of(max(abs(lo), abs(hi)))
        kind, args = atom.kind, atom.args
        if kind == "sym":
            if self._is_size(args[0]):
                return Expr.atom(atom)
            known = self.ranges.get(args[0])
            if known is None or known.hi is None or known.lo is None or not self.nonneg(known.lo):
                return None
            return self._rough(known.hi, depth)
        if kind == "group":
            if args[1] is not None and args[2] is not None and self.nonneg(args[1]):
                return self._rough(args[2], depth)
            return self._rough(args[0], depth)
        if kind == "isqrt":
            inner = self._rough(args[0], depth)
            return None if inner is None else Expr.atom(Atom("isqrt", self._rootless(inner)))
        if kind == "digit":
            if args[2] is not None:
                return self._rough(_digit_count(args[1], args[2]), depth)
            return self._rough(args[0], depth)
        if kind in ("select", "min", "max"):
            a, b = (self._rough(x, depth) for x in args[-2:])
            if a is None or b is None:
                return None
            return b if self.nonneg(b - a) else a if self.nonneg(a - b) else a + b
        return None

    def _rootless(self, e: Expr) -> Expr:
        """isqrt(x)**2 <= x and isqrt(x) <= x."""
        total = Expr.of(0)
        for mono, coefficient in e.terms.items():
            product, rest = Expr.of(coefficient), list(mono)
            while rest:
                atom = rest.pop()
                if atom.kind == "isqrt":
                    if atom in rest:
                        rest.remove(atom)
                    product = _distribute(product, atom.args[0])
                else:
                    product = _distribute(product, Expr.atom(atom))
            total = total + product
        return total

    # -- sampling --------------------------------------------------------------------------

    def samples(self) -> Iterator[Evaluation]:
        """Values of all symbols that satisfy everything known; the same every time."""
        known = self._samples
        k = 0
        while k < SAMPLES:
            if k == len(known.found):
                if known.attempts == SAMPLES * 6:
                    return
                sample = self._sample(known)
                if sample is None:
                    continue
                known.found.append(Evaluation(sample))
            yield known.found[k]
            k += 1

    def _sample(self, samples: Samples) -> dict[str, int] | None:
        attempt = samples.attempts
        samples.attempts += 1
        values: dict[str, int] = {}
        pending = sorted(self.ranges)
        top = (1, 2, 3, 5, 9, 33)[attempt % 6]
        while pending:
            progress = []
            for name in pending:
                bounds = self.ranges[name]
                try:
                    lo = evaluate(bounds.lo, values) if bounds.lo is not None else -top
                    hi = evaluate(bounds.hi, values) if bounds.hi is not None else max(lo, 0) + top
                except (KeyError, Undefined):
                    continue
                if hi < lo:
                    return None
                if bounds.hi is not None and attempt % 3 < 2:
                    values[name] = (lo, hi)[attempt % 3]
                else:
                    values[name] = lo + samples.number() % (hi - lo + 1)
                progress.append(name)
            if not progress:
                return None
            pending = [n for n in pending if n not in values]
        try:
            if not self._satisfied(values):
                return None
            for atom, (dividend, divisor) in self.exact.items():
                if evaluate(dividend, values) != values[atom.args[0]] * evaluate(divisor, values):
                    return None
        except (KeyError, Undefined):
            return None
        for name, value in self.substitutions.items():
            try:
                values[name] = evaluate(value, values)
            except (KeyError, Undefined):
                return None
        return values

    def _satisfied(self, values: Mapping[str, int]) -> bool:
        try:
            return all(evaluate(c, values) >= 0 for c in self.constraints) and all(
                evaluate(gap, values) for gap in self.unequal
            )
        except (KeyError, Undefined):
            return False

    def check_consistent(self) -> None:
        """Raise AssumptionError where two bounds contradict each other."""
        for name, known in self.ranges.items():
            if known.lo is not None and known.hi is not None:
                gap = self.interval(known.hi - known.lo)[1]
                if gap is not None and gap < 0:
                    raise AssumptionError(
                        f"the assumptions contradict each other: {name} would be "
                        f">= {known.lo!r} and <= {known.hi!r}"
                    )
        for e in self.constraints:
            if (self.interval(e)[1] or 0) < 0:
                from .symbolic import unsubstitute

                raise AssumptionError(
                    f"the assumptions contradict each other: {unsubstitute(e, self)!r} would be >= 0"
                )


def _beyond_z3(atom: Atom) -> bool:
    """Whether Z3 has no word for an atom, or hardly ever an answer: a division by a symbol."""
    if atom.kind == "digit":
        return any(n is not None and n.constant is None for n in atom.args[1:])
    return atom.kind in ("fdiv", "fmod", "isqrt", "and", "or", "xor", "shl", "shr")


def _degree(e: Expr) -> int:
    """The most factors of a product in e, however deep."""
    inner = [a for atom in e.deep_atoms() for a in atom.args if isinstance(a, Expr)]
    return max((len(mono) for x in (e, *inner) for mono in x.terms), default=0)


def _value(e: Expr, sample: Evaluation) -> int | None:
    """e at a sample, None where it has no value."""
    try:
        return sample.expr(e)
    except (Undefined, KeyError):
        return None


def _digit_count(lo: Expr, hi: Expr) -> Expr:
    """hi / lo, or hi where it is not seen how often lo goes into it: more digits than there are."""
    quotient, rest = divide_terms(hi, lo)
    return hi if rest.terms else quotient


__all__ = ["Facts", "Range", "holds"]

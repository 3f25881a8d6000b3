"""What is known of the symbols, and how it is learned.

Divisibility is a substitution: "BM divides M" makes M the product BM * (M // BM). What follows from
what is known stands in the files that Facts is made of: ranges.py, proofs.py, bounds.py, division.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, cast

from ..errors import AssumptionError
from .division import Division
from .expr import Cond, Expr, distribute, divide_terms
from .knowledge import knowledge
from .known import CACHES, Range
from .rebuild import rebuild, unsubstitute
from .terms import Atom
from .text import CUT


class Facts(Division):
    """What is known of the symbols of one trace, to be added to."""

    def copy(self) -> Facts:
        """The same knowledge, to be added to without telling this one."""
        made = Facts(
            {k: replace(r) for k, r in self.ranges.items()},
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

    def state(self) -> tuple:
        """What a trace looks at to see whether something new was learned."""
        signed = sum(self.ranges.get(name, Range()).lo is None for name in self.quotients)
        return len(self.quotients), len(self.substitutions), signed, sorted(self.ranges)

    def learn_range(self, name: str, lo: Expr | None, hi: Expr | None) -> None:
        """lo <= name <= hi; a bound that is known already stays unless the new one is tighter."""
        if name in self.substitutions:
            value = self.substitutions[name]
            if lo is not None and not self.nonneg(value - lo):
                self.learn_nonneg(value - lo)
            if hi is not None and not self.nonneg(hi - value):
                self.learn_nonneg(hi - value)
            return
        known = self.ranges.get(name, Range())
        higher = lo is not None and (known.lo is None or not self.nonneg(known.lo - lo))
        lower = hi is not None and (known.hi is None or not self.nonneg(hi - known.hi))
        if higher or lower or name not in self.ranges:
            made = replace(known)
            if lo is not None and higher:
                made.lo = lo
                if lo.constant is None:
                    made.add(known.lo, None)
            if hi is not None and lower:
                made.hi = hi
                if hi.constant is None:
                    made.add(None, known.hi)
            self.ranges[name] = made
            self.forget()

    def learn_ends(self) -> None:
        """What lies in 0 <= i < n says of n: it is at least 1."""
        for known in list(self.ranges.values()):
            least = None if known.lo is None else self.interval(known.lo)[0]
            end = None if known.hi is None else (known.hi + 1).single
            if least is None or least < 0 or end is None or end.kind != "sym":
                continue
            if (self._atom_interval(end)[0] or 0) < 1:
                self.learn_range(end.args[0], Expr.of(1), None)

    def learn_size(self, name: str) -> None:
        """name >= 1, in whatever branch that was learned."""
        self.sizes.add(name)
        self._at_least_one(name)

    def _at_least_one(self, name: str) -> None:
        known = self.ranges.get(name)
        if name not in self.substitutions and (known is None or known.lo is None):
            self.ranges[name] = replace(known or Range(), lo=Expr.of(1))
            self.forget()
        elif known is not None and known.lo is not None and known.lo.constant is None:
            if (known.least or 0) < 1:
                known.least = 1
                self.forget()
        if name in self.quotients:
            self._at_least(name, 1)
            self._bound_factors(name)
            dividend, divisor = self.quotients[name]
            if Atom("sym", name) in self.exact and dividend.constant is None:
                if (self.interval(divisor)[0] or 0) >= 1:  # then what is divided is positive, too
                    self._learn_sign(dividend - 1)

    def _at_least(self, name: str, least: int) -> None:
        """A quotient is at least that."""
        known = self.ranges[name]
        if known.lo is None or not self.nonneg(known.lo - least):
            known.lo = Expr.of(least)
            self.forget()

    def _at_most(self, name: str, most: int) -> None:
        """A quotient is at most that."""
        known = self.ranges[name]
        if known.hi is None or not self.nonneg(most - known.hi):
            known.hi = Expr.of(most)
            self.forget()

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
            if name in self.quotients or self.reaches(bound, name):
                continue
            known = self.ranges.get(name, Range())
            old = known.lo if coefficient > 0 else known.hi
            if old is not None:
                number, before = bound.constant, old.constant
                if number is None or before is None:
                    if before is None:
                        known.add(*((bound, None) if coefficient > 0 else (None, bound)))
                    continue
                if (number - before) * coefficient <= 0:
                    break
            self.ranges[name] = (
                replace(known, lo=bound) if coefficient > 0 else replace(known, hi=bound)
            )
            break
        self.constraints.append(e)
        self.forget()
        self._learn_sign(e)

    def constrain(self, e: Expr) -> None:
        """e >= 0, which narrows no symbol's range."""
        if e.constant is None and not self.nonneg(e):
            for name in e.symbols():
                self.ranges.setdefault(name, Range())
            self.constraints.append(e)
            self.forget()

    def _learn_sign(self, e: Expr) -> None:
        """e >= 0: what that says of a quotient, where e is a multiple of one and a number, or that
        times a positive product."""
        shared = set.intersection(*map(set, e.terms))
        positive = tuple(sorted((a for a in shared if self._is_positive(a)), key=lambda a: a.key))
        if positive and len(e.terms) > 1:
            e, _ = divide_terms(e, Expr({positive: 1}))
        (mono, c), *more = [*((m, c) for m, c in e.terms.items() if m), ((), 0)]
        constant = e.terms.get((), 0)
        least = -(constant // c)
        if len(mono) > 1:  # the other factors are positive: it has the product's sign
            mono = tuple(a for a in mono if not self._is_positive(a))
            least = min(least, 1)
        if len(more) == 1 and c > 0 and constant <= 0 and len(mono) == 1:
            name = mono[0].args[0]
            if mono[0].kind == "sym" and name in self.quotients:
                self._at_least(name, least)
        elif len(more) == 1 and c < 0 <= constant and len(mono) == 1:
            name = mono[0].args[0]
            if mono[0].kind == "sym" and name in self.quotients:
                self._at_most(name, constant // -c)

    def _bound_factors(self, name: str) -> None:
        """Neither the divisor nor a quotient of that name, both positive, is larger than what is
        divided."""
        dividend, divisor = self.quotients[name]
        single = dividend.single
        known = None
        if single is not None and single.kind == "sym":
            known = self.original.get(single.args[0])
        if known is not None and known.hi is not None:
            if known.lo is None:
                known.lo = Expr.of(1)
            self._highest.clear()
            for factor in (name, *(a.args[0] for a in divisor.atoms() if a.kind == "sym")):
                self.original.setdefault(factor, Range(Expr.of(1), known.hi))

    def reaches(self, e: Expr, name: str) -> bool:
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

    def put(self, atom: Atom, value: Expr) -> None:
        """Say the bounds and constraints that an atom stands in with its value."""

        def said(bound: Expr | None) -> Expr | None:
            if bound is None or not any(a is atom for a in bound.deep_atoms()):
                return bound
            return rebuild(bound, lambda a: value if a is atom else None)

        for name, known in self.ranges.items():
            lo, hi = known.lo, known.hi
            known.lo, known.hi = said(lo), said(hi)
            if known.lo is not lo or known.hi is not hi:
                self._break_circle(name, known)
        self.constraints = [e for k in self.constraints if (e := said(k)) is not None]
        self._say_in_divided(self.exact, said)
        self._say_in_divided(
            self.quotients, lambda e: e if e.single is not None else said(e)
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
        if known.lo is not None and self.reaches(known.lo, name):
            gaps.append(symbol - known.lo)
            known.lo = None if known.least is None else Expr.of(known.least)
        if known.hi is not None and self.reaches(known.hi, name):
            gaps.append(known.hi - symbol)
            known.hi = None if known.most is None else Expr.of(known.most)
        self.constraints += [e for e in gaps if not any(k.same(e) for k in self.constraints)]

    def learn_divides(self, divisor: Expr, dividend: Expr, positive: bool = True) -> None:
        """divisor, which is positive, divides dividend, both products. positive: dividend is a size,
        else it may be 0 and negative."""
        if len(divisor.terms) != 1 or len(dividend.terms) != 1:
            return
        _, rest = divide_terms(dividend, divisor)
        if not rest.terms:
            return
        name = f"{dividend!r}//{divisor!r}"
        if name in self.quotients or CUT in name:  # what is cut off is no name
            return
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
            made = distribute(divisor, Expr.atom(atom))
            symbol = single.args[0]
            for known, value in self.substitutions.items():
                self.substitutions[known] = rebuild(
                    value, lambda a, s=single, m=made: m if a is s else None
                )
            self.substitutions[symbol] = made
            old = self.ranges.pop(symbol, None)
            self.forget()
            self.put(single, made)
            if old is not None:
                self.original.setdefault(symbol, old)
                if least is not None:
                    self._at_least(name, least)
                if least == 1:
                    self._bound_factors(name)
                gaps = [made - old.lo] if old.lo is not None else []
                gaps += [old.hi - made] if old.hi is not None else []
                gaps += [made - old.least] if old.least is not None else []
                gaps += [old.most - made] if old.most is not None else []
                for e in gaps:
                    if any(k.same(e) for k in self.constraints):
                        self._learn_sign(e)
                    else:
                        self.learn_nonneg(e)
            for e in list(self.constraints):
                if name in e.symbols():
                    self._learn_sign(e)
        else:
            self.exact[atom] = (dividend, divisor)
            if dividend.constant is not None:
                self.ranges[name].hi = dividend
                factor = divisor.single
                if factor is not None and factor.kind == "sym":
                    self.learn_range(factor.args[0], None, dividend)
            if least is not None:
                self._at_least(name, least)
        self.forget()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is learned inside is forgotten at the end, but that something divides something, for
        that gives symbols their meaning: it is learned again, with what is known outside."""
        saved = {f.name: getattr(self, f.name) for f in fields(self)}
        caches = {name: getattr(self, name) for name in CACHES}
        assumed, divides = self._assumed, self._divides
        self._divides = []
        self.ranges = {k: replace(r) for k, r in self.ranges.items()}
        self.original = {k: replace(r) for k, r in self.original.items()}
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
            for name, value in {**saved, **caches}.items():
                setattr(self, name, value)
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
        key = self.use_z3, *(c.identity for c in self._assumed)
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
            kept = [sample for sample in samples.found if self._satisfied(sample)]
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
                raise AssumptionError(
                    f"the assumptions contradict each other: {unsubstitute(e, self)!r} would be >= 0"
                )


def current() -> Facts:
    """The facts in force: those of the trace that is running, else none at all."""
    return cast(Facts, knowledge())

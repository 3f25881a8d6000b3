"""The steps from a layout's own formulas to what is emitted.

Equalities in the user's symbols, each with its rule (Table II) and what allows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..arith.expr import Cond, Expr
from ..arith.proofs import PROVERS
from ..arith.prover import Prover
from ..arith.steps import EXACT, MERGED, TAKEN_OFF, Divided, Law, Log, Merged, Simplified
from ..arith.terms import Atom
from ..errors import TargetError, did_you_mean
from ..ir.program import Function, Program
from ..lower.function import Record
from ..lower.lowering import Attempt
from ..notation import is_name

# Laws of what the simplifier does beside divisions.
ORDERED = Law(
    "ordered",
    "the smaller and the larger one of two values whose order is known (ours)",
    "min(a, b) = a  and  max(a, b) = b,  where a <= b",
)
DECIDED = Law(
    "decided",
    "a condition that always holds, or never (ours)",
    "c = 1  and  (a if c else b) = a,  where c holds",
)
CHOICES = Law(
    "choices",
    "a choice that the values make needless, or that is of the smaller or the larger one (ours)",
    "(a if c else a) = a  and  (a if a < b else b) = min(a, b)",
)
BITS = Law(
    "bits",
    "bits that a number clears or keeps, or that a value has in common with itself (ours)",
    "x & 0 = 0,  x | 0 = x,  x ^ x = 0,  x & (2**h - 2**l) = 2**l*(x % 2**h // 2**l)",
)
NO_DIVISION = ORDERED, DECIDED, CHOICES, BITS
RULES = {law.name: law for law in NO_DIVISION}
FOR_EVERY = "for every value"
AS_TRACED = "what was known when it was traced"


@dataclass(frozen=True)
class Step:
    """One equality that was used: before = after wherever the parameters are in their ranges.

    function: whose; before, after: Exprs in the user's symbols (lego_emit.arith.evaluate gives their
    values); law: what it rests on; because: what allows it, as text; proof: how that was shown.
    bounds: (value, bound) where that is 0 <= value < bound; where: the conditions of the branch in
    which it holds. asked: what is never negative, which allows it, in the symbols of the proof.
    """

    function: str
    before: Expr
    after: Expr
    law: Law
    because: str = ""
    proof: str = ""
    bounds: tuple[Expr, Expr] | None = None
    where: tuple[Cond, ...] = ()
    asked: tuple[Expr, ...] = ()


class Unit(Protocol):
    """An emitted unit, as far as its explanation goes."""

    @property
    def program(self) -> Program:
        """With the records of its functions."""
        ...

    @property
    def functions(self) -> Sequence[Function]:
        """By their names in Python."""
        ...


def steps(unit: Unit, name: str | None = None) -> list[Step]:
    """The steps of a unit's functions, in order; name: of one of them."""
    return [s for found in told(unit, name) for s in found.steps]


@dataclass(frozen=True)
class Told:
    """One function, the form of it that was taken, and the steps that led there."""

    function: Function
    record: Record
    winner: Attempt | None
    steps: list[Step]
    reader: Reader

    @property
    def entries(self) -> list[Any]:
        """All that was done, layouts applied among it."""
        return self.winner.log.entries if self.winner and self.winner.log else []


def told(unit: Unit, name: str | None = None) -> list[Told]:
    """What is known of a unit's functions; name: of one of them. Raises TargetError where nothing is
    known, and for an unknown name."""
    program = unit.program
    functions = [f for f in program.functions if f.record is not None]
    if not functions:
        raise TargetError(f"{program.name} was not made by generate(): there is nothing to explain")
    known = {
        n for f in functions for n in (f.name, *(old for old, new in f.renamed if new == f.name))
    }
    if name is not None and name not in known:
        own = [f.name for f in unit.functions]
        raise TargetError(
            f"no function {name!r} in {program.name}; it has {', '.join(own)}.{did_you_mean(name, own)}"
        )
    found = []
    for function in functions:
        record = function.record
        if name is None or name in (function.name, record.problem.name):
            nodes = list(record.roots)
            winner = next((t for t in record.forms if t.candidate.roots == nodes), None)
            reader = Reader(record.problem.name, record)
            log = winner.log if winner is not None else record.problem.log
            own = record.function or function
            found.append(Told(own, record, winner, reader.steps(log), reader))
    return found


class Reader:
    """Makes steps of what was done for one function, in the user's own symbols."""

    def __init__(self, name: str, record: Record):
        self.name, self.analyzer = name, record.problem.analyzer
        self.stand_ins = {a.args[0]: e for a, e in record.problem.conditions.stand_ins.items()}
        self._found: dict[tuple[str, str], Step] = {}

    def own(self, e: Expr) -> Expr:
        """e in the user's symbols."""
        e = self.analyzer.unsubstitute(e)
        while any(s in self.stand_ins for s in e.symbols()):
            e = self.analyzer.unsubstitute(_replaced(e, self.stand_ins))
        return e

    def steps(self, log: Log | None) -> list[Step]:
        """What a log tells, each equality once."""
        self._found = {}
        self._tell(log.entries if log is not None else ())
        return list(self._found.values())

    def _tell(self, entries: Iterable[Any]) -> None:
        for entry in entries:
            if isinstance(entry, Divided):
                self._division(entry)
            elif isinstance(entry, Merged):
                self._merge(entry)
            elif isinstance(entry, Simplified):
                self._simplified(entry)

    def _add(
        self,
        before: Expr,
        after: Expr,
        law: Law,
        bounds: tuple[Expr, Expr] | None,
        proof: str,
        where: tuple[Cond, ...],
        asked: tuple[Expr, ...] = (),
        because: str = "",
    ) -> None:
        before, after = self.own(before), self.own(after)
        where = tuple(c.rebuild(self.own) for c in where)
        if before.same(after) or before.constant is not None or repr(before) == repr(after):
            return
        because = because if bounds is None else between(*bounds)
        step = Step(self.name, before, after, law, because, proof, bounds, where, asked)
        self._found.setdefault((before.key, after.key), step)

    def _division(self, d: Divided) -> None:
        if d.dividend.constant is not None and d.divisor.constant is not None:
            return
        quotient, remainder = d.quotient, d.remainder
        bounds, proof = self._range(d)
        parts: list[Any] = []
        if d.border is not None:
            g, high, low, inner = d.border
            goes_on = [p for p in d.parts if isinstance(p, Divided) and p.dividend.same(high)]
            if inner.constant != 1 and high.constant is None and goes_on:
                parts = d.parts
                quotient = d.whole + Expr.atom(Atom("digit", high, inner, None))
                # the raw product: what it simplifies to is the next steps' business
                remainder = _raw_sum(low, _raw_product(g, Atom("digit", high, Expr.of(1), inner)))
        used = self._divisibility(d)
        if used and proof:
            proof = f"{proof}, with {used}"
        one, a, b = Expr.of(1), d.dividend, d.divisor
        asked = () if d.fits is None else (d.fits[0], d.fits[1] - d.fits[0] - 1)
        before = Atom("floordiv", a, b) if d.signed else Atom("digit", a, b, None)
        if d.law is EXACT and repr(self.own(Expr.atom(before))) == repr(self.own(quotient)):
            return  # it says nothing that the Known does not
        self._add(Expr.atom(before), quotient, d.law, bounds, proof, d.where, asked)
        before = Atom("floormod", a, b) if d.signed else Atom("digit", a, one, b)
        self._add(Expr.atom(before), remainder, d.law, bounds, proof, d.where, asked)
        self._tell(parts)

    def _simplified(self, s: Simplified) -> None:
        """A step that is no division: what allows it is shown in its branch, as it was then."""
        before, why = Expr.atom(Atom(s.kind, *s.args)), s.condition
        if s.rule == ORDERED.name:
            a, b = s.args
            why = Cond("le", a, b) if s.after.same(a) == (s.kind == "min") else Cond("le", b, a)
        if why is None:
            return self._add(before, s.after, RULES[s.rule], None, FOR_EVERY, s.where)
        because = repr((why if s.holds else ~why).rebuild(self.own))
        if because in (repr(c.rebuild(self.own)) for c in s.where):
            return None  # the branch says it
        analyzer = self.analyzer
        with analyzer.scope():
            for condition in s.where:
                analyzer.assume(condition.rebuild(analyzer.rebuilt))
            asked = reasons(why.rebuild(analyzer.rebuilt), s.holds, analyzer.prover)
            proof = AS_TRACED
            if all(map(analyzer.nonneg, asked)):
                proof = self._proof(because, [analyzer.prover.proofs.shown(e) for e in asked])
        return self._add(before, s.after, RULES[s.rule], None, proof, s.where, asked, because)

    def _proof(self, because: str, shown: list[tuple[str, Expr | None]]) -> str:
        """The dearest of the ways in which each of several things is shown."""
        proof, known = max(shown, key=lambda p: PROVERS.index(p[0]), default=(PROVERS[0], None))
        text = because if known is None else _relation(self.own(known))
        return proof if text == because else f"from {text}"

    def _range(self, d: Divided) -> tuple[tuple[Expr, Expr] | None, str]:
        """((value, bound) of 0 <= value < bound, how that is shown in the branch that it is of)."""
        if d.fits is None:
            return None, d.proof
        value, bound = d.fits
        with self.analyzer.scope():
            for condition in d.where:
                self.analyzer.assume(condition)
            how, known = self._shown(d, value, bound)
        single = value.single
        if known is not None:
            how = f"from {_relation(self.own(known))}"
        elif single is not None and single.kind == "opaque" and single.args[2] is not None:
            how = "the range of a block that is a bijection"
        elif (
            single is not None
            and single.kind == "sym"
            and single.args[0] in self.analyzer.facts.ranges
        ):
            hi = self.analyzer.facts.ranges[single.args[0]].hi
            if hi is not None and hi.same(bound - 1):
                how = f"the range of {self.own(value)!r}"
        return (self.own(value), self.own(bound)), how

    def _shown(self, d: Divided, value: Expr, bound: Expr) -> tuple[str, Expr | None]:
        """How 0 <= value < bound is shown, in the order in which it is tried."""
        analyzer, size = self.analyzer, bound.constant
        if size is not None:
            lo, hi = analyzer.interval(value)
            if lo is not None and hi is not None and 0 <= lo and hi < size:
                return PROVERS[0], None
        both = analyzer.prover.proofs.shown(value), analyzer.prover.proofs.shown(bound - value - 1)
        return max(both, key=lambda p: PROVERS.index(p[0]))

    def _divisibility(self, d: Divided) -> str:
        """The products that sizes were taken for, where a division rests on them."""
        analyzer = self.analyzer
        above = {s for m in d.dividend.terms for a in m if a.kind == "sym" for s in a.args}
        below = d.divisor.symbols()
        found = []
        for name, value in sorted(analyzer.facts.substitutions.items()):
            parts = value.symbols()
            if below & parts and parts <= above and parts & analyzer.facts.quotients.keys():
                if not parts <= below:
                    made = [analyzer.unsubstitute(Expr.atom(Atom("sym", p))) for p in sorted(parts)]
                    found.append(f"{name} = {'*'.join(map(factor_text, made))}")
        return " and ".join(found)

    def _merge(self, m: Merged) -> None:
        common = {k for k, c in m.before.terms.items() if m.after.terms.get(k) == c}
        before = Expr({k: c for k, c in m.before.terms.items() if k not in common})
        after = Expr({k: c for k, c in m.after.terms.items() if k not in common})
        digits = [c for k, c in before.terms.items() if any(a.kind == "digit" for a in k)]
        law = TAKEN_OFF if digits and len({c > 0 for c in digits}) > 1 else MERGED
        if len(digits) == 1:
            law = TAKEN_OFF
        self._add(before, after, law, None, FOR_EVERY, m.where)


def reasons(condition: Cond, holds: bool, prover: Prover) -> tuple[Expr, ...]:
    """What is never negative where a condition always holds, or never does, and decides it."""
    op, args = condition.op, condition.args
    if op == "not":
        return reasons(args[0], not holds, prover)
    if op in ("and", "or"):
        if holds is (op == "and"):
            return tuple(e for c in args for e in reasons(c, holds, prover))
        one = next((c for c in args if prover.decide(c) is holds), args[0])
        return reasons(one, holds, prover)
    gap = args[1] - args[0]
    if op in ("eq", "ne"):
        if holds is (op == "eq"):
            return gap, -gap
        return (next((e for e in (gap - 1, -gap - 1) if prover.nonneg(e)), gap - 1),)
    least = int(op == "lt")
    return (gap - least if holds else least - gap - 1,)


def _replaced(e: Expr, values: dict[str, Expr]) -> Expr:
    """e with symbols replaced, and nothing simplified."""
    memo: dict[Any, Any] = {}

    def walk(value: Any) -> Any:
        if isinstance(value, Cond):
            return value.rebuild(walk)
        if not isinstance(value, Expr):
            return value
        terms: dict[tuple[Atom, ...], int] = {}
        for mono, c in value.terms.items():
            made = tuple(sorted(map(walk_atom, mono), key=lambda a: a.key))
            terms[made] = terms.get(made, 0) + c
        return _flat(Expr({m: c for m, c in terms.items() if c}))

    def walk_atom(atom: Atom) -> Atom:
        if atom not in memo:
            if atom.kind == "sym":
                value = values.get(atom.args[0])
                memo[atom] = (
                    atom
                    if value is None
                    else value.single or Atom("opaque", value, None, None, False)
                )
            else:
                memo[atom] = Atom(atom.kind, *map(walk, atom.args))
        return memo[atom]

    return walk(e)


def _flat(e: Expr) -> Expr:
    """e with sums that stand alone as terms opened."""
    terms: dict[tuple[Atom, ...], int] = {}
    for mono, c in e.terms.items():
        opened = {mono: 1}
        if len(mono) == 1 and mono[0].kind == "opaque":
            opened = mono[0].args[0].terms
        for m, k in opened.items():
            terms[m] = terms.get(m, 0) + c * k
    return Expr({m: c for m, c in terms.items() if c})


def _raw_product(g: Expr, atom: Atom) -> Expr:
    return Expr({tuple(sorted((*m, atom), key=lambda a: a.key)): c for m, c in g.terms.items()})


def _raw_sum(a: Expr, b: Expr) -> Expr:
    terms = dict(a.terms)
    for m, c in b.terms.items():
        terms[m] = terms.get(m, 0) + c
    return Expr({m: c for m, c in terms.items() if c})


def factor_text(e: Expr) -> str:
    """An expression as a factor: in parentheses unless it is one name or one number."""
    text = repr(e)
    return text if is_name(text) or text.isdigit() else f"({text})"


def between(value: Expr, bound: Expr) -> str:
    """0 <= value < bound as text."""
    return f"0 <= {value!r} < {bound!r}"


def _relation(known: Expr) -> str:
    """known >= 0 as a comparison of two sides."""
    left = Expr({m: -c for m, c in known.terms.items() if c < 0 and m})
    right = Expr({m: c for m, c in known.terms.items() if c > 0 and m})
    constant = known.terms.get((), 0)
    if constant == -1 and right.terms:
        return f"{left!r} < {right!r}"
    if constant > 0:
        right = right + constant
    elif constant < 0:
        left = left - constant
    return f"{left!r} <= {right!r}"

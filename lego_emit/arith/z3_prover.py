"""Z3, asked last.

The limit counts Z3's own steps, not seconds, so that the answer is the same on every machine.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ..packages import z3
from .expr import Cond, Expr
from .facts import Facts, Range
from .terms import Atom

STEPS = 60_000
MOST_KEPT = 4096  # answers

_answers: dict[tuple[Any, ...], bool | None] = {}

# Z3 declares no types, and what its functions seem to return is too wide to compute with.
Term: TypeAlias = Any  # a z3.ArithRef
Fact: TypeAlias = Any  # a z3.BoolRef


def prove_nonneg(facts: Facts, e: Expr) -> bool | None:
    """True or False where Z3 decides whether e >= 0 follows, None where it gives up. One question, of all that
    _solver reads, has one answer: traces of one layout ask again what was asked before, and are told that."""
    asked = (
        e.identity,
        tuple([c.identity for c in facts.constraints]),
        tuple([(n, *_bounds(known)) for n, known in sorted(facts.ranges.items())]),
    )
    if asked in _answers:
        return _answers[asked]
    try:
        answer = _solver(facts, e).check()
    except z3.Z3Exception:
        return None
    found = True if answer == z3.unsat else False if answer == z3.sat else None
    if len(_answers) < MOST_KEPT:
        _answers[asked] = found
    return found


def _bounds(known: Range) -> tuple[Any, ...]:
    ends = [None if end is None else end.identity for end in (known.lo, known.hi)]
    return *ends, known.least, known.most


def query(facts: Facts, e: Expr) -> str:
    """What prove_nonneg asks, as SMT-LIB 2: unsat where e >= 0 follows."""
    return _solver(facts, e).to_smt2()


def _solver(facts: Facts, e: Expr) -> Any:
    # A context of its own: in a shared one the answer depends on what was asked before.
    context = z3.Context()
    # Not z3.Solver: what its tactics find out depends on addresses, and so on other threads.
    solver = z3.SimpleSolver(ctx=context)
    solver.set("rlimit", STEPS)
    translate = _Translator(facts, solver, context)
    goal = translate(e)
    done: set[str] = set()
    while translate.names != done:  # a bound may bring new symbols
        for name in sorted(translate.names - done):
            done.add(name)
            known = facts.ranges.get(name)
            if known is not None:
                symbol = z3.Int(name, context)
                if known.lo is not None:
                    solver.add(symbol >= translate(known.lo))
                if known.hi is not None:
                    solver.add(symbol <= translate(known.hi))
                if known.least is not None:
                    solver.add(symbol >= known.least)
                if known.most is not None:
                    solver.add(symbol <= known.most)
    for constraint in facts.constraints:
        solver.add(translate(constraint) >= 0)
    solver.add(goal < 0)
    return solver


class _Translator:
    """What is known of an atom is said to the solver on the way: in a branch of a select, only of
    what takes that branch, for elsewhere the atom need not have a value."""

    def __init__(self, facts: Facts, solver: z3.Solver, context: z3.Context):
        self.facts, self.solver, self.context = facts, solver, context
        self.names: set[str] = set()
        self.memo: dict[Atom, Term] = {}
        self.path: list[Fact] = []

    def _know(self, *facts: Fact) -> None:
        known = z3.And(*facts)
        self.solver.add(z3.Implies(z3.And(*self.path), known) if self.path else known)

    def _branch(self, condition: Fact, e: Expr) -> Term:
        """e where the condition holds."""
        outside = dict(self.memo)
        self.path.append(condition)
        value = self(e)
        self.path.pop()
        self.memo = outside
        return value

    def __call__(self, e: Expr) -> Term:
        total: Term = z3.IntVal(0, self.context)
        for mono, coefficient in sorted(e.terms.items(), key=lambda t: [a.key for a in t[0]]):
            product: Term = z3.IntVal(coefficient, self.context)
            for atom in mono:
                product = product * self.atom(atom)
            total = total + product
        return total

    def atom(self, atom: Atom) -> Term:
        if atom not in self.memo:
            self.memo[atom] = self._atom(atom)
        return self.memo[atom]

    def _atom(self, atom: Atom) -> Term:
        kind, args = atom.kind, atom.args
        if kind == "sym":
            self.names.add(args[0])
            return z3.Int(args[0], self.context)
        if kind == "digit":
            base, lo, hi = args
            value = self(base)
            if hi is not None:
                value = self._divide(value, self(hi))[1]
            return self._divide(value, self(lo))[0]
        if kind == "opaque":
            value = self(args[0])
            if args[1] is not None:
                self._know(value >= self(args[1]))
            if args[2] is not None:
                self._know(value <= self(args[2]))
            return value
        if kind == "min":
            a, b = self(args[0]), self(args[1])
            return z3.If(a < b, a, b)
        if kind == "max":
            a, b = self(args[0]), self(args[1])
            return z3.If(a < b, b, a)
        if kind == "select":
            condition = self.condition(args[0])
            yes = self._branch(condition, args[1])
            return z3.If(condition, yes, self._branch(z3.Not(condition), args[2]))
        if kind == "bool":
            return z3.If(
                self.condition(args[0]), z3.IntVal(1, self.context), z3.IntVal(0, self.context)
            )
        return self._fresh(kind)

    def _fresh(self, name: str) -> Term:
        """A new integer of which nothing is known."""
        return z3.FreshConst(z3.IntSort(self.context), name)

    def _divide(self, a: Term, b: Term) -> tuple[Term, Term]:
        """a = b*q + r, 0 <= r < b; the divisors of digits are positive."""
        if z3.is_int_value(b):
            return a / b, a % b
        q, r = self._fresh("q"), self._fresh("r")
        self._know(a == b * q + r, r >= 0, r < b)
        return q, r

    def condition(self, condition: Cond) -> Fact:
        op, args = condition.op, condition.args
        if op in ("and", "or", "not"):
            parts = [self.condition(a) for a in args]
            return {"and": z3.And, "or": z3.Or, "not": z3.Not}[op](*parts)
        a, b = (self(x) for x in args)
        return {"lt": a < b, "le": a <= b, "eq": a == b, "ne": a != b}[op]

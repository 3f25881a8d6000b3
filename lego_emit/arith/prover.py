"""Is an expression never negative? The answer, remembered.

One question is asked: is e >= 0 wherever the facts hold? a < b is b - a - 1 >= 0. What constant bounds
leave open is looked for in proofs.py, which is loaded with the first such question.

True is a proof. False is none: it says nothing. Whether a proof is found may depend on what was asked
before: proofs.py tries so many proofs by constraints, and asks Z3 so often, about the same symbols (TRIES,
Z3_QUERIES), and an answer is remembered until more is known. No clock takes part, so that the same questions
in the same order have the same answers on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import ref

from .bounds import Bounds
from .expr import Cond, Expr
from .facts import Facts

if TYPE_CHECKING:
    from .proofs import Proofs


class Prover:
    """Answers from facts. use_z3: whether Z3 is asked where nothing else decides."""

    def __init__(self, facts: Facts, bounds: Bounds, use_z3: bool = True):
        self.facts, self.bounds, self.use_z3 = facts, bounds, use_z3

    @cached_property
    def proofs(self) -> Proofs:
        """What looks for proofs."""
        from .proofs import Proofs

        return Proofs(self.facts, self.bounds, ref(self))

    @contextmanager
    def quick(self) -> Iterator[None]:
        """Prove without Z3 inside."""
        asked, self.use_z3 = self.use_z3, False
        try:
            yield
        finally:
            self.use_z3 = asked

    def nonneg(self, e: Expr) -> bool:
        """True where e >= 0 is proven. False says nothing."""
        lo, hi = self.bounds.interval(e)
        if lo is not None and lo >= 0:
            return True
        if hi is not None and hi < 0:
            return False
        key = e.identity
        proofs = self.facts.cache.proofs if self.use_z3 else self.facts.cache.unaided
        known = proofs.get(key)
        if known is None:
            proofs[key] = False  # a proof does not lean on itself
            known = proofs[key] = self.proofs.found(e, self.use_z3)
        return known

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
            if self.facts.constraints and self.nonneg(gap) and self.nonneg(-gap):
                return op == "eq"
            return None
        known = [self.decide(a) for a in args]
        if op == "not":
            return None if known[0] is None else not known[0]
        absorbing = op == "or"
        if absorbing in known:
            return absorbing
        return None if None in known else not absorbing

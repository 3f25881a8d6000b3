"""Proofs over large and symbolic domains: the digit algebra first, then the solvers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .terms import Term


@dataclass(frozen=True)
class Proof:
    """That a condition holds. how: by which means."""

    how: str


def prove(goal: Term, given: Sequence[Term]) -> Proof | None:
    """A proof that a condition holds, and has a value, wherever the given ones do; None where none was
    found. Raises smt.DisagreementError where two solvers contradict each other."""
    from . import cases, smt

    if cases.prove(goal, given) is not None:
        return Proof("digit algebra")
    how = smt.prove(goal, given)
    return None if how is None else Proof(how)

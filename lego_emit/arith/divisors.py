"""Divisors that may be 0, with the branches in which they divide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .analyzer import Analyzer
from .expr import Cond, Expr
from .terms import Atom

VISITS = 4096  # of parts of the outputs, when it is asked in which branch a division stands


def nonzero(outputs: Iterable[Expr], analyzer: Analyzer) -> Iterator[tuple[Expr, tuple[Cond, ...]]]:
    """(a divisor that may be 0 for all that is known, the conditions of the branch in which it
    divides); no conditions where there is too much to look at."""
    seen: set[tuple[Atom, tuple[str, ...]]] = set()
    waiting: list[tuple[Expr, tuple[Cond, ...]]] = [(e, ()) for e in outputs]
    while waiting:
        e, branch = waiting.pop()
        if len(seen) > VISITS:
            branch = ()
        keys = tuple(c.key for c in branch)
        for atom in e.atoms():
            if (atom, keys) in seen:
                continue
            seen.add((atom, keys))
            if atom.kind == "select":
                condition, then, other = atom.args
                waiting += [(e, branch) for e in condition.exprs()]
                waiting += [(then, (*branch, condition)), (other, (*branch, ~condition))]
                continue
            for x in atom.args:
                waiting += [(e, branch) for e in _within(x)]
            if atom.kind in ("floordiv", "floormod") and _may_be_0(atom.args[1], branch, analyzer):
                yield atom.args[1], branch


def _within(x: Any) -> list[Expr]:
    return [*x.exprs()] if isinstance(x, Cond) else [x] if isinstance(x, Expr) else []


def _may_be_0(divisor: Expr, branch: Iterable[Cond], analyzer: Analyzer) -> bool:
    if Cond("ne", divisor, Expr.of(0)).key in {c.key for c in branch}:
        return False
    if guarded(divisor):
        return False
    with analyzer.scope():
        for condition in branch:
            analyzer.assume(condition)
        return not (analyzer.nonneg(divisor - 1) or analyzer.nonneg(-divisor - 1))


def guarded(divisor: Expr) -> bool:
    """Whether it is x where that is not 0, and another number elsewhere: what divides in a branch
    is written so before it."""
    single = divisor.single
    if single is None or single.kind != "select":
        return False
    condition, then, other = single.args
    if condition.op == "eq":
        then, other = other, then
    elif condition.op != "ne":
        return False
    sides = {a.identity for a in condition.args}
    return sides == {then.identity, Expr.of(0).identity} and bool(other.constant)

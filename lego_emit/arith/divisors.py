"""Divisors that may be 0, with the branches in which they divide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .analyzer import Analyzer
from .expr import Cond, Expr
from .terms import Atom

VISITS = 4096  # of parts of the outputs, when it is asked in which branch a division stands


def nonzero(outputs: Iterable[Expr], analyzer: Analyzer) -> list[tuple[Expr, tuple[Cond, ...]]]:
    """(a divisor that may be 0 for all that is known, the conditions of the branch in which it
    divides), of each; where there is too much to look at, what all branches in which it divides have in
    common."""
    outputs = [*outputs]
    found: list[tuple[Expr, tuple[Cond, ...]]] = []
    seen: set[tuple[Atom, tuple[str, ...]]] = set()
    waiting: list[tuple[Expr, tuple[Cond, ...]]] = [(e, ()) for e in outputs]
    while waiting:
        e, branch = waiting.pop()
        if len(seen) > VISITS:
            return _in_common(outputs, analyzer)
        keys = tuple(c.key for c in branch)
        for atom in e.atoms():
            if (atom, keys) in seen:
                continue
            seen.add((atom, keys))
            waiting += _parts(atom, branch)
            if _divides(atom) and _may_be_0(atom.args[1], branch, analyzer):
                found.append((atom.args[1], branch))
    return found


def _in_common(outputs: Sequence[Expr], analyzer: Analyzer) -> list[tuple[Expr, tuple[Cond, ...]]]:
    """nonzero() in as many steps as there are parts: each after all that it stands in."""
    branches: dict[Atom, dict[str, Cond]] = {}

    def reach(e: Expr, branch: dict[str, Cond]) -> None:
        for atom in e.atoms():
            known = branches.get(atom, branch)
            branches[atom] = {k: c for k, c in known.items() if k in branch}

    for e in outputs:
        reach(e, {})
    atoms = set[Atom]().union(*(e.deep_atoms() for e in outputs))
    found = []
    for atom in sorted(atoms, key=lambda a: (-a.depth, a.key)):
        branch = tuple(branches[atom].values())
        for part, inner in _parts(atom, branch):
            reach(part, {c.key: c for c in inner})
        if _divides(atom) and _may_be_0(atom.args[1], branch, analyzer):
            found.append((atom.args[1], branch))
    return found


def _parts(atom: Atom, branch: tuple[Cond, ...]) -> list[tuple[Expr, tuple[Cond, ...]]]:
    """What stands in an atom, with the conditions of the branch that it stands in."""
    if atom.kind != "select":
        return [(e, branch) for x in atom.args for e in _within(x)]
    condition, then, other = atom.args
    parts = [(e, branch) for e in condition.exprs()]
    return [*parts, (then, (*branch, condition)), (other, (*branch, ~condition))]


def _divides(atom: Atom) -> bool:
    return atom.kind in ("floordiv", "floormod")


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

"""What a header says: ranges of parameters and results, assumptions, preconditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..arith.expr import Cond, Expr
from ..arith.facts import Facts
from ..arith.rebuild import put_back, unsubstitute
from ..arith.terms import Atom
from ..ir.program import Param
from ..ir.relations import pieces
from .problem import Problem

VISITS = 4096  # of parts of the outputs, when it is asked in which branch a division stands


def param(name: str, problem: Problem) -> Param:
    """A parameter, with what its header says of it."""
    facts = problem.facts
    lo, hi = facts.interval(facts.symbol(name))
    known = facts.ranges.get(name)
    if known is None:
        text = f"{lo} <= {name} < {hi + 1}" if lo is not None and hi is not None else ""
        text = text or (f"{name} >= {lo}" if lo is not None else "")
    else:
        low = None if known.lo is None else unsubstitute(known.lo, facts)
        high = None if known.hi is None else unsubstitute(known.hi + 1, facts)
        if low is not None and high is not None:
            text = f"{low!r} <= {name} < {high!r}"
        elif high is not None:
            text = f"{name} < {high!r}"
        else:
            text = f"{name} >= {low!r}" if low is not None else ""
    base = problem.base if name in problem.indices else 0
    return Param(name, text, lo, hi, name in problem.axes, facts.is_size(name), base)


def assumptions(problem: Problem, width: list[str], params: Sequence[Param]) -> tuple[str, ...]:
    """What a header assumes, each thing once. width: what the index type needs."""
    facts, texts = problem.facts, [*problem.stated]
    texts += [
        f"{_factor(unsubstitute(a, facts))} % {_factor(unsubstitute(b, facts))} == 0"
        for a, b in facts.quotients.values()
    ]
    texts += [*_preconditions(problem), *width]
    ranges = {piece for p in params for piece in pieces(p.range_text)}
    unique = {t.replace(" ", ""): t for t in reversed(texts)}
    return tuple(
        t
        for t in dict.fromkeys(texts)
        if unique[t.replace(" ", "")] == t and not pieces(t) <= ranges
    )


def _factor(e: Expr) -> str:
    alone = e.constant is not None or (e.single is not None and e.single.kind == "sym")
    return repr(e) if alone else f"({e!r})"


def promised(e: Expr, facts: Facts, span: tuple[int, Expr] | None, base: int) -> tuple[str, str]:
    """(least, end) of a result as text: least <= e < end, "" where there is no bound. span: bounds
    that are known to hold, counted from 0."""
    lo, hi = facts.interval(e)
    size = None
    if span is not None:
        least, size = span[0] + base, span[1] + base
        lo = least if lo is None else max(lo, least)
    number = None if size is None else size.constant
    if hi is not None and lo is not None and lo >= 0 and (size is None or number):
        most = hi if number is None else min(hi, number - 1)
        return str(lo), str(most + 1)
    for least in (0, 1):
        if (lo is None or lo < least) and facts.nonneg(e - least):
            lo = least
    top = facts.upper(e)
    if size is not None and (top is None or not facts.nonneg(size - 1 - top)):
        top = size - 1
    if top is None and hi is not None:
        top = Expr.of(hi)
    if hi is not None and top is not None and top.constant is not None:
        top = Expr.of(min(hi, top.constant))
    end = "" if top is None else repr(unsubstitute(top + 1, facts))
    return "" if lo is None else str(lo), end


def _preconditions(problem: Problem) -> list[str]:
    """Those that were met on the way, and that no divisor is 0; one of a branch says so."""
    facts, found = problem.facts, [*problem.preconditions]
    for divisor, branch in nonzero((e for _, e in problem.outputs), facts):
        text = not_zero(divisor, branch, problem)
        if text not in found:
            found.append(text)
    return found


def not_zero(divisor: Expr, branch: Iterable[Cond], problem: Problem) -> str:
    """That a divisor is not 0, or that its branch is not taken."""
    facts = problem.facts
    there = [c.rebuild(lambda e: unsubstitute(e, facts)) for c in branch]
    others = [repr(put_back(~c, problem.stand_ins)) for c in there]
    return " or ".join([*others, f"{unsubstitute(divisor, facts)!r} != 0"])


def nonzero(outputs: Iterable[Expr], facts: Facts) -> Iterator[tuple[Expr, tuple[Cond, ...]]]:
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
            if atom.kind in ("fdiv", "fmod") and _may_be_0(atom.args[1], branch, facts):
                yield atom.args[1], branch


def _within(x: Any) -> list[Expr]:
    return [*x.exprs()] if isinstance(x, Cond) else [x] if isinstance(x, Expr) else []


def _may_be_0(divisor: Expr, branch: Iterable[Cond], facts: Facts) -> bool:
    if Cond("ne", divisor, Expr.of(0)).key in {c.key for c in branch}:
        return False
    with facts.scope():
        for condition in branch:
            facts.assume(condition)
        return not (facts.nonneg(divisor - 1) or facts.nonneg(-divisor - 1))

"""What a header says: ranges of parameters and results, assumptions, preconditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..arith.expr import Cond, Expr, any_of
from ..arith.facts import Facts
from ..arith.intervals import tighter
from ..arith.rebuild import put_back
from ..arith.terms import Atom
from ..entries import Entries
from ..ir.nodes import Node
from ..ir.program import Param
from ..ir.relations import Range, between, const, evaluate, in_one_form, names_in, ones, parts
from .problem import Problem
from .relations import condition, value

VISITS = 4096  # of parts of the outputs, when it is asked in which branch a division stands


def param(name: str, problem: Problem) -> Param:
    """A parameter, with what its header says of it."""
    facts = problem.facts
    lo, hi = facts.interval(facts.symbol(name))
    known = facts.ranges.get(name)
    if known is None:
        found = Range(None if lo is None else const(lo))
        found = between(lo, hi + 1) if lo is not None and hi is not None else found
    else:
        least, end = known.lo, None if known.hi is None else known.hi + 1
        found = Range(*(None if e is None else value(e, facts) for e in (least, end)))
        if name in problem.unsigned:
            found = Range(None, found.end)
    if facts.constraints:  # not in its range, which is said beside them
        top = facts.upper(facts.symbol(name))
        hi = tighter(min, hi, None if top is None else facts.most(top))
    base = problem.first if name in problem.indices else 0
    said = problem.doc.params.get(name, "")
    return Param(name, found, lo, hi, name in problem.axes, facts.is_size(name), base, said)


def assumptions(
    problem: Problem, width: Sequence[Node], params: Sequence[Param]
) -> tuple[Node, ...]:
    """What a header assumes, each thing once. width: what the index type needs."""
    facts, names = problem.facts, {p.name for p in params}
    divides = (
        Node("eq", (Node("floormod", (value(a, facts), value(b, facts))), const(0)))
        for a, b in facts.quotients.values()
    )
    divides = [c for c in divides if names.issuperset(names_in(c))]  # not of what cancels out
    preconditions = (condition(c, facts) for c in _preconditions(problem))
    ranges = {c for p in params for part in p.range.conditions(p.name) for c in parts(part)}
    found: dict[Node, Node] = {}
    for c in (*problem.stated, *divides, *preconditions, *width):
        if not ranges.issuperset(parts(c)) and (names_in(c) or evaluate(c, {}) is not True):
            found.setdefault(in_one_form(c), c)
    return tuple(found.values())


def promised(
    e: Expr,
    facts: Facts,
    span: tuple[int, Expr] | None,
    base: int,
    masked: int | None = None,
) -> Range:
    """The range of a result. span: bounds that are known to hold, counted from 0; masked: the number
    beyond that stands for what is masked, or None."""
    if masked is not None:
        bounds = (None, None) if span is None else (const(0), value(span[1], facts))
        return Range(*bounds, ones(masked.bit_length()))
    lo, hi = facts.interval(e)
    size = None
    if span is not None:
        least, size = span[0] + base, span[1] + base
        lo = least if lo is None else max(lo, least)
    number = None if size is None else size.constant
    if hi is not None and lo is not None and lo >= 0 and (size is None or number):
        most = hi if number is None else min(hi, number - 1)
        return between(lo, most + 1)
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
    return Range(None if lo is None else const(lo), None if top is None else value(top + 1, facts))


def table_sizes(table: Entries, facts: Facts) -> tuple[Node, Node]:
    """How many entries a table has that is given at run time, and what they are below."""
    size, below = (value(Expr.of(n), facts) for n in (table.size, table.below))
    return size, below


def _preconditions(problem: Problem) -> list[Cond]:
    """Those that were met on the way, and that no divisor is 0; one of a branch says so."""
    found = [*problem.preconditions]
    for divisor, branch in nonzero((e for _, e in problem.outputs), problem.facts):
        found.append(not_zero(divisor, branch, problem))
    return found


def not_zero(divisor: Expr, branch: Iterable[Cond], problem: Problem) -> Cond:
    """That a divisor is not 0, or that its branch is not taken."""
    others = [put_back(~c, problem.stand_ins) for c in branch]
    return any_of([*others, Cond("ne", divisor, Expr.of(0))])


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
    if guarded(divisor):
        return False
    with facts.scope():
        for condition in branch:
            facts.assume(condition)
        return not (facts.nonneg(divisor - 1) or facts.nonneg(-divisor - 1))


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

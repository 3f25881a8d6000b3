"""The cases of a goal, each shown by the digit algebra; and numbers that refute a wrong guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import prod
from random import Random

from .digits import Facts
from .exhaustive import parts
from .negation import alternatives, negated
from .polynomials import Budget, Lost, Points, Split
from .terms import TRUE, Term, var

CASES = 400  # of one goal
POINTS = 48  # points at which a wrong guess is found out


def prove(goal: Term, given: Sequence[Term]) -> int | None:
    """In how many cases a goal was shown to hold wherever the given conditions do, and to have a value
    there; None where it was not shown."""
    budget = Budget()
    names = sorted(goal.names().union(*(g.names() for g in given)))
    try:
        holds = _case(goal, tuple(given), budget, _points(names, given))
    except (Lost, RecursionError):
        return None
    return budget.cases if holds else None


def _case(goal: Term, given: tuple[Term, ...], budget: Budget, points: Points) -> bool:
    """Whether the goal follows, in one case."""
    if goal is TRUE:
        return True
    if goal.op == "land":
        return all(_case(part, given, budget, points) for part in goal.args)
    if goal.op == "lnot":
        return _case(negated(goal.args[0]), given, budget, points) if _opens(goal) else False
    budget.cases += 1
    if budget.cases > CASES:
        raise Lost
    facts = Facts(given, budget, points)
    condition, last = goal, goal.op != "lor"
    try:
        if not last:  # the first one must have a value, too
            return facts.decided(goal.args[0]) or _case(goal.args[1], given, budget, points)
        if facts.decided(goal):
            return True
    except Split as split:
        condition = split.condition
    except Lost:
        pass
    if facts.impossible():
        return True
    if condition is goal and facts.open:
        condition = facts.open[0]
    if condition is goal or condition is negated(goal):
        return False
    if not last and condition is goal.args[0]:
        return _cases(goal.args[1], given, alternatives(negated(condition)), budget, points)
    ways = [way for c in (condition, negated(condition)) for way in alternatives(c)]
    return _cases(goal, given, ways, budget, points)


def _cases(
    goal: Term, given: tuple[Term, ...], ways: list[list[Term]], budget: Budget, points: Points
) -> bool:
    for way in ways:
        inside = [p for p in points if all(_holds(c, p) for c in way)]
        if not _case(goal, (*given, *way), budget, inside):
            return False
    return True


def _opens(negation: Term) -> bool:
    return negated(negation.args[0]) is not negation


def _holds(condition: Term, point: dict[str, int]) -> bool:
    try:
        return bool(condition.at(point))
    except (ArithmeticError, ValueError, LookupError):
        return False


def _points(names: Sequence[str], given: Sequence[Term]) -> Points:
    """Some numbers at which the given conditions hold. They refute guesses; they prove nothing."""
    key = tuple(names), tuple(g.key for g in given)
    if key not in _known_points:
        _known_points.clear()
        draw = Random(0)
        plan = _plan(names, [p for g in given for p in parts(g)])
        drawn = (_point(draw, plan) for _ in range(6 * POINTS))
        good = (p for p in drawn if p is not None and all(_holds(g, p) for g in given))
        _known_points[key] = list(islice(good, POINTS))
    return _known_points[key]


@dataclass
class _Draw:
    """How a number for a variable is drawn: its ends in those before it, with what is added to them,
    and what divides it."""

    name: str
    lows: list[tuple[Term, int]] = field(default_factory=list)
    highs: list[tuple[Term, int]] = field(default_factory=list)
    factors: list[Term] = field(default_factory=list)


def _plan(names: Sequence[str], known: Sequence[Term]) -> list[_Draw]:
    """The variables in an order in which those that bound or divide another one come before it."""
    plan: list[_Draw] = []
    done: set[str] = set()
    waits: dict[str, set[str]] = {n: set() for n in names}
    for part in known:
        if part.op in ("lt", "le", "eq"):
            a, b = part.args
            if a.op == "var":
                waits[a.args[0]] |= b.names() - {a.args[0]}
            elif a.op in ("fmod", "tmod") and a.args[0].op == "var":
                waits[a.args[0].args[0]] |= a.args[1].names()
    while len(done) < len(names):
        name = min((n for n in names if n not in done), key=lambda n: len(waits[n] - done))
        plan.append(found := _Draw(name))
        x = var(name)
        for part in known:
            if part.op not in ("lt", "le", "eq"):
                continue
            (a, b), off = part.args, int(part.op == "lt")
            if a is x and b.names() <= done:
                found.highs.append((b, -off))
            if b is x and a.names() <= done:
                found.lows.append((a, off))
            if part.op == "eq" and (a is x or b is x):
                found.lows += [(t, 0) for t, _ in found.highs[-1:]]
                found.highs += [(t, 0) for t, _ in found.lows[-1:]]
            if part.op == "eq" and a.op in ("fmod", "tmod") and b.constant == 0:
                if a.args[0] is x and a.args[1].names() <= done:
                    found.factors.append(a.args[1])
        done.add(name)
    return plan


def _point(draw: Random, plan: Sequence[_Draw]) -> dict[str, int] | None:
    """Numbers that may be allowed."""
    point: dict[str, int] = {}
    large = draw.random() < 0.5
    for one in plan:
        try:
            low = max((t.at(point) + off for t, off in one.lows), default=-40)
            high = min((t.at(point) + off for t, off in one.highs), default=2**62)
            factor = prod(t.at(point) for t in one.factors) or 1
        except (ArithmeticError, ValueError, LookupError):
            return None
        if low > high:
            return None
        if high - low > 2**30:
            size = draw.choice((1, 2, 3, 4, 5, 6, 8, 9, 16))
            if large:
                size <<= draw.choice((0, 0, 3, 10, 20, 31))
            low = low if low > -(2**31) else 0
            value = low + size - (low > 0) if factor == 1 else factor * size
        else:
            value = draw.choice((low, high, high, draw.randint(low, high)))
            value -= value % factor
        point[one.name] = value
    return point


_known_points: dict[tuple[tuple[str, ...], tuple[int, ...]], Points] = {}

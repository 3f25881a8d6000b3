"""One row: every side's attempts, counted, timed and checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from peers.ours import OPERATIONS
from problem import Problem, WrongAnswer
from table import milliseconds
from timing import TooLong
from tree import Tree, Unsupported, count, text, walk

from lego_emit.ir.cost import LATENCY
from lego_emit.lower.graph import Graph


@dataclass(frozen=True)
class Outcome:
    """What one attempt came to. problem: empty, or why there is nothing to show."""

    attempt: str
    operations: int | None = None
    latency: float | None = None
    milliseconds: float | None = None
    results: tuple[str, ...] = ()
    indices: int = 0
    problem: str = ""
    wrong: bool = False


@dataclass(frozen=True)
class Cell:
    """A side in a row: its attempts, of which the best is shown, unless one is wrong."""

    outcomes: tuple[Outcome, ...]

    @property
    def best(self) -> Outcome | None:
        """The right one with the fewest operations, the quickest of these."""
        right = [o for o in self.outcomes if o.operations is not None and not o.wrong]
        return min(right, key=lambda o: (o.operations, o.milliseconds or 0), default=None)

    @property
    def wrong(self) -> bool:
        return any(o.wrong for o in self.outcomes)

    def __str__(self) -> str:
        if self.wrong:
            return "wrong"
        if self.best is None:
            return next((o.problem for o in self.outcomes if o.problem.startswith(">")), "-")
        if self.best.milliseconds is None:
            return str(self.best.operations)
        return f"{self.best.operations} ({milliseconds(self.best.milliseconds)})"

    def as_json(self) -> dict[str, Any]:
        best = self.best
        return {
            "best": best and best.attempt,
            "operations": best and best.operations,
            "milliseconds": best and best.milliseconds,
            "attempts": [asdict(o) for o in self.outcomes],
        }


def cells(side: Any, problem: Problem, limit: float) -> dict[str, Cell]:
    """The cells of a side's columns, by title."""
    try:
        attempts = side.attempts(problem)
    except Unsupported as error:
        return {side.TITLE: Cell((Outcome("", problem=str(error)),))}
    return {
        title: Cell(tuple(_outcome(attempt, problem, limit) for attempt in tried))
        for title, tried in attempts.items()
    }


def lost(cells: dict[str, Cell]) -> list[str]:
    """What a peer has that ours has not, in words: fewer operations, or as many and cheaper ones; a lower latency,
    or as low a one by fewer."""
    found = []
    for model in ("ops", "latency"):
        own = cells.get(f"ours ({model})")
        if own is None or own.best is None:
            continue
        for title, cell in cells.items():
            right = [o for o in cell.outcomes if o.operations is not None and not o.wrong]
            if title.startswith("ours") or not right:
                continue
            o = min(right, key=lambda o: _rank(o, model))
            if _rank(o, model) < _rank(own.best, model):
                found.append(
                    f"{title} {o.operations} ({o.latency:g}), ours by {model} "
                    f"{own.best.operations} ({own.best.latency:g})"
                )
    return found


def _rank(o: Outcome, model: str) -> tuple:
    return (o.operations, o.latency) if model == "ops" else (o.latency, o.operations)


def latency(trees: tuple[Tree, ...]) -> float:
    """The price of the operations by lego_emit's model of that name, whoever made them; of those on
    sizes alone nothing."""
    reached = [*walk(trees)]
    graph = Graph(
        replace(LATENCY, hoisted=0), {t.value for t in reached if t.sized and t.op == "var"}
    )
    nodes = {}
    for t in reached:
        args = [nodes[a] for a in t.args]
        if t.op == "*" and t.args[1].op == "const":
            args.reverse()
        if t.op == "var":
            nodes[t] = graph.var(t.value, nonnegative=True)
        else:
            name = NAMES.get(t.op, t.op)
            nodes[t] = graph.op(name, *args) if args else graph.const(t.value)
    return graph.price([nodes[t] for t in trees])[0]


NAMES = {sign: op for op, sign in reversed(OPERATIONS.items())}  # of those that floor the plain one


def _outcome(attempt: Any, problem: Problem, limit: float) -> Outcome:
    try:
        trees, taken = attempt(limit)
    except TooLong:
        return Outcome(attempt.name, problem=f"> {limit:g} s")
    except Unsupported as error:
        return Outcome(attempt.name, problem=str(error))
    results = tuple(map(text, trees))
    try:
        indices = problem.check(trees)
    except WrongAnswer as error:
        return Outcome(
            attempt.name,
            count(trees),
            latency(trees),
            taken,
            results,
            problem=str(error),
            wrong=True,
        )
    return Outcome(attempt.name, count(trees), latency(trees), taken, results, indices)

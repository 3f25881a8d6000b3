"""What a header says: ranges of parameters and results, assumptions, preconditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..arith.analyzer import Analyzer
from ..arith.divisors import nonzero
from ..arith.expr import Cond, Expr, any_of
from ..intervals import tighter
from ..ir.index_types import DECLARED
from ..ir.nodes import Node, evaluate
from ..ir.program import Param
from ..ir.relations import Range, between, const, greatest, in_one_form, names_in, parts
from ..table_lookup import Entries
from .problem import Problem
from .relations import condition, value

LARGE = 2**31 - 1  # an end from here on is a type's, of which a header says nothing


def param(name: str, problem: Problem) -> Param:
    """A parameter, with what its header says of it."""
    analyzer = problem.analyzer
    lo, hi = analyzer.interval(analyzer.symbol(name))
    known = analyzer.facts.ranges.get(name)
    if known is None:
        found = Range(None if lo is None else const(lo))
        found = between(lo, hi + 1) if lo is not None and hi is not None else found
    else:
        least, end = known.lo, None if known.hi is None else known.hi + 1
        found = Range(*(None if e is None else value(e, analyzer) for e in (least, end)))
        kind = problem.parameters.types.get(name)
        is_unsigned = kind is not None and DECLARED[kind].least == 0 and found.least == const(0)
        if is_unsigned or name in problem.parameters.unsigned:
            found = Range(None, found.end)
    if analyzer.facts.constraints:  # not in its range, which is said beside them
        hi = tighter(min, hi, analyzer.estimates.greatest(analyzer.symbol(name)))
    base = problem.counting.index if name in problem.parameters.indices else 0
    said = problem.doc.params.get(name, "")
    return Param(
        name,
        found,
        lo,
        hi,
        name in problem.parameters.axes,
        analyzer.facts.is_size(name),
        base,
        said,
        problem.parameters.types.get(name, ""),
        static=name in problem.parameters.static,
        default=problem.parameters.static.get(name),
    )


def assumptions(
    problem: Problem, width: Sequence[Node], params: Sequence[Param]
) -> tuple[Node, ...]:
    """What a header assumes, each thing once. width: what the index type needs."""
    analyzer, names = problem.analyzer, {p.name for p in params}
    divides = (
        Node("eq", (Node("floormod", (value(a, analyzer), value(b, analyzer))), const(0)))
        for a, b in analyzer.facts.quotients.values()
    )
    divides = [c for c in divides if names.issuperset(names_in(c))]  # not of what cancels out
    preconditions = [condition(c, analyzer) for c in _preconditions(problem)]
    conditions = [*problem.conditions.stated, *divides, *preconditions, *width]
    if not conditions:
        return ()
    ranges = {c for p in params for part in p.range.conditions(p.name) for c in parts(part)}
    least = {c.args[1]: c.args[0].value for c in ranges if c.op == "le" and c.args[0].op == "const"}

    def is_said(c: Node) -> bool:
        """Whether a range says a condition, or a higher least number than it asks for."""
        lower = c.op == "le" and c.args[0].op == "const" and c.args[1] in least
        return c in ranges or (lower and c.args[0].value <= least[c.args[1]])

    found: dict[Node, Node] = {}
    for c in conditions:
        if not all(map(is_said, parts(c))) and (names_in(c) or evaluate(c, {}) is not True):
            found.setdefault(in_one_form(c), c)
    return tuple(c for form, c in found.items() if found.keys().isdisjoint(_choices(form)))


def _choices(c: Node) -> list[Node]:
    """Of a condition that holds where one of several does, these; else none."""
    return [x for a in c.args for x in _choices(a) or [a]] if c.op == "lor" else []


def promised(
    e: Expr,
    analyzer: Analyzer,
    span: tuple[int, Expr] | None,
    base: int,
    masked: int | None = None,
    typed: bool = False,
    kind: str = "",
) -> Range:
    """The range of a result. span: bounds that are known to hold, counted from 0; masked: the number
    beyond that stands for what is masked, or None; typed: numbers that bound it may come of types, and
    are said where they are small and nothing else is; kind: what it is declared as."""
    if kind == "bool":
        return Range()
    if masked is not None:
        bounds = (None, None) if span is None else (const(0), value(span[1], analyzer))
        return Range(*bounds, greatest(masked))
    lo, hi = analyzer.interval(e)
    size = None
    if kind and lo is not None:
        lo = max(lo, DECLARED[kind].least)  # a precondition says so
    if typed:
        lo, hi = (end if end is not None and abs(end) < LARGE else None for end in (lo, hi))
        top = analyzer.prover.proofs.upper(e)
        hi = None if top is not None and top.constant is None else hi
    if span is not None:
        least, size = span[0] + base, span[1] + base
        lo = least if lo is None else max(lo, least)
    number = None if size is None else size.constant
    if hi is not None and lo is not None and lo >= 0 and (size is None or number):
        most = hi if number is None else min(hi, number - 1)
        return between(lo, most + 1)
    for least in (0, 1):
        if (lo is None or lo < least) and analyzer.nonneg(e - least):
            lo = least
    top = analyzer.prover.proofs.upper(e)
    if size is not None and (top is None or not analyzer.nonneg(size - 1 - top)):
        top = size - 1
    if typed and top is not None and any(abs(c) >= LARGE for c in top.terms.values()):
        top = None
    if top is None and hi is not None:
        top = Expr.of(hi)
    if hi is not None and top is not None and top.constant is not None:
        top = Expr.of(min(hi, top.constant))
    return Range(
        None if lo is None else const(lo), None if top is None else value(top + 1, analyzer)
    )


def table_sizes(table: Entries, analyzer: Analyzer) -> tuple[Node, Node]:
    """How many entries a table has that is given at run time, and what they are below."""
    size, below = (value(Expr.of(n), analyzer) for n in (table.size, table.below))
    return size, below


def _preconditions(problem: Problem) -> list[Cond]:
    """Those that were met on the way, and that no divisor is 0; one of a branch says so."""
    found = [*problem.conditions.preconditions]
    for divisor, branch in nonzero((e for _, e in problem.outputs), problem.analyzer):
        found.append(not_zero(divisor, branch, problem))
    return found


def not_zero(divisor: Expr, branch: Iterable[Cond], problem: Problem) -> Cond:
    """That a divisor is not 0, or that its branch is not taken."""
    others = [
        problem.analyzer.simplifier.put_back(~c, problem.conditions.stand_ins) for c in branch
    ]
    return any_of([*others, Cond("ne", divisor, Expr.of(0))])

"""One function lowered: the program, its index type, its header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..arith.expr import Cond, Expr
from ..errors import TraceError, WidthError
from ..ir.index_types import DECLARED, IndexType
from ..ir.nodes import Node
from ..ir.program import Function, Param, View
from ..ir.relations import Range, says
from . import header
from .forms import Form
from .lower import Lowered, first_places, in_order, lower
from .lowering import Attempt, Lowering
from .problem import Dialect, Problem
from .style import Style
from .widths import Width, choose_type, holds_argument

MOST = 98  # operands and operations of a formula that is said, of a column at least each


@dataclass
class Record:
    """How a function came about: what was lowered, the forms that were priced, the nodes of the one
    that was taken, by which cost model, and the function in the user's own names."""

    problem: Problem
    forms: Sequence[Attempt]
    roots: Sequence[Node]
    model: str
    function: Function | None = None


def lowered(problem: Problem, dialect: Dialect) -> Function:
    """The cheapest program for a problem."""
    analyzer, types = problem.analyzer, dialect.types
    lowering = Lowering(analyzer, dialect)
    lowering.function = lowered
    promises: Sequence[Range] = ()
    if problem.words is not None:
        from .wrapped import wrapped

        found, promises = wrapped(problem, lowering)
    elif problem.written.form is None:
        try:
            found = lower(problem, lowering)
        except TraceError as error:
            raise TraceError(f"{problem.name}: {error}") from None
    else:
        found, needed = _spelled(problem, lowering)
        known = [*problem.conditions.preconditions, *needed]
        problem = replace(problem, conditions=replace(problem.conditions, preconditions=known))
    if found.extents and any(n.op == "table" and n.value.given for n in found.nodes.values()):
        raise TraceError(
            f"{problem.name}: there is no array form of a function that is given a table; write "
            "a parameter for ':'"
        )
    if problem.view and any(n.op == "table" and n.value.given for n in found.nodes.values()):
        raise TraceError(
            f"{problem.name}: there is no view of a layout whose table is known at run time only; "
            "give Lookup the entries"
        )
    _check_masked(problem)
    params = tuple(header.param(n, problem) for n in problem.parameters.names)
    if problem.words is None:
        kinds = _holding(params, types) or types[-1:] if dialect.narrow else types
        if rounds := lowering.rounds:
            from .loops import types_of

            kinds = types_of([*rounds.values()], kinds)
        own = found.roots if problem.fit else ()
        chosen = choose_type(problem.name, found.lowering, found.nodes, kinds, problem, own)
    else:
        chosen = Width(types[0])
    width = _with_params(problem.name, params, chosen, types)
    needed = width.needed
    if problem.types or problem.parameters.types:
        from .declared import converted

        needed = (*needed, *converted(problem, params, width.index_type))
    spans: Sequence[tuple[int, Expr] | None] = problem.conditions.spans or [None] * len(
        problem.outputs
    )
    unseen, nonzero, body = width.unseen, False, found.body
    if lowering.rounds:
        from . import loops

        body = [(n, loops.in_type(e, lowering, width.index_type)) for n, e in body]
        more, beyond, nonzero = loops.needed(body, problem.parameters.names)
        needed, unseen = (*needed, *more), unseen or beyond
    record = Record(problem, found.lowering.attempts, found.roots, dialect.cost.name)
    function = Function(
        name=problem.name,
        params=params,
        body=tuple(body),
        outputs=tuple(found.outputs),
        index_type=width.index_type,
        summary=_summary(problem, params),
        returns=problem.doc.returns,
        assumed=header.assumptions(problem, needed, params),
        unseen=unseen,
        nonzero=nonzero,
        axes=tuple(found.extents),
        view=_view(problem, found),
        named=problem.by_name and len(found.outputs) > 1,
        base=problem.counting.axis,
        bases=tuple(problem.counting.results),
        cost=round(found.cost, 3),  # without what decides between equal ones
        record=record,
        groups=tuple(problem.parameters.groups),
        result=problem.group,
        types=tuple(problem.types),
        promises=tuple(
            header.promised(
                e,
                analyzer,
                span,
                base,
                problem.conditions.masked.get(name),
                not e.symbols().isdisjoint(problem.parameters.types),
                kind,
            )
            for (name, e), span, base, kind in zip(
                problem.outputs,
                spans,
                problem.counting.results,
                problem.types or [""] * len(problem.outputs),
                strict=True,
            )
        ),
    )
    if function.static:
        from .static import check_static

        check_static(function)
    if problem.words is not None:
        function = replace(function, wrapping=True, promises=tuple(promises))
    if problem.words is None and problem.written.form is None and not lowering.rounds:
        function = replace(function, formulas=_formulas(problem, dialect, lowering, found.roots))
    sizes = tuple(header.table_sizes(t, analyzer) for t in function.tables)
    function = replace(function, table_sizes=sizes) if sizes else function
    if any(g.open for g in function.groups):
        from .arrays import counted

        groups = tuple(counted(g, function, analyzer) for g in function.groups)
        function = replace(function, groups=groups)
    record.function = replace(
        function, record=None
    )  # no circle, which would stay until it is found
    return function


def _formulas(
    problem: Problem, dialect: Dialect, lowering: Lowering, roots: Sequence[Node]
) -> tuple[tuple[str, Node], ...]:
    """(name, value) of each output that the program, of these roots, computes by another expression than
    the normal form as it stands: that one. None of what looks up a table, or is longer than a line."""
    if not lowering.plain or lowering.plain > MOST * len(roots) or lowering.graph.cost.plain:
        return ()
    beside = Lowering(problem.analyzer, dialect, lowering)
    own = [problem.analyzer.unsubstitute(e) for _, e in problem.outputs]
    plain = [*map(Form(beside, Style(plain=True), own).expr, own)]
    if not lowering.signed:
        from .unsigned import without_signs

        if without_signs(beside, plain)[0] != plain:  # a comparison that asks for a sign
            return ()
    reached = [*beside.graph.reached(plain), *lowering.graph.reached(roots)]
    first = first_places(reached, problem.parameters.names)
    lengths: dict[Node, int] = {}
    for node in reached:
        own_length = MOST + 1 if node.op == "table" else node.op != "within"
        lengths[node] = min(MOST + 1, own_length + sum(lengths[a] for a in node.args))

    def made(node: Node) -> Node:
        args = in_order(node, tuple(map(made, node.args)), first)
        return args[0] if node.op == "within" else Node(node.op, args, node.value)

    found = list[tuple[str, Node]]()
    for (name, _), formula, root in zip(problem.outputs, plain, roots, strict=True):
        if lengths[formula] > MOST:
            continue
        formula, same = made(formula), lengths[formula] == lengths[root]
        if not same or says(formula) != says(made(root)):
            found.append((name, formula))
    return tuple(found)


def _check_masked(problem: Problem) -> None:
    """Raise WidthError where the number that stands for what is masked is a result, too."""
    for (name, _), span in zip(problem.outputs, problem.conditions.spans or (), strict=False):
        most = problem.conditions.masked.get(name)
        if most is not None and (problem.analyzer.interval(span[1])[0] or 0) > most:
            raise WidthError(
                f"{problem.name}: {name} may be {most}, which stands for what is masked in an unsigned type",
                "choose a wider index_type or smaller sizes",
            )


def _summary(problem: Problem, params: Sequence[Param]) -> str:
    """What the user says that it computes, and how it counts; "" where there is nothing to say."""
    said = [problem.doc.summary] if problem.doc.summary else []
    if problem.words is not None:
        bits = problem.words.bits
        said.append(f"All arithmetic is modulo 2^{bits}, of arguments from 0 to 2^{bits} - 1.")
        return " ".join(said)
    found = dict.fromkeys(p.name for p in params if p.base)
    found |= dict.fromkeys(
        n for (n, _), b in zip(problem.outputs, problem.counting.results, strict=True) if b
    )
    if found and problem.counting.named:
        said.append(f"Counted from 1: {', '.join(found)}.")
    elif found:
        said.append("Indices and positions count from 1.")
    return " ".join(said)


def _view(problem: Problem, found: Lowered) -> View[Node] | None:
    if problem.view is None:
        return None
    nodes = iter(found.viewed)
    return problem.view.map(lambda _: next(nodes))


def _spelled(problem: Problem, lowering: Lowering) -> tuple[Lowered, list[Cond]]:
    from .as_written import as_written  # it loads SymPy

    lowering.log = problem.log if problem.written.is_equal else None
    return as_written(problem, lowering)


def _holding(params: Sequence[Param], candidates: Sequence[IndexType]) -> list[IndexType]:
    """The candidates that hold every argument's proven range."""
    ends = [end for p in params if not p.type for end in (p.lo, p.hi) if end is not None]
    for p in params:
        if p.type and p.type != "bool":
            least, most = DECLARED[p.type].ends
            ends += [least if p.lo is None else p.lo, most if p.hi is None else p.hi]
    return [t for t in candidates if all(t.least <= end <= t.most for end in ends)]


def _with_params(
    name: str,
    params: Sequence[Param],
    chosen: Width,
    candidates: Sequence[IndexType],
) -> Width:
    """The narrowest candidate, from the one that is chosen on, that holds every argument's proven
    range too."""
    rest = candidates[candidates.index(chosen.index_type) :]
    if holding := _holding(params, rest):
        return replace(chosen, index_type=holding[0])
    # One that is declared is converted, and has to fit.
    unfit = (p for p in params if not p.type and not holds_argument(p, rest[-1]))
    if (culprit := next(unfit, None)) is None:
        return replace(chosen, index_type=rest[-1])
    better = "signed" if rest[-1].least == 0 and (culprit.lo or 0) < 0 else "wider"
    raise WidthError(
        f"{name}: the argument {culprit.name} ({culprit.range_text}) does not fit {candidates[-1]}",
        f"choose a {better} index_type or smaller sizes",
    )

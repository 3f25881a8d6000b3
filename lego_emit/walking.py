"""walk=: the walks over the layouts of a program, from what was traced to what is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .arith.analyzer import Analyzer
from .arith.expr import Expr
from .arith.signs import without_negative_parts
from .arith.terms import Atom
from .check.walks import check_steps, check_walk
from .emit import registry
from .errors import OptionError, TargetError, TraceError, WidthError, did_you_mean
from .ir.loops import COMPOUND
from .ir.nodes import FREE, Node
from .ir.program import Function, Program
from .ir.walks import Odometer, Walk
from .lower.problem import Dialect
from .lower.walks import Stages, Way, lowered_stages, needed, with_step
from .operations import DIVISIONS
from .options import Options
from .trace.any_rank import AnyRank
from .trace.traced import Subject, Traced
from .trace.walks import steps_along

LOGICAL, MEMORY = "logical", "memory"
LINEAR = ("var", "add", "sub", "neg", "mul", "shl")  # steps of these are as dear
BESIDE = ("methods", "prepare", "index", "group", "types", "bind", "wrapping")


def with_walks(
    program: Program, subject: Subject, options: Options, printer: Any, dialect: Dialect
) -> Program:
    """A program with the walk over each layout in it, in an order: logical, memory, or along the named axes, the
    outermost first. Raises OptionError where a subject is no layout, or has no such axis."""
    if not printer.walks:
        known = [other.title for other in registry.working().values() if other.walks]
        raise TargetError(
            f"walk: walks are not emitted in {printer.title}; choose one of {', '.join(known)}"
        )
    walk = options.walk
    for name in BESIDE:
        if getattr(options, name):
            raise OptionError(
                f"walk and {name} are both given; a walk takes the sizes and indices one by one: leave one of "
                "them out"
            )
    functions = [*program.functions]
    for place, (function, traced) in enumerate(zip(functions, subject.functions, strict=True)):
        stem, _, kind = function.name.rpartition("_")
        if options.split and kind in traced.trace.axes:
            continue
        if (most := _rank(traced)) and walk == LOGICAL:
            if kind == "at" and any(p.name == "rank" for p in function.params):
                functions[place] = replace(function, walk=Odometer(stem, most))
            continue
        if not traced.trace.axes or kind not in ("apply", "inv") or traced.definition is None:
            raise OptionError(
                f"walk: {function.name} is not a function of a layout; a walk goes over the positions of a "
                f"layout: leave walk= out, and call {function.name} for each index"
            )
        if any(p.static or p.type for p in function.params) or function.types or function.tables:
            raise OptionError(
                f"walk: {function.name} has a parameter that is an array, a static size, or of a type of its own; a "
                f"walk takes integers of the index type: leave walk= out, and call {function.name} for each index"
            )
        if kind == ("inv" if walk == MEMORY else "apply"):
            made = _walk(stem, function, traced, walk, dialect)
            check_walk(function, made, traced.definition)
            functions[place] = replace(function, walk=made)
    if walk == MEMORY:
        for f in functions:
            if f.name.endswith("_apply") and f"{f.name[:-6]}_inv" not in {
                g.name for g in functions
            }:
                raise OptionError(
                    f"walk='memory': {f.name[:-6]} has no inverse, which gives the index of a position; "
                    "walk='logical' goes over its positions"
                )
    return replace(program, functions=tuple(functions))


def with_steps(
    program: Program, subject: Subject, options: Options, printer: Any, dialect: Dialect
) -> Program:
    """A program whose array forms go from one element to the next by a step, where a call for each element takes
    longer: where it divides by what is no number, which compilers do not vectorize, and in languages that vectorize
    nothing wherever the step has the lower price."""
    if any(getattr(options, name) for name in BESIDE) or options.bind:
        return program
    functions = [*program.functions]
    for place, (function, traced) in enumerate(zip(functions, subject.functions, strict=True)):
        if (made := _steps(function, traced, printer, dialect)) is not None:
            functions[place] = replace(function, steps=made)
    return replace(program, functions=tuple(functions))


def _steps(function: Function, traced: Traced, printer: Any, dialect: Dialect) -> Walk | None:
    """The steps of an array form along an axis; None where calls are as quick, or no step is known."""
    if not function.axes or any(extent.lo is None or extent.lo < 1 for _, extent in function.axes):
        return None
    plain = not any(p.static or p.type or p.base for p in function.params)
    plain = plain and not (function.groups or function.types or function.tables or function.cases)
    if not plain or len(function.outputs) > 1 or function.base or any(function.bases):
        return None
    (axis, extent), definition = function.axes[printer.nearest], traced.definition
    called = _changing(function, axis)
    dear = any(n.op in DIVISIONS and n.args[1].op != "const" for n in called)
    if not dear and (printer.steps != "all" or all(n.op in LINEAR for n in called)):
        return None
    if definition is None or traced.masks or any(n.op in COMPOUND for n in function.nodes()):
        return None
    try:
        names, ways = _ways(function, traced, axis, dialect, at_first=True)
        fixed = tuple(p.name for p in function.params if p.name != axis)
        empty = Walk(function.name, (axis,), ((0, extent),), fixed, tuple(names), (), (), ())
        walk = with_step(empty, ways)
    except (TraceError, WidthError):
        return None
    if any(needed(walk.parts, function, traced.trace.analyzer)):
        return None  # more than a call asks
    stepped = [n for f in walk.step for n in f.nodes()]
    if not dear and _price(called, dialect) <= _price(stepped, dialect):
        return None
    check_steps(function, walk, definition)
    return walk


def _changing(function: Function, axis: str) -> list[Node]:
    """The operations whose values change along an axis."""
    names, known = {axis}, dict[Node, bool]()

    def changes(node: Node) -> bool:
        if node not in known:
            known[node] = any([changes(a) for a in node.args]) or (
                node.op == "var" and node.value in names
            )
        return known[node]

    for name, node in (*function.body, *function.outputs):
        if changes(node):
            names.add(name)
    return [n for n, found in known.items() if found]


def _price(nodes: Sequence[Node], dialect: Dialect) -> float:
    """What operations cost, each of its own."""
    return sum(dialect.cost.prices.get(n.op, 1) for n in nodes if n.op not in FREE)


def _rank(traced: Traced) -> int:
    """The greatest rank of the strided memory of any rank that a function is of; 0 of another."""
    bundle = getattr(getattr(traced.definition, "fn", None), "bundle", None)
    return bundle.most if isinstance(bundle, AnyRank) else 0


def _walk(
    stem: str, function: Function, traced: Traced, walk: str | Sequence[str], dialect: Dialect
) -> Walk:
    trace, params = traced.trace, traced.trace.params()
    axes = [*trace.axes] if isinstance(walk, str) else [*walk]
    for name in axes:
        if name not in trace.axes:
            raise OptionError(
                f"walk names {name}, which is not an index of {stem}; there are {', '.join(trace.axes)}."
                f"{did_you_mean(name, trace.axes)}"
            )
    names, ways = _ways(function, traced, axes[-1], dialect)
    gives = "index" if walk == MEMORY else "position"
    empty = Walk(stem, tuple(axes), (), (), tuple(names), (), (), (), gives=gives)
    walked = with_step(empty, ways)
    read = {str(n.value) for f in walked.parts for n in f.nodes() if n.op == "var"}
    fixed = tuple(n for n in params if n in read and n not in axes)
    ranges = {p.name: p.range for p in function.params}
    ends = tuple((trace.base_of(n), ranges[n].end) for n in axes)
    for axis, (_, end) in zip(axes, ends, strict=True):
        if end is not None and end.op == "const" and end.value > function.index_type.most:
            raise WidthError(
                f"walk: one past the last {axis} is {end.value}, which does not fit {function.index_type}",
                "choose a wider index_type",
            )
    more, unseen = needed(walked.parts, function, trace.analyzer)
    return replace(
        walked,
        fixed=fixed,
        extents=ends,
        assumed=more,
        unseen=unseen,
        reads=(*fixed, *axes),
    )


def _ways(
    function: Function, traced: Traced, axis: str, dialect: Dialect, at_first: bool = False
) -> tuple[list[str], list[Way]]:
    """(the names of the positions, the ways along an axis). at_first: whether a way starts with what it keeps at
    the axis' first index, in place of what that and the positions are at any. Raises WidthError."""
    trace, params = traced.trace, traced.trace.params()
    taken, base = {*params}, trace.base_of(axis)
    outputs, unsigned = traced.counted(traced.result), function.index_type.least == 0
    if traced.masks and unsigned:
        outputs = traced.masked(function.index_type.most, outputs)
    outputs = [(n if n not in taken else f"{n}_out", e) for n, e in outputs]
    names = [n for n, _ in outputs]
    ways, refused, x = list[Way](), None, Atom("sym", axis)

    def first(atom: Atom) -> Expr | None:
        return Expr.of(base) if atom is x else None

    for step in steps_along(axis, base, outputs, trace.analyzer, params, unsigned):
        kept = tuple(n for n, *_ in step.kept)
        own = [*params, *names, *kept]

        def made(
            stages: Stages, known: Analyzer, fit: int, own: Sequence[str] = own
        ) -> tuple[Function, ...]:
            stages = [_unsigned(s, known) if unsigned else s for s in stages]
            return lowered_stages(function, own, stages, known, dialect, fit)

        starts = [outputs, [(n, e) for n, e, *_ in step.kept]]
        if at_first:
            starts = [[(n, step.before.simplifier.rebuild(e, first)) for n, e in starts[1]]]
        try:
            start = made(starts, step.before, len(starts) - 1)
            ways.append((kept, start, made(step.stages, step.known, len(step.stages))))
        except WidthError as error:  # as where a stride is negative, and no number is
            refused = error
    if not ways and refused is not None:
        raise WidthError(f"walk: {refused}")
    return names, ways


def _unsigned(outputs: Sequence[tuple[str, Expr]], known: Analyzer) -> list[tuple[str, Expr]]:
    return [(n, without_negative_parts(e, known)) for n, e in outputs]

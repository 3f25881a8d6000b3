"""walk=: the walks over the layouts of a program, from what was traced to what is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .arith.analyzer import Analyzer
from .arith.expr import Expr
from .arith.signs import without_negative_parts
from .check.walks import check_walk
from .emit import registry
from .errors import OptionError, TargetError, WidthError, did_you_mean
from .ir.program import Function, Program
from .ir.walks import Odometer, Walk
from .lower.problem import Dialect
from .lower.walks import Stages, Way, lowered_stages, with_step
from .options import Options
from .trace.any_rank import AnyRank
from .trace.traced import Subject, Traced
from .trace.walks import steps_along

LOGICAL, MEMORY = "logical", "memory"
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


def _rank(traced: Traced) -> int:
    """The greatest rank of the strided memory of any rank that a function is of; 0 of another."""
    bundle = getattr(getattr(traced.definition, "fn", None), "bundle", None)
    return bundle.most if isinstance(bundle, AnyRank) else 0


def _walk(
    stem: str, function: Function, traced: Traced, walk: str | Sequence[str], dialect: Dialect
) -> Walk:
    trace = traced.trace
    axes = [*trace.axes] if isinstance(walk, str) else [*walk]
    for name in axes:
        if name not in trace.axes:
            raise OptionError(
                f"walk names {name}, which is not an index of {stem}; there are {', '.join(trace.axes)}."
                f"{did_you_mean(name, trace.axes)}"
            )
    outputs = traced.counted(traced.result)
    taken = {*trace.params()}
    outputs = [(n if n not in taken else f"{n}_out", e) for n, e in outputs]
    unsigned = function.index_type.least == 0
    params, base = trace.params(), trace.base_of(axes[-1])
    names = [n for n, _ in outputs]
    ways, refused = list[Way](), None
    for step in steps_along(axes[-1], base, outputs, trace.analyzer, params, unsigned):
        kept = tuple(n for n, *_ in step.kept)
        own = [*params, *names, *kept]

        def made(stages: Stages, known: Analyzer, own: Sequence[str] = own) -> tuple[Function, ...]:
            stages = [_unsigned(s, known) if unsigned else s for s in stages]
            return lowered_stages(function, own, stages, known, dialect)

        try:
            start = made([outputs, [(n, e) for n, e, *_ in step.kept]], step.before)
            ways.append((kept, start, made(step.stages, step.known)))
        except WidthError as error:  # as where a stride is negative, and no number is
            refused = error
    if not ways and refused is not None:
        raise WidthError(f"walk: {refused}")
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
                f"walk: one past the last {axis} is {end.value}, which does not fit {function.index_type}; choose a "
                "wider index_type"
            )
    return replace(walked, fixed=fixed, extents=ends)


def _unsigned(outputs: Sequence[tuple[str, Expr]], known: Analyzer) -> list[tuple[str, Expr]]:
    return [(n, without_negative_parts(e, known)) for n, e in outputs]

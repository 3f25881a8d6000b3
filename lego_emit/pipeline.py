"""generate(): a function or a layout in, a complete file out. The whole way is build_program()."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .algebra.block import Block, holds_bundle
from .arguments import candidates, check_counted, check_views, counted, ranges_of
from .arith.given import are_formulas
from .arith.terms import TOO_DEEP
from .check.emission import check_emission
from .emit import registry
from .emit.printer import Printer
from .emitted import Emitted, emit_program
from .errors import LegoWarning, TraceError, brief
from .ir.cost import Cost, cost_model
from .ir.program import Function, Program
from .lower.function import lowered
from .lower.problem import Dialect
from .options import Options, Request, Rewrite, index_types_of, takes
from .problems import problem_of
from .trace.follow import TraceOptions
from .trace.subject import several, traced_subject
from .trace.traced import Subject

CHOICE = "lego_emit.algebra.choice"  # loaded where there is one


@brief
@takes(Request)
def generate(fn_or_layout: Any, target: str = registry.DEFAULT, **given: Any) -> Emitted:
    """The index functions of a layout as a complete file of the target language.

    fn_or_layout: a function of sizes and indices that returns one index, a tuple or dict of
        indices, or a layout; a layout (sizes may be `symbols`); or SymPy expressions, see below.
        The function is called with symbols; names that it uses and nobody defined become
        parameters, after those of the signature, in the order of first use; each ':' in an index
        adds one more. A layout gives NAME_apply and, where it exists, NAME_inv; its symbols are
        parameters in the order in which they stand in its repr, sizes before others; those of a
        layout of the catalogue in the order of its entry's parameters. A list of
        functions and layouts, or a dict that names them, makes one file of all of them: what
        sizes, assume and ranges say holds for those that have the parameters.
    target: cuda, hip, cpp, c, opencl, rust, fortran, julia, glsl, wgsl, metal, javascript, python,
        numpy, mlir, triton, or an installed plug-in's name.
    OPTIONS

    A SymPy expression, a tuple of them or a dict {output: expression} makes one function; what
    unit.sympy gives, {function: (replacements, expressions)}, several. Every symbol is an integer
    parameter, known by its name (and its sign, where SymPy was told: nonnegative=True): first those
    of `ranges` in that order (of a sympy.Lambda its arguments), then the others by name. floor,
    ceiling, Mod, Rem, Abs, Min, Max, Piecewise, floor(sqrt(x)), relations and the nodes of
    lego_emit.arith.sympy_nodes are known; SymPy's own evaluation of nested Mod is wrong at times,
    and what it made of an expression before cannot be undone: FloorMod is safe. Where nothing but
    those nodes stands, and IntAdd, IntSub, IntMul or IntNeg is among them, the form is taken as it
    stands, operation by operation, and common parts are named; else the cheapest form of the same
    value is searched for.

    Raises LegoError (its subclasses say what): an impossible layout, an index provably out of
    range, an unknown target, a value that provably does not fit.

        >>> from lego_emit import Col, GroupBy, generate
        >>> unit = generate(GroupBy([6, 4]).OrderBy(Col(6, 4)), "c")
        >>> print(next(line for line in unit.source.splitlines() if "return" in line and "@" not in line))
          return 6 * j + i;
    """
    options = Options.of(given)
    if holds_bundle(fn_or_layout):
        from .trace.unbundled import unbundled

        fn_or_layout = unbundled(fn_or_layout, options.name)
    if options.group and options.sizes:
        from .trace.annotations import in_symbols

        options = options.replace(sizes=in_symbols(options.sizes, options.group))
    printer = registry.printer(target).spelling(options.naming, options.index_type or ())
    program, subjects = _in_each(fn_or_layout, printer, options)
    program = replace(
        program, header=tuple(options.header), hints=options.hints, checks=options.checks
    )
    if options.bmi2:
        from .lower.bmi2 import with_moves

        program = with_moves(program, printer)
    if options.affine:
        from .affine.maps import with_maps

        program = with_maps(program, printer)
    if options.terse:
        program = replace(
            program, functions=tuple(replace(f, formulas=()) for f in program.functions)
        )
    if program.diagnostics and options.strict:
        raise TraceError("; ".join(program.diagnostics))
    for text in program.diagnostics:
        warnings.warn(text, LegoWarning, stacklevel=3)
    subject = subjects if program.parts else fn_or_layout
    if options.wrapping:
        from .trace.modular import references

        subject = references(subject, index_types_of(options), bool(program.parts))
    elif are_formulas(fn_or_layout):
        from .trace.formulas import reference

        subject = reference(fn_or_layout, program.functions)
    return emit_program(
        program,
        target,
        subject=subject,
        sizes=options.sizes or None,
        naming=options.naming,
        index_types=options.index_type or (),
    )


def _in_each(subject: Any, printer: Printer, options: Options) -> tuple[Program, list[Any]]:
    """A program of the subject in each index type, and the subjects of its parts. What the first
    type came to is not built again."""
    if CHOICE in sys.modules:
        from .trace.each_layout import with_functions

        subject, options = with_functions(subject, options)
    first, *others = index_types_of(options)
    program = _built(subject, printer, options.replace(index_type=first))
    named = several(subject) if program.parts else {program.name: subject}
    subjects = [*named.values()]
    if not others:
        return program, subjects
    if are_formulas(subject):
        raise TraceError("several index types are for functions and layouts, not for expressions")
    parts = program.subjects
    for index_type in others:
        mark = str(index_type).replace("int", "i").replace("ui", "u").removesuffix("_t")
        marked = {f"{own}_{mark}": one for own, one in named.items()}
        again = _built(marked, printer, options.replace(index_type=index_type))
        forms = zip(named.values(), again.subjects, program.subjects, strict=True)
        for one, part, before in forms:
            if [f.index_type for f in part] != [f.index_type for f in before]:
                parts.append(part)
                subjects.append(one)
    functions = [f for part in parts for f in part]
    for at, f in enumerate(functions):
        if any(f.name == other.name for other in functions[:at]):
            raise TraceError(
                f"{f.name} is the name of a function and of another's form; rename one"
            )
    counts = tuple(map(len, parts)) if len(parts) > 1 else program.parts
    return replace(program, functions=tuple(functions), parts=counts), subjects


def build_program(
    fn_or_layout: Any, printer: Printer, name: str | None = None, **given: Any
) -> Program:
    """The program that a printer spells: the subject traced, lowered and checked. given: options of
    generate()."""
    return _built(fn_or_layout, printer, Options.of({**given, "name": name}))


def _built(fn_or_layout: Any, printer: Printer, options: Options) -> Program:
    check_views(options.view, printer)
    if options.methods:
        from .emit.methods import check_methods

        check_methods(options.view, printer)
    (index_type,) = index_types_of(options)
    is_open = index_type in (None, "auto")  # it comes of the values
    dialect = dialect_of(printer, index_type, options.cost, options.effort)
    types_given = options.param_types or {}
    given = {**printer.types_of(options.bind or {}), **types_given}
    if printer.declares and is_open and (given or _is_annotated(fn_or_layout)):
        from .declared import result_types

        types = result_types(fn_or_layout, given, dialect.types, printer)
        dialect = replace(dialect, types=types, narrow=dialect.narrow and types is dialect.types)
    if options.types and printer.native_index and is_open:
        dialect = replace(dialect, types=[printer.index_types[printer.native_index[0]]])
    known = TraceOptions(
        options.sizes,
        options.assume,
        counted(options.base),
        ranges_of(options.ranges),
        dialect.is_unsigned,
        given,
        {of: native.member_type for of, native in (options.types or {}).items()},
        outputs=tuple(options.outputs),
        greatest=(dialect.types[0 if dialect.narrow else -1].most, dialect.types[-1].most),
    )
    if options.wrapping:
        from .trace.modular import checked

        known = checked(fn_or_layout, known, options, printer)
    subject = traced_subject(fn_or_layout, options.name, known, options.view)
    if options.split:
        from .trace.split import with_parts

        subject = with_parts(subject, options)
    said = [*known.assume, *known.ranges]
    program = lowered_program(subject, printer, dialect, said, options.rewrite, options.prepare)
    if printer.steps and any(f.axes for f in program.functions):
        from .walking import with_steps

        program = with_steps(program, subject, options, printer, dialect)
    if options.walk:
        from .walking import with_walks

        program = with_walks(program, subject, options, printer, dialect)
    if options.index is not None or options.group:
        from .trace.annotations import regrouped

        program = regrouped(program, options.index, options.group or {}, options.sizes or {}, given)
    if options.types:
        from .emit.natives import with_natives

        program = with_natives(program, options.types, printer, bool(options.methods))
    check_counted(options.base, program)
    if given or any(f.declared for f in program.functions):
        from .declared import check_types, with_ranges

        check_types(types_given, program, printer)
        program = with_ranges(program, printer)
    if options.bind:
        from .declared import bound

        program = bound(program, options.bind, printer)
    if CHOICE in sys.modules and isinstance(fn_or_layout, Mapping):
        from .emit.switches import linked

        program, index_type = linked(program, fn_or_layout, options)
        if index_type is not None:
            return _built(fn_or_layout, printer, options.replace(index_type=index_type))
    if options.methods:
        from .emit.methods import with_methods

        program = with_methods(program, options.methods, printer, options.types)
    return program


def _is_annotated(subject: Any) -> bool:
    """Whether annotations of a function may say more than that a parameter is an integer."""
    if not callable(subject) or isinstance(subject, Block):
        return False
    from .trace.signature import annotated

    notes = getattr(annotated(subject), "__annotations__", {}).values()
    return any(note not in (int, "int", None) for note in notes)


def dialect_of(
    printer: Printer, index_type: str | None = None, cost: str | Cost | None = None, effort: int = 1
) -> Dialect:
    """What lowering takes from a language: index types to choose from, prices, operations."""
    types, model = candidates(index_type, printer), cost_model(cost, printer.cost)
    has_bits, cached = printer.bit_operations, printer.caches_tables
    narrow = index_type is None and printer.narrow_index
    return Dialect(
        types, model, has_bits, printer.lazy_select, effort, cached, narrow,
        switches=bool(printer.switches),
    )  # fmt: skip


def lowered_program(
    subject: Subject,
    printer: Printer,
    dialect: Dialect,
    assume: Sequence[Any],
    rewrite: Rewrite | None = None,
    prepare: bool | Sequence[str] = False,
) -> Program:
    """The program of a traced subject, checked at points against what it means."""
    widest = dialect.types[-1]
    notation = printer.notation_of(widest)
    try:
        cached = dialect.cached
        problems = [problem_of(f, assume, widest, notation, cached) for f in subject.functions]
        if rewrite is not None:
            from .lower.rewritten import rewritten  # it loads SymPy

            problems = [rewritten(problem, rewrite) for problem in problems]
        if prepare:
            from .lower.prepared import lowered_prepared

            functions = lowered_prepared(problems, dialect, prepare, subject.parts)
        else:
            functions = list[Function]()
            for problem, traced in zip(problems, subject.functions, strict=True):
                types = [f.index_type for f in functions if f.name == traced.beside]
                kinds = dialect.types[dialect.types.index(types[0]) :] if types else dialect.types
                functions.append(lowered(problem, replace(dialect, types=kinds)))
            if rewrite is None and any(f.cases for f in subject.functions):
                from .cased import with_cases

                functions = with_cases(functions, subject, dialect, assume, notation)
    except RecursionError:
        raise TraceError(f"{subject.unit}: {TOO_DEEP}") from None
    diagnostics, parts = subject.diagnostics(), subject.parts
    program = Program(subject.unit, tuple(functions), subject.title, diagnostics, parts)
    program.check()
    pairs = zip(program.functions, subject.functions, strict=True)
    checked = (
        replace(f, checked=check_emission(f, traced.definition), packing=traced.packing)
        for f, traced in pairs
    )
    return replace(program, functions=tuple(checked))

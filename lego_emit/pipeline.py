"""generate(): a function or a layout in, a complete file out. The whole way is build_program()."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from .arguments import (
    candidates,
    check_counted,
    check_views,
    counted,
    effort_of,
    index_types_of,
    lines_of,
    ranges_of,
)
from .arith.given import are_formulas, as_list
from .arith.terms import TOO_DEEP
from .check.emission import check_emission
from .emit import registry
from .emit.naming import Naming
from .emit.printer import Printer
from .emitted import Emitted, emit_program
from .errors import LegoWarning, TraceError
from .ir.cost import Cost, cost_model
from .ir.program import Function, Program
from .lower.function import lowered
from .lower.problem import Dialect
from .problems import problem_of
from .trace.follow import Options
from .trace.subject import several, traced_subject
from .trace.traced import Subject

Rewrite = Callable[[str, dict[str, Any]], Any]


def generate(
    fn_or_layout: Any,
    target: str,
    *,
    name: str | None = None,
    sizes: Mapping[str, int] | None = None,
    assume: Sequence[Any] = (),
    index_type: str | Sequence[str] = "auto",
    base: int | Mapping[str, int] = 0,
    cost: str | Cost | None = None,
    strict: bool = False,
    ranges: Mapping[Any, Any] | None = None,
    rewrite: Rewrite | None = None,
    view: bool = False,
    header: str | Sequence[str] = (),
    namespace: str | None = None,
    prefix: str | None = None,
    names: str | None = None,
    hints: bool = False,
    effort: int = 1,
) -> Emitted:
    """The index functions of a layout as a complete file of the target language.

    fn_or_layout: a function of sizes and indices that returns one index, a tuple or dict of
        indices, or a layout; a layout (sizes may be `symbols`); or SymPy expressions, see below.
        The function is called with symbols; names that it uses and nobody defined become
        parameters, after those of the signature, in the order of first use; each ':' in an index
        adds one more. A layout gives NAME_apply and, where it exists, NAME_inv. A list of
        functions and layouts, or a dict that names them, makes one file of all of them: what
        sizes, assume and ranges say holds for those that have the parameters.
        target: cuda, cpp, c, rust, fortran, julia, glsl, wgsl, javascript, python, numpy, mlir, triton,
        or an installed plug-in's name.
    name: of the unit and its functions; default: the function's name, "layout" for a layout,
        "index" for an expression; of several the unit's alone, by default the first one's.
    sizes: parameters that are fixed to numbers, as {"BM": 32}.
    assume: relations between the symbols, as text or SymPy relations: "M % BM == 0".
    ranges: of parameters, half-open, as {"i": (0, "M")} for 0 <= i < M: numbers, text, SymPy
        expressions or our symbols, None for an open end. What ends a range from 0 on is a size:
        at least 1.
    index_type: auto, int32, int64, uint32 or uint64; size_t in C, C++, CUDA C and HIP, usize in Rust,
        integer, the default one, in Fortran. auto takes 32 bits where every intermediate value
        provably fits, else 64; what a size without a bound leaves open becomes a precondition in
        `assumptions`. Python's integers have no bound: there auto is int. A list such as
        ["auto", "int32"] gives each function in each type where they differ: NAME, and NAME_i32
        beside it, with 32 bits as a precondition.
    base: 0, or 1 for indices and positions that count from 1 (arguments and results; sizes stay,
        and what is masked is 0 then). A formula in which no layout stands, and an expression, say
        themselves what they count: nothing is shifted. {"g": 1, "local": 1} names the parameters
        and results that count from 1, of any function, and nothing else does.
    cost: what chooses between equal forms: "latency" (the default of most targets), "ops" (the
        fewest operations), "measured" (the prices on this machine that `lego-emit calibrate` stored), or
        a Cost.
    strict: refuse what may not be meant and is only warned of else (LegoWarning): a name that nobody
        defined, a variable of the module, not in capitals, that is taken as an index, and a range
        of a name that the expressions do not have.
    rewrite: a function (name, outputs) that is called once for each emitted function, between
        tracing and lowering, with its results as {output: SymPy expression} over the parameters,
        and returns them changed: such a dict, or (replacements, outputs) as sympy.cse gives them.
        What it returns is taken only where it is proven to have the same value for all parameters
        that the header allows: by the normal form, by the provers and Z3, or by looking at all
        values where they are few. A difference is shown with a counterexample; what is neither
        proven nor refuted is refused, too.
    view: put a type beside a layout's functions that holds an array and the layout's sizes, and reads
        and writes the array by the layout's index: NAME_view in C++ and CUDA C, with NAME_layout, a
        layout policy of std::mdspan, and NameView in Rust and Julia.
    header: lines for the comment at the head of the file, such as a licence.
    namespace: what the functions are in: a namespace of C++ ("acme::tiles"; "lego" unless given), CUDA
        C, HIP (global scope unless given) or Metal, the module of Fortran (NAME_mod) or Julia.
    prefix: what every public name of the file begins with: functions, types, helpers, include guard.
    names: the style of functions, types, parameters and results: "snake_case", "camelCase", or
        "PascalCase", where parameters and results are in camelCase. The prefix is a word of them
        then. Names without small letters stay; two that are one in the style are refused.
    hints: tell the compiler the ranges of the arguments, in C, C++, CUDA C and HIP: divisions need no
        corrections for signs then. An argument out of its range is undefined behaviour, also where
        the result is not used: a kernel that computes an index before it masks it must not have this.
    effort: how many times the usual steps the searches for cheaper forms may take, 1 to 64. More can
        find a shorter form of a small table, of bits that move or of many digits, and takes longer.

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
    """
    naming = Naming.given(namespace, prefix, names)
    index_types, effort = index_types_of(index_type), effort_of(effort)
    printer = registry.printer(target).spelling(naming, index_types)
    assume = as_list(assume)

    def build(given: Any, own: str | None, index_type: str) -> Program:
        return build_program(
            given,
            printer,
            own,
            sizes,
            assume,
            index_type,
            base=base,
            cost=cost,
            ranges=ranges,
            rewrite=rewrite,
            view=view,
            effort=effort,
        )

    program, subjects = _in_each(fn_or_layout, name, index_types, build)
    program = replace(program, header=lines_of(header), hints=hints)
    if program.diagnostics and strict:
        raise TraceError("; ".join(program.diagnostics))
    for text in program.diagnostics:
        warnings.warn(text, LegoWarning, stacklevel=2)
    subject = subjects if program.parts else fn_or_layout
    if are_formulas(fn_or_layout):
        from .trace.formulas import reference

        subject = reference(fn_or_layout, program.functions)
    return emit_program(
        program, target, subject=subject, sizes=sizes, naming=naming, index_types=index_types
    )


def _in_each(
    subject: Any, name: str | None, index_types: Sequence[str], build: Callable[..., Program]
) -> tuple[Program, list[Any]]:
    """A program of the subject in each index type, and the subjects of its parts. What the first
    type came to is not built again."""
    first, *others = index_types
    program = build(subject, name, first)
    named = several(subject) if program.parts else {program.name: subject}
    subjects = [*named.values()]
    if not others:
        return program, subjects
    if are_formulas(subject):
        raise TraceError("several index types are for functions and layouts, not for expressions")
    parts = _parts(program)
    for index_type in others:
        mark = index_type.replace("int", "i").replace("ui", "u").removesuffix("_t")
        again = build({f"{own}_{mark}": one for own, one in named.items()}, name, index_type)
        forms = zip(named.values(), _parts(again), _parts(program), strict=True)
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


def _parts(program: Program) -> list[tuple[Function, ...]]:
    """The functions of each subject."""
    rest = iter(program.functions)
    counts = program.parts or (len(program.functions),)
    return [tuple(islice(rest, count)) for count in counts]


def build_program(
    fn_or_layout: Any,
    printer: Printer,
    name: str | None = None,
    sizes: Mapping[str, int] | None = None,
    assume: Sequence[Any] = (),
    index_type: str = "auto",
    *,
    base: int | Mapping[str, int] = 0,
    cost: str | Cost | None = None,
    ranges: Mapping[Any, Any] | None = None,
    rewrite: Rewrite | None = None,
    view: bool = False,
    effort: int = 1,
) -> Program:
    """The program that a printer spells: the subject traced, lowered and checked."""
    check_views(view, printer)
    dialect = dialect_of(printer, index_type, cost, effort)
    options = Options(sizes, as_list(assume), counted(base), ranges_of(ranges), dialect.is_unsigned)
    subject = traced_subject(fn_or_layout, name, options, view)
    program = lowered_program(subject, printer, dialect, options.assume, rewrite)
    check_counted(base, program)
    return program


def dialect_of(
    printer: Printer, index_type: str = "auto", cost: str | Cost | None = None, effort: int = 1
) -> Dialect:
    """What lowering takes from a language: index types to choose from, prices, operations."""
    types, model = candidates(index_type, printer), cost_model(cost, printer.cost)
    return Dialect(types, model, printer.bit_operations, printer.lazy_select, effort)


def lowered_program(
    subject: Subject,
    printer: Printer,
    dialect: Dialect,
    assume: Sequence[Any],
    rewrite: Rewrite | None = None,
) -> Program:
    """The program of a traced subject, checked at points against what it means."""
    widest = dialect.types[-1]
    notation = printer.notation_of(widest)
    try:
        problems = [problem_of(f, assume, widest, notation) for f in subject.functions]
        if rewrite is not None:
            from .lower.rewritten import rewritten  # it loads SymPy

            problems = [rewritten(problem, rewrite) for problem in problems]
        functions = [lowered(problem, dialect) for problem in problems]
    except RecursionError:
        raise TraceError(f"{subject.unit}: {TOO_DEEP}") from None
    diagnostics, parts = subject.diagnostics(), subject.parts
    program = Program(subject.unit, tuple(functions), subject.title, diagnostics, parts)
    program.check()
    pairs = zip(program.functions, subject.functions, strict=True)
    checked = (replace(f, checked=check_emission(f, traced.definition)) for f, traced in pairs)
    return replace(program, functions=tuple(checked))

"""generate(): a function or a layout in, a complete file out. The whole way is build_program()."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from .arith.assume import as_list, parse
from .arith.given_ranges import parse_ranges
from .arith.signs import without_negative_parts
from .arith.terms import TOO_DEEP
from .check.emission import check_emission
from .emit import registry
from .emit.naming import Naming
from .emit.printer import Printer
from .emitted import Emitted, emit_program
from .errors import LegoWarning, TargetError, TraceError, nearest, shown
from .ir.cost import MOST_EFFORT, Cost, cost_model
from .ir.index_types import INDEX_TYPES, IndexType
from .ir.nodes import Node
from .ir.program import Function, Program
from .ir.relations import names_in, ones, read, says, with_numbers
from .kinds import as_integer, is_integer
from .lower.function import lowered
from .lower.problem import Problem
from .lower.propose import is_aligned
from .lower.relations import condition
from .trace.follow import Base, Options
from .trace.formulas import are_formulas, reference
from .trace.learn import learn_assumed
from .trace.subject import Outputs, Subject, Traced, followed, several
from .trace.trace import Trace

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
    index_types, effort = _index_types(index_type), _effort(effort)
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
    program = replace(program, header=_lines(header), hints=hints)
    if program.doubts and strict:
        raise TraceError("; ".join(program.doubts))
    for text in program.doubts:
        warnings.warn(text, LegoWarning, stacklevel=2)
    formulas = are_formulas(fn_or_layout)
    subject = reference(fn_or_layout, program.functions) if formulas else fn_or_layout
    subject = subjects if program.parts else subject
    return emit_program(
        program, target, subject=subject, sizes=sizes, naming=naming, index_types=index_types
    )


def _lines(header: str | Sequence[str]) -> tuple[str, ...]:
    """The lines of header=. Raises TargetError."""
    lines = header.splitlines() if isinstance(header, str) else header
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        raise TargetError(f"header={shown(header)}: give a text, or a list of its lines")
    return tuple(lines)


def _effort(given: Any) -> int:
    """effort= as a number. Raises TargetError."""
    number = None if isinstance(given, bool) else as_integer(given)
    if number is None or not 1 <= number <= MOST_EFFORT:
        raise TargetError(f"effort is {shown(given)}; give a number from 1 to {MOST_EFFORT}")
    return number


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


def _index_types(given: Any) -> list[str]:
    """The index types that are asked for, each once."""
    names = as_list(given) if isinstance(given, (str, list, tuple)) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise TargetError(
            f"no index type {shown(given)}; give auto, a type such as int32, or a list"
        )
    if "auto" in names[1:]:
        raise TargetError(
            "of several index types auto is the first; the others name their functions"
        )
    return [*dict.fromkeys(names)]


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
    """The lowered program that a printer spells."""
    if view and not printer.has_views:
        known = [n for n in registry.targets() if registry.printer(n).has_views]
        raise TargetError(f"{printer.title} has no views of layouts; {', '.join(known)} have")
    counted = _counted(base)
    assume = as_list(assume)
    types, model = candidates(index_type, printer), cost_model(cost, printer.cost)
    spelled = model, printer.bit_operations, printer.lazy_select, effort
    subject, unsigned = fn_or_layout, all(t.least == 0 for t in types)
    if isinstance(subject, Subject):
        for f in subject.functions:
            f.trace.is_unsigned = unsigned
    else:
        options = Options(sizes, assume, counted, parse_ranges(ranges), unsigned)
        subject = followed(subject, name, options, view)
    try:
        functions = [
            lowered(_rewritten(_problem(f, assume, types, printer), rewrite), types, *spelled)
            for f in subject.functions
        ]
    except RecursionError:
        raise TraceError(f"{subject.unit}: {TOO_DEEP}") from None
    program = Program(
        subject.unit, tuple(functions), subject.title, subject.doubts(), subject.parts
    )
    program.check()
    if isinstance(base, Mapping):
        _check_counted(base, program)
    checked = (
        replace(f, checked=check_emission(f, traced.definition))
        for f, traced in zip(program.functions, subject.functions, strict=True)
    )
    return replace(program, functions=tuple(checked))


def _counted(base: Any) -> Base:
    """base= as a number, or as the names of what counts from 1. Raises TargetError."""
    named = base.items() if isinstance(base, Mapping) else [("", base)]
    for name, number in named:
        if not is_integer(number) or number not in (0, 1):
            what = f"base of {name}" if name else "base"
            raise TargetError(f"{what} is {shown(number)}; indices count from 0 or from 1")
        if not isinstance(name, str):
            raise TargetError(f"base names {shown(name)}, which is no name; write {{'i': 1}}")
    return frozenset(n for n, number in named if number) if isinstance(base, Mapping) else base


def _check_counted(base: Mapping[str, int], program: Program) -> None:
    """Raise TargetError for a name of base= that nothing has that could count from 1."""
    indices = {p.name for f in program.functions for p in f.params if not p.size}
    indices |= {n for f in program.functions for n, _ in f.outputs}
    for name in sorted(base.keys() - indices):
        known = sorted(indices)
        raise TargetError(
            f"base is {shown(base)}, and {name} is no index and no result; there are {', '.join(known)}."
            f"{nearest(name, known)}"
        )


def _axes_base(trace: Trace, name: str) -> int:
    """What the axes' first index is called. Raises TraceError where they differ."""
    found = {trace.base_of(n) for n in trace.axes}
    if len(found) > 1 and trace.extents:
        raise TraceError(
            f"{name}: base names some of the axes {', '.join(trace.axes)}, over which one array form "
            "runs; name all of them or none"
        )
    return max(found, default=0)


def _problem(
    traced: Traced, assume: Iterable[Any], types: Sequence[IndexType], printer: Printer
) -> Problem:
    """What is to be lowered of a function that was followed; where digits do not line up, also with
    its flat positions kept whole."""
    trace, (outputs, log) = traced.trace, traced.outputs()
    doc, masked = traced.doc, dict[str, int]()
    params = {*trace.params()}

    def known(c: Node) -> bool:  # where there are several functions, of this one's parameters
        return params.issuperset(names_in(c))

    looked_into = traced.form is not None or is_aligned((e for _, e in outputs), trace.analyzer)
    kept = None if looked_into else traced.kept()
    if trace.is_unsigned:
        outputs, kept = (
            _without_signs(outputs, trace),
            kept and replace(kept, outputs=_without_signs(kept.outputs, trace)),
        )
    if traced.masks:
        starts = {n: trace.result_base(n) for n, _ in outputs}
        shown_as = [f"{start - 1}" for start in starts.values()]
        if trace.is_unsigned:
            (most,) = {t.most for t in types}
            masked = {n: most for n, start in starts.items() if not start}
            outputs = traced.masked(most, outputs)
            kept = kept and replace(kept, outputs=traced.masked(most, kept.outputs))
            text = says(ones(most.bit_length()), printer.notation_of(types[-1]))
            shown_as = [text if n in masked else f"{start - 1}" for n, start in starts.items()]
        all_of_them = shown_as[0] if len(shown_as) == 1 else f"({', '.join(shown_as)})"
        doc = replace(doc, summary=f"{doc.summary}; {all_of_them} where it is masked.")
    learn_assumed(trace)
    return Problem(
        traced.name,
        doc,
        trace.analyzer,
        outputs,
        trace.params(),
        trace.axes,
        trace.extents,
        trace.indices,
        trace.base,
        _axes_base(trace, traced.name),
        [trace.result_base(n) for n, _ in outputs],
        trace.named is not None,
        traced.spans,
        traced.view,
        traced.by_name,
        [*traced.stated, *(c for a in assume for c in _stated(a, trace) if known(c))],
        trace.preconditions,
        trace.stand_ins,
        log,
        kept,
        traced.form,
        placed=trace.placed | trace.indices,
        masked=masked,
        unsigned=trace.unsigned,
    )


def _without_signs(outputs: Outputs, trace: Trace) -> Outputs:
    return [(n, without_negative_parts(e, trace.analyzer)) for n, e in outputs]


def _rewritten(problem: Problem, rewrite: Rewrite | None) -> Problem:
    if rewrite is None:
        return problem
    from .lower.rewritten import rewritten  # it loads SymPy

    return rewritten(problem, rewrite)


def _stated(assumption: Any, trace: Trace) -> list[Node]:
    """An assumption as a header says it, with the numbers of the sizes that are fixed."""
    if isinstance(assumption, str):
        found = [read(assumption)]
    else:
        found = [condition(c, trace.analyzer) for c in parse(assumption)]
    return [with_numbers(c, trace.sizes) for c in found]


def candidates(index_type: str, printer: Printer) -> tuple[IndexType, ...]:
    """The types that an index type may come to, narrowest first. Raises TargetError where the language
    has none."""
    own = printer.index_types
    if isinstance(index_type, str) and index_type == "auto":
        return tuple(own[t] for t in printer.default_index)
    if isinstance(index_type, str) and index_type in printer.index_names:
        return (own[printer.index_names[index_type][0]],)
    if isinstance(index_type, str) and index_type in own:
        return (own[index_type],)
    if isinstance(index_type, str) and index_type in INDEX_TYPES:
        raise TargetError(f"{printer.title} has no {index_type}; it has {', '.join(printer.types)}")
    known = [*own, *printer.index_names]
    raise TargetError(
        f"no index type {shown(index_type)}; {printer.title} has auto, {', '.join(known)}."
        f"{nearest(shown(index_type), known)}"
    )

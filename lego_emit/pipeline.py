"""generate(): a function or a layout in, a complete file out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from .algebra.block import Block
from .arith.expr import Cond, Expr
from .arith.facts import Facts
from .arith.knowledge import RECORDER, using
from .arith.rebuild import unsubstitute
from .arith.terms import TOO_DEEP
from .emit import registry
from .emit.printer import Printer
from .emitted import Emitted, emit_program
from .errors import LegoWarning, TargetError, TraceError, nearest, shown
from .ir.cost import Cost, cost_model
from .ir.program import INDEX_TYPES, Function, Param, Program
from .ir.relations import pieces, reworded
from .kinds import is_integer, is_sympy
from .lower.lower import lower, nonzero
from .lower.widths import choose_type
from .trace.calls import call_user_function
from .trace.doubts import doubts
from .trace.follow import follow, go_on
from .trace.learn import learn_layout, product_of
from .trace.trace import AXIS_NAMES, Trace

WHOLES = 4  # ways to keep flat positions whole that are tried


def generate(
    fn_or_layout: Callable[..., Any] | Block,
    target: str,
    *,
    name: str | None = None,
    sizes: Mapping[str, int] | None = None,
    assume: Sequence[Any] = (),
    index_type: str = "auto",
    base: int = 0,
    cost: str | Cost | None = None,
    strict: bool = False,
) -> Emitted:
    """The index functions of a layout as a complete file of the target language.

    fn_or_layout: a function of sizes and indices that returns one index, a tuple or dict of
        indices, or a layout; or a layout (sizes may be `symbols`). The function is called with
        symbols; names that it uses and nobody defined become parameters, after those of the
        signature, in the order of first use; each ':' in an index adds one more. A layout gives
        NAME_apply and, where it exists, NAME_inv.
    target: cuda, cpp, rust, fortran, julia, glsl, javascript, or an installed plug-in's name.
    name: of the unit and its functions; default: the function's name, "layout" for a layout.
    sizes: parameters that are fixed to numbers, as {"BM": 32}.
    assume: relations between the symbols, as text or SymPy relations: "M % BM == 0".
    index_type: auto, int32, int64, uint32 or uint64. auto takes 32 bits where every intermediate
        value provably fits, else 64; what a size without a bound leaves open becomes a
        precondition in `assumptions`.
    base: 0, or 1 for indices and positions that count from 1 (arguments and results; sizes stay,
        and a masked position is 0 then).
    cost: what chooses between equal forms: "latency" (the default of most targets), "ops" (the
        fewest operations), or a Cost.
    strict: refuse what may not be meant and is only warned of else (LegoWarning): a name that nobody
        defined, and a variable of the module, not in capitals, that is taken as an index.

    Raises LegoError (its subclasses say what): an impossible layout, an index provably out of
    range, an unknown target, a value that provably does not fit.
    """
    printer = registry.printer(target)
    if isinstance(assume, Iterable) and not isinstance(assume, (str, Cond)):
        assume = [*assume]
    make = partial(
        build_program, fn_or_layout, printer, name, sizes, assume, index_type, base, cost
    )
    program = make()
    if program.doubts and strict:
        raise TraceError("; ".join(program.doubts))
    for text in program.doubts:
        warnings.warn(text, LegoWarning, stacklevel=2)
    return emit_program(program, target, subject=fn_or_layout, sizes=sizes, make=make)


def build_program(
    fn_or_layout: Any,
    printer: Printer,
    name: str | None = None,
    sizes: Mapping[str, int] | None = None,
    assume: Sequence[Any] = (),
    index_type: str = "auto",
    base: int = 0,
    cost: str | Cost | None = None,
) -> Program:
    """The lowered program that a printer spells."""
    if not is_integer(base) or base not in (0, 1):
        raise TargetError(f"base is {shown(base)}; indices count from 0 or from 1")
    if name is not None and not isinstance(name, str):
        raise TraceError(f"name must be text such as 'index', not {shown(name)}")
    if isinstance(assume, (str, Cond)) or not isinstance(assume, Iterable):
        assume = [assume]
    assume = list(assume)
    candidates = _candidates(index_type, printer)
    model = cost_model(cost, printer.cost)
    if isinstance(fn_or_layout, Block):
        unit = name or "layout"
        title = repr(fn_or_layout)
        trace, result = follow(lambda t: _declared(t, fn_or_layout), sizes, assume, base)
    elif callable(fn_or_layout):
        unit = name or getattr(fn_or_layout, "__name__", "index")
        if unit == "<lambda>":
            unit = "index"
        title = _title(fn_or_layout, unit)
        trace, result = follow(lambda t: _called(fn_or_layout, t), sizes, assume, base)
    else:
        raise TraceError(f"generate() takes a function or a layout, not {shown(fn_or_layout)}")
    if isinstance(result, Block):
        functions = _layout_functions(unit, result, trace)
    else:
        named = partial(_outputs, unit=unit)
        functions = [(unit, trace, result, named, None, None, _doc(fn_or_layout, unit))]
    if sizes:
        title += " with " + ", ".join(f"{k} = {v}" for k, v in sizes.items())
    try:
        lowered = tuple(
            _lowered(*function, candidates, printer, assume, model) for function in functions
        )
    except RecursionError:
        raise TraceError(f"{unit}: {TOO_DEEP}") from None
    told = () if isinstance(fn_or_layout, Block) else tuple(doubts(fn_or_layout, trace))
    program = Program(unit, lowered, " ".join(title.split()), told)
    program.check()
    return program


def _candidates(index_type: str, printer: Printer) -> tuple[str, ...]:
    if isinstance(index_type, str) and index_type == "auto":
        return printer.default_index
    if not isinstance(index_type, str) or index_type not in INDEX_TYPES:
        known = [t for t in INDEX_TYPES if t in printer.types]
        raise TargetError(
            f"no index type {shown(index_type)}; {printer.title} has auto, {', '.join(known)}."
            f"{nearest(shown(index_type), known)}"
        )
    if index_type not in printer.types:
        raise TargetError(f"{printer.title} has no {index_type}; it has {', '.join(printer.types)}")
    return (index_type,)


def _title(fn: Any, unit: str) -> str:
    import inspect

    try:
        return f"{unit}{inspect.signature(fn)}"
    except (TypeError, ValueError):
        return unit


def _doc(fn: Any, unit: str) -> str:
    doc = getattr(fn, "__doc__", None)
    doc = doc.strip().splitlines() if isinstance(doc, str) else []
    return doc[0].strip() if doc else f"The index that {unit} computes."


def _called(fn: Callable[..., Any], trace: Trace) -> Any:
    result = call_user_function(fn, trace)
    if isinstance(result, Block):
        learn_layout(result)
    return result


def _declared(trace: Trace, layout: Block) -> Block:
    """A layout's own symbols are its parameters, in the order in which they stand."""
    names: list[str] = []
    if not layout.is_concrete:
        for n in layout.sizes():
            e = unsubstitute(Expr.of(n), trace.facts)
            ordered = sorted(e.symbols(), key=lambda s: repr(e).find(s))
            names += [s for s in ordered if s not in names]
    trace.signature = names
    learn_layout(layout)
    return layout


def _layout_functions(unit: str, layout: Block, trace: Trace) -> list[tuple]:
    """(name, trace, result, named, size, spans, doc) of NAME_apply and NAME_inv; named(result)
    gives the outputs with their names, spans has (least, end) of each, counted from 0."""
    taken = {*trace.signature, *trace.free}
    coordinates = index_names(len(layout.dims), taken)
    position = next(n for n in ("flat", "position", "flat_index") if n not in taken)

    def declare(names: Sequence[str], sizes: Sequence[Any]) -> Callable[[Trace], None]:
        def prepare(t: Trace) -> None:
            learn_layout(layout)
            t.axes = [*names]
            t.indices.update(names)
            for n, size in zip(names, sizes, strict=True):
                t.facts.learn_range(n, Expr.of(t.base), product_of([size]) - 1 + t.base)

        return prepare

    forward, flat = go_on(
        trace,
        declare(coordinates, layout.dims),
        lambda t: layout.apply(*(t.symbol(n) for n in coordinates)),
    )
    with using(forward.facts):
        size = product_of([layout.physical_size]) if layout.has_inverse else None
    least = -1 if layout.masks else 0
    spans = [(least, size)] if size is not None else None
    doc = f"Physical position of the logical index ({', '.join(coordinates)})"
    doc += f"; {trace.base - 1} where it is masked." if layout.masks else "."
    found = [(f"{unit}_apply", forward, flat, lambda e: [("flat", Expr.of(e))], size, spans, doc)]
    if layout.has_inverse:
        back, values = go_on(
            trace,
            declare([position], [layout.physical_size]),
            lambda t: layout.inv(t.symbol(position)),
        )
        doc = f"Logical index ({', '.join(coordinates)}) of a physical position."
        with using(back.facts):
            size = product_of([layout.physical_size])
            least = -1 if layout.masks_inverse else 0
            spans = [(least, product_of([n])) for n in layout.dims]

        def named(values: Sequence[Any]) -> list[tuple[str, Expr]]:
            return [(n, Expr.of(v)) for n, v in zip(coordinates, values, strict=True)]

        found.append((f"{unit}_inv", back, values, named, size, spans, doc))
    return found


def index_names(count: int, taken: set[str]) -> list[str]:
    """i, j, k.. for a layout's dimensions, i0, i1.. for many or where those are taken."""
    if count <= len(AXIS_NAMES) and not taken & set(AXIS_NAMES[:count]):
        return list(AXIS_NAMES[:count])
    prefix = "i"
    while any(f"{prefix}{k}" in taken for k in range(count)):
        prefix += "x"
    return [f"{prefix}{k}" for k in range(count)]


def _outputs(result: Any, unit: str) -> list[tuple[str, Expr]]:
    if isinstance(result, Mapping):
        named = list(result.items())
        for k, _ in named:
            if not isinstance(k, str) or not k.isidentifier():
                raise TraceError(f"{unit} returns {shown(k)}, which is no name for a result")
    elif isinstance(result, (tuple, list)):
        named = (
            [(f"out{k}", v) for k, v in enumerate(result)]
            if len(result) != 1
            else [("result", result[0])]
        )
    else:
        named = [("result", result)]
    if not named:
        raise TraceError(
            f"{unit} returns nothing; return an index, a tuple or dict of indices, or a layout"
        )
    checked = []
    for k, v in named:
        if v is None or isinstance(v, (str, bytes, bool)) or not _is_value(v):
            raise TraceError(
                f"{unit} returns {shown(v)} as {k}; return an index, a tuple or dict of indices, or a layout"
            )
        checked.append((k, Expr.of(v)))
    return checked


def _is_value(v: Any) -> bool:
    return (
        isinstance(v, (int, Expr, Cond))
        or is_sympy(v)
        or (hasattr(v, "__index__") and getattr(v, "shape", ()) == ())
    )


def _lowered(
    name: str,
    trace: Trace,
    result: Any,
    named: Callable[[Any], list[tuple[str, Expr]]],
    size: Expr | None,
    spans: Sequence[tuple[int, Expr]] | None,
    doc: str,
    candidates: Sequence[str],
    printer: Printer,
    assume: Sequence[Any],
    cost: Cost,
) -> Function:
    facts = trace.facts
    recorder = RECORDER.get()
    if recorder is not None:
        recorder.function(name, facts)
    with using(facts):
        outputs = [(n, _final(e, facts) + trace.base) for n, e in named(result)]
        if recorder is not None:
            recorder.stop()
        for _, e in outputs:
            for symbol in sorted(unsubstitute(e, facts).symbols()):
                trace.add_parameter(symbol)
        names = trace.params()
        lowered = lower(
            outputs,
            facts,
            cost,
            printer.bit_operations,
            {*names, *(n for n, _ in outputs)},
            [(n, trace.extents[n]) for n in trace.axes if n in trace.extents],
            candidates,
            partial(_wholes, trace, named),
            printer.lazy_select,
        )
        params = tuple(_param(n, facts, trace) for n in names)
        index_type, width, note = choose_type(
            name, lowered.lowering, lowered.nodes, candidates, size
        )
        index_type, width, note = _with_params(name, params, index_type, width, note, candidates)
        for divisor, branch in nonzero((e for _, e in outputs), facts):
            there = [c.rebuild(lambda e: unsubstitute(e, facts)) for c in branch]
            trace.note(f"{unsubstitute(divisor, facts)!r} != 0", there)
        return Function(
            name=name,
            params=params,
            body=tuple(lowered.body),
            outputs=tuple(lowered.outputs),
            index_type=index_type,
            summary=f"{doc} Indices and positions count from 1." if trace.base else doc,
            assumptions=_assumptions(facts, trace, assume, width, params),
            width_note=note,
            axes=tuple(lowered.extents),
            base=trace.base,
            cost=lowered.cost,
            promises=tuple(
                _promised(e, facts, span, trace.base)
                for (_, e), span in zip(outputs, spans or [None] * len(outputs), strict=True)
            ),
        )


def _final(e: Expr, facts: Facts) -> Expr:
    """e under all that was learned: as it is, where the last run knew that already."""
    return facts.rebuilt(e) if facts.substitutions or facts.constraints else e


def _wholes(
    trace: Trace, named: Callable[[Any], list[tuple[str, Expr]]]
) -> Iterator[list[tuple[str, Expr]]]:
    """The outputs again, one or all of the flat positions on the way kept as one value."""
    choices = [{k} for k in range(trace.steps)]
    if trace.steps > 1:
        choices.append(set(range(trace.steps)))
    for whole in choices[-WHOLES:]:
        outputs = [(n, trace.facts.rebuilt(e) + trace.base) for n, e in named(trace.again(whole))]
        if (recorder := RECORDER.get()) is not None:
            recorder.stop()
        yield outputs


def _with_params(name, params, index_type, width, note, candidates):
    """The narrowest candidate that holds every argument's proven range too."""
    from .errors import WidthError

    for candidate in candidates[candidates.index(index_type) :]:
        least, most = INDEX_TYPES[candidate]
        ends = ((p, end) for p in params for end in (p.lo, p.hi) if end is not None)
        culprit = next((p for p, end in ends if not least <= end <= most), None)
        if culprit is None:
            if candidate != index_type:
                note = f"{candidate} holds every argument and every value."
            return candidate, width, note
    better = "signed" if least == 0 and culprit.lo is not None and culprit.lo < 0 else "wider"
    raise WidthError(
        f"{name}: the argument {culprit.name} ({culprit.range_text}) does not fit {candidates[-1]}; "
        f"choose a {better} index_type or smaller sizes"
    )


def _param(name: str, facts: Facts, trace: Trace) -> Param:
    lo, hi = facts.interval(facts.symbol(name))
    known = facts.ranges.get(name)
    if known is None:
        text = f"{lo} <= {name} < {hi + 1}" if lo is not None and hi is not None else ""
        text = text or (f"{name} >= {lo}" if lo is not None else "")
    else:
        low = None if known.lo is None else unsubstitute(known.lo, facts)
        high = None if known.hi is None else unsubstitute(known.hi + 1, facts)
        if low is not None and high is not None:
            text = f"{low!r} <= {name} < {high!r}"
        elif high is not None:
            text = f"{name} < {high!r}"
        else:
            text = f"{name} >= {low!r}" if low is not None else ""
    base = trace.base if name in trace.indices else 0
    return Param(name, text, lo, hi, name in trace.axes, facts.is_size(name), base)


def _assumptions(
    facts: Facts, trace: Trace, assume: Sequence[Any], width: list[str], params: Sequence[Param]
) -> tuple[str, ...]:
    texts = [text for a in assume for text in _stated(a, trace.sizes)]
    texts += [
        f"{_factor(unsubstitute(a, facts))} % {_factor(unsubstitute(b, facts))} == 0"
        for a, b in facts.quotients.values()
    ]
    texts += [*trace.preconditions, *width]
    ranges = {piece for p in params for piece in pieces(p.range_text)}
    unique = {t.replace(" ", ""): t for t in reversed(texts)}
    return tuple(
        t
        for t in dict.fromkeys(texts)
        if unique[t.replace(" ", "")] == t and not pieces(t) <= ranges
    )


def _stated(assumption: Any, sizes: Mapping[str, int]) -> list[str]:
    """An assumption as Python text, with the numbers of the sizes that are fixed."""
    from .arith.assume import parse

    texts = [assumption] if isinstance(assumption, str) else [repr(c) for c in parse(assumption)]
    numbers = {name: str(n) if n >= 0 else f"({n})" for name, n in sizes.items()}
    return [reworded(text, numbers) for text in texts]


def _factor(e: Expr) -> str:
    alone = e.constant is not None or (e.single is not None and e.single.kind == "sym")
    return repr(e) if alone else f"({e!r})"


def _promised(e: Expr, facts: Facts, span: tuple[int, Expr] | None, base: int) -> tuple[str, str]:
    """(least, end) of a result as text: least <= e < end, "" where there is no bound. span: bounds
    that are known to hold, counted from 0."""
    lo, hi = facts.interval(e)
    size = None
    if span is not None:
        least, size = span[0] + base, span[1] + base
        lo = least if lo is None else max(lo, least)
    if hi is not None and lo is not None and lo >= 0 and (size is None or size.constant):
        most = hi if size is None else min(hi, size.constant - 1)
        return str(lo), str(most + 1)
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
    end = "" if top is None else repr(unsubstitute(top + 1, facts))
    return "" if lo is None else str(lo), end

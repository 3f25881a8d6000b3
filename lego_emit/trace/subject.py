"""What generate() is given, followed with symbols.

A layout, a function that gives one or indices, or SymPy expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.block import Block, is_bundle, is_packed
from ..algebra.slices import index_names
from ..arith.expr import Expr
from ..arith.given import are_formulas
from ..errors import TraceError, a_type, short_repr
from ..ir.program import Doc, View
from .definition import GivesLayout, OfLayout, parameters_of
from .follow import TraceOptions, check_known, go_on, run_trace
from .learn import learn_layout, product_of
from .trace import Trace
from .traced import Outputs, Subject, Traced


def traced_subject(
    subject: Any, name: str | None, options: TraceOptions, view: bool = False
) -> Subject:
    """Follow a layout, a function or expressions. view: each is a layout, of which a view is wanted.
    Raises TraceError where it is none of them."""
    if name is not None and not isinstance(name, str):
        raise TraceError(f"name must be text such as 'index', not {short_repr(name)}")
    if name and not name.isidentifier():
        raise TraceError(
            f"name is {short_repr(name)}, no name for a function; write one as 'my_layout'"
        )
    if are_formulas(subject):
        _check_outputs(name or "expression", subject, options)
        if view:
            raise _no_view(name or "expression", "it is an expression")
        from .formulas import subject_of_formulas

        return subject_of_formulas(subject, name, options)
    if isinstance(subject, (list, tuple, Mapping)):
        return _of_several(subject, name, options, view)
    return _of_one_subject(subject, name, options, view)


def several(subject: Any) -> dict[str, Any]:
    """Subjects by the names of their functions: those that a dict gives, else their own. Raises
    TraceError where two have the same, or one is no subject."""
    if isinstance(subject, Mapping):
        named = [*subject.items()]
    else:
        named = [(_own_name(part), part) for part in subject]
    if not named:
        raise TraceError("generate() was given no function and no layout: there is nothing to emit")
    found: dict[str, Any] = {}
    for at, (name, part) in enumerate(named):
        known = isinstance(part, Block) or callable(part) or is_packed(part) or is_bundle(part)
        if not known:
            raise _no_subject(subject, name if isinstance(subject, Mapping) else at, part)
        if not isinstance(name, str) or not name.isidentifier():
            raise TraceError(f"{short_repr(name)} is not a name for a function")
        if name in found:
            raise TraceError(
                f"two of what generate() was given are called {name}; name them in a dict, "
                f"{{'{name}': .., 'other': ..}}"
            )
        found[name] = part
    return found


def _no_subject(subject: Any, *part: Any) -> TraceError:
    """part: of several the name or number of the one that is none, and that one."""
    text, wrong = short_repr(subject), part[-1] if part else subject
    if part:
        text = text if len(text) <= 60 else f"{a_type(subject)}"
        text += f", where {short_repr(part[0])} is {short_repr(wrong)}"
    if isinstance(wrong, str):
        text += "; cute.layout() reads CuTe's text, sympy.sympify() an expression's"
    return TraceError(
        f"generate() takes a function or a layout, several of them, or SymPy expressions, not {text}"
    )


def _own_name(subject: Any) -> str:
    if isinstance(subject, Block):
        return "layout"
    if is_packed(subject):
        return "fields"
    if is_bundle(subject):
        return subject.unit
    name = getattr(subject, "__name__", "index")
    return "index" if name == "<lambda>" else name


def _of_several(subject: Any, name: str | None, options: TraceOptions, view: bool) -> Subject:
    """Each under what is said of its own parameters; the unit has the first one's name unless given."""
    named = several(subject)
    parts = [_of_one_subject(part, own, options, view, alone=False) for own, part in named.items()]
    functions = [f for part in parts for f in part.functions]
    for at, f in enumerate(functions):
        if any(f.name == other.name for other in functions[:at]):
            raise TraceError(
                f"generate() would make two functions {f.name}: a layout NAME gives NAME_apply and "
                f"NAME_inv; name them otherwise in a dict"
            )
    check_known([f.trace for f in functions], options)
    title = "; ".join(dict.fromkeys(part.title for part in parts))
    own = [f.trace for f in functions]
    folded = {n for t in own for n in (*t.signature, *t.free) if n not in t.static}
    static = {n for t in own for n in t.static} - folded
    title += options.with_static(static).in_title("; with ")

    def told() -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for part in parts for text in part.diagnostics()))

    return Subject(
        name or next(iter(named)), title, functions, told, tuple(len(p.functions) for p in parts)
    )


def _of_one_subject(
    subject: Any, name: str | None, options: TraceOptions, view: bool, alone: bool = True
) -> Subject:
    if isinstance(subject, Block):
        _check_outputs(name or "layout", subject, options)
        return _of_layout(subject, name or "layout", options, view, alone)
    if is_packed(subject):
        from .packed import packed_subject

        if view:
            raise _no_view(name or "fields", "it is fields of words")
        return packed_subject(subject, name or "fields", options, alone)
    if not callable(subject):
        raise _no_subject(subject)
    from .functions import trace_function

    unit = name or _own_name(subject)
    found = trace_function(subject, unit, options, alone)
    numbers = replace(options, sizes=found.trace.sizes)
    title = found.title + (numbers.in_title(" with ") if alone else "")
    if isinstance(found.result, Block):
        _check_outputs(unit, found.result, options)
        functions = _layout_functions(
            unit, found.result, found.trace, view, found.doc, found.definition
        )
        if found.doc.summary:
            title += f": {found.doc.summary}"
    elif view:
        raise _no_view(unit, "it gives no layout")
    else:
        functions = [found.traced()]
        if is_bundle(getattr(subject, "bundle", None)):
            from .cased import traced_cases

            functions[0].cases = traced_cases(subject, unit, options)
    return Subject(unit, " ".join(title.split()), functions, found.diagnostics)


def _of_layout(given: Block, unit: str, options: TraceOptions, view: bool, alone: bool) -> Subject:
    layout = given
    if numbers := options.numbers():
        from .numbered import numbered

        layout, _ = numbered(given, numbers)
    trace, result = run_trace(lambda t: _declared(t, layout, given), options, alone)
    functions = _layout_functions(unit, result, trace, view, Doc(), result)
    title = repr(given) + (options.in_title(" with ") if alone else "")
    return Subject(unit, " ".join(title.split()), functions)


def _declared(trace: Trace, layout: Block, given: Block) -> Block:
    """A layout's own symbols are its parameters, in the order of parameters_of(). given: before the
    numbers of sizes were put in."""
    if not given.is_concrete:
        trace.signature = parameters_of(given, trace.analyzer.unsubstitute)
    learn_layout(layout, trace.running())
    return layout


def _layout_functions(
    unit: str, layout: Block, trace: Trace, view: bool, said: Doc, given: Block | GivesLayout
) -> list[Traced]:
    """NAME_apply and, where there is an inverse, NAME_inv. given: what gives the layout at numbers."""
    taken = {*trace.signature, *trace.free}
    coordinates = [*(layout.coordinates or index_names(len(layout.dims), taken))]
    position = next(n for n in ("flat", "position", "flat_index") if n not in taken)
    results, whole = [*(layout.results or ["flat"])], layout.results is None
    targets = [position] if whole else results

    def declare(names: Sequence[str], sizes: Sequence[Sequence[Any]]) -> Callable[[Trace], None]:
        def prepare(t: Trace) -> None:
            learn_layout(layout, t.running())
            t.axes = [*names]
            t.indices.update(n for n in names if t.named is None or n in t.named)
            for n, size in zip(names, sizes, strict=True):
                base = t.base_of(n)
                t.analyzer.learn_range(n, Expr.of(base), product_of(size, t.analyzer) - 1 + base)

        return prepare

    def named(names: Sequence[str]) -> Callable[[Any], Outputs]:
        def outputs(values: Any) -> Outputs:
            found = values if isinstance(values, tuple | list) else [values]
            return [(n, Expr.of(v)) for n, v in zip(names, found, strict=True)]

        return outputs

    forward, found = go_on(
        trace,
        declare(coordinates, [(n,) for n in layout.dims]),
        lambda t: layout.apply(*(t.symbol(n) for n in coordinates)),
    )
    spans, target_sizes = None, []
    if layout.has_inverse or not whole:
        target_sizes = [layout.physical_dims] if whole else [(n,) for n in layout.physical_dims]
        least = -1 if layout.masks else 0
        spans = [(least, product_of(n, forward.analyzer)) for n in target_sizes]
    if whole:
        doc = f"Physical position of the logical index ({', '.join(coordinates)})"
        doc += "" if layout.masks else "."
    else:
        doc = f"({', '.join(results)}) of ({', '.join(coordinates)})."
    functions = [
        Traced(
            f"{unit}_apply",
            replace(said, summary=doc, returns=""),
            forward,
            found,
            named(results),
            spans,
        )
    ]
    functions[0].masks = layout.masks and whole
    functions[0].definition = OfLayout(given, forward, unit, coordinates, inverse=False)
    if view:
        functions[0].view = _view(unit, layout, forward)
    if layout.has_inverse:
        back, values = go_on(
            trace,
            declare(targets, target_sizes),
            lambda t: layout.inv(*(t.symbol(n) for n in targets)),
        )
        doc = f"Logical index ({', '.join(coordinates)}) of a physical position"
        if not whole:
            doc = f"({', '.join(coordinates)}) of ({', '.join(results)})"
        doc += "" if layout.masks_inverse else "."
        least = -1 if layout.masks_inverse else 0
        spans = [(least, product_of([n], back.analyzer)) for n in layout.dims]
        functions.append(
            Traced(
                f"{unit}_inv",
                replace(said, summary=doc, returns=""),
                back,
                values,
                named(coordinates),
                spans,
            )
        )
        functions[1].masks = layout.masks_inverse
        functions[1].definition = OfLayout(given, back, unit, targets, inverse=True)
    return functions


def _check_outputs(unit: str, subject: Any, options: TraceOptions) -> None:
    if options.outputs:
        from .outputs import refused

        raise refused(unit, subject)


def _view(unit: str, layout: Block, trace: Trace) -> View[Expr]:
    if layout.results is not None and len(layout.results) > 1:
        raise _no_view(unit, f"it has several results, {', '.join(layout.results)}")
    if not layout.is_bounded:
        raise _no_view(
            unit,
            f"no position of {short_repr(layout)} is known to be the last one, as an inverse says it",
        )
    if len({trace.base_of(n) for n in (*trace.axes, *(layout.results or ["flat"]))}) > 1:
        raise _no_view(unit, "base names some of its indices and its position, and not all")
    known = trace.analyzer
    extents = tuple(Expr.of(n) for n in layout.dims)
    size = product_of(layout.physical_dims, known)
    gap = known.simplifier.subtract(product_of(layout.dims, known), size)
    exhaustive = layout.has_inverse and known.nonneg(gap)
    unique = layout.has_inverse and not layout.masks
    return View(unit, extents, size, unique, unique and exhaustive, layout.masks)


def _no_view(unit: str, reason: str) -> TraceError:
    return TraceError(f"{unit}: {reason}; a view is of a layout that gives one position")

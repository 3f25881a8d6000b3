"""A user's function of indices: followed with symbols, and called with integers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType
from typing import Any

from ..algebra.block import Block, is_bundle
from ..algebra.reference import axes_at
from ..algebra.strided import Swizzle
from ..arith.analyzer import Analyzer
from ..arith.evaluate import evaluate
from ..arith.expr import Cond, Expr
from ..ends import may_not_end
from ..errors import LegoError, TraceError, a_type, short_repr
from ..ir.program import Doc, Group
from ..ir.relations import const
from ..numeric import is_symbolic, is_sympy
from .calls import call_user_function, signature_of
from .definition import FEW, POINTS, Values, symbols_in
from .diagnostics import diagnostics
from .docs import doc_of
from .follow import TraceOptions, run_trace
from .helpers import read_around
from .learn import learn_layout
from .numbered import numbered
from .signature import Signature
from .tape import Tape
from .trace import Trace
from .traced import Kept, Outputs, Subject, Traced

SHORT = 96  # bytes of code of a function that takes no time
LEAST_PATHS = 3  # of a function whose branches are joined, too
FEW_PATHS = 32  # of one that is followed along its paths before its branches are joined


@dataclass
class TracedFunction:
    """A function that was followed: its name, its signature as text, what was learned of it, its
    result, what its docstring says, itself on integers, and with its branches joined. group: what its
    results are together; outputs: how they are called, where that is said."""

    unit: str
    title: str
    trace: Trace
    result: Any
    doc: Doc
    definition: Any
    joined: Callable[[Traced, Outputs], Kept | None] | None = None
    group: Group | None = None
    outputs: Sequence[str] = ()

    def traced(self) -> Traced:
        """The function of indices that it is. Raises TraceError for names that its results cannot have."""
        group, names = None if isinstance(self.result, Mapping) else self.group, self.outputs
        if self.outputs:
            from .outputs import applied

            count = len(_outputs(self.result, self.unit, group))
            group, names = applied(self, group, count)
        return Traced(
            self.unit,
            self.doc,
            self.trace,
            self.result,
            partial(_outputs, unit=self.unit, group=group, names=names),
            by_name=isinstance(self.result, Mapping),
            definition=self.definition,
            joined=self.joined,
            group=group,
        )

    def diagnostics(self) -> tuple[str, ...]:
        """What may not be meant."""
        return tuple(diagnostics(self.definition.fn, self.trace))


def trace_function(
    fn: Callable[..., Any], unit: str, options: TraceOptions, alone: bool
) -> TracedFunction:
    """A user's function, followed; see follow()."""
    signature = signature_of(fn)
    if signature.static:
        options = options.with_static(
            signature.static.intersection(signature.taken(options.numbers()))
        )
    own, names = numbered(fn, options.numbers())
    options = _with_own(fn, options)
    options = replace(options, ranges=signature.of_elements(options.ranges))
    if signature.types or options.types or options.structs:
        signature.declare(options.types, options.structs)
        options = replace(options, types=signature.types)
    call = partial(_called_with, names, signature)
    if options.most:
        from .modular import Wrapped

        trace, result = _wrapping(own, call, options, alone)
        definition = Wrapped(fn, options.most, unit, options.numbers(), trace.words)
        title, doc = _title(fn, unit, signature), doc_of(fn)
        return TracedFunction(
            unit, title, trace, result, doc, definition, None, signature.result, options.outputs
        )
    tape, joined = Tape(), None
    try:
        trace, result = run_trace(partial(call, own), options, alone, tape, FEW_PATHS)
        if tape.paths >= LEAST_PATHS:
            from .joined import joining

            joined = joining(own, call)
    except TraceError as error:
        if not error.many_paths and not error.placed:
            raise
        from .joined import followed

        trace, result = followed(fn, own, call, options, alone, tape.made_text, error)
    definition = OfFunction(fn, trace, unit, signature)
    title, doc, group = _title(fn, unit, signature), doc_of(fn), signature.result
    if group is not None and group.count is not None:
        number = options.numbers().get(str(group.count.value))
        count = group.count if number is None else const(number)
        group = replace(group, count=count)
    return TracedFunction(
        unit, title, trace, result, doc, definition, joined, group, options.outputs
    )


def _with_own(fn: Any, options: TraceOptions) -> TraceOptions:
    """Options with what a function of a Bundle says without a word."""
    if not is_bundle(getattr(fn, "bundle", None)):
        return options
    from .bundle import with_own

    return with_own(fn, options)


def _wrapping(
    own: Any, call: Callable[..., Any], options: TraceOptions, alone: bool
) -> tuple[Trace, Any]:
    """run_trace() of a function whose arithmetic wraps: with branches joined where they meet, if it has
    several and they can be; else along all paths."""
    from .words import Words

    try:
        return run_trace(partial(call, own), options, alone, None, LEAST_PATHS, Words(options.most))
    except TraceError as error:
        if not error.many_paths:
            raise
    from .joined import Joined

    made = Joined().function(own)
    if made is not None:
        try:
            return run_trace(partial(call, made), options, alone, words=Words(options.most))
        except LegoError:
            pass  # a path says better what is wrong, and may know more
    return run_trace(partial(call, own), options, alone, words=Words(options.most))


def index_of(trace: Trace, result: Any) -> Subject:
    """What a trace gives as one function, index()."""
    made = Traced("index", Doc(), trace, result, partial(_outputs, unit="index"))
    made.definition = OfTrace(trace, "index")
    return Subject("index", "index", [made])


def _title(fn: Any, unit: str, signature: Signature) -> str:
    if is_bundle(getattr(fn, "bundle", None)):
        return repr(fn.bundle)
    try:
        if not _is_object(fn):
            text = re.sub(r"(: |-> )'([^']+)'", r"\1\2", f"{unit}{inspect.signature(fn)}")
            if "Annotated[" in text:  # with its module before it, from Python 3.12 on without
                from ..types import SHORT_NAMES

                text = text.replace("typing.Annotated[", "Annotated[")
                text = re.sub(r"Annotated\[int, (?:('\w+'), )?Static\]", _static, text)
                text = text.replace("Annotated[~T, Static]", "Static")
                for kind, name in SHORT_NAMES.items():
                    text = text.replace(f"Annotated[int, '{kind}']", name)
            for group in signature.groups_and_result:
                kind = group.made
                if kind is not None:
                    text = text.replace(f"{kind.__module__}.{kind.__qualname__}", kind.__name__)
            return text
        kind = "" if hasattr(type(fn), "__signature__") else f", {a_type(fn)}"
        return f"{unit}({', '.join(inspect.signature(fn).parameters)}){kind}"
    except (TypeError, ValueError):
        return unit


def _static(found: re.Match[str]) -> str:
    """How an annotation that is a static size is written."""
    return f"Static[Annotated[int, {found[1]}]]" if found[1] else "Static[int]"


def _is_object(fn: Any) -> bool:
    """Whether it is no function but an object that can be called."""
    return not isinstance(fn, type) and inspect.isfunction(vars(type(fn)).get("__call__"))


def _called(fn: Callable[..., Any], trace: Trace, signature: Signature) -> Any:
    result = call_user_function(fn, trace, signature)
    if trace.words is not None:
        return trace.words.result(result)
    if isinstance(result, Block):
        learn_layout(result, trace.running())
    return result


def _called_with(names: list[str], signature: Signature, function: Any, trace: Trace) -> Any:
    """The result of a user's function in which numbers stand for these names."""
    found = _called(function, trace, signature)
    trace.free += [name for name in names if name not in (*trace.signature, *trace.free)]
    return found


def _outputs(
    result: Any, unit: str, group: Group | None = None, names: Sequence[str] = ()
) -> list[tuple[str, Expr]]:
    if isinstance(result, Mapping):
        named = list(result.items())
        for k, _ in named:
            if not isinstance(k, str) or not k.isidentifier():
                raise TraceError(
                    f"{unit} returns {short_repr(k)}, which is not a name for a result"
                )
    elif names:
        values = result if isinstance(result, tuple | list) else [result]
        named = [*zip(names, values, strict=True)]
    elif group is not None:
        named = [*zip((n for n, _ in group.results), result, strict=True)]
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
                f"{unit} returns {short_repr(v)} as {k}; return an index, a tuple or dict of indices, or a layout"
            )
        checked.append((k, Expr.of(v)))
    return checked


def _is_value(v: Any) -> bool:
    return (
        isinstance(v, (int, Expr, Cond))
        or is_sympy(v)
        or (hasattr(v, "__index__") and getattr(v, "shape", ()) == ())
    )


class OfFunction:
    """A user's function of indices. name: in messages."""

    is_total = False

    def __init__(self, fn: Callable[..., Any], trace: Trace, name: str, signature: Signature):
        self.name, self._trace, self.fn, self._signature = name, trace, fn, signature
        self._symbols = _symbols_around(fn)
        self._names: dict[str, Any] = {}
        self._target = fn
        if isinstance(fn, FunctionType):
            self._names = dict(fn.__globals__)
            self._target = _with_globals(fn, self._names)
        self.points = FEW if may_not_end(fn) or not _is_short(fn) else POINTS

    @property
    def stays_small(self) -> bool:
        """Whether sizes without bounds stay small: the function applies a GenP of symbolic sizes."""
        return self._trace.has_genp

    def __call__(self, values: Values) -> Any:
        """The result at values of the parameters, indices counted from 0. Raises what it raises."""
        return self._called(values)

    @property
    def shows_symbols(self) -> bool:
        """Whether it made text of a symbol when it was followed."""
        return self._trace.tape is not None and self._trace.tape.made_text

    def on_constants(self, values: Values) -> Any:
        """The result where the arguments are constants of the type that symbols have."""
        return self._called(values, Expr.of)

    def _called(self, values: Values, made: Callable[[int], Any] | None = None) -> Any:
        """The result; made: what each argument is made into."""
        trace = self._trace
        own = {n: v for n, v in values.items() if n not in trace.axes} if trace.axes else values
        known = {**trace.sizes, **own}
        target = self._target
        if self._symbols:
            known = {**dict.fromkeys(self._symbols, 1), **known}  # those that cancel out are any
            target, _ = numbered(self.fn, known)
            if isinstance(target, FunctionType):
                target = _with_globals(target, {**target.__globals__, **_missing(target, known)})
        else:
            for n in trace.undefined:
                if n in known:
                    self._names[n] = made(known[n]) if made else known[n]
        arguments = {n: made(v) for n, v in known.items()} if made else known
        first, given = self._signature.arguments(arguments)
        with axes_at([values[n] for n in trace.axes]):
            result = target(*first, **given)
        if self._signature.result is not None and not isinstance(result, Block | Mapping):
            result = self._signature.result.split(result)
        return _numbers(result, known) if self._symbols else result


class OfTrace:
    """A function of a trace, such as a template's placeholder, followed with numbers for names."""

    points = FEW
    is_total = stays_small = False

    def __init__(self, trace: Trace, name: str):
        self.name, self._trace = name, trace

    def __call__(self, values: Values) -> Any:
        """The result at values of the names. Raises what it raises."""
        trace, known = self._trace, Analyzer(use_z3=False)
        known.facts.substitutions.update((n, Expr.of(v)) for n, v in values.items())
        alone = replace(
            trace, analyzer=known, sizes={**trace.sizes, **values}, preconditions=[], extents={},
            layouts={}, stand_ins={}, outside=[], indices=set(), axes=[], flats={}, keeps=False,
            assumed_preconditions=[], narrowed=set(), asked={}, turned=set(), placed=set(),
            new_equations={}, known_equations={}, unsigned={*trace.unsigned},
        )  # fmt: skip
        with alone.running().entered():
            result = alone.function(alone)
        return _numbers(result, values)


def _numbers(result: Any, values: Values) -> Any:
    """A result in which symbols that the function made have their numbers."""
    if isinstance(result, Mapping):
        return {n: _numbers(v, values) for n, v in result.items()}
    if isinstance(result, tuple | list):
        return [_numbers(v, values) for v in result]
    return evaluate(result, values) if isinstance(result, Expr) else result


def _symbols_around(held: Any) -> list[str]:
    """The names of the symbols that a function reads from around it."""
    values = [held]
    if isinstance(held, FunctionType):
        values = [
            *read_around(held),
            *(held.__defaults__ or ()),
            *(held.__kwdefaults__ or {}).values(),
        ]
    found = set[str]()
    for value in values:
        if isinstance(value, Block | Swizzle) and not value.is_concrete:
            found |= symbols_in(value)
        elif is_symbolic(value) and not isinstance(value, type):
            found |= Expr.of(value).symbols()
    return sorted(found)


def _with_globals(fn: FunctionType, names: dict[str, Any]) -> FunctionType:
    made = FunctionType(fn.__code__, names, fn.__name__, fn.__defaults__, fn.__closure__)
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


def _missing(fn: FunctionType, known: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in known.items() if n not in fn.__globals__}


def _is_short(fn: Any) -> bool:
    """Whether a call takes little time: few instructions, and no layout, which is made anew in
    every call and costs a multiple of them."""
    if not isinstance(fn, FunctionType):
        return False
    return len(fn.__code__.co_code) <= 4 * SHORT and not any(map(_is_layout, read_around(fn)))


def _is_layout(value: Any) -> bool:
    return isinstance(value, Block) or (isinstance(value, type) and issubclass(value, Block))

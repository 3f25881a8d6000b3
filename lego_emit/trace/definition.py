"""What an emitted function means, at integers: what generate() was given, called on plain numbers.

A layout gives its reference evaluator's values; a Python function is called as Python calls it, its
layouts on integers being their references. Nothing here goes through symbols, but where a definition
itself makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any, Protocol

from ..algebra import reference
from ..algebra.block import Block
from ..algebra.reference import axes_at
from ..arith.analyzer import Analyzer
from ..arith.evaluate import evaluate
from ..arith.expr import Expr
from ..ends import may_not_end
from ..kinds import is_symbolic
from .calls import arguments
from .numbered import Numbered, numbered
from .trace import Trace

POINTS, FEW = 48, 16  # how often a definition is called; one that may take long
SHORT = 96  # bytes of code of a function that takes no time
Values = Mapping[str, int]


class Definition(Protocol):
    """What a function means. name: in messages; points: at how many it is asked."""

    name: str
    points: int

    @property
    def is_total(self) -> bool:
        """Whether it has a value wherever its sizes allow it: a layout's function, of which a
        function of Python's may say nothing at some integers, as isqrt(-1)."""
        ...

    @property
    def stays_small(self) -> bool:
        """Whether sizes without bounds stay small: a GenP is checked anew for each size."""
        ...

    def __call__(self, values: Values) -> Any:
        """Its result at values of the parameters, which count from 0. Raises what it raises."""
        ...


class OfFunction:
    """A user's function of indices. name: in messages."""

    is_total = False

    def __init__(self, fn: Callable[..., Any], trace: Trace, name: str):
        self.name, self._trace, self._fn = name, trace, fn
        self._symbols = _symbols_in(fn)
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
        return self._called(values, lambda v: v)

    @property
    def shows_symbols(self) -> bool:
        """Whether it made text of a symbol when it was followed."""
        return self._trace.tape is not None and self._trace.tape.shown

    def on_constants(self, values: Values) -> Any:
        """The result where the arguments are constants of the type that symbols have."""
        return self._called(values, Expr.of)

    def _called(self, values: Values, made: Callable[[int], Any]) -> Any:
        trace = self._trace
        known = {**trace.sizes, **{n: v for n, v in values.items() if n not in trace.axes}}
        target = self._target
        if self._symbols:
            known = {**dict.fromkeys(self._symbols, 1), **known}  # those that cancel out are any
            target, _ = numbered(self._fn, known)
            if isinstance(target, FunctionType):
                target = _with_globals(target, {**target.__globals__, **_missing(target, known)})
        else:
            self._names |= {n: made(known[n]) for n in trace.undefined if n in known}
        first, given = arguments(self._fn, {n: made(v) for n, v in known.items()})
        with axes_at([values[n] for n in trace.axes]):
            result = target(*first, **given)
        return _numbers(result, known) if self._symbols else result


class OfLayout:
    """One of a layout's two functions: apply, or inv where inverse is true. given: the layout, or
    the function that returns it."""

    is_total = True

    def __init__(
        self,
        given: Block | OfFunction,
        trace: Trace,
        name: str,
        indices: Sequence[str],
        inverse: bool,
    ):
        self.name, self._given, self._trace = name, given, trace
        self._indices, self._inverse = indices, inverse
        self._made: dict[tuple[int, ...], Block] = {}
        self.points = POINTS if isinstance(given, Block) and given.is_concrete else FEW

    @property
    def stays_small(self) -> bool:
        """Whether sizes without bounds stay small: the layout holds a GenP of symbolic sizes."""
        return self._trace.has_genp

    def __call__(self, values: Values) -> Any:
        """The position, or the index, at values of the parameters. Raises LegoError where it has
        none."""
        sizes = {n: v for n, v in values.items() if n not in self._indices}
        key = tuple(sizes.values())
        layout = self._made.get(key)
        if layout is None:
            layout = self._made[key] = self._at(sizes)
        return self._value(layout, values)

    def on_constants(self, values: Values) -> Any:
        """The result where the layout's function is given constants of the type that symbols have."""
        if isinstance(self._given, Block):
            return self(values)
        sizes = {n: v for n, v in values.items() if n not in self._indices}
        return self._value(self._given.on_constants(sizes), values)

    def _value(self, layout: Block, values: Values) -> Any:
        index = [values[n] for n in self._indices]
        return layout.inv(*index) if self._inverse else reference.apply(layout, index)

    def _at(self, sizes: Values) -> Block:
        given = self._given
        if not isinstance(given, Block):
            return given(sizes)
        if given.is_concrete:
            return given
        cancelled = dict.fromkeys(_symbols_in(given), 1)
        return given.with_sizes(Numbered(given, {**cancelled, **self._trace.sizes, **sizes}))


class OfFormulas:
    """SymPy expressions, as SymPy itself evaluates them."""

    points = FEW
    is_total = stays_small = False

    def __init__(self, pair: Any, trace: Trace, name: str):
        from .evaluated import Evaluated

        self.name, self._trace = name, trace
        self._evaluated = Evaluated(name, pair, ())

    def __call__(self, values: Values) -> Any:
        """The results at values of the symbols. Raises what SymPy raises."""
        return self._evaluated(**self._trace.sizes, **values)


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
        )  # fmt: skip
        with alone.running().entered():
            result = alone.function(alone)
        return _numbers(result, values)


def results_of(result: Any) -> list[int]:
    """A definition's result as numbers. Raises TypeError where it is none."""
    if isinstance(result, Mapping):
        result = list(result.values())
    found = result if isinstance(result, tuple | list) else [result]
    return [int(v) if isinstance(v, int) else v.__index__() for v in found]


def _numbers(result: Any, values: Values) -> Any:
    """A result in which symbols that the function made have their numbers."""
    if isinstance(result, Mapping):
        return {n: _numbers(v, values) for n, v in result.items()}
    if isinstance(result, tuple | list):
        return [_numbers(v, values) for v in result]
    return evaluate(result, values) if isinstance(result, Expr) else result


def _symbols_in(held: Any) -> list[str]:
    """The names of the symbols that a layout has, or that a function reads from around it."""
    values = [held]
    if isinstance(held, FunctionType):
        values = [*_read(held), *(held.__defaults__ or ()), *(held.__kwdefaults__ or {}).values()]
    found = set[str]()
    for value in values:
        if isinstance(value, Block) and not value.is_concrete:
            held_sizes = (*value.sizes(), *value.offsets())
            found = found.union(*(Expr.of(n).symbols() for n in held_sizes))
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
    return len(fn.__code__.co_code) <= 4 * SHORT and not any(map(_is_layout, _read(fn)))


def _is_layout(value: Any) -> bool:
    return isinstance(value, Block) or (isinstance(value, type) and issubclass(value, Block))


def _read(fn: FunctionType) -> Iterator[Any]:
    """What a function reads from around it."""
    codes = [fn.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
        yield from (fn.__globals__[n] for n in code.co_names if n in fn.__globals__)
    for cell in fn.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # an empty cell
            continue

"""What a function is to compute: the layout's definition, or the function that the user wrote.

The blocks' own reference (Figs. 4, 5, 7 and 9) and the user's functions are called with terms; where
they branch on one, every way is followed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from types import FunctionType
from typing import Any

from ..algebra.block import Block
from ..algebra.later import over
from ..algebra.slices import run_of
from ..algebra.strided import Swizzle
from ..errors import LegoError
from ..numeric import is_integer
from .stated import whole
from .terms import TRUE, Term, followed, made, term_of
from .text import UnsupportedSyntax

TOO_MUCH = (LegoError, ArithmeticError, ValueError, TypeError, AttributeError, LookupError)


@dataclass
class Definition:
    """What a function is to give. results: a term for each output; within: what must hold for the
    definition to give something (an index that the user's function hands to a layout lies in
    it)."""

    results: list[Term]
    within: list[Term] = field(default_factory=list)


@dataclass
class Known:
    """A subject with its sizes put in. layout: what makes it, where the subject is one or gives one;
    example: that layout in one of the ways; ways: how many there are. function: else what the
    user wrote."""

    layout: Callable[[], Block] | None = None
    example: Block | None = None
    ways: int = 1
    function: Callable[..., Any] | None = None


class _Symbols:
    """What blocks do with terms, instead of what they do with the symbols of the generator."""

    def __init__(self) -> None:
        self.within: list[Term] = []
        self.axes: Iterator[Any] = iter(())
        self.has_axes = False
        self.extents: list[Any] = []

    def apply(self, block: Block, indices: Sequence[Any]) -> Any:
        """The reference's position; the indices are noted to lie within."""
        values = [term_of(i) for i in indices]
        for i, n in zip(values, block.dims, strict=True):
            self.within.append(made("land", i >= 0, i < n))
        return block.reference_apply(tuple(values))

    def inv(self, block: Block, flat: Any) -> tuple[Any, ...]:
        """The reference's index; the position is noted to lie within."""
        value = term_of(flat)
        self.within.append(made("land", value >= 0, value < block.physical_size))
        return block.reference_inv(value)

    def getitem(self, block: Block, indices: Sequence[Any]) -> Any:
        """As apply; each ':' is the next of the axes."""
        found = list(indices)
        for axis, i in enumerate(indices):
            if isinstance(i, slice):
                first, step, count = run_of(block.dims[axis], i)
                value = next(self.axes, None)
                if value is None:
                    raise UnsupportedSyntax(f"{block!r}: there are more ':' than indices for them")
                self.extents.append(count)
                found[axis] = value * step + first
        return self.apply(block, found)

    def is_following(self) -> bool:
        """Whether a ':' is an index: where the function at hand has any."""
        return self.has_axes

    def coordinate(self, value: Any, size: Any) -> None:
        """Nothing is noted: what is known stands in the text."""

    @staticmethod
    def at_sympy(function: Callable[[Any], Any], value: Any) -> Any:
        """A definition has terms and no SymPy: what is none is refused."""
        return function(term_of(value))

    @staticmethod
    def swizzled(swizzle: Any, position: Any) -> Any:
        """CuTe's definition, in terms."""
        b, m, s = map(term_of, (swizzle.B, swizzle.M, swizzle.S))
        x = term_of(position)
        return x ^ ((x & (((1 << b) - 1) << (m + s))) >> s)


def known(subject: Any, sizes: Mapping[str, Any]) -> Known:
    """A subject with its sizes put in. sizes: by the user's names, ints or terms. Raises UnsupportedSyntax where
    it cannot be called so."""
    if isinstance(subject, Block):
        found = subject if subject.is_concrete else subject.with_sizes(_Change(sizes))
        return Known(lambda: found, found)
    if missing(subject, sizes):
        return Known(function=subject)

    def make() -> Any:
        return _called(subject, sizes)

    try:
        ways = [found for _, found in _run(make, _Symbols())]
    except (NameError, UnsupportedSyntax):
        return Known(function=subject)
    if not all(isinstance(found, Block) for found in ways):
        return Known(function=subject)
    return Known(make, ways[0], len(ways))


def parameters(function: Callable[..., Any]) -> list[str]:
    """The names of what a function takes."""
    return [*inspect.signature(function).parameters]


def missing(function: Callable[..., Any], names: Collection[str]) -> list[str]:
    """The parameters that have no default and none of these names, nor members of these names."""
    found, known = inspect.signature(function).parameters.items(), {*map(whole, names)}
    return [n for n, p in found if p.default is p.empty and n not in known]


def applied(subject: Known, index: Sequence[Term]) -> Definition:
    """A layout's position of an index (Figs. 4, 5 and 9)."""
    make = subject.layout
    assert make is not None
    return _defined(lambda: make().reference_apply(tuple(index)), _Symbols())


def inverted(subject: Known, positions: Sequence[Term]) -> Definition:
    """A layout's index of a position, or of one position for each of its results."""
    make = subject.layout
    assert make is not None

    def run() -> Any:
        layout: Any = make()
        if len(positions) > 1:
            return layout.invert().reference_apply(tuple(positions))
        return layout.reference_inv(positions[0])

    return _defined(run, _Symbols())


def evaluated(
    function: Callable[..., Any], values: Mapping[str, Any], axes: Sequence[Any]
) -> Definition:
    """The results of the user's function. axes: for each ':' in it, its index."""
    symbols = _Symbols()
    return _defined(lambda: _called(function, values), symbols, axes)


def _defined(
    function: Callable[[], Any], symbols: _Symbols, axes: Sequence[Any] = ()
) -> Definition:
    within: list[Term] = []
    ways = []
    for condition, (found, inside) in _run(function, symbols, axes, within=True):
        within += [made("lor", made("lnot", condition), held) for held in inside]
        ways.append((condition, _outputs(found)))
    if len({len(values) for _, values in ways}) != 1:
        raise UnsupportedSyntax("the definition gives different numbers of results")
    results = list(ways[-1][1])
    for condition, values in reversed(ways[:-1]):
        results = [made("select", condition, a, b) for a, b in zip(values, results, strict=True)]
    return Definition(results, [held for held in within if held is not TRUE])


def _run(
    function: Callable[[], Any], symbols: _Symbols, axes: Sequence[Any] = (), within: bool = False
) -> list[tuple[Term, Any]]:
    def once() -> Any:
        symbols.within, symbols.axes = [], iter(axes)
        found = function()
        return (found, symbols.within) if within else found

    symbols.has_axes = bool(axes)
    with over(symbols):
        try:
            return followed(once)
        except UnsupportedSyntax:
            raise
        except NameError:
            raise
        except TOO_MUCH as error:
            said = " ".join(str(error).split())
            raise UnsupportedSyntax(
                f"the definition cannot be followed: {type(error).__name__}: {said}"
            ) from error


def _outputs(found: Any) -> list[Term]:
    values = list(found.values()) if isinstance(found, Mapping) else found
    if is_dataclass(values) and not isinstance(values, type):
        values = [getattr(values, f.name) for f in fields(values) if f.init]
    values = list(values) if isinstance(values, tuple | list) else [values]
    for value in values:
        if not (isinstance(value, Term | bool) or is_integer(value)):
            raise UnsupportedSyntax(f"the definition gives {type(value).__name__}, not an integer")
    return [_number(term_of(v)) for v in values]


def _number(term: Term) -> Term:
    return made("select", term, 1, 0) if term.is_condition else term


def _called(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """The function at values of its parameters; names that it uses and nobody defined are values,
    too."""
    target: Any = function
    if isinstance(function, FunctionType):
        names = {**values, **function.__globals__}
        target = FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, function.__closure__
        )
        target.__kwdefaults__ = function.__kwdefaults__
    if isinstance(function, Swizzle):
        target = function.with_sizes(_Change(values))
    positional, keywords = [], {}
    for name, p in inspect.signature(function).parameters.items():
        given = values.get(name, p.default)
        if members := {n: v for n, v in values.items() if n != name and whole(n) == name}:
            given = _grouped(function, p, members)
        elif name not in values and p.kind is not p.POSITIONAL_ONLY:
            continue
        if p.kind is not p.POSITIONAL_ONLY:
            keywords[name] = given
        elif given is not p.empty:
            positional.append(given)
    return target(*positional, **keywords)


def _grouped(function: Any, p: inspect.Parameter, members: Mapping[str, Any]) -> Any:
    """An array of the values of its elements, or a struct, of the class that the annotation names."""
    if f"{p.name}[0]" in members:
        return tuple(members[f"{p.name}[{k}]"] for k in range(len(members)))
    kind = _annotated(function, p.annotation)
    kind = kind.__origin__ if hasattr(kind, "__metadata__") else kind  # Annotated[..]
    if not isinstance(kind, type) or kind is p.empty:
        raise UnsupportedSyntax(
            f"the certificate is of another function: {p.name} is a struct in it, and here it is none"
        )
    return kind(**{name.partition(".")[2]: value for name, value in members.items()})


def _annotated(function: Any, note: Any) -> Any:
    """What an annotation of a function says; None for words that its module cannot read."""
    while isinstance(function, partial):
        function = function.func
    if not isinstance(function, FunctionType):
        function = getattr(function, "__func__", None) or vars(type(function)).get("__call__")
    if not isinstance(note, str) or not isinstance(function, FunctionType):
        return note
    holder = inspect.unwrap(function)
    try:
        return eval(note, {**holder.__globals__, **inspect.getclosurevars(holder).nonlocals})
    except Exception:
        return None


def where_masked(term: Term, number: int) -> Term:
    """It with a number for the -1 of its branches."""
    if term.op == "select":
        condition, then, other = term.args
        parts = (where_masked(part, number) for part in (then, other))
        return made("select", condition, *parts)
    return term_of(number) if term.constant == -1 else term


def name_of(subject: Any) -> str:
    """What a function is called, else of what type it is."""
    return getattr(subject, "__name__", type(subject).__name__)


@dataclass(frozen=True)
class _Change:
    """Puts terms into a layout whose sizes are symbols."""

    sizes: Mapping[str, Any]

    def size(self, n: Any) -> Any:
        """A size in terms: a number, or a symbol of this name."""
        if is_integer(n):
            return n
        value = self.sizes.get(str(n))
        if value is None and str(n).isidentifier():
            raise UnsupportedSyntax(
                f"the certificate is of another layout: it has no size {n}, and the layout that is given has"
            )
        if value is None:
            raise UnsupportedSyntax(
                f"the size {n} is no single symbol: write the layout as a function of its sizes"
            )
        return value

    def function(self, f: Any) -> Any:
        """A GenP's function that reads a symbol beside its arguments cannot be given another one."""
        return f

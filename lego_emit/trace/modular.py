"""A function whose arithmetic wraps, on integers: what it means, by a class of numbers of its own.

Nothing of how such a function is followed with symbols, or lowered, is used here: emitted programs are
compared with this.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, ClassVar

from ..algebra.block import Block
from ..errors import TargetError, TraceError
from .definition import POINTS, Values
from .follow import TraceOptions
from .helpers import Helpers
from .signature import Signature

WRAPS = ("uint32", "uint64")


class Modular(int):
    """An integer modulo a power of two, the same after every operation. What it meets is taken modulo the
    same number first; a comparison gives 0 or 1 of the same kind."""

    modulus: ClassVar[int]

    def __new__(cls, value: Any = 0) -> Modular:
        """The number that is congruent to an integer."""
        return super().__new__(cls, value.__index__() % cls.modulus)

    def __pow__(self, exponent: Any, modulo: Any = None) -> Any:
        if modulo is not None:
            return NotImplemented
        return type(self)(pow(int(self), int(exponent), self.modulus))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return type(self)(other).__divmod__(self)

    def __lshift__(self, other: Any) -> Any:
        return type(self)(int(self) * 2 ** _distance(other))

    def __rshift__(self, other: Any) -> Any:
        return type(self)(int(self) // 2 ** _distance(other))

    def __rlshift__(self, other: Any) -> Any:
        return type(self)(other) << self

    def __rrshift__(self, other: Any) -> Any:
        return type(self)(other) >> self

    def __neg__(self) -> Any:
        return type(self)(self.modulus - int(self))

    def __invert__(self) -> Any:
        return type(self)(self.modulus - 1 - int(self))

    def __pos__(self) -> Any:
        return self

    __abs__ = __pos__
    __hash__ = int.__hash__


def _distance(given: Any) -> int:
    if given < 0:
        raise ValueError("negative shift count")
    return min(int(given), 200)


def _binary(name: str) -> Callable[[Any, Any], Any]:
    plain = getattr(int, name)

    def made(self: Modular, other: Any) -> Any:
        if not hasattr(other, "__index__"):
            return NotImplemented
        return type(self)(plain(int(self), other.__index__() % self.modulus))

    return made


for _name in (
    *"add radd sub rsub mul rmul floordiv rfloordiv mod rmod and rand or ror xor rxor".split(),
    *"lt le gt ge eq ne".split(),
):
    setattr(Modular, f"__{_name}__", _binary(f"__{_name}__"))


def kind(most: int) -> type[Modular]:
    """The class of the integers modulo most + 1."""
    return type("Modular", (Modular,), {"modulus": most + 1})


class Wrapped:
    """A user's function, whose arithmetic wraps at most + 1, as what emitted functions are compared with."""

    is_total = stays_small = False
    points = POINTS

    def __init__(
        self, fn: Any, most: int, name: str = "", sizes: Values | None = None, words: Any = None
    ):
        """name: in messages; sizes: numbers of parameters that values leave out; words: what it was
        followed with."""
        self.words = words
        self.fn, self.kind, self._sizes = fn, kind(most), dict(sizes or {})
        self.name = self.__name__ = name or getattr(fn, "__name__", type(fn).__name__)
        self.__signature__ = inspect.signature(fn)
        self.__func__ = fn  # which has the annotations

    @property
    def shows_symbols(self) -> bool:
        """Whether it made text of a symbol when it was followed."""
        return self.words is not None and self.words.shown

    def __call__(self, values: Values) -> Any:
        """The results at values of the parameters, and of names that it uses and nobody defined. Raises
        what it raises."""
        known = {n: self.kind(v) for n, v in {**self._sizes, **values}.items()}
        signature, target = Signature(self.fn), self.fn
        if isinstance(target, FunctionType):
            own = {"min": self._min, "max": self._max}
            helpers = Helpers(own, _copied)
            names = {**own, **known, **target.__globals__, **helpers.named_in(target)}
            target = _copied(target, target.__code__, names, helpers.cells(target))
        positional, keywords = signature.arguments(known)
        result = target(*positional, **keywords)
        if signature.result is not None and not isinstance(result, Mapping):
            result = signature.result.split(result)
        return self._results(result)

    def _results(self, result: Any) -> Any:
        if isinstance(result, Mapping):
            return {n: self._results(v) for n, v in result.items()}
        if isinstance(result, tuple | list):
            return tuple(map(self._results, result))
        return int(self.kind(result))

    def _min(self, *values: Any) -> Any:
        return builtins.min(self._alike(values))

    def _max(self, *values: Any) -> Any:
        return builtins.max(self._alike(values))

    def _alike(self, values: Sequence[Any]) -> list[Any]:
        """Of numbers that no parameter is among, Python's own."""
        found = [*values[0]] if len(values) == 1 else [*values]
        return [*map(self.kind, found)] if any(isinstance(v, Modular) for v in found) else found


def _copied(function: FunctionType, code: Any, names: Any, cells: Any) -> FunctionType:
    made = FunctionType(code, names, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


# -- what generate() is given --------------------------------------------------------------------


def checked(subject: Any, known: TraceOptions, options: Any, printer: Any) -> TraceOptions:
    """What is said of a subject beforehand, with the number that its arithmetic wraps at. options: of
    generate(). Raises TargetError for a type or a language that does not wrap, and TraceError for what has
    no form where arithmetic wraps."""
    (index_type,) = options.index_type or [None]
    most = _most(index_type)
    if index_type not in printer.wrapping:
        raise TargetError(
            f"{printer.title} has no arithmetic of {index_type} here that wraps; leave out wrapping, or "
            "take & of what may be too large"
        )
    others = {
        "base": options.base, "rewrite": options.rewrite, "view": options.view, "index": options.index
    }  # fmt: skip
    for name, value in others.items():
        if value:
            raise TraceError(f"wrapping does not go together with {name}; leave out one of them")
    for one in _each(subject):
        if isinstance(one, Block) or not callable(one):
            raise TraceError(
                "wrapping is for functions of integers, not for layouts, whose indices never wrap, and not "
                "for expressions; write def f(x, y): return .., or leave out wrapping"
            )
    return replace(known, most=most)


def _most(index_type: str | None) -> int:
    """The greatest number of an index type. Raises TargetError for one that does not wrap."""
    if index_type not in WRAPS:
        raise TargetError(
            f"wrapping is modulo 2**32 or 2**64, and index_type is {index_type}; give "
            f"index_type='{WRAPS[0]}' or '{WRAPS[1]}'"
        )
    return 2 ** int(index_type.removeprefix("uint")) - 1


def references(subject: Any, index_types: Sequence[str | None], are_several: bool) -> Any:
    """What emitted functions are compared with; a list of them of several subjects. Raises TargetError for
    several index types."""
    if len(index_types) > 1:
        raise TargetError("wrapping is modulo one number: give one index_type, uint32 or uint64")
    most = _most(index_types[0])
    found = [Wrapped(one, most) for one in _each(subject)]
    return found if are_several else found[0]


def _each(subject: Any) -> list[Any]:
    if isinstance(subject, Mapping):
        return [*subject.values()]
    return [*subject] if isinstance(subject, list | tuple) else [subject]

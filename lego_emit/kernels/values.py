"""What a template computes with: names, positions of layouts, arithmetic of both.

A value is not an expression but the way to make one: all of a placeholder is evaluated together, while
a trace runs, so that what its layouts say of its names is known when it is simplified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Protocol

from ..algebra.block import Block
from ..arith.context import bound
from ..emit.printer import Printer
from ..errors import LegoError, TemplateError, short_repr
from ..numeric import is_integer
from ..trace.walks import step_between

MOST = 2**20  # the greatest alignment that is looked for


class Kernel(Protocol):
    """What values ask of the rendering that they belong to. arch: the GPU that is said, as sm_90a;
    assumptions: what is printed rests on these."""

    printer: Printer
    assumptions: dict[str, None]
    arch: str | None

    def expression(self, value: Value) -> str:
        """A value as the language's text."""
        ...

    def value(self, given: Any) -> Value:
        """A value of what a template has given."""
        ...

    def declared(self, name: str, user: str) -> None:
        """Raises TemplateError unless the name is declared."""
        ...

    def moved(self, deltas: Mapping[str, Any]) -> AbstractContextManager[None]:
        """While the block runs, names are advanced by so much."""
        ...

    def functions(self, layout: Block, name: str) -> str:
        """The index functions of a layout under this name, as the language's text."""
        ...

    def block(self, size: Value, axis: int, axes: int, whole: bool, vector: str = "") -> Value:
        """The numbers below a size, as one of so many axes; of a vector, its."""
        ...

    def unknown(self, name: str, size: Any) -> Value:
        """Any index below a size, for proofs."""
        ...

    def is_zero(self, value: Value) -> bool:
        """Whether a value is proven to be 0."""
        ...

    def doubts(self, position: Sequence[Value]) -> bool:
        """Whether a position may be none, so that in_bounds of its index asks for it."""
        ...


class Value:
    """An index expression. It prints as the language's text; Python's arithmetic makes others."""

    steps: tuple[
        Step, ...
    ] = ()  # what it is made of that must be the same for all values of a name

    def __init__(
        self,
        kernel: Kernel,
        make: Callable[[], Any],
        said: str,
        of: Iterable[Value] = (),
        layouts: tuple[Block, ...] = (),
        names: Iterable[str] = (),
    ):
        """of: the values that it is made of, by which layouts. names: the symbols that it brings in."""
        self.kernel, self.make, self.said = kernel, make, said
        of = [*of]
        self.made_of = dict.fromkeys(x for value in of for x in value.made_of)
        self.names = {*names}.union(*(value.names for value in of))
        self.layouts = dict.fromkeys(x for value in of for x in value.layouts)
        self.layouts |= dict.fromkeys(layouts)
        self.rests_on = (*(x for value in of for x in value.rests_on), *layouts)
        self.holed = dict.fromkeys(x for value in of for x in value.holed)
        self.positions = dict.fromkeys(x for value in of for x in value.positions)

    tests: tuple[Value, ...] = ()  # conditions of indices that hold where it is used
    made_of: dict[Name, None]  # the declared names in it
    rests_on: tuple[
        Block | str, ...
    ]  # the layouts, numbers and texts that tell it from others of which the same is said
    holed: dict[str, None]  # the sizes in it of layouts that have more positions
    positions: dict[
        Any, None
    ]  # those that it is of the index of, which need not be any (placed.Held)

    def resting_on(self, made_from: Any) -> Any:
        """Itself, which what is said of it does not tell from others of its layouts: made_from does."""
        self.rests_on += (repr(made_from),)
        return self

    def __str__(self) -> str:
        return self.kernel.expression(self)

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raises TemplateError: an index expression is no function."""
        raise TemplateError(f"{self.said} is an index expression, and no function")

    def __repr__(self) -> str:
        return self.said

    def __hash__(self) -> int:
        return id(self)

    def _unknown(self, *_: Any) -> Any:
        raise LegoError(  # no ValueError: Jinja's filters take one as a 0
            f"{self.said} is known when the kernel runs, not when it is rendered: no {{% if %}}, loop "
            "or filter can ask for it"
        )

    __bool__ = __int__ = __float__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown

    def step(self, **deltas: Any) -> Value:
        """How far it moves where names advance, step(k=1). Where one name advances by 1 that may be a choice by the
        tiles that it crosses; else rendering it fails unless it is the same for all values of these names."""
        for name in deltas:
            self.kernel.declared(name, "step()")

        def moved() -> Any:
            here = self.make()
            with self.kernel.moved(deltas):
                there = self.make()
            chosen = step_between(here, *deltas) if [*deltas.values()] == [1] else None
            if chosen is None:  # as at integers
                return bound(there) - bound(here)
            made.is_chosen = True
            return chosen

        said = f"{self.said}.step({', '.join(f'{n}={d!r}' for n, d in deltas.items())})"
        made = Step(self, moved, said, tuple(deltas))
        return made

    def alignment(self) -> int:
        """The greatest power of two, up to 2**20, that is proven to divide it. A name may be a pointer: it stands for
        its address in bytes, of which {% assume "a % 16 == 0" %} says what Triton's tl.multiple_of takes."""
        found = 1
        while found < MOST and self.kernel.is_zero(self % (2 * found)):
            found *= 2
        return found

    def _with(self, other: Any, text: str, compute: Callable[[Any, Any], Any]) -> Value:
        other = self.kernel.value(other)
        said = text.format(self.said, other.said)
        both = (self, other)
        made = Value(self.kernel, lambda: compute(self.make(), other.make()), f"({said})", both)
        made.steps = self.steps + other.steps
        return made

    def __add__(self, other: Any) -> Value:
        return self._with(other, "{} + {}", lambda a, b: a + b)

    def __radd__(self, other: Any) -> Value:
        return self._with(other, "{1} + {0}", lambda a, b: b + a)

    def __sub__(self, other: Any) -> Value:
        return self._with(other, "{} - {}", lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Value:
        return self._with(other, "{1} - {0}", lambda a, b: b - a)

    def __mul__(self, other: Any) -> Value:
        return self._with(other, "{} * {}", lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Value:
        return self._with(other, "{1} * {0}", lambda a, b: b * a)

    def __floordiv__(self, other: Any) -> Value:
        return self._with(other, "{} // {}", lambda a, b: bound(a) // b)

    def __rfloordiv__(self, other: Any) -> Value:
        return self._with(other, "{1} // {0}", lambda a, b: bound(b) // a)

    def __mod__(self, other: Any) -> Value:
        return self._with(other, "{} % {}", lambda a, b: bound(a) % b)

    def __rmod__(self, other: Any) -> Value:
        return self._with(other, "{1} % {0}", lambda a, b: bound(b) % a)

    def __neg__(self) -> Value:
        return 0 - self


class Name(Value):
    """A name of the kernel's own, as it was declared once."""

    def __init__(self, kernel: Kernel, make: Callable[[], Any], said: str):
        super().__init__(kernel, make, said, names=[said])
        self.made_of = {self: None}


class Step(Value):
    """How far a value moves, which the names that advance must not change."""

    def __init__(self, of: Value, make: Callable[[], Any], said: str, names: tuple[str, ...]):
        """of: the value that moves; names: those that advance."""
        super().__init__(of.kernel, make, said, [of])
        self.of, self.names, self.steps = of, names, (self,)
        self.is_chosen = False  # it is a choice by tiles that are crossed, known once it is made


class Test(Value):
    """A condition: 1 where it holds, else 0, and printed as the condition."""


def _compared(compare: Callable[[Any, Any], bool]) -> Any:
    """A comparison of numbers."""

    def method(self: Number, other: Any) -> Any:
        if isinstance(other, Number):
            other = int(other)
        return NotImplemented if isinstance(other, Value) else compare(int(self), other)

    return method


class Number(Value):
    """A value that is known when the kernel is rendered: Jinja can count with it."""

    def __init__(self, kernel: Kernel, number: int, said: str):
        super().__init__(kernel, lambda: number, said)
        self._number, self.rests_on = number, (str(number),)

    def __index__(self) -> int:
        return self._number

    __int__ = __index__

    def __float__(self) -> float:
        return float(self._number)

    def __bool__(self) -> bool:
        return bool(self._number)

    def __hash__(self) -> int:
        return hash(self._number)

    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = map(_compared, (eq, ne, lt, le, gt, ge))

    def _with(self, other: Any, text: str, compute: Callable[[Any, Any], Any]) -> Value:
        if not is_integer(other) and not isinstance(other, Number):
            return super()._with(other, text, compute)
        found = bound(compute(self._number, int(other))).constant
        made = Number(self.kernel, int(found or 0), f"({text.format(self.said, other)})")
        made.holed = self.holed | (other.holed if isinstance(other, Number) else {})
        return made


class Size(Value):
    """How many of something there are, of sizes that are symbols: in a type of MLIR it is not said."""


class Several(tuple[Value, ...]):
    """The values of something that has several, which are printed one by one."""

    def __new__(cls, values: Iterable[Value], said: str) -> Several:
        """said: what has them."""
        made = super().__new__(cls, values)
        made.said = said
        return made

    said: str

    def __str__(self) -> str:
        raise TemplateError(f"{self.said} has {len(self)} values: write {self.said}[0]")


def values_of(found: Any) -> Iterator[Value]:
    """The values of one, or of a tuple."""
    for one in found if isinstance(found, list | tuple) else (found,):
        if not isinstance(one, Value):
            raise TemplateError(f"{short_repr(one)} is not an index expression")
        yield one

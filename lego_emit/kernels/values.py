"""What a template computes with: names, positions of layouts, arithmetic of both.

A value is not an expression but the way to make one: all of a placeholder is evaluated together, while
a trace runs, so that what its layouts say of its names is known when it is simplified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..algebra.bijection import symbols_in
from ..algebra.block import Block
from ..arith.expr import Expr, select
from ..errors import LegoError, TemplateError, nearest, shown
from ..kinds import is_symbolic
from ..trace.learn import learn_layout, product_of


class Kernel(Protocol):
    """What values ask of the rendering that they belong to."""

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
        """A layout's functions."""
        ...


class Value:
    """An index expression. It prints as the language's text; Python's arithmetic makes others."""

    steps: tuple[
        Step, ...
    ] = ()  # what it is made of that must be the same for all values of a name

    def __init__(self, kernel: Kernel, make: Callable[[], Any], said: str):
        self.kernel, self.make, self.said = kernel, make, said

    def __str__(self) -> str:
        return self.kernel.expression(self)

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
        """How far it moves where names advance, step(k=1). Rendering it fails unless that is the same
        for all values of these names."""
        for name in deltas:
            self.kernel.declared(name, "step()")

        def moved() -> Any:
            with self.kernel.moved(deltas):
                there = self.make()
            return Expr.of(there) - Expr.of(self.make())

        said = f"{self.said}.step({', '.join(f'{n}={d!r}' for n, d in deltas.items())})"
        return Step(self, moved, said, tuple(deltas))

    def _with(self, other: Any, text: str, compute: Callable[[Any, Any], Any]) -> Value:
        other = self.kernel.value(other)
        said = text.format(self.said, other.said)
        made = Value(self.kernel, lambda: compute(self.make(), other.make()), f"({said})")
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
        return self._with(other, "{} // {}", lambda a, b: Expr.of(a) // b)

    def __rfloordiv__(self, other: Any) -> Value:
        return self._with(other, "{1} // {0}", lambda a, b: Expr.of(b) // a)

    def __mod__(self, other: Any) -> Value:
        return self._with(other, "{} % {}", lambda a, b: Expr.of(a) % b)

    def __rmod__(self, other: Any) -> Value:
        return self._with(other, "{1} % {0}", lambda a, b: Expr.of(b) % a)

    def __neg__(self) -> Value:
        return 0 - self


class Step(Value):
    """How far a value moves, which the names that advance must not change."""

    def __init__(self, of: Value, make: Callable[[], Any], said: str, names: tuple[str, ...]):
        """of: what moves."""
        super().__init__(of.kernel, make, said)
        self.of, self.names, self.steps = of, names, (self,)


class Test(Value):
    """A condition: 1 where it holds, else 0, and printed as the condition."""


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


class Placed:
    """A layout as a template sees it: A[i, j], A.apply(..), A.inv(..), A.size and so on."""

    def __init__(self, kernel: Kernel, layout: Block, name: str):
        self._kernel, self._layout, self._name = kernel, layout, name

    def __getitem__(self, key: Any) -> Any:
        return self.apply(*(key if isinstance(key, tuple) else (key,)))

    def apply(self, *indices: Any) -> Any:
        """The position of an index: names, numbers, expressions of them, or text of the kernel's own
        language. A tuple where the layout has several results."""
        given = [self._kernel.value(i) for i in indices]
        wanted = len(self._layout.dims)
        if len(given) != wanted:
            raise TemplateError(
                f"{self._name} takes {wanted} {'index' if wanted == 1 else 'indices'}, {len(given)} "
                "given"
            )
        said = f"{self._name}[{', '.join(v.said for v in given)}]"

        def make() -> Any:
            return self._layout.apply(*(Expr.of(v.make()) for v in given))

        results = self._layout.results
        if results is None:
            return Value(self._kernel, make, said)
        return self._several(make, said, len(results))

    def inv(self, *position: Any) -> Several:
        """The index of a position, a value for each of the layout's dims."""
        given = [self._kernel.value(p) for p in position]
        wanted = len(self._layout.results or ("flat",))
        if len(given) != wanted:
            raise TemplateError(f"{self._name}.inv takes {wanted}, {len(given)} given")
        said = f"{self._name}.inv({', '.join(v.said for v in given)})"

        def make() -> Any:
            return self._layout.inv(*(Expr.of(v.make()) for v in given))

        return self._several(make, said, len(self._layout.dims))

    def in_bounds(self, *indices: Any) -> Value:
        """Whether each index lies in 0..n - 1: a condition."""
        given = [self._kernel.value(i) for i in indices]
        if len(given) != len(self._layout.dims):
            raise TemplateError(
                f"{self._name}.in_bounds takes {len(self._layout.dims)} indices, {len(given)} given"
            )

        def make() -> Any:
            found: Any = True
            for value, n in zip(given, self._layout.dims, strict=True):
                i = Expr.of(value.make())
                found = found & (i >= 0) & (i < n) if found is not True else (i >= 0) & (i < n)
            return select(found, 1, 0)

        said = f"{self._name}.in_bounds({', '.join(v.said for v in given)})"
        return Test(self._kernel, make, said)

    def mask(self, *indices: Any) -> Value:
        """Whether an index has a position, of a layout that masks: a condition."""
        if not self._layout.masks:
            raise TemplateError(f"{self._name}.mask(): {self._layout!r} masks nothing")
        position = self.apply(*indices)
        return Test(
            self._kernel, lambda: select(position.make() >= 0, 1, 0), f"{position.said} is there"
        )

    @property
    def size(self) -> Value:
        """How many indices there are."""
        return self._number(self._layout.dims, "size")

    @property
    def physical_size(self) -> Value:
        """How many positions there are."""
        return self._number(self._layout.physical_dims, "physical_size")

    @property
    def dims(self) -> Several:
        """The sizes of the index."""
        found = (self._number((n,), f"dims[{k}]") for k, n in enumerate(self._layout.dims))
        return Several(found, f"{self._name}.dims")

    def _number(self, sizes: Sequence[Any], said: str) -> Value:
        def make() -> Any:
            learn_layout(self._layout)
            return product_of(sizes)

        return Value(self._kernel, make, f"{self._name}.{said}")

    @property
    def functions(self) -> str:
        """The whole functions, NAME_apply and NAME_inv, as a file of the language has them."""
        return self._kernel.functions(self._layout, self._name)

    def _several(self, make: Callable[[], Any], said: str, count: int) -> Several:
        def one(k: int) -> Callable[[], Any]:
            return lambda: make()[k]

        found = (Value(self._kernel, one(k), f"{said}[{k}]") for k in range(count))
        return Several(found, said)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise TemplateError(f"{self._name} has no {name!r}.{nearest(name, PLACED)}")

    def __repr__(self) -> str:
        return f"{self._name} = {self._layout!r}"

    def __str__(self) -> str:
        raise TemplateError(
            f"{self._name} is a layout, and no index; write {self._name}[..], or "
            f"{self._name}.functions for whole functions"
        )


PLACED = [name for name in vars(Placed) if not name.startswith("_")]


def placed(kernel: Kernel, name: str, value: Any) -> Any:
    """What a template sees of a value of its context: layouts and functions of indices give values;
    symbols are names; all others stay."""
    if isinstance(value, Block):
        return Placed(kernel, value, name)
    if is_symbolic(value):
        return Value(kernel, lambda: Expr.of(value), repr(value))
    if callable(value) and not isinstance(value, type):

        def called(*arguments: Any) -> Value:
            given = [kernel.value(a) for a in arguments]
            said = f"{name}({', '.join(v.said for v in given)})"
            return Value(kernel, lambda: value(*(Expr.of(v.make()) for v in given)), said)

        return called
    return value


def sizes_of(value: Any) -> list[str]:
    """The names of the symbols that a layout or a function of indices holds."""
    held: Sequence[Any] = ()
    if isinstance(value, Block):
        held = (*value.sizes(), *value.offsets())
    elif callable(value) or is_symbolic(value):
        held = symbols_in(value)
    return [name for n in held for name in Expr.of(n).symbols()]


def values_of(found: Any) -> Iterator[Value]:
    """The values of one, or of a tuple."""
    for one in found if isinstance(found, list | tuple) else (found,):
        if not isinstance(one, Value):
            raise TemplateError(f"{shown(one)} is no index expression")
        yield one

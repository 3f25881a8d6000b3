"""What a layout's methods do by stages that come after the algebra: their one, typed, interface.

The algebra imports no later stage, not even lazily: the checker of certificates calls the same
classes, and it shares nothing with the arithmetic that makes the text. So a method such as show() is
declared by its block, and lego_emit/methods.py, which stands above the stages and imports them, says
what it does. Nothing else is asked for this way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from ..errors import InternalError


class Symbols(Protocol):
    """What is done with layouts where an index or a size is a symbol."""

    def apply(self, block: Any, indices: Sequence[Any]) -> Any:
        """The position of an index, as Block.apply gives it."""
        ...

    def inv(self, block: Any, flat: Any) -> tuple[Any, ...]:
        """The index of a position, as Block.inv gives it."""
        ...

    def getitem(self, block: Any, indices: Sequence[Any]) -> Any:
        """block[indices], of which some may be slices."""
        ...

    def is_following(self) -> bool:
        """Whether a function is being followed, in which a ':' stands for an index of its caller."""
        ...

    def coordinate(self, value: Any, size: Any) -> None:
        """A function that is being followed takes a symbol for a coordinate: it is at least 0, and
        below a size that is not None."""
        ...

    def at_sympy(self, function: Callable[[Any], Any], value: Any) -> Any:
        """A function of integers at a SymPy expression."""
        ...

    def swizzled(self, swizzle: Any, position: Any) -> Any:
        """Where a swizzle of symbols takes a position."""
        ...


class Methods(Symbols, Protocol):
    """What a layout's methods ask of later stages."""

    def at_most(self, a: Any, b: Any) -> bool | None:
        """Whether a <= b, each symbol a size; None where that is not known."""
        ...

    def in_bounds(self, layout: Any, indices: Sequence[Any]) -> Any:
        """Whether an index holds an element."""
        ...

    def pack(self, layout: Any, x: Any, of: Any, fill: Any, out: Any, engine: Any) -> Any:
        """The memory that holds an array's elements."""
        ...

    def unpack(self, layout: Any, m: Any, of: Any, fill: Any, copy: Any) -> Any:
        """The array whose elements a memory holds."""
        ...

    def plan(self, layout: Any, x: Any, of: Any) -> str:
        """How pack would move an array."""
        ...

    def recognized(self, table: Any, dims: Sequence[Any]) -> Any:
        """The layout of a table of positions, where one is found."""
        ...

    def composed(self, outer: Any, inner: Any) -> Any:
        """outer @ inner; the caller's caller is warned where that is not what it seems."""
        ...

    def inverse(self, layout: Any) -> Any:
        """The layout from positions to indices."""
        ...

    def step(self, layout: Any, by: Any) -> Any:
        """The next position along an axis."""
        ...

    def to_cute(self, layout: Any) -> Any:
        """The strided layout of the same map."""
        ...

    def right_inverse(self, layout: Any) -> Any:
        """A layout R with layout(R(k)) == k for each k below its own size, as CuTe's right_inverse."""
        ...

    def left_inverse(self, layout: Any) -> Any:
        """A layout L with L(layout(k)) == k for each k below its size, as CuTe's left_inverse."""
        ...

    def logical_product(self, layout: Any, tiler: Any) -> Any:
        """The layout repeated in the pattern of a tiler, as CuTe's logical_product."""
        ...

    def picture(self, layout: Any, **options: Any) -> Any:
        """The picture that Block.show() returns, drawn with its options."""
        ...

    def notebook(self, layout: Any) -> str:
        """A picture as HTML, or the expression."""
        ...

    def affine_map(self, layout: Any) -> Any:
        """The affine map of apply."""
        ...

    def check(self, layout: Any, sizes: Mapping[str, int]) -> str:
        """The result of Block.check() for these sizes: what was checked, as text."""
        ...


_methods: Methods | None = None
_symbols: ContextVar[Symbols | None] = ContextVar("lego_emit_symbols", default=None)


def use(methods: Methods) -> None:
    """Let the layouts' methods do what these do: called once, as lego_emit is imported."""
    global _methods
    _methods = methods


def later() -> Methods:
    """What was given to use()."""
    if _methods is None:
        raise InternalError("the methods of layouts were asked for before lego_emit was imported")
    return _methods


def symbols() -> Symbols:
    """Who is asked about symbols: the trace, or who evaluates the definition over its own."""
    return _symbols.get() or later()


@contextmanager
def over(own: Symbols) -> Iterator[None]:
    """While inside, layouts are evaluated over these symbols."""
    token = _symbols.set(own)
    try:
        yield
    finally:
        _symbols.reset(token)

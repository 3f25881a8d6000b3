"""The block that a user's functions make: GenP, any permutation of one tile (Figs. 3, 4 and 7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from ..errors import LayoutError, LazyText, a_type, short_repr
from ..numeric import is_array, is_integer, is_symbolic
from . import bijection
from .block import Change, Indexable, Numbers
from .later import symbols
from .paper_definitions import reference_ravel
from .sizes import check_sizes, comparable, listed


class OfFunctions(Indexable):
    """A block that two functions of a user make, kept as apply_function and inv_function."""

    apply_function: Callable[..., Any]
    inv_function: Any  # Callable[[Any], Any], or None of a GenP

    def offsets(self) -> tuple[Any, ...]:
        """The symbols that its functions hold."""
        return self._held

    @cached_property
    def _held(self) -> tuple[Any, ...]:
        return bijection.symbols_in(self.apply_function, self.inv_function)

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """Its apply at an index."""
        return numbers.called(self, index)

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """Its inv at a flat position."""
        return numbers.called_back(self, flat)

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.sizes()), self.apply_function, self.inv_function


@dataclass(frozen=True, repr=False, eq=False, init=False)
class GenP(OfFunctions):
    """General permutation of a tile's elements by a user's functions (Figs. 3, 4 and 7).

    dims: the tile's sizes. apply(*index) gives the flat position. inv(flat) gives the index: a
    tuple, or for a tile of one dimension also a plain int. inv=None marks an injective or
    many-to-one map (section III-D). sizes: symbols that the functions hold and that are sizes, too: at
    least 1; of others nothing is known.

    The functions are kept as apply_function and inv_function. They are plain Python, may use `if`
    and lego_emit.isqrt, and are called with Python ints or symbols, never with arrays.

    Raises LayoutError with a counterexample when dims are integers and the functions are no
    bijection: every position is tried up to 65536 of them, else the corners and 4096 others.

        >>> from lego_emit import GenP, GroupBy
        >>> turned = GenP([3, 3], lambda i, j: 3 * j + i, lambda p: (p % 3, p // 3))
        >>> GroupBy([3, 3]).OrderBy(turned).apply(0, 2)
        6
    """

    dims: tuple[Any, ...]
    apply_function: Callable[..., Any]
    inv_function: Callable[[Any], Any] | None
    own_sizes: tuple[Any, ...]

    def __init__(
        self,
        dims: Sequence[Any],
        apply: Callable[..., Any],
        inv: Callable[[Any], Any] | None = None,
        *,
        sizes: Sequence[Any] = (),
    ):
        construct = LazyText("GenP({}, ..)", dims)
        object.__setattr__(self, "dims", check_sizes(dims, construct))
        own = check_sizes(sizes, f"{construct}, sizes") if sizes else ()
        object.__setattr__(self, "own_sizes", own)
        for name, given in (("apply", apply), ("inv", inv)):
            if not callable(given) and not (name == "inv" and given is None):
                raise LayoutError(f"{construct}: {name} is {short_repr(given)}; give a function")
            try:
                hash(given)
            except TypeError:
                raise LayoutError(
                    f"{construct}: {name} is {short_repr(given)}, which cannot be hashed; blocks are "
                    "values: give a function, or freeze the class (dataclass(frozen=True))"
                ) from None
        object.__setattr__(self, "apply_function", apply)
        object.__setattr__(self, "inv_function", inv)
        if self.is_concrete:
            bijection.check(self)

    def sizes(self) -> tuple[Any, ...]:
        """The tile's, and those that its functions hold."""
        return self.dims + self.own_sizes

    @property
    def has_inverse(self) -> bool:
        """Whether it was given an inv."""
        return self.inv_function is not None

    @property
    def is_one_way(self) -> bool:
        """Whether it was given no inv."""
        return self.inv_function is None

    def with_sizes(self, new: Change) -> GenP:
        """The same functions over other sizes."""
        functions = map(new.function, (self.apply_function, self.inv_function))
        own = [new.size(n) for n in self.own_sizes]
        return GenP([new.size(n) for n in self.dims], *functions, sizes=own)

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """Its apply on numbers, one index after the other or from a table."""
        return genp_apply(self, index)

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """Its inv on numbers, likewise."""
        return genp_inv(self, flat)

    def __repr__(self) -> str:
        names = [function_name(self.apply_function)]
        if self.inv_function is not None:
            names.append(function_name(self.inv_function))
        if self.own_sizes:
            names.append(f"sizes=[{listed(self.own_sizes)}]")
        return f"GenP([{listed(self.dims)}], {', '.join(names)})"


def isqrt(x: Any) -> Any:
    """Exact integer square root, rounded down: of an integer, of a NumPy integer array (an int64
    array), or of a symbolic value. For use in GenP's functions.

    Raises LayoutError on a negative or non-integer x.

        >>> from lego_emit import isqrt
        >>> isqrt(17)
        4
    """
    kind = type(x)
    if kind is int and x >= 0:  # without questions: it is asked once for each position
        return math.isqrt(x)
    if is_symbolic(x):
        return x.isqrt() if hasattr(x, "isqrt") else symbols().at_sympy(isqrt, x)
    if is_integer(x):
        if x < 0:
            raise LayoutError(
                f"isqrt({short_repr(x)}): only a non-negative integer has a square root"
            )
        return math.isqrt(int(x))
    if is_array(x) and x.dtype.kind in "iu":
        from .reference import isqrt_array

        return isqrt_array(x)
    raise LayoutError(f"isqrt({short_repr(x)}): give an integer, not {a_type(x)}")


def of_operators(function: Callable[..., Any]) -> Callable[..., Any]:
    """A GenP's function that is made of integer operators alone, marked so: it takes arrays, too."""
    function.takes_arrays = True  # type: ignore[attr-defined]
    return function


def takes_arrays(function: Any) -> bool:
    """Whether a GenP's function is marked so, or some of its parameters are given (functools.partial)."""
    return getattr(getattr(function, "func", function), "takes_arrays", False) is True


def function_name(function: Callable[..., Any]) -> str:
    """A function as messages name it."""
    if isinstance(function, partial) and not hasattr(function, "__name__"):
        keywords = [f"{name}={value!r}" for name, value in function.keywords.items()]
        given = [function_name(function.func), *map(repr, function.args), *keywords]
        return f"partial({', '.join(given)})"
    return getattr(function, "__name__", None) or repr(function)


def genp_apply(genp: Any, index: tuple[Any, ...]) -> Any:
    """A GenP's position of an index."""
    if any(map(is_symbolic, index)):
        return genp.apply_function(*index)
    if not is_array(index[0]):
        return bijection.call_apply(genp, index)
    from .genp_tables import apply_each

    return apply_each(genp, reference_ravel(genp.dims, index))


def genp_inv(genp: Any, flat: Any) -> tuple[Any, ...]:
    """A GenP's index of a position."""
    if is_symbolic(flat):
        found = genp.inv_function(flat)
        return tuple(found) if isinstance(found, tuple | list) else (found,)
    if not is_array(flat):
        return bijection.call_inv(genp, flat)
    from .genp_tables import inv_each

    return inv_each(genp, flat, genp.size)

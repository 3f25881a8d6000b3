"""What the functions of lego_emit.cute are given: layouts, tensors, shapes and numbers, each checked
before anything is done with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from ..algebra.block import Block
from ..algebra.nested import checked, is_too_deep, is_tuple
from ..algebra.strided import Strided, Swizzled
from ..errors import LONGEST, LayoutError, short_repr
from ..numeric import is_integer
from .coordinates import Coordinates
from .reading import layout, tiler

P = ParamSpec("P")


def as_layout(given: Any, construct: object) -> Strided:
    """What an operation takes for a strided layout: one, its text, or a shape. Raises LayoutError."""
    if isinstance(given, Strided):
        return given
    found = None if given is None or isinstance(given, Block) else layout(given)
    if not isinstance(found, Strided):
        raise LayoutError(
            f"{construct}: {short_repr(given)} is not a layout of a shape and strides; give a Strided, a "
            'text such as "(4,2):(2,1)", or a shape; to_cute() makes one of another block'
        )
    return found


def as_tensor(given: Any, construct: object) -> Strided | Swizzled | Coordinates:
    """What as_layout takes, or a layout that is swizzled or of coordinates. Raises LayoutError."""
    given = layout(given) if isinstance(given, str) else given
    return given if isinstance(given, Swizzled | Coordinates) else as_layout(given, construct)


def as_tiler(given: Any, construct: object) -> Any:
    """A layout, or a tuple of such things and None, one for each mode; or the text of either, as
    "<4:2, (2,2):(1,4)>". Raises LayoutError."""
    if isinstance(given, str):
        given = tiler(given)
    if not is_tuple(given):
        return None if given is None else as_layout(given, construct)
    if is_too_deep(given):
        raise LayoutError(f"{construct}: the tiler is nested too deep; give one part for each mode")
    return tuple(as_tiler(part, construct) for part in given)


def as_shape(given: Any, construct: object) -> Any:
    """A size or a nested tuple of sizes. Raises LayoutError."""
    return checked(given, construct, "shape", 1)


def as_count(given: Any, construct: object, what: str, least: int = 0) -> int:
    """An integer. Raises LayoutError where it is none, or less than least."""
    if not is_integer(given) or given < least or int(given).bit_length() > LONGEST:
        raise LayoutError(
            f"{construct}: {what} is {short_repr(given)}; give an integer, at least {least}"
        )
    return int(given)


def over(tensor: Any, change: Callable[[Strided], Strided], construct: object) -> Any:
    """What an operation on layouts makes of a tensor, swizzled or of coordinates as it may be."""
    tensor = as_tensor(tensor, construct)
    if isinstance(tensor, Coordinates):
        return tensor.over(change)
    if isinstance(tensor, Swizzled):
        return Swizzled(tensor.swizzle, change(tensor.layout))
    return change(tensor)


def of_tensors(
    operation: Callable[Concatenate[Strided, P], Strided],
) -> Callable[Concatenate[Any, P], Any]:
    """An operation that only renames the indices of its first layout, for tensors: a swizzle and
    coordinates come after it and stay."""

    @wraps(operation)
    def taken(tensor: Any, /, *rest: P.args, **options: P.kwargs) -> Any:
        return over(tensor, lambda a: operation(a, *rest, **options), f"{operation.__name__}(..)")

    return taken


def of_memory(
    operation: Callable[Concatenate[Strided, P], Strided],
) -> Callable[Concatenate[Any, P], Any]:
    """An operation that also makes new positions, for layouts that may be swizzled: the swizzle
    comes after it. Coordinates are refused."""
    taken = of_tensors(operation)

    @wraps(operation)
    def checked_first(block: Any, /, *rest: P.args, **options: P.kwargs) -> Any:
        if isinstance(block, Coordinates):
            as_layout(block, f"{operation.__name__}(..)")
        return taken(block, *rest, **options)

    return checked_first

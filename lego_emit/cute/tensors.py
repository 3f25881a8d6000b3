"""Operations on layouts, of tensors: what they make of a swizzled layout and of coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..algebra.strided import Strided, Swizzled
from .coordinates import Coordinates
from .making import as_layout, layout


def over(tensor: Any, change: Callable[[Strided], Strided], construct: str) -> Any:
    """What an operation on layouts makes of a tensor, swizzled or of coordinates as it may be."""
    tensor = layout(tensor) if isinstance(tensor, str) else tensor
    if isinstance(tensor, Coordinates):
        return tensor.over(change)
    if isinstance(tensor, Swizzled):
        return Swizzled(tensor.swizzle, change(tensor.layout))
    return change(as_layout(tensor, construct))


def of_tensors(operation: Callable[..., Strided]) -> Callable[..., Any]:
    """The operation, also of a swizzled layout and of coordinates in place of its first argument:
    what is done to positions stays."""

    @wraps(operation)
    def taken(a: Any, *given: Any, **options: Any) -> Any:
        construct = f"{operation.__name__}(..)"
        return over(a, lambda plain: operation(plain, *given, **options), construct)

    return taken

"""A user's function, called on plain integers or arrays of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from ..trace.calls import arguments


def missing(fn: Any, values: Mapping[str, Any]) -> list[str]:
    """The parameters that have neither a value nor a default."""
    parameters = inspect.signature(fn).parameters
    return [n for n, p in parameters.items() if p.default is p.empty and n not in values]


def called(fn: Any, values: Mapping[str, Any]) -> Any:
    """fn at values of its parameters; names that it uses and nobody defined are values, too. Raises
    whatever it raises."""
    target = fn
    if isinstance(fn, FunctionType):
        names = {**values, **fn.__globals__}
        target = FunctionType(fn.__code__, names, fn.__name__, fn.__defaults__, fn.__closure__)
        target.__kwdefaults__ = fn.__kwdefaults__
    positional, keywords = arguments(fn, values)
    return target(*positional, **keywords)

"""A user's function, called on plain integers or arrays of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import FunctionType
from typing import Any

from ..algebra.block import Block
from ..algebra.strided import Swizzle
from ..errors import LegoError
from ..trace.modular import Wrapped
from ..trace.numbered import Numbered
from ..trace.signature import Signature


def missing(fn: Any, values: Mapping[str, Any]) -> list[str]:
    """The parameters that have neither a value nor a default."""
    signature = Signature(fn)
    needed = (n for p in signature.taken(()) for n in signature.members(p))
    return [n for n in needed if n not in values]


def called(fn: Any, values: Mapping[str, Any]) -> Any:
    """fn at values of its parameters; names that it uses and nobody defined are values, too. Raises
    whatever it raises."""
    target = fn
    if isinstance(fn, Wrapped):
        return fn(values)
    if isinstance(fn, FunctionType):
        names = {**values, **fn.__globals__}
        target = FunctionType(fn.__code__, names, fn.__name__, fn.__defaults__, fn.__closure__)
        target.__kwdefaults__ = fn.__kwdefaults__
    if isinstance(fn, Swizzle):
        target = fn.with_sizes(Numbered(fn, values))
    signature = Signature(fn)
    positional, keywords = signature.arguments(values)
    result = target(*positional, **keywords)
    if signature.result is not None and not isinstance(result, Block | Mapping):
        return tuple(signature.result.split(result))
    return result


def _with_elements(fn: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values with the elements of arrays of any length that have none: each is the one before it."""
    found = {**values}
    groups = [] if isinstance(fn, Wrapped) else Signature(fn).groups.values()
    for group in (g for g in groups if g.open and g.names[0] in found):
        for before, name in pairwise(group.names):
            found.setdefault(name, found[before])
    return found


def called_at(
    fn: Any,
    values: Mapping[str, Any],
    point: Mapping[str, Any],
    name: str,
    described: Callable[[BaseException], str],
    kind: type[LegoError],
) -> Any:
    """fn at values and at a point, of which messages tell. name: of fn in messages; described: an
    exception of fn, for a message. Raises an error of this kind, from what fn raises."""
    known, way = _with_elements(fn, {**values, **point}), "or how far the index runs in domain"
    if names := missing(fn, known):
        raise kind(f"{name} takes {', '.join(names)}; give the table's numbers in sizes, {way}")
    try:
        return called(fn, known)
    except NameError as error:
        raise kind(f"{described(error)}; give its number in sizes, {way}") from error
    except (Exception, SystemExit) as error:
        where = f" at {', '.join(f'{n} = {v}' for n, v in point.items())}" if point else ""
        raise kind(f"{described(error)}{where}") from error

"""Layouts in einops' notation: "(h p) (w q) -> h w p q"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .algebra.layout import GroupBy
from .algebra.nested import compact, size_of
from .algebra.perms import RegP
from .algebra.strided import Strided
from .arith.expr import symbols
from .errors import LayoutError, LazyText, brief, did_you_mean, short_repr
from .numeric import is_integer, is_symbolic

ARROW = "->"
TOKEN = re.compile(r"\s*(?:([A-Za-z]\w*)|(1)(?!\w)|([()])|(\S+))")

Side = list[list[str]]  # the axes of a tensor, each of its elementary axes


@brief
def Pattern(pattern: str, **sizes: Any) -> Any:
    """The layout that einops.rearrange(x, pattern) reads x by: from an index of the result to the
    row-major position in x; with inv from the position to the index.

    An axis is a name, 1, or names in parentheses that are joined, the last the fastest. sizes: of
    names, numbers or symbols; a name without one is a symbol. A name on the right alone repeats, as
    in einops.repeat: then there is no inverse.

    Raises LayoutError on text that is no pattern, and where a name on the left is missing on the
    right, which would be a reduction.

        >>> from lego_emit import Pattern
        >>> patches = Pattern("(h p) (w q) -> h w p q", h=2, w=2, p=8, q=8)
        >>> patches.apply(1, 0, 0, 3)
        131
    """
    place = LazyText("Pattern({})", pattern)
    if not isinstance(pattern, str):
        raise LayoutError(f'{place}: give text such as "h w -> w h"')
    if pattern.count(ARROW) != 1:
        raise LayoutError(f'{place}: write "from -> to", with one {ARROW}')
    given, wanted = (_side(text, place) for text in pattern.split(ARROW))
    source, result = ([n for axis in side for n in axis] for side in (given, wanted))
    for names, what in ((source, "left"), (result, "right")):
        if twice := next((n for n in names if names.count(n) > 1), None):
            raise LayoutError(f"{place}: {twice} stands twice on the {what}")
    if missing := [n for n in source if n not in result]:
        raise LayoutError(
            f"{place}: {missing[0]} is on the left alone, which would reduce it; a layout moves "
            "elements, so that every axis on the left stands on the right"
        )
    known = _known(sizes, result, place)
    dims = [size_of(tuple(known[n] for n in axis)) for axis in wanted] or [1]
    if len(source) == len(result):
        elementary = [known[n] for n in result] or [1]
        return GroupBy(dims).OrderBy(RegP(elementary, [result.index(n) for n in source] or [0]))
    # Nested modes count the leftmost the fastest, an axis of a pattern the last.
    strides = dict(zip(source[::-1], compact(tuple(known[n] for n in source[::-1])), strict=True))
    shape = tuple(tuple(known[n] for n in axis[::-1]) or 1 for axis in wanted)
    steps = tuple(tuple(strides.get(n, 0) for n in axis[::-1]) or 0 for axis in wanted)
    return Strided(_single(shape), _single(steps))


def _single(modes: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(m[0] if isinstance(m, tuple) and len(m) == 1 else m for m in modes)


def _side(text: str, place: object) -> Side:
    """The axes of one side."""
    found: Side = []
    within: list[str] | None = None
    for name, one, bracket, other in _tokens(text):
        if other:
            hint = "; write the axes out" if other.startswith(("...", "…")) else ""
            raise LayoutError(
                f"{place}: {other!r} is not an axis; an axis is a name, 1, or names in parentheses{hint}"
            )
        if bracket == "(":
            if within is not None:
                raise LayoutError(f"{place}: parentheses within parentheses; join all names in one")
            within = []
            found.append(within)
        elif bracket == ")":
            if within is None:
                raise LayoutError(f"{place}: a ')' without its '('")
            within = None
        elif name and within is not None:
            within.append(name)
        elif within is None:
            found.append([name] if name else [])
        else:
            assert one  # of size 1 among others: nothing to say
    if within is not None:
        raise LayoutError(f"{place}: a '(' without its ')'")
    return found


def _tokens(text: str) -> Iterator[tuple[str, str, str, str]]:
    for match in TOKEN.finditer(text):
        name, one, bracket, other = (part or "" for part in match.groups())
        yield name, one, bracket, other


def _known(sizes: Mapping[str, Any], names: list[str], place: object) -> dict[str, Any]:
    """The size of every name."""
    for name, size in sizes.items():
        if name not in names:
            raise LayoutError(
                f"{place}: the size of {name}, which it does not name.{did_you_mean(name, names)}"
            )
        if not (is_symbolic(size) or (is_integer(size) and size >= 1)):
            raise LayoutError(
                f"{place}: {name} is {short_repr(size)}; a size is at least 1, or a symbol"
            )
    free = [n for n in names if n not in sizes]
    made = symbols(" ".join(free)) if free else ()
    made = made if isinstance(made, tuple | list) else (made,)
    return {**sizes, **dict(zip(free, made, strict=True))}

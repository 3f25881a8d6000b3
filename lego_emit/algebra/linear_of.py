"""A layout over F2 of a Python function, or of another layout, that is linear."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from ..errors import LayoutError, LazyText, short_repr
from ..numeric import is_integer
from . import f2
from .block import Block
from .labels import names_of, sizes_of, starts
from .slices import index_names

TRIED = 16  # bits up to which every input is tried, and of those that are tried else


def linear_of(make: Any, function: Any, ins: Mapping[str, int] | None, out: Any) -> Any:
    """What Linear.of gives. make: Linear itself."""
    said = getattr(function, "__name__", short_repr(function))
    if isinstance(function, Block):
        block, function, said = function, function.apply, repr(function)
        names = block.coordinates or index_names(len(block.dims))
        ins = dict(zip(names, block.dims, strict=True)) if ins is None else ins
        out = _results(block) if out is None else out
    place = LazyText("Linear.of({!s}, {})", said, ins)
    if not callable(function):
        raise LayoutError(f"{place}: give a function or a layout")
    if not ins:
        raise LayoutError(f"{place}: give the inputs' sizes by name")
    dims = sizes_of(place, ins, "input")
    names, widths = [n for n, _ in dims], [bits for _, bits in dims]
    _check_count(place, function, names)
    results = [*out] if isinstance(out, Mapping) else names_of(place, out or ())

    def at(x: int) -> tuple[int, ...]:
        index = _index(x, widths)
        found = function(*index)
        found = [*found.values()] if isinstance(found, Mapping) else found
        values: tuple[Any, ...] = tuple(found) if isinstance(found, tuple | list) else (found,)
        if not all(type(v) is int or isinstance(v, bool) or is_integer(v) for v in values):
            raise LayoutError(f"{place}: no integer at {_shown(names, index)}: {_bare(values)}")
        if any(v < 0 for v in values):
            raise LayoutError(f"{place}: negative at {_shown(names, index)}: {_bare(values)}")
        if results and len(values) != len(results):
            raise LayoutError(
                f"{place}: it gives {len(values)} results at {_shown(names, index)}, named are "
                f"{', '.join(map(str, results))}"
            )
        return tuple(map(int, values))

    first = at(0)
    if not results:
        results = [f"out{k}" for k in range(len(first))] if len(first) > 1 else ["out"]
    images = [
        tuple(a ^ b for a, b in zip(at(1 << k), first, strict=True)) for k in range(sum(widths))
    ]
    bases, start = {}, 0
    for name, width in zip(names, widths, strict=True):
        bases[name] = images[start : start + width]
        start += width
    sizes = out if isinstance(out, Mapping) else results
    made = make(bases, sizes, dict(zip(results, first, strict=True)))
    _check(place, made, at, names, widths)
    return made


def _check_count(place: object, function: Callable[..., Any], names: Sequence[str]) -> None:
    try:
        taken = inspect.signature(function)
    except ValueError:  # a built-in function may have none
        return
    try:
        taken.bind(*names)
    except TypeError as wrong:
        raise LayoutError(
            f"{place}: it does not take the {len(names)} inputs in order: {wrong}"
        ) from None


def _results(block: Block) -> Any:
    """The results of a layout with their sizes, where these are powers of two; else their names."""
    names, sizes = block.results or ("offset",), block.physical_dims
    sizes = sizes if block.results else (block.physical_size,)
    if block.is_bounded and all(is_integer(n) and n > 0 and not n & (n - 1) for n in sizes):
        return dict(zip(names, sizes, strict=True))
    return names


def _check(
    place: object,
    made: Any,
    at: Callable[[int], tuple[int, ...]],
    names: Sequence[str],
    widths: Sequence[int],
) -> None:
    bits, rng = sum(widths), Random(0)
    basis = [1 << k for k in range(bits)]
    if bits > TRIED:  # a space of so many dimensions, drawn at random
        basis = [rng.getrandbits(bits) for _ in range(TRIED)]
    numbers, wanted = [0], [made.start]
    for x in basis:
        image = f2.times(made.columns, x)
        numbers += [number ^ x for number in numbers]
        wanted += [other ^ image for other in wanted]
    parts = [*zip(starts(made.outs), made.physical_dims, strict=True)]
    for x, image in zip(numbers, wanted, strict=True):
        if at(x) != tuple([image >> first & size - 1 for first, size in parts]):
            raise LayoutError(
                f"{place}: not linear over F2: {_witness(made, at, x, names, widths)}"
            )


def _witness(
    made: Any,
    at: Callable[[int], tuple[int, ...]],
    x: int,
    names: Sequence[str],
    widths: Sequence[int],
) -> str:
    """Three inputs, one the sum of the others, whose images are not."""
    whole = made.flatten_ins("x")
    before = 0
    for k in range(x.bit_length()):
        if x >> k & 1 and at(before | 1 << k) != whole(before | 1 << k):
            found = [before, 1 << k, before | 1 << k]
            parts = [(_shown(names, _index(p, widths)), at(p)) for p in found]
            text = ", ".join(f"({point}) gives {_bare(v)}" for point, v in parts)
            zero = at(0)
            return f"{text}; the last is not the exclusive or of the others" + (
                f" and of {_bare(zero)}, that of zero" if any(zero) else ""
            )
        before |= x & 1 << k
    return f"({_shown(names, _index(x, widths))}) gives {_bare(at(x))} the second time"


def _bare(values: tuple[Any, ...]) -> str:
    return short_repr(values[0] if len(values) == 1 else values)


def _index(x: int, widths: Sequence[int]) -> list[int]:
    index = []
    for width in widths:
        index.append(x & (1 << width) - 1)
        x >>= width
    return index


def _shown(names: Sequence[str], index: Sequence[int]) -> str:
    return ", ".join(f"{n}={v}" for n, v in zip(names, index, strict=True))

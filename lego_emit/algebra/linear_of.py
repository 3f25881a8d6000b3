"""A layout over F2 of a Python function, or of another layout, that is linear."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from ..errors import LayoutError, shown
from ..kinds import is_integer
from .block import Block

TRIED = 16  # bits up to which every input is tried, and of those that are tried else


def linear_of(make: Any, function: Any, ins: Mapping[str, int] | None, out: Any) -> Any:
    """What Linear.of gives. make: Linear itself."""
    if isinstance(function, Block):
        block, function = function, function.apply
        names = block.coordinates or _index_names(len(block.dims))
        ins = dict(zip(names, block.dims, strict=True)) if ins is None else ins
        out = (block.results or ["offset"]) if out is None else out
    place = f"Linear.of({getattr(function, '__name__', shown(function))}, {shown(ins)})"
    if not ins:
        raise LayoutError(f"{place}: give the inputs' sizes by name")
    names = [*ins]
    widths = [_width(place, n, ins[n]) for n in names]

    def at(x: int) -> tuple[int, ...]:
        index = []
        for width in widths:
            index.append(x & (1 << width) - 1)
            x >>= width
        found = function(*index)
        found = [*found.values()] if isinstance(found, Mapping) else found
        values = tuple(found) if isinstance(found, tuple | list) else (found,)
        if any(int(v) < 0 for v in values):
            raise LayoutError(f"{place}: negative at {_shown(names, index)}: {values}")
        return tuple(map(int, values))

    first = at(0)
    images = [
        tuple(a ^ b for a, b in zip(at(1 << k), first, strict=True)) for k in range(sum(widths))
    ]
    if out is None:
        out = [f"out{k}" for k in range(len(first))] if len(first) > 1 else ["out"]
    bases, start = {}, 0
    for name, width in zip(names, widths, strict=True):
        bases[name] = images[start : start + width]
        start += width
    if len([*out]) != len(first):
        raise LayoutError(f"{place}: it gives {len(first)} results, named are {', '.join(out)}")
    made = make(bases, out, dict(zip(out, first, strict=True)))
    _check(place, made, at, names, widths)
    return made


def _check(
    place: str,
    made: Any,
    at: Callable[[int], tuple[int, ...]],
    names: Sequence[str],
    widths: Sequence[int],
) -> None:
    import numpy as np  # where numbers are integers it is not loaded otherwise

    bits = sum(widths)
    if bits <= TRIED:
        numbers = np.arange(1 << bits)
    else:
        rng = Random(0)
        numbers = np.array([rng.getrandbits(bits) for _ in range(1 << TRIED)], object)
    index, rest = [], numbers
    for width in widths:
        index.append((rest & (1 << width) - 1).astype(np.int64))
        rest = rest >> width
    wanted = zip(*(np.broadcast_to(w, len(numbers)).tolist() for w in made(*index)), strict=True)
    for x, values in zip(numbers.tolist(), wanted, strict=True):
        if at(x) != values:
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


def _bare(values: tuple[int, ...]) -> str:
    return str(values[0]) if len(values) == 1 else str(values)


def _index(x: int, widths: Sequence[int]) -> list[int]:
    index = []
    for width in widths:
        index.append(x & (1 << width) - 1)
        x >>= width
    return index


def _shown(names: Sequence[str], index: Sequence[int]) -> str:
    return ", ".join(f"{n}={v}" for n, v in zip(names, index, strict=True))


def _width(place: str, name: str, size: Any) -> int:
    if not is_integer(size) or size < 1 or size & (size - 1):
        raise LayoutError(
            f"{place}: {name} has the size {shown(size)}, no power of two, as a layout over F2 needs"
        )
    return int(size).bit_length() - 1


def _index_names(count: int) -> list[str]:
    return [*"ijklmn"[:count]] if count <= 6 else [f"i{k}" for k in range(count)]

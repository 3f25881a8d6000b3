"""Named bits: labels of the vector spaces that a layout over F2 maps (Definition 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from ..errors import LayoutError, short_repr
from ..numeric import is_integer

Dims = tuple[tuple[str, int], ...]  # name -> bits


def names_of(construct: object, names: Any) -> list[Any]:
    """Names, of which one may stand alone. Raises LayoutError on what holds none."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable):
        raise LayoutError(f"{construct}: {short_repr(names)} is not a list of names")
    return [*names]


def sizes_of(construct: object, sizes: Any, kind: str) -> Dims:
    """Names with their bits, of a dict of sizes or of pairs. Raises LayoutError on anything else."""
    pairs = sizes.items() if isinstance(sizes, Mapping) else sizes
    good = isinstance(pairs, Iterable) and not isinstance(pairs, str)
    pairs = [*pairs] if good else []
    if not good or not all(isinstance(p, tuple | list) and len(p) == 2 for p in pairs):
        raise LayoutError(f"{construct}: {short_repr(sizes)} is not a dict of sizes by name")
    check_names(construct, [name for name, _ in pairs], kind)
    return tuple((name, bits_of(construct, name, size)) for name, size in pairs)


def listed(given: Any) -> list[Any]:
    """What is given, of which one may stand alone."""
    return [*given] if isinstance(given, Iterable) else [given]


def width_of(dims: Iterable[tuple[str, int]]) -> int:
    """The bits of all names."""
    return sum(bits for _, bits in dims)


def starts(dims: Dims) -> list[int]:
    """The first bit of each name."""
    return [0, *accumulate(bits for _, bits in dims)][: len(dims)]


def packed(values: Mapping[str, int] | Sequence[int], dims: Dims) -> int:
    """Values in one vector, the first name's bits the lowest; names that dims lack are left out."""
    total = 0
    for k, ((name, _), first) in enumerate(zip(dims, starts(dims), strict=True)):
        value = values.get(name, 0) if isinstance(values, Mapping) else values[k]
        total |= value << first
    return total


def values_of(vector: int, dims: Dims) -> tuple[int, ...]:
    """The numbers of the names in one vector."""
    return tuple(
        vector >> first & (1 << bits) - 1
        for (_, bits), first in zip(dims, starts(dims), strict=True)
    )


def put_above(low: Dims, high: Dims) -> Dims:
    """The names of both, with their bits together; in an order that keeps both orders where there is
    one, low's first."""
    left, right = [*dict(low)], [*dict(high)]
    order: list[str] = []
    while left and right:
        if left[0] in right and right[0] not in left:
            order.append(right.pop(0))
        else:
            order.append(left.pop(0))
            if order[-1] in right:
                right.remove(order[-1])
    bits = dict(low)
    for name, more in high:
        bits[name] = bits.get(name, 0) + more
    return tuple((name, bits[name]) for name in [*order, *left, *right])


def check_names(construct: object, names: Sequence[Any], kind: str) -> None:
    """Raise LayoutError unless these are names, each once."""
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise LayoutError(f"{construct}: the {kind} {short_repr(name)} is not a name")
    if len({*names}) < len(names):
        raise LayoutError(f"{construct}: an {kind} stands twice")
    if not names:
        raise LayoutError(f"{construct}: give at least one {kind}")


def bits_of(construct: object, name: str, size: Any) -> int:
    """The bits of a size. Raises LayoutError where it is no power of two."""
    if not is_integer(size) or size < 1 or size & (size - 1):
        raise LayoutError(
            f"{construct}: {name} is {short_repr(size)}, no power of two; a layout over F2 has sizes "
            "1, 2, 4, ..: enlarge it and mask what is outside, as ExpandBy does"
        )
    return int(size).bit_length() - 1


def checked_image(
    construct: object, name: str, bit: int, image: Any, names: Sequence[str]
) -> tuple[int, ...]:
    """What a bit goes to, a number for each output. Raises LayoutError where it is none."""
    values = tuple(image) if isinstance(image, Iterable) else (image,)
    good = all(is_integer(v) and v >= 0 for v in values)
    if len(values) != len(names) or not good:
        raise LayoutError(
            f"{construct}: bit {bit} of {name} goes to {short_repr(image)}; give a number >= 0 for each of "
            f"{', '.join(names)}"
        )
    return tuple(int(v) for v in values)

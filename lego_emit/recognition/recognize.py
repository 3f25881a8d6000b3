"""The families in order, and what is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.block import Block
from .bits import linear, swizzled
from .given import MOST_ENTRIES, Given, given_of, positions
from .pieces import MOST_ENTRIES as MOST_SEARCHED
from .pieces import formula, of_formula
from .strides import Wrong, axes, plain, viewed
from .tiles import tiled, two_levels

__all__ = ["MOST_ENTRIES", "Recognized", "recognize"]

_SAID = {
    "mixed radix": "digits of a mixed radix",
    "strided": "sizes and strides",
    "padded": "sizes and strides of more indices, cropped",
    "swizzled": "strides behind a swizzle",
    "linear": "linear over F2",
    "affine": "linear over F2 but for what zero gives",
    "tiled": "a tile that is repeated or spread by strides",
    "polynomial": "a polynomial of degree two",
    "piecewise": "a formula in pieces",
    "formula": "a formula",
}


@dataclass(frozen=True)
class Recognized:
    """Which layout makes a table; true where one was found.

    layout: of the table's sizes and entries, None where none is known. kind: "mixed radix",
    "strided", "padded" (strides of more indices, cropped), "swizzled", "linear" or "affine" (over F2),
    "tiled", "polynomial", "piecewise", "formula"; "" where none is known. why: in words; where none is
    known what contradicts each family.
    """

    layout: Block | None
    kind: str
    why: str

    def __bool__(self) -> bool:
        return self.layout is not None

    def __str__(self) -> str:
        return self.why if self.layout is None else f"{self.layout!r}: {self.why}"


def recognize(table: Any, dims: Any = None) -> Recognized:
    """Which layout gives these positions: the first that is found of ever larger families.

    table: an array or nested lists of integers, the position of every index; a layout of numbers; or a
    function of as many integers as dims has sizes, of several results where it gives a tuple. dims: the
    sizes, of a flat table row-major. At most 2**20 entries within +-2**40.

    The families, each in as few sizes as can be: digits of a mixed radix (RegP), Strided, the same of
    larger sizes that are cropped, Swizzled, Linear, two RegPs, a tile of these under strides, and up to
    4,096 entries a formula (a GenP). What is found was compared with the table at every entry.

    Raises LayoutError on a table with a hole, of no integers or nested unevenly, on dims of another
    product, and on a function that raises.
    """
    given = given_of(table, dims)
    if len(given.tables) > 1:
        return _of_several(given)
    return _of_one(given)


def _of_several(given: Given) -> Recognized:
    found = linear(given.tables, given.names, given.results)
    if not isinstance(found, str) and _makes(found[1], given.tables):
        return Recognized(found[1], found[0], _SAID[found[0]])
    parts = [_of_one(Given((t,), given.names, ("offset",))) for t in given.tables]
    alone = "; ".join(f"{n}: {part}" for n, part in zip(given.results, parts, strict=True))
    return Recognized(
        None, "", f"no layout of {len(parts)} results is known: {found}. Each alone: {alone}"
    )


def _of_one(given: Given) -> Recognized:
    (table,) = given.tables
    why: list[str] = []
    for kind, layout in _candidates(table, given, why):
        if _makes(layout, [table]):
            return Recognized(layout, kind, _SAID[kind])
    return Recognized(None, "", f"no layout is known that makes it: {'; '.join(why)}")


def _makes(layout: Block, tables: Any) -> bool:
    if tuple(layout.dims) != tables[0].shape:
        return False
    found = positions(layout)
    return len(found) == len(tables) and all(map(np.array_equal, found, tables))


def _candidates(table: np.ndarray, given: Given, why: list[str]) -> Any:
    if (found := plain(table)) is not None:
        yield found[:2]
    wrong = axes(table)
    if isinstance(wrong, Wrong):
        why.append(
            f"not strided: entry {_at(wrong.place)} is {int(table[wrong.place])} where those before it "
            f"ask for {wrong.wanted}"
        )
    if (swizzle := swizzled(table)) is not None:
        yield swizzle
    why.append("no swizzle leaves strides")
    bits = linear([table], given.names, given.results)
    if not isinstance(bits, str):
        yield bits
    else:
        why.append(bits)
    yield from (("mixed radix", found) for found in _levels(table))
    yield from (("tiled", found) for found in _tiles(table, _permutation))
    why.append("no tile of it that is known repeats")
    if table.size > MOST_SEARCHED:
        why.append(f"no formula is searched for of more than {MOST_SEARCHED} entries")
        return
    searched = formula(table, given.names)
    if searched is not None:
        yield searched[0], of_formula(table, searched[1], given.names)
    yield from (("tiled", found) for found in _tiles(table, _any_permutation))
    why.append("no formula found")


def _levels(table: np.ndarray) -> Any:
    size = table.size
    if size & (size - 1) and _is_permutation(table):
        if (found := two_levels(table)) is not None:
            yield found


def _is_permutation(table: np.ndarray) -> bool:
    if int(table.min()) or int(table.max()) != table.size - 1:
        return False
    return bool((np.bincount(table.reshape(-1)) == 1).all())


def _tiles(table: np.ndarray, inner: Any) -> Any:
    if (found := tiled(table, inner)) is not None:
        yield found
    elif table.ndim > 1 and (found := tiled(table.reshape(-1), inner)) is not None:
        yield viewed(table.shape, found)


def _permutation(table: np.ndarray) -> Block | None:
    """The layout of a tile's permutation but for formulas."""
    if (found := plain(table)) is not None:
        return found[1]
    if (swizzle := swizzled(table)) is not None:
        return swizzle[1]
    bits = linear([table], [f"i{k}" for k in range(table.ndim)], ["offset"])
    if not isinstance(bits, str):
        return bits[1] if bits[1].has_inverse else None
    return next(iter(_levels(table)), None)


def _any_permutation(table: np.ndarray) -> Block | None:
    """The layout of a tile's permutation whose formula has an inverse."""
    names = [f"i{k}" for k in range(table.ndim)]
    if table.size > MOST_SEARCHED or (found := formula(table, names)) is None:
        return None
    layout = of_formula(table, found[1], names)
    return layout if layout.has_inverse else None


def _at(place: Any) -> str:
    return str(place[0] if len(place) == 1 else place)

"""The families in order, and what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

from ..algebra.block import Block
from ..algebra.slices import index_names
from ..errors import brief
from ..formats import catalogue
from ..packages import numpy as np
from .bits import linear, swizzled
from .given import Given, given_of, positions
from .pieces import MOST_ENTRIES as MOST_SEARCHED
from .pieces import formula, of_formula
from .strides import Wrong, axes, is_permutation, plain, viewed
from .tiles import Inner, tiled, two_levels

Found: TypeAlias = tuple[str, Block]  # a kind and a layout

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
    "catalogue": "of the catalogue",
}


@dataclass(frozen=True)
class Recognized:
    """Which layout makes a table; true where one was found.

    layout: of the table's sizes and entries, None where none is known. kind: "mixed radix",
    "strided", "padded" (strides of more indices, cropped), "swizzled", "linear" or "affine" (over F2),
    "tiled", "polynomial", "piecewise", "formula", "catalogue"; "" where none is known. why: in words;
    where none is known what contradicts each family. written: an expression that makes the layout.
    """

    layout: Block | None
    kind: str
    why: str
    written: str = ""

    def __bool__(self) -> bool:
        return self.layout is not None

    def __repr__(self) -> str:
        return f"<recognized {self.written}: {self.kind}>" if self else "<nothing recognized>"

    def __str__(self) -> str:
        return self.why if self.layout is None else f"{self.written}: {self.why}"


@brief
def recognize(table: Any, dims: Any = None, *, formulas: bool = True) -> Recognized:
    """Which layout gives these positions: the first that is found of ever larger families.

    table: an array or nested lists of integers, the position of every index; a layout of numbers; or a
    function of as many integers as dims has sizes, of several results where it gives a tuple. dims: the
    sizes, of a flat table row-major. formulas: whether formulas are searched, too, and the catalogue. At most 2**20 entries within +-2**40.

    The families, each in as few sizes as can be: digits of a mixed radix (RegP), Strided, the same of
    larger sizes that are cropped, Swizzled, Linear, two RegPs, a tile of these under strides, and up to
    4,096 entries a formula (a GenP); the last is the catalogue. What is found was compared with the table at every entry.

    Raises LayoutError on a table with a hole, of no integers or nested unevenly, on dims of another
    product, and on a function that raises.

        >>> from lego_emit import recognize
        >>> recognize([0, 2, 4, 1, 3, 5]).layout
        GroupBy([6]).OrderBy(Col(2, 3))
    """
    given = given_of(table, dims)
    if len(given.tables) > 1:
        return _of_several(given)
    return _of_one(given, formulas)


def _of_several(given: Given) -> Recognized:
    found = linear(given.tables, given.names, given.results)
    if not isinstance(found, str) and _makes(found[1], given.tables):
        return _recognized(*found)
    parts = [_of_one(Given((t,), given.names, ("offset",))) for t in given.tables]
    alone = "; ".join(f"{n}: {part}" for n, part in zip(given.results, parts, strict=True))
    turned = _turned(given.tables)
    inverse = f" It is the inv of {turned}." if turned else ""
    why = f"no layout of {len(parts)} results is known: {found}.{inverse} Each alone: {alone}"
    return Recognized(None, "", why)


def _turned(tables: Sequence[np.ndarray]) -> Recognized | None:
    """The layout whose inv gives these coordinates, where each index of theirs is given once."""
    dims = tuple(int(table.max()) + 1 for table in tables)
    if tables[0].ndim > 1 or min(int(t.min()) for t in tables) < 0 or prod(dims) != tables[0].size:
        return None
    flat = np.ravel_multi_index(tables, dims)
    if not is_permutation(flat):
        return None
    found = _of_one(
        Given((np.argsort(flat).reshape(dims),), tuple(index_names(len(dims))), ("offset",))
    )
    return found if found.layout is not None and _is_bijection(found.layout) else None


def _of_one(given: Given, formulas: bool = True) -> Recognized:
    (table,) = given.tables
    turned = is_permutation(table)  # then one with an inverse is better than a smaller one without
    found: Recognized | None = None
    for kind, layout in _candidates(table, given.names, formulas):
        if not _makes(layout, [table]):
            continue
        if _is_bijection(layout) or not turned:
            return _recognized(kind, layout)
        found = found or _recognized(kind, layout)
    for written, layout in () if found or not formulas else catalogue.named(table):
        return Recognized(layout, "catalogue", _SAID["catalogue"], written)
    return found or Recognized(None, "", f"no layout is known that makes it: {_reasons(given)}")


def _recognized(kind: str, layout: Block) -> Recognized:
    return Recognized(layout, kind, _SAID[kind], repr(layout))


def _makes(layout: Block, tables: Sequence[np.ndarray]) -> bool:
    if tuple(layout.dims) != tables[0].shape:
        return False
    found = positions(layout)
    return len(found) == len(tables) and all(map(np.array_equal, found, tables))


def _is_bijection(layout: Block) -> bool:
    return layout.has_inverse and not layout.masks_inverse


def _candidates(table: np.ndarray, names: Sequence[str], formulas: bool = True) -> Iterator[Found]:
    yield from _small(table, names)
    yield from _tiles(table, _inverted(_small))
    if formulas and table.size <= MOST_SEARCHED:
        yield from _formulas(table, names)
        yield from _tiles(table, _inverted(_formulas))


def _small(table: np.ndarray, names: Sequence[str]) -> Iterator[Found]:
    """The families that are made of digits and bits alone."""
    if (found := plain(table)) is not None:
        yield found[:2]
    if (found := swizzled(table)) is not None:
        yield found
    if not isinstance(found := linear([table], names, ["offset"]), str):
        yield found
    if table.size & (table.size - 1) and is_permutation(table):  # of bits one is as good as two
        if (levels := two_levels(table)) is not None:
            yield "mixed radix", levels


def _formulas(table: np.ndarray, names: Sequence[str]) -> Iterator[Found]:
    if (found := formula(table, names)) is not None:
        yield found[0], of_formula(table, found[1], names)


def _inverted(family: Callable[[np.ndarray, Sequence[str]], Iterator[Found]]) -> Inner:
    """The layouts of a family that have an inverse, which a tile's has."""

    def inner(table: np.ndarray) -> Block | None:
        names = index_names(table.ndim)
        return next((layout for _, layout in family(table, names) if _is_bijection(layout)), None)

    return inner


def _tiles(table: np.ndarray, inner: Inner) -> Iterator[Found]:
    if (found := tiled(table, inner)) is not None:
        yield "tiled", found
    elif table.ndim > 1 and (found := tiled(table.reshape(-1), inner)) is not None:
        view = viewed(table.shape)  # a padded layout is no step of another
        yield "tiled", found @ view if found.masks_inverse else viewed(table.shape, found)


def _reasons(given: Given) -> str:
    """What contradicts each family, of a table that no layout is known for."""
    (table,) = given.tables
    why: list[str] = []
    wrong = axes(table)
    if isinstance(wrong, Wrong):
        place = wrong.place[0] if table.ndim == 1 else wrong.place
        why.append(
            f"not strided: entry {place} is {int(table[wrong.place])} where those before it ask for "
            f"{wrong.wanted}"
        )
    why.append("no swizzle leaves strides")
    bits = linear(given.tables, given.names, given.results)
    if isinstance(bits, str):
        why.append(bits)
    why.append("no tile of a known layout repeats")
    few = table.size <= MOST_SEARCHED
    why.append(
        "no formula is found" if few else f"no formula is searched above {MOST_SEARCHED} entries"
    )
    return "; ".join(why)

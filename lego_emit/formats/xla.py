"""XLA's layouts, as it prints them: {minor_to_major:T(tile)(tile)..}, such as {1,0:T(8,128)(2,1)}.

A tile takes the last dimensions apart, each rounded up to whole tiles; the next one what it leaves,
the tiles' numbers first. An asterisk combines a dimension with the next more minor one.
"""

from __future__ import annotations

import inspect
import re
from math import prod
from typing import Any

from ..algebra.block import Block
from ..algebra.layout import GroupBy
from ..algebra.masked import Padded
from ..algebra.perms import RegP
from ..errors import LayoutError, short_repr
from .entry import Entry, catalogue
from .tiled import tiled

SOURCE = "openxla/xla, docs/tiled_layout.md"
CHECKED = "its definition of repeated tiling, and the positions 17 and 51 that it works out"
RAGGED = (
    "dimensions are rounded up to whole tiles, Padded; refused: combined ones, and a tile of a tile "
    "that it does not divide"
)
LAYOUT = re.compile(r"\{(\d+(?:,\d+)*)(?::T((?:\((?:\d+|\*)(?:,(?:\d+|\*))*\))+))?\}")
LISTED = {
    "{1,0:T(8,128)}": (12, 16),
    "{1,0:T(8,128)(2,1)}": (12, 16),
    "{1,0:T(8,128)(4,1)}": (12, 16),
}


@catalogue.grammar("xla")
def layout(text: str) -> Entry:
    """The entry of a layout's text. Raises LayoutError on what is none."""
    construct = f'catalogue["xla.{short_repr(text)[1:-1]}"]'
    match = LAYOUT.fullmatch(text)
    if match is None:
        raise LayoutError(f"{construct}: no layout; write it as in {{1,0:T(8,128)(2,1)}}")
    order = [int(k) for k in match[1].split(",")]
    if sorted(order) != [*range(len(order))]:
        raise LayoutError(
            f"{construct}: minor_to_major is {match[1]}; give 0..{len(order) - 1}, each once"
        )
    tiles = [part.split(",") for part in re.findall(r"\((.*?)\)", match[2] or "")]
    axes = _combined(construct, order[::-1], tiles)
    blocks, memory = _taken_apart(construct, len(axes), tiles)
    if len(axes) == len(order):  # back to the order of the tensor's dimensions
        blocks = [blocks[axes.index([k])] for k in range(len(order))]
        memory = [(axes[axis][0], level) for axis, level in memory]

    def make(*sizes: Any) -> Block:
        if len(axes) == len(order):
            return tiled(sizes, blocks, memory)
        found = tiled([prod(sizes[k] for k in axis) for axis in axes], blocks, memory)
        if isinstance(found, Padded):
            raise LayoutError(
                f"{construct}: the tiles do not divide the combined sizes {short_repr(found.n)}; round "
                "the dimensions up"
            )
        return GroupBy(sizes).OrderBy(RegP(sizes, order[::-1])).OrderBy(found)

    make.__doc__ = f"XLA's {text}: the offset of an element, in elements."
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = [f"d{k}" for k in range(len(order))]
    make.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])  # pyright: ignore
    sizes = LISTED.get(text, (4,) * len(names))
    example = dict(zip(names, sizes, strict=True))
    return Entry(f"xla.{text}", make, SOURCE, CHECKED, RAGGED, example)


def _combined(construct: object, dims: list[int], tiles: list[list[str]]) -> list[list[int]]:
    """The dimensions from the most major to the most minor, those together that the first tile
    combines; its asterisks are taken away."""
    if any("*" in tile for tile in tiles[1:]):
        raise LayoutError(f"{construct}: an asterisk in a later tile; only the first one combines")
    axes = [[k] for k in dims]
    if not tiles or "*" not in tiles[0]:
        return axes
    first = tiles[0]
    if len(first) > len(dims) or first[-1] == "*":
        raise LayoutError(f"{construct}: an asterisk has no dimension to its right")
    for place, part in zip(range(-len(first), -1), first, strict=False):
        if part == "*":
            axes[place + 1] = axes[place] + axes[place + 1]
            axes[place] = []
    tiles[0] = [part for part in first if part != "*"]
    return [axis for axis in axes if axis]


def _taken_apart(
    construct: object, rank: int, tiles: list[list[str]]
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """What `tiled` wants: the inner blocks of each axis, and the digits as memory has them."""
    size = [0] * rank  # of each digit; 0 for an axis's first, which has as many as there are
    own = [[axis] for axis in range(rank)]
    memory = [(axis, axis) for axis in range(rank)]
    for tile in tiles:
        parts = [*map(int, tile)]
        if len(parts) > len(memory):
            raise LayoutError(
                f"{construct}: a tile of {len(parts)} sizes, and {len(memory)} dimensions"
            )
        inner = []
        for part, (axis, digit) in zip(parts, memory[len(memory) - len(parts) :], strict=True):
            if part < 1:
                raise LayoutError(f"{construct}: a tile of {part}; a size is at least 1")
            if size[digit] % part:
                raise LayoutError(
                    f"{construct}: a tile of {part} over one of {size[digit]}; give a divisor"
                )
            size[digit] //= part
            inner.append((axis, len(size)))
            own[axis].insert(own[axis].index(digit) + 1, len(size))
            size.append(part)
        memory += inner
    blocks = [[size[digit] for digit in digits[1:]] for digits in own]
    return blocks, [(axis, own[axis].index(digit)) for axis, digit in memory]


for _text in LISTED:
    catalogue.add(layout(_text))

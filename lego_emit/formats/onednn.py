"""oneDNN's memory formats: any tag of its grammar.

A tag has the dimensions in memory order, the slowest first, a capital for each that falls into blocks,
then the blocks, "4i16o4i". Dimensions are a, b, c .. or their names in a tensor's own order: n c d h w
of activations, g o i d h w of weights, t n c and l d i g o of recurrent networks.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from ..algebra.block import Block
from ..errors import LayoutError, short_repr
from .entry import Entry, catalogue
from .tiled import tiled

SOURCE = (
    "oneDNN, include/oneapi/dnnl/dnnl_common_types.h (dnnl_format_tag_t), dnnl_types.h "
    "(dnnl_blocking_desc_t) and its guide, Understanding Memory Formats"
)
RAGGED = "the dimension is rounded up to whole blocks; the padding belongs to the memory"
CHECKED = (
    "the strides and blocks that libdnnl 3.2 has for 1,470 tags (dnnl_memory_desc_query), and its guide's "
    "offsets"
)
ORDERS = ("x", "ncdhw", "goidhw", "tnc", "ldigo", "ldnc")
TAG = re.compile(r"([A-Za-z]+)((?:\d+[a-z])*)")
BLOCK = re.compile(r"(\d+)([a-z])")
LISTED = {
    "nchw": (1, 2, 3, 4),
    "nhwc": (1, 2, 3, 4),
    "nChw8c": (1, 10, 2, 3),
    "nChw16c": (1, 20, 1, 2),
    "NChw16n16c": (4, 20, 1, 1),
    "hwio": (4, 3, 1, 2),
    "OIhw16i16o": (4, 20, 1, 1),
    "OIhw4i16o4i": (4, 20, 1, 1),
    "gOIhw16i16o": (2, 4, 16, 1, 1),
    "Goihw16g": (20, 1, 1, 1, 2),
    "ldigo": (1, 2, 2, 2, 3),
    "BA16a16b2a": (34, 4),
}


@catalogue.grammar("onednn")
def tag(text: str) -> Entry:
    """The entry of a tag. Raises LayoutError on what is none."""
    construct = f'catalogue["onednn.{short_repr(text)[1:-1]}"]'
    match = TAG.fullmatch(text)
    if match is None:
        raise LayoutError(
            f"{construct}: no tag; write dimensions and then blocks, as in nChw16c or ABcd4b16a4b"
        )
    outer, blocks = match[1], [(int(size), name) for size, name in BLOCK.findall(match[2])]
    order = [*outer.lower()]
    names = _names(construct, order)
    for size, name in blocks:
        if size < 2:
            raise LayoutError(f"{construct}: a block of {size}; a block is at least 2")
        if name.upper() not in outer:
            raise LayoutError(
                f"{construct}: a block of {name}, which is no capital before; write "
                f"{outer.replace(name, name.upper())}"
                if name in outer
                else f"{construct}: a block of {name}, which is not a dimension"
            )
    if plain := [x for x in outer if x.isupper() and x.lower() not in [n for _, n in blocks]]:
        raise LayoutError(f"{construct}: {plain[0]} is a capital and has no block")
    inner: dict[str, list[int]] = {name: [] for name in names}
    memory = [(names.index(name), 0) for name in order]
    for size, name in blocks:
        inner[name].append(size)
        memory.append((names.index(name), len(inner[name])))

    def make(*sizes: Any) -> Block:
        return tiled(sizes, [inner[name] for name in names], memory)

    make.__doc__ = f"oneDNN's {text}: the offset of an element, in elements."
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    make.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])  # pyright: ignore
    sizes = LISTED.get(text, (4,) * len(names))
    return Entry(
        f"onednn.{text}", make, SOURCE, CHECKED, RAGGED, dict(zip(names, sizes, strict=True))
    )


def _names(construct: object, order: list[str]) -> list[str]:
    """The dimensions in the tensor's order."""
    if twice := next((x for x in order if order.count(x) > 1), None):
        raise LayoutError(f"{construct}: {twice} stands twice")
    if sorted(order) == [chr(ord("a") + k) for k in range(len(order))]:
        return sorted(order)
    for known in ORDERS:
        if set(order) <= set(known):
            return [x for x in known if x in order]
    raise LayoutError(
        f"{construct}: the dimensions {', '.join(order)} are no tensor's; known are a, b, c .. and "
        f"{', '.join(' '.join(o) for o in ORDERS)}"
    )


for _tag in LISTED:
    catalogue.add(tag(_tag))

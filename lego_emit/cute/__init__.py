"""CuTe's layout algebra: its operations under their own names, over lego_emit's Strided blocks.

Coordinates are colexicographic here, as in CuTe: the left mode is the fastest.
"""

from ..algebra.strided import Strided, Swizzle, Swizzled
from .making import (
    flatten,
    get,
    group,
    layout,
    make_layout,
    make_layout_like,
    make_ordered_layout,
    slice_,
)
from .maps import (
    coalesce,
    complement,
    composition,
    cosize,
    filter,
    filter_zeros,
    left_inverse,
    nullspace,
    rank,
    right_inverse,
    size,
)
from .tiling import (
    blocked_product,
    flat_divide,
    flat_product,
    logical_divide,
    logical_product,
    raked_product,
    tile_to_shape,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)

__all__ = [
    "Strided",
    "Swizzle",
    "Swizzled",
    "blocked_product",
    "coalesce",
    "complement",
    "composition",
    "cosize",
    "filter",
    "filter_zeros",
    "flat_divide",
    "flat_product",
    "flatten",
    "get",
    "group",
    "layout",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_layout",
    "make_layout_like",
    "make_ordered_layout",
    "nullspace",
    "raked_product",
    "rank",
    "right_inverse",
    "size",
    "slice_",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "zipped_divide",
    "zipped_product",
]

"""CuTe's layout algebra: its operations under their own names, over lego_emit's Strided blocks.

Coordinates are colexicographic here, as in CuTe: the left mode is the fastest.

    >>> from lego_emit import cute
    >>> print(cute.composition(cute.layout("(4,8):(8,1)"), cute.layout("(2,4):(4,8)")))
    (2,4):(1,2)
    >>> print(cute.logical_divide(cute.layout("16:1"), cute.layout("4:2")))
    (4,(2,2)):(2,(1,8))
"""

from typing import TYPE_CHECKING

from ..algebra.strided import Strided, Swizzle, Swizzled
from ..errors import no_attribute
from .atoms import CopyAtom, ldmatrix, stmatrix, universal_copy
from .convert import (
    from_cute,
    layout_left,
    layout_left_padded,
    layout_right,
    layout_right_padded,
    layout_stride,
    to_cute,
)
from .coordinates import Coordinates, make_identity_layout
from .descriptors import (
    GmmaDescriptor,
    LayoutType,
    TmaSwizzle,
    layout_type,
    make_gmma_desc,
    make_smem_layout_atom,
    tma_swizzle,
)
from .hopper import GmmaOperand, TensorMap, make_gmma_operand, make_tensor_map
from .making import (
    flatten,
    get,
    group,
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
from .partition import (
    MMAAtom,
    TiledCopy,
    TiledMMA,
    local_partition,
    local_tile,
    make_layout_tv,
    make_tiled_copy,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_C,
    make_tiled_mma,
)
from .reading import layout
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
from .vectors import downcast, max_common_layout, max_common_vector, recast, upcast

__all__ = [
    "Coordinates",
    "CopyAtom",
    "GmmaDescriptor",
    "GmmaOperand",
    "LayoutType",
    "MMAAtom",
    "Strided",
    "Swizzle",
    "Swizzled",
    "TensorMap",
    "TiledCopy",
    "TiledMMA",
    "TmaSwizzle",
    "blocked_product",
    "coalesce",
    "complement",
    "composition",
    "cosize",
    "downcast",
    "filter",
    "filter_zeros",
    "flat_divide",
    "flat_product",
    "flatten",
    "from_cute",
    "get",
    "group",
    "layout",
    "layout_left",
    "layout_left_padded",
    "layout_right",
    "layout_right_padded",
    "layout_stride",
    "layout_type",
    "ldmatrix",
    "left_inverse",
    "local_partition",
    "local_tile",
    "logical_divide",
    "logical_product",
    "make_gmma_desc",
    "make_gmma_operand",
    "make_identity_layout",
    "make_layout",
    "make_layout_like",
    "make_layout_tv",
    "make_ordered_layout",
    "make_smem_layout_atom",
    "make_tensor_map",
    "make_tiled_copy",
    "make_tiled_copy_A",
    "make_tiled_copy_B",
    "make_tiled_copy_C",
    "make_tiled_mma",
    "max_common_layout",
    "max_common_vector",
    "nullspace",
    "raked_product",
    "rank",
    "recast",
    "right_inverse",
    "size",
    "slice_",
    "stmatrix",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "tma_swizzle",
    "to_cute",
    "universal_copy",
    "upcast",
    "zipped_divide",
    "zipped_product",
]

if not TYPE_CHECKING:
    __getattr__ = no_attribute(__name__, __all__)

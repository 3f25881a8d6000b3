"""Whether two layouts are the same map: by looking at all indices, or by their formulas."""

from __future__ import annotations

from ..algebra.block import Block
from ..algebra.same import Same, compared, differing
from ..algebra.sizes import product
from ..errors import LayoutError, short_repr

MOST_COMPARED = 2**22  # indices of two layouts that are all looked at
FIRST = 256  # indices that are looked at one by one before all are


def same_map(a: Block, b: Block) -> Same:
    """Whether two layouts give the same position at every index; a != b may still hold, which is
    about how they are written.

    Up to 2**22 indices all are looked at. Above, and where sizes are symbols, the simplified
    formulas are compared, and samples: then it may stay undecided.
    Raises LayoutError where one is no layout.
    """
    for block in (a, b):
        if not isinstance(block, Block):
            raise LayoutError(f"same_map: {short_repr(block)} is not a layout")
    if len(a.dims) != len(b.dims):
        return Same(False, None, f"one has {len(a.dims)} dims, the other {len(b.dims)}")
    if a.is_concrete and b.is_concrete:
        if tuple(a.dims) != tuple(b.dims):
            return Same(False, None, f"the dims are {list(a.dims)} and {list(b.dims)}")
        if product(a.dims) <= MOST_COMPARED:
            found = differing(a, b, FIRST)
            return compared(a, b) if found is None else found
    from . import same_formulas

    return same_formulas.same_map(a, b)

"""BLIS's packed matrices: micropanels as high or wide as a micro-kernel's registers."""

from __future__ import annotations

from typing import Any

from ..algebra.block import Block
from .entry import catalogue
from .tiled import over, tiled

SOURCE = (
    "flame/blis, frame/1m/packm/bli_packm_init.c and bli_packm_blk_var1.c, ref_kernels/1m/"
    "bli_packm_cxk_ref.c"
)
CHECKED = "the strides that bli_packm_init computes and the loops of the reference kernel"
RAGGED = (
    "the last micropanel is as large as the others, Padded; if a micropanel has an odd number of "
    "elements, one unused element follows it, and there is no inverse"
)


def _even(n: Any) -> Any:
    return 2 * over(n, 2)


@catalogue.entry("blis.panel_a", source=SOURCE, checked=CHECKED, ragged=RAGGED, m=8, k=3, mr=4)
def panel_a(m: Any, k: Any, mr: int) -> Block:
    """The packed A, m x k: micropanels of mr rows, each column-major; in elements."""
    return tiled([m, k], [(mr,), ()], [(0, 0), (1, 0), (0, 1)], pitch=_even(mr * k))


@catalogue.entry("blis.panel_b", source=SOURCE, checked=CHECKED, ragged=RAGGED, k=3, n=8, nr=4)
def panel_b(k: Any, n: Any, nr: int) -> Block:
    """The packed B, k x n: micropanels of nr columns, each row-major; in elements."""
    return tiled([k, n], [(), (nr,)], [(1, 0), (0, 0), (1, 1)], pitch=_even(k * nr))

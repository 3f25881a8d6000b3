"""Rows in padded tiles, whose padding is left as it is."""

from lego_emit import GroupBy, RegP, Row
from lego_emit.algebra.masked import Padded

copied = (
    Row(5, 6),
    Padded([5, 6], GroupBy([6, 8]).OrderBy(RegP([3, 2, 2, 4], [0, 2, 1, 3]))),
)
element, zero = "uint16", False

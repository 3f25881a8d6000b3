"""Fig. 6, middle: a 6x6 view as a 2x2 grid of contiguous 3x3 blocks."""

from lego_emit import GroupBy, RegP

layout = GroupBy([6, 6]).OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3]))

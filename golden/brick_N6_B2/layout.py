"""Fig. 12(c) and Table I: a 6x6x6 array in bricks of 2x2x2."""

from lego_emit import Row, TileBy

layout = TileBy([3, 3, 3], [2, 2, 2]).OrderBy(Row(3, 3, 3), Row(2, 2, 2))

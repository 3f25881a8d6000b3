"""Fig. 1 and Table I: tiles of 3x5 over a row-major matrix of 12x20."""

from lego_emit import Row, TileBy

layout = TileBy([4, 4], [3, 5]).OrderBy(Row(12, 20))

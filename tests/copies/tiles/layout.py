"""The rows of a matrix cut into tiles."""

from lego_emit import Row, TileBy

copied = TileBy([2, 3], [4, 8]), Row(2, 3, 4, 8)

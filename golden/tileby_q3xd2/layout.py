"""Section III-B: TileBy on three levels over an array of 12x12."""

from lego_emit import TileBy

layout = TileBy([2, 3], [3, 2], [2, 2])

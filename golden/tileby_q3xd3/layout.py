"""Section III-B: TileBy on three levels over an array of 4x6x4."""

from lego_emit import TileBy

layout = TileBy([2, 2, 1], [1, 3, 2], [2, 1, 2])

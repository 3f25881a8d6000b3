"""Section III-B: TileBy on two levels over an array of 6x6x4."""

from lego_emit import TileBy

layout = TileBy([2, 3, 2], [3, 2, 2])

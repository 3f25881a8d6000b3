"""Section III-B: TileBy on two levels over an array of 8x15."""

from lego_emit import TileBy

layout = TileBy([2, 3], [4, 5])

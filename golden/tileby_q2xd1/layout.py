"""Section III-B: TileBy on two levels over an array of 12."""

from lego_emit import TileBy

layout = TileBy([3], [4])

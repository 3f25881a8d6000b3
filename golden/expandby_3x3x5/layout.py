"""Fig. 9: tiles of 2x2x2 over an array of 3x3x5."""

from lego_emit import ExpandBy, TileBy

layout = ExpandBy([3, 3, 5], [4, 4, 6], TileBy([2, 2, 3], [2, 2, 2]))

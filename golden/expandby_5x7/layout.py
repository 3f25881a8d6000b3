"""Fig. 9: tiles of 2x2 over an array of 5x7."""

from lego_emit import ExpandBy, TileBy

layout = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))
view = True

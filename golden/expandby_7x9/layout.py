"""Fig. 9: tiles of 4x4 over an array of 7x9."""

from lego_emit import ExpandBy, TileBy

layout = ExpandBy([7, 9], [8, 12], TileBy([2, 3], [4, 4]))

"""Fig. 9: tiles of 4 over an array of 10."""

from lego_emit import ExpandBy, TileBy

layout = ExpandBy([10], [12], TileBy([3], [4]))

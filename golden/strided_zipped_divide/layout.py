"""Tiles of 4 x 3 of an array of 8 x 12: within a tile, over the tiles."""

from lego_emit import cute

layout = cute.zipped_divide("(8,12):(12,1)", (4, 3))

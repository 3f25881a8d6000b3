"""Tiles that do not divide the array: what is padding is masked."""

from lego_emit import ExpandBy, TileBy

padded = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))

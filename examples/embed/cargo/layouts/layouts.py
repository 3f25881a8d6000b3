"""The matrix that the program works on: 12 x 20, as 4 x 4 tiles of 3 x 5."""

from lego_emit import Row, TileBy

tiled = TileBy([4, 4], [3, 5]).OrderBy(Row(12, 20))

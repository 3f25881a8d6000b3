"""Contiguous tiles: each tile is one piece of memory."""

from lego_emit import Row, TileBy

TILES_DOWN, TILES_ACROSS = 2, 2
ROWS, COLUMNS = 3, 4  # of a tile

packed = TileBy([TILES_DOWN, TILES_ACROSS], [ROWS, COLUMNS]).OrderBy(
    Row(TILES_DOWN, TILES_ACROSS), Row(ROWS, COLUMNS)
)

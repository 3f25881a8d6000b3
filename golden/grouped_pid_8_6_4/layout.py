"""Fig. 1: program ids of a 8x6 grid in groups of 4 rows, column-major on both levels."""

from lego_emit import Col, TileBy

layout = TileBy([8, 6]).OrderBy(Col(2, 1), Col(4, 6))

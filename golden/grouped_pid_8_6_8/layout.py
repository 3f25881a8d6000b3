"""Fig. 1: program ids of a 8x6 grid in groups of 8 rows, column-major on both levels."""

from lego_emit import Col, TileBy

layout = TileBy([8, 6]).OrderBy(Col(1, 1), Col(8, 6))

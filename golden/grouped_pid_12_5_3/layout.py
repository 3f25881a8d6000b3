"""Fig. 1: program ids of a 12x5 grid in groups of 3 rows, column-major on both levels."""

from lego_emit import Col, TileBy

layout = TileBy([12, 5]).OrderBy(Col(4, 1), Col(3, 5))

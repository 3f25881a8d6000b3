"""Fig. 1 and section V-A: tiles of 3x5 over a column-major matrix of 12x20."""

from lego_emit import Col, TileBy

layout = TileBy([4, 4], [3, 5]).OrderBy(Col(12, 20))

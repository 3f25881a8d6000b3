"""Program ids in groups, so that neighbors share what is cached."""

from lego_emit import Col, TileBy

ROWS, COLUMNS = 8, 6  # of tiles of the result
GROUP = 4  # rows

grouped = TileBy([ROWS, COLUMNS]).OrderBy(Col(ROWS // GROUP, 1), Col(GROUP, COLUMNS))

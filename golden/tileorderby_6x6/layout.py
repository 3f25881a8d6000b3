"""Section III-B: TileOrderBy on a 6x6 view, column-major over row-major blocks."""

from lego_emit import Col, Row, TileBy

layout = TileBy([6, 6]).TileOrderBy(Col(2, 3), Row(3, 2))

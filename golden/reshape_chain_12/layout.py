"""12 elements as 3x4 transposed, then as 2x6 transposed: digits that no tile boundary separates."""

from lego_emit import Col, GroupBy

layout = GroupBy([12]).OrderBy(Col(3, 4)).OrderBy(Col(2, 6))

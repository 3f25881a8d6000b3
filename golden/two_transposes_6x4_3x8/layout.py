"""Section III-B: two transposes of different shapes, which is not affine."""

from lego_emit import Col, GroupBy

layout = GroupBy([6, 4]).OrderBy(Col(6, 4)).OrderBy(Col(3, 8))

"""Section III-B: column-major order of 2x3x4."""

from lego_emit import Col, GroupBy

layout = GroupBy([2, 3, 4]).OrderBy(Col(2, 3, 4))

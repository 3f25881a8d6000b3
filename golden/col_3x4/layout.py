"""Section III-B: column-major order of 3x4."""

from lego_emit import Col, GroupBy

layout = GroupBy([3, 4]).OrderBy(Col(3, 4))

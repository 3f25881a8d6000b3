"""Section III-B: column-major order of 4x4."""

from lego_emit import Col, GroupBy

layout = GroupBy([4, 4]).OrderBy(Col(4, 4))

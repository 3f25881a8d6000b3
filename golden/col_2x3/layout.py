"""Section III-B: column-major order of 2x3."""

from lego_emit import Col, GroupBy

layout = GroupBy([2, 3]).OrderBy(Col(2, 3))

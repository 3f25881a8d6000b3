"""Section III-B: row-major order of 2x3x4."""

from lego_emit import GroupBy, Row

layout = GroupBy([2, 3, 4]).OrderBy(Row(2, 3, 4))

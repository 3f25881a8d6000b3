"""Section III-B: row-major order of 3x4."""

from lego_emit import GroupBy, Row

layout = GroupBy([3, 4]).OrderBy(Row(3, 4))

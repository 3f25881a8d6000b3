"""Section III-B: row-major order of 4x4."""

from lego_emit import GroupBy, Row

layout = GroupBy([4, 4]).OrderBy(Row(4, 4))

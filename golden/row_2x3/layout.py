"""Section III-B: row-major order of 2x3."""

from lego_emit import GroupBy, Row

layout = GroupBy([2, 3]).OrderBy(Row(2, 3))

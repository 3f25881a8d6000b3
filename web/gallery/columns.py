"""Row by row, column by column: two orders side by side."""

from lego_emit import Col, GroupBy, Row

M, N = 4, 6

rows = GroupBy([M, N]).OrderBy(Row(M, N))
columns = GroupBy([M, N]).OrderBy(Col(M, N))

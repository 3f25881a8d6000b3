"""Rows in tiles and as a whole, and what belongs to their columns."""

from lego_emit import Row, symbols

M, N, B, PARTS, BP = symbols("M N B PARTS BP")
count = N // B

tiles = Row(M, count, B)
rows = Row(M, N)
columns = Row(N)
column_tiles = Row(count, B)
parts = Row(PARTS, N)
part_tiles = Row(PARTS // BP, BP, count, B)

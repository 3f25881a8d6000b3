"""Rows in tiles and as a whole, and what belongs to their columns."""

from lego_emit import Row, symbols

M, N, B, PARTS = symbols("M N B PARTS")
count = N // B

tiles = Row(M, count, B)
rows = Row(M, N)
columns = Row(N)
column_tiles = Row(count, B)
parts = Row(PARTS, N)
part_tiles = Row(PARTS, count, B)

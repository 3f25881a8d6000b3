"""A matrix in tiles, and the elements of a tile that each thread works on (Table I, row 12b)."""

from lego_emit import GroupBy, Row, TileBy, symbols

N = symbols("N")
T = 16  # rows and columns of threads
R = 4  # the coarsening: rows and columns of elements of a thread
B = R * T

A = TileBy([N // B, N // B], [B, B]).OrderBy(Row(N, N))
tile = GroupBy([B, B])  # in shared memory
elements = GroupBy([B, B])
work = TileBy([R, R], [T, T]).OrderBy(Row(B, B))

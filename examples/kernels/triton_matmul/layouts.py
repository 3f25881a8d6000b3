"""A matrix product in tiles; of A and B by rows and by columns."""

from lego_emit import Col, GroupBy, Row, TileBy, catalogue, symbols

M, N, K, BM, BN, BK, GROUP = symbols("M N K BM BN BK GROUP")
rows, columns, depth = M // BM, N // BN, K // BK

programs = catalogue["triton.grouped"](rows, columns, GROUP)
row_tiles, column_tiles = Row(rows, BM), Row(columns, BN)
A = GroupBy([M, depth, BK]).OrderBy(Row(M, K))
A_t = GroupBy([M, depth, BK]).OrderBy(Col(M, K))
B = GroupBy([depth, BK, N]).OrderBy(Row(K, N))
B_t = GroupBy([depth, BK, N]).OrderBy(Col(K, N))
C = TileBy([rows, columns], [BM, BN]).OrderBy(Row(M, N))

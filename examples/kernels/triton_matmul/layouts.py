"""A matrix product in tiles; of A and B by rows and by columns."""

from lego_emit import Col, Row, TileBy, catalogue, symbols

M, N, K, BM, BN, BK, GROUP = symbols("M N K BM BN BK GROUP")
rows, columns, depth = M // BM, N // BN, K // BK

programs = catalogue["triton.grouped"](rows, columns, GROUP)
A = TileBy([rows, depth], [BM, BK]).OrderBy(Row(M, K))
A_t = TileBy([rows, depth], [BM, BK]).OrderBy(Col(M, K))
B = TileBy([depth, columns], [BK, BN]).OrderBy(Row(K, N))
B_t = TileBy([depth, columns], [BK, BN]).OrderBy(Col(K, N))
C = TileBy([rows, columns], [BM, BN]).OrderBy(Row(M, N))

"""Products of matrices of several sizes, each in tiles."""

from lego_emit import Row, TileBy, symbols

G, M, N, K, BM, BN, BK = symbols("G M N K BM BN BK")
rows, columns, depth = M // BM, N // BN, K // BK

numbers = Row(G, 3)
tiles = Row(rows, columns)
A = TileBy([rows, depth], [BM, BK]).OrderBy(Row(M, K))
B = TileBy([depth, columns], [BK, BN]).OrderBy(Row(K, N))
C = TileBy([rows, columns], [BM, BN]).OrderBy(Row(M, N))

"""Tiles of a row-major matrix, indexed by tile and place in it."""

from lego_emit import Row, TileBy

M, N = 6, 8  # the matrix
BM, BN = 3, 4  # a tile

tiles = TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))

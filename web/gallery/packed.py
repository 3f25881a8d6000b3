"""Contiguous tiles: each tile is one piece of memory."""

from lego_emit import Row, TileBy

P, Q = 2, 2  # tiles down and across
BM, BN = 3, 4  # a tile

packed = TileBy([P, Q], [BM, BN]).OrderBy(Row(P, Q), Row(BM, BN))

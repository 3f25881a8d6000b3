"""A matrix and its transpose in tiles, and the tile in shared memory."""

from lego_emit import GroupBy, Row, TileBy, hardware, optimal_swizzle, symbols

M, N = symbols("M N")
T = 32

A = TileBy([M // T, N // T], [T, T]).OrderBy(Row(M, N))
B = TileBy([N // T, M // T], [T, T]).OrderBy(Row(N, M))

# A warp's instruction takes a row of the tile, or a column: one element a lane.
rows = hardware.blocked((1, 1), (1, T), (T, 1))
columns = hardware.blocked((1, 1), (T, 1), (1, T))
tile = GroupBy([T, T]).OrderBy(optimal_swizzle(rows, columns, element_bytes=4))

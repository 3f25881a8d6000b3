"""A matrix and its transpose in tiles, and the tile in shared memory."""

from lego_emit import GroupBy, Row, TileBy, hardware, optimal_swizzle, symbols

M, N = symbols("M N")
T = 32

A = TileBy([M // T, N // T], [T, T]).OrderBy(Row(M, N))
B = TileBy([N // T, M // T], [T, T]).OrderBy(Row(N, M))

# Eight warps, each along a row of the tile, or along a column, four times.
along_rows = hardware.blocked((1, 1), (1, T), (8, 1), shape=(T, T))
along_columns = hardware.blocked((1, 1), (T, 1), (1, 8), shape=(T, T))
tile = GroupBy([T, T]).OrderBy(optimal_swizzle(along_rows, along_columns, element_bytes=4))

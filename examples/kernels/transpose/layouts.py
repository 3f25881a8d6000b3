"""A matrix and its transpose in tiles, the tile in shared memory, and the elements of each thread."""

from lego_emit import GroupBy, Row, TileBy, hardware, optimal_swizzle, symbols

M, N = symbols("M N")


def tiled(T):
    """A matrix in tiles of T x T, and its transpose."""
    A = TileBy([M // T, N // T], [T, T]).OrderBy(Row(M, N))
    B = TileBy([N // T, M // T], [T, T]).OrderBy(Row(N, M))
    return A, B


# In shared memory: tiles of 64 x 64, and blocks of 32 x 8 threads. Of every eighth row a thread takes
# two elements side by side.
T = 64
A, B = tiled(T)
elements = GroupBy([T, T])
work = Row(8, 8, 32, 2)

# A warp's instruction takes a row of the tile, or two columns: two elements a lane.
rows = hardware.blocked((1, 2), (1, 32), (T, 1))
columns = hardware.blocked((2, 1), (32, 1), (1, T))
tile = GroupBy([T, T]).OrderBy(optimal_swizzle(rows, columns, element_bytes=4))

# Without it: tiles of 32 x 32, and blocks of 32 x 16 threads.
small_A, small_B = tiled(32)
small_elements = GroupBy([32, 32])
small_work = Row(2, 16, 32)

# Through shared memory again, element by element, in kernel.mlir.j2: blocks of 32 x 8 threads.
small_rows = hardware.blocked((1, 1), (1, 32), (32, 1))
small_columns = hardware.blocked((1, 1), (32, 1), (1, 32))
small_tile = GroupBy([32, 32]).OrderBy(optimal_swizzle(small_rows, small_columns, element_bytes=4))
small_steps = Row(4, 8, 32)

"""A cube of cells as an array, and in bricks that lie one after the other (Table I, row 12c)."""

from lego_emit import GroupBy, RegP, Row, symbols

B = 8  # cells of a brick's edge
G = 4  # bricks of a block of threads, side by side


def layouts(N):
    """The cells of a cube as an array, and in bricks."""
    array = GroupBy([N, N, N]).OrderBy(Row(N, N, N))
    bricks = GroupBy([N, N, N]).OrderBy(RegP([N // B, B, N // B, B, N // B, B], [0, 2, 4, 1, 3, 5]))
    return array, bricks


array, bricks = layouts(symbols("N"))

# Each thread has a column of B cells, of a brick the one at (j, k). Neighbors in memory have neighboring
# threads: of an array those of a row, of bricks those of a brick.
array_threads = GroupBy([G, B, B]).OrderBy(RegP([G, B, B], [1, 0, 2]))
bricks_threads = GroupBy([G, B, B])

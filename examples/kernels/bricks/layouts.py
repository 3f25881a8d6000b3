"""A cube of cells as an array, and in bricks that lie one after the other (Table I, row 12c)."""

from lego_emit import GroupBy, RegP, Row, symbols

B = 8  # cells of a brick's edge


def layouts(N, V=1):
    """The cells of a cube as an array, and in bricks; and the threads of a block, of V columns each.

    A block has 4 V bricks side by side. A thread has columns of B cells, of a brick those from (j, V k)
    on. Neighbors in memory have neighboring threads: of an array those of a row, of bricks those of a brick.
    """
    array = GroupBy([N, N, N]).OrderBy(Row(N, N, N))
    bricks = GroupBy([N, N, N]).OrderBy(RegP([N // B, B, N // B, B, N // B, B], [0, 2, 4, 1, 3, 5]))
    threads = [4 * V, B, B // V]
    return array, bricks, GroupBy(threads).OrderBy(RegP(threads, [1, 0, 2])), GroupBy(threads)


array, bricks, array_threads, bricks_threads = layouts(symbols("N"))

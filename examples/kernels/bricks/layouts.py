"""A cube of cells as an array, and in bricks that lie one after the other (Table I, row 12c)."""

from lego_emit import GroupBy, RegP, Row, TileBy, symbols

N = symbols("N")
B = 8  # cells of a brick's edge

array = GroupBy([N, N, N]).OrderBy(Row(N, N, N))
bricks = GroupBy([N, N, N]).OrderBy(RegP([N // B, B, N // B, B, N // B, B], [0, 2, 4, 1, 3, 5]))

# The cell of a thread.
cube = GroupBy([N, N, N])
threads = TileBy([N // B, N // B, N // B], [B, B, B]).OrderBy(Row(N, N, N))

"""A matrix in tiles, and the elements of a tile that each thread works on (Table I, row 12b)."""

from lego_emit import GroupBy, Row, Strided, TileBy, symbols

N = symbols("N")


def layouts(T, R):
    """What the kernels take: blocks of T x T threads, R x R elements of each (the coarsening)."""
    B = R * T
    A = TileBy([N // B, N // B], [B, B]).OrderBy(Row(N, N))
    elements = GroupBy([B, B])
    work = TileBy([R, R], [T, T]).OrderBy(Row(B, B))
    # In shared memory: rows of a multiple of 16 bytes, which begin in other banks.
    tile = GroupBy([B, B]).OrderBy(Strided([B, B], [B + 4, 1]))
    return A, elements, work, tile


A, elements, work, tile = layouts(16, 4)

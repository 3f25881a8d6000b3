"""A kernel's offsets: one tile of a row-major matrix."""

from lego_emit import OrderBy, Row


def offsets(M, N, BM, BN, pid_m, pid_n):
    """Where the elements of a tile are.

    Args:
        M: rows of the matrix
        N: columns of the matrix
        BM: rows of a tile
        BN: columns of a tile
        pid_m: the tile's row
        pid_n: the tile's column
    """
    tiles = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return tiles[pid_m, pid_n, :, :]


sizes = {"M": 6, "N": 8, "BM": 3, "BN": 4}

"""A kernel's offsets: one tile of a row-major matrix."""

from lego_emit import OrderBy, Row


def offsets(M, N, BM, BN, pid_m, pid_n):
    tiles = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return tiles[pid_m, pid_n, :, :]


sizes = {"M": 6, "N": 8, "BM": 3, "BN": 4}

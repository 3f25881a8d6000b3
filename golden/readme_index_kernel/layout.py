"""The README's example: a tile of a row-major matrix, by block ids and ':' axes."""

from lego_emit import OrderBy, Row


def index_kernel(M, N, BM, BN, pid_m, pid_n):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    offset = L[pid_m, pid_n, :, :]
    return offset


kernel = index_kernel
sizes = {"M": 12, "N": 20, "BM": 3, "BN": 5}
domain = {"pid_m": 4, "pid_n": 4}

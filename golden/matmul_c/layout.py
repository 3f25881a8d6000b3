"""Section V-A: the tiles of the result of a matrix product, row-major."""

from lego_emit import OrderBy, Row


def matmul_c(M, N, BM, BN):
    return OrderBy(Row(M, N)).TileBy([M // BM, N // BN], [BM, BN])


sizes = {"M": 6, "N": 10, "BM": 3, "BN": 5}

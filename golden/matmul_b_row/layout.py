"""Section V-A: the tiles of matrix B of a product, row-major."""

from lego_emit import OrderBy, Row


def matmul_b_row(K, N, BK, BN):
    return OrderBy(Row(K, N)).TileBy([K // BK, N // BN], [BK, BN])


sizes = {"K": 8, "N": 10, "BK": 2, "BN": 5}

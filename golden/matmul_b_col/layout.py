"""Section V-A: the tiles of matrix B of a product, column-major."""

from lego_emit import Col, OrderBy


def matmul_b_col(K, N, BK, BN):
    return OrderBy(Col(K, N)).TileBy([K // BK, N // BN], [BK, BN])


sizes = {"K": 8, "N": 10, "BK": 2, "BN": 5}

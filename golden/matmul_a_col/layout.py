"""Section V-A: the tiles of matrix A of a product, column-major."""

from lego_emit import Col, OrderBy


def matmul_a_col(M, K, BM, BK):
    return OrderBy(Col(M, K)).TileBy([M // BM, K // BK], [BM, BK])


sizes = {"M": 6, "K": 8, "BM": 3, "BK": 2}

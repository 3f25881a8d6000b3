"""Section V-A: the tiles of matrix A of a product, row-major."""

from lego_emit import OrderBy, Row


def matmul_a_row(M, K, BM, BK):
    return OrderBy(Row(M, K)).TileBy([M // BM, K // BK], [BM, BK])


sizes = {"M": 6, "K": 8, "BM": 3, "BK": 2}

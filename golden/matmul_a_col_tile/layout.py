"""Section V-A: one tile of a column-major matrix A, by block ids and ':' axes."""

from lego_emit import Col, OrderBy


def matmul_a_col_tile(M, K, BM, BK):
    A = OrderBy(Col(M, K)).TileBy([M // BM, K // BK], [BM, BK])
    return A[pid_m, k, :, :]  # noqa: F821


sizes = {"M": 6, "K": 8, "BM": 3, "BK": 2}
domain = {"pid_m": 2, "k": 4}

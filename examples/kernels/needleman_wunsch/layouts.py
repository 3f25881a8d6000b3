"""The scores and the pairs' weights in tiles, and a tile in shared memory by antidiagonals (Fig. 7)."""

from lego_emit import GenP, GroupBy, Row, TileBy, isqrt, symbols

N = symbols("N")
B = 32  # rows of a tile, and threads of a block
P = B + 1  # with the row, or the column, before them

match = TileBy([N // B, N // B], [B, B]).OrderBy(Row(N, N))
scores = GroupBy([N + 1, N + 1])


def score(p, q, i, j):
    """Of tile (p, q), which begins with the last row and column of those before it."""
    return scores.apply(B * p + i, B * q + j)


def antidiagonal(i, j):
    if i + j < P:
        return (i + j) * (i + j + 1) // 2 + i
    return P * P - 1 - antidiagonal(P - 1 - i, P - 1 - j)


def antidiagonal_inv(x):
    if x >= P * (P + 1) // 2:
        i, j = antidiagonal_inv(P * P - 1 - x)
        return P - 1 - i, P - 1 - j
    d = (isqrt(8 * x + 1) - 1) // 2
    i = x - d * (d + 1) // 2
    return i, d - i


buffer = GroupBy([P, P]).OrderBy(GenP([P, P], antidiagonal, antidiagonal_inv))

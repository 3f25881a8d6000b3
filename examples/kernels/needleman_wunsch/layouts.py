"""The scores and the pairs' weights in tiles, and both in shared memory (Fig. 7)."""

from lego_emit import GenP, GroupBy, Row, Strided, TileBy, isqrt, symbols

N = symbols("N")


# The scores of a tile with the row and the column before it, n x n, in shared memory. The threads of a
# step are on an antidiagonal.


def row_major(n):
    return Row(n, n)


def padded(n):
    """A column more, so that the stride along an antidiagonal is odd."""
    return Strided([n, n], [n + 1, 1])


def swizzled(n):
    """Each row rotated by its number: what is on an antidiagonal gets into one column."""
    return GenP([n, n], lambda i, j: n * i + (i + j) % n, lambda x: (x // n, (x % n - x // n) % n))


def antidiagonal(n, i, j):
    if i + j < n:
        return (i + j) * (i + j + 1) // 2 + i
    return n * n - 1 - antidiagonal(n, n - 1 - i, n - 1 - j)


def antidiagonal_inv(n, x):
    if x >= n * (n + 1) // 2:
        i, j = antidiagonal_inv(n, n * n - 1 - x)
        return n - 1 - i, n - 1 - j
    d = (isqrt(8 * x + 1) - 1) // 2
    i = x - d * (d + 1) // 2
    return i, d - i


def antidiagonals(n):
    """One antidiagonal after the other (Fig. 7)."""
    return GenP([n, n], lambda i, j: antidiagonal(n, i, j), lambda x: antidiagonal_inv(n, x))


def layouts(B, order):
    """What the kernel takes: tiles of B x B, whose scores lie in shared memory in an order."""
    match = TileBy([N // B, N // B], [B, B]).OrderBy(Row(N, N))
    scores = GroupBy([N + 1, N + 1])

    def score(p, q, i, j):
        """Of tile (p, q), which begins with the last row and column of those before it."""
        return scores.apply(B * p + i, B * q + j)

    buffer = GroupBy([B + 1, B + 1]).OrderBy(order(B + 1))
    return match, Row(B, B), score, buffer


match, pairs, score, buffer = layouts(32, antidiagonals)

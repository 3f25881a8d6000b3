"""Fig. 6, right, and Eq. 2: blocks of 3x3, their grid transposed, antidiagonals inside."""

from functools import partial

from lego_emit import GenP, GroupBy, RegP, isqrt


def antidiag(n, i, j):
    antidg = i + j + 1
    if antidg <= n:
        return i + antidg * (antidg - 1) // 2
    antidg = 2 * n - antidg
    gauss = antidg * (antidg - 1) // 2
    return n * n - n + i - gauss


def antidiag_inv(n, x0):
    s = n * (n + 1) // 2
    xx = x0 if x0 < s else n * n - 1 - x0
    antidg = isqrt(2 * xx)
    antidg += xx >= antidg * (antidg + 1) // 2
    i = xx - antidg * (antidg - 1) // 2
    j = antidg - i - 1
    return (i, j) if x0 < s else (n - 1 - i, n - 1 - j)


layout = (
    GroupBy([6, 6])
    .OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3]))
    .OrderBy(RegP([2, 2], [1, 0]), GenP([3, 3], partial(antidiag, 3), partial(antidiag_inv, 3)))
)

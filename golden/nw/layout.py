"""Section V-B: the buffer of NW, (b + 1) x (b + 1) in antidiagonals (Fig. 7)."""

from functools import partial

from lego_emit import GenP, TileBy, isqrt


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


def nw(b):
    n = b + 1
    return TileBy([n, n]).OrderBy(GenP([n, n], partial(antidiag, n), partial(antidiag_inv, n)))


sizes = {"b": 6}
view = True

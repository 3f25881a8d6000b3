"""Antidiagonals: a wavefront's elements lie together."""

from functools import partial

from lego_emit import GenP, GroupBy, isqrt

N = 5


def position(n, i, j):
    d = i + j + 1
    if d <= n:
        return i + d * (d - 1) // 2
    d = 2 * n - d
    return n * n - n + i - d * (d - 1) // 2


def index(n, x0):
    s = n * (n + 1) // 2
    x = x0 if x0 < s else n * n - 1 - x0
    d = isqrt(2 * x)
    d += x >= d * (d + 1) // 2
    i = x - d * (d - 1) // 2
    j = d - i - 1
    return (i, j) if x0 < s else (n - 1 - i, n - 1 - j)


antidiagonals = GroupBy([N, N]).OrderBy(GenP([N, N], partial(position, N), partial(index, N)))

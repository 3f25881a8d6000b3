"""What benchmarks/gpu and benchmarks/languages time alike: functions of any size, and the layouts that
have only one."""

from functools import partial

from lego_emit import GenP, GroupBy, RegP, isqrt

# -- Fig. 6 and Eq. 2: blocks of 3x3, their grid transposed, antidiagonals inside (Fig. 7) -------


def antidiagonal(n, i, j):
    d = i + j + 1
    if d <= n:
        return i + d * (d - 1) // 2
    d = 2 * n - d
    return n * n - n + i - d * (d - 1) // 2


def antidiagonal_inv(n, x):
    first = n * (n + 1) // 2
    y = x if x < first else n * n - 1 - x
    d = isqrt(2 * y)
    d += y >= d * (d + 1) // 2
    i = y - d * (d - 1) // 2
    j = d - i - 1
    return (i, j) if x < first else (n - 1 - i, n - 1 - j)


def antidiagonals(n):
    return GenP([n, n], partial(antidiagonal, n), partial(antidiagonal_inv, n))


fig6 = (
    GroupBy([6, 6])
    .OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3]))
    .OrderBy(RegP([2, 2], [1, 0]), antidiagonals(3))
)


def fig6_apply(i, j):
    return 18 * (j // 3) + 9 * (i // 3) + antidiagonal(3, i % 3, j % 3)


def fig6_inv(p):
    i, j = antidiagonal_inv(3, p % 9)
    return 3 * (p // 9 % 2) + i, 3 * (p // 18) + j


fig6_by_hand = (fig6_apply, fig6_inv)


# -- a 64x64 tile whose vectors of 8 are swizzled by XOR -----------------------------------------


def swizzle(i, j):
    return 64 * i + (j // 8 ^ i // 2 % 4) * 8 + j % 8


def swizzle_inv(p):
    i, j = p // 64, p % 64
    return i, (j // 8 ^ i // 2 % 4) * 8 + j % 8


xor_swizzle = GroupBy([64, 64]).OrderBy(GenP([64, 64], swizzle, swizzle_inv))
xor_swizzle_by_hand = (
    lambda i, j: i << 6 | j ^ (i << 2 & 24),
    lambda p: (p >> 6, (p ^ (p >> 6 << 2 & 24)) & 63),
)


# -- the Morton order, by masks ------------------------------------------------------------------


def spread(x):
    x = (x | x << 8) & 0x00FF00FF
    x = (x | x << 4) & 0x0F0F0F0F
    x = (x | x << 2) & 0x33333333
    return (x | x << 1) & 0x55555555


def squeeze(x):
    x = x & 0x55555555
    x = (x | x >> 1) & 0x33333333
    x = (x | x >> 2) & 0x0F0F0F0F
    x = (x | x >> 4) & 0x00FF00FF
    return (x | x >> 8) & 0x0000FFFF


def interleave(i, j):
    return spread(i) << 1 | spread(j)


def separate(p):
    return squeeze(p >> 1), squeeze(p)

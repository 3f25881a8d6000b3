"""The layouts that are timed in every language: those of benchmarks/gpu at sizes of 2^24, whose
look-up tables fit a computer's memory, but no cache."""

from functools import partial

from lego_emit import Col, GenP, GroupBy, OrderBy, RegP, Row, TileBy, isqrt

readme_example = OrderBy(Row(4096, 4096)).TileBy((128, 128), (32, 32))
readme_example_by_hand = (
    lambda i, j, k, l: i << 17 | k << 12 | j << 5 | l,  # noqa: E741
    lambda p: (p >> 17, p >> 5 & 127, p >> 12 & 31, p & 31),
)


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


def fig6_apply(i, j):
    return 18 * (j // 3) + 9 * (i // 3) + antidiagonal(3, i % 3, j % 3)


def fig6_inv(p):
    i, j = antidiagonal_inv(3, p % 9)
    return 3 * (p // 9 % 2) + i, 3 * (p // 18) + j


fig6 = (
    GroupBy([6, 6])
    .OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3]))
    .OrderBy(
        RegP([2, 2], [1, 0]), GenP([3, 3], partial(antidiagonal, 3), partial(antidiagonal_inv, 3))
    )
)
fig6_by_hand = (fig6_apply, fig6_inv)

bricks = GroupBy([256] * 3).OrderBy(RegP([32, 8] * 3, [0, 2, 4, 1, 3, 5]))
bricks_by_hand = (
    lambda i, j, k: i >> 3 << 19 | j >> 3 << 14 | k >> 3 << 9 | (i & 7) << 6 | (j & 7) << 3 | k & 7,
    lambda p: (
        p >> 19 << 3 | p >> 6 & 7,
        (p >> 14 & 31) << 3 | p >> 3 & 7,
        (p >> 9 & 31) << 3 | p & 7,
    ),
)

grouped_ids = TileBy([4000, 4000]).OrderBy(Col(500, 1), Col(8, 4000))
grouped_ids_by_hand = (
    lambda i, j: (i >> 3) * 32000 + (j << 3) + (i & 7),
    lambda p: (p // 32000 << 3 | p & 7, p % 32000 >> 3),
)


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


morton = GroupBy([4096, 4096]).OrderBy(GenP([4096, 4096], interleave, separate))
morton_by_hand = (interleave, separate)

chain = GroupBy([10800000]).OrderBy(Col(3000, 3600)).OrderBy(Col(2700, 4000))


def chain_apply(i):
    middle = i % 3600 * 3000 + i // 3600
    return middle % 4000 * 2700 + middle // 4000


def chain_inv(p):
    middle = p % 2700 * 4000 + p // 2700
    return middle % 3000 * 3600 + middle // 3000


chain_by_hand = (chain_apply, chain_inv)

LAYOUTS = {
    "README example": "readme_example",
    "Fig. 6 with antidiagonals": "fig6",
    "bricks 8^3": "bricks",
    "grouped program ids": "grouped_ids",
    "XOR swizzle": "xor_swizzle",
    "Morton": "morton",
    "chain that does not line up": "chain",
}

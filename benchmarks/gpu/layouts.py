"""The layouts that are timed, each with the same index written by hand.

Large ones have at least 2^30 elements; small ones are repeated over as many. By hand means the
Python below, operator for operator, in the target's language.
"""

from functools import partial

import shared
from shared import antidiagonal, antidiagonal_inv, antidiagonals, interleave, separate

from lego_emit import Col, GenP, GroupBy, OrderBy, RegP, Row, TileBy

fig6, fig6_by_hand = shared.fig6, shared.fig6_by_hand
xor_swizzle, xor_swizzle_by_hand = shared.xor_swizzle, shared.xor_swizzle_by_hand

# -- the README's example: tiles of 32x32 of a row-major 32768x32768 matrix ----------------------

readme_example = OrderBy(Row(32768, 32768)).TileBy((1024, 1024), (32, 32))
readme_example_by_hand = (
    lambda i, j, k, l: i << 20 | k << 15 | j << 5 | l,  # noqa: E741
    lambda p: (p >> 20, p >> 5 & 1023, p >> 15 & 31, p & 31),
)


# -- antidiagonals of 32768x32768 (Fig. 7) -------------------------------------------------------

antidiagonal_32768 = GroupBy([32768, 32768]).OrderBy(antidiagonals(32768))
antidiagonal_32768_by_hand = (partial(antidiagonal, 32768), partial(antidiagonal_inv, 32768))


# -- bricks of 8^3 in 1024^3 (section V-B) -------------------------------------------------------

bricks = GroupBy([1024] * 3).OrderBy(RegP([128, 8] * 3, [0, 2, 4, 1, 3, 5]))
bricks_by_hand = (
    lambda i, j, k: i >> 3 << 23 | j >> 3 << 16 | k >> 3 << 9 | (i & 7) << 6 | (j & 7) << 3 | k & 7,
    lambda p: (
        p >> 23 << 3 | p >> 6 & 7,
        (p >> 16 & 127) << 3 | p >> 3 & 7,
        (p >> 9 & 127) << 3 | p & 7,
    ),
)


# -- program ids of a 36000x30000 grid in groups of 8 rows (Fig. 1) ------------------------------

grouped_ids = TileBy([36000, 30000]).OrderBy(Col(4500, 1), Col(8, 30000))
grouped_ids_by_hand = (
    lambda i, j: (i >> 3) * 240000 + (j << 3) + (i & 7),
    lambda p: (p // 240000 << 3 | p & 7, p % 240000 >> 3),
)


# -- the Morton order of 32768x32768, by masks and digit by digit --------------------------------


morton = GroupBy([32768, 32768]).OrderBy(GenP([32768, 32768], interleave, separate))
morton_by_hand = (interleave, separate)

morton_digits = GroupBy([32768, 32768]).OrderBy(
    RegP([2] * 30, [digit + half for digit in range(15) for half in (0, 15)])
)
morton_digits_by_hand = (interleave, separate)


# -- two transposes of 1.08e9 elements whose digits do not line up -------------------------------

chain = GroupBy([1080000000]).OrderBy(Col(30000, 36000)).OrderBy(Col(27000, 40000))


def chain_apply(i):
    middle = i % 36000 * 30000 + i // 36000
    return middle % 40000 * 27000 + middle // 40000


def chain_inv(p):
    middle = p % 27000 * 40000 + p // 27000
    return middle % 30000 * 36000 + middle // 30000


chain_by_hand = (chain_apply, chain_inv)

LAYOUTS = {
    "README example": "readme_example",
    "Fig. 6 with antidiagonals": "fig6",
    "bricks 8^3": "bricks",
    "grouped program ids": "grouped_ids",
    "XOR swizzle": "xor_swizzle",
    "Morton": "morton",
    "Morton, digit by digit": "morton_digits",
    "chain that does not line up": "chain",
    "antidiagonals of 2^30": "antidiagonal_32768",
}

"""The layouts that are timed in every language: those of benchmarks/gpu at sizes of 2^24, whose
look-up tables fit a computer's memory, but no cache."""

import shared
from shared import interleave, separate

from lego_emit import Col, GenP, GroupBy, OrderBy, RegP, Row, TileBy

fig6, fig6_by_hand = shared.fig6, shared.fig6_by_hand
xor_swizzle, xor_swizzle_by_hand = shared.xor_swizzle, shared.xor_swizzle_by_hand
readme_example = OrderBy(Row(4096, 4096)).TileBy((128, 128), (32, 32))
readme_example_by_hand = (
    lambda i, j, k, l: i << 17 | k << 12 | j << 5 | l,  # noqa: E741
    lambda p: (p >> 17, p >> 5 & 127, p >> 12 & 31, p & 31),
)


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

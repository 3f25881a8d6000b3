"""A matrix in tiles of 8 by 8, of sizes that are known when the program runs."""

from lego_emit import GroupBy, RegP


def tiles(H, W):
    return GroupBy([8 * H, 8 * W]).OrderBy(RegP([H, 8, W, 8], [0, 2, 1, 3]))


sizes = {"H": 2, "W": 3}
walk = "logical"

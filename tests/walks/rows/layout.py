"""Rows and columns of a matrix in tiles whose sizes are known when the program runs: array forms in steps."""

from lego_emit import GroupBy, RegP


def rows(H, W, B, C, i):
    tiles = GroupBy([H * B, W * C]).OrderBy(RegP([H, B, W, C], [0, 2, 1, 3]))
    return tiles[i, :]


sizes = {"H": 2, "W": 3, "B": 4, "C": 5}
domain = {"i": 8}

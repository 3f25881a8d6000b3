"""Section V-B: the cell one to the left of (i, j, k) in brick (bx + 1, by, bz), in numbers."""

from lego_emit import Row, TileBy


def brick_star_384(bx, by, bz, i, j, k):
    bricks = TileBy([48, 48, 48], [8, 8, 8]).OrderBy(Row(48, 48, 48), Row(8, 8, 8))
    x = 8 * bx + 7 + i
    return bricks[x // 8, by, bz, x % 8, j, k]


domain = {"bx": 2, "by": 1, "bz": 2, "i": 8, "j": 4, "k": 8}
assume = ["0 <= bx", "bx < 47", "0 <= i", "i < 8"]

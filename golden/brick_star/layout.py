"""Section V-B: the cell before (i, j, k) of brick (bx + 1, by, bz), maybe of another brick."""

from lego_emit import Row, TileBy


def brick_star(N, B, bx, by, bz, i, j, k):
    n = N // B
    bricks = TileBy([n, n, n], [B, B, B]).OrderBy(Row(n, n, n), Row(B, B, B))
    x = (bx + 1) * B + i - 1
    return bricks[x // B, by, bz, x % B, j, k]


sizes = {"N": 6, "B": 2}
domain = {"bx": 2, "by": 3, "bz": 3, "i": 2, "j": 2, "k": 2}
assume = ["N % B == 0", "0 <= bx", "bx + 1 < N // B", "0 <= i", "i < B"]

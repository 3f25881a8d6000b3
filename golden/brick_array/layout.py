"""Section V-B: the plain array that bricks are compared with, by brick coordinates."""

from lego_emit import Row, TileBy


def brick_array(N, B):
    n = N // B
    return TileBy([n, n, n], [B, B, B]).OrderBy(Row(N, N, N))


sizes = {"N": 6, "B": 3}

"""Bricks: an array in cubes of B x B x B, each contiguous."""

from lego_emit import Row, TileBy


def brick(N, B):
    n = N // B
    return TileBy([n, n, n], [B, B, B]).OrderBy(Row(n, n, n), Row(B, B, B))


sizes = {"N": 4, "B": 2}

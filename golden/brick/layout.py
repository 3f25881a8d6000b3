"""Section V-B: an array of N x N x N in bricks of B x B x B (Table I)."""

from lego_emit import Row, TileBy


def brick(N, B):
    n = N // B
    return TileBy([n, n, n], [B, B, B]).OrderBy(Row(n, n, n), Row(B, B, B))


sizes = {"N": 6, "B": 3}

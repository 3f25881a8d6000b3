"""Section V-B: a stencil's neighbour (dx, dy, dz) cells away, which may lie in another brick: the
coordinates are put together, and taken apart again."""

from lego_emit import Row, TileBy


def brick_neighbor(N, B, x, y, z, dx, dy, dz):
    n = N // B
    bricks = TileBy([n, n, n], [B, B, B]).OrderBy(Row(n, n, n), Row(B, B, B))
    x, y, z = x + dx, y + dy, z + dz
    return bricks[x // B, y // B, z // B, x % B, y % B, z % B]


sizes = {"N": 6, "B": 2}
domain = {"x": 4, "y": 4, "z": 4, "dx": 3, "dy": 3, "dz": 3}
assume = [
    "N % B == 0",
    "0 <= x + dx",
    "x + dx < N",
    "0 <= y + dy",
    "y + dy < N",
    "0 <= z + dz",
    "z + dz < N",
]

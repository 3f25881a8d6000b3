"""Section V-B: the experiment's own 384^3 array in bricks of 8^3; the table holds one corner."""

from lego_emit import Row, TileBy


def brick_384(bx, by, bz):
    bricks = TileBy([48, 48, 48], [8, 8, 8]).OrderBy(Row(48, 48, 48), Row(8, 8, 8))
    return bricks[bx, by, bz, :, :, :]


domain = {"bx": 2, "by": 1, "bz": 3}

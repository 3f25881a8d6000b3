"""Section V-B: a transpose through a tile in shared memory: all four of a thread's positions.

The table holds 64 of a block's 256 threads."""

from lego_emit import Col, OrderBy, Row


def transpose_shared(N, block, thread, step):
    n = N // 32
    matrix = OrderBy(Row(N, N)).TileBy([n, n], [4, 1], [8, 32])
    to_write = OrderBy(Row(32, 32)).TileBy([4, 1], [8, 32])
    to_read = OrderBy(Row(32, 32)).TileBy([1, 4], [32, 8])
    loop, _ = Row(4, 1).inv(step)
    i, j = Row(8, 32).inv(thread)
    return {
        "source": matrix[*Row(n, n).inv(block), loop, 0, i, j],
        "tile_write": to_write[loop, 0, i, j],
        "tile_read": to_read[0, loop, *Col(32, 8).inv(thread)],
        "target": matrix[*Col(n, n).inv(block), loop, 0, i, j],
    }


sizes = {"N": 64}
domain = {"block": 4, "thread": 64, "step": 4}
assume = ["N % 32 == 0"]

"""Section V-B: a transpose without shared memory: where each thread reads and writes.

The table holds 64 of a block's 256 threads."""

from lego_emit import Col, OrderBy, Row


def transpose_naive(N, block, thread, step):
    n = N // 32
    A = OrderBy(Row(N, N)).TileBy([n, n], [4, 1], [8, 32])
    B = OrderBy(Row(N, N)).TileBy([n, n], [1, 4], [32, 8])
    loop, _ = Row(4, 1).inv(step)
    source = A[*Row(n, n).inv(block), loop, 0, *Row(8, 32).inv(thread)]
    target = B[*Col(n, n).inv(block), 0, loop, *Col(32, 8).inv(thread)]
    return {"source": source, "target": target}


sizes = {"N": 64}
domain = {"block": 4, "thread": 64, "step": 4}
assume = ["N % 32 == 0"]

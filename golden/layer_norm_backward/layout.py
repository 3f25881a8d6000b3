"""Section V-A: what layer norm's backward pass reads and locks."""

from lego_emit import OrderBy, Row


def layer_norm_backward(M, N, B, pid, lock, column):
    X = OrderBy(Row(M, N)).TileBy([M, N // B], [1, B])
    block = OrderBy(Row(B)).TileBy([B])
    return {"x": X[pid, 0, 0, column], "partial": X[lock, 0, 0, column], "block": block[column]}


sizes = {"M": 4, "N": 6, "B": 3}
domain = {"pid": 4, "lock": 4, "column": 3}
assume = ["N % B == 0"]

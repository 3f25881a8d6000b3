"""Section V-A: what layer norm's forward pass reads: a row's block, the weights, the mean."""

from lego_emit import OrderBy, Row


def layer_norm_forward(M, N, B, pid, k, column):
    X = OrderBy(Row(M, N)).TileBy([M, N // B], [1, B])
    mean = OrderBy(Row(M)).TileBy([M])
    return {"x": X[pid, k, 0, column], "weight": X[0, k, 0, column], "mean": mean[pid]}


sizes = {"M": 4, "N": 12, "B": 3}
domain = {"pid": 4, "k": 4, "column": 3}
assume = ["N % B == 0"]

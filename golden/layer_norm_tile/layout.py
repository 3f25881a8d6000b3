"""Section V-A: a block of a row in layer norm's forward pass, by ids and a ':' axis."""

from lego_emit import OrderBy, Row


def layer_norm_tile(M, N, B):
    X = OrderBy(Row(M, N)).TileBy([M, N // B], [1, B])
    return X[pid, k, 0, :]  # noqa: F821


sizes = {"M": 4, "N": 12, "B": 3}
domain = {"pid": 4, "k": 4}
assume = ["N % B == 0"]
